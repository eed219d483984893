# SPDX-License-Identifier: Apache-2.0
"""Arrays as devices have them in memory: by the order of their dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .types import Array


def memory_bytes(value: Array, dim_order: tuple[int, ...]) -> bytes:
    """A logical array as the bytes the device sees."""
    return np.ascontiguousarray(value.transpose(dim_order)).tobytes()


def from_memory(
    data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], dim_order: tuple[int, ...]
) -> Array:
    """The inverse of `memory_bytes`."""
    array = np.frombuffer(data, dtype).reshape([shape[d] for d in dim_order])
    return np.asarray(array.transpose(np.argsort(dim_order)), order="C")
