# SPDX-License-Identifier: Apache-2.0
"""Seeded stand-ins for trained models, shared by the benchmark models beside this file.

Speed and memory do not depend on what a network has learnt, but quantization needs activations of
sensible size. Weights come from a fixed seed; batch normalization gets the mean and variance that
it sees on a few seeded batches, as training would leave them, so that no layer's output dies out.
"""

from __future__ import annotations

import torch
from torch import nn

SEED = 20260101
CALIBRATION_SAMPLES = 8


def seeded_samples(shape: tuple[int, ...], count: int, seed: int = SEED) -> list[torch.Tensor]:
    """`count` inputs of `shape`, uniform in [-1, 1), the same in every run."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.rand(shape, generator=generator) * 2 - 1 for _ in range(count)]


def seeded_model(
    build: type[nn.Module], shape: tuple[int, ...], *, batches: int = 4, batch_size: int = 8
) -> nn.Module:
    """`build()` with seeded weights and with batch statistics measured on seeded inputs.

    Args:
        build: the model's class.
        shape: the shape of one input, with a batch dimension of 1 in front.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = build()
        norms = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
        for norm in norms:
            norm.momentum = None  # a plain average over the batches
            nn.init.uniform_(norm.weight, 0.7, 1.3)
            nn.init.uniform_(norm.bias, -0.3, 0.3)
        model.train()
        with torch.no_grad():
            for batch in seeded_samples((batch_size, *shape[1:]), batches, SEED + 1):
                model(batch)
    return model.eval()
