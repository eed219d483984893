# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of several outputs for each channel become several of one output.

The output o of a depthwise convolution with m outputs for each of C channels is made of the channel o // m
alone, with weights, a bias and a rescale of its own: o = g * m + j is the channel g of a depthwise
convolution with the weights, biases and rescales j, m + j, 2 * m + j, ... So m convolutions of one output for
each channel make the same codes, of the same sums in the same order. Kernels for one output read and write
channels side by side; of several outputs some have to gather their operand.

The results joined one behind the other have the output g * m + j in the place j * C + g. An operator that
computes each channel alone, and all alike, computes with that order what it had, in that order. A depthwise
convolution does when its weights, biases and rescales are in the same order. A layer that sums over all
channels has the same sums when the channels of its weights are in that order: integers that wrap, or that
fit, add up to the same in any. So the order goes along as long as one operator alone reads what has it, and
mostly ends in a layer's weights for nothing. Else the channels are put in order by a view as
[j, g], a transposition to [g, j] and a view back, where the image is smallest.

It looks at shapes alone: with other weights the same becomes of a graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..ir import Graph, Op, contiguous, ops
from ..ir.attrs import Channels
from ..ir.edit import GraphBuilder, consumers
from .channel_bounds import split_of

# Kernels for one output compute four or eight channels at once. For fewer, kernels for several outputs that
# copy the image take less with MVE, and mostly with DSP; without either, windows of two or three channels
# would be gathered too often. Where the order costs a copy, so many taps save more.
_CHANNELS, _TAPS = 8, 4


def split_multiples(graph: Graph) -> Graph:
    place = 0
    while place < len(graph.ops):
        order = _order(graph, graph.ops[place])
        found = None if order is None else _Path(graph, place, order)
        if found is not None and found.pays:
            graph = found.rewritten()
        place += 1
    return graph


@dataclass(frozen=True)
class _Order:
    """Which elements along one dimension are where: [outputs, channels, parts] in place of
    [channels, outputs, parts]."""

    axis: int
    outputs: int
    channels: int
    parts: int = 1

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Of each place the number that its element had."""
        shape = self.channels, self.outputs, self.parts
        return np.arange(math.prod(shape)).reshape(shape).transpose(1, 0, 2).reshape(-1)


def _order(graph: Graph, op: Op) -> _Order | None:
    """The order of channels that a depthwise convolution of several outputs leaves once it is split; None if
    it is another operator, or one with weights that are computed."""
    if not isinstance(op.attrs, ops.DepthwiseConv2d):
        return None
    channels, count = (graph.tensors[i].shape[1] for i in (op.inputs[0], op.outputs[0]))
    if channels in (1, count) or not _has_constants(graph, op):
        return None
    return _Order(1, count // channels, channels)


def _has_constants(graph: Graph, op: Op) -> bool:
    return all(graph.tensors[i].is_constant for i in op.inputs[1:])


class _Path:
    """What reads the result of a depthwise convolution, operator by operator, as far as the order goes.

    Attributes:
        orders: the order of each operand and result that has another one, by its index.
        readers: the operators that read each tensor.
        weighted: the layers whose weights are put in order, by their results.
        is_absorbed: whether the last of them ends it.
    """

    def __init__(self, graph: Graph, place: int, order: _Order) -> None:
        self.graph = graph
        self.op = graph.ops[place]
        self.orders = {self.op.outputs[0]: order}
        self.weighted: set[int] = set()
        self.is_absorbed = False
        self.readers, kept = consumers(graph), set(graph.kept)
        at, following = self.op.outputs[0], order
        while at not in kept and len(self.readers.get(at, [])) == 1:
            (reader,) = self.readers[at]
            if len(reader.outputs) > 1 or reader.inputs[0] != at or at in reader.inputs[1:]:
                return
            if self._ends(reader, following):
                self.weighted.add(reader.outputs[0])
                self.is_absorbed = True
                return
            behind = self._behind(reader, following)
            if behind is None:
                return
            (at,), following = reader.outputs, behind
            self.orders[at] = behind
            if isinstance(reader.attrs, ops.DepthwiseConv2d):
                self.weighted.add(at)

    @property
    def pays(self) -> bool:
        attrs = self.op.attrs
        assert isinstance(attrs, ops.DepthwiseConv2d)
        if self.orders[self.op.outputs[0]].channels < _CHANNELS:
            return False
        return self.is_absorbed or math.prod(attrs.window.kernel) >= _TAPS

    def _ends(self, op: Op, order: _Order) -> bool:
        """Whether an operator sums over all that has another order, with constant weights."""
        if not _has_constants(self.graph, op):
            return False
        if isinstance(op.attrs, ops.Linear):
            return order.axis == len(self.graph.tensors[op.inputs[0]].shape) - 1
        if isinstance(op.attrs, ops.Conv2d):
            return order.axis == op.attrs.groups == 1
        return isinstance(op.attrs, ops.TransposeConv2d) and order.axis == 1

    def _behind(self, op: Op, order: _Order) -> _Order | None:
        """The order of an operator's result; None if it does not compute with another order what it had."""
        attrs, (x, out) = op.attrs, (self.graph.tensors[i] for i in (op.inputs[0], op.outputs[0]))
        if isinstance(attrs, ops.DepthwiseConv2d):
            if order.axis != 1 or not _has_constants(self.graph, op):
                return None
            return replace(order, parts=order.parts * (out.shape[1] // x.shape[1]))
        if isinstance(attrs, ops.View):
            axis = split_of(x.shape, order.axis, out.shape)
            if axis is None or out.shape[axis] < x.shape[order.axis]:
                return None
            return replace(
                order, axis=axis, parts=order.parts * (out.shape[axis] // x.shape[order.axis])
            )
        if isinstance(attrs, ops.Transpose):
            return replace(order, axis=attrs.perm.index(order.axis))
        if isinstance(attrs, ops.Pad):
            around = attrs.before[order.axis] or attrs.after[order.axis]
            return None if around else order
        channels = attrs.traits.channels
        if channels is Channels.EACH:
            return order if _has_constants(self.graph, op) else None
        return order if channels is Channels.IMAGES and order.axis == 1 else None

    def rewritten(self) -> Graph:
        graph = self.graph
        build = GraphBuilder(graph)
        orders = self.orders if self.is_absorbed else self._until_smallest()
        last = None if self.is_absorbed else list(orders)[-1]
        for op in graph.ops:
            out = op.outputs[0]
            is_weighted = out in self.weighted and (self.is_absorbed or out in orders)
            if out == last:  # what has the other order is another tensor
                op = replace(op, outputs=(build.add_tensor(graph.tensors[out]),))
            if out == self.op.outputs[0]:
                self._add_parts(build, op)
            elif is_weighted:
                self._add_weighted(build, op, orders[op.inputs[0]])
            else:
                build.add(op)
            if out == last:
                flat = any(isinstance(each.attrs, ops.View) for each in self.readers.get(out, []))
                _add_sorted(build, op, out, orders[out], as_image=not flat)
        return build.finish()

    def _until_smallest(self) -> dict[int, _Order]:
        """The orders up to the image that is put in order: the last one of the smallest."""
        images = [i for i, order in self.orders.items() if self._is_image(i, order)]
        last = min(reversed(images), key=lambda i: self.graph.tensors[i].nbytes)
        found = list(self.orders)
        return {i: self.orders[i] for i in found[: found.index(last) + 1]}

    def _is_image(self, index: int, order: _Order) -> bool:
        return len(self.graph.tensors[index].shape) == 4 and order.axis == 1

    def _add_parts(self, build: GraphBuilder, op: Op) -> None:
        """The convolutions of one output for each channel, and their results one behind the other."""
        attrs, (out,) = op.attrs, op.outputs
        assert isinstance(attrs, ops.DepthwiseConv2d)
        order = self.orders[self.op.outputs[0]]
        made = []
        for places in order.places.reshape(order.outputs, -1):
            shape = list(build.tensors[out].shape)
            shape[1] = order.channels
            part = build.add_tensor(replace(build.tensors[out], shape=tuple(shape)))
            build.add(replace(_chosen(build, op, places), outputs=(part,)))
            made.append(part)
        build.add(Op(ops.Concat(1), tuple(made), (out,), op.layer))

    def _add_weighted(self, build: GraphBuilder, op: Op, order: _Order) -> None:
        """A layer with its weights in the order of its operand."""
        if isinstance(op.attrs, ops.DepthwiseConv2d):
            count = build.tensors[op.inputs[1]].shape[-1]
            parts = count // (order.outputs * order.channels)
            build.add(_chosen(build, op, replace(order, parts=parts).places))
        else:
            weight = _taken(build, op.inputs[1], order.places)
            build.add(replace(op, inputs=(op.inputs[0], weight, *op.inputs[2:])))


def _chosen(build: GraphBuilder, op: Op, outputs: npt.NDArray[np.int64]) -> Op:
    """A depthwise convolution with the weights, biases and rescales of these outputs."""
    attrs, (x, *constants) = op.attrs, op.inputs
    assert isinstance(attrs, ops.DepthwiseConv2d)
    taken = (_taken(build, index, outputs) for index in constants)
    rescales = tuple(attrs.rescales[place] for place in outputs)
    return replace(op, attrs=replace(attrs, rescales=rescales), inputs=(x, *taken))


def _taken(build: GraphBuilder, index: int, places: npt.NDArray[np.int64]) -> int:
    """A constant of the elements at these places along its last dimension."""
    tensor = build.tensors[index]
    assert tensor.data is not None
    data = np.ascontiguousarray(tensor.data.take(places, -1))
    return build.add_tensor(replace(tensor, shape=data.shape, data=data))


def _add_sorted(build: GraphBuilder, op: Op, out: int, order: _Order, *, as_image: bool) -> None:
    """Makes `out` of the result of `op`, whose channels have this order.

    Args:
        as_image: whether elements lie, and are read, in channels_last: then they are split as such, as
            in shuffles.py, which does it for views that others made.
    """
    (made,) = op.outputs
    tensor = build.tensors[made]
    n, _, *sides = tensor.shape
    parts = order.outputs, order.channels, order.parts

    def added(attrs: ops.Attrs, index: int, shape: tuple[int, ...]) -> int:
        like = replace(tensor, shape=shape, dim_order=contiguous(len(shape)))
        result = build.add_tensor(like)
        build.add(Op(attrs, (index,), (result,), op.layer))
        return result

    if as_image:
        made = added(ops.Transpose((0, 2, 3, 1)), made, (n, *sides, tensor.shape[1]))
    split, at = ((n, *sides, *parts), 3) if as_image else ((n, *parts, *sides), 1)
    perm = [*range(6)]
    perm[at], perm[at + 1] = at + 1, at
    made = added(ops.View(), made, split)
    made = added(ops.Transpose(tuple(perm)), made, tuple(split[d] for d in perm))
    if as_image:
        made = added(ops.View(), made, (n, *sides, tensor.shape[1]))
    last = ops.Transpose((0, 3, 1, 2)) if as_image else ops.View()
    build.add(Op(last, (made,), (out,), op.layer))
