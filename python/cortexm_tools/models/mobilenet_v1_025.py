# SPDX-License-Identifier: Apache-2.0
"""MLPerf Tiny's visual wake words model, MobileNetV1 0.25, from the executorch wheel."""

from __future__ import annotations

import torch
from executorch.examples.models.mlperf_tiny.mobilenet_v1_025 import MobileNetV1025
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples

INPUT_SHAPE = (1, 3, 96, 96)


def ModelUnderTest() -> torch.nn.Module:
    return seeded_model(MobileNetV1025, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
