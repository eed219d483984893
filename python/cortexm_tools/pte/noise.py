# SPDX-License-Identifier: Apache-2.0
"""How much of a tensor is noise, and the ratio in dB."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Noise:
    """Sums over the elements of a tensor: of r^2, and of (r - q)^2; both in the tensor's unit squared.

    Elements that are infinite or no number on either side are left out of the sums and counted.
    """

    signal: float = 0.0
    noise: float = 0.0
    left_out: int = 0

    def __add__(self, other: Noise) -> Noise:
        return Noise(
            self.signal + other.signal, self.noise + other.noise, self.left_out + other.left_out
        )

    @property
    def share(self) -> float:
        """The noise as a share of the signal: 0 without noise, infinite for noise without signal."""
        if self.noise == 0.0:
            return 0.0
        return self.noise / self.signal if self.signal > 0.0 else math.inf

    @property
    def decibels(self) -> float:
        """The SQNR; infinite without noise, minus infinite for noise without signal."""
        share = self.share
        if share == 0.0:
            return math.inf
        return -10.0 * math.log10(share) if share < math.inf else -math.inf
