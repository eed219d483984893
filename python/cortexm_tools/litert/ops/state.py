# SPDX-License-Identifier: Apache-2.0
"""What a model keeps from call to call: variables by their names, which a subgraph fills once."""

from __future__ import annotations

from ...ir.types import Array
from ..call import AGAIN, Call, reads
from ..values import LiteModel, LiteSubgraph


@reads("VAR_HANDLE", options="VarHandleOptions")
def _handle(call: Call) -> None:
    call.require(len(call.operator.outputs) == 1, "gives no handle", AGAIN)
    call.builder.handles[call.operator.outputs[0]] = call.option("shared_name")


@reads("CALL_ONCE", options="CallOnceOptions")
def _once(call: Call) -> None:
    number = call.option("init_subgraph_index")
    call.require(0 <= number < len(call.builder.model.subgraphs), "calls no subgraph", AGAIN)
    call.require(
        not call.builder.has_states, "comes after a variable was read", "fill variables at first"
    )
    call.builder.initial |= initial_values(call, call.builder.model, number)


def _name(call: Call) -> str:
    handle = call.operator.inputs[0] if call.operator.inputs else -1
    name = call.builder.handles.get(handle)
    if name is None:
        raise call.error("names no variable", AGAIN)
    return name


@reads("READ_VARIABLE", options="ReadVariableOptions")
def _read(call: Call) -> None:
    call.give(call.builder.state(_name(call), call.result().index).now)


@reads("ASSIGN_VARIABLE", options="AssignVariableOptions")
def _assign(call: Call) -> None:
    tensor = call.lite(1)
    call.builder.state(_name(call), tensor.index).now = call.operand(1)


def initial_values(call: Call, model: LiteModel, number: int) -> dict[str, Array]:
    """What a subgraph assigns to variables: constants alone."""
    graph = model.subgraphs[number]
    found: dict[str, Array] = {}
    names: dict[int, str] = {}
    for operator in graph.operators:
        options = operator.options
        is_handle = options is not None and options.name == "VarHandleOptions"
        if operator.name == "VAR_HANDLE" and is_handle and operator.outputs:
            assert options is not None
            names[operator.outputs[0]] = options.text("shared_name")
        elif operator.name == "ASSIGN_VARIABLE" and len(operator.inputs) == 2:
            handle, value = operator.inputs
            call.require(handle in names, "its subgraph assigns to no variable", AGAIN)
            found[names[handle]] = _constant(call, graph, value)
        else:
            raise call.error(
                f"its subgraph computes with {operator.name}",
                "give variables constant values at first",
            )
    return found


def _constant(call: Call, graph: LiteSubgraph, index: int) -> Array:
    tensor = graph.tensors[index] if index >= 0 else None
    if tensor is None or tensor.data is None or tensor.refusal or not tensor.is_number:
        raise call.error("its subgraph assigns what is no constant", AGAIN)
    return tensor.array()
