# SPDX-License-Identifier: Apache-2.0
"""Groups of a convolution joined into fewer, with weights of zero between them.

A group costs as much as some hundred products before it makes the first one: its window is gathered, its
tails are computed apart, and DSP kernels take one group only. So where groups are small, several are
computed as one. Exact: products with a weight of zero add nothing, to a sum or to its bound.
"""

from __future__ import annotations

import numpy as np

from ...ir import Array
from ...target import Isa, Target

# Of int8 codes: instructions of a group at a pixel beside its products, and of a product. Measured with
# `python -m benchmarks.sweep --kinds conv`.
_COSTS = {Isa.MVE: (265.0, 0.19), Isa.DSP: (480.0, 2.3)}
_ONE_GROUP = {Isa.DSP: (150.0, 1.6)}

_MOST_ZEROS = 1024  # bytes of weights that may be added
_MOST_DEPTH = 144  # inputs of a window of joined groups, for which kernels have scratch memory


def groups_to_join(target: Target, weight: Array, groups: int) -> int:
    """How many groups to compute as one: a divisor of their number, 1 to leave them as they are.

    Args:
        weight: int8 [out_c, kernel_h, kernel_w, in_c / groups].
    """
    if target.isa not in _COSTS:
        return 1
    depth = weight[0].size
    products = weight.size // groups
    of_one = _ONE_GROUP.get(target.isa, _COSTS[target.isa])

    def cost(joined: int) -> float:
        each, product = of_one if joined == groups else _COSTS[target.isa]
        return groups / joined * (each + product * products * joined**2)

    fitting = [
        joined
        for joined in range(2, groups + 1)
        if groups % joined == 0
        and depth * joined <= _MOST_DEPTH
        and weight.size * (joined - 1) <= _MOST_ZEROS
    ]
    return min([1, *fitting], key=cost)


def with_zeros(weight: Array, groups: int, joined: int) -> Array:
    """The weights of groups of which `joined` neighbours are one: [out_c, kernel_h, kernel_w, in_c / groups *
    joined]."""
    channels, *window, depth = weight.shape
    wide = np.zeros((channels, *window, joined, depth), weight.dtype)
    places = np.arange(channels) // (channels // groups) % joined
    wide[np.arange(channels), :, :, places] = weight
    return wide.reshape(channels, *window, joined * depth)
