# SPDX-License-Identifier: Apache-2.0
"""Helpers for rewrites: a graph under construction, and removal of what nothing uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .types import Graph, Layer, Op, State, Tensor


class GraphBuilder:
    """Collects a new graph from an old one: tensors keep their indices, new ones are appended.

    `alias` maps a tensor to the one that takes its place from then on.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.tensors: list[Tensor] = list(graph.tensors)
        self.ops: list[Op] = []
        self._alias: dict[int, int] = {}
        self._names = {tensor.name for tensor in graph.tensors}

    def resolve(self, index: int) -> int:
        """The tensor that stands for `index` now."""
        while index in self._alias:
            index = self._alias[index]
        return index

    def alias(self, old: int, new: int) -> None:
        self._alias[old] = new

    def add_tensor(self, tensor: Tensor) -> int:
        """Appends a tensor, its name made unique; returns its index."""
        name, number = tensor.name, 1
        while name in self._names:
            number += 1
            name = f"{tensor.name}_{number}"
        self._names.add(name)
        self.tensors.append(replace(tensor, name=name))
        return len(self.tensors) - 1

    def add(self, op: Op) -> None:
        """Appends `op` with its operands resolved."""
        self.ops.append(replace(op, inputs=tuple(self.resolve(i) for i in op.inputs)))

    def finish(
        self,
        outputs: Iterable[int] | None = None,
        inputs: Iterable[int] | None = None,
        states: Iterable[State] | None = None,
    ) -> Graph:
        chosen = self._graph.outputs if outputs is None else outputs
        return Graph(
            name=self._graph.name,
            tensors=tuple(self.tensors),
            ops=tuple(self.ops),
            inputs=self._graph.inputs if inputs is None else tuple(inputs),
            outputs=tuple(self.resolve(i) for i in chosen),
            states=tuple(
                replace(state, after=self.resolve(state.after))
                for state in (self._graph.states if states is None else states)
            ),
        )


def consumers(graph: Graph) -> dict[int, list[Op]]:
    """The operators that read each tensor."""
    result: dict[int, list[Op]] = {}
    for op in graph.ops:
        for index in op.inputs:
            result.setdefault(index, []).append(op)
    return result


def producers(graph: Graph) -> dict[int, Op]:
    """The operator that computes each tensor."""
    return {index: op for op in graph.ops for index in op.outputs}


def inherit_layers(graph: Graph) -> Graph:
    """Gives operators without a known layer that of the operator whose result they read first."""
    layers: dict[int, Layer] = {}
    result: list[Op] = []
    for op in graph.ops:
        if op.layer == Layer():
            op = replace(op, layer=layers.get(op.inputs[0], Layer()))
        layers.update(dict.fromkeys(op.outputs, op.layer))
        result.append(op)
    return replace(graph, ops=tuple(result))


def remove_dead(graph: Graph) -> Graph:
    """Drops operators whose results nothing reads, state that no output depends on, and tensors nothing
    refers to.

    Exact: what is dropped has no influence on any output, of this call or a later one. Inputs stay
    even when unused, because they are part of the program's interface.
    """
    states: tuple[State, ...] = ()
    needed = _needed(graph, graph.outputs)
    while len(found := tuple(s for s in graph.states if s.before in needed)) > len(states):
        states = found
        needed = _needed(graph, (*graph.outputs, *(state.after for state in states)))
    kept = [op for op in graph.ops if needed.intersection(op.outputs)]
    used = set(graph.inputs) | needed | {i for op in kept for i in op.outputs}
    order = [i for i in range(len(graph.tensors)) if i in used]
    if (len(kept), len(order), states) == (len(graph.ops), len(graph.tensors), graph.states):
        return graph
    renumbered = {old: new for new, old in enumerate(order)}
    return Graph(
        name=graph.name,
        tensors=tuple(graph.tensors[i] for i in order),
        ops=tuple(
            replace(
                op,
                inputs=tuple(renumbered[i] for i in op.inputs),
                outputs=tuple(renumbered[i] for i in op.outputs),
            )
            for op in kept
        ),
        inputs=tuple(renumbered[i] for i in graph.inputs),
        outputs=tuple(renumbered[i] for i in graph.outputs),
        states=tuple(
            replace(state, before=renumbered[state.before], after=renumbered[state.after])
            for state in states
        ),
    )


def _needed(graph: Graph, results: Iterable[int]) -> set[int]:
    """The tensors that `results` depend on, themselves among them."""
    needed = set(results)
    for op in reversed(graph.ops):
        if needed.intersection(op.outputs):
            needed.update(op.inputs)
    return needed
