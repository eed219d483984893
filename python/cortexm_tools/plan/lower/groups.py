# SPDX-License-Identifier: Apache-2.0
"""Groups of a convolution joined into fewer, with weights of zero between them.

A group costs as much as some hundred products before it makes the first one: its window is gathered, its
tails are computed apart, and DSP kernels take one group only. So where groups are small, several are
computed as one. Exact: products with a weight of zero add nothing, to a sum or to its bound.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...ir import Array
from ...target import Isa, Target
from ..kernels import gemm, triples

# Of int8 codes on DSP: instructions of a group at a pixel beside its products, and of a product; and of all
# groups as one. Measured with `python -m benchmarks.sweep --kinds conv`.
_COSTS = (480.0, 2.3)
_ONE_GROUP = (400.0, 0.92)

FEW_ZEROS, MANY_ZEROS = 1024, 2048
"""Bytes of weights that may be added: by plans for size too, and by others."""

_PER_BYTE = 2  # instructions that each must save
_MOST_DEPTH = 288  # inputs of a window of joined groups, for which kernels have scratch memory


def groups_to_join(
    target: Target, weight: Array, fields: Mapping[str, int], most: int = MANY_ZEROS
) -> int:
    """How many groups to compute as one: a divisor of their number, 1 to leave them as they are.

    Args:
        weight: int8 [out_c, kernel_h, kernel_w, in_c / groups].
        fields: of the parameter block.
        most: bytes of weights that may be added.
    """
    isa = target.kernels
    if isa not in (Isa.MVE, Isa.DSP, *triples.ISAS):
        return 1
    groups = fields["groups"]
    depth = weight[0].size

    def cost(joined: int) -> float:
        facts = {**fields, "groups": groups // joined}
        if isa in triples.ISAS:
            found = triples.instructions(isa, facts)
        elif isa is Isa.MVE:
            found = gemm.instructions(facts, wide=False)
        else:
            found = in_groups(facts)
        return found + _PER_BYTE * weight.size * (joined - 1)

    fitting = [
        joined
        for joined in range(2, groups + 1)
        if groups % joined == 0
        and depth * joined <= _MOST_DEPTH
        and weight.size * (joined - 1) <= most
    ]
    return min([1, *fitting], key=cost)


def in_groups(facts: Mapping[str, int]) -> float:
    """Of one image on DSP, with a window for each group."""
    groups = facts["groups"]
    each, product = _ONE_GROUP if groups == 1 else _COSTS
    products = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"] * facts["out_c"] / groups**2
    return float(facts["out_h"] * facts["out_w"] * groups * (each + product * products))


def with_zeros(weight: Array, groups: int, joined: int) -> Array:
    """The weights of groups of which `joined` neighbours are one: [out_c, kernel_h, kernel_w, in_c / groups *
    joined]."""
    channels, *window, depth = weight.shape
    wide = np.zeros((channels, *window, joined, depth), weight.dtype)
    places = np.arange(channels) // (channels // groups) % joined
    wide[np.arange(channels), :, :, places] = weight
    return wide.reshape(channels, *window, joined * depth)
