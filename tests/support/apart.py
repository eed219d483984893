# SPDX-License-Identifier: Apache-2.0
"""One network with the weights of two trainings."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "apart"
FIRST, SECOND = _FOLDER / "first.pte", _FOLDER / "second.pte"
