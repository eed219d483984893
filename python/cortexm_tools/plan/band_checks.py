# SPDX-License-Identifier: Apache-2.0
"""Proves on a step that works in bands of rows that every call finds the rows it needs, by keeping book
of the row that lies in each place."""

from __future__ import annotations

from .types import Plan, Step


def check_bands(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of `step` reads a row that is not there."""
