# SPDX-License-Identifier: Apache-2.0
"""A graph as text, one line per operator: for `inspect`, error messages and golden tests."""

from __future__ import annotations

import dataclasses

from .types import Graph, Op, Tensor


def tensor_text(tensor: Tensor) -> str:
    """``s8 1x16x8x8`` with the dim order where it is not C order."""
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    order = ""
    if tensor.dim_order != tuple(range(len(tensor.shape))):
        order = " order " + "".join(map(str, tensor.dim_order))
    return f"{tensor.dtype.value} {shape}{order}"


def op_text(op: Op, graph: Graph) -> str:
    """``%out = conv2d(%in, %weight, …) {attributes}  # layer``."""
    names = ", ".join(f"%{graph.tensors[i].name}" for i in op.inputs)
    results = ", ".join(
        f"%{graph.tensors[i].name}: {tensor_text(graph.tensors[i])}" for i in op.outputs
    )
    fields = ", ".join(
        f"{field.name}={_short(getattr(op.attrs, field.name))}"
        for field in dataclasses.fields(op.attrs)
    )
    return f"{results} = {op.kind}({names}) {{{fields}}}  # {op.layer}"


def graph_text(graph: Graph) -> str:
    """The whole graph; inputs, outputs and states first."""
    lines = [f"graph {graph.name}"]
    for title, indices in (("in ", graph.inputs), ("out", graph.outputs)):
        lines += [
            f"  {title} %{graph.tensors[i].name}: {tensor_text(graph.tensors[i])}" for i in indices
        ]
    lines += [
        f"  state %{graph.tensors[s.before].name} becomes %{graph.tensors[s.after].name}: "
        f"{tensor_text(graph.tensors[s.before])}  # {s.name}"
        for s in graph.states
    ]
    lines += ["  " + op_text(op, graph) for op in graph.ops]
    return "\n".join(lines) + "\n"


def _short(value: object) -> str:
    if isinstance(value, tuple) and len(value) > 6:
        return f"[{len(value)} values]"
    return str(value)
