# SPDX-License-Identifier: Apache-2.0
"""Batch normalization that no convolution before it absorbs, and PReLU.

At inference it is y = a x + b for each channel, with a = weight / sqrt(var + eps) and
b = bias - mean a. Behind a linear layer a and b go into its weights; elsewhere it is a depthwise
convolution with one weight a channel. PReLU is max(x, 0) + a min(x, 0).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from .builder import Builder, Table, shape_of

_aten = torch.ops.aten


def fold_into_convolutions(module: GraphModule) -> None:
    """Batch normalization behind convolutions goes into their weights, in place."""
    from torchao.quantization.pt2e.utils import _fuse_conv_bn_

    _fuse_conv_bn_(module)


def _batch_norm(build: Builder) -> Node | None:
    args = build.arguments()
    source, shape = args["input"], shape_of(args["input"])
    mean, var = build.value(args["running_mean"]), build.value(args["running_var"])
    if shape is None or not 2 <= len(shape) <= 4 or mean is None or var is None:
        return None
    if args["training"]:
        return None
    weight, bias = build.value(args["weight"]), build.value(args["bias"])
    a = torch.rsqrt(var + args["eps"]) * (1 if weight is None else weight)
    b = (0 if bias is None else bias) - mean * a
    if len(shape) == 2:
        folded = _into_linear(build, source, a, b)
        if folded is not None:
            return folded
    return _per_channel(build, source, shape, a, build.constant(b))


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
    if shape is None or weight is None or not 2 <= len(shape) <= 4:
        return None
    negative = build(_aten.clamp.default, build(_aten.clone.default, args["self"]), None, 0.0)
    scaled = _per_channel(build, negative, shape, weight.expand(shape[1]), None)
    return build(_aten.add.Tensor, build(_aten.relu.default, args["self"]), scaled)


def _into_linear(build: Builder, source: Any, a: torch.Tensor, b: torch.Tensor) -> Node | None:
    if source.target is not _aten.linear.default or len(source.users) != 1:
        return None
    weight = build.value(source.args[1])
    before = build.value(source.args[2]) if len(source.args) > 2 else None
    if weight is None:
        return None
    bias = b if before is None else b + before * a
    return build(
        _aten.linear.default,
        source.args[0],
        build.constant(weight * a[:, None]),
        build.constant(bias),
    )


TABLE: Table = {_aten.batch_norm.default: _batch_norm, _aten.prelu.default: _prelu}
