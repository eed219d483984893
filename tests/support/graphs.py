# SPDX-License-Identifier: Apache-2.0
"""A builder of small graphs for tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cortexm_tools.ir import (
    Array,
    Attrs,
    DType,
    Graph,
    Layer,
    Op,
    Rescale,
    State,
    Tensor,
    channels_last,
    contiguous,
    ops,
)
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.wide import narrowed
from cortexm_tools.program import Program


@dataclass(frozen=True)
class GraphProgram(Program):
    """A program of a graph that no .pte holds; `pte` tells it from others."""

    made: Graph | None = None

    def graph(self) -> Graph:
        assert self.made is not None
        return self.made


def rescales(multipliers: Array, shifts: Array) -> tuple[Rescale, ...]:
    """The requantizations of channels."""
    return tuple(map(Rescale, multipliers.tolist(), shifts.tolist()))


class Net:
    """Builds a graph operator by operator; values are tensor indices.

    Args:
        mixed: whether every third layer has weights of 4 bits.
    """

    def __init__(self, name: str = "net", seed: int = 0, *, mixed: bool = False) -> None:
        self.name = name
        self.tensors: list[Tensor] = []
        self.ops: list[Op] = []
        self.inputs: list[int] = []
        self.states: list[State] = []
        self.random = np.random.default_rng(seed)
        self.mixed = mixed

    def shape(self, index: int) -> tuple[int, ...]:
        return self.tensors[index].shape

    def tensor(
        self, shape: tuple[int, ...], dtype: DType = DType.S8, order: tuple[int, ...] | None = None
    ) -> int:
        if order is None:
            order = channels_last(4) if len(shape) == 4 else contiguous(len(shape))
        self.tensors.append(Tensor(f"t{len(self.tensors)}", dtype, shape, order))
        return len(self.tensors) - 1

    def input(
        self, shape: tuple[int, ...], dtype: DType = DType.S8, order: tuple[int, ...] | None = None
    ) -> int:
        self.inputs.append(self.tensor(shape, dtype, order))
        return self.inputs[-1]

    def keep(self, before: int, after: int, initial: Array | None = None) -> int:
        """Makes the tensor `before`, which no operator computes, a state that becomes `after`."""
        tensor = self.tensors[before]
        if initial is None:
            initial = self.random.integers(-9, 9, tensor.shape).astype(tensor.dtype.numpy)
        self.states.append(State(f"state{len(self.states)}", before, after, initial))
        return after

    def constant(self, data: Array, dtype: DType) -> int:
        self.tensors.append(
            Tensor(
                f"c{len(self.tensors)}",
                dtype,
                data.shape,
                contiguous(data.ndim),
                data=np.ascontiguousarray(data.astype(dtype.numpy)).reshape(data.shape),
            )
        )
        return len(self.tensors) - 1

    def codes(self, *shape: int, dtype: DType = DType.S8) -> int:
        low, high = dtype.limits
        return self.constant(self.random.integers(low, high + 1, shape), dtype)

    def is_wide(self, x: int) -> bool:
        """Whether these are int16 codes."""
        return self.tensors[x].dtype is DType.S16

    def zero_points(self, x: int, count: int) -> list[int]:
        """Zero points of codes of the type of `x`."""
        return [0 if self.is_wide(x) else int(v) for v in self.random.integers(-128, 128, count)]

    def biases(self, x: int, count: int) -> int:
        """The bias of a layer; of int16 codes sometimes with sums beyond 32 bits."""
        values = self.random.integers(-9999, 9999, count)
        if self.is_wide(x) and self.random.integers(0, 4) == 0:
            return self.constant(values + (1 << 33) * self.random.integers(-1, 2, count), DType.S64)
        return self.constant(values, DType.S32)

    @property
    def bits_less(self) -> int:
        """By how many bits the weights of the next layer are smaller than int8."""
        return 4 if self.mixed and len(self.ops) % 3 == len(self.name) % 3 else 0

    def rescales(self, multipliers: Array, shifts: Array) -> tuple[Rescale, ...]:
        """Those of the next layer: of weights of 4 bits as lowering rounds them."""
        if self.bits_less:
            multipliers = np.array([narrowed(each) for each in multipliers.tolist()])
        return rescales(multipliers, shifts)

    def weights(self, *shape: int) -> int:
        """The same random numbers, whatever the bits."""
        codes = self.random.integers(-128, 128, shape)
        return self.constant(codes >> self.bits_less, DType.S8)

    def add(
        self,
        attrs: Attrs,
        inputs: list[int],
        shape: tuple[int, ...],
        dtype: DType | None = None,
        order: tuple[int, ...] | None = None,
    ) -> int:
        """The result of an operator; int16 if its first operand is, else int8, unless given."""
        if dtype is None:
            dtype = DType.S16 if self.is_wide(inputs[0]) else DType.S8
        out = self.tensor(shape, dtype, order)
        self.ops.append(Op(attrs, tuple(inputs), (out,), Layer(f"layer{len(self.ops)}")))
        return out

    def conv(
        self,
        x: int,
        out_c: int,
        kernel: tuple[int, int] = (3, 3),
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int, int, int] = (1, 1, 1, 1),
        *,
        depthwise: bool = False,
        groups: int = 1,
        bias: bool = True,
        dilation: tuple[int, int] = (1, 1),
        relu: bool = False,
    ) -> int:
        n, c, h, w = self.shape(x)
        taps = math.prod(kernel) * (1 if depthwise else c // groups)
        weight = self.weights(
            *((1, *kernel, out_c) if depthwise else (out_c, *kernel, c // groups))
        )
        inputs = [x, weight]
        if bias:
            inputs.append(self.biases(x, out_c))
        zero = self.zero_points(x, 2)
        low, high = self.tensors[x].dtype.limits
        shared = {
            "window": (window := Window(kernel, stride, padding, dilation)),
            "in_zero_point": zero[0],
            "out_zero_point": low if relu else zero[1],
            "rescales": self.rescales(
                self.random.integers(2**30, 2**31, out_c),
                self.random.integers(-2, 1, out_c)
                + (self.bits_less - 6 - int(math.log2(taps)) // 2),
            ),
            "act_min": low,
            "act_max": high if relu else int(self.random.integers(high - 67, high + 1)),
        }
        attrs = ops.DepthwiseConv2d(**shared) if depthwise else ops.Conv2d(**shared, groups=groups)
        out_h = (h + padding[0] + padding[2] - window.reach[0]) // stride[0] + 1
        out_w = (w + padding[1] + padding[3] - window.reach[1]) // stride[1] + 1
        return self.add(attrs, inputs, (n, out_c, out_h, out_w))

    def transpose_conv(self, x: int, out_c: int, kernel: tuple[int, int], stride: int) -> int:
        n, c, h, w = self.shape(x)
        attrs = ops.TransposeConv2d(
            Window(kernel, (stride, stride), (0, 0, 0, 0)),
            *self.zero_points(x, 2),
            rescales(
                self.random.integers(2**30, 2**31, out_c), self.random.integers(-10, -7, out_c)
            ),
            *self.tensors[x].dtype.limits,
        )
        inputs = [x, self.codes(out_c, *kernel, c), self.biases(x, out_c)]
        out = [(size - 1) * stride + k for size, k in zip((h, w), kernel, strict=True)]
        return self.add(attrs, inputs, (n, out_c, *out))

    def linear(self, x: int, out: int) -> int:
        shape = self.shape(x)
        zero = self.zero_points(x, 2)
        factors = out if self.is_wide(x) and self.random.integers(0, 2) else 1
        multipliers = self.random.integers(2**30, 2**31, factors)
        shifts = np.full(factors, self.bits_less - 8 - int(math.log2(shape[-1])) // 2)
        if not self.is_wide(x) and out % 2 == 0:  # one requantization for each output
            multipliers, shifts = np.repeat(multipliers, out), shifts - np.arange(out) % 3
        attrs = ops.Linear(
            in_zero_point=zero[0],
            weight_zero_point=0,
            out_zero_point=zero[1],
            rescales=self.rescales(multipliers, shifts),
            act_min=self.tensors[x].dtype.limits[0],
            act_max=self.tensors[x].dtype.limits[1],
        )
        bias = self.biases(x, out)
        return self.add(attrs, [x, self.weights(out, shape[-1]), bias], (*shape[:-1], out))

    def batch_matmul(self, a: int, b: int) -> int:
        (batches, rows, inner), cols = self.shape(a), self.shape(b)[1]
        shift = -9 - (7 if self.is_wide(a) else 0) - int(math.log2(inner)) // 2
        attrs = ops.BatchMatmul(*self.zero_points(a, 3), Rescale(1610612736, shift))
        return self.add(attrs, [a, b], (batches, rows, cols), order=contiguous(3))

    def requantize(self, x: int, dtype: DType) -> int:
        """Codes of another type, or other codes of int16."""
        info = self.tensors[x]
        zeros = [
            int(v) if codes is DType.S8 else 0
            for codes, v in zip((info.dtype, dtype), self.random.integers(-99, 99, 2), strict=True)
        ]
        shift = 8 * ((dtype is DType.S16) - (info.dtype is DType.S16))
        low, high = dtype.limits
        attrs = ops.Requantize(zeros[0], Rescale(1610612736, shift), zeros[1], low + 5, high)
        return self.add(attrs, [x], info.shape, dtype, info.dim_order)

    def sum(self, a: int, b: int) -> int:
        zero = self.zero_points(a, 3)
        # The larger scale is halved, or nearly.
        halved = Rescale(1073741824 - 777 * (b % 2), 0)
        low, high = self.tensors[a].dtype.limits
        attrs = ops.Add(
            *(zero[0], Rescale(1518500250, -1)),
            *(zero[1], halved),
            *(zero[2], Rescale(1610612736, -14 if self.is_wide(a) else -19)),
            *(low + 5 * (b % 3 == 0), high),
        )
        return self.add(attrs, [a, b], np.broadcast_shapes(self.shape(a), self.shape(b)))

    def mul(self, a: int, b: int) -> int:
        zero = self.zero_points(a, 3)
        rescale = Rescale(1610612736, -14 if self.is_wide(a) else -6)
        attrs = ops.Mul(zero[0], zero[1], zero[2], rescale)
        return self.add(attrs, [a, b], np.broadcast_shapes(self.shape(a), self.shape(b)))

    def activation(self, x: int, *, smooth: bool = False) -> int:
        if self.is_wide(x):
            entries = 2 ** int(self.random.integers(9, 13)) + 1
            table = self.codes(entries, dtype=DType.S16)
            if smooth:
                steps = self.random.integers(-400, 401, entries).cumsum()
                table = self.constant(np.clip(steps, *DType.S16.limits), DType.S16)
        else:
            table = self.codes(256)
        return self.add(ops.Activation(), [x, table], self.shape(x))

    def pool(self, x: int, kernel: tuple[int, int], *, largest: bool) -> int:
        n, c, h, w = self.shape(x)
        window = Window(kernel, kernel, (0, 0, 0, 0))
        limits = self.tensors[x].dtype.limits
        attrs = ops.MaxPool2d(window, *limits) if largest else ops.AvgPool2d(window)
        return self.add(attrs, [x], (n, c, h // kernel[0], w // kernel[1]))

    def view(self, x: int, shape: tuple[int, ...]) -> int:
        return self.add(ops.View(), [x], shape, self.tensors[x].dtype, contiguous(len(shape)))

    def transpose(self, x: int, perm: tuple[int, ...], order: tuple[int, ...] | None = None) -> int:
        shape = tuple(self.shape(x)[d] for d in perm)
        return self.add(ops.Transpose(perm), [x], shape, order=order or contiguous(len(perm)))

    def pad(self, x: int, before: tuple[int, ...], after: tuple[int, ...], value: int) -> int:
        shape = tuple(b + s + a for b, s, a in zip(before, self.shape(x), after, strict=True))
        return self.add(ops.Pad(before, after, value), [x], shape, order=self.tensors[x].dim_order)

    def concat(self, operands: list[int], dim: int) -> int:
        shape = list(self.shape(operands[0]))
        shape[dim] = sum(self.shape(x)[dim] for x in operands)
        order = self.tensors[operands[0]].dim_order
        return self.add(ops.Concat(dim), operands, tuple(shape), order=order)

    def softmax(self, x: int, dim: int) -> int:
        # As quantizers have it, or a border that leaves out codes that would count.
        diff_min = -496 if len(self.tensors) % 2 else -248
        attrs: Attrs = ops.Softmax(dim, Rescale(1717986918, 22), diff_min)
        if self.is_wide(x):
            attrs = ops.WideSoftmax(dim, 1 << int(self.random.integers(18, 24)))
        return self.add(attrs, [x], self.shape(x), order=self.tensors[x].dim_order)

    def quantize(
        self, x: int, scale: float = 0.05, zero_point: int = 3, dtype: DType = DType.S8
    ) -> int:
        if dtype is DType.S16:
            scale, zero_point = scale / 200, 0
        attrs = ops.Quantize(scale, zero_point, *dtype.limits)
        return self.add(attrs, [x], self.shape(x), dtype, self.tensors[x].dim_order)

    def dequantize(self, x: int, scale: float = 0.05, zero_point: int = 3) -> int:
        attrs = ops.Dequantize(scale, zero_point)
        return self.add(attrs, [x], self.shape(x), DType.F32, self.tensors[x].dim_order)

    def finish(self, *outputs: int) -> Graph:
        return check_graph(
            Graph(
                self.name,
                tuple(self.tensors),
                tuple(self.ops),
                tuple(self.inputs),
                outputs,
                tuple(self.states),
            )
        )


def conv_fields(groups: int, in_c: int, out_c: int, **fields: int) -> dict[str, int]:
    """The parameters of 3x3 windows of an image of 8 rows and columns, or as `fields` say."""
    usual = {"in_h": 8, "in_w": 8, "out_h": 8, "out_w": 8, "out_pixel_stride": groups * out_c}
    usual |= {"in_y0": -1, "in_x0": -1, "in_row_stride": 8 * groups * in_c}
    usual |= {f"{name}_{along}": 1 for name in ("stride", "dilation") for along in "hw"}
    channels = {"groups": groups, "in_c": groups * in_c, "out_c": groups * out_c}
    return usual | {"kernel_h": 3, "kernel_w": 3} | channels | fields
