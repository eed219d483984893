# SPDX-License-Identifier: Apache-2.0
"""Matrices that are those of a Fourier transform, with a window."""

from __future__ import annotations

import numpy as np

from ....ir.log_mel import Reals
from ....ir.spectrum import SIZES
from .chain import Stage

# Of the largest number: float32 rounds the angles of a matrix, of up to 2 pi * points / 2 turns.
_TOLERANCE = 1e-3


def basis_of(rows: Reals) -> tuple[Stage, Reals, int, int] | None:
    """What rows [n, samples] are: cosines, sines, or both, one after the other or in turn, of bins from 0
    on; the window that they are times, NaN where no sine says it; the points; and how many bins."""
    count, length = rows.shape
    half = count // 2
    for stage, bins in (
        (Stage.PARTS, half), (Stage.TURNS, half), (Stage.REAL, count), (Stage.IMAGINARY, count),
    ):  # fmt: skip
        for points in dict.fromkeys((2 * (bins - 1), 2 * bins, length, _next_power(length))):
            if points not in SIZES or length > points or bins > points // 2 + 1:
                continue
            if stage in (Stage.PARTS, Stage.TURNS):
                if count % 2:
                    continue
                together = stage is Stage.PARTS
                real = _window(rows[:bins] if together else rows[::2], points, np.cos)
                imaginary = _window(rows[bins:] if together else rows[1::2], points, np.sin)
                if real is None or imaginary is None or not same_windows(real, imaginary):
                    continue
                return stage, real, points, bins
            window = _window(rows, points, np.cos if stage is Stage.REAL else np.sin)
            if window is not None:
                return stage, window, points, bins
    return None


def same_windows(a: Reals, b: Reals) -> bool:
    """Whether two windows are one, up to their sign, where both are known."""
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    near = _TOLERANCE * max(float(np.abs(a).max(initial=0)), 1e-30)
    return bool((np.abs(a - b) <= near).all() or (np.abs(a + b) <= near).all())


def _next_power(length: int) -> int:
    return 1 << (length - 1).bit_length()


def _window(rows: Reals, points: int, function: np.ufunc) -> Reals | None:
    """The window with which rows are function(2 pi k t / points); None if they are not."""
    turns = np.outer(np.arange(len(rows)), np.arange(rows.shape[1])) % points
    waves = np.asarray(function(2 * np.pi / points * turns), np.float64)
    energy = (waves**2).sum(axis=0)
    known = energy > 1e-9
    window = np.full(rows.shape[1], np.nan)
    window[known] = (rows * waves).sum(axis=0)[known] / energy[known]
    largest = float(np.abs(rows).max())
    off = np.abs(rows - np.where(known, window, 0) * waves).max()
    return window if largest > 0 and off <= _TOLERANCE * largest else None
