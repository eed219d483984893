# SPDX-License-Identifier: Apache-2.0
"""What a rewrite needs: reading a captured node and putting others in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import torch
from torch.fx import GraphModule, Node

Rewrite = Callable[["Builder"], "Node | None"]
Table = dict[Any, Rewrite]


class Builder:
    """Builds the replacement of one node. The graph is captured again afterwards, which gives the
    new nodes their shapes; until then only the replacement itself has the old node's."""

    def __init__(self, module: GraphModule, node: Node) -> None:
        self.module = module
        self.node = node

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        """A call of `target`, placed before the node."""
        with self.node.graph.inserting_before(self.node):
            call = self.node.graph.call_function(target, args, kwargs)
        call.meta = {k: v for k, v in self.node.meta.items() if k not in ("val", "tensor_meta")}
        return call

    def constant(self, tensor: torch.Tensor) -> Node:
        """A constant of the graph: a parameter, whose extents ExecuTorch's passes take for numbers, where
        those of a buffer may be symbols, with which they replace no mean by a pool."""
        count = 0
        while hasattr(self.module, name := f"cortexm_constant_{count}"):
            count += 1
        value = tensor.detach().contiguous()
        if 0 in value.stride():  # contiguous for PyTorch, where the extent is one
            value = value.clone(memory_format=torch.contiguous_format)
        self.module.register_parameter(name, torch.nn.Parameter(value, requires_grad=False))
        with self.node.graph.inserting_before(self.node):
            return self.node.graph.get_attr(name)

    def arguments(self) -> dict[str, Any]:
        """The node's arguments by the names in its schema, defaults included."""
        given = dict(zip((a.name for a in self.schema_arguments()), self.node.args, strict=False))
        defaults = {a.name: a.default_value for a in self.schema_arguments()}
        return {**defaults, **given, **self.node.kwargs}

    def schema_arguments(self) -> Sequence[Any]:
        """The arguments in the schema of the node's operator."""
        target: Any = self.node.target
        return list(target._schema.arguments)

    def value(self, node: object) -> torch.Tensor | None:
        """The tensor of a constant; None for what is computed."""
        return self.value_in(self.module, node)

    @staticmethod
    def value_in(module: GraphModule, node: object) -> torch.Tensor | None:
        """The tensor of a constant of `module`; None for what is computed."""
        if not isinstance(node, Node) or node.op != "get_attr":
            return None
        found = attrgetter(str(node.target))(module)
        return found.detach() if isinstance(found, torch.Tensor) else None


class ShapingBuilder(Builder):
    """Gives new nodes their values, too, where what follows looks at their shapes and types."""

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        call = super().__call__(target, *args, **kwargs)
        given, named = torch.fx.map_arg((args, kwargs), lambda n: n.meta["val"])
        call.meta["val"] = target(*given, **named)
        return call


def shape_of(node: object) -> tuple[int, ...] | None:
    """The shape of a float32 tensor; None for anything else."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
        return None
    return tuple(int(n) for n in value.shape)


def numbers(value: Any, count: int) -> list[int]:
    """`value`, a number or a list, as `count` numbers; one number stands for all."""
    values = [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)]
    return values * count if len(values) == 1 else values
