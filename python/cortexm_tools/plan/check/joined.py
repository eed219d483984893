# SPDX-License-Identifier: Apache-2.0
"""Whether convolutions that are computed in another form than the model's have its products.

Groups can be joined and pixels computed as one (plan/lower/groups.py, neighbours.py). Here the weights that
such a call needs are found from where its windows lie: the elements of a row are one after the other in
memory, whatever pixels they are taken for, so that each product of the model is a place in the window of the
pixel that is computed. All other places must be zero; and what no place has must lie outside the image, where
each code is the zero point.

Depthwise convolutions stay such ones; and one of one channel is as well depthwise.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import CortexMError
from ...ir import Array, Op, ops
from ..kernels.forms import FORMS
from ..kernels.packing import Constants
from ..kernels.table import BUILTIN
from ..types import Call, ConstantArg, Plan, Step


def check_joined(plan: Plan, step: Step) -> None:
    """Every call whose groups, channels or windows are not those of its operator multiplies the same codes
    with the same weights, and has the model's other constants for each output.

    Raises:
        CortexMError: names the layer.
    """
    seen = set()
    for call in step.calls:
        op = step.op_of(call)
        if op is None or not isinstance(op.attrs, ops.Conv2d | ops.DepthwiseConv2d):
            continue
        serves = call.kernel.serves
        if serves not in ("conv2d", "depthwise_conv2d") or call.kernel.library != BUILTIN:
            continue
        fields, is_depthwise = call.int_fields, serves != "conv2d"
        form = *(fields[name] for name in _COLUMNS), *_names(call)
        is_plain = _has_its_windows if is_depthwise else _is_plain
        if is_plain(plan, op, fields) or form in seen:
            continue
        seen.add(form)
        weights = None if is_depthwise else _weights(plan, op, fields)
        if weights is None or not has_weights(plan, op, call, weights):
            raise CortexMError(
                f"{call.kernel.symbol} would not compute the products of the model",
                where=str(op.layer),
            )


def check_filled(plan: Plan, step: Step) -> None:
    """Every convolution of floats whose weights are filled up finds those of its outputs where the lanes of
    vectors look for them: eight, or four for up to four that are left. The last ones repeat an output.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        if op is None or not call.int_fields.get("filled"):
            continue
        data = plan.graph.tensors[op.inputs[1]].data
        assert data is not None
        rows = data.reshape(call.int_fields["groups"], -1, data[0].size)
        stored = {constant.name: constant.data for constant in plan.constants}[_names(call)[0]]
        lanes = []
        for group in rows:
            for first in range(0, len(group), 8):
                width = 8 if len(group) - first > 4 else 4
                some = [min(first + lane, len(group) - 1) for lane in range(width)]
                lanes += [group[some, term] for term in range(group.shape[1])]
        if np.concatenate(lanes).tobytes() != stored.tobytes():
            raise CortexMError(
                f"{call.kernel.symbol} would not find the weights of the model",
                where=str(op.layer),
            )


_COLUMNS = (
    *("in_x0", "in_w", "in_c", "out_w", "out_c", "groups"),
    *("kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h", "dilation_w"),
)


def _is_plain(plan: Plan, op: Op, fields: Mapping[str, int]) -> bool:
    """Whether a call has the operator's channels, and one weight for each of the model's."""
    return (
        isinstance(op.attrs, ops.Conv2d)
        and fields["in_c"] == plan.graph.tensors[op.inputs[0]].shape[1]
        and fields["out_c"] == plan.graph.tensors[op.outputs[0]].shape[1]
        and fields["groups"] == op.attrs.groups
        and (fields["kernel_h"], fields["kernel_w"]) == op.attrs.window.kernel
    )


def _has_its_windows(plan: Plan, op: Op, fields: Mapping[str, int]) -> bool:
    """The same of a depthwise convolution, which has its windows, or of one channel that is taken for one."""
    assert isinstance(op.attrs, ops.Conv2d | ops.DepthwiseConv2d)
    window = (fields["kernel_h"], fields["kernel_w"])
    channels = plan.graph.tensors[op.inputs[0]].shape[1]
    if isinstance(op.attrs, ops.Conv2d) and channels != 1:
        return False
    return window == op.attrs.window.kernel and fields["in_c"] == channels


def _names(call: Call) -> list[str]:
    """The constants that a call reads."""
    names = [arg.name for arg in call.args if isinstance(arg, ConstantArg)]
    return names + [value for _, value in call.fields if isinstance(value, str)]


def has_weights(plan: Plan, op: Op, call: Call, weights: Array) -> bool:
    """Whether a call has these weights, [out_c, kernel_h, kernel_w, in_c / groups], and for each output, all
    those of one pixel after the other, the model's bias, multiplier and shift."""
    assert isinstance(op.attrs, ops.ConvAttrs)
    tensors = plan.graph.tensors
    bias = tensors[op.inputs[2]].data if len(op.inputs) > 2 else None
    outputs = call.int_fields["out_c"]
    count = outputs // tensors[op.outputs[0]].shape[1]
    plain = np.zeros(outputs, np.int64)
    if bias is not None:
        plain += np.tile(bias.astype(np.int64).reshape(-1), count)
    sums = weights.astype(np.int64).sum(axis=(1, 2, 3))
    wide = tensors[op.inputs[0]].dtype.size == 2
    constants = Constants(
        weights,
        (plain - sums * (0 if wide else op.attrs.in_zero_point)).astype(np.int32),
        op.attrs.rescales * count,
        call.int_fields["groups"],
        plain.astype(np.int32),
        op.attrs.window.stride,
        op.attrs.in_zero_point,
        wide,
    )
    form = FORMS[call.kernel.pack]
    tables = form.tables(constants)
    # Multipliers and shifts may stand among the biases.
    apart = (table for table in (tables.multiplier, tables.shift) if table.size)
    wanted = (form.weights(constants), tables.bias, *apart)
    # Equal arrays are stored once, with the shape that one of them has.
    stored = {constant.name: constant.data.reshape(-1) for constant in plan.constants}
    pairs = zip(_names(call), wanted, strict=True)
    return all(np.array_equal(stored[name], data.reshape(-1)) for name, data in pairs)


def _weights(plan: Plan, op: Op, fields: Mapping[str, int]) -> Array | None:
    """The weights of a call: [out_c, kernel_h, kernel_w, in_c / groups]."""
    assert isinstance(op.attrs, ops.ConvAttrs)
    window = op.attrs.window
    _, in_c, _, in_w = plan.graph.tensors[op.inputs[0]].shape
    _, out_c, _, out_w = plan.graph.tensors[op.outputs[0]].shape
    data = plan.graph.tensors[op.inputs[1]].data
    assert data is not None
    groups = in_c
    if isinstance(op.attrs, ops.Conv2d):
        groups = op.attrs.groups
    else:
        data = data.transpose(3, 1, 2, 0)
    count = fields["out_c"] // out_c
    is_row = _are_rows_pixels(plan, op, fields)
    if is_row:
        along = {f"{name}_h": fields[f"{name}_w"] for name in ("kernel", "stride", "dilation")}
        one = dict.fromkeys(("in_w", "out_w", "kernel_w", "stride_w", "dilation_w"), 1)
        fields = {**fields, **along, **one, "in_x0": 0}
    rows = tuple(fields[name] for name in ("kernel_h", "stride_h", "dilation_h"))
    step = fields["stride_w"] * fields["in_c"]
    if (
        rows != (window.kernel[0], window.stride[0], window.dilation[0])
        or fields["out_c"] != count * out_c
        or fields["out_w"] * count != out_w
        or fields["in_c"] * fields["in_w"] != in_c * in_w
        or (fields["out_w"] > 1 and step != count * window.stride[1] * in_c)
        or (fields["groups"] > 1 and count > 1)
    ):
        return None
    depth = fields["in_c"] // fields["groups"]
    shape = fields["out_c"], fields["kernel_h"], fields["kernel_w"], depth
    wide = np.zeros(shape, data.dtype)
    for pixel, tap, group in np.ndindex(count, window.kernel[1], groups):
        column = -window.padding[1] + pixel * window.stride[1] + tap * window.dilation[1]
        outputs = slice(group * (out_c // groups), (group + 1) * (out_c // groups))
        made = slice(pixel * out_c + outputs.start, pixel * out_c + outputs.stop)
        read = column * in_c + group * (in_c // groups)
        first = _place(read, made.start, fields)
        last = _place(read + in_c // groups - 1, made.stop - 1, fields)
        if first is not None and last == (first[0], first[1] + in_c // groups - 1):
            wide[made, :, first[0], first[1] : last[1] + 1] = data[outputs, :, tap]
        elif first is not None or last is not None or fields["out_w"] > 1 or 0 <= column < in_w:
            return None
    return wide.swapaxes(1, 2) if is_row else wide


def _are_rows_pixels(plan: Plan, op: Op, fields: Mapping[str, int]) -> bool:
    """Whether a call takes each row of the image for a pixel, and these for a single row, with the windows
    that the columns of the image have."""
    assert isinstance(op.attrs, ops.ConvAttrs)
    window = op.attrs.window
    _, in_c, in_h, in_w = plan.graph.tensors[op.inputs[0]].shape
    _, out_c, out_h, out_w = plan.graph.tensors[op.outputs[0]].shape
    wanted = {
        "in_c": in_w * in_c,
        "out_c": out_w * out_c,
        "out_pixel_stride": out_w * out_c,
        "groups": 1,
        "in_w": in_h,
        "in_x0": -window.padding[0],
        "out_w": out_h,
        **dict.fromkeys(("in_h", "out_h", "kernel_h", "stride_h", "dilation_h"), 1),
        "in_y0": 0,
    }
    is_other = window.kernel[0] > 1 or in_h > 1
    return is_other and all(fields[name] == value for name, value in wanted.items())


def _place(element: int, made: int, fields: Mapping[str, int]) -> tuple[int, int] | None:
    """The column and the channel of a group where the window of output `made` of a row's first pixel has an
    element of that row."""
    groups = fields["groups"]
    pixel, channel = divmod(element, fields["in_c"])
    column, between = divmod(pixel - fields["in_x0"], fields["dilation_w"])
    group, channel = divmod(channel, fields["in_c"] // groups)
    is_there = between == 0 and 0 <= column < fields["kernel_w"]
    is_there = is_there and group == made // (fields["out_c"] // groups)
    return (column, channel) if is_there else None
