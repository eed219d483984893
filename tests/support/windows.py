# SPDX-License-Identifier: Apache-2.0
"""Random networks over windows of a stream, from a seed: convolutions, pools, branches, and what comes of
the whole window."""

from __future__ import annotations

import math

import numpy as np

from cortexm_tools.ir import Array, Attrs, Graph, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.options.stream import Stream
from cortexm_tools.simplify import simplify
from cortexm_tools.stream import Streamed, stream_graph

from tests.support.graphs import Net

HOPS = (1, 1, 2, 3, 4)
_LEAST = 8  # columns that a stage may leave


class _Windows(Net):
    """A network whose images have time in dimension `time`, 2 or 3."""

    def __init__(self, name: str, seed: int, time: int, *, pads: bool) -> None:
        super().__init__(name, seed, mixed=True)
        self.time, self.pads = time, pads

    def pair(self, along: int, across: int) -> tuple[int, int]:
        return (along, across) if self.time == 2 else (across, along)

    def length(self, x: int) -> int:
        return self.shape(x)[self.time]

    def stage_conv(self, x: int, *, strides: bool = True) -> int:
        pick = self.random.integers
        taps, apart = int(pick(1, 4)), int(pick(1, 3))
        stride = int(pick(1, 3)) if strides and self.length(x) > 16 else 1
        width = self.shape(x)[5 - self.time]
        across = int(pick(1, min(3, width) + 1))
        padding = [0, 0, 0, 0]
        if across == 3:
            padding[3 - self.time] = padding[5 - self.time] = 1
        if self.pads:
            padding[self.time - 2] = int(pick(0, taps))
            padding[self.time] = int(pick(0, taps))
        depthwise = bool(pick(0, 3) == 0)
        return self.conv(
            x,
            self.shape(x)[1] if depthwise else int(pick(1, 7)),
            self.pair(taps, across),
            self.pair(stride, 1),
            (padding[0], padding[1], padding[2], padding[3]),
            depthwise=depthwise,
            dilation=self.pair(apart, 1),
        )

    def slice_time(self, x: int, begin: int, count: int, step: int = 1) -> int:
        shape = tuple(count if d == self.time else n for d, n in enumerate(self.shape(x)))
        attrs = ops.Slice(
            tuple(begin if d == self.time else 0 for d in range(4)),
            tuple(step if d == self.time else 1 for d in range(4)),
        )
        return self.add(attrs, [x], shape, order=self.tensors[x].dim_order)

    def stage_branch(self, x: int) -> int:
        """Two branches of different delays, added or joined."""
        y = self.stage_conv(x, strides=False)
        gone = self.length(x) - self.length(y)
        if gone < 0 or self.length(y) < 2:
            return y
        begin = int(self.random.integers(0, gone + 1))
        cut = self.slice_time(x, begin, self.length(y)) if gone or begin else x
        if self.shape(cut)[5 - self.time] != self.shape(y)[5 - self.time]:
            return y
        if self.shape(cut)[1] == self.shape(y)[1] and self.random.integers(0, 2):
            return self.sum(y, cut)
        return self.concat([cut, y], 1)

    def stage_pool(self, x: int) -> int:
        count, largest = int(self.random.integers(2, 4)), bool(self.random.integers(0, 2))
        stride = int(self.random.integers(1, 3)) if self.length(x) > 16 else 1
        window = Window(self.pair(count, 1), self.pair(stride, 1), (0, 0, 0, 0))
        attrs: Attrs = ops.MaxPool2d(window, -128, 100) if largest else ops.AvgPool2d(window)
        size = (self.length(x) - count) // stride + 1
        shape = tuple(size if d == self.time else n for d, n in enumerate(self.shape(x)))
        return self.add(attrs, [x], shape)

    def stage_alone(self, x: int) -> int:
        """Element by element."""
        kind = int(self.random.integers(0, 4))
        if kind == 0:
            return self.mul(self.activation(x), x)
        if kind == 1:
            return self.sum(x, self.codes(1, self.shape(x)[1], 1, 1))
        if kind == 2:
            return self.softmax(x, 1)
        return self.slice_time(x, 1, (self.length(x) - 1) // 2, 2) if self.length(x) > 20 else x

    def ending(self, x: int) -> list[int]:
        """Results: of the whole window, of its last columns, or of all."""
        kind, (_, c, h, w) = int(self.random.integers(0, 6)), self.shape(x)
        if kind == 0:
            pooled = self.pool(x, (h, w), largest=bool(self.random.integers(0, 2)))
            return [self.linear(self.view(pooled, (1, c)), 5)]
        if kind == 1:
            return [self.linear(self.view(x, (1, c * h * w)), 5)]
        if kind == 2:
            last = self.slice_time(x, self.length(x) - 1, 1)
            return [self.linear(self.view(last, (1, math.prod(self.shape(last)))), 5), x]
        if kind == 3:
            moved = (0, 1, 5 - self.time, self.time)
            rows = self.transpose(x, moved)
            rows = self.view(rows, (1, c * h * w // self.length(x), self.length(x)))
            mean = self.linear(rows, 1)
            return [self.view(mean, (1, math.prod(self.shape(mean))))]
        if kind == 4:  # a gate of the whole window
            gate = self.activation(self.pool(x, (h, w), largest=False))
            return [self.mul(x, gate)]
        return [x]


def random_window(seed: int, *, pads: bool = False, length: int | None = None) -> Graph:
    """A small int8 network over a window; all its operators work alike in every column, but for padding
    if it `pads` and what reads the whole window at its end.

    Args:
        length: of the window, in place of a random one; the rest stays.
    """
    random = np.random.default_rng(seed)
    time, own = int(random.integers(2, 4)), int(random.integers(16, 30))
    net = _Windows(f"window{seed}", seed, time, pads=pads)
    sizes = [1, int(random.integers(1, 6)), *net.pair(length or own, int(random.integers(1, 4)))]
    x = net.input(tuple(sizes))
    stages = [net.stage_conv, net.stage_conv, net.stage_branch, net.stage_pool, net.stage_alone]
    for _ in range(int(random.integers(1, 6))):
        made = stages[int(random.integers(0, len(stages)))](x)
        if net.length(made) < _LEAST:
            break
        x = made
    return net.finish(*(i for i in net.ending(x) if i not in net.inputs) or [net.activation(x)])


def hop_of(seed: int) -> Stream:
    """How the network of this seed is streamed."""
    time = int(np.random.default_rng(seed).integers(2, 4))
    return Stream(time, HOPS[seed % len(HOPS)])


def streamed_window(seed: int) -> Streamed:
    """The network of this seed as a stream."""
    return stream_graph(simplify(random_window(seed)), hop_of(seed))


def random_streamed(seed: int) -> Graph:
    """The graph of a call of that stream."""
    return streamed_window(seed).graph


def random_frames(graph: Graph, dim: int, count: int, seed: int) -> tuple[Array, ...]:
    """So many frames of codes for each input."""
    random = np.random.default_rng(seed)
    return tuple(
        random.integers(
            -128, 128, [count if d == dim else n for d, n in enumerate(graph.tensors[i].shape)]
        ).astype(graph.tensors[i].dtype.numpy)
        for i in graph.inputs
    )
