# SPDX-License-Identifier: Apache-2.0
"""Filters in time over what came before: SVDF.

A feature of each call is kept as long as the filters reach. The kept features are an image [B, M, rank, U],
M calls high, whose filters are one depthwise convolution over all of it: the sum of a unit is one sum.
"""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.fixed_point import Rescale
from ...ir.geometry import Window
from ...ir.types import Array, DType
from ..arithmetic import activation, clamped, code_bounds, float_multiplier, table
from ..call import AGAIN, Call, reads
from ..weights import bias_of
from .slices import part


@reads("SVDF", options="SVDFOptions")
def _svdf(call: Call) -> None:
    x, kept, y = call.lite(0), call.lite(4), call.result()
    kind = call.types(DType.F32, DType.S8, operands=1)
    types = [call.lite(number).type for number in (1, 2, 4)]
    is_wide = types[1:] == ["INT16", "INT16"] and kind is DType.S8
    call.require(
        types == [x.type, *(["INT16"] if is_wide else [x.type]) * 2],
        f"has weights and states of {', '.join(types)} for {x.type}: they must have its type, or filters and "
        "states INT16 beside int8",
        AGAIN,
    )
    features, times = call.constant(1), call.constant(2)
    call.require(features.ndim == times.ndim == len(x.shape) == 2, "takes matrices", AGAIN)
    rank, memory, batch, filters = call.option("rank"), times.shape[1], x.shape[0], len(features)
    units = filters // rank if rank > 0 else 0
    fits = units * rank == filters == len(times) and features.shape[1] == x.shape[1]
    call.require(fits and kept.numel == batch * filters * memory, "its shapes do not fit", AGAIN)
    if is_wide:
        _wide(call, features, times)
        return
    # Ranks come before units.
    by_rank = np.arange(filters).reshape(units, rank).T.reshape(-1)
    new = call.add(
        _features(call, kind),
        call.operand(0),
        call.number(features[by_rank]),
        dtype=kind,
        shape=(batch, filters),
    )
    if kind is DType.S8 and (zero := call.zero(kept)):
        # TFLM limits features before it adds the zero point, and does not look what then leaves a byte.
        new = call.like(
            ops.Activation(), new, table(call, lambda code: (code + zero + 128) % 256 - 128)
        )
    state = call.builder.state(f"variable {kept.index} {kept.name}", kept.index)
    before = call.view(state.now, (batch, memory, filters))
    rows = [call.view(new, (batch, 1, filters))]
    if memory > 1:
        rows.insert(0, part(call, before, (0, 1, 0), (batch, memory - 1, filters)))
    after = call.add(ops.Concat(1), *rows, dtype=kind, shape=(batch, memory, filters))
    state.now = call.view(after, kept.shape)
    image = call.image(call.view(after, (batch, memory, rank, units)))
    weights = times.reshape(units, rank, memory).transpose(2, 1, 0)[None]
    bias = bias_of(call, 3, units, kind)
    made = call.add(
        *_filters(call, kind, weights, units, image), bias, dtype=kind, shape=(batch, units, 1, 1)
    )
    call.channels_last(made)
    made = call.view(call.permute(made, (0, 2, 3, 1)), y.shape)
    call.give(clamped(call, made, activation(call)) if kind is DType.F32 else made)


def _wide(call: Call, features: Array, times: Array) -> None:
    """With what is kept in int16 sums of the filters are no layer of codes: an operator of its own."""
    x, kept, y = call.lite(0), call.lite(4), call.result()
    call.zero(kept)
    factors = _feature(call), float_multiplier(call, kept, call.lite(2), by=y)
    rank = call.option("rank")
    attrs = ops.Svdf(rank, call.zero(x), *factors, call.zero(y))
    state = call.builder.state(f"variable {kept.index} {kept.name}", kept.index)
    units = len(times) // rank
    bias = bias_of(call, 3, units, DType.S8)
    if bias is None:
        bias = call.number(np.zeros(units, np.int32))
    operands = state.now, call.operand(0), call.number(features), call.number(times), bias
    results = (DType.S16, kept.shape), (DType.S8, y.shape)
    state.now, made = call.several(attrs, *operands, results=results)
    call.give(made)


def _feature(call: Call) -> Rescale:
    return float_multiplier(call, call.lite(0), call.lite(1), by=call.lite(4))


def _features(call: Call, kind: DType) -> ops.Attrs:
    if kind is DType.F32:
        return ops.FloatLinear()
    return ops.Linear(call.zero(call.lite(0)), 0, 0, (_feature(call),), -128, 127)


def _filters(
    call: Call, kind: DType, weights: Array, units: int, image: int
) -> tuple[ops.Attrs, int, int]:
    """The convolution, its image and its weights."""
    _, height, width, _ = weights.shape
    window = Window((height, width), (1, 1), (0, 0, 0, 0), (1, 1))
    if kind is DType.F32:
        return ops.FloatConv2d(window, units), image, call.number(weights.transpose(3, 0, 1, 2))
    kept, y = call.lite(4), call.result()
    factor = float_multiplier(call, kept, call.lite(2), by=y)
    # TFLM clamps to codes alone.
    low, high = code_bounds(call, y, "NONE")
    zeros = call.zero(kept), call.zero(y)
    attrs = ops.DepthwiseConv2d(window, *zeros, (factor,) * units, low, high)
    return attrs, image, call.number(weights)
