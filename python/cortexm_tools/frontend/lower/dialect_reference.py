# SPDX-License-Identifier: Apache-2.0
"""What the operators of dialect.py compute, in PyTorch, for ExecuTorch's Python reference of a program.

Sums of products go through float64, exactly; docs/numerics.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._prims_common import suggest_memory_format
from torch.nn import functional as F  # noqa: N812

from ...ir.ops.norm import GroupNorm, LayerNorm
from ...ir.ops.resample import UpsampleBilinear2d, linear_places
from ...ir.ops.spectrum import LogMel
from ...ir.types import DType, Tensor, contiguous
from ...ir.wide import ADD_RAISE, interpolate, softmax_multiplier, softmax_s16


def _codes(values: torch.Tensor, low: int = -(2**15), high: int = 2**15 - 1) -> torch.Tensor:
    return torch.clamp(values, low, high).to(torch.int16)


def _rescaled(acc: torch.Tensor, multiplier: Any, shift: Any, dim: int = 0) -> torch.Tensor:
    """`acc`, each entry along `dim` with its factor, rounded once; factors are reduced to 16 bits."""
    multiplier = torch.as_tensor(multiplier, dtype=torch.int64).reshape(-1)
    right = 15 - torch.as_tensor(shift, dtype=torch.int64).reshape(-1)
    shape = [1] * acc.dim()
    shape[dim] = -1
    factor = torch.clamp((multiplier + (1 << 15)) >> 16, max=32767).reshape(shape)
    half = (torch.ones_like(right) << (right - 1)).reshape(shape)
    return (acc.to(torch.int64) * factor + half) >> right.reshape(shape)


def _requantized(value: torch.Tensor, multiplier: int, shift: int) -> torch.Tensor:
    """CMSIS-NN's requantization of 32 bits, with two roundings."""
    high = ((value << max(shift, 0)) * multiplier + (1 << 30)) >> 31
    right = max(-shift, 0)
    half = (1 << right) >> 1
    return torch.where(high < 0, -((-high + half) >> right), (high + half) >> right)


def _bias(bias: torch.Tensor | None) -> torch.Tensor | None:
    return None if bias is None else bias.to(torch.float64)


def _ended(
    acc: torch.Tensor, multipliers: Any, shifts: Any, low: int, high: int, dim: int = 1
) -> torch.Tensor:
    return _codes(_rescaled(acc.to(torch.int64), multipliers, shifts, dim), low, high)


def _convolution(depthwise: bool) -> Callable[..., torch.Tensor]:
    def compute(
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        *rest: Any,
    ) -> torch.Tensor:
        multipliers, shifts, low, high = rest[-4:]
        order = (3, 0, 1, 2) if depthwise else (0, 3, 1, 2)
        taps = weight.permute(*order).to(torch.float64)
        groups = x.shape[1] // taps.shape[1]
        acc = F.conv2d(x.to(torch.float64), taps, _bias(bias), stride, padding, dilation, groups)
        return _ended(acc, multipliers, shifts, low, high)

    return compute


def _transposed(x: torch.Tensor, weight: torch.Tensor, bias: Any, *rest: Any) -> torch.Tensor:
    stride, padding, more, dilation, _, _, multipliers, shifts, low, high = rest
    acc = F.conv_transpose2d(
        x.to(torch.float64),
        weight.permute(3, 0, 1, 2).to(torch.float64),
        _bias(bias),
        stride,
        padding,
        more,
        1,
        dilation,
    )
    return _ended(acc, multipliers, shifts, low, high)


def _linear(
    x: torch.Tensor, weight: torch.Tensor, bias: Any, kernel_sum: Any, *rest: Any
) -> torch.Tensor:
    multipliers, shifts, high, low = rest[-4:]
    added = kernel_sum.reshape(-1) if bias is None and kernel_sum is not None else bias
    acc = F.linear(x.to(torch.float64), weight.to(torch.float64), _bias(added))
    return _ended(acc, multipliers, shifts, low, high, acc.dim() - 1)


def _batch_matmul(a: torch.Tensor, _: int, b: torch.Tensor, *rest: Any) -> torch.Tensor:
    acc = a.to(torch.float64) @ b.to(torch.float64).transpose(1, 2)
    return _codes(_rescaled(acc.to(torch.int64), rest[-2], rest[-1]))


def _add(
    a: torch.Tensor, _: int, a_multiplier: int, a_shift: int, b: torch.Tensor, *rest: Any
) -> torch.Tensor:
    _, b_multiplier, b_shift, _, multiplier, shift, low, high = rest
    raised = (each.to(torch.int64) << ADD_RAISE for each in (a, b))
    total = _requantized(next(raised), a_multiplier, a_shift) + _requantized(
        next(raised), b_multiplier, b_shift
    )
    return _codes(_requantized(total, multiplier, shift), low, high)


def _mul(a: torch.Tensor, _: int, b: torch.Tensor, *rest: Any) -> torch.Tensor:
    return _codes(_requantized(a.to(torch.int64) * b.to(torch.int64), rest[-2], rest[-1]))


def _avg_pool(x: torch.Tensor, kernel: Any, stride: Any, padding: Any, *rest: Any) -> torch.Tensor:
    window = (kernel, stride or kernel, padding, bool(rest[0]))
    total, count = (
        F.avg_pool2d(image, *window, divisor_override=1).to(torch.int64)
        for image in (x.to(torch.float64), torch.ones_like(x, dtype=torch.float64))
    )
    magnitude = (total.abs() + count // 2) // count
    return _codes(torch.where(total < 0, -magnitude, magnitude))


def _max_pool(x: torch.Tensor, kernel: Any, stride: Any, *rest: Any) -> torch.Tensor:
    padding, dilation, ceil_mode, _, _, low, high = rest
    image = x.to(torch.float64)
    best = F.max_pool2d(image, kernel, stride or kernel, padding, dilation, ceil_mode)
    return _codes(best, low, high)


def _activation(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    codes = interpolate(x.to(torch.int64).numpy(), table.to(torch.int64).numpy())
    return _codes(torch.from_numpy(codes))


def _softmax(x: torch.Tensor, dim: int, scale: float) -> torch.Tensor:
    rows = x.movedim(dim, -1).to(torch.int64).numpy()
    soft = torch.from_numpy(softmax_s16(rows, softmax_multiplier(scale)))
    return soft.movedim(-1, dim).to(torch.int16)


def _requantize(x: torch.Tensor, zero_point: int, *rest: Any) -> torch.Tensor:
    multiplier, shift, out_zero_point, low, high, dtype = rest
    codes = _requantized(x.to(torch.int64) - zero_point, multiplier, shift) + out_zero_point
    return torch.clamp(codes, low, high).to(dtype)


def _bilinear(x: torch.Tensor, size: list[int], align: bool, *rest: Any) -> torch.Tensor:
    scales, zero_point = rest[:2], rest[2]
    rows, cols = (linear_places(x.shape[2 + i], size[i], scales[i], align) for i in range(2))
    attrs = UpsampleBilinear2d(rows, cols, zero_point)
    codes = torch.from_numpy(attrs.compute((), x.to(torch.int64).numpy()))
    return codes.to(x.dtype).contiguous(memory_format=suggest_memory_format(x))


def _log_mel(x: torch.Tensor, window: torch.Tensor, weights: torch.Tensor, *rest: Any) -> Any:
    points, start, hop, frames, shift, roots, under, first, *others = rest
    count, high, low, adds, *scales = others
    gains, offsets, gain_shift, act_min, act_max, dtype = scales
    attrs = LogMel(
        points, start, hop, shift, roots, under, tuple(first), tuple(count), (high << 32) + low,
        adds, tuple(gains), tuple(offsets), gain_shift, act_min, act_max,
    )  # fmt: skip
    shape = (*x.shape[:-1], frames, len(first))
    of_type = DType.S8 if dtype is torch.int8 else DType.S16
    out = Tensor("out", of_type, shape, contiguous(len(shape)))
    return torch.from_numpy(attrs.compute((out,), x.numpy(), window.numpy(), weights.numpy()))


def _layer_norm(x: torch.Tensor, factor: torch.Tensor, offset: torch.Tensor, *rest: Any) -> Any:
    return _normalized(LayerNorm(*rest), x, factor, offset)


def _group_norm(x: torch.Tensor, factor: torch.Tensor, offset: torch.Tensor, *rest: Any) -> Any:
    return _normalized(GroupNorm(*rest), x, factor, offset)


def _normalized(attrs: LayerNorm | GroupNorm, x: torch.Tensor, *tables: torch.Tensor) -> Any:
    dtype = DType.S8 if x.dtype is torch.int8 else DType.S16
    out = Tensor("out", dtype, tuple(x.shape), contiguous(x.dim()))
    codes = attrs.compute((out,), x.contiguous().numpy(), *(each.numpy() for each in tables))
    return torch.from_numpy(codes).clone(memory_format=torch.contiguous_format)


REFERENCES: dict[str, Callable[..., torch.Tensor]] = {
    "quantized_add": _add,
    "quantized_mul": _mul,
    "quantized_conv2d": _convolution(depthwise=False),
    "quantized_depthwise_conv2d": _convolution(depthwise=True),
    "quantized_transpose_conv2d": _transposed,
    "quantized_linear": _linear,
    "quantized_batch_matmul": _batch_matmul,
    "quantized_avg_pool2d": _avg_pool,
    "quantized_max_pool2d": _max_pool,
    "quantized_activation": _activation,
    "softmax": _softmax,
    "requantize": _requantize,
    "upsample_bilinear2d": _bilinear,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "log_mel": _log_mel,
}
"""By the operator's name."""
