# SPDX-License-Identifier: Apache-2.0
"""Convolutions of floats of one input, or of pixels: what their kernels take."""

from __future__ import annotations

from collections.abc import Callable

from ..types import Call

_INPUTS = {"conv2d_single": 1, "conv2d_two": 2, "conv2d_three": 3, "conv2d_four": 4}
_COLUMNS = {"conv2d_one_four": 4, "conv2d_one_five": 5}


def _is_row(call: Call) -> bool:
    """Whether the pixels are one row, whose terms and outputs lie side by side, of windows of one tap inside
    the image."""
    fields, each = call.int_fields, dict(call.fields)
    ones = ("batches", "out_h", "groups", "kernel_h", "kernel_w")
    beside = [each[name] for name in ("in_strides", "out_strides")]
    return (
        all(fields[name] == 1 for name in ones)
        and fields.get("pad_top", 0) == fields.get("pad_left", 0) == 0
        and (fields["out_w"] - 1) * fields["stride_w"] < fields["in_w"]
        and all(isinstance(strides, tuple) and strides[1] == 1 for strides in beside)
    )


def _is_one(call: Call) -> bool:
    """Whether a convolution of floats has one input, windows of three columns side by side and of three rows
    at most, of which one column at either end may lie outside the image, of five pixels and four outputs."""
    fields, steps = call.int_fields, dict(call.fields)["in_strides"]
    assert isinstance(steps, tuple)
    are_ones = all(fields.get(name, 1) == 1 for name in ("in_c", "groups", "dilation_w"))
    is_window = fields["kernel_w"] == 3 and fields["kernel_h"] <= 3
    pad = fields.get("pad_left", 0)
    beyond = (fields["out_w"] - 1) * fields["stride_w"] + 3 - pad - fields["in_w"]
    are_fours = fields["out_w"] >= 5 and fields["out_c"] >= 4 and not fields.get("filled", 0)
    return are_ones and steps[3] == 1 and is_window and pad in (0, 1) and beyond <= 1 and are_fours


def _is_one_wide(call: Call) -> bool:
    """Whether a convolution of floats has one input, windows of as many columns as the kernel has, side by
    side, of which two at either end may lie outside the image, and four rows of pixels and four outputs."""
    fields, steps = call.int_fields, dict(call.fields)["in_strides"]
    assert isinstance(steps, tuple)
    columns = _COLUMNS[call.kernel.op]
    are_ones = all(fields.get(name, 1) == 1 for name in ("in_c", "groups", "dilation_w"))
    pad = fields.get("pad_left", 0)
    beyond = (fields["out_w"] - 1) * fields["stride_w"] + columns - pad - fields["in_w"]
    is_window = fields["kernel_w"] == columns and 0 <= pad <= 2 and beyond <= 2
    are_fours = fields["out_h"] >= 4 and fields["out_c"] >= 4 and not fields.get("filled", 0)
    return are_ones and steps[3] == 1 and is_window and are_fours


def _are_few(call: Call) -> bool:
    """Whether the windows of a convolution of floats are pixels of one row, four or more, each in the image,
    of as many inputs as the kernel has, which follow each other, and the outputs eight or more, or of four
    inputs four, that lie side by side."""
    fields, inputs = call.int_fields, _INPUTS[call.kernel.op]
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    alone = ("batches", "out_h", "groups", "kernel_h", "kernel_w", "stride_w")
    are_pixels = all(fields[name] == 1 for name in alone)
    are_inside = not any(fields.get(name, 0) for name in ("pad_top", "pad_left", "filled"))
    are_beside = (ins[1], ins[3], outs[1]) == (1, inputs, 1) and 4 <= fields["out_w"] <= fields[
        "in_w"
    ]
    are_fours = fields["out_c"] >= (4 if inputs == 4 else 8) or fields["out_c"] == 4
    return are_pixels and are_inside and are_beside and are_fours and fields["in_c"] == inputs


# By a kernel's operator: what it takes, and how a message says so.
TAKES: dict[str, tuple[Callable[[Call], bool], str]] = {
    "conv2d_row": (_is_row, "computes a row of pixels only"),
    "conv2d_one": (
        _is_one,
        "takes one input, and windows of three columns for five pixels or more",
    ),
    **dict.fromkeys(
        _COLUMNS,
        (_is_one_wide, "takes one input, and windows of other columns, for four rows or more"),
    ),
    **dict.fromkeys(_INPUTS, (_are_few, "takes a row of pixels of other inputs or outputs")),
}
