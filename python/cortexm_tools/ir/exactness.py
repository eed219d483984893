# SPDX-License-Identifier: Apache-2.0
"""Which results are the same in every bit everywhere, and how far the others may be apart.

Integer arithmetic and +, -, *, / and sqrt of floats are exact: IEEE rounding after each operation,
in a fixed order; a product that is added to a sum is one operation. (Vectors of MVE take subnormal
numbers for zero, which is not considered here.) Functions of the C library (exp, log, sin, ...) are
not: libraries differ in the last bits. Whatever is computed from their results is not exact either.

A result that is not exact may differ from the interpreter's by

* floats: RELATIVE_TOLERANCE of the largest magnitude of the expected tensor;
* dequantized codes, and integers: one step, because a value near a rounding boundary may fall on
  either side of it.
"""

from __future__ import annotations

import numpy as np

from . import ops
from .attrs import Attrs
from .edit import producers
from .types import Array, DType, Graph

# 2^-16. One library function errs by a few units of 2^-24; layers behind it can amplify that.
RELATIVE_TOLERANCE = 2.0**-16


def is_exact(attrs: Attrs) -> bool:
    """Whether an operator gives the same bits everywhere for the same operands."""
    exact = attrs.traits.exact
    return exact if isinstance(exact, bool) else exact(attrs)


def inexact_tensors(graph: Graph) -> frozenset[int]:
    """The tensors that an inexact operator computes, or that depend on one in this call or an earlier."""
    found: set[int] = set()
    while True:
        for op in graph.ops:
            if not is_exact(op.attrs) or found.intersection(op.inputs):
                found.update(op.outputs)
        more = {state.before for state in graph.states if state.after in found} - found
        if not more:
            return frozenset(found)
        found |= more


def tolerances(graph: Graph) -> tuple[float | None, ...]:
    """For each output: 0.0 if it is exact; a number of steps; None for RELATIVE_TOLERANCE."""
    inexact, made_by = inexact_tensors(graph), producers(graph)
    result: list[float | None] = []
    for index in graph.outputs:
        if index not in inexact:
            result.append(0.0)
        elif graph.tensors[index].dtype is not DType.F32:
            result.append(1.0)
        else:
            attrs = made_by[index].attrs
            result.append(attrs.scale if isinstance(attrs, ops.Dequantize) else None)
    return tuple(result)


def differing(got: Array, expected: Array, tolerance: float | None = 0.0) -> int:
    """How many elements of `got` are further from `expected` than `tolerance` (see `tolerances`).

    Exact results agree in every bit, but a NaN equals every NaN: which one an operation gives is
    the processor's choice.
    """
    if tolerance == 0.0:
        if expected.dtype.kind != "f":
            return int(np.count_nonzero(got != expected))
        bits = np.dtype(f"u{expected.itemsize}")
        same = np.ascontiguousarray(got).view(bits) == np.ascontiguousarray(expected).view(bits)
        return int(np.count_nonzero(~(same | (np.isnan(got) & np.isnan(expected)))))
    a, b = got.astype(np.float64), expected.astype(np.float64)
    if tolerance is None:
        finite = np.abs(b[np.isfinite(b)])
        tolerance = RELATIVE_TOLERANCE * float(finite.max(initial=0.0))
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= tolerance * (1.0 + 2.0**-20)
    return int(np.count_nonzero(~(near | (a == b) | (np.isnan(a) & np.isnan(b)))))
