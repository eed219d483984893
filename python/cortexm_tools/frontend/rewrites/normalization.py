# SPDX-License-Identifier: Apache-2.0
"""Batch normalization and PReLU.

At inference it is y = a x + b for each channel, with a = weight / sqrt(var + eps) and
b = bias - mean a. Behind a convolution or a linear layer a and b go into its weights; elsewhere it is a
depthwise convolution with one weight a channel. PReLU is max(x, 0) + a min(x, 0),
and with one a for all channels a leaky ReLU.

Sub-spectral normalization (Chang et al., 2021, arXiv:2103.13620) normalizes bands of an image's rows one
by one: [n, c, h, w] seen as [n, c k, h / k, w]. Each band of the result is a convolution of the rows that
it reads, with the band's a and b in the weights: of the convolution in front, or else of one pixel.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from .builder import Builder, Table, numbers, shape_of

_aten = torch.ops.aten

_RESHAPES = (_aten.view.default, _aten.reshape.default)
_VIEWS = (*_RESHAPES, _aten.flatten.using_ints)

_TRANSPOSED = {
    _aten.conv_transpose1d.default,
    _aten.conv_transpose2d.input,
    _aten.conv_transpose3d.input,
}
_CONVOLUTIONS = {
    *(_aten.conv1d.default, _aten.conv1d.padding),
    *(_aten.conv2d.default, _aten.conv2d.padding),
    *(_aten.conv3d.default, _aten.conv3d.padding),
    *_TRANSPOSED,
}


def fold_into_layers(module: GraphModule) -> None:
    """Batch normalization behind convolutions and linear layers goes into their weights, in place. They are
    weights of the call's own: another call of the layer may have another normalization, or none."""
    for node in module.graph.find_nodes(op="call_function", target=_aten.batch_norm.default):
        layer, factors = _layer_before(node), channel_factors(Builder(module, node))
        if layer is not None and factors is not None and _scale(Builder(module, layer), *factors):
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.recompile()


def _layer_before(norm: Node) -> Node | None:
    """The layer whose outputs are the channels of `norm`, if nothing else reads what it gives. Of a linear
    layer a view may make one dimension of those before the last."""
    layer: Any = norm.args[0]
    while layer.target in _VIEWS and len(layer.users) == 1:
        inner, outer = shape_of(layer.args[0]), shape_of(layer)
        if not inner or not outer or inner[-1] != outer[-1]:
            return None
        layer = layer.args[0]
    if len(layer.users) != 1:
        return None
    if layer.target is _aten.linear.default:
        is_layer = len(shape_of(norm) or ()) == 2
    else:
        is_layer = layer.target in _CONVOLUTIONS and layer is norm.args[0]
    return layer if is_layer else None


def _scale(build: Builder, a: torch.Tensor, b: torch.Tensor) -> bool:
    """Let a layer give a x + b in the place of x; whether its weights are constant."""
    args = build.arguments()
    weight, bias = build.value(args["weight"]), build.value(args["bias"])
    if weight is None or (bias is None and args["bias"] is not None):
        return False
    ones = [1] * (weight.dim() - 2)
    if build.node.target in _TRANSPOSED:  # [inputs, outputs of a group, *window]
        groups = args["groups"]
        apart = weight.reshape(groups, -1, *weight.shape[1:])
        scaled = (apart * a.reshape(groups, 1, -1, *ones)).reshape(weight.shape)
    else:
        scaled = weight * a.reshape(-1, 1, *ones)
    args["weight"] = build.constant(scaled)
    args["bias"] = build.constant(b if bias is None else bias * a + b)
    build.node.args, build.node.kwargs = tuple(args.values()), {}
    return True


def _batch_norm(build: Builder) -> Node | None:
    args = build.arguments()
    source, shape = args["input"], shape_of(args["input"])
    factors = channel_factors(build)
    if shape is None or not 2 <= len(shape) <= 4 or factors is None:
        return None
    a, b = factors
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


TABLE: Table = {_aten.batch_norm.default: _batch_norm, _aten.prelu.default: _prelu}
