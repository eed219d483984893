# SPDX-License-Identifier: Apache-2.0
"""Random networks from a seed, of small graphs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from cortexm_tools.ir import Array, DType, Graph, channels_last, contiguous, ops
from cortexm_tools.ir.geometry import Window

from tests.support.graphs import Net


def random_network(seed: int, one: int | None = None, codes: DType = DType.S8) -> Graph:
    """A small image network whose structure, sizes and parameters follow from `seed`.

    Args:
        one: the dimension in which its input has the extent 1.
        codes: their type; with int16 parts of the network have int8 codes nevertheless.
    """
    net = Net(f"random{seed}", seed, mixed=True)
    pick = net.random.integers
    size = int(pick(4, 9))
    floats = bool(pick(0, 2))
    shape = [1, int(pick(1, 6)), size, int(pick(4, 9))]
    if one is not None:
        shape[one] = 1
    x = net.input(tuple(shape), DType.F32 if floats else codes)
    if floats:
        x = net.quantize(x, dtype=codes)
    for _ in range(int(pick(2, 8))):
        if codes is DType.S16:
            x = _otherwise(net, x)
        n, c, h, w = net.shape(x)
        choice = int(pick(0, 10))
        if choice <= 1:
            stride = (int(pick(1, 3)), int(pick(1, 3)))
            padding = tuple(int(v) for v in pick(0, 2, 4))
            kernel = (min(int(pick(1, 4)), h), min(int(pick(1, 4)), w))
            x = net.conv(x, int(pick(1, 9)), kernel, stride, padding)  # type: ignore[arg-type]
        elif choice == 2:
            x = net.conv(x, c * int(pick(1, 3)), (min(3, h), min(3, w)), depthwise=True)
        elif choice == 3:
            x = net.sum(x, net.conv(x, c))
        elif choice == 4:
            x = net.mul(net.activation(x), x)
        elif choice == 5 and min(h, w) >= 4:
            x = net.pool(x, (2, 2), largest=bool(pick(0, 2)))
        elif choice == 6:
            x = net.pad(x, (0, 0, 1, 0), (0, 0, 0, 2), int(pick(-128, 128)))
        elif choice == 7:
            x = net.transpose(x, (0, 1, 3, 2), contiguous(4) if pick(0, 2) else None)
        elif choice == 8:
            if c % 4 == 0:
                scale = net.conv(x, c, (h, w), padding=(0, 0, 0, 0), depthwise=True)
            else:
                scale = net.pool(x, (h, w), largest=False)
            if c % 2:  # a layer on one pixel
                scale = net.conv(scale, c, (1, 1), padding=(0, 0, 0, 0))
            x = net.mul(x, net.activation(scale))
        else:
            x = net.sum(x, net.codes(1, c, 1, 1, dtype=net.tensors[x].dtype))
    if pick(0, 2):
        x = net.linear(net.view(x, (net.shape(x)[0], math.prod(net.shape(x)[1:]))), 5)
        x = net.softmax(x, 1)
    if floats:
        x = net.dequantize(x)
    return net.finish(x)


def _otherwise(net: Net, x: int) -> int:
    """`x`, or what one of the operators makes of it that `random_network` has for int16 codes only."""
    pick = net.random.integers
    n, c, h, w = net.shape(x)
    kind = int(pick(0, 8))
    if kind == 0:
        return net.requantize(x, DType.S8)
    if kind == 1:
        return net.requantize(x, DType.S16) if net.is_wide(x) else x
    if kind == 2 and h * w < 80:
        return net.transpose_conv(x, int(pick(1, 6)), (int(pick(1, 4)), int(pick(1, 4))), 2)
    if kind == 3:
        rows = net.view(x, (n * c, h, w))
        return net.view(net.batch_matmul(rows, rows), (n, c, h, h))
    if kind == 4:
        return net.softmax(x, int(pick(1, 4)))
    return x if net.is_wide(x) else net.requantize(x, DType.S16)


def random_wide(seed: int) -> Graph:
    """A network of int16 codes: of any operators, of blocks for bands of rows, of branches, or one operator
    in place."""
    make = (random_network, random_tower, random_branches, random_layer)[seed % 4]
    return make(47 if seed == 31 else seed // 4, codes=DType.S16)


def random_few(seed: int) -> Graph:
    """Two convolutions of int8 or int16 codes whose pixels or groups may be computed as one: of few channels,
    and of small groups."""
    net = Net(f"few{seed}", seed)
    pick = net.random.integers

    def conv(x: int, channels: int, groups: int = 1) -> int:
        sides, stride, dilation = (
            (int(pick(1, most)), int(pick(1, most)))
            for most in ((6, 3, 3) if groups == 1 else (4, 2, 2))
        )
        first, second = ((side - 1) * step // 2 for side, step in zip(sides, dilation, strict=True))
        edges = (first, second, first, second)
        return net.conv(x, channels, sides, stride, edges, groups=groups, dilation=dilation)

    sizes = (1, int(pick(1, 4)), int(pick(8, 13)), int(pick(8, 17)))
    if seed % 4 == 3:  # the only ones for which a channel at a time is best on MVE
        inputs = net.input((1, 1, *sizes[2:]), DType.S16), net.input((1, 1, 6, 130))
        found = [net.conv(x, 1, (3, 3), padding=(1, 1, 1, 1)) for x in inputs]
        found.append(net.conv(inputs[1], 1, (9, 1), padding=(4, 0, 4, 0)))
        padded = ops.AvgPool2d(Window((3, 3), (2, 2), (1, 1, 1, 1)))
        found.append(net.add(padded, found[1:2], (1, 1, 3, 65)))
        # And one of small groups, with room for a copy of its image.
        x = net.conv(net.input((1, 8, 16, 16)), 16, (3, 3), padding=(1, 1, 1, 1), groups=8)
        x = net.pool(x, (2, 2), largest=True)
        # And one that is large enough for the kernel whose windows share columns, which takes no -128.
        large = net.conv(net.input((1, 12, 16, 16)), 12, (3, 3), padding=(1, 1, 1, 1))
        weight = net.tensors[net.ops[-1].inputs[1]]
        assert weight.data is not None
        net.tensors[net.ops[-1].inputs[1]] = replace(weight, data=weight.data.clip(-127))
        found += [net.conv(x, 16, (3, 3), groups=8), large]
        # And one of each channel alone with several outputs, with room for such a copy, too.
        few = net.input((1, 3, 6, 7))
        found += [net.conv(few, 9, (side, side), depthwise=True) for side in (3, 5)]
        found.append(net.conv(net.input((1, 6, 16, 16)), 6, (5, 5), depthwise=True))
        # And large windows of one channel.
        found.append(net.pool(net.input((1, 1, 16, 16)), (8, 8), largest=False))
        # And one of few inputs whose codes have no clamp of their own.
        narrow = net.input((1, 4, 16, 16))
        found.append(net.conv(narrow, 24, (1, 1), padding=(0, 0, 0, 0), relu=True))
        # And windows of each channel alone whose rows are longer than eight bytes.
        found.append(net.conv(net.input((1, 6, 16, 16)), 6, (5, 9), depthwise=True))
        return net.finish(*found, net.conv(net.input((1, 3, 8, 12)), 9, (3, 9), depthwise=True))
    groups = int(pick(2, 6))
    x = net.input(sizes, (DType.S8, DType.S16)[seed % 2])
    y = conv(x, groups * int(pick(1, 4)))
    return net.finish(conv(y, groups * int(pick(1, 4)), groups))


def random_precisions(seed: int) -> Graph:
    """An image network of layers that have int8 or int16 codes, each as it likes, and weights of 8 or 4
    bits: operands come to a layer's codes by one requantization, or sometimes through floats, and are
    read with their own codes by others."""
    net = Net(f"precisions{seed}", seed, mixed=True)
    pick = net.random.integers
    kinds = (DType.S8, DType.S16)
    shape = (1, int(pick(1, 9)), int(pick(3, 7)), int(pick(3, 7)))
    x = net.input(shape, (*kinds, DType.F32)[seed % 3])
    if seed % 3 == 2:
        x = net.quantize(x, dtype=kinds[seed % 2])
    live = [x]

    def to(y: int, codes: DType) -> int:
        if net.tensors[y].dtype is codes:
            return y
        if pick(0, 5):
            return net.requantize(y, codes)
        scale, zero = (0.05 / 200, 0) if net.is_wide(y) else (0.05, 3)
        return net.quantize(net.dequantize(y, scale, zero), dtype=codes)

    for _ in range(int(pick(3, 9))):
        codes = kinds[int(pick(0, 2))]
        a, b = (to(live[int(pick(0, len(live)))], codes) for _ in range(2))
        kind, channels = int(pick(0, 9)), net.shape(a)[1]
        if kind <= 2:
            window = (1, 1) if kind else (3, 3)
            edge = (0, 0, 0, 0) if kind else (1, 1, 1, 1)
            y = net.conv(a, int(pick(1, 20)), window, padding=edge)
        elif kind == 3:
            y = net.conv(a, channels, depthwise=True)
        elif kind == 4:
            y = net.activation(a)
        elif kind == 5 and net.shape(a) == net.shape(b):
            y = net.mul(a, b)
        elif kind <= 6 and channels + net.shape(b)[1] <= 24:
            y = net.concat([a, b], 1)
        else:
            same = b if net.shape(a) == net.shape(b) else to(net.conv(a, channels), codes)
            y = net.sum(a, same)
        live.append(y)
    y = live[-1]
    flat = net.view(net.pool(y, net.shape(y)[2:], largest=bool(pick(0, 2))), (1, net.shape(y)[1]))
    scores = net.linear(to(flat, kinds[int(pick(0, 2))]), int(pick(1, 9)))
    return net.finish(net.softmax(to(scores, kinds[int(pick(0, 2))]), 1), y)


def random_bytes(seed: int) -> Graph:
    """A layer on an image of bytes: their codes are the bytes less 128, or stand in a table for all channels
    or in one for each."""
    net = Net(f"bytes{seed}", seed)
    pick = net.random.integers
    shape = (1, int(pick(1, 9)), int(pick(1, 7)), int(pick(1, 7)))
    codes = DType.S16 if seed % 3 == 2 else DType.S8
    if seed % 3:
        tables = net.codes(shape[1] if seed % 2 else 1, 256, dtype=codes)
    else:
        tables = net.constant(np.arange(-128, 128).reshape(1, 256), codes)
    x = net.add(ops.Lookup(1), [net.input(shape, DType.U8), tables], shape, codes)
    return net.finish(net.conv(x, int(pick(1, 9))))


def random_narrow(seed: int) -> Graph:
    """A `random_network` for images of one channel, one row or one column."""
    return random_network(1000 + seed, one=1 + seed % 3)


def random_layer(seed: int, codes: DType = DType.S8) -> Graph:
    """One operator whose kernel may overwrite its input, of any geometry."""
    net = Net(f"layer{seed}", seed, mixed=True)
    pick = net.random.integers
    height, width = (int(v) for v in pick(3, 9, 2))
    channels = int(pick(1, 20))
    x = net.input((1, channels, height, width), DType.F32 if seed % 10 == 0 else codes)
    kernel = (int(pick(1, 4)), int(pick(1, 4)))
    stride = (int(pick(1, 3)), int(pick(1, 3)))
    padding = (*(int(pick(0, k)) for k in kernel), *(int(pick(0, k)) for k in kernel))
    tiny = 2.0**-122 if seed in (30, 39) else 0.05  # a scale for which the usual kernels are not
    if seed % 10 == 0:
        x = net.quantize(x, tiny, dtype=codes)
    elif seed % 20 == 12 and codes is DType.S8:  # windows that share columns
        x = net.input((1, 16 * (seed // 20 % 2 + 1), height, 8 * width), codes)
        net.inputs.pop(0)
        edge = (padding[0] % 2, 1, padding[2] % 2, 1)
        x = net.conv(x, 2 * int(pick(1, 10)), (3, 3), stride, edge, relu=True)
    elif seed % 10 <= 3:
        x = net.conv(x, int(pick(1, 20)), kernel, stride, padding)
    elif seed % 10 == 4:
        few = seed % 20 == 14 and codes is DType.S8  # inputs, of many pixels
        if few:
            x = net.input((1, 8 * (seed // 20 % 4 + 1), 5 * height, 6 * width), codes)
            net.inputs.pop(0)
        outputs = 4 * int(pick(1, 5)) + 8000 // (30 * height * width) // 4 * 4
        edge = (0, 0, 0, 0)
        x = net.conv(x, outputs if few else int(pick(1, 30)), (1, 1), padding=edge, relu=few)
    elif seed % 20 == 5:  # all of the image in one pixel
        channels = 4 + (seed + 3) % 16
        x = net.input((1, channels, height, width), codes)
        net.inputs.pop(0)
        whole = (height, width)
        x = net.conv(x, channels, whole, padding=(0, 0, 0, 0), depthwise=True)
    elif seed % 10 == 5:
        x = net.conv(x, channels, kernel, stride, padding, depthwise=True)
    elif seed % 10 <= 7:
        edge = [int(v) for v in pick(0, 2, 4)]
        odd = int(seed in (27, 47))  # a channel that is left of fours
        twos = seed % 120 == 16  # pixels of eight channels
        x = net.input(
            (1, 8 if twos else 4 * (seed % 3) + 8 + odd, height, 8 if twos else width), codes
        )
        net.inputs.pop(0)
        step, relu = (int(pick(1, 3)),) * 2, seed % 40 == 16 and codes is DType.S8
        step, edge = ((1, 1), [1] * 4) if twos else (step, edge)
        x = net.conv(x, net.shape(x)[1], (3, 3), step, tuple(edge), depthwise=True, relu=relu)  # type: ignore[arg-type]
    elif seed % 10 == 8:
        single = seed % 20 == 8  # channel
        x = net.input((1, 1 if single else 2 * channels, height, width), codes)
        net.inputs.pop(0)
        side = max(min(kernel), 1 + single)
        sides = (height, width) if seed == 38 else (side, side)
        x = net.pool(x, sides, largest=seed != 38 and (bool(pick(0, 2)) or seed == 8))
    else:
        x = net.dequantize(x, tiny)
    return net.finish(x)


def random_tower(seed: int, codes: DType = DType.S8) -> Graph:
    """An image network of blocks that can be computed in bands of rows."""
    net = Net(f"tower{seed}", seed, mixed=True)
    pick = net.random.integers
    floats = seed % 3 == 0
    shape = (1, int(pick(1, 9)), int(pick(6, 15)), int(pick(3, 8)))
    x = net.input(shape, DType.F32 if floats else codes)
    if floats:
        x = net.quantize(x, dtype=codes)
    for _ in range(int(pick(1, 4))):
        _, channels, height, width = net.shape(x)
        kind = int(pick(0, 4))
        if kind == 0 and min(height, width) >= 3:
            wide = net.conv(x, 4 * int(pick(2, 5)), (1, 1), padding=(0, 0, 0, 0))
            edge = [int(v) for v in pick(0, 2, 4)]
            step = (int(pick(1, 3)),) * 2
            wide = net.conv(wide, net.shape(wide)[1], (3, 3), step, tuple(edge), depthwise=True)  # type: ignore[arg-type]
            x = net.conv(wide, int(pick(1, 9)), (1, 1), padding=(0, 0, 0, 0))
        elif kind == 1:
            y = net.conv(net.conv(x, int(pick(1, 20))), channels)
            x = net.sum(x, y) if pick(0, 2) else net.sum(y, x)
        elif kind == 2 and min(height, width) >= 4:
            x = net.pool(net.conv(x, int(pick(4, 20))), (2, 2), largest=bool(pick(0, 2)))
        else:
            x = net.activation(
                net.conv(x, int(pick(1, 20)), (int(pick(3, 6)), 1), padding=(2, 0, 2, 0))
            )
    return net.finish(net.dequantize(x) if floats else x)


def random_branches(seed: int, codes: DType = DType.S8) -> Graph:
    """An image network of branches that are joined along channels, rows or columns, by whatever makes
    a branch: some are read by others too, are inputs, constants, or joined twice."""
    net = Net(f"branches{seed}", seed, mixed=True)
    pick = net.random.integers
    images = 2 if seed % 7 == 0 else 1
    x = net.input((images, int(pick(1, 9)), int(pick(3, 8)), int(pick(3, 8))), codes)
    if seed % 4 == 0:
        net.inputs.clear()
        x = net.quantize(net.input(net.shape(x), DType.F32), dtype=codes)
    outputs: list[int] = []
    for _ in range(int(pick(1, 4))):
        branches = [_branch(net, x) for _ in range(int(pick(1, 4)))]
        dim = int(pick(1, 4)) if images == 1 else 1
        if dim > 1:
            wide = net.shape(branches[0])[1]
            branches = [
                b if net.shape(b)[1] == wide else net.conv(b, wide, (1, 1), padding=(0, 0, 0, 0))
                for b in branches
            ]
        if net.shape(branches[0])[dim] < 3 and pick(0, 2):
            branches += (
                [branches[0]] if pick(0, 2) else [net.codes(*net.shape(branches[0]), dtype=codes)]
            )
        if dim == 1 and pick(0, 3) == 0:
            branches = [net.concat(branches[:2], dim), *branches[2:]]
        joined = net.concat(branches, dim)
        if pick(0, 3) == 0:
            outputs.append(branches[int(pick(0, len(branches)))])
        x = net.activation(joined) if pick(0, 3) == 0 else joined
        if math.prod(net.shape(x)) > 3000:
            x = net.conv(x, 4, (3, 3), (2, 2))
    flat = net.view(net.pool(x, net.shape(x)[2:], largest=True), (images, net.shape(x)[1]))
    features = [net.linear(flat, int(pick(1, 9))) for _ in range(int(pick(1, 4)))]
    features[0] = net.activation(features[0])
    outputs.append(net.concat(features, 1))
    results = [i for i in dict.fromkeys(outputs) if net.tensors[i].data is None]
    return net.finish(*(i for i in results if i not in net.inputs))


def _branch(net: Net, x: int) -> int:
    """Something of the extents of `x`, with any number of channels."""
    pick = net.random.integers
    images, channels, height, width = net.shape(x)
    kind = int(pick(0, 11))
    if kind == 0:
        return x
    if kind >= 9:
        x = net.conv(x, int(pick(1, 20)))
    if kind == 1:
        return net.activation(net.conv(x, int(pick(1, 9))))
    if kind == 2:
        return net.conv(x, channels, depthwise=True)
    if kind == 3:
        limits = net.tensors[x].dtype.limits
        attrs = ops.MaxPool2d(Window((3, 3), (1, 1), (1, 1, 1, 1)), *limits)
        return net.add(attrs, [x], net.shape(x))
    if kind == 4:
        cut = ops.Slice((0, channels // 2, 0, 0), (1, 1, 1, 1))
        return net.add(cut, [x], (images, channels - channels // 2, height, width))
    if kind == 5:
        return net.transpose(net.transpose(x, (0, 1, 3, 2)), (0, 1, 3, 2), channels_last(4))
    if kind == 6:
        return net.sum(x, net.conv(x, channels))
    return net.conv(x, 4 * int(pick(1, 9)) if pick(0, 2) else int(pick(1, 20)))


ATTENTION_MASKS = ("none", "where", "keys", "add", "each", "wide", "given")


def random_attention(seed: int, mask: str = "") -> Graph:
    """Heads of q k^T, mask, softmax, times v, of any sizes; the values are copied in the middle. Of even
    seeds the heads lie side by side in rows, from where they are read, and where they are written.

    Args:
        mask: one of ATTENTION_MASKS, which take turns otherwise.
    """
    net = Net(f"attention{seed}", seed)
    mask = mask or ATTENTION_MASKS[seed % len(ATTENTION_MASKS)]
    heads, rows, keys, width = (int(v) for v in net.random.integers((1, 5, 3, 2), (5, 20, 20, 12)))
    dtype = DType.S16 if mask == "wide" or seed % 3 == 2 else DType.S8
    query, key, value = (net.input((heads, n, width), dtype) for n in (rows, keys, keys))
    if seed % 2 == 0:
        query, key, value = (
            net.transpose(net.view(each, (n, heads, width)), (1, 0, 2))
            for each, n in ((query, rows), (key, keys), (value, keys))
        )
    x = net.batch_matmul(query, key)
    if mask == "wide":
        x = net.requantize(x, DType.S16)
    x = net.view(x, (1, heads, rows, keys))
    shape = (1, heads if mask == "each" else 1, 1 if mask == "keys" else rows, keys)
    if mask in ("where", "keys", "each", "given"):
        if mask == "given":  # at run time, for all queries or for each
            condition = net.input((1, 1, rows if seed % 4 == 1 else 1, keys), DType.BOOL)
            net.tensors[condition] = replace(net.tensors[condition], dim_order=contiguous(4))
        else:
            condition = net.constant(net.random.integers(0, 2, shape), DType.BOOL)
        least = net.constant(np.full((1,), dtype.limits[0]), dtype)
        x = net.add(
            ops.Where(), [condition, least, x], (1, heads, rows, keys), dtype, contiguous(4)
        )
    elif mask == "add":
        other = net.codes(*shape, dtype=dtype)
        x = net.sum(x, other)
        net.tensors[x] = replace(net.tensors[x], dim_order=contiguous(4))
    x = net.view(net.softmax(x, 3), (heads, rows, keys))
    x = net.batch_matmul(x, net.transpose(value, (0, 2, 1)))
    if seed % 2 == 0:
        x = net.view(net.transpose(x, (1, 0, 2)), (rows, heads * width))
    return net.finish(x, net.activation(value))


def random_gate(seed: int) -> Graph:
    """A product of one tensor with a function of codes of another one, or of two parts of one tensor: of the
    channels of an image, of another dimension, or of a linear layer's rows. Of every fifth the function has
    another reader. Six of twelve are of int16, with tables of any steps or of small ones. From 24 on it is
    one of two parts of int8 without a function, of 1,024 elements or more, and from 36 on of int16."""
    net = Net(f"gate{seed}", seed, mixed=True)
    pick = net.random.integers
    is_plain = seed >= 24
    is_wide = seed >= 36 if is_plain else seed % 12 >= 6
    of = DType.S16 if is_wide else DType.S8
    sizes = (1, 12, 16, 17, 32) if is_plain else (1, 5, 8, 17, 33)
    size = int((*sizes, int(pick(2, 40)))[seed % 6])
    least = -(-1024 // size) if is_plain else 1
    kind = seed % 4 if not is_plain else 1 + seed % 3
    if kind == 0:  # separate layers
        x = net.input((int(pick(1, 7)), int(pick(1, 20))), of)
        a, b = net.linear(x, size), net.linear(x, size)
    else:
        dim = 1
        if kind == 1:
            image = (1, int(pick(1, 6)), max(int(pick(3, 6)), -(-least // 4)), 4)
            whole = net.conv(net.input(image, of), 2 * size)
        elif kind == 2:
            rows = max(int(pick(1, 7)), least)
            whole = net.linear(net.input((rows, int(pick(1, 20))), of), 2 * size)
        else:
            dim = int(pick(0, 3))
            shape = [int(pick(1, 5)) for _ in range(3)]
            shape[dim - 1] = max(shape[dim - 1], least)
            shape[dim] = 2 * size
            whole = net.input(tuple(shape), of)
        shape = list(net.shape(whole))
        shape[dim] = size
        begins = [tuple(n if d == dim else 0 for d in range(len(shape))) for n in (0, size)]
        a, b = (
            net.add(
                *(ops.Slice(begin, (1,) * len(shape)), [whole], tuple(shape)),
                order=net.tensors[whole].dim_order,
            )
            for begin in begins
        )
        if pick(0, 2):
            a, b = b, a
    if is_plain:
        return net.finish(net.mul(a, b))
    y = net.activation(b, smooth=seed % 12 >= 6 and bool(pick(0, 2)))
    gate = net.mul(y, a) if pick(0, 2) else net.mul(a, y)
    return net.finish(gate, *((net.activation(y),) if seed % 5 == 4 else ()))


def random_mixture(seed: int) -> Graph:
    """A network of several float inputs, each quantized, that meet in operators of two operands: often
    in the first one. Some inputs are read again later, some results are outputs."""
    net = Net(f"mixture{seed}", seed, mixed=True)
    pick = net.random.integers
    shape = (1, int(pick(1, 6)), int(pick(2, 6)), int(pick(2, 6)))
    live = []
    for _ in range(int(pick(2, 5))):
        own = shape if pick(0, 4) else (*shape[:2], 1, 1)
        live.append(net.quantize(net.input(own, DType.F32)))
    if net.shape(live[0]) != shape:
        live.insert(0, net.quantize(net.input(shape, DType.F32)))
    outputs = []
    for _ in range(int(pick(1, 7))):
        a, b = (live[int(i)] for i in pick(0, len(live), 2))
        x = _mixed(net, a, b, shape)
        if pick(0, 3):
            live = [index for index in live if index not in (a, b)]
        live.append(x)
        if pick(0, 5) == 0:
            outputs.append(x)
    results = dict.fromkeys((*outputs, live[-1]))
    return net.finish(*(net.dequantize(index) for index in results))


def _mixed(net: Net, a: int, b: int, shape: tuple[int, ...]) -> int:
    """What an operator makes of two tensors; of `shape`, unless both have one pixel."""
    pick = net.random.integers
    kind = int(pick(0, 8))
    if kind == 0:
        return net.activation(a)
    if kind == 1:
        return net.mul(a, b)
    if kind == 2 and net.shape(a) == net.shape(b):
        attrs = ops.Minimum() if pick(0, 2) else ops.Maximum()
        return net.add(attrs, [a, b], net.shape(a))
    if kind == 3 and net.shape(a) == net.shape(b) == shape:
        return net.conv(net.concat([a, b], 1), shape[1], (1, 1), padding=(0, 0, 0, 0))
    if kind == 4 and net.shape(a) == shape:
        return net.sum(net.conv(a, shape[1]), b)
    if kind == 5 and net.shape(a) == shape:
        return net.sum(b, net.conv(a, shape[1], depthwise=True))
    return net.sum(a, b)


def random_inputs(graph: Graph, seed: int) -> list[Array]:
    """Codes over the whole range, or floats around zero with a few far out."""
    random = np.random.default_rng(seed)
    result: list[Array] = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        if tensor.dtype is DType.F32:
            result.append(random.normal(0, 3, tensor.shape).astype(np.float32))
        elif tensor.dtype is DType.BOOL:
            result.append(random.integers(0, 2, tensor.shape).astype(np.bool_))
        else:
            limits = np.iinfo(tensor.dtype.numpy)
            result.append(
                random.integers(limits.min, limits.max + 1, tensor.shape).astype(tensor.dtype.numpy)
            )
    return result
