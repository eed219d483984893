# SPDX-License-Identifier: Apache-2.0
"""MLPerf Tiny's keyword spotting model, DS-CNN, from the executorch wheel."""

from __future__ import annotations

import torch
from executorch.examples.models.mlperf_tiny.ds_cnn import DSCNNKWS
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples

INPUT_SHAPE = (1, 1, 49, 10)


def ModelUnderTest() -> torch.nn.Module:
    return seeded_model(DSCNNKWS, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
