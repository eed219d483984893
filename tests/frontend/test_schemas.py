# SPDX-License-Identifier: Apache-2.0
"""The ledger of operators says what PyTorch and ExecuTorch say."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_ledger_is_what_the_installed_libraries_register() -> None:
    script = runpy.run_path(str(ROOT / "scripts/operator_schemas.py"))
    assert script["main"](["--check"]) == 0
