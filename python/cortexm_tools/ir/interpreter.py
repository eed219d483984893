# SPDX-License-Identifier: Apache-2.0
"""The reference interpreter: what a graph means, in numpy, on logical tensors.

It is the oracle of everything to the right of the .pte: plans, kernels and devices are compared with
it byte for byte. What each operator computes stands in its declaration (ir/ops).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..errors import CortexMError
from .types import Array, Graph


def run_graph(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Runs `graph` on logical inputs; returns its outputs, in their types and logical shapes.

    States have their initial values.

    Raises:
        CortexMError: the inputs do not fit the graph.
    """
    return next(run_sequence(graph, [inputs]))


def run_sequence(graph: Graph, calls: Iterable[Sequence[Array]]) -> Iterator[list[Array]]:
    """The outputs of one call after another: each begins with the states that the last one left, the
    first with their initial values.

    Raises:
        CortexMError: the inputs do not fit the graph.
    """
    states = [state.initial for state in graph.states]
    for inputs in calls:
        values = run_all(graph, inputs, states)
        states = [values[state.after] for state in graph.states]
        yield [values[index] for index in graph.outputs]


def run_all(
    graph: Graph, inputs: Sequence[Array], states: Sequence[Array] | None = None
) -> dict[int, Array]:
    """Like `run_graph`, but returns every tensor by its index; `states` are not the initial ones."""
    _check_inputs(graph, inputs)
    if states is None:
        states = [state.initial for state in graph.states]
    values: dict[int, Array] = {
        index: tensor.data for index, tensor in enumerate(graph.tensors) if tensor.data is not None
    }
    values.update(zip(graph.given, (*inputs, *states), strict=True))
    for op in graph.ops:
        wanted = tuple(graph.tensors[index] for index in op.outputs)
        # Overflow and NaN are results like any other.
        with np.errstate(all="ignore"):
            result = op.attrs.compute(wanted, *(values[index] for index in op.inputs))
        results = result if isinstance(result, list) else [result]
        for index, value in zip(op.outputs, results, strict=True):
            tensor = graph.tensors[index]
            if value.shape != tensor.shape:
                raise CortexMError(
                    f"{op.kind} gives shape {value.shape}, the program says {tensor.shape}",
                    where=str(op.layer),
                )
            values[index] = np.ascontiguousarray(value.astype(tensor.dtype.numpy)).reshape(
                tensor.shape
            )
    return values


def _check_inputs(graph: Graph, inputs: Sequence[Array]) -> None:
    if len(inputs) != len(graph.inputs):
        raise CortexMError(f"{graph.name} takes {len(graph.inputs)} inputs, got {len(inputs)}")
    for number, (index, value) in enumerate(zip(graph.inputs, inputs, strict=True)):
        tensor = graph.tensors[index]
        if value.shape != tensor.shape or value.dtype != tensor.dtype.numpy:
            raise CortexMError(
                f"input {number} is {value.dtype} {value.shape}, "
                f"the model takes {tensor.dtype.numpy} {tensor.shape}"
            )
