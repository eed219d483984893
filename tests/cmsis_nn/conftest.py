# SPDX-License-Identifier: Apache-2.0
"""The checkout of CMSIS-NN that CMSIS_NN_ROOT names; what needs it is skipped without, with that reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def checkout() -> Path:
    root = os.environ.get("CMSIS_NN_ROOT")
    if not root:
        pytest.skip("CMSIS_NN_ROOT names no checkout of CMSIS-NN: not run with that library")
    assert (Path(root) / "Include" / "arm_nnfunctions.h").is_file(), root
    return Path(root)
