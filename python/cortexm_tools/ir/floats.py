# SPDX-License-Identifier: Apache-2.0
"""Sums of float32 numbers as the kernels take them.

A sum begins with the bias, or zero, and takes its terms one after another in the C order of the
logical indices it goes over, each rounded to float32: the bits of the device kernels. A term that
is a product is added to the sum with that one rounding. A loop goes over the terms; numpy works on
all results at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = np.float32
Floats = npt.NDArray[np.float32]

_LOST = np.int64((1 << 29) - 1)  # the bits of a float64 that a float32 has not
_HALFWAY = np.int64(1 << 28)
_NORMAL = 2.0**-125


def begin_sums(shape: tuple[int, ...], bias: Floats | None, axis: int) -> Floats:
    """What sums begin with: the bias along `axis`, or zero."""
    if bias is None:
        return np.zeros(shape, F32)
    along = bias.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return np.array(np.broadcast_to(along, shape), F32)


def sequential_sum(x: Floats, axis: int) -> Floats:
    """The sum along `axis`, term by term, from zero; that axis stays with size one."""
    total = np.zeros(x.take([0], axis).shape, F32)
    for k in range(x.shape[axis]):
        total += x.take([k], axis)
    return total


def fma(total: Floats, x: Floats, y: Floats) -> Floats:
    """total + x * y, rounded once to float32.

    In float64 the product is exact. The sum is rounded to odd there: what is lost sets the last bit,
    so that the second rounding, to 29 bits less, sees on which side of a tie the exact sum lies.
    (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, IEEE Transactions on Computers
    57, 2008.) Of a sum that is not halfway between two floats, nor subnormal, it makes no difference.
    """
    start = total.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        product = x.astype(np.float64) * y
        found = start + product
        bits = found.view(np.int64)
        is_unclear = bits & _LOST == _HALFWAY
        is_unclear |= (np.abs(found) < _NORMAL) & (found != 0.0)
        if is_unclear.any():
            start, product = (
                np.broadcast_to(start, found.shape),
                np.broadcast_to(product, found.shape),
            )
            first, second = start[is_unclear], product[is_unclear]
            rounded = found[is_unclear]
            # What the addition lost (Knuth, The Art of Computer Programming 2, theorem 4.2.2B).
            of_second = rounded - first
            lost = (first - (rounded - of_second)) + (second - of_second)
            even = rounded.view(np.int64)
            odd = even + np.where((lost > 0) == (rounded > 0), 1, -1)
            is_rounded = (lost != 0) & np.isfinite(lost) & (even & 1 == 0)
            found[is_unclear] = np.where(is_rounded, odd, even).view(np.float64)
        return found.astype(F32)
