# SPDX-License-Identifier: Apache-2.0
"""Normalizations, float32: rows in C order, or channels with the strides of any layout."""

from __future__ import annotations

import math

from ...ir import Op, ops
from ..types import Call, Field, TensorArg
from .boxes import strides
from .context import Selector, lowers


@lowers(ops.FloatLayerNorm)
def _layer_norm(select: Selector, attrs: ops.FloatLayerNorm, op: Op) -> list[Call]:
    rows = select.tensor(op.inputs[0]).numel // attrs.size
    fields: dict[str, Field] = {"batches": rows, "groups": 1, "channels": attrs.size, "pixels": 1}
    for name in ("in", "out"):
        fields |= {
            f"{name}_batch_stride": attrs.size,
            f"{name}_channel_stride": 1,
            f"{name}_pixel_stride": 1,
        }
    return _norm_call(select, op, fields, attrs.epsilon)


@lowers(ops.FloatGroupNorm)
def _group_norm(select: Selector, attrs: ops.FloatGroupNorm, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    fields: dict[str, Field] = {
        "batches": x.shape[0],
        "groups": attrs.groups,
        "channels": x.shape[1] // attrs.groups,
        "pixels": math.prod(x.shape[2:]),
    }
    for name, tensor in (("in", x), ("out", out)):
        step = strides(tensor)
        # The pixels of a channel are evenly spaced; dimensions of one element have no spacing.
        pixels = (a for a, size in zip(step[2:], tensor.shape[2:], strict=True) if size > 1)
        fields |= {
            f"{name}_batch_stride": step[0],
            f"{name}_channel_stride": step[1],
            f"{name}_pixel_stride": min(pixels, default=1),
        }
    return _norm_call(select, op, fields, attrs.epsilon)


def _norm_call(select: Selector, op: Op, fields: dict[str, Field], epsilon: float) -> list[Call]:
    args = [select.operand(i) for i in op.inputs]
    kernel = select.kernel("group_norm", "f32", op)
    return [select.call(kernel, fields | {"epsilon": epsilon}, [*args, TensorArg(op.outputs[0])])]
