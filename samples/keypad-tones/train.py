# SPDX-License-Identifier: Apache-2.0
"""Train the classifier of keypad.py and write keypad.safetensors: python train.py (half a minute)."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from keypad import WEIGHTS, Keypad, calls  # noqa: E402

EPOCHS = 40
BATCH = 256


def main() -> None:
    torch.manual_seed(7)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = Keypad()
    with torch.no_grad():
        (x, y), (test_x, test_y) = (
            (model.filters(sound), key) for sound, key in (calls(20_000, 3), calls(2_000, 4))
        )
    optimizer = torch.optim.AdamW(model.classifier.parameters(), lr=3e-3, weight_decay=1e-3)
    batches = (len(x) + BATCH - 1) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, EPOCHS * batches)
    for epoch in range(EPOCHS):
        for index in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.cross_entropy(model.classifier(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if (epoch + 1) % 10 == 0:
            with torch.no_grad():
                train = (model.classifier(x).argmax(1) == y).float().mean()
                test = (model.classifier(test_x).argmax(1) == test_y).float().mean()
            print(f"epoch {epoch + 1}: {train:.2%} of the training calls, {test:.2%} of the others")
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, WEIGHTS)
    print(f"wrote {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
