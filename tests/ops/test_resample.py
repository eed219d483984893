# SPDX-License-Identifier: Apache-2.0
"""Resampling of codes is that of numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from cortexm_tools.ir import DType, ops

from tests.support.data_graphs import DataNet, random_values
from tests.support.single_operator import quick, run, same, seeds


@quick
@given(seed=seeds)
def test_bilinear_of_codes_is_rounded_once(seed: int) -> None:
    """Equal to dequantizing, interpolating and quantizing, for weights that int8 represents."""
    net = DataNet(seed=seed)
    x = random_values(net.random, DType.S8, (1, 2, net.pick(1, 5), net.pick(1, 5)))
    zero = net.pick(-128, 127)
    places = [
        tuple(
            ops.Between(net.pick(0, n - 1), net.pick(0, n - 1), net.pick(0, 4) / 4)
            for _ in range(5)
        )
        for n in x.shape[2:]
    ]
    attrs = ops.UpsampleBilinear2d(*places, zero_point=zero)
    real = ops.UpsampleBilinear2d(*places)
    exact = run(real, [(x - np.float32(zero)).astype(np.float32)], (1, 2, 5, 5), DType.F32)
    expected = (np.rint(exact) + zero).astype(np.int8)
    same(run(attrs, [x], (1, 2, 5, 5), DType.S8), expected)
