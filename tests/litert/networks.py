# SPDX-License-Identifier: Apache-2.0
"""A small network as a .tflite: convolutions, a sum, a state, a pool, a classifier."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.litert.files import ENUMS, File

STRIDES = {
    "padding": 0,
    "stride_h": 1,
    "stride_w": 1,
    "dilation_h_factor": 1,
    "dilation_w_factor": 1,
}
VALID = STRIDES | {"padding": ENUMS["Padding"]["VALID"]}
IN, WEIGHTS = 0.05, 0.01


class Net(File):
    """A network of int8 codes with random weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.random = np.random.default_rng(1)

    def weights(self, *shape: int, axis: int) -> tuple[int, int]:
        scales = self.random.uniform(0.002, WEIGHTS, shape[axis])
        data = self.random.integers(-127, 128, shape).astype(np.int8)
        w = self.constant(data, scale=scales, axis=axis)
        bias = self.random.integers(-500, 500, shape[axis]).astype(np.int32)
        return w, self.constant(bias, scale=scales * IN)

    def coded(self, *shape: int, scale: float = IN, zero: int = -3) -> int:
        return self.tensor(shape, scale=scale, zero=zero)


def net() -> File:
    """Of an image 1x6x6x3 it makes five scores; what it keeps is what the pool gave before."""
    f = Net()
    codes, weights = f.coded, f.weights
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


def listener() -> File:
    """Of a window of 20 frames of 8 bands, in which no layer pads along time, it makes five scores."""
    f = Net()
    codes, weights = f.coded, f.weights
    x, image, padded = codes(1, 20, 8), codes(1, 20, 8, 1), codes(1, 20, 10, 1)
    f.operator("EXPAND_DIMS", [x, f.constant(np.int32(3))], [image], "ExpandDimsOptions")
    pads = f.constant(np.array([[0, 0], [0, 0], [1, 1], [0, 0]], np.int32))
    f.operator("PAD", [image, pads], [padded], "PadOptions")
    a, b, mean, y = codes(1, 18, 8, 6), codes(1, 14, 8, 6), codes(1, 6), codes(1, 5)
    f.operator("CONV_2D", [padded, *weights(6, 3, 3, 1, axis=0)], [a], "Conv2DOptions", **VALID)
    apart = VALID | {"depth_multiplier": 1, "dilation_h_factor": 2}
    inputs = [a, *weights(1, 3, 1, 6, axis=3)]
    f.operator("DEPTHWISE_CONV_2D", inputs, [b], "DepthwiseConv2DOptions", **apart)
    f.operator("MEAN", [b, f.constant(np.array([1, 2], np.int32))], [mean], "ReducerOptions")
    inputs = [mean, *weights(5, 6, axis=0)]
    f.operator("FULLY_CONNECTED", inputs, [y], "FullyConnectedOptions")
    f.graphs[0]["inputs"], f.graphs[0]["outputs"] = [x], [y]
    return f
