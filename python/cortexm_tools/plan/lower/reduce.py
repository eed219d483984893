# SPDX-License-Identifier: Apache-2.0
"""Reductions over any dimensions of a tensor in any memory order."""

from __future__ import annotations

from ...ir import DType, Op, ops
from ..types import Arg, Call, Field, TensorArg
from .boxes import box_fields, strides
from .context import Selector, lowers

# On bytes of 0 and 1 a disjunction is the largest, and a conjunction the smallest.
_KERNELS = {"any": "amax", "all": "amin"}


def _reduce_fields(
    select: Selector, op: Op, result: int, dims: tuple[int, ...], keepdim: bool
) -> dict[str, Field]:
    """Kept dimensions in the result's memory order, reduced ones in logical C order."""
    x, out = select.tensor(op.inputs[0]), select.tensor(result)
    own = strides(x)
    rank = len(x.shape)
    kept = list(range(rank)) if keepdim else [d for d in range(rank) if d not in dims]
    order = [kept[d] for d in out.dim_order]
    extents = [1 if d in dims else x.shape[d] for d in order]
    fields = box_fields(op, extents, {"stride": [own[d] for d in order]})
    reduced = sorted(dims)
    return fields | box_fields(
        op,
        [x.shape[d] for d in reduced],
        {"reduced_stride": [own[d] for d in reduced]},
        prefix="reduced_",
    )


def _call(
    select: Selector, op: Op, name: str, result: int, dims: tuple[int, ...], keepdim: bool
) -> Call:
    dtype = select.tensor(op.inputs[0]).dtype
    types = DType.U8.value if dtype is DType.BOOL else dtype.value
    args: list[Arg] = [select.operand(op.inputs[0]), TensorArg(result)]
    fields = _reduce_fields(select, op, result, dims, keepdim)
    return select.call(select.kernel(name, types, op), fields, args)


@lowers(ops.Reduce)
def _reduce(select: Selector, attrs: ops.Reduce, op: Op) -> list[Call]:
    name = _KERNELS.get(attrs.function, attrs.function)
    return [_call(select, op, name, op.outputs[0], attrs.dims, attrs.keepdim)]


@lowers(ops.ArgReduce)
def _arg_reduce(select: Selector, attrs: ops.ArgReduce, op: Op) -> list[Call]:
    calls = []
    if len(op.outputs) == 2:
        name = f"a{attrs.function}"
        calls.append(_call(select, op, name, op.outputs[0], (attrs.dim,), attrs.keepdim))
    name = f"arg{attrs.function}"
    return [*calls, _call(select, op, name, op.outputs[-1], (attrs.dim,), attrs.keepdim)]


@lowers(ops.Cumsum)
def _cumsum(select: Selector, attrs: ops.Cumsum, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    order = [d for d in out.dim_order if d != attrs.dim]
    fields = box_fields(
        op,
        [x.shape[d] for d in order],
        {
            "in_stride": [strides(x)[d] for d in order],
            "out_stride": [strides(out)[d] for d in order],
        },
    )
    fields |= {
        "size": x.shape[attrs.dim],
        "in_step": strides(x)[attrs.dim],
        "out_step": strides(out)[attrs.dim],
    }
    args: list[Arg] = [select.operand(op.inputs[0]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel("cumsum", x.dtype.value, op), fields, args)]


@lowers(ops.TopK)
def _topk(select: Selector, attrs: ops.TopK, op: Op) -> list[Call]:
    x, values, index = (select.tensor(i) for i in (op.inputs[0], *op.outputs))
    order = [d for d in values.dim_order if d != attrs.dim]
    sides = (("in", x), ("value", values), ("index", index))
    fields = box_fields(
        op,
        [x.shape[d] for d in order],
        {f"{side}_stride": [strides(tensor)[d] for d in order] for side, tensor in sides},
    )
    fields |= {"size": x.shape[attrs.dim], "k": values.shape[attrs.dim]}
    fields |= {f"{side}_step": strides(tensor)[attrs.dim] for side, tensor in sides}
    fields["largest"] = int(attrs.largest)
    args: list[Arg] = [select.operand(op.inputs[0]), *(TensorArg(i) for i in op.outputs)]
    return [select.call(select.kernel("topk", x.dtype.value, op), fields, args)]
