# SPDX-License-Identifier: Apache-2.0
"""Reading LiteRT models (.tflite) into the IR, without TensorFlow or LiteRT, with TFLM's arithmetic."""

from .model import is_litert, parse_model
from .reader import list_layers, mixed_layers, read_litert
from .values import LiteModel

__all__ = ["LiteModel", "is_litert", "list_layers", "mixed_layers", "parse_model", "read_litert"]
