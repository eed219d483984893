# SPDX-License-Identifier: Apache-2.0
"""What kernels can require of a layer: `when` in kernels.json, by the kind of layer. Those of adapters are
in cmsis_nn.py."""

from __future__ import annotations

from collections.abc import Callable

from .. import cmsis_nn
from ..facts import Facts
from . import elements, floats, norms, pools, products, softmax

CASES: dict[str, Callable[[Facts], bool]] = {
    **products.CASES,
    **floats.CASES,
    **pools.CASES,
    **softmax.CASES,
    **norms.CASES,
    **elements.CASES,
    **cmsis_nn.CASES,
}
