# SPDX-License-Identifier: Apache-2.0
"""Random graphs in which bytes become codes by operators of floats."""

from __future__ import annotations

import numpy as np

from cortexm_tools.ir import Array, DType, Graph, contiguous, ops

from tests.support.graphs import Net


def images(graph: Graph) -> list[Array]:
    """Inputs of any bytes."""
    random = np.random.default_rng(1)
    shapes = [graph.tensors[index].shape for index in graph.inputs]
    return [random.integers(0, 256, shape).astype(np.uint8) for shape in shapes]


def normalized(net: Net, x: int, dim: int) -> int:
    """(x / 255 - mean) / std, or steps like these in any order, with numbers or channels along `dim`."""
    shape, pick = net.shape(x), net.random.integers
    real = net.add(ops.Cast(), [x], shape, DType.F32, net.tensors[x].dim_order)
    for _ in range(int(pick(0, 4))):
        own = [1] * len(shape)
        own[dim] = shape[dim] if pick(0, 2) else 1
        values = net.random.uniform(0.2, 3.0, own).astype(np.float32)
        constant = net.constant(values, DType.F32)
        if pick(0, 3) == 0:
            constant = net.add(ops.Expand(), [constant], shape, DType.F32)
        name = ("add", "sub", "mul", "div")[int(pick(0, 4))]
        real = net.add(ops.Binary(name), [real, constant], shape, DType.F32)
        if pick(0, 4) == 0:
            real = net.add(ops.Clamp(-1.0, 300.0), [real], shape, DType.F32)
    return real


def to_nchw(net: Net, x: int) -> int:
    """An image [N, H, W, C] as [N, C, H, W], in C order."""
    n, h, w, c = net.shape(x)
    dtype = net.tensors[x].dtype
    return net.add(ops.Transpose((0, 3, 1, 2)), [x], (n, c, h, w), dtype, contiguous(4))


def random_chain(seed: int) -> Graph:
    """Bytes, in either order, to a convolution on codes, by a random way."""
    net = Net("bytes", seed)
    pick = net.random.integers
    codes = DType.S16 if pick(0, 4) == 0 else DType.S8
    channels, height, width = (int(pick(low, 7)) for low in (1, 3, 3))
    nhwc = bool(pick(0, 2))
    shape = (1, height, width, channels) if nhwc else (1, channels, height, width)
    x = net.input(shape, DType.U8, contiguous(4))
    x = normalized(net, x, 3 if nhwc else 1)
    early = nhwc and bool(pick(0, 2))
    if early:
        x = to_nchw(net, x)
    x = net.quantize(x, dtype=codes)
    if nhwc and not early:
        x = to_nchw(net, x)
    if pick(0, 3) == 0:
        x = net.activation(x)
    if pick(0, 4) == 0:
        x = net.sum(x, net.codes(1, channels, 1, 1, dtype=codes))
    return net.finish(net.conv(x, 4))
