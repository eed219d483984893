# SPDX-License-Identifier: Apache-2.0
"""Rules of normalizations."""

from __future__ import annotations

import math

from .. import ops
from ..types import DType
from .rules import Subject, rule


@rule(ops.FloatLayerNorm)
def _layer_norm(attrs: ops.FloatLayerNorm, op: Subject) -> None:
    _norm(op, attrs.epsilon)
    shape = op.x.shape
    sizes = {math.prod(shape[first:]) for first in range(len(shape) + 1)}
    op.require(attrs.size in sizes, f"rows of {attrs.size} are not the last extents of {shape}")
    for tensor in op.ins[1:]:
        have = tensor.numel
        op.require(have == attrs.size, f"{tensor.name!r} has {have} elements, not {attrs.size}")


@rule(ops.FloatGroupNorm)
def _group_norm(attrs: ops.FloatGroupNorm, op: Subject) -> None:
    _norm(op, attrs.epsilon)
    op.require(len(op.x.shape) >= 2, "the operand has no channels")
    channels = op.x.shape[1]
    op.within((1, channels), groups=attrs.groups)
    op.require(channels % attrs.groups == 0, "channels are no multiple of the groups")
    for tensor in op.ins[1:]:
        op.shape_of(tensor, channels)


def _norm(op: Subject, epsilon: float) -> None:
    """An operand with weight and bias."""
    op.counts(3)
    op.types(DType.F32)
    op.same_shape()
    op.real(epsilon=epsilon)
    op.require(epsilon >= 0.0, f"epsilon is {epsilon}, must not be negative")
