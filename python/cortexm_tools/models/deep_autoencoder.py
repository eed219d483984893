# SPDX-License-Identifier: Apache-2.0
"""MLPerf Tiny's anomaly detection model, an autoencoder, from the executorch wheel."""

from __future__ import annotations

import torch
from executorch.examples.models.mlperf_tiny.deep_autoencoder import DeepAutoEncoder
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples

INPUT_SHAPE = (1, 640)


def ModelUnderTest() -> torch.nn.Module:
    return seeded_model(DeepAutoEncoder, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
