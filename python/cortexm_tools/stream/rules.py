# SPDX-License-Identifier: Apache-2.0
"""Which operators work alike in every column, and what each column of their results reads.

What has no rule, or whose rule gives None, mixes the columns of the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ir import Attrs, Layout, Op, Operands, Tensor, Work, ops
from ..ir.geometry import Window
from .columns import Columns, Fit, Local, Reach

_ONE = Reach()


@dataclass(frozen=True)
class Case:
    """An operator with its tensors and what is known of its operands; None for one without time."""

    op: Op
    ins: tuple[Tensor, ...]
    out: Tensor
    columns: tuple[Columns | None, ...]

    @property
    def x(self) -> Tensor:
        return self.ins[0]

    @property
    def time(self) -> Columns | None:
        """Of the first operand."""
        return self.columns[0]

    def local(
        self,
        dim: int,
        reach: Reach = _ONE,
        rebuild: Callable[[Fit], Attrs] | None = None,
        **fields: Any,
    ) -> Local:
        """Every operand with time in it is read in one way."""
        reaches = tuple(None if columns is None else reach for columns in self.columns)
        return Local(dim, reaches, rebuild or (lambda fit: self.op.attrs), **fields)


Rule = Callable[[Any, Case], Local | None]
_RULES: dict[type[Attrs], Rule] = {}


def _of(*kinds: type[Attrs]) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(kinds, rule))
        return rule

    return enter


def local_form(
    op: Op, tensors: Sequence[Tensor], columns: tuple[Columns | None, ...]
) -> Local | None:
    """How the operator works in every column, or None if it does not.

    Args:
        columns: of every operand; constants have none. At least one has time in it.
    """
    rule = _RULES.get(type(op.attrs)) or _by_traits(op)
    known = [each for each in columns if each is not None]
    if rule is None or len({(each.rate, each.length == 1) for each in known}) != 1:
        return None
    ins = tuple(tensors[index] for index in op.inputs)
    return rule(op.attrs, Case(op, ins, tensors[op.outputs[0]], columns))


# -- element by element -------------------------------------------------------------------------------


def _by_traits(op: Op) -> Rule | None:
    """What reads elements in the places where it writes them is done element by element."""
    traits = op.attrs.traits
    if traits.overwrites is not Operands.ALL and traits.work is not Work.CONVERT:
        return None
    return _broadcast if traits.layout in (Layout.REPEATED, Layout.STRIDED) else _alike


@_of(ops.Clone, ops.LogicalNot)
def _alike(attrs: Attrs, case: Case) -> Local | None:
    return None if case.time is None else case.local(case.time.dim)


@_of(ops.Compare, ops.Logical, ops.Where)
@_of(ops.Expand, ops.Tile)
def _broadcast(attrs: Attrs, case: Case) -> Local | None:
    """Dimensions are aligned at the last one; a constant is the same in every column."""
    rank = len(case.out.shape)
    dims = {
        each.dim + rank - len(tensor.shape)
        for each, tensor in zip(case.columns, case.ins, strict=True)
        if each is not None
    }
    if len(dims) != 1:
        return None
    (dim,) = dims
    for each, tensor in zip(case.columns, case.ins, strict=True):
        own = dim - rank + len(tensor.shape)
        extent = tensor.shape[own] if own >= 0 else 1
        if extent != (1 if each is None else case.out.shape[dim]):
            return None
    return case.local(dim)


# -- along other dimensions ---------------------------------------------------------------------------


@_of(ops.Softmax, ops.WideSoftmax, ops.InterpolatedSoftmax, ops.FloatSoftmax)
@_of(ops.Cumsum, ops.TopK)
def _along(attrs: Any, case: Case) -> Local | None:
    if case.time is None or attrs.dim == case.time.dim:
        return None
    return case.local(case.time.dim)


@_of(ops.Gate)
def _gate(attrs: ops.Gate, case: Case) -> Local | None:
    """What the plan makes of others, in graphs that are streams already: of parts along another dimension."""
    dims = {None if each is None else each.dim for each in case.columns[:2]}
    if len(dims) != 1 or case.time is None or case.time.dim == attrs.dim:
        return None
    return None if case.columns[2:] not in ((), (None,)) else case.local(case.time.dim)


@_of(ops.Lookup)
def _lookup(attrs: ops.Lookup, case: Case) -> Local | None:
    if case.time is None or (attrs.dim == case.time.dim and case.ins[1].shape[0] > 1):
        return None
    return case.local(case.time.dim)


@_of(ops.Reduce, ops.ArgReduce)
def _reduce(attrs: Any, case: Case) -> Local | None:
    dims = attrs.dims if isinstance(attrs, ops.Reduce) else (attrs.dim,)
    if case.time is None or case.time.dim in dims:
        return None
    gone = 0 if attrs.keepdim else sum(dim < case.time.dim for dim in dims)
    return case.local(case.time.dim - gone)


@_of(ops.FloatLayerNorm, ops.LayerNorm)
def _layer_norm(attrs: Any, case: Case) -> Local | None:
    if case.time is None or math.prod(case.x.shape[case.time.dim + 1 :]) < attrs.size:
        return None
    return case.local(case.time.dim)


@_of(ops.FloatGroupNorm, ops.GroupNorm)
def _group_norm(attrs: Any, case: Case) -> Local | None:
    return case.local(0) if case.time is not None and case.time.dim == 0 else None


@_of(ops.Linear, ops.FloatLinear)
def _linear(attrs: Attrs, case: Case) -> Local | None:
    if case.time is None or case.time.dim == len(case.x.shape) - 1:
        return None
    return case.local(case.time.dim)


@_of(ops.BatchMatmul, ops.FloatMatmul)
def _matmul(attrs: Attrs, case: Case) -> Local | None:
    """Rows of one operand times a constant, or matrices of a batch."""
    rank = len(case.out.shape)
    if isinstance(attrs, ops.BatchMatmul) and (attrs.lhs or attrs.rhs or attrs.out):
        return None
    column_dim = rank - 2 if isinstance(attrs, ops.BatchMatmul) else rank - 1
    left, right = case.columns[:2]
    if any(each is not None for each in case.columns[2:]):
        return None
    if left is not None and right is not None:
        return case.local(left.dim) if left.dim == right.dim < rank - 2 else None
    if left is not None and left.dim == rank - 2:
        return case.local(rank - 2)
    if right is not None and right.dim == column_dim:
        return case.local(rank - 1)
    return None


def multiplies_columns(op: Op, rank: int, columns: tuple[Columns | None, ...]) -> bool:
    """Whether it is a product of every column with every other one, as in attention.

    Args:
        rank: of its operands.
    """
    if not isinstance(op.attrs, (ops.BatchMatmul, ops.FloatMatmul)):
        return False
    left, right = columns[:2]
    if left is None or right is None:
        return False
    if isinstance(op.attrs, ops.BatchMatmul) and (op.attrs.lhs or op.attrs.rhs):
        return True
    behind = 2 if isinstance(op.attrs, ops.BatchMatmul) else 1
    return left.dim == rank - 2 and right.dim == rank - behind


# -- windows ------------------------------------------------------------------------------------------


def _axis(case: Case) -> int | None:
    """0 for rows of images, 1 for columns."""
    return None if case.time is None else {2: 0, 3: 1}.get(case.time.dim)


def _at(pair: tuple[int, int], axis: int, value: int) -> tuple[int, int]:
    return (value, pair[1]) if axis == 0 else (pair[0], value)


def _fitted(window: Window, axis: int, fit: Fit) -> Window:
    """The window without padding along time. A single result has the stride that kernels like best."""
    padding = tuple(0 if side % 2 == axis else value for side, value in enumerate(window.padding))
    top, left, bottom, right = padding
    return Window(
        window.kernel,
        _at(window.stride, axis, 1 if fit.count == 1 else fit.stride),
        (top, left, bottom, right),
        _at(window.dilation, axis, window.dilation[axis] * fit.spread),
    )


@_of(ops.Conv2d, ops.DepthwiseConv2d, ops.FloatConv2d)
@_of(ops.MaxPool2d, ops.FloatMaxPool2d)
@_of(ops.AvgPool2d, ops.FloatAvgPool2d)
def _window(attrs: Any, case: Case) -> Local | None:
    if any(each is not None for each in case.columns[1:]):
        return None
    axis = _axis(case)
    if axis is None:
        return case.local(0) if case.time is not None and case.time.dim == 0 else None
    window: Window = attrs.window

    def rebuild(fit: Fit) -> Attrs:
        changed: dict[str, Any] = {"window": _fitted(window, axis, fit)}
        if isinstance(attrs, ops.FloatAvgPool2d):
            changed["declared_padding"] = _at(attrs.declared_padding, axis, 0)
        fitted: Attrs = replace(attrs, **changed)
        return fitted

    reach = Reach(-window.padding[axis], window.kernel[axis], window.dilation[axis])
    averages = isinstance(attrs, (ops.AvgPool2d, ops.FloatAvgPool2d))
    return case.local(
        2 + axis, reach, rebuild, stride=window.stride[axis], strides=True, spreads=not averages
    )


@_of(ops.TransposeConv2d, ops.FloatTransposeConv2d)
def _transposed(attrs: Attrs, case: Case) -> Local | None:
    return case.local(0) if case.time is not None and case.time.dim == 0 else None


@_of(ops.UpsampleNearest2d)
def _upsample(attrs: ops.UpsampleNearest2d, case: Case) -> Local | None:
    axis = _axis(case)
    if axis is None:
        return None
    places = (attrs.rows, attrs.cols)[axis]
    if places != tuple(range(case.x.shape[2 + axis])):
        return None

    def rebuild(fit: Fit) -> Attrs:
        count = tuple(range(fit.count))
        return replace(attrs, rows=count) if axis == 0 else replace(attrs, cols=count)

    return case.local(2 + axis, rebuild=rebuild)


# -- movement -----------------------------------------------------------------------------------------


@_of(ops.Concat)
def _concat(attrs: ops.Concat, case: Case) -> Local | None:
    dims = {None if each is None else each.dim for each in case.columns}
    if len(dims) != 1 or case.time is None or attrs.dim == case.time.dim:
        return None
    return case.local(case.time.dim)


@_of(ops.Slice)
def _slice(attrs: ops.Slice, case: Case) -> Local | None:
    if case.time is None or attrs.step[case.time.dim] < 1:
        return None
    dim = case.time.dim

    def rebuild(fit: Fit) -> Attrs:
        begin, step = list(attrs.begin), list(attrs.step)
        begin[dim], step[dim] = 0, 1 if fit.count == 1 else fit.stride
        return ops.Slice(tuple(begin), tuple(step))

    return case.local(
        dim, Reach(attrs.begin[dim]), rebuild, stride=attrs.step[dim], strides=True, spreads=True
    )


@_of(ops.Pad)
def _pad(attrs: ops.Pad, case: Case) -> Local | None:
    if case.time is None:
        return None
    dim = case.time.dim
    before, after = list(attrs.before), list(attrs.after)
    before[dim] = after[dim] = 0
    inside = ops.Pad(tuple(before), tuple(after), attrs.value)
    return case.local(dim, Reach(-attrs.before[dim]), lambda fit: inside)


@_of(ops.Transpose)
def _transpose(attrs: ops.Transpose, case: Case) -> Local | None:
    return None if case.time is None else case.local(attrs.perm.index(case.time.dim))


@_of(ops.View)
def _view(attrs: ops.View, case: Case) -> Local | None:
    """A dimension whose steps are as many elements as a column, or several of them."""
    if case.time is None:
        return None
    inner = math.prod(case.x.shape[case.time.dim + 1 :])
    for dim in reversed(range(len(case.out.shape))):
        columns, rest = divmod(math.prod(case.out.shape[dim + 1 :]), inner)
        if rest or case.out.shape[dim] * columns != case.time.length:
            continue
        if columns == 1 or case.out.shape[dim] > 1:
            return case.local(dim, Reach(0, columns), stride=columns)
    return None


@_of(ops.AsStrided)
def _as_strided(attrs: ops.AsStrided, case: Case) -> Local | None:
    """Frames that overlap: the dimension of the largest step, if that is whole columns."""
    if case.time is None or math.prod(case.x.shape[: case.time.dim]) != 1:
        return None
    inner = math.prod(case.x.shape[case.time.dim + 1 :])
    steps = [0 if n == 1 else step for n, step in zip(case.out.shape, attrs.strides, strict=True)]
    dim = int(np.argmax(steps))
    if min(steps) < 0 or steps[dim] == 0 or steps[dim] % inner:
        return None
    others = sum(
        (n - 1) * step
        for d, (n, step) in enumerate(zip(case.out.shape, steps, strict=True))
        if d != dim
    )
    first, rest = divmod(attrs.offset, inner)

    def rebuild(fit: Fit) -> Attrs:
        strides = tuple(fit.stride * inner if d == dim else s for d, s in enumerate(attrs.strides))
        return ops.AsStrided(strides, rest)

    return case.local(
        dim,
        Reach(first, (rest + others) // inner + 1),
        rebuild,
        stride=steps[dim] // inner,
        strides=True,
    )


@_of(ops.LogMel)
def _spectra(attrs: ops.LogMel, case: Case) -> Local | None:
    """Frames of a row of samples; other dimensions are rows."""
    if case.time is None or case.time.dim < len(case.x.shape) - 1:
        return None if case.time is None else case.local(case.time.dim)

    def rebuild(fit: Fit) -> Attrs:
        return replace(attrs, start=0, hop=fit.stride)

    reach = Reach(attrs.start, case.ins[1].numel)
    return case.local(case.time.dim, reach, rebuild, stride=attrs.hop, strides=True)


@_of(ops.Index)
def _index(attrs: ops.Index, case: Case) -> Local | None:
    """Rows of a constant, as of an embedding."""
    if len(attrs.axes) != 1 or case.time is not None or case.columns[1] is None:
        return None
    return case.local(attrs.axes[0] + case.columns[1].dim)


@_of(ops.Embedding)
def _embedding(attrs: ops.Embedding, case: Case) -> Local | None:
    if case.time is not None or case.columns[1] is None:
        return None
    return case.local(case.columns[1].dim)
