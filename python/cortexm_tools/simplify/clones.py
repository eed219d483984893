# SPDX-License-Identifier: Apache-2.0
"""Removes operators that change nothing a reader can see.

A clone yields its operand's logical tensor, a transposition by the identity and an expansion to the
same shape too, and a view to the same shape as well; so each use of the result can read the operand.
Where the memory layout differs, `assign_layouts` inserts a copy for the readers that need one. The
results that are outputs of the graph keep their operator: an output must be a tensor of its own.

A table that gives every code itself changes nothing either.

An expansion that only one sum or product reads, to the shape of its other operand, is left to that: it
repeats an operand that is smaller, which `assign_layouts` copies only where memory needs it. Very small
ones are expanded, as that is faster.

A view of a view is one of what the first one views, as both keep the elements in their logical order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ir import DType, Graph, Op, Tensor, ops
from ..ir.edit import GraphBuilder

# Elements, fewer of which a kernel repeats more slowly than it reads an expanded operand.
_LEAST_REPEATED = 16


def remove_clones(graph: Graph) -> Graph:
    build = GraphBuilder(graph)
    viewed: dict[int, int] = {}
    repeated = _repeated_by_readers(graph)
    for op in graph.ops:
        if isinstance(op.attrs, ops.View):
            source = build.resolve(op.inputs[0])
            op = replace(op, inputs=(viewed.get(source, source),))
            viewed[op.outputs[0]] = op.inputs[0]
        useless = op.outputs[0] in repeated or _is_identity(op, graph)
        if useless and op.outputs[0] not in graph.outputs:
            build.alias(op.outputs[0], op.inputs[0])
        else:
            build.add(op)
    return build.finish()


def _repeated_by_readers(graph: Graph) -> set[int]:
    """The results of expansions that their one reader can do without."""
    readers: dict[int, list[Op]] = {}
    for op in graph.ops:
        for index in op.inputs:
            readers.setdefault(index, []).append(op)
    found = set()
    for op in graph.ops:
        index = op.outputs[0]
        if not isinstance(op.attrs, ops.Expand) or len(readers.get(index, ())) != 1:
            continue
        reader, source = readers[index][0], graph.tensors[op.inputs[0]]
        if source.numel < _LEAST_REPEATED:
            continue
        if source.is_constant and not _goes_on(source.shape, graph.tensors[index].shape):
            continue  # it would be copied to where it does
        if isinstance(reader.attrs, ops.Add | ops.Mul) and index not in graph.kept:
            (other,) = (i for i in reader.inputs if i != index)
            if graph.tensors[other].shape == graph.tensors[index].shape:
                found.add(index)
    return found


def _goes_on(shape: tuple[int, ...], expanded: tuple[int, ...]) -> bool:
    """Whether only first dimensions are expanded."""
    inner = shape[next((k for k, extent in enumerate(shape) if extent > 1), len(shape)) :]
    return expanded[len(expanded) - len(inner) :] == inner


def _is_identity(op: Op, graph: Graph) -> bool:
    if isinstance(op.attrs, ops.Clone):
        return True
    if isinstance(op.attrs, ops.Transpose):
        return op.attrs.perm == tuple(range(len(op.attrs.perm)))
    if isinstance(op.attrs, ops.View | ops.Expand):
        return graph.tensors[op.inputs[0]].shape == graph.tensors[op.outputs[0]].shape
    return isinstance(op.attrs, ops.Activation) and _is_identical(graph.tensors[op.inputs[1]])


def _is_identical(table: Tensor) -> bool:
    """Whether the entry of each code is the code."""
    if table.data is None or table.dtype is not DType.S8:
        return False
    return bool((table.data.reshape(-1) == np.arange(-128, 128)).all())
