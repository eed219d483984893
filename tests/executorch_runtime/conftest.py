# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from executorch_host import Host  # noqa: E402


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Host:
    base = tmp_path_factory.getbasetemp()
    return Host((base if worker_id == "master" else base.parent) / "executorch host")
