# SPDX-License-Identifier: Apache-2.0
"""Windows of floats that some kernels take."""

from __future__ import annotations

from .facts import Facts


def are_rows(facts: Facts) -> bool:
    """Planes of rows of 16 results or more, and of windows one column apart, of which up to four columns lie
    outside the image at either end, of no pixel both; or that are one row."""
    apart, kernel = facts["dilation_w"], facts["kernel_w"]
    if apart < 1 or facts["stride_w"] != 1 or facts["out_w"] < 16:
        return are_one_row(facts)
    pad = facts.get("pad_left", 0)
    beyond = max(facts["out_w"] - pad + (kernel - 1) * apart - facts["in_w"], 0)
    return 0 <= pad <= 4 and beyond <= 4 and bool(-(-pad // apart) - (-beyond // apart) <= kernel)


def are_one_row(facts: Facts) -> bool:
    """Whether windows of one column go down an image without gaps between its rows, so that 16 pixels or more
    that have all taps follow each other."""
    width, above = facts["out_w"], facts.get("pad_top", 0)
    if (facts["kernel_w"], facts["stride_h"], facts["stride_w"]) != (1, 1, 1) or above < 0:
        return False
    beside = facts["in_strides"][2], facts["out_strides"][2], facts["in_w"]
    reach = (facts["kernel_h"] - 1) * facts["dilation_h"]
    whole = min(facts["out_h"], facts["in_h"] + above - reach) - above
    return bool(beside == (width,) * 3 and not facts.get("pad_left", 0) and whole * width >= 16)


_OUTSIDE = 7  # taps of eight pixels that meet less than all


def are_eights(facts: Facts) -> bool:
    """Planes of rows of eight results or more, or of five that end behind the image, whose windows have no
    gaps and are one column apart."""
    kernel, out = facts["kernel_w"], facts["out_w"]
    if out < 5 or (facts["stride_w"], facts["dilation_w"]) != (1, 1):
        return False
    for done in range(0, out, 8):
        column = max(0, min(done, out - 8)) - facts.get("pad_left", 0)
        before, behind = max(0, -column), max(0, column + 7 + kernel - facts["in_w"])
        if max(before, behind) > _OUTSIDE or before + behind > kernel or (out < 8 and behind == 0):
            return False
    return True


def slid_axes(facts: Facts) -> tuple[str, str]:
    """The axis along which pixels share columns of their windows, and the other one."""
    return ("h", "w") if facts["kernel_w"] == 1 else ("w", "h")


def are_slid(facts: Facts) -> bool:
    """Windows of three columns or more, or of as many rows and one column, of which neighbouring pixels share
    all but one. Of four neighbours no more than three columns lie outside the image at either end, or where
    windows have one row no more than all but three, and the image has all of a window."""
    along, across = slid_axes(facts)
    before = facts.get("pad_top" if along == "h" else "pad_left", 0)
    kernel, stride, dilation = (
        facts[f"{name}_{along}"] for name in ("kernel", "stride", "dilation")
    )
    extent = facts[f"in_{along}"]
    if kernel < 3 or dilation < 1 or dilation % stride or before < 0:
        return False
    # Pixels that share columns are `apart` from each other, and a row of results has as many rows of such.
    apart = dilation // stride
    behind = 0
    last = facts[f"out_{along}"] - 1
    for phase in range(min(apart, last + 1)):
        count = (last - phase) // apart
        first = phase * stride - before
        if first >= extent:
            return False
        inside = (extent - 1 - first) // dilation + 1
        behind = max(behind, max(count, 3) + kernel - inside)
    if before <= 3 * dilation and behind <= 3:
        return True
    beyond = last * stride + (kernel - 1) * dilation - before - extent + 1
    is_cut = max(before, beyond) <= (kernel - 3) * dilation and extent >= kernel * dilation
    return bool(is_cut and facts[f"kernel_{across}"] == 1)
