# SPDX-License-Identifier: Apache-2.0
"""Whether the convolutions of a network take conv2d_tiles, with four pixels and two outputs at a time.

It saves most where windows of 3x3 share columns, and is a little slower where pixels have many inputs or are
no fours. Its code is as large as that of conv2d: so a network takes it for all its convolutions, in whose
place it is then, or for none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..kernels import gathered, gemm
from ..types import Call

_SHARE = 0.95  # of the instructions at most, so that estimates that are wrong do no harm
_SLOWER = 1.05  # times what a layer took before, at most …
_SMALL = 0.01  # … if that is more than such a part of all
_TILES, _FEW = "conv2d_tiles", "conv2d_few"
_OTHERS = ("conv2d", "conv2d_plain", "conv2d_few_unclamped", _FEW)


def tiles_pay(plain: Sequence[Call], tiled: Sequence[Call]) -> bool:
    """Whether `tiled`, the calls of a network with tiles, take fewer instructions than `plain`, those
    without, in no more code."""
    kernels = {call.kernel for call in plain}
    costs = []
    for old, call in zip(plain, tiled, strict=True):
        if call.kernel.op == _TILES:
            if old.kernel.serves != "conv2d":
                continue  # a linear layer of few products, which takes what convolutions take
            if old.kernel.op == _FEW:
                return False  # it keeps a pixel's inputs in registers
            each = _plain(old), _instructions(call.int_fields), _usual(old)
            costs.append([call.turns * cost for cost in each])
        elif call.kernel.op in _OTHERS and call.kernel.types == "s8" or call.kernel not in kernels:
            return False
    total = sum(old for old, _, _ in costs)
    if any(new > _SLOWER * usual and usual > _SMALL * total for _, new, usual in costs):
        return False
    return bool(costs) and sum(new for _, new, _ in costs) <= _SHARE * total


def _plain(call: Call) -> float:
    """Instructions of a layer without tiles."""
    if call.kernel.symbol in gathered.SYMBOLS:
        return gathered.instructions(call.kernel.symbol, call.int_fields)
    return gemm.instructions(call.int_fields, False)


def _usual(call: Call) -> float:
    """The same, of conv2d in the place of the kernel for few inputs, which no network has for all layers."""
    if call.kernel.symbol in gathered.SYMBOLS:
        return _plain(call)
    return gemm.instructions_of_conv2d(call.int_fields, False)


def _instructions(fields: Mapping[str, int]) -> float:
    """Of a layer, from what was counted in resnet8."""
    inputs, window = fields["in_c"], fields["kernel_h"] * fields["kernel_w"]
    stride, columns = fields["stride_w"], 4
    chunks = -(-window * inputs // 16)
    each: float = 28 + 15 * chunks
    row = 40
    if window == 9 and fields["kernel_h"] == 3 and inputs % 16 == 0 and stride <= 2:
        columns, chunks = 3 * stride + 3, chunks // 3
        each = 27 + (41 if stride == 2 else 36.7) * chunks
    elif window > 1:
        row += 50 * fields["kernel_h"]
    tile = 80 + (4 * columns + 8) * chunks
    strips = fields["out_h"] * -(-fields["out_w"] // 4)
    return fields["out_h"] * row + strips * (tile + fields["out_c"] / 2 * each)
