# SPDX-License-Identifier: Apache-2.0
"""Chooses the memory layout of every tensor and inserts the copies that remain.

A dim order has no influence on a logical value, so any choice is exact; inputs, outputs and
constants keep theirs. Operators say which layouts they take (Layout in ir/attrs.py). An operand in
another layout is cloned into the wanted one, once per layout.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..ir import Graph, Layout, Op, Tensor, channels_last, contiguous, ops, same_layout
from ..ir.edit import GraphBuilder

# Bytes of a constant that repeats another one; larger ones are filled in RAM.
_MOST_EXPANDED = 1 << 20

# What follows an operand.
_FOLLOWING = (Layout.FOLLOW, Layout.COPY)


def assign_layouts(graph: Graph) -> Graph:
    """`graph` with a layout for every tensor."""
    return _Assigner(graph).run()


def _is_image(op: Op) -> bool:
    return op.attrs.traits.layout is Layout.IMAGE


class _Assigner:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._build = GraphBuilder(graph)
        self._states = {state.before for state in graph.states}
        self._clones: dict[tuple[int, tuple[int, ...]], int] = {}
        self._maker = {index: op for op in graph.ops for index in op.outputs}
        self._readers: dict[int, list[Op]] = {}
        for op in graph.ops:
            for index in op.inputs:
                self._readers.setdefault(index, []).append(op)

    def run(self) -> Graph:
        for op in self._graph.ops:
            self._place(op)
        return self._build.finish()

    def _tensor(self, index: int) -> Tensor:
        return self._build.tensors[index]

    def _place(self, op: Op) -> None:
        rank = len(self._tensor(op.inputs[0]).shape)
        out_order = contiguous(len(self._tensor(op.outputs[0]).shape))
        match op.attrs.traits.layout:
            case Layout.IMAGE:
                order = channels_last(rank)
                image = self._in_arena(self._in_order(op.inputs[0], order, op), op)
                self._emit(op, (image, *op.inputs[1:]), order)
            case Layout.EITHER_IMAGE:
                order = self._tensor(op.inputs[0]).dim_order
                order = order if order == channels_last(rank) else contiguous(rank)
                image = self._in_arena(self._in_order(op.inputs[0], order, op), op)
                self._emit(op, (image, *op.inputs[1:]), order)
            case Layout.ROWS if self._only_adds_ones(op) and not self._is_given(op):
                self._emit(op, op.inputs, self._with_ones(op))
            case Layout.ROWS:
                self._emit(op, (self._in_c_order(op.inputs[0], op), *op.inputs[1:]), out_order)
            case Layout.MATRICES:
                self._emit(op, tuple(self._in_c_order(i, op) for i in op.inputs), out_order)
            case Layout.WEIGHTS:
                inputs = tuple(
                    i if place == 1 and len(self._tensor(i).shape) == 2 else self._in_c_order(i, op)
                    for place, i in enumerate(op.inputs)
                )
                self._emit(op, inputs, out_order)
            case Layout.REPEATED:
                self._place_repeated(op)
            case Layout.SAME:
                self._emit(op, op.inputs, self._tensor(op.inputs[0]).dim_order)
            case Layout.FOLLOW | Layout.COPY | Layout.STRIDED:
                self._emit(op, op.inputs, self._common_order(op))
            case Layout.ANY:
                self._see_as_image(op)
                self._build.add(op)
            case unknown:
                raise AssertionError(unknown)

    def _only_adds_ones(self, op: Op) -> bool:
        """Whether it is a view to the same dimensions, but for those of one step: in any layout both lie
        alike. So an image of one row, as a signal, stays where it is."""
        x, out = self._tensor(op.inputs[0]), self._tensor(op.outputs[0])
        return (
            isinstance(op.attrs, ops.View)
            and op.outputs[0] not in self._graph.kept
            and [n for n in x.shape if n != 1] == [n for n in out.shape if n != 1]
        )

    def _is_given(self, op: Op) -> bool:
        """Whether a reader makes a result of the graph of it: codes are moved in front of a dequantization,
        not floats behind it."""
        readers = self._readers.get(op.outputs[0], [])
        return any(reader.outputs[0] in self._graph.kept for reader in readers)

    def _with_ones(self, op: Op) -> tuple[int, ...]:
        """The layout of such a view: that of its operand."""
        x, out = self._tensor(op.inputs[0]), self._tensor(op.outputs[0])
        varying = [d for d, n in enumerate(out.shape) if n != 1]
        old = [d for d, n in enumerate(x.shape) if n != 1]
        order = [varying[old.index(d)] for d in x.dim_order if d in old]
        for known in (contiguous(len(out.shape)), channels_last(len(out.shape))):
            if [d for d in known if out.shape[d] != 1] == order:
                return known
        return (*(d for d, n in enumerate(out.shape) if n == 1), *order)

    def _common_order(self, op: Op) -> tuple[int, ...]:
        """The layout of the operand that goes on in the result, or the result's own."""
        out = self._tensor(op.outputs[0])
        layout = op.attrs.traits.layout
        if layout is Layout.COPY and self._is_wanted_as_image(op.outputs[0]):
            return channels_last(len(out.shape))
        if layout in _FOLLOWING:
            first = self._tensor(op.inputs[0])
            return first.dim_order if len(first.shape) == len(out.shape) else out.dim_order
        # A state keeps its layout from call to call, so what is joined with it takes that.
        given = [index for index in op.inputs if index in self._states]
        for index in given or reversed(op.inputs):
            tensor = self._tensor(index)
            alike = isinstance(op.attrs, ops.Concat) or tensor.shape == out.shape
            if alike and not tensor.is_constant:
                return tensor.dim_order
        return out.dim_order

    def _see_as_image(self, op: Op) -> None:
        """Leaves an image [N, H, W, C] that is seen as [N, C, H, W] where it is: in channels_last. So it does
        a signal [N, T, C] seen as [N, C, T], if that is then seen as such an image."""
        x, out = self._tensor(op.inputs[0]), self._tensor(op.outputs[0])
        rank = len(out.shape)
        if (
            isinstance(op.attrs, ops.Transpose)
            and (rank == 4 or (rank == 3 and self._is_viewed_as_image(op.outputs[0])))
            and op.outputs[0] not in self._graph.kept
        ):
            seen = replace(out, dim_order=channels_last(rank))
            if op.attrs.is_view(x, seen):
                self._build.tensors[op.outputs[0]] = seen

    def _is_viewed_as_image(self, index: int) -> bool:
        """Whether all readers of a signal view it as an image, for operators on channels_last."""
        readers = self._readers.get(index, [])
        return bool(readers) and all(
            isinstance(op.attrs, ops.View)
            and len(self._tensor(op.outputs[0]).shape) == 4
            and self._only_adds_ones(op)
            and self._is_wanted_as_image(op.outputs[0])
            for op in readers
        )

    def _is_wanted_as_image(self, index: int) -> bool:
        """Whether all readers of a tensor work on channels_last."""
        readers = self._readers.get(index, [])
        return (
            bool(readers)
            and index not in self._graph.kept
            and all(_is_image(op) or self._joins_images(op) for op in readers)
        )

    def _joins_images(self, op: Op) -> bool:
        """Whether a concatenation takes its layout from the result of an image operator."""
        if not isinstance(op.attrs, ops.Concat):
            return False
        last = next(i for i in reversed(op.inputs) if not self._graph.tensors[i].is_constant)
        return last in self._maker and _is_image(self._maker[last])

    def _place_repeated(self, op: Op) -> None:
        shape = self._tensor(op.outputs[0]).shape
        full = [i for i in op.inputs if self._tensor(i).shape == shape]
        if not full:
            first = self._expanded(op.inputs[0], shape, contiguous(len(shape)), op)
            op = replace(op, inputs=(first, *op.inputs[1:]))
            full = [first]
        movable = [i for i in full if not self._tensor(i).is_constant] or full
        order = self._tensor(movable[0]).dim_order
        inputs = tuple(self._broadcast(i, shape, order, op) for i in op.inputs)
        self._emit(op, inputs, order)

    def _broadcast(self, index: int, shape: tuple[int, ...], order: tuple[int, ...], op: Op) -> int:
        """`index` so that its elements, repeated end to end, are the operand in memory `order`."""
        tensor = self._tensor(index)
        if tensor.shape == shape:
            return self._in_order(index, order, op)
        own = (1,) * (len(shape) - len(tensor.shape)) + tensor.shape
        varying = [d for d in order if own[d] != 1]
        suffix = [d for d in order if shape[d] != 1][-len(varying) :] if varying else []
        if varying == suffix and all(own[d] == shape[d] for d in varying):
            missing = len(shape) - len(tensor.shape)
            local = tuple(d - missing for d in order if d >= missing)
            return self._in_order(index, local, op)
        return self._in_order(self._expanded(index, shape, order, op), order, op)

    def _expanded(self, index: int, shape: tuple[int, ...], order: tuple[int, ...], op: Op) -> int:
        """`index` repeated to `shape`; what is not constant in memory `order`."""
        tensor = self._tensor(index)
        data = None
        if tensor.data is not None and math.prod(shape) * tensor.dtype.size <= _MOST_EXPANDED:
            data = np.ascontiguousarray(np.broadcast_to(tensor.data, shape))
            order = contiguous(len(shape))
        name = f"{tensor.name}_expanded"
        result = self._build.add_tensor(
            replace(tensor, name=name, shape=shape, dim_order=order, data=data)
        )
        if data is None:
            self._build.add(Op(ops.Expand(), (index,), (result,), op.layer))
        return result

    def _in_c_order(self, index: int, op: Op) -> int:
        return self._in_order(index, contiguous(len(self._tensor(index).shape)), op)

    def _in_order(self, index: int, order: tuple[int, ...], op: Op) -> int:
        """`index` or a copy of it in `order`."""
        tensor = self._tensor(index)
        if same_layout(tensor.shape, tensor.dim_order, order):
            return index
        key = (index, order)
        if key not in self._clones:
            moved = replace(tensor, name=f"{tensor.name}_moved", dim_order=order)
            self._clones[key] = self._build.add_tensor(moved)
            if not tensor.is_constant:
                self._build.add(Op(ops.Clone(), (index,), (self._clones[key],), op.layer))
        return self._clones[key]

    def _in_arena(self, index: int, op: Op) -> int:
        """`index`, or a copy of it if it is a constant: kernels of images read the arena."""
        image = self._tensor(index)
        if not image.is_constant:
            return index
        copy = self._build.add_tensor(replace(image, name=f"{image.name}_copied", data=None))
        self._build.add(Op(ops.Clone(), (index,), (copy,), op.layer))
        return copy

    def _emit(self, op: Op, inputs: tuple[int, ...], order: tuple[int, ...]) -> None:
        """Adds `op`; its result gets `order`, through a copy if it is an output that has another."""
        out = op.outputs[0]
        tensor = self._tensor(out)
        if same_layout(tensor.shape, tensor.dim_order, order):
            self._build.add(replace(op, inputs=inputs))
            return
        moved = replace(tensor, dim_order=order)
        if out not in self._graph.kept:
            self._build.tensors[out] = moved
            self._build.add(replace(op, inputs=inputs))
            return
        inner = self._build.add_tensor(replace(moved, name=f"{tensor.name}_inner"))
        self._build.add(replace(op, inputs=inputs, outputs=(inner,)))
        self._build.add(Op(ops.Clone(), (inner,), (out,), op.layer))
