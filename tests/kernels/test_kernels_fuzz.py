# SPDX-License-Identifier: Apache-2.0
"""Random cases of every kernel against its reference, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.thorough import THOROUGH


def test_kernels_equal_references(fuzz: Path) -> None:
    cases = "2000" if THOROUGH else "700"
    done = subprocess.run([str(fuzz), cases], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 of ")
