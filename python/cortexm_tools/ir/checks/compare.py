# SPDX-License-Identifier: Apache-2.0
"""Rules of comparisons, logic and selection."""

from __future__ import annotations

from .. import ops
from ..types import DType
from .rules import Subject, rule


@rule(ops.Compare)
def _compare(attrs: ops.Compare, op: Subject) -> None:
    op.counts(2)
    op.one_of(attrs.function, ops.COMPARISONS)
    op.same_type(*op.ins)
    op.type_of(op.out, DType.BOOL)
    op.shape_of(op.out, *op.broadcast(*op.ins))


@rule(ops.Logical)
def _logical(attrs: ops.Logical, op: Subject) -> None:
    op.counts(2)
    op.one_of(attrs.function, ops.LOGICAL_FUNCTIONS)
    op.types(DType.BOOL)
    op.shape_of(op.out, *op.broadcast(*op.ins))


@rule(ops.LogicalNot)
def _logical_not(attrs: ops.LogicalNot, op: Subject) -> None:
    op.counts(1)
    op.types(DType.BOOL)
    op.same_shape()


@rule(ops.Where)
def _where(attrs: ops.Where, op: Subject) -> None:
    op.counts(3)
    op.type_of(op.x, DType.BOOL)
    op.same_type(*op.ins[1:], op.out)
    op.shape_of(op.out, *op.broadcast(*op.ins))
