# SPDX-License-Identifier: Apache-2.0
"""Batch normalization that no convolution before it absorbs, and PReLU.

At inference it is y = a x + b for each channel, with a = weight / sqrt(var + eps) and
b = bias - mean a. Behind a linear layer a and b go into its weights; elsewhere it is a depthwise
convolution with one weight a channel. PReLU is max(x, 0) + a min(x, 0),
and with one a for all channels a leaky ReLU.

Sub-spectral normalization (Chang et al., 2021, arXiv:2103.13620) normalizes bands of an image's rows one
by one: [n, c, h, w] seen as [n, c k, h / k, w]. Each band of the result is a convolution of the rows that
it reads, with the band's a and b in the weights: of the convolution in front, or else of one pixel.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, Table, numbers, shape_of

_aten = torch.ops.aten


def fold_into_convolutions(module: GraphModule) -> None:
    """Batch normalization behind convolutions goes into their weights, in place."""
    from torchao.quantization.pt2e.utils import _fuse_conv_bn_

    for node in module.graph.nodes:  # it makes parameters of weights, which buffers must not be
        if operator_name(node).startswith("aten::conv"):
            for constant in (each for each in node.args[1:3] if isinstance(each, Node)):
                _as_parameter(module, constant)
    _fuse_conv_bn_(module)


def _as_parameter(module: GraphModule, constant: Node) -> None:
    if constant.op != "get_attr":
        return
    path, _, name = str(constant.target).rpartition(".")
    owner = module.get_submodule(path)
    if name in dict(owner.named_buffers(recurse=False)):
        value = owner.get_buffer(name)
        delattr(owner, name)
        owner.register_parameter(name, torch.nn.Parameter(value, requires_grad=False))


def _batch_norm(build: Builder) -> Node | None:
    args = build.arguments()
    source, shape = args["input"], shape_of(args["input"])
    factors = channel_factors(build)
    if shape is None or not 2 <= len(shape) <= 4 or factors is None:
        return None
    a, b = factors
    if len(shape) == 2:
        folded = _into_linear(build, source, a, b)
        if folded is not None:
            return folded
    return _per_channel(build, source, shape, a, build.constant(b))


def channel_factors(build: Builder) -> tuple[torch.Tensor, torch.Tensor] | None:
    """a and b of each channel; None if they are not constant."""
    args = build.arguments()
    mean, var = build.value(args["running_mean"]), build.value(args["running_var"])
    if args["training"] or mean is None or var is None:
        return None
    weight, bias = build.value(args["weight"]), build.value(args["bias"])
    a = torch.rsqrt(var + args["eps"]) * (1 if weight is None else weight)
    return a, (0 if bias is None else bias) - mean * a


_RESHAPES = (_aten.view.default, _aten.reshape.default)

# Bands of one convolution, whose weights are stored for each.
_MOST_BANDS = 16


def fold_bands(module: GraphModule) -> None:
    """Normalization of bands of rows as one convolution for each band, in place."""
    for node in list(module.graph.nodes):
        if node.target is not _aten.batch_norm.default or len(node.users) != 1:
            continue
        (after,) = node.users
        before = node.args[0]
        if before.target not in _RESHAPES or after.target not in _RESHAPES:
            continue
        source, shape = before.args[0], shape_of(before.args[0])
        banded = shape_of(before)
        if not shape or not banded or shape_of(after) != shape or len(before.users) != 1:
            continue
        if len(shape) != 4 or len(banded) != 4 or (shape[0], shape[3]) != (banded[0], banded[3]):
            continue
        result = _bands(Builder(module, node), source, shape, banded[1] // shape[1])
        if result is not None:
            result.meta["val"] = after.meta["val"]
            after.replace_all_uses_with(result)
    module.graph.eliminate_dead_code()


def _bands(build: Builder, source: Node, shape: tuple[int, ...], count: int) -> Node | None:
    """`source` [n, c, h, w] with its rows normalized in `count` bands."""
    factors = channel_factors(build)
    if factors is None or not 1 < count <= _MOST_BANDS or shape[2] % count:
        return None
    channels, rows = shape[1], shape[2] // count
    a, b = (each.expand(channels * count).reshape(channels, count) for each in factors)
    x, weight, bias = source, torch.ones(channels, 1, 1, 1), torch.zeros(channels)
    height, window = shape[2], ([1, 1], [0, 0], [1, 1], channels)
    conv = _convolution(build.module, source)
    if conv is not None:
        x, weight, bias, window = conv
        taken = shape_of(x)
        if taken is None:
            return None
        height = taken[2]
    stride, padding, dilation, groups = window
    reach = (weight.shape[2] - 1) * dilation[0] + 1
    parts = []
    for band in range(count):
        first = band * rows * stride[0] - padding[0]
        end = ((band + 1) * rows - 1) * stride[0] - padding[0] + reach
        inside = max(first, 0), min(end, height)
        if inside[0] >= inside[1]:
            return None
        part = build(_aten.slice.Tensor, x, 2, *inside)
        if first < 0 or end > height:
            around = [0, 0, max(-first, 0), max(end - height, 0)]
            part = build(_aten.constant_pad_nd.default, part, around, 0.0)
        kernel = build.constant(weight * a[:, band].reshape(-1, 1, 1, 1))
        shift = build.constant(bias * a[:, band] + b[:, band])
        sides = [0, padding[1]]
        parts.append(
            build(_aten.conv2d.default, part, kernel, shift, stride, sides, dilation, groups)
        )
    return build(_aten.cat.default, parts, 2)


_Convolution = tuple[Any, torch.Tensor, torch.Tensor, tuple[list[int], list[int], list[int], int]]


def _convolution(module: GraphModule, node: Node) -> _Convolution | None:
    """Operand, weight, bias and window of a convolution that nothing else reads."""
    if node.target is not _aten.conv2d.default or len(node.users) != 1:
        return None
    args = Builder(module, node).arguments()
    weight = Builder.value_in(module, args["weight"])
    bias = Builder.value_in(module, args["bias"])
    if weight is None or (bias is None and args["bias"] is not None):
        return None
    if bias is None:
        bias = torch.zeros(weight.shape[0])
    window = *(numbers(args[n], 2) for n in ("stride", "padding", "dilation")), args["groups"]
    return args["input"], weight, bias, window


def _per_channel(
    build: Builder, source: Any, shape: tuple[int, ...], a: torch.Tensor, b: Node | None
) -> Node:
    """a x + b, one value of a and b for each channel of `source`, of at most four dimensions."""
    wide = build(_aten.reshape.default, source, [*shape, *[1] * (4 - len(shape))])
    kernel = build.constant(a.reshape(-1, 1, 1, 1))
    result = build(_aten.conv2d.default, wide, kernel, b, [1, 1], [0, 0], [1, 1], shape[1])
    return result if len(shape) == 4 else build(_aten.reshape.default, result, list(shape))


def _prelu(build: Builder) -> Node | None:
    args = build.arguments()
    shape, weight = shape_of(args["self"]), build.value(args["weight"])
    if shape is None or weight is None:
        return None
    if weight.numel() == 1:
        return build(_aten.leaky_relu.default, args["self"], float(weight))
    if not 2 <= len(shape) <= 4:
        return None
    negative = build(_aten.clamp.default, build(_aten.clone.default, args["self"]), None, 0.0)
    scaled = _per_channel(build, negative, shape, weight.expand(shape[1]), None)
    return build(_aten.add.Tensor, build(_aten.relu.default, args["self"]), scaled)


def _into_linear(build: Builder, source: Any, a: torch.Tensor, b: torch.Tensor) -> Node | None:
    """a x + b of a linear layer's results, also where a view made one dimension of those before the last."""
    views: list[Node] = []
    while source.target in (*_RESHAPES, _aten.flatten.using_ints) and len(source.users) == 1:
        inner, outer = shape_of(source.args[0]), shape_of(source)
        if not inner or not outer or inner[-1] != outer[-1]:
            return None
        views.append(source)
        source = source.args[0]
    if source.target is not _aten.linear.default or len(source.users) != 1:
        return None
    weight = build.value(source.args[1])
    before = build.value(source.args[2]) if len(source.args) > 2 else None
    if weight is None:
        return None
    bias = b if before is None else b + before * a
    result = build(
        _aten.linear.default,
        source.args[0],
        build.constant(weight * a[:, None]),
        build.constant(bias),
    )
    for view in reversed(views):
        result = build(view.target, result, *view.args[1:], **view.kwargs)
    return result


TABLE: Table = {_aten.batch_norm.default: _batch_norm, _aten.prelu.default: _prelu}
