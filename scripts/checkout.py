# SPDX-License-Identifier: Apache-2.0
"""The checkout that the scripts beside this work on; their interpreter must have its host tools."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_found = find_spec("cortexm_tools")
if _found is None or _found.origin is None:
    raise SystemExit(
        f"error: {sys.executable} has no package cortexm_tools\n"
        "hint: scripts/test.sh makes an interpreter that has it, .venv/bin/python"
    )
if not Path(_found.origin).is_relative_to(ROOT):
    raise SystemExit(
        f"error: the package cortexm_tools of {sys.executable} is that of another checkout, "
        f"{_found.origin}\nhint: scripts/test.sh makes an interpreter for this one, .venv/bin/python"
    )
