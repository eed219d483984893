# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as two tensors, their real and imaginary parts.

Rotary embeddings as Llama's reference has them: pairs of values are viewed as complex numbers, times
constants of size 1, and viewed as pairs again. What moves numbers moves both parts; products are written
out. Anything else that computes on complex numbers is refused later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import ShapingBuilder

_aten = torch.ops.aten

_MOVING = {
    f"aten::{name}"
    for name in "view reshape unsqueeze squeeze slice select index index_select expand transpose permute "
    "contiguous clone alias detach".split()
}

Parts = tuple[Node, Node]


def write_out_complex_numbers(module: GraphModule) -> None:
    """Replace, in place, every view of complex numbers as pairs whose parts can be written out."""
    found: dict[Node, Parts | None] = {}
    for node in list(module.graph.nodes):
        if node.target is not _aten.view_as_real.default:
            continue
        parts = _parts(module, node.args[0], found)
        if parts is not None:
            pairs = _Maker(module, node)(_aten.stack.default, list(parts), -1)
            node.replace_all_uses_with(pairs)
    if found:
        module.graph.eliminate_dead_code()
        module.recompile()


class _Maker(ShapingBuilder):
    def part_of(self, constant: torch.Tensor, real: Callable[[torch.Tensor], torch.Tensor]) -> Node:
        """One part of the constant that the node is."""
        part = self.constant(real(constant))
        part.meta = {**self.node.meta, "val": real(self.node.meta["val"])}
        return part


def _parts(module: GraphModule, node: Any, found: dict[Node, Parts | None]) -> Parts | None:
    """The parts of complex numbers; None if they cannot be told."""
    if node not in found:
        found[node] = _written_out(module, node, found)
    return found[node]


def _written_out(module: GraphModule, node: Node, found: dict[Node, Parts | None]) -> Parts | None:
    make = _Maker(module, node)
    constant = make.value(node)
    if constant is not None:
        if not constant.is_complex() or "val" not in node.meta:
            return None
        return make.part_of(constant, torch.real), make.part_of(constant, torch.imag)
    if node.target is _aten.view_as_complex.default:
        real, imaginary = (make(_aten.select.int, node.args[0], -1, n) for n in (0, 1))
        return real, imaginary
    if node.target in (_aten.mul.Tensor, _aten.mul_.Tensor) and len(node.all_input_nodes) == 2:
        factors = [_parts(module, each, found) for each in node.args]
        if None in factors:
            return None
        (a, b), (c, d) = factors  # type: ignore[misc]
        product = _aten.mul.Tensor
        return (
            make(_aten.sub.Tensor, make(product, a, c), make(product, b, d)),
            make(_aten.add.Tensor, make(product, a, d), make(product, b, c)),
        )
    if operator_name(node) in _MOVING:
        parts = _parts(module, node.args[0], found)
        if parts is None:
            return None
        real, imaginary = (make(node.target, p, *node.args[1:], **node.kwargs) for p in parts)
        return real, imaginary
    return None
