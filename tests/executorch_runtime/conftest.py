# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.executorch_runtime.executorch_host import Host


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Host:
    base = tmp_path_factory.getbasetemp()
    return Host((base if worker_id == "master" else base.parent) / "executorch host")
