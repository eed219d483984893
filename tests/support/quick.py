# SPDX-License-Identifier: Apache-2.0
"""Quantization in a fraction of the time, for tests that do not ask how good it is."""

from __future__ import annotations

import pytest


def quick_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let activations range from the least to the largest value that was seen.

    The search for the best range over a histogram takes most of the time of lowering a small model.
    """
    from torchao.quantization.pt2e.observer import HistogramObserver

    monkeypatch.setattr(
        HistogramObserver, "_non_linear_param_search", lambda self: (self.min_val, self.max_val)
    )
