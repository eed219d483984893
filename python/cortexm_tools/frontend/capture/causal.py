# SPDX-License-Identifier: Apache-2.0
"""Masks of PyTorch's encoders and decoders, taken as they are.

These modules ask whether the mask that they are given is causal, by its values, which a captured graph
does not have. With a yes their attention may compute the same mask by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from torch import Tensor
from torch.nn.modules import transformer


@contextmanager
def masks_as_given() -> Iterator[None]:
    """Inside the block a mask is causal only if the model's author says so."""
    with patch.object(transformer, "_detect_is_causal_mask", _said):
        yield


def _said(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    return is_causal is True
