# SPDX-License-Identifier: Apache-2.0
"""Elements at places, against definitions written element by element."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cortexm_tools.ir import DType, ops

from tests.support.data_graphs import TYPES, DataNet, random_values
from tests.support.single_operator import dtype_of, indices, quick, run, same, seeds


def bring(index: int, size: int) -> int:
    """An index as the documentation states it."""
    return min(max(index + size if index < 0 else index, 0), size - 1)


@quick
@given(seed=seeds)
def test_gather(seed: int) -> None:
    net = DataNet(seed=seed)
    x = random_values(net.random, net.one_of(*TYPES), net.extents(net.pick(1, 3)))
    dim = net.pick(0, x.ndim - 1)
    shape = tuple(net.pick(1, 4 if d == dim else n) for d, n in enumerate(x.shape))
    index = net.random.integers(-9, 9, shape)
    expected = np.empty(shape, x.dtype)
    for i in indices(shape):
        expected[i] = x[(*i[:dim], bring(int(index[i]), x.shape[dim]), *i[dim + 1 :])]
    same(run(ops.Gather(dim), [x, index], shape, dtype_of(x)), expected)


@quick
@given(seed=seeds)
def test_index_of_two_axes(seed: int) -> None:
    net = DataNet(seed=seed)
    x = random_values(net.random, net.one_of(*TYPES), net.extents(3))
    rows, cols = net.random.integers(-7, 7, (3, 1)), net.random.integers(-7, 7, (4,))
    shape = (3, 4, x.shape[1])
    expected = np.empty(shape, x.dtype)
    for i, j, k in indices(shape):
        first = bring(int(rows[i, 0]), x.shape[0])
        expected[i, j, k] = x[first, k, bring(int(cols[j]), x.shape[2])]
    same(run(ops.Index((0, 2)), [x, rows, cols], shape, dtype_of(x)), expected)


@quick
@given(seed=seeds, accumulate=st.booleans())
def test_index_put(seed: int, accumulate: bool) -> None:
    net = DataNet(seed=seed)
    dtype = net.one_of(DType.S8, DType.S64, DType.U8)
    x = random_values(net.random, dtype, net.extents(2))
    where = net.random.integers(-7, 7, (6,))
    values = random_values(net.random, dtype, (6, x.shape[1]))
    expected = x.copy()
    for k, column in indices(values.shape):
        at = bring(int(where[k]), x.shape[0]), column
        with np.errstate(over="ignore"):
            expected[at] = expected[at] + values[k, column] if accumulate else values[k, column]
    attrs = ops.IndexPut((0,), accumulate)
    same(run(attrs, [x, values, where], x.shape, dtype), expected)
