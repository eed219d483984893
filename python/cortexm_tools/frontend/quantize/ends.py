# SPDX-License-Identifier: Apache-2.0
"""Ranges keep their ends, unless leaving them out pays.

PyTorch's HistogramObserver leaves out the values at one end before it looks at what that costs, a bin of
2048 at least. So a one, a byte of 255 or what a ReLU6 cuts off, which may be many values, would be 0.9995,
254.9 or 5.997; of 16 bits that is 32 codes, the greatest error of all. Here the range is the whole one where
that has less noise, by the observer's own measure, or where it is wider by less than a code, a thirtieth of a
decibel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch


@contextmanager
def kept_ends() -> Iterator[None]:
    """Let observers give their ranges within this block."""
    from torchao.quantization.pt2e.observer import HistogramObserver

    search = HistogramObserver._non_linear_param_search

    def kept(self: Any) -> tuple[torch.Tensor, torch.Tensor]:
        low, high = search(self)
        width = float(self.max_val - self.min_val) / self.bins
        if width > 0.0:
            start = round(float(low - self.min_val) / width)
            end = round(float(high - self.min_val) / width) - 1
            left_out = (self.bins - 1 - end + start) / self.bins
            noise = self._compute_quantization_error
            if left_out * self.dst_nbins >= 1.0 and noise(start, end) < noise(0, self.bins - 1):
                return low, high
        return self.min_val, self.max_val

    with patch.object(HistogramObserver, "_non_linear_param_search", kept):
        yield
