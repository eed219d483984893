# SPDX-License-Identifier: Apache-2.0
"""Replays a plan byte by byte: every byte that a kernel reads must still be the one that was put there.

Written apart from the planner. Memory holds tags, (tensor, byte of the tensor). Kernels with an order
write pixel after pixel, and read the window of a pixel as late as their promise allows: just after the
last write that may come before. All other kernels write everything before they read anything, so that
no overlap passes. What lies in the result of a concatenation has the result's tags, at the places
where numpy puts it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cortexm_tools.ir import Graph, Op, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.plan import Plan
from cortexm_tools.plan.kernels.contract import named
from cortexm_tools.plan.types import Call, Step, TensorArg

EMPTY = -1


def replay(plan: Plan) -> None:
    """Raises an AssertionError where a byte is read that is not there any more."""
    _Replay(plan).run()


class _Replay:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.graph: Graph = plan.graph
        self.memory = np.full(plan.arena_size, EMPTY, np.int64)
        self.names: dict[int, int] = {}  # views have the tags of what they show
        self.done: dict[int, int] = {}  # bytes written of the results of the present step
        self.places = _joined_places(plan)

    def run(self) -> None:
        for index in self.graph.given:
            self.write(index, index, 0, self.graph.tensors[index].nbytes, 0)
        for step in self.plan.steps:
            if step.calls:
                self.done = {index: 0 for op in step.ops for index in op.outputs}
                self.step(step)
            elif not isinstance(step.op.attrs, ops.Concat):
                source, result = step.op.inputs[0], step.op.outputs[0]
                self.names[result] = self.names.get(source, source)
                assert self.plan.offset(result) == self.plan.offset(source)
        for index in self.graph.kept:
            self.whole(index)
        for state in self.graph.states:
            assert self.plan.offset(state.before) == self.plan.offset(state.after)

    def tags(self, index: int, begin: int, count: int) -> Any:
        """Of the bytes begin … of a tensor."""
        if index in self.places:
            result, places = self.places[index]
            return (result << 32) + places[begin : begin + count]
        return (self.names.get(index, index) << 32) + begin + np.arange(count)

    def write(self, holder: int, index: int, offset: int, count: int, begin: int) -> None:
        """Bytes begin … of tensor `index`, `offset` bytes into the buffer of `holder`."""
        buffer = self.plan.buffers[self.plan.buffer_of[holder]]
        assert 0 <= offset and offset + count <= buffer.nbytes
        start = self.plan.offset(holder) + offset
        self.memory[start : start + count] = self.tags(index, begin, count)

    def check(self, holder: int, index: int, offset: int, count: int, begin: int) -> None:
        start = self.plan.offset(holder) + offset
        tags = self.tags(index, begin, count)
        assert (self.memory[start : start + count] == tags).all(), self.graph.tensors[index].name

    def whole(self, index: int) -> None:
        if index not in self.places:
            self.check(index, index, 0, self.graph.tensors[index].nbytes, 0)
            return
        result, places = self.places[index]
        memory = self.memory[self.plan.offset(result) + places]
        assert (memory == (result << 32) + places).all(), self.graph.tensors[index].name

    def in_place(self, operand: int, result: int) -> bool:
        buffers = {self.plan.buffer_of[self.plan.holder(index)] for index in (operand, result)}
        return len(buffers) == 1 and self.plan.offset(operand) == self.plan.offset(result)

    def meant(self, arg: TensorArg, tensors: tuple[int, ...]) -> int:
        """The one of an operator's tensors that an argument is, which may lie in a joined result."""
        if arg.index in tensors:
            return arg.index
        return next(
            index
            for index in tensors
            if index in self.places
            and self.places[index][0] == arg.index
            and self.places[index][1].min() <= arg.offset <= self.places[index][1].max()
        )

    def step(self, step: Step) -> None:
        makers = {index: op for op in step.ops for index in op.outputs}
        if isinstance(step.op.attrs, ops.Concat):
            self.join(step)
            return
        if isinstance(step.op.attrs, ops.IndexPut):
            self.whole(step.op.inputs[0])  # what is not written stays
        for call in step.trace():
            args = [arg for arg in call.args if isinstance(arg, TensorArg)]
            if not args:
                continue  # a constant's offsets, to scratch
            target = args[-1]
            kind, ahead, rows = (call.kernel.order + "::").split(":")[:3]
            fields = dict(call.fields)
            if call.result is None:
                self.whole(self.meant(target, step.op.inputs))  # to scratch
            elif call.kernel.op == "move" and not step.fused:
                self.move(args, int(fields["count"]), step.op)
            elif call.kernel.op == "move":
                count, (source, _) = fields["count"], args
                start = self.plan.offset(source.index)
                moved = self.memory[start + source.offset :][:count].copy()
                self.memory[start + target.offset :][:count] = moved
            elif kind in ("pixels", "planes") and fields.get("groups", 1) == 1:
                op = makers[self.meant(target, tuple(makers))]
                self.image(call, args, op, kind == "planes", int(ahead or 1), int(rows or 0))
            elif kind == "elements" and all(
                fields.get(name, fields["count"]) == fields["count"]
                for name in ("a_period", "b_period")
            ):
                op = makers[self.meant(target, tuple(makers))]
                self.elements(args, op, int(fields["count"]), int(ahead))
            else:
                assert not step.fused
                made = self.meant(target, step.op.outputs)
                read = [
                    index
                    for index in (self.meant(arg, step.op.inputs) for arg in args[:-1])
                    if not self.in_place(index, made)
                ]
                for index in read:
                    self.whole(index)
                self.write_whole(call, target, made)
                for index in read:
                    self.whole(index)

    def move(self, args: list[TensorArg], count: int, op: Op) -> None:
        """Bytes that lie in one piece, perhaps to a lower place in what they come from."""
        *sources, target = args
        for source in sources:  # none of a constant
            read = self.meant(source, op.inputs)
            begin = int(self.places[read][1][0]) if read in self.places else 0
            down = [self.plan.offset(arg.index) + arg.offset for arg in (source, target)]
            assert down[1] <= down[0] or down[1] >= down[0] + count
            self.check(source.index, read, source.offset, count, source.offset - begin)
        self.write(target.index, op.outputs[0], target.offset, count, target.offset)

    def write_whole(self, call: Call, target: TensorArg, made: int) -> None:
        """All of `made`, by a call that may be a copy with gaps."""
        if made not in self.places:
            self.write(made, made, 0, self.graph.tensors[made].nbytes, 0)
            return
        holder, places = self.places[made]
        if call.kernel.serves == "copy":
            places = self.copied(call, target)
        self.memory[self.plan.offset(holder) + places] = (holder << 32) + places

    def copied(self, call: Call, target: TensorArg) -> Any:
        """The bytes that a copy writes, as it walks the dimensions of its result."""
        fields: dict[str, Any] = dict(call.fields)
        size = call.kernel.unit
        places = np.zeros(1, np.int64)
        for extent, step in zip(fields["dims"], fields["out_stride"], strict=True):
            places = np.add.outer(places, np.arange(extent) * step * size).reshape(-1)
        return target.offset + np.add.outer(places, np.arange(size)).reshape(-1)

    def join(self, step: Step) -> None:
        """Copies of the operands of a concatenation that are not there yet."""
        result = step.op.outputs[0]
        for call in step.calls:
            *sources, target = [arg for arg in call.args if isinstance(arg, TensorArg)]
            for arg in sources:
                self.whole(self.meant(arg, step.op.inputs))
            holder, begin = target.index, 0
            if result in self.places:
                begin = int(self.places[result][1][0])
            if call.kernel.op == "interleave":  # reads and writes all
                places = target.offset + np.arange(self.graph.tensors[result].nbytes)
            else:
                places = self.copied(call, target)
            assert 0 <= places.min() - begin < self.graph.tensors[result].nbytes
            self.memory[self.plan.offset(holder) + places] = (holder << 32) + places
        if result not in self.places:
            self.whole(result)

    def image(
        self, call: Call, args: list[TensorArg], op: Op, planes: bool, ahead: int, band: int
    ) -> None:
        source, target = args
        f: dict[str, Any] = dict(call.fields)
        read, made = self.meant(source, op.inputs), op.outputs[0]
        shapes = [self.graph.tensors[index].shape for index in (read, made)]
        if isinstance(op.attrs, ops.Linear):  # its rows are the pixels of one row of an image
            over = Window((1, 1), (1, 1), (0, 0, 0, 0), (1, 1))
            shapes = [(1, shape[-1], 1, math.prod(shape[:-1])) for shape in shapes]
        else:
            over = op.attrs.window  # type: ignore[attr-defined]
        if isinstance(op.attrs, ops.TransposeConv2d):  # a convolution with its taps in reverse
            assert over.stride == (1, 1)
            top, left = (
                (side - 1) * step - cut
                for side, step, cut in zip(over.kernel, over.dilation, over.padding, strict=False)
            )
            over = Window(over.kernel, (1, 1), (top, left, 0, 0), over.dilation)
        (_, in_c, in_h, in_w), (_, out_c, out_h, width) = shapes
        if f.get("channels", 0) > in_c * in_w:  # all rows of a pool are a single pixel
            self.whole(read)
            self.write_whole(call, target, made)
            self.whole(read)
            return
        if f.get("channels") == in_c * in_w:  # a pool's rows are single pixels
            in_c, in_w, out_c, width = in_c * in_w, 1, out_c * width, 1
        is_line = "in_c" in f and f["in_h"] == f["kernel_h"] == 1  # or a band of one row
        is_line = is_line and in_h > 1 and f["in_w"] * f["in_c"] == in_h * in_w * in_c
        if is_line and over.kernel == (1, 1) and f["in_w"] != in_h:  # all pixels are one row
            assert (f["out_h"], over.stride) == (1, (1, 1)) and not any(over.padding)
            in_h, in_w, out_h, width = 1, in_h * in_w, 1, out_h * width
            is_line = False
        is_row = is_line or f.get("in_h", in_h) == f.get("kernel_h") == 1 < over.kernel[0]
        if is_row and f["in_c"] == in_c * in_w:  # each row is a pixel of a single one
            assert f["in_w"] == in_h and f["in_y0"] == 0
            assert (f["out_c"], f["out_w"], f["out_h"]) == (out_c * width, out_h, 1)
            assert (f["kernel_w"], f["in_x0"]) == (over.kernel[0], -over.padding[0])
            assert (f["stride_w"], f["dilation_w"]) == (over.stride[0], over.dilation[0])
            over = Window(
                (1, f["kernel_w"]), (1, f["stride_w"]), (0, -f["in_x0"], 0, 0), (1, f["dilation_w"])
            )
            in_h, in_w, in_c = 1, in_h, f["in_c"]
            out_h, width, out_c = 1, out_h, f["out_c"]
        elif "conv2d" in call.kernel.serves and f.get("out_c", 0) > out_c:  # neighbours are one
            joined = f["out_c"] // out_c
            assert f["out_c"] == joined * out_c and f["out_w"] * joined == width
            if f["in_w"] == f["out_w"] == f["kernel_w"] == 1:  # a whole row is one
                assert f["in_c"] == in_c * in_w and f["in_x0"] == 0
            else:
                inputs = f["in_c"] // in_c
                assert f["in_c"] == inputs * in_c and f["in_w"] * inputs == in_w
                assert f["stride_w"] * inputs == joined * over.stride[1]
                assert f["in_x0"] * inputs == -over.padding[1]
                reach = (joined - 1) * over.stride[1] + (over.kernel[1] - 1) * over.dilation[1] + 1
                assert f["kernel_w"] * inputs == reach and f["dilation_w"] == 1
            assert f["kernel_h"] == over.kernel[0]
            over = Window(
                (f["kernel_h"], f["kernel_w"]),
                (over.stride[0], f["stride_w"]),
                (over.padding[0], -f["in_x0"], 0, 0),
                (over.dilation[0], 1),
            )
            in_c, in_w, out_c, width = f["in_c"], f["in_w"], f["out_c"], f["out_w"]
        # From here on in bytes.
        each, size = (self.graph.tensors[index].dtype.size for index in (read, made))
        in_c, out_c, pixel = in_c * each, out_c * size, f["out_pixel_stride"] * size
        in_row = in_w * in_c
        done = self.done[made]
        row0 = done // (width * out_c) % out_h
        image = done // (width * out_c) // out_h
        kernel_h, kernel_w = f["kernel_h"], f["kernel_w"]
        count = f["out_h"] * f.get("batches", 1)
        together, ahead = (ahead * size, 1) if planes else (out_c, ahead)  # of channels, pixels

        def window(q: int, low: int, high: int) -> None:
            y, x = divmod(q, width)
            n, y = divmod(y, f["out_h"])
            for ky in range(kernel_h):
                row = (row0 + y) * over.stride[0] - over.padding[0] + ky * over.dilation[0]
                here = f["in_y0"] + y * over.stride[0] + ky * over.dilation[0]
                if not 0 <= row < in_h:
                    assert not 0 <= here < f["in_h"]
                    continue
                assert 0 <= here < f["in_h"]
                for kx in range(kernel_w):
                    col = x * over.stride[1] - over.padding[1] + kx * over.dilation[1]
                    if 0 <= col < in_w:
                        place = n * f.get("in_batch_stride", 0) * each + here * in_row + col * in_c
                        begin = ((image + n) * in_h + row) * in_row + col * in_c
                        at = source.offset + place + low
                        self.check(source.index, read, at, high - low, begin + low)

        multiple = out_c // in_c if planes else 1  # outputs of an input channel

        reads_first = planes and (
            kernel_h + (f["out_h"] - 1) * over.stride[0] <= band
            or (band > 0 and bool(named()["band_turned"](f)))
        )
        for low in range(0, out_c, together):
            high = min(low + together, out_c)
            pixels = count * width
            if reads_first:
                for q in range(pixels):
                    window(q, low, high)
            for q in range(pixels + ahead - 1):
                if q < pixels:
                    at = target.offset + q * pixel + low
                    self.write(target.index, made, at, high - low, done + q * out_c + low)
                if q >= ahead - 1 and q - ahead + 1 < pixels and not reads_first:
                    first = low // (multiple * together) * together if planes else low
                    window(q - ahead + 1, first, first + high - low if planes else in_c)
        self.done[made] += math.prod((count, width, out_c))

    def elements(self, args: list[TensorArg], op: Op, count: int, ahead: int) -> None:
        *sources, target = args
        made = op.outputs[0]
        size = self.graph.tensors[made].dtype.size
        done = self.done[made]
        apart = []
        for arg in sources:
            read = self.meant(arg, op.inputs)
            if self.in_place(read, made):
                self.whole(read)
            else:
                apart.append((arg, read))
        for i in range(count + ahead - 1):
            if i < count:
                self.write(target.index, made, target.offset + i * size, size, done + i * size)
            j = i - ahead + 1
            for arg, read in apart if j >= 0 else ():
                each = self.graph.tensors[read].dtype.size
                begin = (done // size + j) * each
                self.check(arg.index, read, arg.offset + j * each, each, begin)
        self.done[made] += count * size


def _joined_places(plan: Plan) -> dict[int, tuple[int, Any]]:
    """For every tensor in the result of a concatenation, the tensor that has the memory, and each of
    its bytes there; views and results in place lie where their operands do."""
    graph = plan.graph
    found: dict[int, tuple[int, Any]] = {}
    for op in reversed(graph.ops):
        out = op.outputs[0]
        if isinstance(op.attrs, ops.Concat):
            holder, own = found.get(out, (out, np.arange(graph.tensors[out].nbytes)))
            tensor = graph.tensors[out]
            size, order = tensor.dtype.size, tensor.dim_order
            bytes_of = own.reshape(*(tensor.shape[d] for d in order), size)
            logical = bytes_of.transpose(*np.argsort(order), len(order))
            begin = 0
            for index in op.inputs:
                x = graph.tensors[index]
                stop = begin + x.shape[op.attrs.dim]
                piece = logical.take(range(begin, stop), op.attrs.dim)
                begin = stop
                if index in plan.parts and index not in found:
                    found[index] = holder, piece.transpose(*x.dim_order, len(order)).reshape(-1)
        elif out in found:
            for index in op.inputs:
                if index in plan.parts and index not in found:
                    found[index] = found[out]
    assert found.keys() == plan.parts.keys()
    return found
