# SPDX-License-Identifier: Apache-2.0
"""Instructions of conv2d on MVE (kernels/src/conv/conv2d_mve.h), for the plan to choose the form of a
layer.

Fitted to what `python -m benchmarks.sweep --kinds conv` counted of some hundred layers and their forms: most
are within 4%, all but those of a few pixels within 12%.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .contract import named
from .packing_mve import chunks_filled_up

_FIXED = 200.0  # of a call
_GROUP = 100.0  # of a group
_GATHERED = 1.1  # of an instruction that copies sixteen bytes
# Of conv2d_few_unclamped: of four outputs of two pixels, of so many pixels, and of all their outputs.
_FEW, _FEW_BLOCK, _FEW_TOGETHER, _FEW_PIXELS = 36.0, 70.0, 64, 30.0
_FEW_OUTPUTS = 8  # of a group, of fewer neighbouring pixels may be one
_FEW_SAVES = 8000  # instructions at least that it is worth its code for, some twelve for a byte


@dataclass(frozen=True)
class _Costs:
    """Instructions.

    Attributes:
        pair: of two pixels, and `short` more if the first chunk of inputs is not whole.
        chunk: inputs in a vector.
        block: of four outputs of them, and `products` for each chunk.
        rest: of outputs that are left, together; `alone` for each, and `product` for each of its chunks.
        gather: of windows that are gathered together, and `row` for each row of them.
    """

    pair: float
    short: float
    chunk: int
    block: float
    products: float
    rest: float
    alone: float
    product: float
    gather: float
    row: float


_S8 = _Costs(15, 16, 16, 35.5, 14.5, 45, 28, 6, 160, 15)
_S16 = _Costs(37, 0, 8, 41, 15, 30, 23, 6, 140, 22)


def instructions(fields: Mapping[str, int], wide: bool) -> float:
    """Of one image, also of conv2d_few_unclamped where that pays.

    Args:
        fields: of the parameter block.
        wide: codes are int16.
    """
    return _few(fields) if not wide and few_pay(fields) else instructions_of_conv2d(fields, wide)


def few_pay(fields: Mapping[str, int]) -> bool:
    """Whether a layer takes conv2d_few_unclamped: a 1x1 convolution of int8 codes without a clamp of
    its own, of up to 16 inputs and from 8 outputs on of a group, so large that it is worth the
    kernel's code. 16 bits have the places of two pixels."""
    groups = fields["groups"]
    are_few = fields["in_c"] <= 16 * groups and fields["out_c"] >= _FEW_OUTPUTS * groups
    is_plain = (fields.get("act_min"), fields.get("act_max")) == (-128, 127)
    if not (are_few and is_plain and named()["pointwise"](fields)):
        return False
    is_near = fields["out_pixel_stride"] <= 32767
    return is_near and instructions_of_conv2d(fields, False) - _few(fields) >= _FEW_SAVES


def _few(fields: Mapping[str, int]) -> float:
    groups = fields["groups"]
    blocks = -(-fields["out_c"] // groups // 4)
    pixels = fields["out_h"] * fields["out_w"]
    pair = blocks * (_FEW + 2 * _FEW_BLOCK / _FEW_TOGETHER) + 2 * _FEW_PIXELS / _FEW_TOGETHER
    return _FIXED + groups * pixels / 2 * pair


def instructions_of_conv2d(fields: Mapping[str, int], wide: bool) -> float:
    """Of one image by conv2d alone."""
    costs = _S16 if wide else _S8
    groups = fields["groups"]
    in_c, out_c = fields["in_c"] // groups, fields["out_c"] // groups
    inputs = fields["kernel_h"] * fields["kernel_w"] * in_c
    gathered = 0.0 if named()["pointwise"](fields) else _gathered(fields, in_c, costs, wide)
    if gathered and not wide:
        inputs = chunks_filled_up(inputs)
    chunks = -(-inputs // costs.chunk)
    blocks, left = divmod(out_c, 4)
    pair = costs.pair + blocks * (costs.block + costs.products * chunks)
    if inputs % costs.chunk:
        pair += costs.short
    if left:
        pair += costs.rest + left * (costs.alone + costs.product * chunks)
    pairs = fields["out_h"] * fields["out_w"] / 2
    return _FIXED + groups * (_GROUP + pairs * pair + fields["out_h"] * gathered)


def _gathered(fields: Mapping[str, int], in_c: int, costs: _Costs, wide: bool) -> float:
    """Of the columns of a row of windows."""
    size = 2 * in_c if wide else in_c
    column = fields["kernel_h"] * size
    most = named()["together_s16" if wide else "together_s8"](fields)
    spread = 16 // size * size if size <= 8 and fields["dilation_w"] * fields["groups"] == 1 else 0
    if spread and (15 // size + 1) * column > 255:
        spread = 0
    most = max(1, most // 2 * 2)
    whole, left = divmod(fields["out_w"], most)
    total = 0.0
    for windows, times in ((most, whole), (left // 2 * 2, 1), (left % 2, 1)):
        if windows:
            runs = (windows - 1) * fields["stride_w"] + fields["kernel_w"]
            copies = 8 * -(-runs * size // spread) if spread else 6 * runs * -(-size // 16)
            each = costs.gather + fields["kernel_h"] * (costs.row + _GATHERED * copies)
            total += times * each
    return total
