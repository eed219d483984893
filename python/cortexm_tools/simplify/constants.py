# SPDX-License-Identifier: Apache-2.0
"""Computes at build time what depends on constants alone.

Exact: the reference interpreter gives the value that every device computes; operators whose bits
depend on the C library stay (ir/exactness.py). Results that are larger than their operands stay
too, so that flash does not grow: a constant that is expanded costs less as it is.

A softmax of codes over one element depends on no operand: the difference of the largest element from itself
is 0, whatever its code is. So the result is that of the code 0, everywhere, which is expanded.

A transposed constant keeps its bytes and gets another dim order: a matrix product reads weights in
either order.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..ir import Array, Graph, Op, Tensor, Work, contiguous, ops
from ..ir.edit import GraphBuilder
from ..ir.exactness import is_exact
from ..ir.geometry import Window
from ..ir.interpreter import run_graph

_SMALL = 64  # bytes that a result may have whatever its operands
_MOST_WORK = 1 << 24  # elements that the interpreter goes through; more is left to the device


def fold_constants(graph: Graph) -> Graph:
    """The graph without operators on constants alone."""
    build, kept = GraphBuilder(graph), set(graph.kept)
    for op in graph.ops:
        op = _without_operand(build, op)
        operands = [build.tensors[i] for i in op.inputs]
        results = [build.tensors[i] for i in op.outputs]
        if kept.intersection(op.outputs) or not _worthwhile(op, operands, results):
            build.add(op)
            continue
        for index, value in zip(op.outputs, _evaluate(op, operands, results), strict=True):
            build.tensors[index] = replace(
                build.tensors[index], data=value, dim_order=_dim_order(op, operands[0], value.ndim)
            )
    return build.finish()


def _without_operand(build: GraphBuilder, op: Op) -> Op:
    """`op`, or what takes the place of a softmax over one element: its result once, expanded."""
    result = build.tensors[op.outputs[0]]
    kinds = ops.Softmax | ops.WideSoftmax | ops.InterpolatedSoftmax
    if not isinstance(op.attrs, kinds) or result.shape[op.attrs.dim] != 1:
        return op
    rank = len(result.shape)
    one = replace(
        result, name=f"{result.name}_one", shape=(1,) * rank, dim_order=contiguous(rank), data=None
    )
    code = np.zeros(one.shape, one.dtype.numpy)
    value = np.asarray(op.attrs.compute((one,), code), one.dtype.numpy)
    return Op(ops.Expand(), (build.add_tensor(replace(one, data=value)),), op.outputs, op.layer)


def _worthwhile(op: Op, operands: list[Tensor], results: list[Tensor]) -> bool:
    have = sum(tensor.nbytes for tensor in operands)
    return (
        all(tensor.is_constant for tensor in operands)
        and is_exact(op.attrs)
        and sum(tensor.nbytes for tensor in results) <= max(have, _SMALL)
        and _work(op, operands, results) <= _MOST_WORK
    )


def _work(op: Op, operands: list[Tensor], results: list[Tensor]) -> int:
    """Elements that the interpreter reads and makes; at least."""
    elements = sum(tensor.numel for tensor in (*operands, *results))
    if op.attrs.traits.work is not Work.SUMS:
        return elements
    window = getattr(op.attrs, "window", None)
    taps = math.prod(window.kernel) if isinstance(window, Window) else 1
    terms = max([taps, *(weight.numel for weight in operands[1:2])])
    return elements + sum(tensor.numel for tensor in results) * terms


def _evaluate(op: Op, operands: list[Tensor], results: list[Tensor]) -> list[Array]:
    count = len(operands)
    alone = Graph(
        name="constants",
        tensors=(*operands, *results),
        ops=(
            replace(
                op,
                inputs=tuple(range(count)),
                outputs=tuple(range(count, count + len(results))),
            ),
        ),
        inputs=(),
        outputs=tuple(range(count, count + len(results))),
    )
    return run_graph(alone, [])


def _dim_order(op: Op, x: Tensor, rank: int) -> tuple[int, ...]:
    if isinstance(op.attrs, ops.Transpose):
        return tuple(op.attrs.perm.index(dim) for dim in x.dim_order)
    return contiguous(rank)
