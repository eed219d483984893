# SPDX-License-Identifier: Apache-2.0
"""Train the digit reader of model.py and write model.safetensors: python train.py (a minute)."""

from __future__ import annotations

import sys
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


def main() -> None:
    torch.manual_seed(7)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(7)
    x, y = scans(held_out=False)
    test_x, test_y = scans(held_out=True)
    model = Digits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.02)
    batches = (len(x) + BATCH - 1) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, EPOCHS * batches)
    loss_of = nn.NLLLoss()
    for epoch in range(EPOCHS):
        model.train()
        for index in torch.randperm(len(x), generator=generator).split(BATCH):
            probabilities = model(jitter(x[index], generator))
            target = y[index]
            loss = loss_of(torch.log(probabilities * 0.95 + 0.005), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if (epoch + 1) % 10 == 0:
            model.eval()
            with torch.no_grad():
                train = (model(x).argmax(1) == y).float().mean()
                test = (model(test_x).argmax(1) == test_y).float().mean()
            print(f"epoch {epoch + 1}: {train:.2%} of the training scans, {test:.2%} of the others")
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, WEIGHTS)
    print(f"wrote {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
