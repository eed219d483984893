# SPDX-License-Identifier: Apache-2.0
"""Groups of a convolution joined into fewer, with weights of zero between them.

`joined` neighbouring groups are one that has the inputs and the outputs of all. Each output keeps the weights
for the inputs of its own group, and has zeros for those of the others. Exact: products with a weight of zero
add nothing, to a sum or to its bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .problem import ConvProblem


def join_groups(problem: ConvProblem, most_depth: int, most_bytes: int) -> Iterator[ConvProblem]:
    """With two groups as one, with three, and so on.

    Args:
        most_depth: inputs of a window.
        most_bytes: of weights that may be added.
    """
    weight, groups = problem.weight, problem.groups
    channels, *window, depth = weight.shape
    for joined in range(2, groups + 1):
        added = weight.size * (joined - 1)
        if groups % joined or weight[0].size * joined > most_depth or added > most_bytes:
            continue
        wide = np.zeros((channels, *window, joined, depth), weight.dtype)
        places = np.arange(channels) // (channels // groups) % joined
        wide[np.arange(channels), :, :, places] = weight
        fields = {**problem.fields, "groups": groups // joined}
        wide = wide.reshape(channels, *window, joined * depth)
        yield replace(problem, weight=wide, fields=fields)
