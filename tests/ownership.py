# SPDX-License-Identifier: Apache-2.0
"""Replays a plan byte by byte: every byte that a kernel reads must still be the one that was put there.

Written apart from the planner. Memory holds tags, (tensor, byte of the tensor). Kernels with an order
write pixel after pixel, and read the window of a pixel as late as their promise allows: just after the
last write that may come before. All other kernels write everything before they read anything, so that
no overlap passes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cortexm_tools.ir import Graph
from cortexm_tools.plan import Plan
from cortexm_tools.plan.types import Call, Step, TensorArg

EMPTY = -1


def replay(plan: Plan) -> None:
    """Raises an AssertionError where a byte is read that is not there any more."""
    _Replay(plan).run()


def _tags(tensor: int, begin: int, count: int) -> Any:
    return (tensor << 32) + begin + np.arange(count)


class _Replay:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.graph: Graph = plan.graph
        self.memory = np.full(plan.arena_size, EMPTY, np.int64)
        self.names: dict[int, int] = {}  # views have the tags of what they show
        self.done: dict[int, int] = {}  # bytes written of the results of the present step

    def run(self) -> None:
        for index in self.graph.inputs:
            self.write(index, 0, self.graph.tensors[index].nbytes, 0)
        for step in self.plan.steps:
            if step.calls:
                self.done = {index: 0 for op in step.ops for index in op.outputs}
                self.step(step)
            else:
                source, result = step.op.inputs[0], step.op.outputs[0]
                self.names[result] = self.names.get(source, source)
                assert self.plan.offset(result) == self.plan.offset(source)
        for index in self.graph.outputs:
            self.whole(index)

    def write(self, index: int, offset: int, count: int, begin: int) -> None:
        """Bytes begin … of a tensor, `offset` bytes into its buffer."""
        assert (
            0 <= offset and offset + count <= self.plan.buffers[self.plan.buffer_of[index]].nbytes
        )
        start = self.plan.offset(index) + offset
        self.memory[start : start + count] = _tags(index, begin, count)

    def check(self, index: int, offset: int, count: int, begin: int) -> None:
        start = self.plan.offset(index) + offset
        tags = _tags(self.names.get(index, index), begin, count)
        assert (self.memory[start : start + count] == tags).all(), self.graph.tensors[index].name

    def whole(self, index: int) -> None:
        self.check(index, 0, self.graph.tensors[index].nbytes, 0)

    def step(self, step: Step) -> None:
        makers = {index: op for op in step.ops for index in op.outputs}
        for call in step.trace():
            args = [arg for arg in call.args if isinstance(arg, TensorArg)]
            target = args[-1]
            kind, _, ahead = call.kernel.order.partition(":")
            fields = dict(call.fields)
            if call.kernel.op == "move":
                count, (source, _) = fields["count"], args
                start = self.plan.offset(source.index)
                moved = self.memory[start + source.offset :][:count].copy()
                self.memory[start + target.offset :][:count] = moved
            elif kind in ("pixels", "planes") and fields.get("groups", 1) == 1:
                self.image(
                    call, args, makers[target.index].attrs, kind == "planes", int(ahead or 1)
                )
            elif kind == "elements" and all(
                fields.get(name, fields["count"]) == fields["count"]
                for name in ("a_period", "b_period")
            ):
                self.elements(args, int(fields["count"]), int(ahead))
            else:
                assert not step.fused
                in_place = {a.index for a in args[:-1]} & {
                    i
                    for i, b in self.plan.buffer_of.items()
                    if b == self.plan.buffer_of[target.index]
                }
                for arg in args[:-1]:
                    if arg.index not in in_place:
                        self.whole(arg.index)
                size = self.graph.tensors[target.index].nbytes
                self.write(target.index, 0, size, 0)
                for arg in args[:-1]:
                    if arg.index not in in_place and arg.index != target.index:
                        self.whole(arg.index)

    def image(
        self, call: Call, args: list[TensorArg], attrs: Any, planes: bool, ahead: int
    ) -> None:
        source, target = args
        f: dict[str, Any] = dict(call.fields)
        tensor, result = self.graph.tensors[source.index], self.graph.tensors[target.index]
        in_c, out_c = tensor.shape[1], result.shape[1]
        width, in_row = result.shape[3], tensor.shape[3] * in_c
        done = self.done[target.index]
        row0 = done // (width * out_c) % result.shape[2]
        image = done // (width * out_c) // result.shape[2]
        kernel_h, kernel_w = f["kernel_h"], f["kernel_w"]
        dilation = getattr(attrs, "dilation", (1, 1))
        count = f["out_h"] * f.get("batches", 1)

        def window(q: int, low: int, high: int) -> None:
            y, x = divmod(q, width)
            n, y = divmod(y, f["out_h"])
            for ky in range(kernel_h):
                row = (row0 + y) * attrs.stride[0] - attrs.padding[0] + ky * dilation[0]
                here = f["in_y0"] + y * attrs.stride[0] + ky * dilation[0]
                if not 0 <= row < tensor.shape[2]:
                    assert not 0 <= here < f["in_h"]
                    continue
                assert 0 <= here < f["in_h"]
                for kx in range(kernel_w):
                    col = x * attrs.stride[1] - attrs.padding[1] + kx * dilation[1]
                    if 0 <= col < tensor.shape[3]:
                        place = n * f.get("in_batch_stride", 0) + here * in_row + col * in_c
                        begin = ((image + n) * tensor.shape[2] + row) * in_row + col * in_c
                        self.check(
                            source.index, source.offset + place + low, high - low, begin + low
                        )

        for low in range(0, out_c, 4) if planes else [0]:
            high = min(low + 4, out_c) if planes else out_c
            pixels = count * width
            for q in range(pixels + ahead - 1):
                if q < pixels:
                    place = q * out_c + low
                    self.write(target.index, target.offset + place, high - low, done + place)
                if q >= ahead - 1 and q - ahead + 1 < pixels:
                    window(q - ahead + 1, low, high if planes else in_c)
        self.done[target.index] += math.prod((count, width, out_c))

    def elements(self, args: list[TensorArg], count: int, ahead: int) -> None:
        *sources, target = args
        size = self.graph.tensors[target.index].dtype.size
        done = self.done[target.index]
        shared = [
            a.index
            for a in sources
            if self.plan.buffer_of[a.index] == self.plan.buffer_of[target.index]
        ]
        for arg in sources:
            if arg.index in shared:
                self.whole(arg.index)
        for i in range(count + ahead - 1):
            if i < count:
                self.write(target.index, target.offset + i * size, size, done + i * size)
            j = i - ahead + 1
            for arg in sources if j >= 0 else ():
                if arg.index not in shared:
                    each = self.graph.tensors[arg.index].dtype.size
                    begin = (done // size + j) * each
                    self.check(arg.index, arg.offset + j * each, each, begin)
        self.done[target.index] += count * size
