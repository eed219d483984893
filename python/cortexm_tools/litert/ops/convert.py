# SPDX-License-Identifier: Apache-2.0
"""Conversions between types: quantization and casts."""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.fixed_point import quantize_multiplier
from ...ir.types import DType
from ..arithmetic import table
from ..call import AGAIN, Call, reads


def _limits(call: Call) -> tuple[int, int]:
    return call.type(call.result()).limits


@reads("QUANTIZE", options="QuantizeOptions")
def _quantize(call: Call) -> None:
    x, y = call.lite(0), call.result()
    kinds = call.type(x), call.type(y)
    if kinds in ((DType.F32, DType.S8), (DType.F32, DType.S16)):
        zero = call.zero(y)
        call.emit(ops.Quantize(call.scale(y), zero, *_limits(call)), call.operand(0))
        return
    known = (DType.S8, DType.S16, DType.U8)
    call.require(
        kinds[0] in known and kinds[1] in known and kinds != (DType.U8, DType.U8),
        f"gives {y.type} of {x.type}",
        "there are kernels from FLOAT32, INT8, INT16 and UINT8 to INT8 and INT16, and to UINT8 from INT8",
    )
    factor = quantize_multiplier(call.scale(x) / call.scale(y))
    source, target = call.zero(x), call.zero(y)
    if kinds[0] is DType.U8:
        call.require(kinds[1] is DType.S8, f"gives {y.type} of {x.type}", "go by way of INT8")
        codes = np.clip(factor.apply(np.arange(256) - source) + target, -128, 127)
        entries = call.number(codes.astype(np.int8).reshape(1, 256))
        call.emit(ops.Lookup(0), call.operand(0), entries)
    elif kinds[1] is DType.U8:
        call.require(kinds[0] is DType.S8, f"gives {y.type} of {x.type}", "go by way of INT8")
        # The bits of a byte are those of a code.
        entries = table(
            call,
            lambda code: (
                np.clip(factor.apply(code - source) + target, 0, 255).astype(np.uint8).view(np.int8)
            ),
        )
        bits = call.like(ops.Activation(), call.operand(0), entries)
        call.emit(ops.Cast(), bits)
    else:
        attrs = ops.Requantize(source, factor, target, *_limits(call))
        call.emit(attrs, call.operand(0))


@reads("DEQUANTIZE", options="DequantizeOptions")
def _dequantize(call: Call) -> None:
    call.require(call.has(0), "operand 0 is missing", AGAIN)
    source = call.builder.subgraph.tensors[call.operator.inputs[0]]
    if source.type == "FLOAT16" and source.data is not None and not source.refusal:
        call.give(call.number(source.array().astype(np.float32)))
        return
    x = call.lite(0)
    kind = call.type(x)
    call.require(
        kind in (DType.S8, DType.S16, DType.U8) and call.type(call.result()) is DType.F32,
        f"gives {call.result().type} of {x.type}",
        "there are kernels from INT8, INT16 and UINT8 to FLOAT32",
    )
    quantization = x.quantization
    data = call.known(0)
    if data is not None and quantization is not None:
        sizes = [
            len(quantization.scales) if d == quantization.axis else 1 for d in range(data.ndim)
        ]
        if len(quantization.scales) == 1:
            sizes = [1] * data.ndim
        zeros = np.array(quantization.zero_points, np.int64).reshape(sizes)
        scales = np.array(quantization.scales, np.float32).reshape(sizes)
        call.give(call.number((data.astype(np.int64) - zeros).astype(np.float32) * scales))
        return
    scale, zero, codes = call.scale(x), call.zero(x), call.operand(0)
    if kind is DType.U8:
        entries = call.number(np.arange(-128, 128, dtype=np.int8).reshape(1, 256))
        codes = call.add(ops.Lookup(0), codes, entries, dtype=DType.S8, shape=x.shape)
        zero -= 128
    call.emit(ops.Dequantize(scale, zero), codes)


@reads("CAST", options="CastOptions")
def _cast(call: Call) -> None:
    call.require(len(call.operator.inputs) == 1, "takes one operand", AGAIN)
    if call.type(call.lite(0)) is call.type(call.result()):
        call.give(call.operand(0))
    else:
        call.emit(ops.Cast(), call.operand(0))
