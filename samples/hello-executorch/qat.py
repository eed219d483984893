# SPDX-License-Identifier: Apache-2.0
"""What training for weights of 4 bits gains: python qat.py (a minute).

The digit reader of model.py loses nothing by 4 bits. This one has a sixteenth of its weights.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import torch
from torch import nn

from cortexm_tools import lower_model, prepare_qat

sys.path.insert(0, str(Path(__file__).parent))
from model import CalibrationInputs, ModelInputs, scans  # noqa: E402
from train import fit, jitter, settle  # noqa: E402

LAYERS = {"0": "a8w4", "3": "a8w4", "7": "a8w4"}  # by name, as the first and last would stay at 8
SEEDS = 3
EPOCHS = 20


def trained(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(6),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24, 10),
        nn.Softmax(dim=1),
    )
    fit(model, 15, 2e-2)
    return model.eval()


def trained_for_codes(model: nn.Module) -> nn.Module:
    qat = prepare_qat(model, ModelInputs, quantization=LAYERS)
    fit(qat, EPOCHS, 1e-2)
    return qat.finish()


def score(model: nn.Module, calibrate: str = "weights=gptq") -> torch.Tensor:
    """Of the quantized model on scans that are turned and moved: the share that is right, cross-entropy."""
    x, y = scans(held_out=True)
    x = jitter(x, torch.Generator().manual_seed(5))
    program = lower_model(
        model,
        ModelInputs,
        quantization=LAYERS,
        calibration=CalibrationInputs(),
        calibrate=calibrate,
    )
    results = [program.fake_quantized((each[None].numpy(),))[0] for each in x]
    got = torch.cat([torch.from_numpy(each) for each in results])
    loss = nn.functional.nll_loss(torch.log(got + 1e-3), y)
    return torch.stack([(got.argmax(1) == y).float().mean(), loss])


def main() -> None:
    settle()
    rows: dict[str, list[torch.Tensor]] = {}
    for seed in range(SEEDS):
        model = trained(seed)
        longer = copy.deepcopy(model)
        fit(longer, EPOCHS, 1e-2)
        for text, result in (
            ("nearest codes", score(model, "weights=nearest")),
            ("codes by inputs (GPTQ)", score(model)),
            ("the same, trained on in float", score(longer.eval())),
            ("trained for the codes", score(trained_for_codes(model))),
        ):
            rows.setdefault(text, []).append(result)
    for text, results in rows.items():
        right, loss = torch.stack(results).mean(0)
        print(f"{text:<30} {right:.1%} right, cross-entropy {loss:.3f}")


if __name__ == "__main__":
    main()
