# SPDX-License-Identifier: Apache-2.0
"""`check_graph`: the invariants that hold after reading and after every rewrite.

Operators bring their own checks (ir/ops); one that is not declared is refused.
"""

from __future__ import annotations

import math

from ..errors import CortexMError
from .rules import check_op
from .types import Graph, Op, State, Tensor

_MAX_BYTES = 2**31 - 1  # offsets and counts of the kernels are int32


def check_graph(graph: Graph) -> Graph:
    """Returns `graph` if it is sound.

    Sound means: there is an output; names are unique; dim orders are permutations; tensors are not
    empty and smaller than 2 GiB; constants have their shape and type; every operand is defined before
    it is used, and once; operators have operands of the types and shapes they are defined on, and
    fields for which kernels compute what docs/numerics.md says; a state has one type and shape from
    call to call.

    Raises:
        CortexMError: names the first operator or tensor that breaks a rule.
    """
    if not graph.outputs:
        raise CortexMError(
            "the program has no outputs",
            where=graph.name,
            hint="a model must give a tensor: what it only keeps for the next call nobody sees",
        )
    names = [tensor.name for tensor in graph.tensors]
    if len(set(names)) != len(names):
        raise CortexMError("two tensors have one name", where=graph.name)
    _check_indices(graph)
    read = {number for op in graph.ops for number in op.inputs}
    for number, tensor in enumerate(graph.tensors):
        # An input of no elements that nothing reads: scratch that the caller was to provide.
        _check_tensor(tensor, may_be_empty=number in graph.inputs and number not in read)
    constants = {i for i, tensor in enumerate(graph.tensors) if tensor.is_constant}
    if len(set(graph.given)) != len(graph.given) or not constants.isdisjoint(graph.given):
        raise CortexMError("an input or state is given twice", where=graph.name)
    defined = constants.union(graph.given)
    for op in graph.ops:
        _check_defined(op, graph, defined)
        check_op(op, graph.tensors)
        defined.update(op.outputs)
    for number in graph.outputs:
        if number not in defined:
            raise CortexMError(f"output {graph.tensors[number].name!r} is never computed")
    for state in graph.states:
        _check_state(state, graph, defined)
    return graph


def _check_indices(graph: Graph) -> None:
    """Everything refers to tensors that there are."""
    for op in graph.ops:
        for number in (*op.inputs, *op.outputs):
            if not 0 <= number < len(graph.tensors):
                raise CortexMError(f"{op.kind} refers to tensor {number}", where=str(op.layer))
    for number in (*graph.given, *graph.kept):
        if not 0 <= number < len(graph.tensors):
            raise CortexMError(f"the graph refers to tensor {number}", where=graph.name)


def _check_state(state: State, graph: Graph, defined: set[int]) -> None:
    if state.after not in defined:
        raise CortexMError("the new value of this state is never computed", where=state.name)
    before, after = graph.tensors[state.before], graph.tensors[state.after]
    if (before.dtype, before.shape) != (after.dtype, after.shape):
        raise CortexMError("this state changes its type or shape", where=state.name)
    if state.initial.shape != before.shape or state.initial.dtype != before.dtype.numpy:
        raise CortexMError("the initial value has another type or shape", where=state.name)


def _check_tensor(tensor: Tensor, *, may_be_empty: bool) -> None:
    if sorted(tensor.dim_order) != list(range(len(tensor.shape))):
        raise CortexMError(
            f"dim order {tensor.dim_order} does not fit shape {tensor.shape}", where=tensor.name
        )
    least = 0 if may_be_empty else 1
    if any(extent < least for extent in tensor.shape):
        raise CortexMError(f"empty shape {tensor.shape}", where=tensor.name)
    if tensor.nbytes > _MAX_BYTES:
        raise CortexMError(f"shape {tensor.shape} is larger than 2 GiB", where=tensor.name)
    if tensor.data is not None and (
        tensor.data.shape != tensor.shape or tensor.data.dtype != tensor.dtype.numpy
    ):
        raise CortexMError("constant does not have the type and shape it states", where=tensor.name)
    if tensor.quant is not None and not 0.0 < tensor.quant.scale < math.inf:
        raise CortexMError(
            f"the scale {tensor.quant.scale} is not positive and finite", where=tensor.name
        )


def _check_defined(op: Op, graph: Graph, defined: set[int]) -> None:
    for number in op.inputs:
        if number not in defined:
            raise CortexMError(
                f"{op.kind} reads {graph.tensors[number].name!r} before it is computed",
                where=str(op.layer),
            )
    for place, number in enumerate(op.outputs):
        if number in defined or number in op.outputs[:place]:
            raise CortexMError(
                f"{op.kind} computes {graph.tensors[number].name!r} a second time",
                where=str(op.layer),
            )
