# SPDX-License-Identifier: Apache-2.0
"""Removes channels that make no difference: those whose code never changes, and those nobody uses.

A layer reads a channel c in sums of `(x[c] - z) * w`. If `x[c]` is the code v for every input
(channel_bounds.py), its part of each sum is `(v - z) * sum w`, the sum going over the taps of the window
that lie in the image: a number for each output that belongs into the bias if all windows have all taps,
and 0 if `v = z`. The part is 0 for any x as well where the weights are. int32 sums wrap, so a bias that
wraps is as good; that of int16 codes stays in its type, or the channel stays.

What a channel costs is saved where it is computed too, and where others are made of it alone: a depthwise
convolution, a pool, a table, a sum of two images compute the channel c from the channels c. Such channels
go together or stay together. So a set of channels is removed in which no channel is part of an input, an
output or a state, each is computed by an operator that can leave it out, and each operator that reads one
either takes it as above or makes one of the set of it alone. It is the largest such set: all channels at
first, less those that break a rule, until none does.

Kernels compute four channels or more at a time, and what is over by itself. So a few more stay where
removing them would make a layer slower (`worth_keeping`).

By induction over the operators every channel that stays has the codes that it had: check_channels.py
proves it once more for each graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..ir import Array, DType, Graph, Op, Tensor, contiguous, ops
from ..ir.attrs import Channels
from ..ir.edit import GraphBuilder, remove_dead
from ..ir.fixed_point import I64, wrap32
from .channel_bounds import (
    LAYERS,
    Codes,
    axis_of,
    bounds,
    leaves_out_taps,
    split_of,
    weights_of,
)
from .check_channels import check_removal

Mask = npt.NDArray[np.bool_]


def remove_channels(graph: Graph) -> tuple[Graph, int]:
    """The graph without channels that make no difference, and how many of its layers' outputs went."""
    total = 0
    while True:
        found = _Search(graph)
        gone = found.run()
        if not gone:
            return graph, total
        smaller = _without(graph, found.known, gone)
        check_removal(graph, smaller, {i: (found.known[i].axis, mask) for i, mask in gone.items()})
        total += sum(
            int(gone[op.outputs[0]].sum())
            for op in graph.ops
            if isinstance(op.attrs, LAYERS) and op.outputs[0] in gone
        )
        graph = remove_dead(smaller)


def worth_keeping(channels: int, needed: int) -> int:
    """How many of a tensor's channels to keep although nothing needs them.

    Eight are computed side by side on MVE, and five then take longer than eight. Of many channels
    a few less are worth nothing if what remains is no multiple of four: such sets are removed down to
    one. Measured on networks with weights of 4 bits (few channels go) and a trained one (most go).
    """
    kept = max(needed, min(channels, 8))
    if 2 * kept > channels:
        kept = min(channels, -(-kept // 4) * 4)
    return kept - needed


class _Search:
    """The largest set of channels that can go.

    Attributes:
        known: what is known of each tensor with channels.
        gone: of each of them, by its index, the channels that nothing yet keeps.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.known = bounds(graph)
        fixed = {*graph.given, *graph.kept}
        self.gone: dict[int, Mask] = {
            i: np.full(len(each.low), i not in fixed) for i, each in self.known.items()
        }
        # Of each layer, by its place: the [output, channel] that have a weight other than 0.
        self.used: dict[int, Mask] = {}
        for place, op in enumerate(graph.ops):
            if isinstance(op.attrs, LAYERS):
                self.keep(*op.inputs[1:])
                weight = weights_of(op, graph)
                bias = graph.tensors[op.inputs[2]].data if len(op.inputs) > 2 else weight
                if weight is not None and bias is not None:
                    self.used[place] = (weight != 0).any(axis=1)
            if isinstance(op.attrs, ops.Activation):
                self.keep(op.inputs[1])

    def run(self) -> dict[int, Mask]:
        """The channels to remove, of the tensors that have some."""
        while True:
            before = {i: int(mask.sum()) for i, mask in self.gone.items()}
            for place, op in reversed(tuple(enumerate(self.graph.ops))):
                self._restrict(place, op)
            for mask in self.gone.values():
                few = worth_keeping(len(mask), int((~mask).sum()))
                mask[np.flatnonzero(mask)[:few]] = False
            if before == {i: int(mask.sum()) for i, mask in self.gone.items()}:
                break
        return {i: mask for i, mask in self.gone.items() if mask.any()}

    def keep(self, *indices: int) -> None:
        """All channels of these tensors stay."""
        for index in indices:
            if index in self.gone:
                self.gone[index][:] = False

    def tie(self, a: int, b: int) -> None:
        """Channels of two tensors, or equal parts of those of one, go together."""
        small, large = sorted((a, b), key=lambda index: len(self.gone[index]))
        parts = self.gone[large].reshape(len(self.gone[small]), -1)
        both = self.gone[small] & parts.all(axis=1)
        self.gone[small][:] = both
        parts[:] = both[:, None]

    def _restrict(self, place: int, op: Op) -> None:
        """Applies the rules of one operator."""
        attrs, x, out = op.attrs, op.inputs[0], op.outputs[0]
        known = self.known
        if len(op.outputs) > 1 or x not in known or out not in known:
            return self.keep(*op.inputs, *op.outputs)
        rank = len(self.graph.tensors[x].shape)
        if axis_of(attrs, rank, known[x].axis) != known[x].axis:
            return self.keep(*op.inputs, out)
        if isinstance(attrs, LAYERS):
            return self._restrict_layer(place, op)
        channels = attrs.traits.channels
        if channels is Channels.BOTH:
            return self._restrict_two(op)
        if isinstance(attrs, ops.Concat) and all(known[i].axis == attrs.dim for i in op.inputs):
            return self._restrict_parts(op)
        aligned = known[x].axis == known[out].axis
        if isinstance(attrs, ops.View):
            shapes = self.graph.tensors[x].shape, self.graph.tensors[out].shape
            aligned = split_of(shapes[0], known[x].axis, shapes[1]) == known[out].axis
        elif isinstance(attrs, ops.Transpose):
            aligned = attrs.perm.index(known[x].axis) == known[out].axis
        elif isinstance(attrs, ops.Pad):
            aligned = not attrs.before[known[x].axis] and not attrs.after[known[x].axis]
        elif channels not in (Channels.IMAGES, Channels.EACH):
            aligned = False
        if not aligned:
            return self.keep(*op.inputs, out)
        return self.tie(x, out)

    def _restrict_layer(self, place: int, op: Op) -> None:
        x, out = op.inputs[0], op.outputs[0]
        grouped = isinstance(op.attrs, ops.Conv2d) and op.attrs.groups > 1
        if place not in self.used or grouped:
            return self.keep(x, out)
        if not isinstance(op.attrs, ops.DepthwiseConv2d):
            self.gone[x] &= self._taken(place, op)
        elif len(self.gone[x]) == 1:
            return self.keep(x)  # each of its outputs goes or stays alone
        else:
            return self.tie(x, out)
        return None

    def _taken(self, place: int, op: Op) -> Mask:
        """The channels that a layer does without, if its bias takes their part."""
        attrs, x = op.attrs, self.known[op.inputs[0]]
        assert isinstance(attrs, LAYERS)
        unused = ~self.used[place][~self.gone[op.outputs[0]]].any(axis=0)
        nothing = x.constant & (x.low == attrs.in_zero_point)
        if leaves_out_taps(attrs):
            return np.asarray(unused | nothing)
        if self.graph.tensors[op.inputs[0]].dtype is DType.S16:
            weight = weights_of(op, self.graph)
            assert weight is not None
            parts = np.where(x.constant, x.low - attrs.in_zero_point, 0) * np.abs(weight).sum(
                axis=1
            )
            bias, limit = _bias(op, self.graph)
            largest = (np.abs(parts).sum(axis=1) + np.abs(bias.astype(np.int64))).max()
            if largest > limit:
                return np.asarray(unused | nothing)
        return np.asarray(unused | x.constant)

    def _restrict_two(self, op: Op) -> None:
        out = op.outputs[0]
        shape, axis = self.graph.tensors[out].shape, self.known[out].axis
        for index in op.inputs:
            tensor = self.graph.tensors[index]
            if len(tensor.shape) != len(shape) or self.known[index].axis != axis:
                return self.keep(*op.inputs, out)
        for index in op.inputs:
            if self.graph.tensors[index].shape[axis] == shape[axis]:
                self.tie(index, out)
            else:
                self.keep(index)  # one channel for all
        return None

    def _restrict_parts(self, op: Op) -> None:
        gone, start = self.gone[op.outputs[0]], 0
        for index in op.inputs:
            part = gone[start : start + len(self.gone[index])]
            self.gone[index] &= part
            part[:] = self.gone[index]
            start += len(part)


def _bias(op: Op, graph: Graph) -> tuple[I64, int]:
    """A layer's bias, of zeros if it has none, and the largest number that its type holds."""
    if len(op.inputs) > 2:
        tensor = graph.tensors[op.inputs[2]]
        assert tensor.data is not None
        return tensor.data.astype(np.int64), tensor.dtype.limits[1]
    out = graph.tensors[op.outputs[0]]
    count = out.shape[1 if isinstance(op.attrs, ops.ConvAttrs) else -1]
    return np.zeros(count, np.int64), DType.S32.limits[1]


def _without(graph: Graph, known: dict[int, Codes], gone: dict[int, Mask]) -> Graph:
    """The graph without these channels."""
    build = GraphBuilder(graph)
    for index, mask in gone.items():
        build.tensors[index] = _sliced(graph.tensors[index], {known[index].axis: ~mask})
    for op in graph.ops:
        changed = op.inputs[0] in gone or op.outputs[0] in gone
        build.add(_layer(op, graph, build, known, gone) if changed else op)
    return build.finish()


def _sliced(tensor: Tensor, stay: dict[int, Mask]) -> Tensor:
    """A tensor of which along some axes only some elements stay."""
    shape, data = list(tensor.shape), tensor.data
    for axis, mask in stay.items():
        shape[axis] = int(mask.sum())
        data = None if data is None else np.ascontiguousarray(data.compress(mask, axis))
    return replace(tensor, shape=tuple(shape), data=data)


def _layer(
    op: Op, graph: Graph, build: GraphBuilder, known: dict[int, Codes], gone: dict[int, Mask]
) -> Op:
    """An operator between tensors that have lost channels."""
    attrs, (x, out) = op.attrs, (op.inputs[0], op.outputs[0])
    if not isinstance(attrs, LAYERS):
        return op
    bias, _ = _bias(op, graph)
    stay = ~gone.get(out, np.zeros(len(bias), np.bool_))
    weight, last = weights_of(op, graph), len(graph.tensors[op.inputs[1]].shape) - 1
    assert weight is not None
    if isinstance(attrs, ops.DepthwiseConv2d):
        axes = {last: stay}
    elif x in gone:
        axes = {0: stay, last: ~gone[x]}
        parts = np.where(gone[x], known[x].low - attrs.in_zero_point, 0) * weight.sum(axis=1)
        bias = bias + np.where(stay, parts.sum(axis=1), 0)
    else:
        axes = {0: stay}
    if len(attrs.rescales) == len(stay):
        kept = tuple(each for each, stays in zip(attrs.rescales, stay, strict=True) if stays)
        attrs = replace(attrs, rescales=kept)
    operands = [x, build.add_tensor(_sliced(graph.tensors[op.inputs[1]], axes))]
    if len(op.inputs) > 2 or bias.any():
        operands.append(build.add_tensor(_new_bias(op, graph, bias.compress(stay))))
    return replace(op, attrs=attrs, inputs=tuple(operands))


def _new_bias(op: Op, graph: Graph, bias: I64) -> Tensor:
    wraps = graph.tensors[op.inputs[0]].dtype is DType.S8
    data: Array = wrap32(bias) if wraps else bias
    if len(op.inputs) > 2:
        tensor = graph.tensors[op.inputs[2]]
        return replace(tensor, shape=data.shape, data=data.astype(tensor.dtype.numpy))
    name = f"{graph.tensors[op.inputs[1]].name}_bias"
    return Tensor(name, DType.S32, data.shape, contiguous(1), data=data.astype(np.int32))
