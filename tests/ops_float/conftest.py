# SPDX-License-Identifier: Apache-2.0
"""The kernels as a shared library, once per session."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from plan_executor import PlanExecutor, build_library

sys.path.insert(0, str(Path(__file__).parent))  # for float_graphs, which lies beside the tests


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory) -> PlanExecutor:
    return PlanExecutor(build_library(tmp_path_factory.mktemp("kernels")))
