# SPDX-License-Identifier: Apache-2.0
"""The meaning of the float32 layers in ops_more, registered with the reference interpreter.

Sums are taken in float64 and rounded once: a device that sums in float32 differs in the last bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import ops_more as more
from .interpreter import F32, _windows, implements
from .types import Array, Graph, Op


def _with_bias(acc: npt.NDArray[np.float64], inputs: list[Array], axis: int) -> Array:
    if len(inputs) > 2:
        shape = [-1 if d == axis else 1 for d in range(acc.ndim)]
        acc = acc + inputs[2].astype(np.float64).reshape(shape)
    return acc.astype(F32)


@implements(more.FloatConv2d)
def _conv2d(attrs: more.FloatConv2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = graph.tensors[op.outputs[0]].shape
    x, weight = inputs[0].astype(np.float64), inputs[1].astype(np.float64)
    out_c, group_c, *kernel = weight.shape
    windows = _windows(
        x,
        (kernel[0], kernel[1]),
        attrs.stride,
        attrs.padding,
        attrs.dilation,
        (shape[2], shape[3]),
        0.0,
    )
    per_group = out_c // attrs.groups
    parts = [
        np.einsum(
            "nchwyx,ocyx->nohw",
            windows[:, group * group_c : (group + 1) * group_c],
            weight[group * per_group : (group + 1) * per_group],
        )
        for group in range(attrs.groups)
    ]
    return _with_bias(np.concatenate(parts, axis=1), inputs, 1)


@implements(more.FloatTransposeConv2d)
def _transpose_conv2d(
    attrs: more.FloatTransposeConv2d, inputs: list[Array], op: Op, graph: Graph
) -> Array:
    n, out_c, out_h, out_w = graph.tensors[op.outputs[0]].shape
    x, weight = inputs[0].astype(np.float64), inputs[1].astype(np.float64)
    in_c, per_group, kernel_h, kernel_w = weight.shape
    group_c, (h, w) = in_c // attrs.groups, x.shape[2:]
    top, left = attrs.padding[:2]
    reach_h = (h - 1) * attrs.stride[0] + (kernel_h - 1) * attrs.dilation[0] + 1
    reach_w = (w - 1) * attrs.stride[1] + (kernel_w - 1) * attrs.dilation[1] + 1
    full = np.zeros((n, out_c, max(reach_h, top + out_h), max(reach_w, left + out_w)))
    for group in range(attrs.groups):
        channels = slice(group * group_c, (group + 1) * group_c)
        outs = slice(group * per_group, (group + 1) * per_group)
        for ky in range(kernel_h):
            for kx in range(kernel_w):
                y0, x0 = ky * attrs.dilation[0], kx * attrs.dilation[1]
                rows = slice(y0, y0 + (h - 1) * attrs.stride[0] + 1, attrs.stride[0])
                columns = slice(x0, x0 + (w - 1) * attrs.stride[1] + 1, attrs.stride[1])
                full[:, outs, rows, columns] += np.einsum(
                    "nchw,co->nohw", x[:, channels], weight[channels, :, ky, kx]
                )
    return _with_bias(full[:, :, top : top + out_h, left : left + out_w], inputs, 1)


@implements(more.FloatLinear)
def _linear(attrs: more.FloatLinear, inputs: list[Array], op: Op, graph: Graph) -> Array:
    acc = inputs[0].astype(np.float64) @ inputs[1].astype(np.float64).T
    return _with_bias(acc, inputs, acc.ndim - 1)


@implements(more.FloatMatmul)
def _matmul(attrs: more.FloatMatmul, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(inputs[0].astype(np.float64) @ inputs[1].astype(np.float64), F32)


@implements(more.FloatSoftmax)
def _softmax(attrs: more.FloatSoftmax, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x = inputs[0].astype(np.float64)
    x = x - x.max(axis=attrs.dim, keepdims=True)
    total = np.exp(x).sum(axis=attrs.dim, keepdims=True)
    return np.asarray(x - np.log(total) if attrs.log else np.exp(x) / total, F32)


@implements(more.FloatAvgPool2d)
def _avg_pool2d(attrs: more.FloatAvgPool2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = graph.tensors[op.outputs[0]].shape
    x = inputs[0].astype(np.float64)
    window = (attrs.kernel, attrs.stride, attrs.padding, (1, 1), (shape[2], shape[3]), 0.0)
    total = _windows(x, *window).sum(axis=(4, 5))
    if attrs.divisor is not None:
        return np.asarray(total / attrs.divisor, F32)
    ones = np.ones((1, 1, *x.shape[2:]))
    if attrs.count_padding:
        (pad_h, pad_w), (top, left, bottom, right) = attrs.declared_padding, attrs.padding
        ones = np.pad(ones, ((0, 0), (0, 0), (pad_h, pad_h), (pad_w, pad_w)), constant_values=1.0)
        around = (top - pad_h, left - pad_w, bottom - pad_h, right - pad_w)
        window = (attrs.kernel, attrs.stride, around, (1, 1), (shape[2], shape[3]), 0.0)
    return np.asarray(total / _windows(ones, *window).sum(axis=(4, 5)), F32)


@implements(more.FloatMaxPool2d)
def _max_pool2d(attrs: more.FloatMaxPool2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = graph.tensors[op.outputs[0]].shape
    windows = _windows(
        inputs[0],
        attrs.kernel,
        attrs.stride,
        attrs.padding,
        attrs.dilation,
        (shape[2], shape[3]),
        -np.inf,
    )
    return np.asarray(windows.max(axis=(4, 5)))
