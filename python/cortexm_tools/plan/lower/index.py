# SPDX-License-Identifier: Apache-2.0
"""Elements chosen by the values of a tensor: indices become offsets, and offsets pick elements.

Indices that come from the model's input are brought into range on the device (index_offsets), so
that no value of the input leads to an access outside of a tensor. Constant indices become offsets
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import CortexMError
from ...ir import DType, Op, Tensor, contiguous, ops
from ...ir.ops.index import in_range
from ..budget import check_table
from ..kernels.forms import Weights
from ..kernels.packing import Constants
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .boxes import box_fields, c_strides, strides
from .broadcast import broadcast_strides
from .context import Selector, lowers
from .copies import copy_call
from .tables import find_places


def _offsets(
    select: Selector, op: Op, joint: tuple[int, ...], parts: list[tuple[int, int, int]]
) -> tuple[list[Call], Arg]:
    """Offsets of shape `joint` (dense, C order) and the calls that compute them.

    Args:
        parts: for every indexed axis: the index tensor, the axis' size, its stride in elements.
    """
    data = [select.tensor(index).data for index, _, _ in parts]
    known = [array for array in data if array is not None]
    if len(known) == len(parts):
        check_table(op, joint, "the offsets of its constant indices")
        total = np.zeros(joint, np.int64)
        for array, (_, size, step) in zip(known, parts, strict=True):
            total = total + in_range(array, size) * step
        comment = f"offsets of {op.kind}"
        return [], select.constant(f"{op.kind}_offsets", total.astype(np.int32), comment, needed=0)
    scratch = ScratchArg(4 * math.prod(joint))
    calls = []
    for number, (index, size, step) in enumerate(parts):
        tensor = select.tensor(index)
        fields = box_fields(op, joint, {"stride": broadcast_strides(tensor, len(joint))})
        fields |= {"size": size, "step": step, "add": int(number > 0)}
        kernel = select.kernel("index_offsets", tensor.dtype.value, op)
        calls.append(select.call(kernel, fields, [select.operand(index), scratch]))
    return calls, scratch


@dataclass(frozen=True)
class _Indexed:
    """A tensor indexed along `axes`: the result's shape, and strides along its dimensions.

    Attributes:
        joint: shape of all index tensors together.
        shape: shape of the indexed tensor.
        offset_strides: strides of the offsets, 0 along the dimensions that are not indexed.
        strides: strides of the tensor, 0 along the dimensions of the indices.
    """

    joint: tuple[int, ...]
    shape: tuple[int, ...]
    offset_strides: tuple[int, ...]
    strides: tuple[int, ...]


def _indexed(x: Tensor, axes: tuple[int, ...], joint: tuple[int, ...]) -> _Indexed:
    rest = [d for d in range(len(x.shape)) if d not in axes]
    adjacent = axes == tuple(range(axes[0], axes[0] + len(axes)))
    place = axes[0] if adjacent else 0
    before, after = rest[:place], rest[place:]
    own = strides(x)

    def around(middle: tuple[int, ...], values: Sequence[int]) -> tuple[int, ...]:
        return (*(values[d] for d in before), *middle, *(values[d] for d in after))

    zeros = [0] * len(x.shape)
    return _Indexed(
        joint,
        around(joint, x.shape),
        around(c_strides(joint), zeros),
        around((0,) * len(joint), own),
    )


def _parts(
    select: Selector, x: Tensor, axes: tuple[int, ...], indices: tuple[int, ...]
) -> tuple[tuple[int, ...], list[tuple[int, int, int]]]:
    """The joint shape of the index tensors, and what _offsets wants."""
    joint = np.broadcast_shapes(*(select.tensor(index).shape for index in indices))
    own = strides(x)
    parts = [(index, x.shape[axis], own[axis]) for axis, index in zip(axes, indices, strict=True)]
    return joint, parts


def _pick(
    select: Selector,
    op: Op,
    offsets: Arg,
    offset_strides: Sequence[int],
    in_strides: Sequence[int],
) -> Call:
    """out = x[offsets + ...]; strides by logical dimension of the result."""
    out = select.tensor(op.outputs[0])
    fields = box_fields(
        op,
        out.memory_shape,
        {
            "offset_stride": [offset_strides[d] for d in out.dim_order],
            "in_stride": [in_strides[d] for d in out.dim_order],
        },
    )
    kernel = select.kernel("gather", f"x{8 * out.dtype.size}", op)
    args = [select.operand(op.inputs[0]), offsets, TensorArg(op.outputs[0])]
    return select.call(kernel, fields, args)


@lowers(ops.Gather)
def _gather(select: Selector, attrs: ops.Gather, op: Op) -> list[Call]:
    x, index = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    own = list(strides(x))
    part = (op.inputs[1], x.shape[attrs.dim], own[attrs.dim])
    calls, offsets = _offsets(select, op, index.shape, [part])
    own[attrs.dim] = 0
    return [*calls, _pick(select, op, offsets, c_strides(index.shape), own)]


@lowers(ops.Index)
def _index(select: Selector, attrs: ops.Index, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    joint, parts = _parts(select, x, attrs.axes, op.inputs[1:])
    calls, offsets = _offsets(select, op, joint, parts)
    box = _indexed(x, attrs.axes, joint)
    return [*calls, _pick(select, op, offsets, box.offset_strides, box.strides)]


@lowers(ops.Embedding)
def _embedding(select: Selector, attrs: ops.Embedding, op: Op) -> list[Call]:
    """Rows of a table of its own; which of them are the weights of a layer, `share_tables` finds out."""
    table, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    index = select.tensor(op.inputs[1])
    assert table.data is not None
    rows, columns = table.shape
    fits = -7 <= table.data.min(initial=0) and table.data.max(initial=0) <= 7
    weights = Weights("nibbles" if fits else "", Constants(table.data, np.zeros(rows, np.int32)))
    found = select.once(lambda: find_places(weights))
    assert found is not None
    calls, at = _offsets(select, op, index.shape, [(op.inputs[1], rows, 1)])
    multipliers = np.array(attrs.multipliers, np.int32)
    label = op.layer.path or op.kind
    fields: dict[str, Field] = {
        "multiplier": select.constant(f"m_{label}", multipliers).name,
        "count": index.numel,
        "rows": rows,
        "columns": columns,
        "block_shift": found.block_shift,
        "block_size": found.block_size,
        "bits": found.bits,
        "shift": attrs.shift,
        "out_zero_point": attrs.out_zero_point,
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    args = [
        select.constant(f"w_{label}", weights, f"{rows}x{columns}"),
        select.constant(f"p_{label}", found.table, "places of its codes", needed=0),
        at,
        TensorArg(op.outputs[0]),
    ]
    return [*calls, select.call(select.kernel("embedding", out.dtype.value, op), fields, args)]


def _is_one_place(select: Selector, attrs: ops.IndexPut, op: Op, joint: tuple[int, ...]) -> bool:
    """Whether the values are stored, in their order, where one index says."""
    values, out = select.tensor(op.inputs[1]), select.tensor(op.outputs[0])
    index = select.tensor(op.inputs[2])
    alike = values.numel * out.shape[attrs.axes[0]] == out.numel
    in_c_order = all(tensor.dim_order == contiguous(len(tensor.shape)) for tensor in (values, out))
    return (
        len(attrs.axes) == math.prod(joint) == 1
        and alike
        and in_c_order
        and not attrs.accumulate
        and index.data is None
    )


@lowers(ops.IndexPut)
def _index_put(select: Selector, attrs: ops.IndexPut, op: Op) -> list[Call]:
    """The whole operand, then the values over it, in C order of the indexed shape."""
    x, values = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    out = select.tensor(op.outputs[0])
    whole = copy_call(select, op, op.inputs[0], op.outputs[0], x.shape, strides(x), strides(out))
    joint, parts = _parts(select, out, attrs.axes, op.inputs[2:])
    if _is_one_place(select, attrs, op, joint):
        (axis,) = attrs.axes
        inner = strides(out)[axis] * out.dtype.size
        fields: dict[str, Field] = {
            "size": out.shape[axis],
            "blocks": math.prod(out.shape[:axis]),
            "width": inner,
            "pitch": out.shape[axis] * inner,
        }
        args = [
            select.operand(op.inputs[2]),
            select.operand(op.inputs[1]),
            TensorArg(op.outputs[0]),
        ]
        kernel = select.kernel("put", select.tensor(op.inputs[2]).dtype.value, op)
        return [whole, select.call(kernel, fields, args)]
    calls, offsets = _offsets(select, op, joint, parts)
    box = _indexed(out, attrs.axes, joint)
    fields = box_fields(
        op,
        box.shape,
        {
            "offset_stride": box.offset_strides,
            "value_stride": broadcast_strides(values, len(box.shape)),
            "out_stride": box.strides,
        },
    )
    if attrs.accumulate and out.dtype is DType.BOOL:
        raise CortexMError("index_put: cannot add booleans", where=str(op.layer))
    name, types = "scatter", f"x{8 * out.dtype.size}"
    if attrs.accumulate:
        name, types = "scatter_add", out.dtype.value
    args = [offsets, select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    return [whole, *calls, select.call(select.kernel(name, types, op), fields, args)]
