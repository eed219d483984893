# SPDX-License-Identifier: Apache-2.0
"""Operators that repeat elements, or put equal ones around them: expansions, padding, constants."""

from __future__ import annotations

import numpy as np

from ....ir import ops
from ....ir.types import Tensor, contiguous, same_layout
from ...call import Call, reads
from ...operands import LIMITS, SIZE


def _expand_to_out(call: Call, x: int) -> None:
    """The result is x broadcast to the result's shape."""
    info, out = call.info(x), call.out_tensor()
    try:
        fits = np.broadcast_shapes(info.shape, out.shape) == out.shape
    except ValueError:
        fits = False
    call.require(fits, f"shape {info.shape} does not broadcast to {out.shape}")
    call.require_out(out.shape, info.dtype)
    call.emit(ops.Clone() if info.shape == out.shape else ops.Expand(), x)


@reads("aten::expand_copy.out")
def _expand(call: Call) -> None:
    _expand_to_out(call, call.tensor("self"))


@reads("aten::copy.out")
def _copy(call: Call) -> None:
    """The value of `src` in the shape of `self`, whose value has no influence."""
    _expand_to_out(call, call.tensor("src"))


@reads("aten::repeat.out")
def _repeat(call: Call) -> None:
    x = call.operand()
    info = call.info(x)
    repeats = call.integers("repeats", (1, 2**31 - 1))
    call.require(len(repeats) >= len(info.shape), "fewer repeats than dimensions")
    aligned = (1,) * (len(repeats) - len(info.shape)) + info.shape
    shape = tuple(size * count for size, count in zip(aligned, repeats, strict=True))
    call.require_out(shape, info.dtype)
    call.emit(ops.Tile(), x)


@reads("cortex_m::pad.out", "cortex_m::pad_contiguous.out")
def _pad(call: Call) -> None:
    x = call.operand()
    info = call.info(x)
    rank = len(info.shape)
    call.require_dtype(x, *LIMITS)
    call.require(1 <= rank <= 4, f"padding of rank {rank} is not supported")
    before = _logical(call, info, call.integers("pre_pad", SIZE))
    after = _logical(call, info, call.integers("post_pad", SIZE))
    shape = tuple(
        low + size + high for low, size, high in zip(before, info.shape, after, strict=True)
    )
    call.require_out(shape, info.dtype)
    call.emit(ops.Pad(before, after, call.integer("pad_value", LIMITS[info.dtype])), x)


def _logical(call: Call, info: Tensor, pads: tuple[int, ...]) -> tuple[int, ...]:
    """Padding per logical dimension.

    The operators have four entries, aligned at the innermost dimension. For an image that counts as
    channels_last those of ``pad`` are in the order N, H, W, C. An image counts so by its dim order, and
    also whenever the two layouts are the same (one channel, or one pixel). ``pad_contiguous`` takes no
    other order in memory than the logical one.
    """
    call.require(len(pads) == 4, f"padding with {len(pads)} entries, not 4")
    rank, shape = len(info.shape), info.shape
    if call.instruction.operator == "cortex_m::pad_contiguous.out":
        is_contiguous = same_layout(shape, info.dim_order, contiguous(rank))
        call.require(
            is_contiguous, f"dim order {info.dim_order} of what is padded is not contiguous"
        )
    elif rank == 4:
        one = shape[1] == 1 or shape[2] == shape[3] == 1
        if one or info.dim_order[:2] == (0, 2):
            return pads[0], pads[3], pads[1], pads[2]
    call.require(not any(pads[: 4 - rank]), "padding of dimensions that do not exist")
    return pads[4 - rank :]


@reads("aten::constant_pad_nd.out")
def _constant_pad(call: Call) -> None:
    """Padding in pairs (before, after), from the last dimension on."""
    x = call.operand()
    info = call.info(x)
    pads, rank = call.integers("pad", SIZE), len(info.shape)
    call.require(len(pads) % 2 == 0 and len(pads) <= 2 * rank, "padding does not fit the rank")
    before, after = [0] * rank, [0] * rank
    for pair in range(len(pads) // 2):
        before[rank - 1 - pair], after[rank - 1 - pair] = pads[2 * pair], pads[2 * pair + 1]
    shape = tuple(b + n + a for b, n, a in zip(before, info.shape, after, strict=True))
    call.require_out(shape, info.dtype)
    value = call.real("value")
    call.require(value == int(value), "padding with a fraction is not supported")
    call.emit(ops.Pad(tuple(before), tuple(after), int(value)), x)


# Constants up to this many elements are stored; larger ones are filled in on the device.
_STORED = 256


def _full(call: Call, value: float) -> None:
    """A result whose elements are all `value`."""
    out = call.out_tensor()
    with np.errstate(all="ignore"):
        data = np.full(out.shape if out.numel <= _STORED else (), value).astype(out.dtype.numpy)
    constant = call.add_constant("full", data)
    if data.shape == out.shape:
        call.bind(constant)
    else:
        call.emit(ops.Expand(), constant)


@reads("aten::full.out", "aten::full_like.out")
def _full_value(call: Call) -> None:
    _full(call, call.scalar("fill_value"))


@reads("aten::scalar_tensor.out")
def _scalar_tensor(call: Call) -> None:
    _full(call, call.scalar("s"))


@reads("aten::zeros.out")
def _zeros(call: Call) -> None:
    _full(call, 0)


@reads("aten::ones.out")
def _ones(call: Call) -> None:
    _full(call, 1)
