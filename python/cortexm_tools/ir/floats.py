# SPDX-License-Identifier: Apache-2.0
"""Sums of float32 numbers as the kernels take them.

A sum begins with the bias, or zero, and takes its terms one after another in the C order of the
logical indices it goes over, with every product and sum rounded to float32: the bits of the device
kernels. A loop goes over the terms; numpy works on all results at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = np.float32
Floats = npt.NDArray[np.float32]


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
