# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools in one dimension, and forms that the dialect's operators lack.

One dimension is two with an extent of 1 above. A transposed convolution with dilation or groups is
one whose kernel has zeros in between or in the blocks that join different groups; one with output
padding is one whose input has a row and column of zeros more, cut to size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .builder import Builder, Table, numbers, shape_of
from .pooling import average, windows

_aten = torch.ops.aten

# What ExecuTorch's quantizer takes into the convolution before it.
_FUSED = {
    _aten.relu.default, _aten.relu_.default, _aten.relu6.default, _aten.relu6_.default,
    _aten.hardtanh.default, _aten.hardtanh_.default,
    _aten.hardsigmoid.default, _aten.hardsigmoid_.default, _aten.clamp.default, _aten.clamp_.default,
}  # fmt: skip
_CONVOLUTIONS = {_aten.conv2d.default, _aten.conv_transpose2d.input}
_VIEWS = {
    _aten.squeeze.dim, _aten.reshape.default, _aten.permute.default, _aten.transpose.int,
}  # fmt: skip


def join_activations(module: GraphModule, precision_of: Callable[[Node], object]) -> None:
    """Activations stand right behind the convolutions that fuse them, and what gives the result
    another shape or order behind both, in place.

    Otherwise the convolution has codes for what the activation cuts off, and the activation is an
    operator of its own.
    """
    for node in list(module.graph.nodes):
        if node.target not in _FUSED:
            continue
        views: list[Node] = []
        source = node.args[0]
        while isinstance(source, Node) and source.target in _VIEWS and len(source.users) == 1:
            views.append(source)
            source = source.args[0]
        if not views or not isinstance(source, Node) or source.target not in _CONVOLUTIONS:
            continue
        if len(source.users) != 1 or precision_of(source) != precision_of(node):
            continue
        build = Builder(module, node)
        result = build(node.target, source, *node.args[1:], **node.kwargs)
        for view in reversed(views):
            result = build(view.target, result, *view.args[1:], **view.kwargs)
        node.replace_all_uses_with(result)
        for old in (node, *views):
            module.graph.erase_node(old)


def _convolution_1d(build: Builder) -> Node | None:
    args = build.arguments()
    weight = build.value(args["weight"])
    if shape_of(args["input"]) is None or weight is None or len(shape_of(args["input"]) or ()) != 3:
        return None
    wide = build(_aten.unsqueeze.default, args["input"], 2)
    stride, dilation = numbers(args["stride"], 1), numbers(args["dilation"], 1)
    before, after = _padding(args["padding"], weight.shape[2:], dilation)
    if before != after:
        wide = build(_aten.constant_pad_nd.default, wide, [before[0], after[0], 0, 0], 0.0)
        before = [0]
    result = build(
        _aten.conv2d.default, wide, build.constant(weight.unsqueeze(2)), args["bias"],
        [1, *stride], [0, *before], [1, *dilation], args["groups"],
    )  # fmt: skip
    return build(_aten.squeeze.dim, result, 2)


def _padding(
    padding: object, kernel: torch.Size, dilation: list[int]
) -> tuple[list[int], list[int]]:
    """Padding before and after each dimension; "same" puts the odd one after."""
    if padding == "valid":
        return [0] * len(kernel), [0] * len(kernel)
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        return [n // 2 for n in total], [n - n // 2 for n in total]
    both = numbers(padding, len(kernel))
    return both, both


def _convolution_same(build: Builder) -> Node | None:
    args = build.arguments()
    weight = build.value(args["weight"])
    if len(shape_of(args["input"]) or ()) != 4 or weight is None:
        return None
    dilation = numbers(args["dilation"], 2)
    before, after = _padding(args["padding"], weight.shape[2:], dilation)
    source = args["input"]
    if before != after:
        pads = [before[1], after[1], before[0], after[0]]
        source = build(_aten.constant_pad_nd.default, source, pads, 0.0)
        before = [0, 0]
    return build(
        _aten.conv2d.default, source, args["weight"], args["bias"],
        numbers(args["stride"], 2), before, dilation, args["groups"],
    )  # fmt: skip


def _dense_kernel(weight: torch.Tensor, groups: int, dilation: list[int]) -> torch.Tensor:
    """The kernel [C_in, C_out, H, W] without groups and dilation of a transposed convolution's
    [C_in, C_out / groups, h, w]."""
    c_in, per_group, h, w = weight.shape
    height, width = (h - 1) * dilation[0] + 1, (w - 1) * dilation[1] + 1
    dense = weight.new_zeros(c_in, per_group * groups, height, width)
    rows = c_in // groups
    for g in range(groups):
        block = dense[g * rows : (g + 1) * rows, g * per_group : (g + 1) * per_group]
        block[:, :, :: dilation[0], :: dilation[1]] = weight[g * rows : (g + 1) * rows]
    return dense


def _transposed(build: Builder) -> Node | None:
    args = build.arguments()
    weight, shape = build.value(args["weight"]), shape_of(args["input"])
    dims = {3: 1, 4: 2}.get(len(shape or ()), 0)
    if weight is None or shape is None or not dims:
        return None
    stride, padding = numbers(args["stride"], dims), numbers(args["padding"], dims)
    extra, dilation = numbers(args["output_padding"], dims), numbers(args["dilation"], dims)
    plain = not any(extra) and set(dilation) == {1} and args["groups"] == 1
    if dims == 2 and plain:
        return None
    source = args["input"]
    if dims == 1:
        source, weight = build(_aten.unsqueeze.default, source, 2), weight.unsqueeze(2)
        stride, padding = [1, *stride], [0, *padding]
        extra, dilation = [0, *extra], [1, *dilation]
    if any(extra):
        pads = [0, int(extra[1] > 0), 0, int(extra[0] > 0)]
        source = build(_aten.constant_pad_nd.default, source, pads, 0.0)
    kernel = _dense_kernel(weight, args["groups"], dilation)
    result = build(
        _aten.conv_transpose2d.input, source, build.constant(kernel), args["bias"], stride, padding
    )
    if any(extra):
        size = [1, *shape[2:]] if dims == 1 else list(shape[2:])
        for i in range(2):
            full = (size[i] - 1) * stride[i] - 2 * padding[i] + kernel.shape[2 + i] + extra[i]
            if extra[i]:
                result = build(_aten.slice.Tensor, result, 2 + i, 0, full)
    return build(_aten.squeeze.dim, result, 2) if dims == 1 else result


def _pool_1d(build: Builder) -> Node | None:
    args = build.arguments()
    shape = shape_of(args["self"])
    if shape is None or len(shape) != 3:
        return None
    wide = build(_aten.unsqueeze.default, args["self"], 2)
    kernel = numbers(args["kernel_size"], 1)
    stride = numbers(args["stride"] or kernel, 1)
    sizes = [1, *kernel], [1, *stride], [0, *numbers(args["padding"], 1)]
    size, ceil_mode = (1, shape[2]), args["ceil_mode"]
    if build.node.target is _aten.max_pool1d.default:
        where = windows(size, *sizes, [1, *numbers(args["dilation"], 1)], ceil_mode=ceil_mode)
        result = build(_aten.max_pool2d.default, wide, *sizes, where.dilation, where.ceil_mode)
    else:
        where = windows(size, *sizes, ceil_mode=ceil_mode)
        counted = args["count_include_pad"]
        result = average(build, wide, (shape[1], 1, shape[2]), where, count_padding=counted)
    return build(_aten.squeeze.dim, result, 2)


def _adaptive(build: Builder) -> Node | None:
    """To equal windows, where the output size divides the input's."""
    args = build.arguments()
    shape, name = shape_of(args["self"]), str(build.node.target)
    one = "1d" in name
    if shape is None or len(shape) != (3 if one else 4):
        return None
    size = [1, shape[2]] if one else list(shape[2:])
    wanted = [1, *numbers(args["output_size"], 1)] if one else numbers(args["output_size"], 2)
    if any(n % w for n, w in zip(size, wanted, strict=True)):
        return None
    kernel = [n // w for n, w in zip(size, wanted, strict=True)]
    source = build(_aten.unsqueeze.default, args["self"], 2) if one else args["self"]
    pool = _aten.max_pool2d.default if "max" in name else _aten.avg_pool2d.default
    if pool is _aten.max_pool2d.default:
        # It has two results, of which only the values can be meant here.
        if any(user.args[1] != 0 for user in build.node.users):
            return None
    result = build(pool, source, kernel, kernel)
    if one:
        result = build(_aten.squeeze.dim, result, 2)
    if pool is _aten.max_pool2d.default:
        for user in list(build.node.users):
            user.replace_all_uses_with(result)
            user.graph.erase_node(user)
    return result


_BATCHED = {
    _aten.conv1d.default: 3,
    _aten.conv1d.padding: 3,
    _aten.conv2d.default: 4,
    _aten.conv2d.padding: 4,
    _aten.conv_transpose1d.default: 3,
    _aten.conv_transpose2d.input: 4,
    _aten.max_pool1d.default: 3,
    _aten.avg_pool1d.default: 3,
    _aten.adaptive_avg_pool1d.default: 3,
    _aten.adaptive_avg_pool2d.default: 4,
}
"""Dimensions of what these take, the batch among them, without which they also do."""


def take_batches(module: GraphModule) -> None:
    """What is given an image or a sequence by itself takes a batch of one, in place."""
    for node in list(module.graph.nodes):
        target: Any = node.target
        source = node.args[0] if target in _BATCHED else None
        if source is None or len(shape_of(source) or ()) != _BATCHED[target] - 1:
            continue
        build = Builder(module, node)
        batch = build(_aten.unsqueeze.default, source, 0)
        batch.meta["val"] = source.meta["val"].unsqueeze(0)
        result = build(target, batch, *node.args[1:], **node.kwargs)
        result.meta["val"] = node.meta["val"].unsqueeze(0)
        only = build(_aten.squeeze.dim, result, 0)
        only.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(only)
        module.graph.erase_node(node)


TABLE: Table = {
    _aten.conv1d.default: _convolution_1d,
    _aten.conv1d.padding: _convolution_1d,
    _aten.conv2d.padding: _convolution_same,
    _aten.conv_transpose1d.default: _transposed,
    _aten.conv_transpose2d.input: _transposed,
    _aten.max_pool1d.default: _pool_1d,
    _aten.avg_pool1d.default: _pool_1d,
    _aten.adaptive_avg_pool1d.default: _adaptive,
    _aten.adaptive_avg_pool2d.default: _adaptive,
    _aten.adaptive_max_pool2d.default: _adaptive,
}
