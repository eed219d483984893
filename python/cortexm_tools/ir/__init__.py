# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: frozen values between the .pte and the plan. No torch here."""

from . import ops
from .attrs import Attrs, Layout, Operands, Work
from .fixed_point import Rescale
from .types import (
    Array,
    DType,
    Graph,
    Layer,
    Op,
    QuantParams,
    State,
    Tensor,
    channels_last,
    contiguous,
    same_layout,
)

__all__ = [
    "Array",
    "Attrs",
    "DType",
    "Graph",
    "Layer",
    "Layout",
    "Op",
    "Operands",
    "QuantParams",
    "Rescale",
    "State",
    "Tensor",
    "Work",
    "channels_last",
    "contiguous",
    "ops",
    "same_layout",
]
