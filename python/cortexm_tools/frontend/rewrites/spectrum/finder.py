# SPDX-License-Identifier: Apache-2.0
"""The chains of a graph's nodes, and which operators continue them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ....ir.log_mel import Reals
from ...nodes import operator_name
from ..builder import Builder
from .chain import Chain, Stage

Handler = Callable[["Finder", Node, dict[str, Any]], "Chain | None"]
HANDLERS: dict[str, Handler] = {}


def on(names: str) -> Callable[[Handler], Handler]:
    """Registers how operators, by their names without aten::, continue chains."""

    def register(handler: Handler) -> Handler:
        for name in names.split():
            HANDLERS[f"aten::{name}"] = handler
        return handler

    return register


def shape_of(node: object) -> tuple[int, ...]:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return tuple(value.shape) if isinstance(value, torch.Tensor) else ()


class Finder:
    """The chains of a graph's nodes."""

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.chains: dict[Node, Chain] = {}

    def follow(self, node: Node) -> None:
        """Enters the chain of a node, if it continues one. None goes on from a logarithm that others
        read, too, nor writes over what others read."""
        name = operator_name(node)
        shared = [
            self.chains[each]
            for each in node.all_input_nodes
            if each in self.chains and len(each.users) > 1
        ]
        if node.op != "call_function" or any(chain.stage is Stage.LOGS for chain in shared):
            return
        if shared and name.endswith("_"):
            return
        if node.target is operator.getitem:
            found = self._part(node)
        else:
            handler = HANDLERS.get(name.removesuffix("_"))
            if handler is None:
                return
            try:
                found = handler(self, node, Builder(self.module, node).arguments())
            except (TypeError, ValueError, IndexError, KeyError):
                return  # arguments that no handler foresees
        if found is not None:
            self.chains[node] = found

    def chain(self, node: object, *stages: Stage) -> Chain | None:
        """The chain of a node, if it is of one of these stages; of what computes no chain, a sound."""
        if not isinstance(node, Node):
            return None
        found = self.chains.get(node)
        if found is None:
            shape, value = shape_of(node), node.meta.get("val")
            if Stage.SOUND not in stages or not shape or self.value(node) is not None:
                return None
            if not isinstance(value, torch.Tensor) or value.dtype is not torch.float32:
                return None
            return Chain.of(node, shape)
        return found if not stages or found.stage in stages else None

    def value(self, node: object) -> Reals | None:
        """The numbers of a constant."""
        tensor = Builder.value_in(self.module, node)
        if tensor is None or not tensor.is_floating_point():
            return None
        return tensor.detach().to(torch.float64).numpy()

    def number(self, value: object) -> float | None:
        """A number, or the only one of a constant."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        found = self.value(value)
        return float(found.reshape(-1)[0]) if found is not None and found.size == 1 else None

    def _part(self, node: Node) -> Chain | None:
        """A piece of a chunk or split."""
        pieces, number = node.args
        assert isinstance(pieces, Node) and isinstance(number, int)
        if operator_name(pieces) not in ("aten::chunk", "aten::split", "aten::split_with_sizes"):
            return None
        source = pieces.args[0]
        chain = self.chains.get(source) if isinstance(source, Node) else None
        values = pieces.meta.get("val")
        if chain is None or not isinstance(values, (list, tuple)):
            return None
        dim = int(Builder(self.module, pieces).arguments()["dim"]) % len(shape_of(source))
        begin = sum(int(each.shape[dim]) for each in values[:number])
        return chain.cut(dim, begin, begin + int(values[number].shape[dim]))
