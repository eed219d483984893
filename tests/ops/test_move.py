# SPDX-License-Identifier: Apache-2.0
"""Movement of elements, against the definitions, index by index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cortexm_tools.ir import Array, Attrs, DType, ops

from tests.support.single_operator import check_refused, indices, int8s, run, same

Place = tuple[int, ...]
X = int8s(3, 4)

# An operator on X, the result's shape, and from where in X each of its elements comes.
CASES: dict[str, tuple[Attrs, Place, Callable[..., Place | None]]] = {
    "pad": (
        ops.Pad((1, 0), (0, 2), 99),
        (4, 6),
        lambda i, j: (i - 1, j) if i >= 1 and j < 4 else None,
    ),
    "transpose": (ops.Transpose((1, 0)), (4, 3), lambda i, j: (j, i)),
    "view": (ops.View(), (2, 6), lambda i, j: divmod(6 * i + j, 4)),
    "clone": (ops.Clone(), (3, 4), lambda i, j: (i, j)),
    "expand": (ops.Expand(), (2, 3, 4), lambda _, i, j: (i, j)),
    "slice": (ops.Slice((2, 3), (-1, -2)), (3, 2), lambda i, j: (2 - i, 3 - 2 * j)),
    "tile": (ops.Tile(), (2, 6, 4), lambda _, i, j: (i % 3, j)),
    "as_strided": (
        ops.AsStrided((2, 1, 0), 3),
        (3, 4, 2),
        lambda i, j, _: divmod(3 + 2 * i + j, 4),
    ),
    "concat": (ops.Concat(1), (3, 4), lambda i, j: (i, j)),
}


@pytest.mark.parametrize("name", CASES)
def test_elements_come_from_where_the_definition_says(name: str) -> None:
    attrs, shape, source = CASES[name]
    expected = np.full(shape, 99, np.int8)
    for place in indices(shape):
        origin = source(*place)
        if origin is not None:
            expected[place] = X[origin]
    same(run(attrs, [X], shape), expected)


@pytest.mark.parametrize("dim", range(3))
@pytest.mark.parametrize("count", [1, 2])
def test_push(dim: int, count: int) -> None:
    x = int8s(3, 4, 5)
    new = int8s(*(count if d == dim else n for d, n in enumerate(x.shape)))
    kept = x.take(range(count, x.shape[dim]), axis=dim)
    same(run(ops.Push(dim), [x, new], x.shape), np.concatenate([kept, new], axis=dim))


def test_concat() -> None:
    parts = [int8s(2, 1, 2), int8s(2, 3, 2), int8s(2, 2, 2)]
    result = run(ops.Concat(1), parts, (2, 6, 2))
    for part, begin in zip(parts, (0, 1, 4), strict=True):
        same(result[:, begin : begin + part.shape[1]].copy(), part)


@pytest.mark.parametrize(
    ("attrs", "inputs", "shape", "message"),
    [
        (ops.Concat(0), [int8s(2)], (3,), "size 3, the operands 2"),
        (ops.Slice((1,), (2,)), [int8s(4)], (3,), "leads out"),
        (ops.AsStrided((2,), 1), [int8s(4)], (3,), "leads out"),
        (ops.Tile(), [int8s(2)], (3,), "not a multiple"),
        (ops.Expand(), [int8s(2)], (3,), "does not broadcast"),
        (ops.Transpose((0, 0)), [int8s(2, 2)], (2, 2), "does not permute"),
        (ops.Pad((1,), (0,), 300), [int8s(2)], (3,), "value is 300"),
    ],
)
def test_what_is_refused(
    attrs: Attrs, inputs: list[Array], shape: tuple[int, ...], message: str
) -> None:
    check_refused(attrs, inputs, shape, DType.S8, message)
