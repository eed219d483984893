# SPDX-License-Identifier: Apache-2.0
"""Whether 32 bits hold the sums of int16 layers, 4 bits the weights that are stored so, and 16 bits the
multipliers beside them, the products of two taps and the weights of two channels, from the layers'
constants alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...errors import CortexMError
from ...ir import DType, Graph, Op, ops
from ..types import Call, ConstantArg, Plan, Step

SUMS_32 = 2**31 - 1
"""The largest absolute value of a sum of 32 bits on which every kernel agrees."""

_SIGNED_PAIRS = ("signed_split_twos", "signed_split_fours", "column_twos")
_WIDE = "_wide"  # at the end of the names of operators whose kernels have sums of 64 bits


def largest_int16_sum(graph: Graph, op: Op) -> int | None:
    """What no sum of a layer with int16 activations and int8 weights exceeds, in its absolute value
    and at any term: the largest of ``32768 * sum |w| + |bias|`` of its outputs; None of other operators.
    """
    if not isinstance(op.attrs, ops.ConvAttrs | ops.Linear):
        return None
    weight = graph.tensors[op.inputs[1]].data
    if weight is None or graph.tensors[op.inputs[0]].dtype is not DType.S16:
        return None
    values = weight.astype(np.int64)
    if isinstance(op.attrs, ops.Linear):
        values -= op.attrs.weight_zero_point
    if isinstance(op.attrs, ops.DepthwiseConv2d):
        values = np.moveaxis(values, -1, 0)  # output channels come last there
    sums = 32768 * np.abs(values.reshape(len(values), -1)).sum(axis=1)
    if len(op.inputs) > 2:
        bias = graph.tensors[op.inputs[2]].data
        assert bias is not None
        sums = sums + np.abs(bias.reshape(-1).astype(np.int64))
    return int(sums.max(initial=0))


def check_sums(plan: Plan, step: Step) -> None:
    """Every call that adds products of int16 codes in 32 bits computes a layer whose sums fit.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        bound = largest_int16_sum(plan.graph, op) if op is not None else None
        if op is None or bound is None or call.kernel.op.endswith(_WIDE):
            continue
        if call.macs and bound > SUMS_32:
            raise CortexMError(
                f"sums of up to {bound:,} do not fit in the 32 bits of {call.kernel.symbol}",
                where=str(op.layer),
            )


def check_four_bits(plan: Plan, step: Step) -> None:
    """Every call that reads weights two to a byte computes a layer whose weights have 4 bits, and where
    it reads multipliers of 16 bits beside them, these are enough.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        if op is None or not call.kernel.types.endswith("w4"):
            continue
        assert isinstance(op.attrs, ops.ConvAttrs | ops.Linear | ops.RecurrentAttrs)
        matrices = op.inputs[-3:-1] if isinstance(op.attrs, ops.RecurrentAttrs) else op.inputs[1:2]
        for weight in (plan.graph.tensors[index].data for index in matrices):
            assert weight is not None
            if weight.size and not -8 <= weight.min() <= weight.max() <= 7:
                raise CortexMError(
                    f"weights are too large for the 4 bits of {call.kernel.symbol}",
                    where=str(op.layer),
                )
        if call.kernel.params.endswith("_s8w4_t") and any(
            rescale.multiplier & 0xFFFF for rescale in getattr(op.attrs, "rescales", ())
        ):
            raise CortexMError(
                f"multipliers do not fit in the 16 bits of {call.kernel.symbol}",
                where=str(op.layer),
            )


def check_pairs(plan: Plan, step: Step) -> None:
    """Every call that adds the products of two taps, 2n and 2n + 1, in 16 bits computes a layer whose
    weights leave them there, whatever its int8 codes are; one that has the weights of two channels in 16
    bits, a layer without a weight of -128; and where it takes two pixels of eight channels for one, they
    lie side by side.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        if op is None or call.kernel.pack not in ("depthwise16", *_SIGNED_PAIRS):
            continue
        weight = plan.graph.tensors[op.inputs[1]].data
        assert weight is not None
        if call.kernel.pack in _SIGNED_PAIRS:
            if weight.min(initial=0) < -127:
                raise CortexMError(
                    f"weights of two channels do not fit in the 16 bits of {call.kernel.symbol}",
                    where=str(op.layer),
                )
            continue
        taps = weight.astype(np.int64).reshape(-1, weight.shape[-1])
        if 128 * (np.abs(taps[0:-1:2]) + np.abs(taps[1::2])).max(initial=0) > 2**15 - 1:
            raise CortexMError(
                f"products of two taps do not fit in the 16 bits of {call.kernel.symbol}",
                where=str(op.layer),
            )
        fields = call.int_fields
        if fields["in_c"] == 8 and fields["out_pixel_stride"] != 8:
            raise CortexMError(
                f"results are not side by side as {call.kernel.symbol} writes them",
                where=str(op.layer),
            )


def check_ends(plan: Plan, step: Step) -> None:
    """Every call that knows no clamp has none, and one that takes windows of a few inputs for pixels has
    windows of one pixel in the image.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        if op is None or "from_zero" not in call.kernel.when:
            continue
        fields = call.int_fields
        clamp = [fields[name] for name in ("out_zero_point", "act_min", "act_max")]
        if clamp != [-128, -128, 127]:
            raise CortexMError(
                f"results have another clamp than those of {call.kernel.symbol}",
                where=str(op.layer),
            )
        are_fours = fields["out_c"] % 4 == 0 and fields["in_c"] in (8, 16, 24, 32)
        if "few_inputs" in call.kernel.when and not (_are_pixels(fields) and are_fours):
            raise CortexMError(
                f"windows are not pixels as {call.kernel.symbol} reads them", where=str(op.layer)
            )


def check_columns(plan: Plan, step: Step) -> None:
    """Every call whose windows share columns has 3x3 windows one column apart, each with a row in the
    image, of channels in fours, or of three where a row has two pixels, and for outputs in twos. Where it
    sums all products of a window at once, 24 bits hold those of the second output of any two.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.pack != "column_twos":
            continue
        fields = call.int_fields
        ones = ("stride_w", "dilation_w", "dilation_h", "groups")
        last = fields["in_y0"] + (fields["out_h"] - 1) * fields["stride_h"]
        if (
            [fields[name] for name in ones] != [1] * len(ones)
            or (fields["kernel_h"], fields["kernel_w"]) != (3, 3)
            or (fields["in_c"] % 4 and (fields["in_c"] != 3 or fields["in_w"] < 2))
            or fields["out_c"] % 2
            or fields["in_y0"] <= -3
            or last >= fields["in_h"]
        ):
            raise CortexMError(
                f"windows are not as {call.kernel.symbol} has them", where=str(step.op.layer)
            )
        stored = {constant.name: constant.data for constant in plan.constants}
        weight, table = (
            stored[arg.name].view(np.int8)[arg.offset :]
            for arg in call.args
            if isinstance(arg, ConstantArg)
        )
        outputs = fields["out_c"]
        halves = weight.view("<i2")[: outputs // 2 * 9 * 2 * -(-fields["in_c"] // 4 * 2)]
        second = (halves.astype(np.int64) + 128) >> 8  # of 256 * b + a
        second = second.reshape(outputs // 2, -1)
        least, most = (second * (code - fields["in_zero_point"]) for code in (-128, 127))
        sums = np.maximum(np.maximum(least, most).sum(axis=1), -np.minimum(least, most).sum(axis=1))
        are_runs = table.view(np.int8).reshape(-1, 20)[: outputs // 2, 18] != 0
        if sums.max(initial=0) >= 2**23 and not are_runs.all():
            raise CortexMError(
                f"24 bits do not hold the sums of {call.kernel.symbol}", where=str(step.op.layer)
            )


_INPUTS = {"conv2d_single": 1, "conv2d_two": 2, "conv2d_three": 3, "conv2d_four": 4}
_COLUMNS = {"conv2d_one_four": 4, "conv2d_one_five": 5}
_PLANES = {
    "conv2d_planes_by_two": (3, 2),
    "conv2d_planes_five": (5, 1),
    "conv2d_planes_five_by_two": (5, 2),
}
_EIGHTS = {"conv2d_planes_wide": 1, "conv2d_planes_wide_by_two": 2}  # columns from one to the next
_3X3 = {  # the same
    "conv2d_channels_3x3_any": 1,
    "conv2d_channels_3x3": 1,
    "conv2d_channels_3x3_by_two": 2,
    "conv2d_channels_3x3_dilated": 1,
}
_BLOCKS = {"conv2d_plain": 4, "linear_symmetric_fours": 4, "linear_eights": 8}  # outputs


def check_fours(plan: Plan, step: Step) -> None:
    """Every call that reads rows of any length as words has rows of one word at least, and every one that
    makes blocks of outputs only leaves none, nor groups; those for pixels from 16 channels on have no others,
    that of narrow windows of floats no channels that are groups; that of rows of pixels has nothing else, and
    those of few inputs no gaps between the pixels.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if "few_outputs_dsp" in call.kernel.when and call.int_fields["in_features"] < 4:
            raise CortexMError(
                f"rows are shorter than a word of {call.kernel.symbol}", where=str(step.op.layer)
            )
        fields, op = call.int_fields, call.kernel.op
        outputs = fields.get("out_c", fields.get("out_features", 0))
        if op in _BLOCKS and (outputs % _BLOCKS[op] or fields.get("groups", 1) != 1):
            raise CortexMError(
                f"{call.kernel.symbol} would leave out outputs", where=str(step.op.layer)
            )
        if op.endswith("_from_16") and fields["in_c"] < 16:
            raise CortexMError(
                f"{call.kernel.symbol} has no pixels of 8 channels", where=str(step.op.layer)
            )
        takes, what = _TAKES.get(op, (None, ""))
        if takes is not None and not takes(call):
            raise CortexMError(f"{call.kernel.symbol} {what}", where=str(step.op.layer))


def _has_no_groups_of_one(call: Call) -> bool:
    fields = call.int_fields
    return not 4 <= fields["groups"] == fields["in_c"] == fields["out_c"]


def _are_groups_of_one(call: Call) -> bool:
    fields = call.int_fields
    return fields["groups"] == fields["in_c"] == fields["out_c"]


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


def _are_planes(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, in planes, and windows of
    as many columns as the kernel has, as far apart, of which one of three or two of five at either end may
    lie outside the image, and four rows and columns of pixels."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    columns, stride = _PLANES[call.kernel.op]
    pad, windows = fields.get("pad_left", 0), (fields["kernel_w"], fields["stride_w"])
    beyond = (fields["out_w"] - 1) * stride + columns - pad - fields["in_w"]
    is_window = windows == (columns, stride) and fields.get("dilation_w", 1) == 1
    is_inside = 0 <= pad <= columns // 2 and beyond <= columns // 2
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    are_fours = fields["out_h"] >= 4 and fields["out_w"] >= 4 and not fields.get("filled", 0)
    return ins[3] == outs[3] == 1 and is_window and is_inside and are_groups and are_fours


def _are_3x3_by_two(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, in planes, and 3x3 windows
    two rows and columns apart, of which one of either at an end may lie outside the image, and three columns
    of pixels."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    sizes = {name: [fields[f"{name}_{side}"] for side in "hw"] for name in ("kernel", "stride")}
    is_near = fields.get("dilation_h", 1) == fields.get("dilation_w", 1) == 1
    pads = {"h": fields.get("pad_top", 0), "w": fields.get("pad_left", 0)}
    are_inside = all(
        0 <= pad <= 1 and 2 * fields[f"out_{side}"] - pad <= fields[f"in_{side}"]
        for side, pad in pads.items()
    )
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    is_window = sizes == {"kernel": [3, 3], "stride": [2, 2]} and is_near
    are_pairs = fields["out_w"] >= 3 and not fields.get("filled", 0)
    return ins[3] == outs[3] == 1 and is_window and are_inside and are_groups and are_pairs


def _are_3x3(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and 3x3 windows as many columns apart as the kernel has, of which one row and column at either end may lie
    outside the image, and four columns of pixels, as far apart as those of the image; of dilated windows each
    of the images that these are apart. Or any number of channels, and windows one row apart, where pixels to
    the right lie behind those to the left."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    are_any = call.kernel.op == "conv2d_channels_3x3_any"
    least = 1 if are_any else 4
    are_groups = least <= fields["groups"] == fields["in_c"] == fields["out_c"]
    windows = (fields["kernel_h"], fields["kernel_w"], fields["stride_w"])
    apart = {side: fields.get(f"dilation_{side}", 1) for side in "hw"}
    is_dilated = call.kernel.op.endswith("_dilated")
    is_near = (
        min(apart.values()) >= 1 == fields["stride_h"] if is_dilated else {*apart.values()} == {1}
    )
    is_near = is_near and not (are_any and (fields["stride_h"] != 1 or ins[3] <= 0))
    is_window = windows == (3, 3, _3X3[call.kernel.op]) and is_near
    pads = {"h": fields.get("pad_top", 0), "w": fields.get("pad_left", 0)}
    are_inside = all(
        0 <= pad <= apart[side]
        and (fields[f"out_{side}"] - 1) * fields[f"stride_{side}"] + 1 + apart[side] - pad
        <= fields[f"in_{side}"]
        for side, pad in pads.items()
    )
    are_beside = ins[1] == outs[1] == 1 and ins[3] == outs[3]
    are_fours = fields["out_w"] >= 4 * apart["w"] and not fields.get("filled", 0)
    return are_groups and is_window and are_inside and are_beside and are_fours


def _are_fives(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and windows of five columns two apart, of which two at either end may lie outside the image, and four
    columns of pixels."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    are_groups = 4 <= fields["groups"] == fields["in_c"] == fields["out_c"]
    windows = fields["kernel_w"], fields["stride_w"], fields.get("dilation_w", 1)
    pad = fields.get("pad_left", 0)
    beyond = (fields["out_w"] - 1) * 2 + 5 - pad - fields["in_w"]
    are_inside = 0 <= pad <= 2 and beyond <= 2
    are_fours = fields["out_w"] >= 4 and not fields.get("filled", 0)
    are_beside = ins[1] == outs[1] == 1
    return are_groups and windows == (5, 2, 1) and are_inside and are_beside and are_fours


def _are_eights(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, eight or
    more, or four of the kernel that takes as many."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    are_four = fields["groups"] == 4 and call.kernel.op == "conv2d_channels_fours"
    are_enough = fields["groups"] >= 8 or are_four
    are_beside = ins[1] == outs[1] == 1
    return are_groups and are_enough and are_beside and not fields.get("filled", 0)


def _are_slid(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and windows of three columns or more, or of as many rows and one column, as far apart as columns are or
    with windows between, of which four have at most three columns outside the image at either end; or windows
    of one row have three columns in it."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    along, across, pad = (
        ("h", "w", "pad_top") if fields["kernel_w"] == 1 else ("w", "h", "pad_left")
    )
    names = ("kernel", "stride", "dilation", "in", "out")
    kernel, stride, dilation, extent, count = (fields[f"{name}_{along}"] for name in names)
    if not 4 <= fields["groups"] == fields["in_c"] == fields["out_c"]:
        return False
    if fields.get("filled", 0) or kernel < 3 or min(stride, dilation) < 1 or dilation % stride:
        return False

    def outside(pixel: int) -> tuple[int, int]:
        first = pixel * stride - fields.get(pad, 0)
        taps = range(first, first + kernel * dilation, dilation)
        return sum(tap < 0 for tap in taps), sum(tap >= extent for tap in taps)

    apart = dilation // stride
    pixels = [outside(pixel) for pixel in range(count)]
    fourths = [outside(phase + 3 * apart) for phase in range(min(apart, count))]
    are_whole = all(before <= 3 and behind <= 3 for before, behind in [*pixels, *fourths])
    last_first = (min(apart, count) - 1) * stride - fields.get(pad, 0)
    are_begun = last_first < extent and fields.get(pad, 0) >= 0
    are_cut = all(kernel - before - behind >= 3 for before, behind in pixels)
    are_cut = are_cut and fields[f"kernel_{across}"] == 1
    return ins[1] == outs[1] == 1 and are_begun and (are_whole or are_cut)


def _are_rows(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups, in planes, and rows of 16 pixels or more,
    whose windows are one column apart, of which up to four at either end have taps outside the image, no tap
    at both; or windows of one column, of planes whose rows of pixels that have all taps are one row of so
    many."""
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    fields = call.int_fields
    kernel, apart, pad = fields["kernel_w"], fields.get("dilation_w", 1), fields.get("pad_left", 0)
    if apart < 1 or fields["stride_w"] != 1 or fields.get("filled", 0):
        return False
    are_planes = fields["groups"] == fields["in_c"] == fields["out_c"]
    if not are_planes or ins[3] != 1 or outs[3] != 1:
        return False
    if fields["out_w"] < 16:
        last = fields["in_h"] - 1 + fields.get("pad_top", 0)
        last -= (fields["kernel_h"] - 1) * fields.get("dilation_h", 1)
        whole = min(fields["out_h"] - 1, last) - fields.get("pad_top", 0) + 1
        is_row = ins[2] == outs[2] == fields["in_w"] == fields["out_w"] and pad == 0
        is_near = kernel == fields["stride_h"] == 1 and fields.get("pad_top", 0) >= 0
        return is_row and is_near and whole * fields["out_w"] >= 16
    beyond = max(fields["out_w"] - pad + (kernel - 1) * apart - fields["in_w"], 0)
    first, last = (-(-most // apart) for most in (pad, beyond))
    return 0 <= pad <= 4 and beyond <= 4 and first + last <= kernel


# Kernels of channels side by side whose windows are one row: their columns, and how far they are apart.
_NEAR_LINES = {
    f"conv2d_channels_line_{name}{suffix}": (columns, stride)
    for name, columns in (("three", 3), ("five", 5), ("seven", 7), ("nine", 9))
    for suffix, stride in (("", 1), ("_by_two", 2))
}


def _are_near_lines(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and such windows in the image, but for half of their columns at an end, or one less at the end of a row
    where they are two apart; and four results of a row or more, as far apart as the columns, none of which
    but the first and the last four lacks some of these."""
    fields, (columns, apart) = call.int_fields, _NEAR_LINES[call.kernel.op]
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    names = ("kernel_h", "kernel_w", "stride_w")
    window = (*(fields[name] for name in names), fields.get("dilation_w", 1))
    count, pad, half = fields["out_w"], fields.get("pad_left", 0), columns // 2
    beyond = (count - 1) * apart - pad + columns - fields["in_w"]
    return (
        4 <= fields["groups"] == fields["in_c"] == fields["out_c"]
        and not fields.get("filled", 0)
        and ins[1] == outs[1] == 1
        and ins[3] == outs[3]
        and window == (1, columns, apart, 1)
        and pad in (0, half)
        and (beyond <= 0 or beyond == half or (apart == 2 and beyond == half - 1))
        and fields.get("pad_top", 0) == 0
        and (fields["out_h"] - 1) * fields["stride_h"] < fields["in_h"]
        and count >= (8 + half if count % 4 else 4)
    )


# Kernels of planes whose lanes are every fourth pixel: their columns, and whether windows are one row.
_FOURTHS = (
    ("conv2d_planes_seven", 7, False),
    ("conv2d_planes_line_three", 3, True),
    ("conv2d_planes_line_five", 5, True),
    ("conv2d_planes_line_seven", 7, True),
    ("conv2d_planes_line_nine", 9, True),
)


def _are_fourths(columns: int, is_line: bool) -> Callable[[Call], bool]:
    """Whether it has such of windows of so many columns side by side, of which the first or the last pixel of
    a row lacks half, or none, and the last 16 pixels that are not the first ones lack no first ones; of
    several rows, or of one that is in the image."""

    def are(call: Call) -> bool:
        fields, half = call.int_fields, columns // 2
        out, pad, above = fields["out_w"], fields.get("pad_left", 0), fields.get("pad_top", 0)
        beyond = out - pad + columns - 1 - fields["in_w"]
        is_window = fields["kernel_w"] == columns and fields.get("dilation_w", 1) == 1
        is_half = pad in (0, half) and (beyond <= 0 or beyond == half)
        last_row = (fields["out_h"] - 1) * fields["stride_h"]
        is_inside = fields["kernel_h"] == 1 and above == 0 and last_row < fields["in_h"]
        are_blocks = out % 16 == 0 or out % 16 >= half
        return (
            _are_rows(call) and is_window and is_half and are_blocks and (is_inside or not is_line)
        )

    return are


# The same two columns apart.
_LINES_BY_TWO = (
    ("conv2d_planes_line_three_by_two", 3),
    ("conv2d_planes_line_five_by_two", 5),
    ("conv2d_planes_line_seven_by_two", 7),
)


def _are_lines_by_two(columns: int) -> Callable[[Call], bool]:
    """Whether it has planes that are groups, of windows of so many columns of one row in the image, two
    apart, of which the first or the last pixel of a row lacks half, or none, or the last one one less, and
    the last 16 pixels that are not the first ones lack no first ones."""

    def are(call: Call) -> bool:
        fields, half = call.int_fields, columns // 2
        ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
        assert isinstance(ins, tuple) and isinstance(outs, tuple)
        names = ("kernel_h", "kernel_w", "stride_w")
        window = (*(fields[name] for name in names), fields.get("dilation_w", 1))
        out, pad = fields["out_w"], fields.get("pad_left", 0)
        beyond = 2 * out - 2 - pad + columns - fields["in_w"]
        return (
            fields["groups"] == fields["in_c"] == fields["out_c"]
            and not fields.get("filled", 0)
            and ins[3] == outs[3] == 1
            and window == (1, columns, 2, 1)
            and pad in (0, half)
            and (beyond <= 0 or beyond in (half - 1, half))
            and fields.get("pad_top", 0) == 0
            and (fields["out_h"] - 1) * fields["stride_h"] < fields["in_h"]
            and out >= 16
            and (out % 16 == 0 or 2 * (out % 16) >= half)
        )

    return are


# Kernels of planes of windows of one column: their rows, and how far they are apart.
_COLUMNS_OF_PLANES = (
    ("conv2d_planes_column_three", 3, 1),
    ("conv2d_planes_column_five", 5, 1),
    ("conv2d_planes_column_three_by_two", 3, 2),
    ("conv2d_planes_column_five_by_two", 5, 2),
)


def _are_columns_of_planes(rows: int, stride: int) -> Callable[[Call], bool]:
    """Whether it has planes that are groups, of windows of one column of so many rows, so far apart, of which
    half may lie outside the image at either end, and four rows and columns of pixels."""

    def are(call: Call) -> bool:
        fields = call.int_fields
        ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
        assert isinstance(ins, tuple) and isinstance(outs, tuple)
        names = ("kernel_h", "kernel_w", "stride_h", "stride_w")
        window = (*(fields[name] for name in names), fields.get("dilation_h", 1))
        above = fields.get("pad_top", 0)
        beyond = (fields["out_h"] - 1) * stride + rows - above - fields["in_h"]
        return (
            fields["groups"] == fields["in_c"] == fields["out_c"]
            and not fields.get("filled", 0)
            and ins[3] == outs[3] == 1
            and window == (rows, 1, stride, 1, 1)
            and fields.get("pad_left", 0) == 0
            and 4 <= fields["out_w"] <= fields["in_w"]
            and fields["out_h"] >= 4
            and 0 <= above <= rows // 2
            and beyond <= rows // 2
        )

    return are


def _are_eights_of_rows(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups, in planes, and rows of eight pixels or
    more, or of five that end behind the image, whose windows have no gaps and are as many columns apart as
    the kernel has: of eight pixels that it computes together no tap meets less than all at both ends, and no
    more than seven at either, or four."""
    fields, stride = call.int_fields, _EIGHTS[call.kernel.op]
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    kernel, pixels, most = fields["kernel_w"], fields["out_w"], 7 if stride == 1 else 4
    if (fields["stride_w"], fields.get("dilation_w", 1)) != (stride, 1) or pixels < 5:
        return False
    are_inside = True
    for first in {*range(0, pixels - 7, 8), max(0, pixels - 8)}:
        column = first * stride - fields.get("pad_left", 0)
        before = sum(column + tap < 0 for tap in range(kernel))
        behind = sum(column + 7 * stride + tap >= fields["in_w"] for tap in range(kernel))
        are_inside = are_inside and max(before, behind) <= most and before + behind <= kernel
        are_inside = are_inside and (pixels >= 8 or behind > 0)
        are_inside = are_inside and 0 <= column + kernel and column + 7 * stride <= fields["in_w"]
    are_planes = fields["groups"] == fields["in_c"] == fields["out_c"]
    return ins[3] == outs[3] == 1 and are_planes and are_inside and not fields.get("filled", 0)


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


def _are_planes_of_pixels(call: Call) -> bool:
    """Whether the windows of a convolution of floats are pixels of one row in each plane, 16 or more, in the
    image."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    alone = ("out_h", "groups", "kernel_h", "kernel_w", "stride_w")
    are_pixels = all(fields[name] == 1 for name in alone)
    are_inside = not any(fields.get(name, 0) for name in ("pad_top", "pad_left", "filled"))
    return (
        are_pixels
        and are_inside
        and ins[3] == outs[3] == 1
        and 16 <= fields["out_w"] <= fields["in_w"]
    )


def _are_pixels(fields: Mapping[str, int]) -> bool:
    """Whether all windows are one pixel each, in the image."""
    axes = (("in_y0", "out_h", "stride_h", "in_h"), ("in_x0", "out_w", "stride_w", "in_w"))
    are_inside = True
    for names in axes:
        first, count, stride, extent = (fields[name] for name in names)
        are_inside = are_inside and 0 <= first <= first + (count - 1) * stride < extent
    return fields["kernel_h"] == fields["kernel_w"] == 1 and are_inside


# By a kernel's operator: what it takes, and how a message says so.
_TAKES: dict[str, tuple[Callable[[Call], bool], str]] = {
    "conv2d_narrow": (_has_no_groups_of_one, "has no channels that are groups"),
    "conv2d_channels": (_are_groups_of_one, "takes channels that are groups only"),
    "conv2d_row": (_is_row, "computes a row of pixels only"),
    "conv2d_one": (
        _is_one,
        "takes one input, and windows of three columns for five pixels or more",
    ),
    **dict.fromkeys(
        _COLUMNS,
        (_is_one_wide, "takes one input, and windows of other columns, for four rows or more"),
    ),
    **dict.fromkeys(
        _PLANES,
        (_are_planes, "takes planes, and other windows, for four rows and columns or more"),
    ),
    "conv2d_planes_3x3_by_two": (
        _are_3x3_by_two,
        "takes planes, and 3x3 windows two apart, for three columns or more",
    ),
    **dict.fromkeys(
        ("conv2d_channels_fours", "conv2d_channels_eights"),
        (_are_eights, "takes eight channels or more that are groups"),
    ),
    "conv2d_channels_five_by_two": (
        _are_fives,
        "takes channels that are groups, of windows of five columns",
    ),
    "conv2d_channels_wide": (
        _are_slid,
        "takes channels that are groups, of windows that share columns",
    ),
    **dict.fromkeys(
        _NEAR_LINES, (_are_near_lines, "takes channels that are groups, of windows of one row")
    ),
    **{
        name: (
            _are_fourths(columns, is_line),
            "takes planes of 16 columns or more, of near windows",
        )
        for name, columns, is_line in _FOURTHS
    },
    **{
        name: (
            _are_lines_by_two(columns),
            "takes planes of 16 columns or more, of windows two apart",
        )
        for name, columns in _LINES_BY_TWO
    },
    **{
        name: (_are_columns_of_planes(rows, apart), "takes planes, and other windows of one column")
        for name, rows, apart in _COLUMNS_OF_PLANES
    },
    "conv2d_planes_1x1": (_are_planes_of_pixels, "takes a row of 16 pixels or more of each plane"),
    "conv2d_planes_row": (_are_rows, "takes planes of 16 columns or more, of near windows"),
    **dict.fromkeys(
        _EIGHTS, (_are_eights_of_rows, "takes planes of five columns or more, of windows so near")
    ),
    **dict.fromkeys(_3X3, (_are_3x3, "takes channels that are groups, of other 3x3 windows")),
    **dict.fromkeys(_INPUTS, (_are_few, "takes a row of pixels of other inputs or outputs")),
}
