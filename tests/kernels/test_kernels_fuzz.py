# SPDX-License-Identifier: Apache-2.0
"""Random cases of every kernel against its reference, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path


def test_kernels_equal_references(fuzz: Path) -> None:
    done = subprocess.run([str(fuzz), "2000"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 of ")
