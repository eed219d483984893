# SPDX-License-Identifier: Apache-2.0
"""The interpreter's data operators against definitions written element by element."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, Attrs, DType, Graph, Op, Tensor, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph

from data_graphs import TYPES, DataNet, random_values

quick = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def run(attrs: Attrs, inputs: list[Array], shape: tuple[int, ...], dtype: DType) -> Array:
    """One operator on `inputs`, checked."""
    names = {t.numpy: t for t in DType}
    tensors = [
        Tensor(f"x{n}", names[x.dtype], x.shape, contiguous(x.ndim)) for n, x in enumerate(inputs)
    ]
    out = Tensor("out", dtype, shape, contiguous(len(shape)))
    places = tuple(range(len(inputs)))
    op = Op(attrs, places, (len(inputs),))
    graph = Graph("g", (*tensors, out), (op,), places, op.outputs)
    with np.errstate(all="ignore"):
        return run_graph(check_graph(graph), inputs)[0]


def indices(shape: tuple[int, ...]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, shape))


def bring(index: int, size: int) -> int:
    """An index as the documentation states it."""
    return min(max(index + size if index < 0 else index, 0), size - 1)


def same(a: Array, b: Array) -> None:
    assert a.shape == b.shape and a.dtype == b.dtype
    assert a.tobytes() == b.tobytes()


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
    same(run(ops.Gather(dim), [x, index], shape, _dtype(x)), expected)


def _dtype(x: Array) -> DType:
    return {t.numpy: t for t in DType}[x.dtype]


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
    same(run(ops.Index((0, 2)), [x, rows, cols], shape, _dtype(x)), expected)


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
    ("value", "dtype", "expected"),
    [
        (300.7, DType.S8, 44),
        (-1.9, DType.U8, 255),
        (-1.9, DType.S16, -1),
        (3e9, DType.S32, 2**31 - 1),
        (-3e9, DType.S32, -(2**31)),
        (3e9, DType.S64, 3 * 10**9),
        (1e30, DType.S64, 2**63 - 1),
        (-1e30, DType.S64, -(2**63)),
        (float("nan"), DType.S32, 0),
        (float("inf"), DType.S16, -1),
        (float("nan"), DType.BOOL, 1),
        (-0.0, DType.BOOL, 0),
        (0.25, DType.BOOL, 1),
    ],
)
def test_cast_of_floats(value: float, dtype: DType, expected: int) -> None:
    assert run(ops.Cast(), [np.array([value], np.float32)], (1,), dtype)[0] == expected


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


@pytest.mark.parametrize(
    ("attrs", "inputs", "shape", "dtype", "message"),
    [
        (ops.Concat(0), [np.zeros(2, np.int8)], (3,), DType.S8, "size 3, the operands 2"),
        (ops.Slice((1,), (2,)), [np.zeros(4, np.int8)], (3,), DType.S8, "leads out"),
        (ops.AsStrided((2,), 1), [np.zeros(4, np.int8)], (3,), DType.S8, "leads out"),
        (ops.Tile(), [np.zeros(2, np.int8)], (3,), DType.S8, "no multiple"),
        (ops.Expand(), [np.zeros(2, np.int8)], (3,), DType.S8, "does not broadcast"),
        (
            ops.Reduce("sum", (0,), False),
            [np.zeros(2, np.int8)],
            (),
            DType.S8,
            "is s8, must be f32 or s64",
        ),
        (
            ops.Reduce("amax", (1,), False),
            [np.zeros(2, np.int8)],
            (2,),
            DType.S8,
            "dimension 1 does not exist",
        ),
        (ops.Compare("eq"), [np.zeros(2, np.int8)] * 2, (2,), DType.S8, "must be bool"),
        (ops.Logical("and"), [np.zeros(2, np.int8)] * 2, (2,), DType.BOOL, "is s8, must be bool"),
        (ops.Cumsum(1), [np.zeros(2, np.int32)], (2,), DType.S32, "dimension 1 does not exist"),
        (ops.TopK(0, True), [np.zeros(2, np.int8)], (2,), DType.S8, "has 1 results, gives 2"),
    ],
)
def test_unsound_operators_are_refused(
    attrs: Attrs, inputs: list[Array], shape: tuple[int, ...], dtype: DType, message: str
) -> None:
    with pytest.raises(CortexMError, match=message):
        run(attrs, inputs, shape, dtype)
