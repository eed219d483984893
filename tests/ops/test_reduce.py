# SPDX-License-Identifier: Apache-2.0
"""Reductions, against definitions written element by element."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortexm_tools.ir import Attrs, DType, Tensor, ops

from tests.support.data_graphs import DataNet, random_values
from tests.support.single_operator import check_refused, indices, int8s, quick, run, same, seeds

TWO = Tensor("two", DType.S8, (1, 2), (0, 1))


@quick
@given(seed=seeds, function=st.sampled_from(["sum", "mean"]))
def test_float_sums_are_sequential(seed: int, function: str) -> None:
    net = DataNet(seed=seed)
    x = net.random.normal(0, 100, net.extents(3)).astype(np.float32)
    expected = np.empty((x.shape[1],), np.float32)
    for k in range(x.shape[1]):
        total = np.float32(-0.0)
        for i, j in indices((x.shape[0], x.shape[2])):
            total = np.float32(total + x[i, k, j])
        count = np.float32(x.shape[0] * x.shape[2])
        expected[k] = total / count if function == "mean" else total
    same(run(ops.Reduce(function, (0, 2), False), [x], expected.shape, DType.F32), expected)


@quick
@given(seed=seeds, largest=st.booleans())
def test_the_first_nan_or_extreme_wins(seed: int, largest: bool) -> None:
    net = DataNet(seed=seed)
    x = random_values(net.random, DType.F32, (net.pick(1, 12),))
    best = 0
    for k, value in enumerate(x):
        better = value > x[best] if largest else value < x[best]
        if better or (math.isnan(value) and not math.isnan(x[best])):
            best = k
    name = "max" if largest else "min"
    found = run(ops.ArgReduce(name, 0, False), [x], (), DType.S64)
    assert found == best
    same(run(ops.Reduce(f"a{name}", (0,), True), [x], (1,), DType.F32), x[best : best + 1])


@pytest.mark.parametrize(
    ("attrs", "dtype", "message"),
    [
        (ops.Reduce("sum", (0,), False), DType.S8, "is s8, must be f32 or s64"),
        (ops.Reduce("amax", (1,), False), DType.S8, "dimension 1 does not exist"),
        (ops.Cumsum(0), DType.S8, "is s8, must be f32 or s32 or s64"),
        (ops.TopK(0, True), DType.S8, "has 1 results, gives 2"),
    ],
)
def test_what_is_refused(attrs: Attrs, dtype: DType, message: str) -> None:
    check_refused(attrs, [int8s(2)], (2,), dtype, message)


def test_topk_and_running_sums() -> None:
    x = np.array([[3, 5, 5, -2]], np.int8)
    assert run(ops.Cumsum(1), [x.astype(np.int32)], (1, 4), DType.S32).tolist() == [[3, 8, 13, 11]]
    largest, smallest = (
        [array.tolist() for array in ops.TopK(1, way).compute((TWO, TWO), x)]
        for way in (True, False)
    )
    assert largest == [[[5, 5]], [[1, 2]]]
    assert smallest == [[[-2, 3]], [[3, 0]]]
