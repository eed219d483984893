# SPDX-License-Identifier: Apache-2.0
"""`mv3` of ExecuTorch's examples: MobileNetV3-Small 1.0 at 224x224; CORTEXM_IMAGE_SIZE changes that.

The architecture is torchvision's; the weights are seeded, not trained, since torchvision and its
weights are not needed to build this package.
"""

from __future__ import annotations

import os

import torch
from mobilenet_v3_small import MobileNetV3Small
from seeded import seeded_model, seeded_samples
from torch import nn

IMAGE_SIZE = int(os.environ.get("CORTEXM_IMAGE_SIZE", "224"))
INPUT_SHAPE = (1, 3, IMAGE_SIZE, IMAGE_SIZE)


def ModelUnderTest() -> nn.Module:
    return seeded_model(MobileNetV3Small, INPUT_SHAPE, batches=2, batch_size=4)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, 4)]
