# SPDX-License-Identifier: Apache-2.0
"""What operators that take elements one by one give for every code, or byte, there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import ops
from .types import Array, Graph, Op, Tensor, contiguous

VALUES = 256
"""Codes of int8, and bytes."""


def results(op: Op, out: Tensor, operands: Sequence[Array], table: Array | None) -> Array:
    """What `op` makes of its operands, which are [channels, 256].

    Args:
        out: its result.
        table: its last operand, where it looks codes up.
    """
    result = replace(out, shape=operands[0].shape, dim_order=contiguous(2))
    attrs: Any = op.attrs
    with np.errstate(all="ignore"):
        if table is None:
            made = attrs.compute((result,), *operands)
        else:
            looks_up = ops.Lookup(0) if isinstance(attrs, ops.Lookup) else attrs
            made = looks_up.compute((result,), operands[0], table)
    return np.asarray(made).astype(out.dtype.numpy)


def split_table(op: Op, graph: Graph) -> tuple[tuple[int, ...], Array | None] | None:
    """The operands that an element-wise operator reads in their places, and its table; None if that is no
    constant."""
    if not isinstance(op.attrs, ops.Activation | ops.Lookup):
        return op.inputs, None
    table = graph.tensors[op.inputs[1]].data
    return None if table is None else (op.inputs[:1], table)


def constant_operand(
    index: int, graph: Graph, made_by: Mapping[int, Op], rank: int
) -> tuple[Array, int | None] | None:
    """A constant operand as [channels or 1, 1], and the dimension of which it has one element each.

    Args:
        rank: of the result.
    """
    maker = made_by.get(index)
    if maker is not None and isinstance(maker.attrs, ops.Expand):
        index = maker.inputs[0]
    data = graph.tensors[index].data
    if data is None or data.ndim > rank:
        return None
    for axis, extent in enumerate(data.shape):
        first = data.take([0], axis)
        if extent > 1 and bool((data == first).all()):
            data = first  # it was repeated
    varying = [dim for dim, extent in enumerate(data.shape) if extent > 1]
    if len(varying) > 1:
        return None
    dim = varying[0] + rank - data.ndim if varying else None
    return data.reshape(-1, 1), dim
