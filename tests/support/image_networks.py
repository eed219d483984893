# SPDX-License-Identifier: Apache-2.0
"""Random small image networks in PyTorch: padding of all kinds before convolutions and pools."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

# Inputs of one channel, one row and one column lie in several memory orders at once.
SHAPES = ((1, 1, 9, 8), (1, 3, 1, 9), (1, 3, 9, 1), (1, 1, 1, 11), (1, 3, 8, 9))


class Apply(nn.Module):
    """A function as a layer."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


class Residual(nn.Module):
    """What a layer gives and its input."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layer(x)


class Each(nn.Module):
    """Several networks, each of its own input; so that many are lowered at once."""

    def __init__(self, networks: list[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(network(x) for network, x in zip(self.networks, inputs, strict=True))


def random_image_network(seed: int, shape: tuple[int, ...]) -> nn.Sequential:
    """Layers that follow from `seed`, for images of `shape`, [1, C, H, W]."""
    pick = random.Random(seed)
    layers: list[nn.Module] = []
    x = torch.zeros(shape)
    for _ in range(pick.randint(2, 4)):
        _, channels, *size = x.shape
        added: list[nn.Module] = []
        if pick.random() < 0.7:
            edges = [pick.randint(0, 1) for _ in range(4)]
            added.append(
                pick.choice([nn.ZeroPad2d(tuple(edges)), Apply(lambda x, e=edges: F.pad(x, e))])
            )
            size = [size[0] + edges[2] + edges[3], size[1] + edges[0] + edges[1]]
        kernel = tuple(min(pick.randint(1, 3), n) for n in size)
        stride = pick.choice([1, 2, (1, 2)])
        own = tuple(pick.randint(0, k // 2) for k in kernel)
        kind = pick.randint(0, 5)
        if kind <= 1:
            added.append(nn.Conv2d(channels, pick.choice([1, 4, 6]), kernel, stride, own))
        elif kind == 2:
            added.append(nn.Conv2d(channels, channels * 2, kernel, stride, own, groups=channels))
        elif kind == 3:
            added.append(nn.MaxPool2d(kernel, stride, own, ceil_mode=pick.random() < 0.5))
        elif kind == 4:
            options = {"ceil_mode": pick.random() < 0.5, "count_include_pad": pick.random() < 0.5}
            step = pick.choice([stride, None])
            added.append(
                Apply(lambda x, k=kernel, s=step, p=own, o=options: F.avg_pool2d(x, k, s, p, **o))
            )
        else:
            inner = nn.Conv2d(channels, channels, 3, padding=1)
            added = [
                Residual(nn.Sequential(nn.ZeroPad2d(1), nn.Conv2d(channels, channels, 3), inner))
            ]
        if pick.random() < 0.6:
            added.append(nn.ReLU())
        x = nn.Sequential(*added)(x).detach()
        layers += added
    return nn.Sequential(*layers)
