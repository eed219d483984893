# SPDX-License-Identifier: Apache-2.0
"""A small network as a .tflite: convolutions, a sum, a state, a pool, a classifier."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.litert.files import File

STRIDES = {
    "padding": 0,
    "stride_h": 1,
    "stride_w": 1,
    "dilation_h_factor": 1,
    "dilation_w_factor": 1,
}
IN, WEIGHTS = 0.05, 0.01


def net() -> File:
    """Of an image 1x6x6x3 it makes five scores; what it keeps is what the pool gave before."""
    random = np.random.default_rng(1)
    f = File()

    def weights(*shape: int, axis: int) -> tuple[int, int]:
        scales = random.uniform(0.002, WEIGHTS, shape[axis])
        w = f.constant(random.integers(-127, 128, shape).astype(np.int8), scale=scales, axis=axis)
        bias = random.integers(-500, 500, shape[axis]).astype(np.int32)
        return w, f.constant(bias, scale=scales * IN)

    def codes(*shape: int, scale: float = IN, zero: int = -3) -> int:
        return f.tensor(shape, scale=scale, zero=zero)

    x, a, b = codes(1, 6, 6, 3), codes(1, 6, 6, 8), codes(1, 6, 6, 8)
    inputs = [x, *weights(8, 3, 3, 3, axis=0)]
    f.operator("CONV_2D", inputs, [a], "Conv2DOptions", fused_activation_function=1, **STRIDES)
    inputs = [a, *weights(1, 3, 3, 8, axis=3)]
    options = {"depth_multiplier": 1, **STRIDES}
    f.operator("DEPTHWISE_CONV_2D", inputs, [b], "DepthwiseConv2DOptions", **options)
    total, pooled = codes(1, 6, 6, 8), codes(1, 1, 1, 8)
    f.operator("ADD", [a, b], [total], "AddOptions")
    pool = {"filter_height": 6, "filter_width": 6, "stride_h": 6, "stride_w": 6, "padding": 1}
    f.operator("AVERAGE_POOL_2D", [total], [pooled], "Pool2DOptions", **pool)
    handle, before, both = f.tensor((), "resource"), codes(1, 1, 1, 8), codes(1, 1, 1, 16)
    name = {"container": "", "shared_name": "pooled"}
    f.operator("VAR_HANDLE", [], [handle], "VarHandleOptions", **name)
    f.operator("READ_VARIABLE", [handle], [before], "ReadVariableOptions")
    f.operator("ASSIGN_VARIABLE", [handle, pooled], [], "AssignVariableOptions")
    f.operator("CONCATENATION", [before, pooled], [both], "ConcatenationOptions", axis=3)
    flat, scores, y = codes(1, 16), codes(1, 5), codes(1, 5, scale=1 / 256, zero=-128)
    shape = f.constant(np.array([1, 16], np.int32))
    f.operator("RESHAPE", [both, shape], [flat], "ReshapeOptions", new_shape=[1, 16])
    inputs = [flat, *weights(5, 16, axis=0)]
    f.operator("FULLY_CONNECTED", inputs, [scores], "FullyConnectedOptions")
    f.operator("SOFTMAX", [scores], [y], "SoftmaxOptions", beta=1.0)
    f.graphs[0]["inputs"], f.graphs[0]["outputs"] = [x], [y]
    return f


@cache
def net_bytes() -> bytes:
    return net().data()
