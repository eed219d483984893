# SPDX-License-Identifier: Apache-2.0
"""What check_graph demands of data movement, indexing, comparisons and reductions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import ops, ops_more
from .types import DType, Tensor

Require = Callable[[bool, str], None]

_INDICES = (DType.S64, DType.S32)


def check_data_op(
    attrs: ops.Attrs, ins: list[Tensor], outs: list[Tensor], require: Require
) -> None:
    """Calls `require(condition, what)` for every rule of the operator; others have none here."""
    x, out = ins[0], outs[0]
    match attrs:
        case ops_more.Concat():
            _check_concat(attrs, ins, out, require)
        case ops_more.Slice():
            _same_type(x, out, require)
            require(len(attrs.begin) == len(attrs.step) == len(x.shape) == len(out.shape), "rank")
            for begin, step, size, extent in zip(
                attrs.begin, attrs.step, x.shape, out.shape, strict=True
            ):
                last = begin + step * (extent - 1)
                require(0 <= begin < size and 0 <= last < size, "leads out of the operand")
        case ops.Expand():
            _same_type(x, out, require)
            require(_broadcasts([x], out), "operand does not broadcast to the result")
        case ops_more.Tile():
            _same_type(x, out, require)
            own = (1,) * (len(out.shape) - len(x.shape)) + x.shape
            require(len(own) == len(out.shape), "the result has fewer dimensions")
            whole = all(a % b == 0 for a, b in zip(out.shape, own, strict=True))
            require(whole, "the result is no multiple of the operand")
        case ops_more.AsStrided():
            _same_type(x, out, require)
            require(len(attrs.strides) == len(out.shape), "strides of another rank")
            reach = [(n - 1) * step for n, step in zip(out.shape, attrs.strides, strict=True)]
            low = attrs.offset + sum(min(r, 0) for r in reach)
            high = attrs.offset + sum(max(r, 0) for r in reach)
            require(low >= 0 and high < x.numel, "leads out of the operand")
        case ops_more.Gather():
            _same_type(x, out, require)
            require(len(ins) == 2 and ins[1].dtype in _INDICES, "needs an integer index")
            require(ins[1].shape == out.shape, "wrong result shape")
            fits = len(out.shape) == len(x.shape) and all(
                d == attrs.dim or extent <= x.shape[d] for d, extent in enumerate(out.shape)
            )
            require(fits, "the index does not fit the operand")
        case ops_more.Index():
            _same_type(x, out, require)
            _check_indices(attrs.axes, x, ins[1:], require)
        case ops_more.IndexPut():
            _same_type(x, out, require)
            require(out.shape == x.shape and len(ins) > 2, "wrong shape or operands")
            _same_type(x, ins[1], require)
            _check_indices(attrs.axes, x, ins[2:], require)
        case ops_more.Where():
            require(len(ins) == 3 and x.dtype is DType.BOOL, "needs a condition and two operands")
            _same_type(ins[1], out, require)
            _same_type(ins[2], out, require)
            require(_broadcasts(ins, out), "operands do not broadcast to the result")
        case ops_more.Compare():
            require(attrs.function in ops_more.COMPARISONS, "unknown comparison")
            require(len(ins) == 2 and ins[0].dtype is ins[1].dtype, "operands of two types")
            require(out.dtype is DType.BOOL, "the result must be bool")
            require(_broadcasts(ins, out), "operands do not broadcast to the result")
        case ops_more.Logical() | ops_more.LogicalNot():
            require(all(t.dtype is DType.BOOL for t in (*ins, out)), "works on bool")
            require(_broadcasts(ins, out), "operands do not broadcast to the result")
        case ops_more.Cast() | ops_more.Cumsum():
            require(x.shape == out.shape, "changes the shape")
            if isinstance(attrs, ops_more.Cumsum):
                _same_type(x, out, require)
                require(0 <= attrs.dim < len(x.shape), "sums along a missing dimension")
        case ops_more.Reduce():
            _check_reduce(attrs, x, out, require)
        case ops_more.ArgReduce():
            require(attrs.function in ("min", "max"), "unknown function")
            require(outs[-1].dtype is DType.S64, "the index must be s64")
            shape = _reduced(x.shape, (attrs.dim,), attrs.keepdim)
            require(all(t.shape == shape for t in outs), "wrong result shape")
        case ops_more.UpsampleNearest2d() | ops_more.UpsampleBilinear2d():
            _check_upsample(attrs, x, out, require)
        case _:
            pass


def _same_type(x: Tensor, out: Tensor, require: Require) -> None:
    require(x.dtype is out.dtype, "changes the element type")


def _broadcasts(ins: list[Tensor], out: Tensor) -> bool:
    try:
        return np.broadcast_shapes(*(t.shape for t in ins), out.shape) == out.shape
    except ValueError:
        return False


def _check_concat(attrs: ops_more.Concat, ins: list[Tensor], out: Tensor, require: Require) -> None:
    dim = attrs.dim
    require(0 <= dim < len(out.shape), "joins along a missing dimension")
    for x in ins:
        _same_type(x, out, require)
        require(len(x.shape) == len(out.shape), "operands of another rank")
        rest = x.shape[:dim] + x.shape[dim + 1 :]
        require(rest == out.shape[:dim] + out.shape[dim + 1 :], "operands do not fit together")
    require(sum(x.shape[dim] for x in ins) == out.shape[dim], "wrong result shape")


def _check_indices(
    axes: tuple[int, ...], x: Tensor, indices: list[Tensor], require: Require
) -> None:
    require(len(axes) == len(indices) > 0, "needs one index tensor for each axis")
    require(list(axes) == sorted(set(axes)) and axes[0] >= 0, "axes out of order")
    require(axes[-1] < len(x.shape), "indexes a missing dimension")
    require(all(index.dtype in _INDICES for index in indices), "indices must be integers")


def _reduced(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    return tuple(
        1 if d in dims else extent for d, extent in enumerate(shape) if keepdim or d not in dims
    )


def _check_reduce(attrs: ops_more.Reduce, x: Tensor, out: Tensor, require: Require) -> None:
    require(attrs.function in ops_more.REDUCTIONS, "unknown function")
    require(all(0 <= d < len(x.shape) for d in attrs.dims), "reduces a missing dimension")
    require(len(set(attrs.dims)) == len(attrs.dims), "reduces a dimension twice")
    require(out.shape == _reduced(x.shape, attrs.dims, attrs.keepdim), "wrong result shape")
    _same_type(x, out, require)
    types = {"sum": (DType.F32, DType.S64), "mean": (DType.F32,)}
    if attrs.function in ("any", "all"):
        require(x.dtype is DType.BOOL, "works on bool")
    require(x.dtype in types.get(attrs.function, tuple(DType)), f"not for {x.dtype.value}")


def _check_upsample(
    attrs: ops_more.UpsampleNearest2d | ops_more.UpsampleBilinear2d,
    x: Tensor,
    out: Tensor,
    require: Require,
) -> None:
    require(len(x.shape) == len(out.shape) == 4 and x.shape[:2] == out.shape[:2], "not an image")
    _same_type(x, out, require)
    require(out.shape[2:] == (len(attrs.rows), len(attrs.cols)), "wrong result shape")
    for places, extent in ((attrs.rows, x.shape[2]), (attrs.cols, x.shape[3])):
        for place in places:
            ends = (place.low, place.high) if isinstance(place, ops_more.Between) else (place,)
            require(all(0 <= end < extent for end in ends), "leads out of the image")
    if isinstance(attrs, ops_more.UpsampleBilinear2d):
        require(x.dtype in (DType.F32, DType.S8), f"not for {x.dtype.value}")
        weights = [place.weight for place in (*attrs.rows, *attrs.cols)]
        require(all(0.0 <= weight <= 1.0 for weight in weights), "a weight outside [0, 1]")
