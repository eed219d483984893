# SPDX-License-Identifier: Apache-2.0
"""The reference interpreter: what a graph means, in numpy, on logical tensors.

It is the oracle of everything to the right of the .pte: plans, kernels and devices are compared with
it byte for byte. It is written for clarity; convolutions go through float64 matrix products, which
are exact because every partial sum of int8 products stays far below 2**53.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CortexMError
from . import ops
from .arithmetic import I64, requantize, softmax_s8, wrap32
from .types import Array, Graph, Op

F32 = np.float32
Kernel = Callable[[Any, list[Array], "Op", Graph], Array | list[Array]]

_KERNELS: dict[type[ops.Attrs], Kernel] = {}


def implements(kind: type[ops.Attrs]) -> Callable[[Kernel], Kernel]:
    """Registers the meaning of one operator."""

    def register(kernel: Kernel) -> Kernel:
        _KERNELS[kind] = kernel
        return kernel

    return register


def run_graph(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Runs `graph` on logical inputs; returns its outputs, in their types and logical shapes.

    States have their initial values.

    Raises:
        CortexMError: the inputs do not fit the graph.
    """
    return next(run_sequence(graph, [inputs]))


def run_sequence(graph: Graph, calls: Iterable[Sequence[Array]]) -> Iterator[list[Array]]:
    """The outputs of one call after another: each begins with the states that the last one left, the
    first with their initial values.

    Raises:
        CortexMError: the inputs do not fit the graph.
    """
    states = [state.initial for state in graph.states]
    for inputs in calls:
        values = run_all(graph, inputs, states)
        states = [values[state.after] for state in graph.states]
        yield [values[index] for index in graph.outputs]


def run_all(
    graph: Graph, inputs: Sequence[Array], states: Sequence[Array] | None = None
) -> dict[int, Array]:
    """Like `run_graph`, but returns every tensor by its index; `states` are not the initial ones."""
    _check_inputs(graph, inputs)
    if states is None:
        states = [state.initial for state in graph.states]
    values: dict[int, Array] = {
        index: tensor.data for index, tensor in enumerate(graph.tensors) if tensor.data is not None
    }
    values.update(zip(graph.given, (*inputs, *states), strict=True))
    for op in graph.ops:
        kernel = _KERNELS.get(type(op.attrs))
        if kernel is None:
            raise CortexMError(f"no reference for operator {op.kind!r}", where=str(op.layer))
        # Overflow and NaN are results like any other.
        with np.errstate(all="ignore"):
            result = kernel(op.attrs, [values[index] for index in op.inputs], op, graph)
        results = result if isinstance(result, list) else [result]
        for index, value in zip(op.outputs, results, strict=True):
            tensor = graph.tensors[index]
            if value.shape != tensor.shape:
                raise CortexMError(
                    f"{op.kind} gives shape {value.shape}, the program says {tensor.shape}",
                    where=str(op.layer),
                )
            values[index] = np.ascontiguousarray(value.astype(tensor.dtype.numpy)).reshape(
                tensor.shape
            )
    return values


def _check_inputs(graph: Graph, inputs: Sequence[Array]) -> None:
    if len(inputs) != len(graph.inputs):
        raise CortexMError(f"{graph.name} takes {len(graph.inputs)} inputs, got {len(inputs)}")
    for number, (index, value) in enumerate(zip(graph.inputs, inputs, strict=True)):
        tensor = graph.tensors[index]
        if value.shape != tensor.shape or value.dtype != tensor.dtype.numpy:
            raise CortexMError(
                f"input {number} is {value.dtype} {value.shape}, "
                f"the model takes {tensor.dtype.numpy} {tensor.shape}"
            )


def _clamp(value: I64, low: int, high: int) -> I64:
    return np.clip(value, low, high)


def _windows(
    x: npt.NDArray[Any],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int, int, int],
    dilation: tuple[int, int],
    out_hw: tuple[int, int],
    fill: float,
) -> npt.NDArray[Any]:
    """All windows of x [N,C,H,W] as [N,C,H',W',KH,KW], `fill` outside the image."""
    n, c, h, w = x.shape
    reach_h = (out_hw[0] - 1) * stride[0] + (kernel[0] - 1) * dilation[0] + 1
    reach_w = (out_hw[1] - 1) * stride[1] + (kernel[1] - 1) * dilation[1] + 1
    padded = np.full(
        (n, c, max(reach_h, padding[0] + h), max(reach_w, padding[1] + w)), fill, x.dtype
    )
    padded[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w] = x
    sn, sc, sh, sw = padded.strides
    return np.lib.stride_tricks.as_strided(
        padded,
        (n, c, *out_hw, *kernel),
        (sn, sc, sh * stride[0], sw * stride[1], sh * dilation[0], sw * dilation[1]),
        writeable=False,
    )


def _finish_conv(attrs: ops.ConvAttrs, acc: npt.NDArray[np.float64], inputs: list[Array]) -> I64:
    """Bias, requantization and clamp of acc [N,O,H,W]."""
    total = acc.astype(np.int64)
    if len(inputs) > 2:
        total = total + inputs[2].astype(np.int64)[None, :, None, None]
    multiplier = np.array(attrs.multipliers, np.int64)[None, :, None, None]
    shift = np.array(attrs.shifts, np.int64)[None, :, None, None]
    result = requantize(wrap32(total), multiplier, shift) + attrs.out_zero_point
    return _clamp(result, attrs.act_min, attrs.act_max)


@implements(ops.Conv2d)
def _conv2d(attrs: ops.Conv2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    out_shape = graph.tensors[op.outputs[0]].shape
    x = inputs[0].astype(np.float64) - attrs.in_zero_point
    weight = inputs[1].astype(np.float64)
    out_c, kernel_h, kernel_w, group_c = weight.shape
    windows = _windows(
        x,
        (kernel_h, kernel_w),
        attrs.stride,
        attrs.padding,
        attrs.dilation,
        (out_shape[2], out_shape[3]),
        0.0,
    )
    acc = np.empty(out_shape, np.float64)
    per_group = out_c // attrs.groups
    for group in range(attrs.groups):
        columns = windows[:, group * group_c : (group + 1) * group_c].transpose(0, 2, 3, 4, 5, 1)
        rows = weight[group * per_group : (group + 1) * per_group].reshape(per_group, -1)
        product = columns.reshape(-1, rows.shape[1]) @ rows.T
        acc[:, group * per_group : (group + 1) * per_group] = product.reshape(
            out_shape[0], out_shape[2], out_shape[3], per_group
        ).transpose(0, 3, 1, 2)
    return _finish_conv(attrs, acc, inputs)


@implements(ops.DepthwiseConv2d)
def _depthwise_conv2d(
    attrs: ops.DepthwiseConv2d, inputs: list[Array], op: Op, graph: Graph
) -> Array:
    out_shape = graph.tensors[op.outputs[0]].shape
    x = inputs[0].astype(np.float64) - attrs.in_zero_point
    weight = inputs[1].astype(np.float64)[0]
    kernel_h, kernel_w, out_c = weight.shape
    windows = _windows(
        np.repeat(x, out_c // x.shape[1], axis=1),
        (kernel_h, kernel_w),
        attrs.stride,
        attrs.padding,
        attrs.dilation,
        (out_shape[2], out_shape[3]),
        0.0,
    )
    acc = np.einsum("nohwyx,yxo->nohw", windows, weight)
    return _finish_conv(attrs, acc, inputs)


@implements(ops.TransposeConv2d)
def _transpose_conv2d(
    attrs: ops.TransposeConv2d, inputs: list[Array], op: Op, graph: Graph
) -> Array:
    out_shape = graph.tensors[op.outputs[0]].shape
    x = inputs[0].astype(np.float64) - attrs.in_zero_point
    weight = inputs[1].astype(np.float64)
    _, kernel_h, kernel_w, _ = weight.shape
    n, _, h, w = x.shape
    top, left = attrs.padding[0], attrs.padding[1]
    reach_h = (h - 1) * attrs.stride[0] + (kernel_h - 1) * attrs.dilation[0] + 1
    reach_w = (w - 1) * attrs.stride[1] + (kernel_w - 1) * attrs.dilation[1] + 1
    full = np.zeros(
        (n, out_shape[1], max(reach_h, top + out_shape[2]), max(reach_w, left + out_shape[3]))
    )
    for ky in range(kernel_h):
        for kx in range(kernel_w):
            y0, x0 = ky * attrs.dilation[0], kx * attrs.dilation[1]
            full[
                :,
                :,
                y0 : y0 + (h - 1) * attrs.stride[0] + 1 : attrs.stride[0],
                x0 : x0 + (w - 1) * attrs.stride[1] + 1 : attrs.stride[1],
            ] += np.einsum("nchw,oc->nohw", x, weight[:, ky, kx, :])
    acc = full[:, :, top : top + out_shape[2], left : left + out_shape[3]]
    return _finish_conv(attrs, acc, inputs)


@implements(ops.Linear)
def _linear(attrs: ops.Linear, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x = inputs[0].astype(np.float64) - attrs.in_zero_point
    weight = inputs[1].astype(np.float64) - attrs.weight_zero_point
    acc = (x @ weight.T).astype(np.int64)
    if len(inputs) > 2:
        acc = acc + inputs[2].astype(np.int64)
    result = requantize(wrap32(acc), attrs.multiplier, attrs.shift) + attrs.out_zero_point
    return _clamp(result, attrs.act_min, attrs.act_max)


@implements(ops.BatchMatmul)
def _batch_matmul(attrs: ops.BatchMatmul, inputs: list[Array], op: Op, graph: Graph) -> Array:
    lhs = inputs[0].astype(np.float64) - attrs.lhs_zero_point
    rhs = inputs[1].astype(np.float64) - attrs.rhs_zero_point
    acc = (lhs @ rhs.transpose(0, 2, 1)).astype(np.int64)
    result = requantize(wrap32(acc), attrs.multiplier, attrs.shift) + attrs.out_zero_point
    return _clamp(result, -128, 127)


@implements(ops.Add)
def _add(attrs: ops.Add, inputs: list[Array], op: Op, graph: Graph) -> Array:
    a = (inputs[0].astype(np.int64) - attrs.a_zero_point) << 20
    b = (inputs[1].astype(np.int64) - attrs.b_zero_point) << 20
    total = requantize(a, attrs.a_multiplier, attrs.a_shift) + requantize(
        b, attrs.b_multiplier, attrs.b_shift
    )
    result = requantize(wrap32(total), attrs.out_multiplier, attrs.out_shift)
    return _clamp(result + attrs.out_zero_point, attrs.act_min, attrs.act_max)


@implements(ops.Mul)
def _mul(attrs: ops.Mul, inputs: list[Array], op: Op, graph: Graph) -> Array:
    a = inputs[0].astype(np.int64) - attrs.a_zero_point
    b = inputs[1].astype(np.int64) - attrs.b_zero_point
    result = requantize(a * b, attrs.multiplier, attrs.shift) + attrs.out_zero_point
    return _clamp(result, -128, 127)


@implements(ops.Div)
def _div(attrs: ops.Div, inputs: list[Array], op: Op, graph: Graph) -> Array:
    a = (inputs[0].astype(np.int64) - attrs.a_zero_point).astype(F32)
    b = (inputs[1].astype(np.int64) - attrs.b_zero_point).astype(F32)
    quotient = np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    result = np.rint(quotient * F32(attrs.scale)).astype(np.float64) + attrs.out_zero_point
    low, high = graph.tensors[op.outputs[0]].dtype.limits
    return np.asarray(np.clip(result, low, high))


@implements(ops.Minimum)
def _minimum(attrs: ops.Minimum, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(np.minimum(inputs[0], inputs[1]))


@implements(ops.Maximum)
def _maximum(attrs: ops.Maximum, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(np.maximum(inputs[0], inputs[1]))


@implements(ops.Activation)
def _activation(attrs: ops.Activation, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(inputs[1].reshape(256)[inputs[0].astype(np.int64) + 128])


@implements(ops.Softmax)
def _softmax(attrs: ops.Softmax, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x = np.moveaxis(inputs[0].astype(np.int64), attrs.dim, -1)
    return np.moveaxis(softmax_s8(x, attrs.multiplier, attrs.shift, attrs.diff_min), -1, attrs.dim)


@implements(ops.AvgPool2d)
def _avg_pool2d(attrs: ops.AvgPool2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    out_shape = graph.tensors[op.outputs[0]].shape
    hw = (out_shape[2], out_shape[3])
    x = inputs[0].astype(np.int64)
    args = (attrs.kernel, attrs.stride, attrs.padding, (1, 1), hw, 0)
    total = _windows(x, *args).sum(axis=(4, 5))
    count = _windows(np.ones((1, 1, *x.shape[2:]), np.int64), *args).sum(axis=(4, 5))
    magnitude = (np.abs(total) + count // 2) // count
    return np.clip(np.where(total < 0, -magnitude, magnitude), -128, 127)


@implements(ops.MaxPool2d)
def _max_pool2d(attrs: ops.MaxPool2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    out_shape = graph.tensors[op.outputs[0]].shape
    windows = _windows(
        inputs[0].astype(np.int64),
        attrs.kernel,
        attrs.stride,
        attrs.padding,
        attrs.dilation,
        (out_shape[2], out_shape[3]),
        -129,
    )
    return _clamp(windows.max(axis=(4, 5)), attrs.act_min, attrs.act_max)


@implements(ops.Pad)
def _pad(attrs: ops.Pad, inputs: list[Array], op: Op, graph: Graph) -> Array:
    widths = list(zip(attrs.before, attrs.after, strict=True))
    return np.pad(inputs[0], widths, constant_values=attrs.value)


@implements(ops.Transpose)
def _transpose(attrs: ops.Transpose, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return inputs[0].transpose(attrs.perm)


@implements(ops.View)
def _view(attrs: ops.View, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return inputs[0].reshape(graph.tensors[op.outputs[0]].shape)


@implements(ops.Clone)
def _clone(attrs: ops.Clone, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return inputs[0]


@implements(ops.Expand)
def _expand(attrs: ops.Expand, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.broadcast_to(inputs[0], graph.tensors[op.outputs[0]].shape)


@implements(ops.Quantize)
def _quantize(attrs: ops.Quantize, inputs: list[Array], op: Op, graph: Graph) -> Array:
    inverse = F32(1.0 / attrs.scale)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = inputs[0].astype(F32) * inverse
    rounded = np.rint(np.nan_to_num(scaled, nan=0.0, posinf=2.0**30, neginf=-(2.0**30)))
    codes = np.clip(rounded, -(2.0**30), 2.0**30).astype(np.int64) + attrs.zero_point
    return np.clip(codes, attrs.qmin, attrs.qmax)


@implements(ops.Dequantize)
def _dequantize(attrs: ops.Dequantize, inputs: list[Array], op: Op, graph: Graph) -> Array:
    centred = (inputs[0].astype(np.int64) - attrs.zero_point).astype(F32)
    return np.asarray(centred * F32(attrs.scale))
