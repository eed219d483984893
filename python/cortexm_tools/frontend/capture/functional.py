# SPDX-License-Identifier: Apache-2.0
"""The graph of a model that changes its state, or writes to parts and views of tensors, as a function.

torch.export writes down what the model does to its tensors, in place and through views. PyTorch's
functionalization turns that into new values. What it then says otherwise than a capture does is said
as a capture says it (`scatter.py` has what it says of writes to parts of a tensor), so that the
rewrites and the quantizer find what they know. States that no output depends on are left out.
"""

from __future__ import annotations

import dataclasses
import operator
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.graph import CodeGen

from ...errors import CortexMError
from ..nodes import schema_of
from ..origin.places import frame_in_text
from .scatter import say_writes
from .state import State, shape_error

_aten = torch.ops.aten


def functional(
    program: ExportedProgram, states: tuple[State, ...], base: Path
) -> tuple[GraphModule, tuple[State, ...]]:
    """The program of a `Stateless` as a graph without operators that write to their operands, and
    the states that are left.

    Args:
        base: the folder of the model file, for messages.

    Raises:
        CortexMError: the value that a state begins with is not known, or the state does not keep its shape.
    """
    states = _with_lines(program.graph, states)
    decomposed = program.run_decompositions({}).module(check_guards=False)
    assert isinstance(decomposed, GraphModule)
    graph = decomposed.graph
    _drop_first_copies(graph)
    for node in list(graph.nodes):
        node.meta["nn_module_stack"] = _without_wrapper(node.meta.get("nn_module_stack"))
        if node.target is _aten._native_batch_norm_legit_no_training.default:
            _to_batch_norm(node)
        elif node.target in (_aten.view.default, _aten._unsafe_view.default):
            node.target = _aten.reshape.default
    say_writes(graph)
    used = _drop_unused(graph, states)
    for state in used:
        if state.changed:
            raise shape_error(state, base)
        if state.late:
            raise CortexMError(
                f"the model makes its state {state.name!r} when it is first called",
                where=state.where(base),
                hint="register it as a buffer with its first value where the module is made",
            )
    graph.set_codegen(CodeGen())
    return GraphModule(decomposed, graph), used


def _with_lines(graph: Graph, states: tuple[State, ...]) -> tuple[State, ...]:
    """`states` with the line that wrote to each in place, where none assigned it."""
    placeholders = _placeholders(graph, len(states))
    owners: dict[Node, int] = {}
    lines: dict[int, tuple[str, int]] = {}
    for node in graph.nodes:
        if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
            continue
        source = node.args[0]
        if source in placeholders:
            owners[node] = placeholders.index(source)  # the copy that `Stateless` makes
        elif source in owners:
            schema = schema_of(node)
            if schema is None or not schema.returns or schema.returns[0].alias_info is None:
                continue
            owners[node] = owners[source]  # a view, or what an operator in place gives
            frame = frame_in_text(str(node.meta.get("stack_trace") or ""))
            if schema.is_mutable and frame is not None:
                lines[owners[node]] = frame
    return tuple(
        dataclasses.replace(state, line=state.line or lines.get(number))
        for number, state in enumerate(states)
    )


def _placeholders(graph: Graph, count: int) -> list[Node]:
    """Those of the states, which are the last."""
    found = graph.find_nodes(op="placeholder")
    return list(found[len(found) - count :])


def _drop_first_copies(graph: Graph) -> None:
    """Drop the copies with which `Stateless` begins: nothing writes to the originals any more."""
    copies = [n for n in graph.nodes if n.target is _aten.clone.default and not n.kwargs]
    for node in [n for n in copies if n.args[0].op == "placeholder"]:
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)


def _without_wrapper(stack: Any) -> Any:
    """An ``nn_module_stack`` by the names in the user's module."""
    if not isinstance(stack, dict):
        return stack
    entries = list(stack.items())[1:]
    return {
        key: (path.removeprefix("module").removeprefix("."), kind) for key, (path, kind) in entries
    }


def _to_batch_norm(node: Node) -> None:
    x, weight, bias, mean, variance, momentum, epsilon = node.args
    with node.graph.inserting_before(node):
        call = node.graph.call_function(
            _aten.batch_norm.default,
            (x, weight, bias, mean, variance, False, momentum, epsilon, False),
        )
    call.meta = dict(node.meta)
    for user in list(node.users):
        if user.target is operator.getitem and user.args[1] == 0:
            call.meta["val"] = user.meta.get("val")
            user.replace_all_uses_with(call)
            node.graph.erase_node(user)
    node.graph.erase_node(node)


def _drop_unused(graph: Graph, states: tuple[State, ...]) -> tuple[State, ...]:
    """Take those states out of `graph` that no output depends on, now or later; the others."""
    output = graph.output_node()
    results: list[Any] = list(output.args[0])  # type: ignore[arg-type]
    count = len(states)
    placeholders = _placeholders(graph, count)
    needed: set[Node] = set()
    wanted = [node for node in results[count:] if isinstance(node, Node)]
    while wanted:
        node = wanted.pop()
        if node in needed:
            continue
        needed.add(node)
        wanted += node.all_input_nodes
        if node in placeholders:
            wanted.append(results[placeholders.index(node)])
    keep = [i for i in range(count) if placeholders[i] in needed]
    output.args = ((*(results[i] for i in keep), *results[count:]),)
    graph.eliminate_dead_code()
    for i in set(range(count)) - set(keep):
        graph.erase_node(placeholders[i])
    return tuple(states[i] for i in keep)
