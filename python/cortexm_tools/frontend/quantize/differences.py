# SPDX-License-Identifier: Apache-2.0
"""How far tensors of the quantized model are from those of the float model."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from ...pte.noise import Noise
from ...pte.quality import OutputQuality


class OutputNoise:
    """What is known of an output so far."""

    def __init__(self) -> None:
        self.noise: Noise | None = None
        self._equal = self._count = 0

    def add(self, want: torch.Tensor, got: torch.Tensor) -> None:
        """The next call, which should have given `want`."""
        if want.is_floating_point():
            self.noise = (self.noise or Noise()) + noise_of(want, got)
        else:
            self._equal += int((want == got).sum())
            self._count += want.numel()

    def quality(self) -> OutputQuality:
        """All calls together."""
        if self.noise is not None or not self._count:
            return OutputQuality(self.noise)
        return OutputQuality(None, self._equal / self._count)


def noise_of(want: torch.Tensor, got: torch.Tensor) -> Noise:
    """The noise in `got`; none if it has another shape."""
    if want.shape != got.shape:
        return Noise()
    real, coded = want.detach().double(), got.detach().double()
    found = _sums(real, coded)
    if math.isfinite(found.signal + found.noise):
        return found
    finite = torch.isfinite(real) & torch.isfinite(coded)
    left_out = int(finite.numel() - finite.sum())
    return replace(_sums(real[finite], coded[finite]), left_out=left_out)


def _sums(real: torch.Tensor, coded: torch.Tensor) -> Noise:
    return Noise(float(real.square().sum()), float((real - coded).square().sum()))
