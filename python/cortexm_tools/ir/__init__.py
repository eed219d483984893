# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: frozen values between the .pte and the plan. No torch here."""

from . import interpreter_data, interpreter_elementwise, interpreter_float, interpreter_more, ops
from .attrs import Attrs
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
    "Op",
    "QuantParams",
    "State",
    "Tensor",
    "channels_last",
    "contiguous",
    "interpreter_data",
    "interpreter_elementwise",
    "interpreter_float",
    "interpreter_more",
    "ops",
    "same_layout",
]
