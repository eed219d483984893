# SPDX-License-Identifier: Apache-2.0
"""A layer with weights as a product of matrices: its weights [G, O, N] with inputs [G, N, P].

An output of a convolution at one of P positions is the product of its weights with the N inputs under
the window there. A transposed convolution is one of stride 1 on the image with zeros between its
pixels, by the kernel turned by half a turn.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node
from torch.nn.functional import pad

from ..nodes import schema_of

_aten = torch.ops.aten
_CONVOLUTION = _aten.conv2d.default
_TRANSPOSED = _aten.conv_transpose2d.input

WEIGHTED = (_CONVOLUTION, _TRANSPOSED, _aten.linear.default)
"""The operators with weights that ExecuTorch's quantizer annotates."""


def argument(call: Node, name: str, default: Any = None) -> Any:
    """An argument of an ATen call by its name in the schema."""
    for index, each in enumerate(schema_of(call).arguments):
        if each.name == name:
            given = call.args[index] if index < len(call.args) else call.kwargs.get(name)
            return default if given is None else given
    return default


def groups_of(call: Node) -> int:
    """Into how many groups of inputs and outputs a layer falls."""
    return int(argument(call, "groups", 1))


def as_matrices(call: Node, weight: torch.Tensor) -> torch.Tensor:
    """The weights of `call` as [G, O, N], float64."""
    if call.target is _TRANSPOSED:
        weight = weight.flip(2, 3).transpose(0, 1)
    groups = groups_of(call)
    return weight.reshape(groups, weight.shape[0] // groups, -1).double()


def as_weight(call: Node, matrices: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The inverse of `as_matrices`, with the shape, type and memory order of `like`."""
    if call.target is _TRANSPOSED:
        inputs, outputs, *kernel = like.shape
        shaped = matrices.reshape(outputs, inputs, *kernel).transpose(0, 1).flip(2, 3)
    else:
        shaped = matrices.reshape(like.shape)
    return torch.empty_like(like).copy_(shaped)


def columns(call: Node, x: torch.Tensor, kernel: torch.Size, most: int) -> torch.Tensor:
    """The inputs of `call` at most `most` positions, spread evenly, [G, N, P].

    Args:
        x: what the layer reads, with a batch of images or vectors.
        kernel: the shape of its weights.
    """
    if call.target not in (_CONVOLUTION, _TRANSPOSED):
        vectors = x.reshape(-1, x.shape[-1])
        return vectors[spread_evenly(vectors.shape[0], most)].T[None]
    height, width = kernel[2:]
    padding = _pair(argument(call, "padding", 0))
    if call.target is _TRANSPOSED:
        x = _with_zeros_between(x, _pair(argument(call, "stride", 1)))
        padding = (height - 1 - padding[0], width - 1 - padding[1])
        stride = dilation = (1, 1)
    else:
        stride = _pair(argument(call, "stride", 1))
        dilation = _pair(argument(call, "dilation", 1))
    x = pad(x, (padding[1], padding[1], padding[0], padding[0]))
    rows, lines = (
        (x.shape[2 + i] - (kernel[2 + i] - 1) * dilation[i] - 1) // stride[i] + 1 for i in (0, 1)
    )
    place = spread_evenly(x.shape[0] * rows * lines, most)
    image = place // (rows * lines)
    top = place // lines % rows * stride[0] + torch.arange(height)[:, None] * dilation[0]
    left = place % lines * stride[1] + torch.arange(width)[:, None] * dilation[1]
    read = x.transpose(0, 1)[:, image, top[:, None], left[None]]  # [C, height, width, P]
    return read.reshape(groups_of(call), -1, len(place))


def spread_evenly(count: int, most: int) -> torch.Tensor:
    """At most `most` of the numbers below `count`."""
    taken = min(count, most)
    return torch.arange(taken) * count // taken


def _pair(value: Any) -> tuple[int, int]:
    if isinstance(value, (list, tuple)):
        return int(value[0]), int(value[-1])
    return int(value), int(value)


def _with_zeros_between(x: torch.Tensor, stride: tuple[int, int]) -> torch.Tensor:
    height, width = ((x.shape[2 + i] - 1) * stride[i] + 1 for i in (0, 1))
    spread = x.new_zeros(*x.shape[:2], height, width)
    spread[:, :, :: stride[0], :: stride[1]] = x
    return spread
