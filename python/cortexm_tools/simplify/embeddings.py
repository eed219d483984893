# SPDX-License-Identifier: Apache-2.0
"""Keeps tables of embeddings in fewer bytes: those of a linear layer, or 4 bits a code.

A table whose rows are looked up by an index is a constant of codes of the result's scale. Where each of its
rows is, in every code, a row of the weights of a linear layer times a number, as of a model that ties both,
the rows are taken from these weights. Where each is a row of codes from -7 to 7 times a number, as of a table
with weights of 4 bits, those are stored. Either way the row is multiplied when it is looked up, by
integers that give each code of the table exactly: they are chosen from the intervals of those that do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ir import Array, DType, Graph, Op, Tensor, ops
from ..ir.edit import GraphBuilder
from ..ir.fixed_point import I64
from ..ir.ops.index import COLUMNS, MULTIPLIERS

_CODE = 512  # bytes that the kernel and its parameters take, about
_MOST = 7  # of codes of 4 bits


def share_tables(graph: Graph) -> Graph:
    """The graph with the embeddings that this makes smaller."""
    build = GraphBuilder(graph)
    weights = {
        op.inputs[1]: None
        for op in graph.ops
        if isinstance(op.attrs, ops.Linear) and op.attrs.weight_zero_point == 0
    }
    for op in graph.ops:
        found = _embedding(graph, op, list(weights)) if _is_lookup(graph, op) else None
        if found is None:
            build.add(op)
            continue
        attrs, table = found
        index = table if isinstance(table, int) else build.add_tensor(table)
        build.add(replace(op, attrs=attrs, inputs=(index, op.inputs[1])))
    return build.finish()


def _is_lookup(graph: Graph, op: Op) -> bool:
    """Whether rows of a constant matrix of codes are looked up."""
    table = graph.tensors[op.inputs[0]]
    return (
        isinstance(op.attrs, ops.Index)
        and op.attrs.axes == (0,)
        and table.dtype in (DType.S8, DType.S16)
        and table.data is not None
        and table.quant is not None
        and len(table.shape) == 2
        and 0 < table.shape[1] < COLUMNS
        and graph.tensors[op.inputs[1]].data is None
    )


def _embedding(
    graph: Graph, op: Op, weights: list[int]
) -> tuple[ops.Embedding, int | Tensor] | None:
    """The operator in place of `op`, and its table: the number of a layer's weights, or a new one."""
    table = graph.tensors[op.inputs[0]]
    assert table.data is not None
    rows, columns = table.shape
    extra = 4 * rows + _CODE
    assert table.quant is not None
    zero_point = table.quant.zero_point
    for index in weights:
        weight = graph.tensors[index]
        if (
            weight.data is None
            or weight.shape != table.shape
            or table.nbytes < extra + 16 * columns
        ):
            continue
        found = _multipliers(weight.data, table.data, zero_point)
        if found is not None:
            return ops.Embedding(*found, zero_point, *_limits(table.data, zero_point)), index
    if table.nbytes < rows * -(-columns // 2) + extra + 2 * columns:
        return None
    codes = _four_bits(table.data, zero_point)
    found = _multipliers(codes, table.data, zero_point)
    if found is None:
        return None
    small = replace(table, name=f"{table.name}_4", dtype=DType.S8, data=codes.astype(np.int8))
    attrs = ops.Embedding(*found, zero_point, *_limits(table.data, zero_point))
    return attrs, replace(small, quant=None)


def _limits(table: Array, zero_point: int) -> tuple[int, int]:
    """The least and the largest code: what would be beyond them may be cut off there, as it was perhaps."""
    return min(int(table.min()), zero_point), max(int(table.max()), zero_point)


def _four_bits(table: Array, zero_point: int) -> I64:
    """Codes from -7 to 7, a number for each row times which may give `table`: of those numbers with which the
    largest code of a row is 1 … 7 the one that leaves the widest interval of such numbers. What may be
    cut off has the largest code."""
    wanted = table.astype(np.int64) - zero_point
    is_cut = np.isin(table, _limits(table, zero_point)) & (wanted != 0)
    most = np.where(is_cut, 0, np.abs(wanted)).max(axis=1, keepdims=True)
    best = np.zeros_like(wanted)
    widest = np.full(most.shape, -np.inf)
    for largest in range(_MOST, 0, -1):
        codes = np.rint(wanted * largest / np.maximum(most, 1)).astype(np.int64)
        codes = np.where(is_cut, _MOST * np.sign(wanted), codes)
        by = np.maximum(np.abs(codes), 1)
        least = (np.abs(wanted) - 0.5) / by
        above = np.where(is_cut | (wanted == 0), np.inf, (np.abs(wanted) + 0.5) / by)
        above = np.where((codes == 0) & (wanted != 0), -np.inf, above)
        width = above.min(axis=1, keepdims=True) - least.max(axis=1, keepdims=True)
        better = width > widest
        best = np.where(better, codes, best)
        widest = np.where(better, width, widest)
    return best


def _multipliers(given: Array, table: Array, zero_point: int) -> tuple[tuple[int, ...], int] | None:
    """A multiplier for each row of the codes `given` and their shift that give `table`; None if none do."""
    low, high = _limits(table, zero_point)
    wanted = table.astype(np.int64)
    codes: I64 = given.astype(np.int64)
    real = wanted - zero_point
    sizes = np.abs(codes)
    ratios = np.abs(real).max(axis=1) / np.maximum(sizes.max(axis=1), 1)
    largest = float(ratios.max(initial=0.0)) * 1.5 + 1e-9
    shift = min(30, int(np.floor(np.log2((MULTIPLIERS - 1) / largest))))
    if shift < 1 or (real[codes == 0] != 0).any():
        return None
    # floor((c m + half) / 2^shift) = real, for codes of either sign; what is cut off has one bound alone.
    one, half = np.int64(1) << shift, np.int64(1) << (shift - 1)
    above, below = real * one - half, (real + 1) * one - half - 1
    endless = np.int64(1) << 62
    above = np.where(wanted == low, -endless, above)
    below = np.where(wanted == high, endless, below)
    negative = np.less(codes, 0)
    first = np.where(negative, -below, above)
    last = np.where(negative, -above, below)
    by = np.maximum(sizes, 1)
    first, last = -(-first // by), last // by
    first = np.where(codes == 0, 0, first).max(axis=1, initial=0)
    last = np.where(codes == 0, MULTIPLIERS - 1, last).min(axis=1, initial=MULTIPLIERS - 1)
    if (first > last).any():
        return None
    return tuple(((first + last) // 2).tolist()), shift
