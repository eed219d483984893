# SPDX-License-Identifier: Apache-2.0
"""Whether the calls of a convolution, in whatever form, are the linear map that the operator is.

A convolution may be computed as another one on the same bytes (plan/forms): with more groups or pixels as
one, as a depthwise one, by phases, in scratch that copies bring to its place. An operator and a call are the
same here: places of an image that windows meet, and a weight for each. What lies outside the image is the
zero point, of which nothing is left when it is subtracted from every code.

So both are applied to an image of random integers, and calls write what they make where their addresses
say. Linear maps that differ, in whatever weight, give other sums at each output where they do, but for one
chance in 2^20 (Freivalds' check of a product of matrices); these are of integers below 2^53, so exact. With
each output goes its bias, multiplier and shift. Sums of floats have an order: there each product has another
factor for its place among those of inputs that there are.

Of large images the first, the last and some rows and columns in the middle are compared, as many as windows
reach and a stride is long: between these both maps go on as they do there, for places are linear in the row
and the column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CortexMError
from ...ir import DType, Op, ops
from ..types import Call, ConstantArg, Plan, ScratchArg, Step

_Numbers = npt.NDArray[Any]
_Fields = Mapping[str, Any]

_FLOATS = (ops.FloatConv2d, ops.FloatTransposeConv2d)
_SERVES = ("conv2d", "depthwise_conv2d", "transpose_conv2d")
_CHUNK = 1 << 18  # products at a time
_RANDOM = np.random.default_rng(1).integers(1, 1 << 20, 1 << 16)
_MOST = 1 << 22  # outputs of which each is marked when it is made


def check_linear_map(plan: Plan, step: Step) -> None:
    """Every convolution of codes that is not computed as it is, and every transposed one of floats that is
    computed as others, gives the sums of the model, and reads its weights packed as its kernel wants them. Of
    bands of rows only the columns are seen here: bands.py.

    Raises:
        CortexMError: names the layer.
    """
    for op in step.ops:
        if not isinstance(op.attrs, (ops.ConvAttrs, *_FLOATS)):
            continue
        own = _operator_fields(plan, op)
        calls = [call for call in step.calls if (step.op_of(call) or step.op) is op]
        others: dict[object, Call] = {}
        for call in calls:
            fields = _call_fields(plan, step, op, own, call)
            is_move = step.fused and not fields
            if not (is_move or _is_plain(plan, op, own, call, fields)):
                others.setdefault(tuple(fields.items()), call)
        ways = [[call] for call in others.values()] if step.fused else [calls]
        if others and not all(_makes(plan, step, op, own, way) for way in ways):
            symbol = next(iter(others.values())).kernel.symbol
            message = f"{symbol} would not compute the products of the model"
            raise CortexMError(message, where=str(op.layer))


def _operator_fields(plan: Plan, op: Op) -> dict[str, Any]:
    """The extents, window and places of an operator on one image, and the elements between neighbouring
    channels, rows and columns."""
    attrs: Any = op.attrs
    fields: dict[str, Any] = {"kind": op.kind.removeprefix("float_")}
    for name, index in (("in", op.inputs[0]), ("out", op.outputs[0])):
        tensor = plan.graph.tensors[index]
        _, channels, height, width = tensor.shape
        fields |= {f"{name}_c": channels, f"{name}_h": height, f"{name}_w": width}
        order = [tensor.dim_order.index(dim) for dim in range(4)]
        strides = np.empty(tensor.memory_shape, np.int8).transpose(order).strides[1:]
        is_float = isinstance(attrs, _FLOATS)
        fields[f"{name}_strides"] = strides if is_float else (1, width * channels, channels)
        fields[f"{name}_start"] = 0
    for name in ("kernel", "stride", "dilation"):
        fields[f"{name}_h"], fields[f"{name}_w"] = getattr(attrs.window, name)
    fields |= {"in_y0": -attrs.window.padding[0], "in_x0": -attrs.window.padding[1]}
    is_depthwise = isinstance(attrs, ops.DepthwiseConv2d)
    return fields | {"groups": fields["in_c"] if is_depthwise else getattr(attrs, "groups", 1)}


def _call_fields(plan: Plan, step: Step, op: Op, own: _Fields, call: Call) -> dict[str, Any]:
    """The same of a call; of a band with the rows of the whole image, and where it writes a part of a
    concatenation, or scratch, as if that was a tensor. None of calls that compute nothing."""
    kind, given = call.kernel.serves.removesuffix("_wide"), dict[str, Any](call.fields)
    if kind not in _SERVES:
        return {}
    f = {"kind": kind} | {name: given[name] for name in own if name in given}
    is_own = call.result is not None and call.result.index == op.outputs[0]
    size = plan.graph.tensors[op.inputs[0]].dtype.size
    read = call.tensors[0]
    starts = read.offset * (read.index == op.inputs[0]), call.tensors[-1].offset * is_own
    f["in_start"], f["out_start"] = (0 if step.fused else start // size for start in starts)
    if "in_strides" in given:
        f |= {name: given[name][1:] for name in ("in_strides", "out_strides")}
        return f | {"in_y0": -given["pad_top"], "in_x0": -given["pad_left"]}
    if step.fused:
        f |= {name: own[name] for name in ("in_h", "in_y0", "out_h")}
        if isinstance(op.attrs, ops.TransposeConv2d) and kind == "conv2d":  # its taps in reverse
            f["in_y0"] = -own["in_y0"] - (own["kernel_h"] - 1) * own["dilation_h"]
    if kind == "depthwise_conv2d":
        f["groups"] = f["in_c"]
    pixel = given["out_pixel_stride"] if is_own or call.result is None else f["out_c"]
    f["in_strides"] = (1, given["in_row_stride"], f["in_c"])
    return f | {"out_strides": (1, f["out_w"] * pixel, pixel)}


def _is_plain(plan: Plan, op: Op, own: _Fields, call: Call, fields: _Fields) -> bool:
    """Whether a call is the operator as it is. Of floats, what is no transposed convolution always is, with
    weights that may be filled up."""
    if isinstance(op.attrs, ops.FloatTransposeConv2d):
        return bool(fields.get("kind") == own["kind"])
    is_float, weight = isinstance(op.attrs, _FLOATS), plan.graph.tensors[op.inputs[1]].data
    if is_float and not call.int_fields.get("filled"):
        return True
    given = None if call.weights is None else call.weights.constants.weight
    is_same = given is weight or np.array_equal(given, weight)  # type: ignore[arg-type]
    return is_same and (_is_packed(plan, call) if is_float else fields == own)


def _makes(plan: Plan, step: Step, op: Op, own: _Fields, calls: Sequence[Call]) -> bool:
    """Whether these calls make each output of an image, from the inputs and with the weights that it has."""
    out = plan.graph.tensors[op.outputs[0]]
    total, count = 0, out.numel // out.shape[0]
    made = np.zeros(count if count <= _MOST else 0, np.bool_)
    maker, scratch = calls[0], np.empty((1, 0))
    for call in calls:
        f, source = _call_fields(plan, step, op, own, call), call.args[0]
        if not (step.fused or _is_in_turn(plan, op, call)):
            return False
        if f:
            found = _computed(plan, op, own, f, call)
            to = _places(f, *(_some(own, f, side) for side in "hw"))
            if call.result is None:
                maker, scratch = (
                    call,
                    np.full((len(found), f["out_h"] * f["out_w"] * f["out_c"]), np.nan),
                )
                if not _are_inside(to, scratch.shape[1]) or found.shape[1] != len(to):
                    return False
                scratch[:, to] = found
                continue
            every = _places(f, *(np.arange(f[f"out_{side}"] if made.size else 0) for side in "hw"))
            total += f["out_h"] * f["out_w"] * f["out_c"]
        else:
            taken, every = _moved(call, out.dtype.size)
            total += len(every)
            if isinstance(source, ConstantArg):
                found, to = np.empty((1, 0)), every[:0]
                is_right = _are_alone(plan, op, own, source, taken, every)
            else:
                is_right = _stays(maker, call) and _are_inside(taken, scratch.shape[1])
                taken = taken if is_right else taken[:0]
                is_computed = ~np.isnan(scratch[0, taken])
                found, to = scratch[:, taken[is_computed]], every[: len(taken)][is_computed]
            if not is_right:
                return False
        if not _are_inside(every, count) or not _are_products(plan, op, own, found, to):
            return False
        made[every] = True
    return total == count and bool(made.all())


def _some(own: _Fields, f: _Fields, side: str) -> _Numbers:
    """Rows or columns of a call's result that stand for all."""
    reach = max(
        each[f"kernel_{side}"] * each[f"dilation_{side}"] + each[f"stride_{side}"]
        for each in (own, f)
    )
    most, count = reach + max(0, -own["in_y0" if side == "h" else "in_x0"]), f[f"out_{side}"]
    if count <= 3 * most:
        return np.arange(count)
    return np.concatenate([start + np.arange(most) for start in (0, count // 2, count - most)])


def _are_inside(places: _Numbers, count: int) -> bool:
    return bool(0 <= places.min(initial=0) <= places.max(initial=0) < max(count, 1))


def _coordinates(plan: Plan, op: Op, places: _Numbers) -> list[_Numbers]:
    """Channel, row and column of the elements of a result."""
    out = plan.graph.tensors[op.outputs[0]]
    found = np.unravel_index(places, out.memory_shape)
    return [found[out.dim_order.index(dim)] for dim in (1, 2, 3)]


def _are_products(plan: Plan, op: Op, own: _Fields, found: _Numbers, to: _Numbers) -> bool:
    """Whether these are the sums of the model at these places, and what belongs to them."""
    weight, out = plan.graph.tensors[op.inputs[1]].data, plan.graph.tensors[op.outputs[0]]
    if found.shape[1] != len(to) or not _are_inside(to, out.numel // out.shape[0]):
        return False
    if not len(to):
        return True
    channel, y, x = _coordinates(plan, op, to)
    rows, row = np.unique(y, return_inverse=True)
    columns, column = np.unique(x, return_inverse=True)
    assert weight is not None
    sums = _sums(own, weight, rows, columns).reshape(len(rows), len(columns), -1)
    wanted = np.vstack([sums[row, column, channel], _belongs(plan, op)[:, channel]])
    return np.array_equal(found, wanted)


def _belongs(plan: Plan, op: Op) -> _Numbers:
    """Bias, multiplier and shift of each channel; none of floats, whose calls have the model's bias."""
    if not isinstance(op.attrs, ops.ConvAttrs):
        return np.empty((0, plan.graph.tensors[op.outputs[0]].shape[1]))
    scales = np.array([(each.multiplier, each.shift) for each in op.attrs.rescales]).T
    bias = plan.graph.tensors[op.inputs[2]].data if len(op.inputs) > 2 else None
    biases = np.zeros(scales.shape[1]) if bias is None else bias.reshape(-1)
    return np.vstack([biases, scales]).astype(np.float64)


def _computed(plan: Plan, op: Op, own: _Fields, f: _Fields, call: Call) -> _Numbers:
    """What a call makes of the image, and what belongs to it; nothing if its constants are not as it reads
    them, or its image has another size."""
    nothing = np.empty((1, 0))
    if call.weights is None or not _is_packed(plan, call):
        return nothing
    constants, attrs = call.weights.constants, op.attrs
    sums = _sums(f, constants.weight, *(_some(own, f, side) for side in "hw"))
    if not len(sums) or not isinstance(attrs, ops.ConvAttrs):
        return sums[None]
    wide = plan.graph.tensors[op.inputs[0]].dtype is DType.S16
    bias: _Numbers = constants.bias if wide else constants.plain_bias
    zero_point = 0 if wide else attrs.in_zero_point
    row = f["in_w"] * f["in_c"]
    if (
        (constants.wide, constants.in_zero_point) != (wide, zero_point)
        or f["in_h"] * row != own["in_h"] * own["in_w"] * own["in_c"]
        or f["in_strides"][1] != row
    ):
        return nothing
    if f["kind"] == "transpose_conv2d":
        are_right = constants.stride == (f["stride_h"], f["stride_w"])
    else:
        axes = (0, 1, 2) if f["kind"] == "depthwise_conv2d" else (1, 2, 3)
        folded = bias - zero_point * constants.weight.sum(axis=axes, dtype=np.int64)
        are_right = not ((folded - constants.bias) % 2**32).any()
        are_right = are_right and constants.groups in (1, f["groups"])
    scales = np.array([(each.multiplier, each.shift) for each in constants.rescales]).T
    belongs = np.tile(np.vstack([bias, scales]), len(sums) // len(bias))
    return np.vstack([sums, belongs]) if are_right else nothing


def _sums(f: _Fields, weight: _Numbers, ys: _Numbers, xs: _Numbers) -> _Numbers:
    """The sums of products of the outputs in these rows and columns, channels side by side; none if there are
    other weights than windows have places. Floats are taken for the integers that their bits hash to."""
    is_float = weight.dtype == np.float32
    if is_float:
        bits = np.ascontiguousarray(weight).view(np.uint32) * np.uint32(2654435761)  # wraps
        weight = bits >> np.uint32(16)
    groups, in_c, out_c = (f[name] for name in ("groups", "in_c", "out_c"))
    window = f["kernel_h"], f["kernel_w"]
    if f["kind"] == "depthwise_conv2d":
        weight = weight.transpose(3, 1, 2, 0)
    elif is_float and f["kind"] == "transpose_conv2d":
        by_group = weight.reshape(groups, -1, *weight.shape[1:]).transpose(0, 2, 3, 4, 1)
        weight = by_group.reshape(-1, *by_group.shape[2:])
    elif is_float:
        weight = weight.transpose(0, 2, 3, 1)
    if weight.shape != (out_c, *window, in_c // groups) or in_c % groups or out_c % groups:
        return np.empty(0)
    by_place = weight.reshape(groups, out_c // groups, -1).transpose(0, 2, 1).astype(np.float64)
    rows, columns = _met(f, "h", ys), _met(f, "w", xs)
    channel_step, row_step, column_step = f["in_strides"]
    channels = channel_step * np.arange(in_c).reshape(groups, 1, 1, -1)
    found = [np.empty(0)]
    most = max(1, _CHUNK // max(1, columns.size * window[0] * in_c))
    for first in range(0, len(rows), most):
        row, column = rows[first : first + most, None, :, None], columns[None, :, None, :]
        is_met = ((row >= 0) & (column >= 0)).reshape(-1, window[0] * window[1], 1)
        place = f["in_start"] + row * row_step + column * column_step
        place = place.reshape(is_met.shape) + channels
        inputs = _RANDOM[place & 0xFFFF] ^ _RANDOM[place >> 16 & 0xFFFF]
        inputs = np.where(is_met, inputs, 0.0).reshape(groups, len(is_met), -1)
        if is_float:
            are_met = np.repeat(is_met, in_c // groups, axis=2).reshape(len(is_met), -1)
            inputs *= _RANDOM[np.cumsum(are_met, axis=1)] >> 12
        found.append((inputs @ by_place).swapaxes(0, 1).reshape(-1))
    return np.concatenate(found)


def _met(f: _Fields, side: str, outputs: _Numbers) -> _Numbers:
    """The row or column of the image that outputs meet with each tap, [outputs, taps]; -1 for none."""
    kernel, stride, dilation = (f[f"{name}_{side}"] for name in ("kernel", "stride", "dilation"))
    begin, taps = f["in_y0" if side == "h" else "in_x0"], dilation * np.arange(kernel)
    outputs = outputs[:, None]
    met, rest = begin + stride * outputs + taps, 0 * outputs
    if f["kind"] == "transpose_conv2d":
        met, rest = np.divmod(outputs - begin - taps, stride)
    return np.where((rest == 0) & (met >= 0) & (met < f[f"in_{side}"]), met, -1)


def _places(f: _Fields, ys: _Numbers, xs: _Numbers) -> _Numbers:
    """Where the outputs in these rows and columns lie, channels side by side."""
    channel, row, column = f["out_strides"]
    pixels = f["out_start"] + ys[:, None, None] * row + xs[:, None] * column
    places: _Numbers = pixels + np.arange(f["out_c"]) * channel
    return places.reshape(-1)


def _stored(plan: Plan, names: Sequence[str]) -> list[_Numbers]:
    data = {constant.name: constant.data for constant in plan.constants}
    return [data[name] for name in names]


def _is_packed(plan: Plan, call: Call) -> bool:
    """Whether the constants that a call reads are its weights in the form of its kernel, and what belongs to
    each output. Of channels of floats that are groups weights are as they are where not all of a pixel lie
    side by side."""
    assert call.weights is not None
    given, weights, form = dict[str, Any](call.fields), call.weights, call.kernel.pack
    names = [arg.name for arg in call.args if isinstance(arg, ConstantArg)]
    names += [value for value in given.values() if isinstance(value, str)]
    wanted = [weights.pack()]
    if "in_strides" not in given:
        tables = weights.tables
        apart = [table for table in (tables.multiplier, tables.shift) if table.size]
        wanted += [tables.bias, *apart]
    elif given.get("filled"):
        form = "float_filled"
    elif form == "float_channels" and not given["in_strides"][1] == given["out_strides"][1] == 1:
        form = ""
    pairs = zip(_stored(plan, names[: len(wanted)]), wanted, strict=True)
    return weights.form == form and all(a.tobytes() == b.tobytes() for a, b in pairs)


def _moved(copy: Call, size: int) -> tuple[_Numbers, _Numbers]:
    """The elements that a copy takes, and where it puts them."""
    fields = dict[str, Any](copy.fields)
    box = [fields.get(name) for name in ("dims", "in_stride", "out_stride")]
    if copy.kernel.op == "move":
        box = [(fields["count"] // size,), (1,), (1,)]
    places = [np.full(1, arg.offset // size) for arg in (copy.args[0], copy.tensors[-1])]
    for extent, *steps in zip(*box, strict=True):
        places = [
            np.add.outer(place, np.arange(extent) * by).reshape(-1)
            for place, by in zip(places, steps, strict=True)
        ]
    return places[0], places[1]


def _stays(maker: Call, copy: Call) -> bool:
    """Whether a copy takes what a call made in scratch, which does not work among that."""
    made, work = maker.args[-2:]
    if not all(isinstance(arg, ScratchArg) for arg in (made, copy.args[0])):
        return False
    assert isinstance(made, ScratchArg) and isinstance(work, ScratchArg)
    return made.offset == 0 and made.nbytes <= work.offset and maker.loop == copy.loop


def _is_in_turn(plan: Plan, op: Op, call: Call) -> bool:
    """Whether each turn of a call is for the next image; those of floats have all of them in one."""
    turns = plan.graph.tensors[op.outputs[0]].shape[0] if isinstance(op.attrs, ops.ConvAttrs) else 1
    steps = {
        index: plan.graph.tensors[index].nbytes // turns if turns > 1 else 0
        for index in (op.inputs[0], op.outputs[0])
    }
    are_next = all(arg.step == steps.get(arg.index, arg.step) for arg in call.tensors)
    return call.turns == turns and are_next


def _are_alone(
    plan: Plan, op: Op, own: _Fields, codes: ConstantArg, taken: _Numbers, to: _Numbers
) -> bool:
    """Whether windows of these places meet no input, and a constant has the codes that their biases alone
    give."""
    assert isinstance(op.attrs, ops.ConvAttrs)
    stored = _stored(plan, [codes.name])[0].reshape(-1)
    if not _are_inside(taken, stored.size) or not _are_inside(
        to, own["out_h"] * own["out_strides"][1]
    ):
        return False
    channel, y, x = _coordinates(plan, op, to)
    are_met = [(_met(own, s, at) >= 0).any(axis=1) for s, at in (("h", y), ("w", x))]
    bias = plan.graph.tensors[op.inputs[2]].data if len(op.inputs) > 2 else None
    zeros, dtype = np.zeros((1, own["out_c"], 1, 1)), plan.graph.tensors[op.outputs[0]].dtype
    wanted = op.attrs.finish(zeros, bias, dtype).reshape(-1)[channel]
    return not np.logical_and(*are_met).any() and np.array_equal(stored[taken], wanted)
