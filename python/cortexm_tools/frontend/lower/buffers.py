# SPDX-License-Identifier: Apache-2.0
"""Make a lowered function of its state a program with buffers that it changes.

ExecuTorch then gives each buffer memory that lives from call to call, writes the new value into it at
the end of a call (``aten::copy_``), and stores the initial value in the .pte.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Node
from torch.utils._pytree import tree_flatten

from ...errors import CortexMError
from ..capture.state import State
from ..nodes import operator_name

_INITIALIZED = "et_init_buffer"  # key in node.meta, by which ExecuTorch stores a buffer's value
_VIEWS = ("aten::view_copy", "aten::view", "aten::alias", "aten::alias_copy", "aten::detach")


def make_buffers(program: ExportedProgram, states: tuple[State, ...]) -> ExportedProgram:
    """Turn the last inputs and the first outputs of `program` into buffers, in place."""
    graph, signature = program.graph, program.graph_signature
    inputs = [spec for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    others = [spec for spec in signature.input_specs if spec.kind is not InputKind.USER_INPUT]
    first = len(inputs) - len(states)
    placeholders = {node.name: node for node in graph.find_nodes(op="placeholder")}
    nodes = [placeholders[spec.arg.name] for spec in inputs[first:]]
    names = _names(states, program)
    buffers = []
    for node, name, state in zip(nodes, names, states, strict=True):
        value = torch.empty_strided(
            state.initial.shape, node.meta["val"].stride(), dtype=state.initial.dtype
        )
        program.state_dict[name] = value.copy_(state.initial)
        node.meta[_INITIALIZED] = True
        buffers.append(
            InputSpec(InputKind.BUFFER, TensorArgument(node.name), name, persistent=True)
        )
    # The buffers come first: of each one with a name ExecuTorch's emitter looks whether it has
    # written the same bytes already, but among the constants.
    specs = [*buffers, *others, *inputs[:first]]
    after = next(node for node in graph.nodes if node.op != "placeholder")
    for spec in specs:
        after.prepend(placeholders[spec.arg.name])
    kept = {placeholders[spec.arg.name] for spec in [*others, *inputs[first:]]}
    results = _separate(graph.output_node(), nodes, kept)
    outputs = [
        OutputSpec(
            OutputKind.BUFFER_MUTATION if i < len(names) else OutputKind.USER_OUTPUT,
            TensorArgument(node.name) if isinstance(node, Node) else spec.arg,
            names[i] if i < len(names) else spec.target,
        )
        for i, (node, spec) in enumerate(zip(results, signature.output_specs, strict=True))
    ]
    program._graph_signature = ExportGraphSignature(specs, outputs)
    _rename_calls(program, first, len(results) - len(states))
    program.graph_module.recompile()
    return program


def _names(states: tuple[State, ...], program: ExportedProgram) -> list[str]:
    """The states' names, changed where the program has a constant of that name."""
    taken = {*program.state_dict, *program.constants}
    names = []
    for state in states:
        name = state.name
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _separate(output: Node, buffers: list[Node], kept: set[Node]) -> list[Any]:
    """The program's results, with copies where one would show a buffer that is written before it
    is read, is a constant, or lies in another order than its buffer.

    Args:
        kept: the buffers and the constants. ExecuTorch takes one that is the new value of a buffer
            for what is in the buffer already.
    """
    results: list[Any] = list(output.args[0])  # type: ignore[arg-type]
    for i, result in enumerate(results):
        if not isinstance(result, Node):
            continue
        like = buffers[i].meta["val"] if i < len(buffers) else result.meta["val"]
        ordered = result.meta["val"].dim_order() == like.dim_order()
        if _origin(result) in kept:
            results[i] = _copy(output, result, like)
        elif not ordered and _is_only_dequantized(result, results):
            codes = result.all_input_nodes[0]  # rather copy codes than values
            result.replace_input_with(codes, _copy(result, codes, like))
            result.meta["val"] = torch.empty_like(like)
        elif not ordered:
            results[i] = _copy(output, result, like)
    output.args = (tuple(results),)
    return results


def _is_only_dequantized(node: Node, results: list[Any]) -> bool:
    """Whether `node` makes one of `results` from codes, and that is all that it is for."""
    if operator_name(node) != "cortex_m::dequantize_per_tensor":
        return False
    return len(node.users) == 1 and results.count(node) == 1


def _copy(before: Node, source: Node, like: torch.Tensor) -> Node:
    """A copy of `source` in the memory order of `like`."""
    from executorch.exir.dialects._ops import ops

    with before.graph.inserting_before(before):
        copy = before.graph.call_function(
            ops.edge.dim_order_ops._clone_dim_order.default,
            (source,),
            {"dim_order": list(like.dim_order())},
        )
    value = torch.empty_like(like, dtype=source.meta["val"].dtype)
    copy.meta = {k: v for k, v in source.meta.items() if k != _INITIALIZED} | {"val": value}
    return copy


def _origin(node: Node) -> Node:
    """The node whose bytes `node` may show."""
    while operator_name(node) in _VIEWS:
        node = node.all_input_nodes[0]
    return node


def _rename_calls(program: ExportedProgram, inputs: int, outputs: int) -> None:
    """Say in the program's call that it takes and gives so many tensors."""
    entry = program.module_call_graph[0]
    assert entry.signature is not None
    entry.signature = dataclasses.replace(
        entry.signature,
        in_spec=tree_flatten((tuple(range(inputs)), {}))[1],
        out_spec=tree_flatten(tuple(range(outputs)))[1],
    )


def shows_buffers(program: ExportedProgram) -> bool:
    """Whether an operator of `program` views a buffer that the program changes."""
    changed = set(program.graph_signature.buffers_to_mutate.values())
    names = {
        n for n, target in program.graph_signature.inputs_to_buffers.items() if target in changed
    }
    return any(
        node.op == "call_function" and _origin(node) is not node and _origin(node).name in names
        for node in program.graph.nodes
    )


def place_writes(program: ExportedProgram, states: tuple[State, ...]) -> None:
    """Note in the operators that write to the buffers which line of the model does that.

    Args:
        program: what ExecuTorch made of a program of `make_buffers`.
    """
    specs = program.graph_signature.input_specs
    buffers = {spec.arg.name: state for spec, state in zip(specs, states, strict=False)}
    for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        state = buffers.get(node.args[0].name)
        if state is not None and state.line is not None:
            path, (file, line) = state.places[0][0], state.line
            node.meta["nn_module_stack"] = {path: (path, "")}
            node.meta["stack_trace"] = f'  File "{file}", line {line}, in forward\n'


def check_initial_values(emitted: Any, states: tuple[State, ...]) -> None:
    """Makes sure that each buffer begins with its initial value.

    Args:
        emitted: what ExecuTorch's emitter made of a program of `make_buffers`.

    Raises:
        CortexMError: one does not.
    """
    values = [value.val for value in emitted.program.execution_plan[0].values]
    buffers = [
        tensor
        for tensor in values
        if getattr(tensor, "allocation_info", None) is not None and tensor.data_buffer_idx > 0
    ]
    found = [emitted.mutable_data[tensor.data_buffer_idx].storage for tensor in buffers]
    orders = [tuple(tensor.dim_order) for tensor in buffers]
    wanted = [
        _bytes(state.initial.permute(order)) if len(order) == state.initial.dim() else b""
        for state, order in zip(states, orders, strict=False)
    ]
    if len(found) != len(states) or found != wanted:
        raise CortexMError(
            "ExecuTorch does not write the initial values of the model's state",
            hint="this is a defect of the tools; please report it with the model",
        )


def _bytes(tensor: torch.Tensor) -> bytes:
    data: bytes = tensor.detach().contiguous().numpy().tobytes()
    return data
