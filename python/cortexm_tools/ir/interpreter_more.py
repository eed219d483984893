# SPDX-License-Identifier: Apache-2.0
"""The meaning of the float32 and data operators, registered with the reference interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ops
from .interpreter import implements
from .types import Array, Graph, Op


@implements(ops.Clamp)
def _clamp(attrs: ops.Clamp, inputs: list[Any], op: Op, graph: Graph) -> Array:
    """A zero stays what it is beside a bound of zero, whatever its sign, and so does a NaN."""
    x = inputs[0]
    if attrs.low is not None:
        low = np.array(attrs.low, x.dtype)
        x = np.where(x < low, low, x)
    if attrs.high is not None:
        high = np.array(attrs.high, x.dtype)
        x = np.where(x > high, high, x)
    return np.asarray(x)
