# SPDX-License-Identifier: Apache-2.0
"""Train the digit reader of model.py and write model.safetensors: python train.py (a minute)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from model import WEIGHTS, Digits, scans  # noqa: E402

EPOCHS = 60
BATCH = 64


def jitter(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Turn, scale and move each image a little; images [n, 1, 8, 8]."""
    n = len(images)

    def uniform(limit: float) -> torch.Tensor:
        return (torch.rand(n, generator=generator) * 2 - 1) * limit

    angle, scale = uniform(0.2), 1 + uniform(0.12)
    cos, sin = torch.cos(angle) * scale, torch.sin(angle) * scale
    rows = (torch.stack([cos, -sin, uniform(0.18)], 1), torch.stack([sin, cos, uniform(0.18)], 1))
    grid = nn.functional.affine_grid(torch.stack(rows, 1), list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, align_corners=False)


def fit(
    model: nn.Module, epochs: int, rate: float, after: Callable[[int], None] = lambda epoch: None
) -> None:
    """Train `model`, and call `after` with the number of each epoch that is done."""
    generator = torch.Generator().manual_seed(7)
    x, y = scans(held_out=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.02)
    batches = (len(x) + BATCH - 1) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, epochs * batches)
    loss_of = nn.NLLLoss()
    for epoch in range(epochs):
        model.train()
        for index in torch.randperm(len(x), generator=generator).split(BATCH):
            probabilities = model(jitter(x[index], generator))
            loss = loss_of(torch.log(probabilities * 0.95 + 0.005), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        after(epoch + 1)


def settle() -> None:
    """The same results in every run."""
    torch.manual_seed(7)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def main() -> None:
    settle()
    model = Digits()

    def tell(epoch: int) -> None:
        if epoch % 10 == 0:
            model.eval()
            with torch.no_grad():
                train, test = (
                    (model(x).argmax(1) == y).float().mean()
                    for x, y in (scans(held_out=False), scans(held_out=True))
                )
            print(f"epoch {epoch}: {train:.2%} of the training scans, {test:.2%} of the others")

    fit(model, EPOCHS, 8e-3, tell)
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, WEIGHTS)
    print(f"wrote {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
