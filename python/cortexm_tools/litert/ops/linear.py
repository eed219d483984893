# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.fixed_point import quantize_multiplier
from ...ir.types import DType
from ..arithmetic import activation, clamped, code_bounds
from ..call import AGAIN, Call, reads
from ..weights import bias_of, check_sums, rescales, weights_of


@reads("FULLY_CONNECTED", options="FullyConnectedOptions")
def _fully_connected(call: Call) -> None:
    layout = call.choice("weights_format", "FullyConnectedOptionsWeightsFormat")
    call.require(layout == "DEFAULT", f"its weights are in the order {layout}", AGAIN)
    x, y = call.lite(0), call.result()
    weights = weights_of(call, 0, 1, axis=0)
    call.require(weights.data.ndim == 2, f"weights of shape {weights.data.shape}", AGAIN)
    outputs, inputs = weights.data.shape
    rows = x.numel // inputs
    call.require(rows * inputs == x.numel, f"{x} of shape {x.shape} has no rows of {inputs}", AGAIN)
    rows_of_x = call.view(call.operand(0), (rows, inputs))
    kind = call.type(x)
    bias = bias_of(call, 2, outputs, kind)
    function = activation(call)
    attrs: ops.Attrs = ops.FloatLinear()
    if weights.scales:
        call.types(DType.S8, DType.S16, operands=1)
        check_sums(call, kind, 2)
        factors = rescales(call, x, weights, y)
        low, high = code_bounds(call, y, function)
        zero_points = call.zero(x), weights.zero_point(call), call.zero(y)
        attrs = ops.Linear(*zero_points, factors, low, high)
    operands = rows_of_x, call.number(weights.data), bias
    made = call.add(attrs, *operands, dtype=kind, shape=(rows, outputs))
    call.give(made if weights.scales else clamped(call, made, function))


@reads("BATCH_MATMUL", options="BatchMatMulOptions")
def _batch_matmul(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
    sides = []
    for number, option in ((0, "adj_x"), (1, "adj_y")):
        side = call.operand(number)
        rank = len(call.shape(side))
        call.require(rank >= 2, f"{call.lite(number)} is no matrix", AGAIN)
        turn = (*range(rank - 2), rank - 1, rank - 2)
        # Of codes the second operand is taken transposed.
        turned = bool(call.option(option)) != (number == 1 and kind is not DType.F32)
        sides.append(call.permute(side, turn) if turned else side)
    batch = _broadcast(call, *(call.shape(side)[:-2] for side in sides))
    lhs, rhs = (_expanded(call, side, batch) for side in sides)
    count, rows = math.prod(batch), call.shape(lhs)[1]
    attrs: ops.Attrs = ops.FloatMatmul()
    columns = call.shape(rhs)[2 if kind is DType.F32 else 1]
    if kind is not DType.F32:
        x, w, y = call.lite(0), call.lite(1), call.result()
        factor = quantize_multiplier(call.scale(x) * call.scale(w) / call.scale(y))
        attrs = ops.BatchMatmul(call.zero(x), call.zero(w), call.zero(y), factor)
    call.give(call.add(attrs, lhs, rhs, dtype=kind, shape=(count, rows, columns)))


def _broadcast(call: Call, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise call.error(f"operands of shapes {shapes} do not broadcast", AGAIN) from None


def _expanded(call: Call, x: int, batch: tuple[int, ...]) -> int:
    """Matrices [B,M,N], as often as there are batches."""
    *own, rows, columns = call.shape(x)
    if math.prod(own) != math.prod(batch):
        x = call.add(ops.Expand(), x, dtype=call.dtype(x), shape=(*batch, rows, columns))
    return call.view(x, (math.prod(batch), rows, columns))
