# SPDX-License-Identifier: Apache-2.0
"""Reading LiteRT models (.tflite) into the IR, without TensorFlow or LiteRT, with TFLM's arithmetic."""

from .model import is_litert, parse_model
from .reader import Operator, list_operators, read_litert, read_model
from .values import LiteModel

__all__ = [
    "LiteModel",
    "Operator",
    "is_litert",
    "list_operators",
    "parse_model",
    "read_litert",
    "read_model",
]
