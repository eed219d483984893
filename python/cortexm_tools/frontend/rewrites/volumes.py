# SPDX-License-Identifier: Apache-2.0
"""Formulas of operators on volumes [N, C, D, H, W], which become images.

A convolution is one of images whose channels are those of all the planes that its window reaches. Pools
take rows and columns first, and then planes, as rows of an image that has all pixels of a plane in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

Formula = Callable[..., Any]
Tensor = torch.Tensor
_aten: Any = torch.ops.aten


def _three(given: Sequence[int]) -> list[int]:
    """A number for each of three dimensions, which may be given as one for all."""
    return list(given) * 3 if len(given) == 1 else list(given)


_PIXELS, _CHANNELS = [0, 2, 3, 4, 1], [0, 4, 1, 2, 3]
"""From [N, C, D, H, W] to [N, D, H, W, C], where kernels want the channels of a pixel, and back."""


def _as_images(x: Tensor) -> Tensor:
    """[N * D, C, H, W] from [N, D, H, W, C]."""
    return x.flatten(0, 1).permute([0, 3, 1, 2])


def _as_volume(images: Tensor, shape: Sequence[int]) -> Tensor:
    """Images as [N, C, D, H, W]; `shape` is that before the channels."""
    pixels = images.permute([0, 2, 3, 1])
    return pixels.reshape([*shape, images.shape[1]]).permute(_CHANNELS)


def _by_planes(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """`function` of the images that the planes are."""
    images = function(_as_images(x.permute(_PIXELS)))
    return _as_volume(images, [x.shape[0], x.shape[2], *images.shape[2:]])


def _across_planes(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """`function` of the image whose rows are the planes."""
    images = function(x.permute(_PIXELS).flatten(2, 3).permute([0, 3, 1, 2]))
    return _as_volume(images, [x.shape[0], images.shape[2], *x.shape[3:]])


def drop_permutations(module: GraphModule) -> None:
    """Drop those that undo each other, as of layers of volumes that follow each other, in place."""
    for node in list(module.graph.nodes):
        before = node.args[0] if node.target is _aten.permute.default else None
        if not isinstance(before, Node) or before.target is not _aten.permute.default:
            continue
        first: Any = before.args[1]
        second: Any = node.args[1]
        if [first[d] for d in second] == list(range(len(first))):
            node.replace_all_uses_with(before.args[0])
    module.graph.eliminate_dead_code()


def margins_of(
    padding: Sequence[int] | str, kernel: Sequence[int], dilation: Sequence[int]
) -> list[int] | None:
    """Padding of each dimension; None where it is not the same on both sides."""
    if not isinstance(padding, str):
        return list(padding)
    reach = [gap * (n - 1) for n, gap in zip(kernel, dilation, strict=True)]
    if padding == "valid":
        return [0] * len(reach)
    return None if any(n % 2 for n in reach) else [n // 2 for n in reach]


def _conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int] | str,
    dilation: Sequence[int],
    groups: int,
) -> Tensor | None:
    """The channels of a group are together, so that the planes come first only where there is one."""
    given = padding if isinstance(padding, str) else _three(padding)
    margins = margins_of(given, weight.shape[2:], _three(dilation))
    if input.dim() != 5 or margins is None:
        return None
    (step, *steps), (margin, *margins) = _three(stride), margins
    (gap, *gaps), depth = _three(dilation), weight.shape[2]
    x = input.permute(_PIXELS)
    if margin:
        x = torch.constant_pad_nd(x, [0, 0, 0, 0, 0, 0, margin, margin])
    count = (x.shape[1] - gap * (depth - 1) - 1) // step + 1
    parts = [
        _aten.slice.Tensor(x, 1, at, at + (count - 1) * step + 1, step)
        for at in range(0, gap * depth, gap)
    ]
    if groups == 1:
        x = parts[0] if depth == 1 else torch.cat(parts, 4)
        weight = weight.transpose(1, 2)
    else:
        x = torch.stack(parts, 5).flatten(4)
    kernel = weight.reshape([weight.shape[0], -1, *weight.shape[3:]])
    result = _aten.conv2d.default(_as_images(x), kernel, bias, steps, margins, gaps, groups)
    return _as_volume(result, [input.shape[0], count, *result.shape[2:]])


def _pooled(
    pool: Any,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    *options: Any,
) -> Tensor:
    """`pool`, of two dimensions, over rows and columns and then over planes."""
    between = [dilation] if pool is _aten.max_pool2d.default else []
    (depth, *window), (step, *steps) = _three(kernel), _three(stride or kernel)
    margin, *margins = _three(padding)
    if set(window) != {1} or set(steps) != {1}:
        apart = [_three(each)[1:] for each in between]
        x = _by_planes(x, lambda image: pool(image, window, steps, margins, *apart, *options))
    if depth != 1 or step != 1:
        column = [depth, 1], [step, 1], [margin, 0], *([_three(each)[0], 1] for each in between)
        x = _across_planes(x, lambda image: pool(image, *column, *options))
    return x


def _max_pool3d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Tensor | None:
    if self.dim() != 5:
        return None
    pool = _aten.max_pool2d.default
    return _pooled(pool, self, kernel_size, stride, padding, dilation, ceil_mode)


def _avg_pool3d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor | None:
    if self.dim() != 5 or divisor_override is not None:
        return None
    pool, options = _aten.avg_pool2d.default, (ceil_mode, count_include_pad)
    return _pooled(pool, self, kernel_size, stride, padding, [1], *options)


def _adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Tensor | None:
    """Windows of one size, or all there is."""
    size = self.shape[2:]
    wanted = [n if w is None else w for n, w in zip(size, _three(output_size), strict=True)]
    if self.dim() != 5 or any(n % w for n, w in zip(size, wanted, strict=True)):
        return None
    kernel = [n // w for n, w in zip(size, wanted, strict=True)]
    if wanted == [1, 1, 1]:
        return self.flatten(2).mean([-1]).reshape([*self.shape[:2], 1, 1, 1])
    return _pooled(_aten.avg_pool2d.default, self, kernel, kernel, [0], [1])


def batch_norm(input: Tensor, *others: Any) -> Tensor:
    """That of a volume, at inference."""
    return _by_planes(input, lambda image: _aten.batch_norm.default(image, *others))


def _nearest(input: Tensor, output_size: Any, scale_factors: Any) -> Tensor:
    size, factors = output_size, scale_factors

    def planes(image: Tensor) -> Tensor:
        wanted, by = (None if given is None else given[1:] for given in (size, factors))
        result: Tensor = _aten.upsample_nearest2d.vec(image, wanted, by)
        return result

    def across(image: Tensor) -> Tensor:
        wanted = None if size is None else [size[0], image.shape[3]]
        by = None if factors is None else [factors[0], 1.0]
        result: Tensor = _aten.upsample_nearest2d.vec(image, wanted, by)
        return result

    return _across_planes(_by_planes(input, planes), across)


FORMULAS: dict[Any, Formula] = {
    _aten.conv3d.default: _conv3d,
    _aten.conv3d.padding: _conv3d,
    _aten.max_pool3d.default: _max_pool3d,
    _aten.avg_pool3d.default: _avg_pool3d,
    _aten.adaptive_avg_pool3d.default: _adaptive_avg_pool3d,
    _aten.upsample_nearest3d.vec: _nearest,
}
