# SPDX-License-Identifier: Apache-2.0
"""Logarithms of bands of spectra as one operator of the captured graph, ``cortexm_tools::log_mel``.

spectrum.py finds them; what a model writes them in is left behind, complex numbers too. The operator's
constants are those of ir/log_mel.py; it gives [..., frames, bands].
"""

from __future__ import annotations

import torch

Tensor = torch.Tensor


@torch.library.custom_op("cortexm_tools::log_mel", mutates_args=())
def log_mel(
    x: Tensor, window: Tensor, bank: Tensor, factor: Tensor, offset: Tensor, points: int, start: int,
    hop: int, frames: int, roots: bool, least: float, adds: bool, under: float, wide: bool,
) -> Tensor:  # fmt: skip
    """factor * ln(bank * |spectrum| ** 2) + offset, in float32 as PyTorch computes it.

    Args:
        roots: whether bands are of sqrt(|spectrum| ** 2 + under).
        wide: energies are computed from it, with int16 codes whatever the precision of the layer.
    """
    length = window.shape[0]
    used = x[..., start : start + (frames - 1) * hop + length]
    spectrum = torch.fft.rfft(used.unfold(-1, length, hop) * window, points)
    powers = spectrum.real.square() + spectrum.imag.square()
    powers = (powers + under).sqrt() if roots else powers
    sums = powers @ bank.t()
    sums = sums + least if adds else sums.clamp(min=least)
    result: Tensor = sums.log() * factor + offset
    return result


@log_mel.register_fake
def _(
    x: Tensor, window: Tensor, bank: Tensor, factor: Tensor, offset: Tensor, points: int, start: int,
    hop: int, frames: int, roots: bool, least: float, adds: bool, under: float, wide: bool,
) -> Tensor:  # fmt: skip
    return x.new_empty((*x.shape[:-1], frames, bank.shape[0]))


LOG_MEL = torch.ops.cortexm_tools.log_mel.default
