# SPDX-License-Identifier: Apache-2.0
"""One operator alone: what it means, what it refuses, and what the kernels make of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, Attrs, DType, Graph, Op, Tensor, contiguous
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.interpreter import run_graph

from tests.support.float_graphs import values
from tests.support.plan_executor import PlanExecutor

quick = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def dtype_of(x: Array) -> DType:
    return next(dtype for dtype in DType if dtype.numpy == x.dtype)


def run(
    attrs: Attrs, inputs: list[Array], shape: tuple[int, ...], dtype: DType = DType.S8
) -> Array:
    """What one operator gives for `inputs`, checked."""
    tensors = [
        Tensor(f"x{n}", dtype_of(x), x.shape, contiguous(x.ndim)) for n, x in enumerate(inputs)
    ]
    out = Tensor("out", dtype, shape, contiguous(len(shape)))
    places = tuple(range(len(inputs)))
    op = Op(attrs, places, (len(inputs),))
    graph = Graph("g", (*tensors, out), (op,), places, op.outputs)
    return run_graph(check_graph(graph), inputs)[0]


def check_refused(
    attrs: Attrs, inputs: list[Array], shape: tuple[int, ...], dtype: DType, message: str
) -> None:
    with pytest.raises(CortexMError, match=message):
        run(attrs, inputs, shape, dtype)


def compare_with_kernels(
    executor: PlanExecutor, graph: Graph, seed: int, *, special: bool = False
) -> None:
    """The plan and its kernels, on this machine, give what the interpreter says."""
    inputs = values(graph, seed, special=special)
    expected = run_graph(graph, inputs)
    got = executor.run_graph(graph, inputs)
    for tolerance, a, b in zip(tolerances(graph), got, expected, strict=True):
        assert differing(a, b, tolerance) == 0, (a, b)


def indices(shape: tuple[int, ...]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, shape))


def same(a: Array, b: Array) -> None:
    assert a.shape == b.shape and a.dtype == b.dtype
    assert a.tobytes() == b.tobytes()


def int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def requantize_one(acc: int, multiplier: int, shift: int) -> int:
    """The definition, in unbounded integers."""
    high = int32((int32(acc << max(shift, 0)) * multiplier + 2**30) >> 31)
    divisor = 1 << max(-shift, 0)
    magnitude = (2 * abs(high) + divisor) // (2 * divisor)
    return magnitude if high >= 0 else -magnitude


def int8s(*shape: int) -> Array:
    """As many different codes as there are, from 0 on."""
    return np.arange(np.prod(shape), dtype=np.int64).astype(np.int8).reshape(shape)
