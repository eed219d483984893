# SPDX-License-Identifier: Apache-2.0
"""Random graphs of one float operator each: shapes, parameters and layouts follow from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cortexm_tools.ir import Array, DType, Graph, channels_last, contiguous, ops
from cortexm_tools.ir.exactness import is_exact
from cortexm_tools.ir.geometry import Window

from tests.support.graphs import Net

F32 = DType.F32
INTEGERS = (DType.S32, DType.S64)
INEXACT_UNARY = tuple(name for name in ops.UNARY_FUNCTIONS if not is_exact(ops.Unary(name)))

# Values at which functions have poles, kinks, ties or no value.
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 6.0, 1e-30, 88.0, -88.0, 1e30]
    + [np.inf, -np.inf, np.nan],
    np.float32,
)


def pick(net: Net, low: int, high: int) -> int:
    """A random integer in [low, high]."""
    return int(net.random.integers(low, high + 1))


def floats(net: Net, shape: tuple[int, ...]) -> Array:
    return net.random.normal(0, 1, shape).astype(np.float32)


def weights(net: Net, *shape: int) -> int:
    return net.constant(floats(net, shape), F32)


def layout(net: Net, rank: int) -> tuple[int, ...]:
    """Mostly the two usual layouts, sometimes any other."""
    choice = pick(net, 0, 3)
    if choice == 0 or rank < 2:
        return contiguous(rank)
    if choice < 3:
        return channels_last(rank)
    return tuple(int(d) for d in net.random.permutation(rank))


def values(graph: Graph, seed: int, *, special: bool = False) -> list[Array]:
    """Inputs around zero; with `special`, a third of them from SPECIAL."""
    random = np.random.default_rng(seed)
    result: list[Array] = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        if tensor.dtype is F32:
            value = random.normal(0, 3, tensor.shape).astype(np.float32)
            if special:
                chosen = random.choice(SPECIAL, tensor.shape)
                value = np.where(random.integers(0, 3, tensor.shape) == 0, chosen, value)
            result.append(np.asarray(value, np.float32))
        else:
            result.append(integers(random, tensor.shape, tensor.dtype))
    return result


def integers(random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    """A third of them the lowest number or near zero."""
    limits = np.iinfo(dtype.numpy)
    drawn = random.integers(limits.min, limits.max, shape, dtype=dtype.numpy, endpoint=True)
    special = np.array([limits.min, limits.min + 1, -7, -1, 0, 1, 7], drawn.dtype)
    chosen = random.choice(special, shape)
    return np.asarray(np.where(random.integers(0, 3, shape) == 0, chosen, drawn), drawn.dtype)


def unary(seed: int, function: str) -> Graph:
    net = Net(function, seed)
    shape = tuple(pick(net, 1, 5) for _ in range(pick(net, 0, 4)))
    order = layout(net, len(shape))
    alpha, scale, input_scale = (float(v) for v in net.random.uniform(0.1, 2.0, 3))
    attrs = ops.Unary(function, alpha, scale, input_scale)
    return net.finish(net.add(attrs, [net.input(shape, F32, order)], shape, F32, order))


def _broadcast(net: Net, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`."""
    own = tuple(1 if pick(net, 0, 2) == 0 else extent for extent in shape)
    return own[pick(net, 0, len(own)) if pick(net, 0, 2) == 0 else 0 :]


def _operand(net: Net, shape: tuple[int, ...], dtype: DType) -> int:
    """An input that broadcasts to `shape`, in some layout."""
    own = _broadcast(net, shape)
    return net.input(own, dtype, layout(net, len(own)))


def _divisor(net: Net, shape: tuple[int, ...], dtype: DType) -> int:
    """Integers other than zero, that broadcast to `shape`."""
    drawn = integers(net.random, _broadcast(net, shape), dtype)
    return net.constant(np.where(drawn == 0, 7, drawn), dtype)


def binary(seed: int, attrs: ops.Attrs, dtype: DType = F32) -> Graph:
    """Two operands that broadcast, of up to six dimensions; sometimes one operand twice.

    Integers are divided by a constant.
    """
    net = Net("binary", seed)
    shape = tuple(pick(net, 1, 4) for _ in range(pick(net, 0, 6)))
    a = _operand(net, shape, dtype)
    if dtype in INTEGERS and getattr(attrs, "function", "") in ops.INTEGER_DIVISIONS:
        b = _divisor(net, shape, dtype)
    else:
        b = a if pick(net, 0, 9) == 0 else _operand(net, shape, dtype)
    out = np.broadcast_shapes(net.shape(a), net.shape(b))
    return net.finish(net.add(attrs, [a, b], out, dtype, layout(net, len(out))))


def clamp(seed: int, dtype: DType) -> Graph:
    net = Net("clamp", seed)
    shape = (pick(net, 1, 3), pick(net, 1, 40))
    if dtype is F32:
        low, high = sorted(float(np.float32(v)) for v in net.random.normal(0, 2, 2))
    else:
        limits = np.iinfo(dtype.numpy)
        drawn = net.random.integers(limits.min, limits.max, 2, endpoint=True, dtype=dtype.numpy)
        low, high = sorted(int(v) for v in drawn)
    bounds = [(low, high), (None, high), (low, None)][pick(net, 0, 2)]
    return net.finish(net.add(ops.Clamp(*bounds), [net.input(shape, dtype)], shape, dtype))


def _extent(size: int, kernel: int, stride: int, dilation: int, before: int, after: int) -> int:
    return (size + before + after - dilation * (kernel - 1) - 1) // stride + 1


def convolution(seed: int) -> Graph:
    net = Net("convolution", seed)
    groups = pick(net, 1, 3)
    in_c, out_c = groups * pick(net, 1, 4), groups * pick(net, 1, 4)
    return net.finish(_convolution(net, in_c, out_c, groups, 7))


def channels(seed: int) -> Graph:
    """Each is a group of one output."""
    net = Net("channels", seed)
    groups = pick(net, 2, 9)
    return net.finish(_convolution(net, groups, groups, groups, 20))


def near_channels(seed: int) -> Graph:
    """The same side by side, first few of them, or planes of long rows, of windows that no more than half lie
    outside the image, and so many that their kernels are worth it."""
    net = Net("near_channels", seed)
    kernels = (3, 3), (3, 3), (pick(net, 1, 3), pick(net, 4, 7)), (pick(net, 4, 9), 1), (2, 5)
    kernels = (*kernels, (1, pick(net, 1, 4) * 2 + 1))
    outs = []
    others = [(pick(net, 1, 2), pick(net, 2, 9)) for _ in range(2)]
    rows = (pick(net, 0, 1) * 6 + 1, 7), (1, pick(net, 1, 4) * 2 + 1), (3, 3)
    for kernel in (*kernels, *others, *rows, (pick(net, 2, 7), 1)):
        order = channels_last(4) if len(outs) < len(kernels) else contiguous(4)
        groups = pick(net, 8, 21) if outs else pick(net, 2, 7)
        stride = pick(net, 1, 2) if kernel == (3, 3) else 1
        dilation = 1 if kernel == (3, 3) else pick(net, 1, 2)
        if len(outs) in (4, 5, 7, 8, 9):
            stride, dilation = pick(net, 1, 2) if len(outs) == 5 else 2 if len(outs) < 8 else 1, 1
        least = 8 if len(outs) in (7, 11) else 17
        sizes = pick(net, 8, 9) + kernel[0], pick(net, least, 33) + kernel[1]
        padding = tuple(pick(net, 0, side // 2) for side in kernel * 2)
        if len(outs) == 5 or len(outs) > 7:  # all of it, or none
            padding = tuple(pick(net, 0, 1) * (side // 2) for side in kernel * 2)
        x = net.input((1, groups, *sizes), F32, order)
        operands = [x, weights(net, groups, 1, *kernel)]
        if pick(net, 0, 3):
            operands.append(weights(net, groups))
        out = [
            _extent(sizes[a], kernel[a], stride, dilation, padding[a], padding[2 + a])
            for a in (0, 1)
        ]
        window = Window(kernel, (stride, stride), padding, (dilation, dilation))  # type: ignore[arg-type]
        attrs = ops.FloatConv2d(window, groups)
        outs.append(net.add(attrs, operands, (1, groups, *out), F32, order))
    outs.append(_sixteen_by_two(net))
    return net.finish(*outs)


def _sixteen_by_two(net: Net) -> int:
    """Sixteen such channels of 3x3 windows two apart, enough for a kernel of their own beside others."""
    sizes = pick(net, 23, 26), pick(net, 30, 33)
    padding = (pick(net, 0, 1), pick(net, 0, 1), pick(net, 0, 1), pick(net, 0, 1))
    out = [_extent(sizes[a], 3, 2, 1, padding[a], padding[2 + a]) for a in (0, 1)]
    order = channels_last(4)
    operands = [net.input((1, 16, *sizes), F32, order), weights(net, 16, 1, 3, 3), weights(net, 16)]
    attrs = ops.FloatConv2d(Window((3, 3), (2, 2), padding), 16)
    return net.add(attrs, operands, (1, 16, *out), F32, order)


def lines_of_channels(seed: int) -> Graph:
    """The same in planes, of windows of one row two columns apart, and of one column, and side by side, of
    dilated 3x3 windows."""
    net = Net("lines_of_channels", seed)
    outs = []
    line, column, apart = (
        (1, pick(net, 1, 3) * 2 + 1),
        (pick(net, 1, 2) * 2 + 1, 1),
        pick(net, 2, 3),
    )
    for kernel, stride, dilation in (
        (line, (1, 2), 1),
        (column, (pick(net, 1, 2), 1), 1),
        ((3, 3), (1, 1), apart),
    ):
        groups = pick(net, 8, 21)
        order = channels_last(4) if dilation > 1 else contiguous(4)
        sizes = pick(net, 1, 2), pick(net, 37, 130)
        if kernel != line:
            sizes = pick(net, 12, 40), pick(net, 12, 21)
        if kernel == column and pick(net, 0, 1):
            sizes = sizes[0], 8  # rows that follow one another
        most = [side // 2 * dilation for side in kernel]
        padding = tuple(pick(net, 0, 1) * pad for pad in most * 2)
        batches = pick(net, 1, 2)
        x = net.input((batches, groups, *sizes), F32, order)
        operands = [x, weights(net, groups, 1, *kernel)]
        if pick(net, 0, 3):
            operands.append(weights(net, groups))
        out = [
            _extent(sizes[a], kernel[a], stride[a], dilation, padding[a], padding[2 + a])
            for a in (0, 1)
        ]
        window = Window(kernel, stride, padding, (dilation, dilation))  # type: ignore[arg-type]
        attrs = ops.FloatConv2d(window, groups)
        outs.append(net.add(attrs, operands, (batches, groups, *out), F32, order))
    return net.finish(*outs)


def planes_of_pixels(seed: int) -> Graph:
    """Convolutions of planes with 1x1 windows, of few inputs or outputs, and so many pixels that their kernel
    is worth it."""
    net = Net("planes_of_pixels", seed)
    outs = []
    for most in (1, 2, 9):
        in_c, out_c = pick(net, 1, most), pick(net, 2 if most == 1 else 1, 4)
        sizes = pick(net, 1, 2), pick(net, 7, 9), pick(net, 11, 20)
        x = net.input((sizes[0], in_c, *sizes[1:]), F32, contiguous(4))
        operands = [x, weights(net, out_c, in_c, 1, 1)]
        if pick(net, 0, 3):
            operands.append(weights(net, out_c))
        attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
        outs.append(net.add(attrs, operands, (sizes[0], out_c, *sizes[1:]), F32, contiguous(4)))
    return net.finish(*outs)


def _convolution(net: Net, in_c: int, out_c: int, groups: int, most: int) -> int:
    """Of an image of up to so many rows and columns."""
    kernel = (pick(net, 1, 3), pick(net, 1, 4))
    stride, dilation = (pick(net, 1, 3), pick(net, 1, 2)), (pick(net, 1, 2), pick(net, 1, 3))
    padding = tuple(pick(net, 0, k * d) for k, d in zip(kernel * 2, dilation * 2, strict=True))
    size = [
        max(pick(net, 1, most), d * (k - 1) + 1 - before - after)
        for k, d, before, after in zip(kernel, dilation, padding[:2], padding[2:], strict=True)
    ]
    shape = (pick(net, 1, 2), in_c, *size)
    x = net.input(shape, F32, layout(net, 4))
    operands = [x, weights(net, out_c, in_c // groups, *kernel)]
    if pick(net, 0, 1):
        operands.append(weights(net, out_c))
    out = [
        _extent(size[a], kernel[a], stride[a], dilation[a], padding[a], padding[2 + a])
        for a in (0, 1)
    ]
    attrs = ops.FloatConv2d(Window(kernel, stride, padding, dilation), groups)  # type: ignore[arg-type]
    return net.add(attrs, operands, (shape[0], out_c, *out), F32, layout(net, 4))


def transpose_convolution(seed: int) -> Graph:
    net = Net("transpose_convolution", seed)
    groups = pick(net, 1, 3)
    in_c, per_group = groups * pick(net, 1, 3), pick(net, 1, 3)
    kernel = (pick(net, 1, 4), pick(net, 1, 3))
    stride, dilation = (pick(net, 1, 3), pick(net, 1, 3)), (pick(net, 1, 2), pick(net, 1, 2))
    shape = (pick(net, 1, 2), in_c, pick(net, 1, 4), pick(net, 1, 4))
    full = [(shape[2 + a] - 1) * stride[a] + dilation[a] * (kernel[a] - 1) + 1 for a in (0, 1)]
    cut = tuple(pick(net, 0, (extent - 1) // 2) for extent in full)
    # What output_padding adds may lie beyond the full result.
    out = [f - 2 * c + pick(net, 0, 1) for f, c in zip(full, cut, strict=True)]
    x = net.input(shape, F32, layout(net, 4))
    operands = [x, weights(net, in_c, per_group, *kernel)]
    if pick(net, 0, 1):
        operands.append(weights(net, groups * per_group))
    attrs = ops.FloatTransposeConv2d(Window(kernel, stride, cut * 2, dilation), groups)  # type: ignore[arg-type]
    result = net.add(attrs, operands, (shape[0], groups * per_group, *out), F32, layout(net, 4))
    return net.finish(result)


def linear(seed: int) -> Graph:
    """Some of one row, of two outputs more than eights."""
    net = Net("linear", seed)
    inner, out = pick(net, 1, 20), pick(net, 1, 9)
    lead = tuple(pick(net, 1, 4) for _ in range(pick(net, 0, 3)))
    if seed % 8 == 7:
        inner, out, lead = 4 * inner, 10 + 8 * (out % 2), ()
    operands = [net.input((*lead, inner), F32), weights(net, out, inner)]
    if pick(net, 0, 1):
        operands.append(weights(net, out))
    return net.finish(net.add(ops.FloatLinear(), operands, (*lead, out), F32))


def matmul(seed: int) -> Graph:
    """mm, bmm or more leading dimensions; the right operand sometimes a transposed constant."""
    net = Net("matmul", seed)
    rows, inner, cols = pick(net, 1, 5), pick(net, 1, 17), pick(net, 1, 6)
    lead = tuple(pick(net, 1, 3) for _ in range(pick(net, 0, 2)))
    rank = len(lead) + 2
    a = net.input((*lead, rows, inner), F32, layout(net, rank))
    if not lead and pick(net, 0, 1):
        b = net.add(ops.Transpose((1, 0)), [weights(net, cols, inner)], (inner, cols), F32)
    else:
        b = net.input((*lead, inner, cols), F32, layout(net, rank))
    operands = [a, b]
    if pick(net, 0, 1):
        operands.append(weights(net, *((cols,), (rows, cols), (rows, 1), ())[pick(net, 0, 3)]))
    return net.finish(net.add(ops.FloatMatmul(), operands, (*lead, rows, cols), F32))


def pool(seed: int) -> Graph:
    net = Net("pool", seed)
    kernel, stride = (pick(net, 1, 4), pick(net, 1, 3)), (pick(net, 1, 3), pick(net, 1, 3))
    padding = tuple(pick(net, 0, k // 2) for k in kernel)
    largest = bool(pick(net, 0, 1))
    dilation = (pick(net, 1, 2), pick(net, 1, 2)) if largest else (1, 1)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    size = [extent + pick(net, 0, 5) for extent in reach]
    shape = (pick(net, 1, 2), pick(net, 1, 5), *size)
    out, after = [], []
    for axis in (0, 1):
        room = shape[2 + axis] + 2 * padding[axis] - reach[axis]
        size = room // stride[axis] + 1
        # ceil_mode: one more window if it begins inside the image or its leading padding.
        if pick(net, 0, 1) and room % stride[axis]:
            size += size * stride[axis] < shape[2 + axis] + padding[axis]
        out.append(size)
        needed = (size - 1) * stride[axis] + reach[axis] - shape[2 + axis] - padding[axis]
        after.append(max(needed, padding[axis]))
    window = Window(kernel, stride, (*padding, *after), dilation)  # type: ignore[arg-type]
    attrs: ops.Attrs
    if largest:
        attrs = ops.FloatMaxPool2d(window)
    else:
        divisor = pick(net, 1, 9) if pick(net, 0, 2) == 0 else None
        counts = bool(pick(net, 0, 1))
        attrs = ops.FloatAvgPool2d(window, padding, counts, divisor)  # type: ignore[arg-type]
    x = net.input(shape, F32, layout(net, 4))
    return net.finish(net.add(attrs, [x], (*shape[:2], *out), F32, layout(net, 4)))


def softmax(seed: int) -> Graph:
    net = Net("softmax", seed)
    shape = tuple(pick(net, 1, 6) for _ in range(pick(net, 1, 4)))
    attrs = ops.FloatSoftmax(pick(net, 0, len(shape) - 1), bool(pick(net, 0, 1)))
    order = layout(net, len(shape))
    return net.finish(net.add(attrs, [net.input(shape, F32, order)], shape, F32, order))


def layer_norm(seed: int) -> Graph:
    net = Net("layer_norm", seed)
    shape = tuple(pick(net, 1, 6) for _ in range(pick(net, 1, 4)))
    rows = shape[pick(net, 0, len(shape) - 1) :]
    operands = [net.input(shape, F32, layout(net, len(shape))), weights(net, *rows)]
    operands.append(weights(net, *rows))
    attrs = ops.FloatLayerNorm(math.prod(rows), 1e-5)
    return net.finish(net.add(attrs, operands, shape, F32, layout(net, len(shape))))


def group_norm(seed: int) -> Graph:
    net = Net("group_norm", seed)
    groups = pick(net, 1, 3)
    channels = groups * pick(net, 1, 4)
    shape = (pick(net, 1, 2), channels, *(pick(net, 1, 5) for _ in range(pick(net, 0, 2))))
    x = net.input(shape, F32, layout(net, len(shape)))
    operands = [x, weights(net, channels), weights(net, channels)]
    attrs = ops.FloatGroupNorm(groups, 1e-3)
    return net.finish(net.add(attrs, operands, shape, F32, layout(net, len(shape))))


def moves(seed: int) -> Graph:
    """Images so large that MVE copies their words as halves: padded, joined and turned, and turned into the
    result that joins them."""
    net = Net("moves", seed)
    channels, height, width = pick(net, 1, 9), pick(net, 6, 12), pick(net, 6, 12)
    order = layout(net, 4)
    x, y = (net.input((1, channels, height, width), F32, order) for _ in range(2))
    pad = ops.Pad((0, 0, 1, 2), (0, 0, 1, 0), 0)
    turned = [
        net.add(ops.Transpose((0, 1, 3, 2)), [z], (1, channels, width, height), F32, order)
        for z in (x, y)
    ]
    return net.finish(
        net.add(ops.Concat(1), turned, (1, 2 * channels, width, height), F32, order),
        net.add(pad, [x], (1, channels, height + 2, width + 2), F32, order),
        net.add(ops.Concat(1), [x, y], (1, 2 * channels, height, width), F32, order),
        net.add(ops.Transpose((0, 2, 3, 1)), [x], (1, height, width, channels), F32, order),
    )


LAYERS: dict[str, Callable[[int], Graph]] = {
    "convolution": convolution,
    "channels": channels,
    "near_channels": near_channels,
    "planes_of_pixels": planes_of_pixels,
    "lines_of_channels": lines_of_channels,
    "transpose_convolution": transpose_convolution,
    "linear": linear,
    "matmul": matmul,
    "pool": pool,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "group_norm": group_norm,
    "moves": moves,
}
