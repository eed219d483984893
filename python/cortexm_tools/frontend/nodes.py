# SPDX-License-Identifier: Apache-2.0
"""Which operator a node of a graph calls, of PyTorch, of ExecuTorch's dialects or of these tools."""

from __future__ import annotations

from typing import Any


def schema_of(node: object) -> Any:
    """The schema of the operator; None for what is not a call of one."""
    return getattr(getattr(node, "target", None), "_schema", None)


def operator_name(node: object) -> str:
    """``aten::clamp`` for a call of that operator; "" for what is not a call of one."""
    schema = schema_of(node)
    return "" if schema is None else str(schema.name)


def writes(node: object) -> bool:
    """Whether it changes a tensor that it takes."""
    schema = schema_of(node)
    return schema is not None and bool(schema.is_mutable)
