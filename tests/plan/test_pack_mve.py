# SPDX-License-Identifier: Apache-2.0
"""The forms that MVE kernels read: every weight is found where the kernel's comment says."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.plan.pack import GEMM4_PAD, Constants, depthwise8, gemm4


def _constants(weight: np.ndarray, channels: int, groups: int = 1) -> Constants:
    numbers = np.arange(channels)
    return Constants(
        weight,
        (1000 + numbers).astype(np.int32),
        (2000 + numbers).astype(np.int32),
        (-numbers - 1).astype(np.int8),
        groups,
    )


@pytest.mark.parametrize("depth", [1, 3, 15, 16, 17, 31, 32, 33, 48, 50])
@pytest.mark.parametrize(("channels", "groups"), [(1, 1), (4, 1), (5, 1), (8, 1), (6, 2), (4, 4)])
def test_gemm4(depth: int, channels: int, groups: int) -> None:
    rng = np.random.default_rng(depth)
    weight = rng.integers(-128, 128, (channels, depth)).astype(np.int8)
    packed = gemm4(_constants(weight, channels, groups))
    per_group = channels // groups
    padded = (per_group + 3) // 4 * 4
    first = (depth - 1) % 16 + 1
    assert packed.weight.size == groups * padded * depth + GEMM4_PAD
    for channel in range(channels):
        group, o = divmod(channel, per_group)
        assert packed.bias[group * padded + o] == 1000 + channel
        assert packed.multiplier[group * padded + o] == 2000 + channel
        assert packed.shift[group * padded + o] == -channel - 1
        block = packed.weight[(group * padded + o // 4 * 4) * depth :]
        for k in range(depth):
            if k < first:
                place = o % 4 * first + k
            else:
                chunk, at = divmod(k - first, 16)
                place = 4 * (first + 16 * chunk) + o % 4 * 16 + at
            assert block[place] == weight[channel, k]


def test_gemm4_of_a_layer_with_one_multiplier() -> None:
    none = np.zeros(0, np.int8)
    packed = gemm4(Constants(np.ones((3, 5), np.int8), np.ones(3, np.int32), none, none))
    assert packed.bias.tolist() == [1, 1, 1, 0]
    assert packed.multiplier.size == packed.shift.size == 0


@pytest.mark.parametrize("channels", [8, 9, 15, 16, 23, 40])
def test_depthwise8(channels: int) -> None:
    rng = np.random.default_rng(channels)
    weight = rng.integers(-128, 128, (1, 3, 2, channels)).astype(np.int8)
    packed = depthwise8(_constants(weight, channels))
    starts = [min(8 * i, channels - 8) for i in range((channels + 7) // 8)]
    for i, start in enumerate(starts):
        for lane in range(8):
            for tap in range(6):
                expected = weight.reshape(6, channels)[tap, start + lane]
                assert packed.weight[(i * 6 + tap) * 8 + lane] == expected
            half = 8 * i + lane % 2 * 4 + lane // 2
            assert packed.bias[half] == 1000 + start + lane
            assert packed.multiplier[half] == 2000 + start + lane
            assert packed.shift[half] == -1 - start - lane
    assert packed.bias.size == 8 * len(starts)
