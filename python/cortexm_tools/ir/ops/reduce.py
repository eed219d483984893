# SPDX-License-Identifier: Apache-2.0
"""Reductions over dimensions, places of extremes, and running sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs

REDUCTIONS = ("sum", "mean", "amax", "amin", "any", "all")


@dataclass(frozen=True)
class Reduce(Attrs):
    """x -> x reduced over `dims`; amax and amin in any type, any, all in bool.

    sum is of f32 or s64, mean of f32; float sums are sequential, in float32, in C order of the
    reduced dimensions. The first NaN wins in amax and amin.

    The reduced dimensions are in the result's shape (with size one) if `keepdim`.
    """

    kind: ClassVar[str] = "reduce"
    function: str
    dims: tuple[int, ...]
    keepdim: bool


@dataclass(frozen=True)
class ArgReduce(Attrs):
    """x -> [values,] s64 index of the first extreme element along `dim`; `function` min or max.

    The first NaN counts as extreme.

    With two results the first holds the extreme values, in x's type; with one result it is the
    index.
    """

    kind: ClassVar[str] = "arg_reduce"
    function: str
    dim: int
    keepdim: bool


@dataclass(frozen=True)
class TopK(Attrs):
    """x -> values, s64 indices: the k largest (or smallest) elements along `dim`, in order.

    k is the results' extent in `dim`. The lower index comes first where elements are equal; a NaN
    counts as the largest value.
    """

    kind: ClassVar[str] = "topk"
    dim: int
    largest: bool


@dataclass(frozen=True)
class Cumsum(Attrs):
    """x f32, s32 or s64 -> running sums along `dim`, in x's type (float32 sequentially)."""

    kind: ClassVar[str] = "cumsum"
    dim: int
