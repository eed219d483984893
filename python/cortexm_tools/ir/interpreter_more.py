# SPDX-License-Identifier: Apache-2.0
"""The meaning of the operators in ops_more, registered with the reference interpreter.

Float sums are taken in float64 and rounded once: a device that sums in float32 differs in the last
bits.
"""

from __future__ import annotations

import numpy as np

from . import ops_more as more
from .interpreter import implements
from .types import Array, Graph, Op


@implements(more.Clamp)
def _clamp(attrs: more.Clamp, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x: Array = inputs[0]
    if attrs.low is not None:
        x = np.maximum(x, np.array(attrs.low, x.dtype))
    if attrs.high is not None:
        x = np.minimum(x, np.array(attrs.high, x.dtype))
    return x
