# SPDX-License-Identifier: Apache-2.0
"""The inputs of a firmware's self-check with what the reference gives for them, and the evaluation set for
later runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import npz_bytes
from .emit import Sample
from .errors import CortexMError
from .ir import Array, Graph
from .ir.interpreter import run_sequence
from .ir.memory import memory_bytes
from .options import ATOL, QTOL, RTOL
from .plan import Plan
from .program import EvaluationSet, Program
from .pte.vectors import check_vectors, fit_input, vector_inputs
from .stream import Streamed
from .stream.stage import stream_frames


def vector_report(
    program: Program, graph: Graph, outputs: Sequence[Sequence[Array]]
) -> dict[str, int | float]:
    """How the reference's outputs compare with what the .bpte expects."""
    check = check_vectors(graph, program.vectors[: len(outputs)], outputs)
    return {
        "total": check.total,
        "passed": check.passed,
        "largest_difference": check.largest,
        "atol": ATOL,
        "rtol": RTOL,
        "qtol": QTOL,
    }


def samples_of(
    program: Program, plan: Plan, count: int, streamed: Streamed | None = None
) -> tuple[list[Sample], list[list[Array]]]:
    """At most `count` samples, one sequence of calls, and the outputs that they expect as logical arrays.

    Of a stream it is the calls of as many windows one after another.
    """
    graph = plan.graph
    inputs, labels = list[Sequence[Array]](), list[int]()
    if streamed is not None:
        windows = min(count, len(program.evaluation.inputs) if program.evaluation else 1)
        calls = windows * streamed.window // streamed.stream.hop
        inputs += streamed.hops(stream_frames(streamed, program, calls), calls)
        labels += [-1] * len(inputs)
    for values, label in _sample_inputs(program, graph, count) if streamed is None else ():
        given = [
            fit_input(graph.tensors[index], value, f"input {k} of a sample")
            for k, (index, value) in enumerate(zip(graph.inputs, values, strict=True))
        ]
        inputs.append(given)
        labels.append(label)
    rows = list(run_sequence(graph, inputs))
    samples = [
        Sample(_row_bytes(graph, graph.inputs, given), _row_bytes(graph, graph.outputs, got), label)
        for given, got, label in zip(inputs, rows, labels, strict=True)
    ]
    return samples, rows


def _row_bytes(graph: Graph, indices: Sequence[int], values: Sequence[Array]) -> bytes:
    """Several tensors one after another, as the device sees them."""
    orders = [graph.tensors[index].dim_order for index in indices]
    return b"".join(memory_bytes(v, o) for v, o in zip(values, orders, strict=True))


def _sample_inputs(
    program: Program, graph: Graph, count: int
) -> list[tuple[tuple[Array, ...], int]]:
    """The inputs of at most `count` samples, with labels."""
    if program.evaluation is not None:
        pairs = zip(
            program.evaluation.inputs[:count], program.evaluation.labels[:count], strict=True
        )
        return [((value,), int(label)) for value, label in pairs]
    if program.example is not None:
        return [(program.example, -1)]
    if program.vectors:
        return [(row, -1) for row in vector_inputs(graph, program.vectors[:count])]
    raise CortexMError(
        "SAMPLES needs a model file or a .bpte with test vectors: a .pte or .tflite has no inputs to take",
        where=program.name,
    )


def evaluation_npz(evaluation: EvaluationSet, program: Program) -> bytes:
    """The evaluation set for later runs without torch, with the float model's accuracy."""
    arrays: dict[str, Array] = {"in_0": evaluation.inputs, "labels": evaluation.labels}
    if program.float_module is not None:
        arrays["float_accuracy"] = np.array(evaluation.accuracy_of(program.float_module))
    return npz_bytes(arrays)
