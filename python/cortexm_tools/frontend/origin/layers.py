# SPDX-License-Identifier: Apache-2.0
"""From nodes of a lowered graph back to the user's modules and source lines."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from torch.fx import Graph, Node

from ...errors import CortexMError, printable
from ...ir.types import Layer
from ..nodes import operator_name
from .calls import call_of
from .places import frame_in_text, shown_path

_SELF = re.compile(r"^(L\['self'\]|L__self__|self)(\.|$)")
_INDEX = re.compile(r"\['?(\w+)'?\]")


def module_path(stack: object) -> str:
    """The innermost module's path in an ``nn_module_stack``, in the user's names."""
    if not isinstance(stack, dict):
        return ""
    for entry in reversed(list(stack.values())):
        path = entry[0] if isinstance(entry, tuple) else entry
        text = _INDEX.sub(r".\1", _SELF.sub("", str(path)))
        text = text.replace("_modules.", "").strip(".")
        if text:
            return text
    return ""


def layer_of(node: Node, base: Path) -> Layer:
    """What the node's own metadata says; source files relative to `base`."""
    frame = frame_in_text(str(node.meta.get("stack_trace") or ""))
    source = f"{shown_path(frame[0], base)}:{frame[1]}" if frame else ""
    path = printable(module_path(node.meta.get("nn_module_stack")))
    return Layer(path, printable(source), printable(call_of(node)))


def layers_of_graph(graph: Graph, base: Path) -> dict[Node, Layer]:
    """A layer for every node: passes drop metadata, so some inherit from the nearest node.

    A node without any takes its nearest producer's layer, else its nearest user's.
    """
    known = {node: layer_of(node, base) for node in graph.nodes}
    result: dict[Node, Layer] = {}
    for node in graph.nodes:
        layer = known[node]
        if not layer.path and not layer.source:
            producers = _nearest(node, known, lambda n: n.all_input_nodes)
            layer = producers or _nearest(node, known, lambda n: n.users) or layer
        result[node] = layer
    return result


def _nearest(
    start: Node, known: dict[Node, Layer], step: Callable[[Node], Iterable[Node]]
) -> Layer | None:
    queue, seen = deque([start]), {start}
    while queue:
        node = queue.popleft()
        layer = known.get(node, Layer())
        if node is not start and (layer.path or layer.source):
            return layer
        for other in step(node):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return None


def kernel_layers(program: Any, graph: Graph, base: Path) -> tuple[tuple[str, Layer], ...]:
    """(operator name, layer) for each kernel call of an ExecuTorch program, in its order.

    Args:
        program: the ``executorch_program`` of an ExecutorchProgramManager.
        graph: the graph that it was emitted from.

    Raises:
        CortexMError: the program's calls do not follow the graph.
    """
    plan = program.execution_plan[0]
    names = [
        plan.operators[instruction.instr_args.op_index].name
        for chain in plan.chains
        for instruction in chain.instructions
        if hasattr(instruction.instr_args, "op_index")
    ]
    layers = layers_of_graph(graph, base)
    calls = [node for node in graph.nodes if node.op == "call_function"]
    result = []
    rest = iter(calls)
    for name in names:
        node = next((n for n in rest if operator_name(n) == name), None)
        if node is None:
            raise CortexMError(
                f"cannot tell which layer the instruction {name} came from",
                hint="this is a defect of the tools; please report it with the model",
            )
        result.append((name, layers[node]))
    return tuple(result)
