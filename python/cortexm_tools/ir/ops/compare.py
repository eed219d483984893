# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and the choice between two operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..rules import Subject
from ..types import Array, DType, Tensor

_COMPARE: dict[str, np.ufunc] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_LOGICAL: dict[str, np.ufunc] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}
COMPARISONS = tuple(_COMPARE)
LOGICAL_FUNCTIONS = tuple(_LOGICAL)


@operator(
    layout=Layout.STRIDED,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Compare(Attrs):
    """a, b of one type (broadcastable) -> bool; `function` is one of COMPARISONS."""

    kind: ClassVar[str] = "compare"
    function: str

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.one_of(self.function, COMPARISONS)
        op.same_type(*op.ins)
        op.type_of(op.out, DType.BOOL)
        op.shape_of(op.out, *op.broadcast(*op.ins))

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        return np.asarray(_COMPARE[self.function](a, b))


@operator(
    layout=Layout.STRIDED,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Logical(Attrs):
    """a bool, b bool (broadcastable) -> bool; `function` is one of LOGICAL_FUNCTIONS."""

    kind: ClassVar[str] = "logical"
    function: str

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.one_of(self.function, LOGICAL_FUNCTIONS)
        op.types(DType.BOOL)
        op.shape_of(op.out, *op.broadcast(*op.ins))

    def compute(self, results: tuple[Tensor, ...], a: Array, b: Array) -> Array:
        return np.asarray(_LOGICAL[self.function](a, b))


@operator(
    layout=Layout.FOLLOW,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class LogicalNot(Attrs):
    """x bool -> not x."""

    kind: ClassVar[str] = "logical_not"

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(DType.BOOL)
        op.same_shape()

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        return np.asarray(np.logical_not(x))


@operator(
    layout=Layout.STRIDED,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Where(Attrs):
    """condition bool, a, b of one type (all broadcastable) -> a where true, else b."""

    kind: ClassVar[str] = "where"

    def check(self, op: Subject) -> None:
        op.counts(3)
        op.type_of(op.x, DType.BOOL)
        op.same_type(*op.ins[1:], op.out)
        op.shape_of(op.out, *op.broadcast(*op.ins))

    def compute(self, results: tuple[Tensor, ...], condition: Array, a: Array, b: Array) -> Array:
        return np.where(condition, a, b)
