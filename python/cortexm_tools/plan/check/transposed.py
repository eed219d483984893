# SPDX-License-Identifier: Apache-2.0
"""Proves that a transposed convolution in another form has a place for each of its taps: as a convolution,
or with some columns as one of more outputs, or as one convolution for each phase, of the rows or of floats.
Rows of bands are for bands.py."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import product, takewhile
from typing import Any

import numpy as np

from ...errors import CortexMError
from ...ir import Array, Op, Tensor, ops
from ...ir.fixed_point import I64
from ...ir.geometry import Window
from ..kernels.forms import FORMS
from ..kernels.packing import Constants
from ..types import Call, ConstantArg, Plan, ScratchArg, Step, TensorArg
from .joined import has_weights


def check_transposed(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call on a whole image looks for a tap of the operator where it is not."""
    attrs = step.op.attrs
    if isinstance(attrs, ops.FloatTransposeConv2d):
        _check_phases(plan, step, attrs)
    if not isinstance(attrs, ops.TransposeConv2d) or step.fused:
        return
    convolutions = [call for call in step.calls if call.kernel.serves == "conv2d"]
    has_rows = attrs.window.stride != (1, 1) or any(call.result is None for call in convolutions)
    if convolutions and has_rows:
        if not _makes_rows(plan, step, attrs):
            raise CortexMError("rows are not made as they should be", where=str(step.op.layer))
        return
    out_c, width = (plan.graph.tensors[step.op.outputs[0]].shape[d] for d in (1, 3))
    in_c = plan.graph.tensors[step.op.inputs[0]].shape[1]
    for call in step.calls:
        f = call.int_fields
        joined, inputs = f["out_c"] // out_c, f["in_c"] // in_c
        whole = (f["out_c"], f["in_c"], f["out_w"] * joined) == (
            out_c * joined,
            in_c * inputs,
            width,
        )
        beside = joined == 1 or f["out_pixel_stride"] == f["out_c"]
        finds = _finds_in_reverse if call.kernel.serves.startswith("conv2d") else _finds
        if not (whole and beside and finds(attrs, call, joined, inputs)):
            raise CortexMError(
                f"{call.kernel.symbol} looks for taps where they are not", where=str(step.op.layer)
            )


def _finds(attrs: ops.TransposeConv2d, call: Call, joined: int, inputs: int) -> bool:
    """Input i adds to the outputs first + stride * i + tap of a row, of which `joined` are a column."""
    f, window = call.int_fields, attrs.window
    if inputs != 1 or f["stride_w"] * joined != window.stride[1]:
        return False
    if (f["stride_h"], f["kernel_h"], f["in_y0"]) != (
        window.stride[0],
        window.kernel[0],
        -window.padding[0],
    ):
        return False
    if joined == 1:
        return f["kernel_w"] == window.kernel[1] and f["in_x0"] == -window.padding[1]
    columns = [(tap - window.padding[1]) // joined for tap in range(window.kernel[1])]
    return f["in_x0"] == columns[0] and f["in_x0"] + f["kernel_w"] == columns[-1] + 1


def _finds_in_reverse(attrs: ops.TransposeConv2d, call: Call, joined: int, inputs: int) -> bool:
    """Output o of a row meets with tap k the input o + padding - k * dilation: the first one with the last
    tap. Where `joined` outputs are a pixel its window goes on to the last one's."""
    f, window = call.int_fields, attrs.window
    reach = [(side - 1) * step for side, step in zip(window.kernel, window.dilation, strict=True)]
    first = [cut - far for cut, far in zip(window.padding, reach, strict=False)]
    if window.stride != (1, 1) or f["stride_h"] != 1 or f["stride_w"] * inputs != joined:
        return False
    if (
        f["in_y0"] != first[0]
        or f["in_x0"] * inputs != first[1]
        or f["kernel_h"] != window.kernel[0]
    ):
        return False
    columns = (f["kernel_w"] * inputs - 1) * f["dilation_w"]
    return columns == reach[1] + joined - 1


def _makes_rows(plan: Plan, step: Step, attrs: ops.TransposeConv2d) -> bool:
    """Whether convolutions, and the copies from scratch that follow them, make each output once, from the
    inputs and with the weights that it has."""
    out = plan.graph.tensors[step.op.outputs[0]]
    _, out_c, _, width = out.shape
    stride_h, stride_w = attrs.window.stride
    made: list[I64] = []
    calls = list(step.calls)
    while calls:
        call = calls.pop(0)
        f = call.int_fields
        if isinstance(call.args[0], ConstantArg):
            filled = _filled(plan, step.op, attrs, call)
            if filled is None:
                return False
            made.append(filled)
            continue
        count = f["out_h"] * f["out_w"] * f["out_c"]
        source = to = np.arange(count)
        if call.result is None:
            copies = list(takewhile(lambda each: isinstance(each.args[0], ScratchArg), calls))
            calls = calls[len(copies) :]
            found = [_copied(plan, call, copy) for copy in copies]
            source, to = (np.concatenate(each) for each in zip(*found, strict=True))
        # A pixel has columns, those of one row after the other of all that it has.
        columns = f["stride_w"] * (f["in_c"] // plan.graph.tensors[step.op.inputs[0]].shape[1])
        rows = f["out_c"] // (columns * stride_w * out_c)
        shape = f["out_h"], f["out_w"], columns, rows, stride_w, out_c
        if (
            math.prod(shape) != count
            or not 0 <= source.min(initial=0) <= source.max(initial=0) < count
        ):
            return False
        y, pixel, column, row, x, channel = np.unravel_index(source, shape)
        place, to_channel = np.divmod(to, out_c)
        to_y, to_x = np.divmod(place, width)
        # Of stride 1 any number of rows can be those of a pixel.
        below = max(rows, stride_h)
        first = int(to_y[0] - row[0] - below * y[0])
        if (
            (stride_h > 1 and rows not in (1, stride_h))
            or f["stride_h"] * stride_h != below
            or (channel != to_channel).any()
            or (first + below * y + row != to_y).any()
            or ((pixel * columns + column) * stride_w + x != to_x).any()
        ):
            return False
        weights = _row_weights(plan, step.op, attrs, f, range(first, first + rows))
        if weights is None or not has_weights(plan, step.op, call, weights):
            return False
        made.append(to)
    return np.array_equal(np.sort(np.concatenate(made)), np.arange(out.numel // out.shape[0]))


def _copied(plan: Plan, call: Call, copy: Call) -> tuple[I64, I64]:
    """The elements that a copy takes from what a call made in scratch, and where it puts them; -1 if it takes
    others, or if that call works among them."""
    (made, work), source = call.args[-2:], copy.args[0]
    assert isinstance(made, ScratchArg) and isinstance(work, ScratchArg)
    if (
        not isinstance(source, ScratchArg)
        or made.offset
        or made.nbytes > work.offset
        or (copy.turns, copy.loop) != (call.turns, call.loop)
        or not _is_in_turn(plan, copy)
    ):
        return np.array([-1]), np.array([0])
    return _places(plan, copy, source.offset)


def _is_in_turn(plan: Plan, copy: Call) -> bool:
    """Whether each turn of a copy writes the next image."""
    to = copy.tensors[-1]
    step = plan.graph.tensors[to.index].nbytes // copy.turns if copy.turns > 1 else 0
    return to.step == step


def _places(plan: Plan, copy: Call, start: int) -> tuple[I64, I64]:
    """The elements that a copy takes, which begin at byte `start`, and where it puts them."""
    to = copy.tensors[-1]
    size = plan.graph.tensors[to.index].dtype.size
    fields: dict[str, Any] = dict(copy.fields)
    box = [fields.get(name) for name in ("dims", "in_stride", "out_stride")]
    if copy.kernel.op == "move":
        box = [(fields["count"] // size,), (1,), (1,)]
    places = [np.full(1, begin // size) for begin in (start, to.offset)]
    for extent, *steps in zip(*box, strict=True):
        places = [
            np.add.outer(place, np.arange(extent) * by).reshape(-1)
            for place, by in zip(places, steps, strict=True)
        ]
    return places[0], places[1]


def _filled(plan: Plan, op: Op, attrs: ops.TransposeConv2d, copy: Call) -> I64 | None:
    """Where a copy of a constant puts codes; None if a row there meets a tap, or biases alone give others."""
    x, out = (plan.graph.tensors[index] for index in (op.inputs[0], op.outputs[0]))
    source = copy.args[0]
    assert isinstance(source, ConstantArg)
    stored = {constant.name: constant.data for constant in plan.constants}[source.name].reshape(-1)
    taken, to = _places(plan, copy, 0)
    if not _is_in_turn(plan, copy) or copy.turns != out.shape[0]:
        return None
    if not 0 <= taken.min(initial=0) <= taken.max(initial=0) < stored.size:
        return None
    place, channel = np.divmod(to, out.shape[1])
    behind = (place // out.shape[3] + attrs.window.padding[0]) % attrs.window.stride[0]
    if (behind < attrs.window.kernel[0]).any():
        return None
    constants = [plan.graph.tensors[index].data for index in op.inputs[1:]]
    # Of a single pixel that is the zero point.
    one = replace(attrs, window=Window(attrs.window.kernel, (1, 1), (0, 0, 0, 0)))
    result = replace(out, shape=(1, out.shape[1], *attrs.window.kernel))
    pixel = np.full((1, x.shape[1], 1, 1), attrs.in_zero_point, x.dtype.numpy)
    codes = np.asarray(
        one.compute((result,), pixel, *(data for data in constants if data is not None))
    )[0, :, 0, 0]
    return to if np.array_equal(stored[taken], codes[channel]) else None


def _row_weights(
    plan: Plan, op: Op, attrs: ops.TransposeConv2d, f: Mapping[str, int], rows: range
) -> Array | None:
    """The weights, [out_c, kernel_h, kernel_w, in_c], of a convolution that makes all columns of these output
    rows and those that are as far behind them as its windows are apart; None if its windows have not all
    inputs that these meet."""
    tensors, window = plan.graph.tensors, attrs.window
    x, out, weight = (tensors[i] for i in (op.inputs[0], op.outputs[0], op.inputs[1]))
    assert weight.data is not None
    inputs = f["in_c"] // x.shape[1]
    usual = {
        **{"dilation_h": 1, "dilation_w": 1, "groups": 1},
        **{"out_pixel_stride": f["out_c"], "in_h": x.shape[2]},
        "in_row_stride": x.shape[1] * x.shape[3],
    }
    is_usual = all(f[name] == value for name, value in usual.items())
    if not is_usual or f["in_w"] * f["in_c"] != f["in_row_stride"]:
        return None
    columns = f["stride_w"] * inputs
    outputs = columns, len(rows), window.stride[1], out.shape[1]
    wanted = np.zeros((*outputs, f["kernel_h"], f["kernel_w"] * inputs, x.shape[1]), np.int8)
    ys = f["in_y0"] + np.arange(f["kernel_h"])
    xs = f["in_x0"] * inputs + np.arange(f["kernel_w"] * inputs)
    for column, row, phase in np.ndindex(*outputs[:3]):
        ends = rows[row], column * window.stride[1] + phase
        taps = [
            end + pad - stride * places
            for end, pad, stride, places in zip(
                ends, window.padding, window.stride, (ys, xs), strict=False
            )
        ]
        if not all(_has_all(taps[axis], ends[axis], window, axis) for axis in (0, 1)):
            return None
        for (y, k), (at, tap) in product(enumerate(taps[0]), enumerate(taps[1])):
            if 0 <= k < window.kernel[0] and 0 <= tap < window.kernel[1]:
                wanted[column, row, phase, :, y, at] = weight.data[:, k, tap]
    return wanted.reshape(f["out_c"], f["kernel_h"], f["kernel_w"], f["in_c"])


def _has_all(taps: Array, place: int, window: Window, axis: int) -> bool:
    """Whether all taps that output row or column `place` meets an input with are there."""
    behind = (place + window.padding[axis]) % window.stride[axis]
    return set(range(behind, window.kernel[axis], window.stride[axis])) <= set(taps.tolist())


def _check_phases(plan: Plan, step: Step, attrs: ops.FloatTransposeConv2d) -> None:
    """Each output is made once, and meets with each tap the input that it should, in their order."""
    calls = [call for call in step.calls if call.kernel.serves == "conv2d"]
    if not calls:
        return
    x, weight, out = (plan.graph.tensors[i] for i in (*step.op.inputs[:2], step.op.outputs[0]))
    stored = {constant.name: constant.data for constant in plan.constants}
    made: Counter[tuple[int, ...]] = Counter()
    for call in calls:
        rows, columns = (_meeting(attrs.window, call, axis, x, out) for axis in (0, 1))
        weights = next(arg.name for arg in call.args if isinstance(arg, ConstantArg))
        if (
            rows is None
            or columns is None
            or weight.data is None
            or not _are_weights(
                call, stored[weights], weight.data, attrs.groups, rows[1], columns[1]
            )
        ):
            raise CortexMError(
                f"{call.kernel.symbol} looks for taps where they are not", where=str(step.op.layer)
            )
        made.update(product(rows[0], columns[0]))
    if made != Counter(np.ndindex(*out.shape[2:])):
        raise CortexMError("phases do not make each output once", where=str(step.op.layer))


def _meeting(
    window: Window, call: Call, axis: int, x: Tensor, out: Tensor
) -> tuple[list[int], list[int | None]] | None:
    """Along an axis the outputs that a call makes, and which of the operator's taps each of its own is, if
    any input meets that; None if an output meets other inputs than it should."""
    f, side = call.int_fields, "hw"[axis]
    pad = f["pad_top" if axis == 0 else "pad_left"]
    first, step = _walk(call, 0, "in_strides", x, axis)
    out_first, out_step = _walk(call, -1, "out_strides", out, axis)
    outs = [out_first + out_step * o for o in range(f[f"out_{side}"])]
    taps: list[int | None] = [None] * f[f"kernel_{side}"]
    for o, place in enumerate(outs):
        begin = o * f[f"stride_{side}"] - pad
        ways = ((begin + tap * f[f"dilation_{side}"], tap) for tap in range(len(taps)))
        met = [(first + step * at, tap) for at, tap in ways if 0 <= at < f[f"in_{side}"]]
        steps = (
            place + window.padding[axis] - tap * window.dilation[axis]
            for tap in range(window.kernel[axis])
        )
        sources = ((*divmod(far, window.stride[axis]), tap) for tap, far in enumerate(steps))
        wanted = [
            (at, tap) for at, rest, tap in sources if rest == 0 and 0 <= at < x.shape[2 + axis]
        ]
        if [at for at, _ in met] != [at for at, _ in wanted]:
            return None
        for (_, tap), (_, own) in zip(met, wanted, strict=True):
            if taps[tap] not in (None, own):
                return None
            taps[tap] = own
    return outs, taps


def _walk(call: Call, number: int, name: str, tensor: Tensor, axis: int) -> tuple[int, int]:
    """The row or column in which an argument begins, and from one to the next."""
    arg, steps = call.args[number], dict(call.fields)[name]
    assert isinstance(arg, TensorArg | ConstantArg) and isinstance(steps, tuple)
    order = tensor.dim_order
    extents = [tensor.shape[d] for d in order]
    place = np.unravel_index(arg.offset // tensor.dtype.size, extents)
    inner = math.prod(extents[order.index(2 + axis) + 1 :])
    return int(place[order.index(2 + axis)]), steps[2 + axis] // inner


def _are_weights(
    call: Call,
    stored: Array,
    weight: Array,
    groups: int,
    rows: list[int | None],
    columns: list[int | None],
) -> bool:
    """Whether a call has the operator's weights, [in_c, out_c / groups, kernel_h, kernel_w], for these of its
    taps, and any for others."""
    in_c, group_out = weight.shape[:2]
    wanted = np.zeros((groups * group_out, in_c // groups, len(rows), len(columns)), weight.dtype)
    counts = np.zeros_like(wanted)
    for c, o in np.ndindex(in_c, group_out):
        group, channel = divmod(c, in_c // groups)
        for (i, row), (k, column) in product(enumerate(rows), enumerate(columns)):
            if row is not None and column is not None:
                wanted[group * group_out + o, channel, i, k] = weight[c, o, row, column]
                counts[group * group_out + o, channel, i, k] = 1
    # Channels that are groups have their weights as they are where not all of a pixel lie side by side.
    strides = [dict(call.fields).get(f"{side}_strides") for side in ("in", "out")]
    are_beside = all(isinstance(steps, tuple) and steps[1] == 1 for steps in strides)
    is_plain = not call.kernel.pack or call.kernel.pack == "float_channels" and not are_beside
    pack = (lambda plain: plain.weight) if is_plain else FORMS[call.kernel.pack].weights
    values, some = (
        pack(Constants(each, np.zeros(0, np.float32), groups=groups)).reshape(-1)
        for each in (wanted, counts)
    )
    return np.array_equal(stored.reshape(-1)[some == 1], values[some == 1], equal_nan=True)
