# SPDX-License-Identifier: Apache-2.0
"""Copies and casts whose result would lie in an order of dimensions that ExecuTorch has no name for.

They keep the order of their operand, which is neither contiguous nor channels_last where tensors of both
kinds, or with extents of one, are broadcast to each other. ExecuTorch then states an order that it refuses
itself; here such a result is contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch


@contextmanager
def named_orders() -> Iterator[None]:
    """Lower within this block."""
    from executorch.exir.passes import MemoryFormatOpsPass
    from executorch.exir.passes.dim_order_ops_registry import DimOrderOpsMap

    whole = MemoryFormatOpsPass.call_operator

    def call_operator(self: Any, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op in DimOrderOpsMap and _keeps_order(kwargs) and not _has_name(args[0]):
            kwargs = {**kwargs, "memory_format": torch.contiguous_format}
        return whole(self, op, args, kwargs, meta)

    with patch.object(MemoryFormatOpsPass, "call_operator", call_operator):
        yield


def _keeps_order(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("memory_format") in (None, torch.preserve_format)


def _has_name(operand: Any) -> bool:
    value = operand.to_tensor() if hasattr(operand, "to_tensor") else operand
    if not isinstance(value, torch.Tensor):
        return True
    order = tuple(value.dim_order())
    return order in (tuple(range(value.dim())), (0, 2, 3, 1))
