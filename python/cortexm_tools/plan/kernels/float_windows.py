# SPDX-License-Identifier: Apache-2.0
"""Windows and planes of floats that some kernels take, and whether those of eight pixels at a time pay."""

from __future__ import annotations

from collections.abc import Iterable

from .facts import Facts


def are_rows(facts: Facts) -> bool:
    """Planes of floats that are groups, of rows of 16 results or more, and of windows one column apart, of
    which up to four columns lie outside the image at either end, of no pixel both; or that are one row."""
    apart, kernel = facts["dilation_w"], facts["kernel_w"]
    if not facts["groups"] == facts["in_c"] == facts["out_c"]:
        return False
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


def are_fourths(facts: Facts, columns: int, is_line: bool) -> bool:
    """Such planes of so many columns that are neighbours, an odd number, of which all before the one in the
    middle lie outside the image at an end, or none; and of rows of so many results that no block of 16 but
    the first and the last one has such columns. Windows of a line are one row, in the image."""
    pad, kernel, half = facts.get("pad_left", 0), facts["kernel_w"], columns // 2
    beyond = max(facts["out_w"] - pad + kernel - 1 - facts["in_w"], 0)
    is_window = kernel == columns and facts["dilation_w"] == 1 and {pad, beyond} <= {0, half}
    if is_line:
        is_inside = (facts["out_h"] - 1) * facts["stride_h"] < facts["in_h"]
        is_window = is_window and is_inside and not facts.get("pad_top", 0)
    is_window = is_window and is_line == (facts["kernel_h"] == 1)
    return is_window and not 0 < facts["out_w"] % 16 < half and are_rows(facts)


def are_lines_by_two(facts: Facts, columns: int) -> bool:
    """Planes of floats that are groups, of windows of one row, in the image, of so many columns, an odd
    number, that are two apart, and of which all before the one in the middle lie outside the image at an end,
    or none, or one less at the end of a row; and of rows of so many results that no block of 16 but the first
    and the last one has such columns. Of five columns the last result is not among these if it lacks two."""
    pad, half, out = facts.get("pad_left", 0), columns // 2, facts["out_w"]
    window = tuple(facts[name] for name in ("kernel_h", "kernel_w", "stride_w", "dilation_w"))
    beyond = max((out - 1) * 2 - pad + columns - facts["in_w"], 0)
    return bool(
        facts["groups"] == facts["in_c"] == facts["out_c"]
        and window == (1, columns, 2, 1)
        and pad in (0, half)
        and beyond in (0, half - 1, half)
        and not facts.get("pad_top", 0)
        and (facts["out_h"] - 1) * facts["stride_h"] < facts["in_h"]
        and out - (columns == 5 and beyond == half) >= 16
        and not 0 < out % 16 < (half + 1) // 2
    )


# Instructions that eights must save where windows are one column apart, of some 1,700 bytes, or two, 1,500.
_WORTH_EIGHTS = {1: 3400, 2: 3000}
_OUTSIDE = {1: 7, 2: 4}  # taps of eight pixels that meet less than all, by their stride


def eights(facts: Facts) -> list[tuple[int, int, int]]:
    """The taps of each eight pixels of a row that meet less than all at first, all, and less at last, as
    set_spans in conv2d_planes_dsp.inc has them."""
    stride, kernel, out = facts["stride_w"], facts["kernel_w"], facts["out_w"]
    blocks = []
    for done in range(0, out, 8):
        column = max(0, min(done, out - 8)) * stride - facts.get("pad_left", 0)
        before = max(0, -column)
        behind = max(0, column + 7 * stride + kernel - facts["in_w"])
        blocks.append((before, kernel - before - behind, behind))
    return blocks


def are_eights(facts: Facts) -> bool:
    """Planes of floats of rows of eight results or more, or of five that end behind the image, whose windows
    have no gaps and are one column apart, or two."""
    stride, out = facts["stride_w"], facts["out_w"]
    if out < 5 or stride not in _OUTSIDE or facts["dilation_w"] != 1:
        return False
    most, blocks = _OUTSIDE[stride], eights(facts)
    if out < 8 and blocks[0][2] == 0:
        return False
    return all(before <= most >= behind and inner >= 0 for before, inner, behind in blocks)


def _rows_inside(facts: Facts) -> list[int]:
    """How many rows of the windows of each row of pixels are in the image."""
    first, dilation = -facts.get("pad_top", 0), facts["dilation_h"]
    found = []
    for y in range(facts["out_h"]):
        taps = range(facts["kernel_h"])
        rows = (first + y * facts["stride_h"] + tap * dilation for tap in taps)
        found.append(sum(0 <= row < facts["in_h"] for row in rows))
    return found


def _of_eights(facts: Facts) -> float:
    """Instructions of planes of floats that are computed so."""
    stride, rows = facts["stride_w"], _rows_inside(facts)
    row, of_blocks = 10, 0
    for before, inner, behind in eights(facts):
        row += 8 + 9 * (before + behind > 0)
        if facts["kernel_w"] == 3 and facts["out_w"] >= 8 and max(before, behind) <= 1:
            row += 6
            of_blocks += 34
            continue
        if stride == 1:
            row_of = 9 + inner // 4 * 37 + (inner & 2) // 2 * 19 + inner % 2 * 11
        else:
            row_of = 8 + inner // 2 * 21 + inner % 2 * 11
        row_of += sum(9 - -(-at // stride) for at in range(1, before + 1)) + 6 * (before > 0)
        row_of += sum(11 - -(-at // stride) for at in range(1, behind + 1)) + 5 * (behind > 0)
        of_blocks += row_of
    plane = 30 * len(set(rows)) + row * len(rows) + of_blocks * sum(rows)
    return float(facts["batches"] * facts["out_c"] * plane)


def _of_channels(facts: Facts) -> float:
    """Instructions of the other kernels for these: conv2d_channels_dsp.inc for two channels or more."""
    stride, kernel, out = facts["stride_w"], facts["kernel_w"], facts["out_w"]
    rows = _rows_inside(facts)
    planes = facts["batches"] * facts["out_c"]
    if facts["out_c"] < 2:
        return float(planes * out * (15 * len(rows) + (5 + 2 * kernel) * sum(rows)))
    first = -facts.get("pad_left", 0)
    columns = (range(at, at + kernel) for at in range(first, first + out * stride, stride))
    cut = sum(at[0] < 0 or at[-1] >= facts["in_w"] for at in columns)
    calls = len(rows) - max(rows.count(facts["kernel_h"]) - 1, 0)
    if kernel == 3:
        fours = -(-out // 4)
        block = 13 * len(rows) + 35 * sum(rows)
        return float(planes * (130 * calls + fours // 2 * block + fours % 2 * block * 0.6))
    if kernel == 1 and not cut:  # rows are taps, and those of pixels mostly one
        in_row = out / 8 if facts["stride_h"] == 1 and out == facts["in_w"] else -(-out // 8)
        return float(planes * (140 * calls + in_row * (22 * len(rows) + 13 * sum(rows))))
    blocks = -(-(out - cut) // 8) if stride == 1 else (out - cut) / 8
    tap = 13 if stride == 1 else 25
    blocks *= 14 * len(rows) + (9 + tap * kernel) * sum(rows)
    return float(planes * (140 * calls * (1 + cut) + blocks + 2 * cut * kernel * sum(rows)))


def saved_by_eights(facts: Facts) -> float:
    """Instructions that eight pixels at a time save of planes of floats; less than 0 where they take more."""
    return _of_channels(facts) - _of_eights(facts)


def eights_that_pay(layers: Iterable[Facts]) -> frozenset[int]:
    """How many columns the windows are apart, one or two, for which eight pixels at a time save more of all
    layers of planes of floats than two instructions for each byte of their kernel. Windows of one row of
    three or five columns two apart have kernels of their own."""
    saved = dict.fromkeys(_WORTH_EIGHTS, 0.0)
    for facts in filter(are_eights, layers):
        if are_lines_by_two(facts, 3) or are_lines_by_two(facts, 5):
            continue
        saved[facts["stride_w"]] += max(0.0, saved_by_eights(facts))
    return frozenset(stride for stride, worth in _WORTH_EIGHTS.items() if saved[stride] >= worth)


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


def are_near_lines(facts: Facts, columns: int, stride: int) -> bool:
    """Windows of one row, in the image, of so many columns, an odd number, that are one or two apart, and of
    which all before the one in the middle lie outside the image at an end, or none, or one less at the end
    of a row where they are two apart; and rows of so many results, as far apart as the columns, that no block
    of four but the first and the last one has such columns."""
    pad, count, half = facts.get("pad_left", 0), facts["out_w"], columns // 2
    window = tuple(facts[name] for name in ("kernel_h", "kernel_w", "stride_w", "dilation_w"))
    beyond = max((count - 1) * stride - pad + columns - facts["in_w"], 0)
    is_inside = (facts["out_h"] - 1) * facts["stride_h"] < facts["in_h"]
    return bool(
        window == (1, columns, stride, 1)
        and pad in (0, half)
        and beyond in (0, half, half + 1 - stride)
        and is_inside
        and not facts.get("pad_top", 0)
        and facts["in_strides"][3] == facts["out_strides"][3]
        and count >= (8 + half if count % 4 else 4)
    )


def outside(facts: Facts, along: str) -> int:
    """How many results along an axis have windows that are not all inside the image."""
    stride, extent = facts[f"stride_{along}"], facts[f"in_{along}"]
    first = -facts.get("pad_top" if along == "h" else "pad_left", 0)
    reach = (facts[f"kernel_{along}"] - 1) * facts.get(f"dilation_{along}", 1) + 1
    places = range(first, first + facts[f"out_{along}"] * stride, stride)
    return sum(not 0 <= at <= extent - reach for at in places)


def singles(facts: Facts) -> int:
    """Pixels that conv2d computes by themselves: those that have columns outside the image, or all of a row
    with less than four others."""
    cut, across = outside(facts, "w"), int(facts["out_w"])
    in_row = cut if across - cut >= 4 else across
    return int(facts["batches"] * facts["out_h"] * in_row)
