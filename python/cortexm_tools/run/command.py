# SPDX-License-Identifier: Apache-2.0
"""`cortexm run`: a compiled program on an emulated board or on this machine, held against the reference."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import npz_bytes, npz_names, read_npz
from ..compile import Compiled, write_compiled
from ..emit.files import write_files
from ..errors import CortexMError, printable
from ..ir import Array, Graph
from ..ir.exactness import differing, tolerances
from ..ir.interpreter import run_sequence
from ..ir.memory import from_memory, memory_bytes
from ..options import ATOL, QTOL, RTOL
from ..program import EvaluationSet
from ..pte.quality import quality_line
from ..pte.rounded import rounded_line
from ..pte.vectors import check_vectors, fit_input, tolerance_text, vector_inputs
from ..report import alternative_lines, float_lines, table
from ..stream.stage import random_input
from ..target import Core
from . import run_on_board, run_on_core, run_on_host
from .circumstances import measured_data, measured_lines, tried_line
from .elsewhere import against_pytorch, against_tflm, pytorch_lines, tflm_lines
from .place import Place
from .result import RunResult
from .streams import compare_windows, stream_inputs, windows_line

# What a .pte without inputs is tried on, and with which seed.
_RANDOM_INVOCATIONS = 3
_SEED = 0

Invocation = tuple[Array, ...]


@dataclass(frozen=True)
class RunRequest:
    """Where to run and on what; None is the default.

    `place` is a board with a chip, instead of the emulator.

    `atol`, `rtol` and `qtol` say how far the outputs may be from the expectations of a .bpte
    (pte/vectors.py).
    """

    board: str | None = None
    place: Place | None = None
    inputs: Path | None = None
    outputs: Path | None = None
    dataset: Path | None = None
    work: Path | None = None
    atol: float = ATOL
    rtol: float = RTOL
    qtol: int = QTOL


@dataclass(frozen=True)
class RunReport:
    """What came out.

    Attributes:
        matched: every output value equals the interpreter's, in every byte unless the graph is not
            exact (ir/exactness.py).
        passed: `matched`, and every test vector of a .bpte gave what it expects.
        data: the numbers, for --json.
        result: the measurements.
    """

    matched: bool
    passed: bool
    data: dict[str, Any]
    result: RunResult


def run_program(compiled: Compiled, request: RunRequest) -> RunReport:
    """Builds, runs and compares.

    Raises:
        CortexMError: a tool is missing, an input does not fit, or the image fails.
    """
    graph = compiled.plan.graph
    evaluation = _evaluation(compiled, request)
    invocations, stacked = _invocations(compiled, request, evaluation)
    packed = [
        [
            memory_bytes(v, graph.tensors[i].dim_order)
            for v, i in zip(row, graph.inputs, strict=True)
        ]
        for row in invocations
    ]
    if request.work is not None:
        result = _execute(compiled, request, packed, request.work)
    else:
        with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
            result = _execute(compiled, request, packed, Path(folder))
    outputs = [unpack(graph, row) for row in result.outputs]
    expected = [tuple(values) for values in run_sequence(graph, invocations)]
    wrong = differing_values(graph, outputs, expected)
    if request.outputs is not None:
        _store(request.outputs, outputs, stacked)
    data = _data(compiled, result, len(invocations), wrong)
    unequal = 0
    if compiled.streamed is not None:
        windows = compare_windows(compiled.streamed, invocations, outputs)
        data["stream"] = {**compiled.report["stream"], "compared": windows}
        unequal = windows["differing"] if windows else 0
    elif compiled.program.is_litert and not _takes_codes(compiled):
        data |= against_tflm(compiled, invocations, outputs)
    elif graph.inputs and not _takes_codes(compiled):
        data |= against_pytorch(compiled.program, invocations, outputs)
    if evaluation is not None:
        data["evaluation"] = {
            "samples": len(evaluation.labels),
            "accuracy": evaluation.accuracy(outputs),
            **_float_accuracy(compiled, request, evaluation),
        }
    failed = 0
    if _runs_vectors(compiled, request, evaluation):
        vectors = compiled.program.vectors
        check = check_vectors(
            graph, vectors, outputs, atol=request.atol, rtol=request.rtol, qtol=request.qtol
        )
        failed = check.failed
        data["test_vectors"] = {
            "passed": check.passed,
            "total": check.total,
            "largest_difference": check.largest,
            "atol": request.atol,
            "rtol": request.rtol,
            "qtol": request.qtol,
        }
    return RunReport(wrong == 0, not (wrong or failed or unequal), data, result)


def _runs_vectors(
    compiled: Compiled, request: RunRequest, evaluation: EvaluationSet | None
) -> bool:
    """Whether the inputs are the test vectors of a .bpte."""
    return (
        bool(compiled.program.vectors)
        and request.inputs is None
        and evaluation is None
        and compiled.streamed is None
    )


def _execute(
    compiled: Compiled, request: RunRequest, packed: list[list[bytes]], folder: Path
) -> RunResult:
    name, target = compiled.program.name, compiled.plan.target
    model = folder / "model"
    write_compiled(compiled, model)
    if target.core is Core.HOST:
        return run_on_host(model, name, packed, folder)
    if request.place is not None:
        return request.place.run(model, name, packed, folder, target=target)
    isa = target.isa if target.core is not Core.ANY else None
    if request.board is not None:
        return run_on_board(model, name, request.board, packed, folder, core=target.core, isa=isa)
    return run_on_core(model, name, target.core, packed, folder, isa=isa)


def _takes_codes(compiled: Compiled) -> bool:
    """Whether IO int8 changed the interface of the program."""
    before, after = (
        [graph.tensors[index].dtype for index in (*graph.inputs, *graph.outputs)]
        for graph in (compiled.graph, compiled.plan.graph)
    )
    return before != after


def _invocations(
    compiled: Compiled, request: RunRequest, evaluation: EvaluationSet | None
) -> tuple[list[Invocation], bool]:
    """The inputs of every invocation, and whether outputs are stored stacked."""
    graph = compiled.plan.graph
    if request.inputs is not None:
        return read_inputs(graph, request.inputs)
    if compiled.streamed is not None:
        return stream_inputs(compiled.streamed, compiled.program), True
    if evaluation is not None:
        return [(_fit(graph, 0, value),) for value in evaluation.inputs], True
    if _runs_vectors(compiled, request, evaluation):
        return vector_inputs(graph, compiled.program.vectors), True
    return example_inputs(compiled, _RANDOM_INVOCATIONS), True


def example_inputs(compiled: Compiled, count: int) -> list[Invocation]:
    """The model's example inputs if it is a model file, then seeded random ones."""
    graph = compiled.plan.graph
    if compiled.streamed is not None:
        return stream_inputs(compiled.streamed, compiled.program)[:count]
    rows: list[Invocation] = []
    if compiled.program.example is not None:
        example = enumerate(compiled.program.example)
        rows.append(tuple(_fit(graph, number, value) for number, value in example))
    random = np.random.default_rng(_SEED)
    while len(rows) < count:
        rows.append(tuple(random_input(graph, i, random) for i in graph.inputs))
    return rows


def read_inputs(graph: Graph, path: Path) -> tuple[list[Invocation], bool]:
    """The inputs of every invocation in an .npz, and whether they are stacked there.

    Raises:
        CortexMError: they are not those of the graph.
    """
    names = [f"in_{number}" for number in range(len(graph.inputs))]
    arrays = read_npz(path, names)
    missing = [name for name in names if name not in arrays]
    if missing:
        raise CortexMError(
            f"has no entry {missing[0]!r}: the model takes {len(names)} inputs",
            where=str(path),
            hint=f"entries found: {printable(', '.join(sorted(npz_names(path)))) or 'none'}",
        )
    ranks = [len(graph.tensors[i].shape) for i in graph.inputs]
    stacked = bool(names) and arrays[names[0]].ndim == ranks[0] + 1
    if not stacked:
        return [tuple(_fit(graph, n, arrays[name]) for n, name in enumerate(names))], False
    counts = {arrays[name].shape[:1] or (0,) for name in names}
    if len(counts) != 1:
        raise CortexMError("inputs are stacked to different depths", where=str(path))
    depth = arrays[names[0]].shape[0]
    rows = [
        tuple(_fit(graph, n, arrays[name][k]) for n, name in enumerate(names)) for k in range(depth)
    ]
    return rows, True


def _fit(graph: Graph, number: int, value: Array) -> Array:
    """`value` as the number-th input."""
    return fit_input(graph.tensors[graph.inputs[number]], value, f"in_{number}")


def unpack(graph: Graph, row: list[bytes]) -> Invocation:
    tensors = [graph.tensors[i] for i in graph.outputs]
    return tuple(
        from_memory(data, tensor.dtype.numpy, tensor.shape, tensor.dim_order)
        for data, tensor in zip(row, tensors, strict=True)
    )


def differing_values(graph: Graph, outputs: list[Invocation], expected: list[Invocation]) -> int:
    """How many output values are not what the interpreter gives (see ir/exactness.py)."""
    allowed = tolerances(graph)
    return sum(
        differing(a, b, tolerance)
        for got, want in zip(outputs, expected, strict=True)
        for a, b, tolerance in zip(got, want, allowed, strict=True)
    )


def _store(path: Path, outputs: list[Invocation], stacked: bool) -> None:
    count = len(outputs[0]) if outputs else 0
    arrays = {
        f"out_{n}": np.stack([row[n] for row in outputs]) if stacked else outputs[0][n]
        for n in range(count)
    }
    write_files(path.parent, {path.name: npz_bytes(arrays)})


def _evaluation(compiled: Compiled, request: RunRequest) -> EvaluationSet | None:
    if request.dataset is not None and compiled.streamed is not None:
        raise CortexMError(
            "a stream has no labelled samples", where=str(request.dataset), hint="leave out STREAM"
        )
    if request.inputs is not None or compiled.streamed is not None:
        return None
    if request.dataset is not None:
        return read_dataset(request.dataset)
    if compiled.plan.target.core is Core.HOST:
        return compiled.program.evaluation
    return None


def read_dataset(path: Path) -> EvaluationSet:
    """Stacked inputs, and as many class indices.

    Raises:
        CortexMError: the file has other things.
    """
    arrays = read_npz(path, ["in_0", "labels"])
    if not {"in_0", "labels"} <= set(arrays):
        raise CortexMError("has no entries 'in_0' and 'labels'", where=str(path))
    inputs, labels = arrays["in_0"], arrays["labels"]
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or inputs.shape[:1] != labels.shape:
        raise CortexMError(
            f"has labels of {labels.dtype} {labels.shape} for inputs of shape {inputs.shape}",
            where=str(path),
            hint="'labels' holds one class index for each input in 'in_0'",
        )
    if not len(labels):
        raise CortexMError("has no samples", where=str(path))
    return EvaluationSet(inputs, labels)


def _float_accuracy(
    compiled: Compiled, request: RunRequest, evaluation: EvaluationSet
) -> dict[str, float]:
    if request.dataset is not None:
        stored = read_npz(request.dataset, ["float_accuracy"]).get("float_accuracy")
        if stored is None or stored.shape != () or stored.dtype.kind not in "iuf":
            return {}
        return {"float_accuracy": float(stored)}
    module = compiled.program.float_module
    if module is None:
        return {}
    return {"float_accuracy": evaluation.accuracy_of(module)}


def _data(compiled: Compiled, result: RunResult, count: int, wrong: int) -> dict[str, Any]:
    target = compiled.plan.target
    return {
        "name": compiled.program.name,
        "cpu": target.core.value,
        "isa": target.isa.value,
        "board": result.board,
        "invocations": count,
        "matched": wrong == 0,
        "exact": all(tolerance == 0.0 for tolerance in tolerances(compiled.plan.graph)),
        "differing_values": wrong,
        "instructions": None if result.measured else result.instructions,
        **({"measured": measured_data(result.measured)} if result.measured else {}),
        "flash_code_bytes": result.flash_code_bytes,
        "flash_constants_bytes": result.flash_constants_bytes,
        "ram_bytes": result.ram_bytes,
        "stack_bytes": result.stack_bytes,
        "arena_bytes": compiled.plan.working_size,
        "state_bytes": compiled.plan.state_size,
        "macs": compiled.report["macs"],
        "quality": {k: v for k, v in compiled.report["quality"].items() if k != "layers"},
    }


def run_text(compiled: Compiled, report: RunReport) -> str:
    """The result for people."""
    data, result = report.data, report.result
    place = "this machine" if result.board == "host" else f"emulated {result.board}"
    if result.measured:
        place = f"{result.board} by {result.measured.how}"
    lines = [
        f"{data['name']} on {place}, {data['cpu']} ({data['isa']}), {data['invocations']} inputs"
    ]
    rows: list[tuple[str, object, str]] = []
    if result.board != "host":
        if not result.measured:
            rows.append(("instructions", data["instructions"], f"per inference, {_per_mac(data)}"))
        rows += (
            []
            if result.footprint is None
            else [
                ("flash", data["flash_code_bytes"], "bytes of code"),
                ("", data["flash_constants_bytes"], "bytes of constants"),
                (
                    "RAM",
                    data["ram_bytes"],
                    f"bytes: arena {data['arena_bytes']:,}, "
                    + (f"state {data['state_bytes']:,}, " if data["state_bytes"] else "")
                    + f"stack {data['stack_bytes']:,}",
                ),
            ]
        )
    else:
        rows.append(("RAM", data["arena_bytes"], "bytes of arena"))
        if data["state_bytes"]:
            rows.append(("", data["state_bytes"], "bytes of state"))
    if result.measured:
        lines += ["  " + line for line in measured_lines(data["measured"])]
    lines += ["  " + line for line in table(("", "", ""), rows).splitlines()[1:]]
    lines += ["  " + line for line in alternative_lines(compiled.report)]
    lines += float_lines(compiled.report)
    if "evaluation" in data:
        found = data["evaluation"]
        before = f" (float: {found['float_accuracy']:.2%})" if "float_accuracy" in found else ""
        lines.append(
            f"  accuracy {found['accuracy']:.2%}{before}, {found['samples']} labelled inputs"
        )
    lines.append(f"  SQNR {quality_line(data['quality'])}")
    if rounded := rounded_line(data["quality"]):
        lines.append(f"  {rounded}")
    lines += [*pytorch_lines(data), *tflm_lines(data)]
    if "test_vectors" in data:
        found = data["test_vectors"]
        lines.append(
            f"  test vectors: {found['passed']} of {found['total']} passed, largest difference "
            f"{found['largest_difference']:g} ({tolerance_text(found)})"
        )
    if compared := data.get("stream", {}).get("compared"):
        lines.append(f"  {windows_line(compared)}")
    if not report.matched:
        lines.append(
            f"  WRONG: {data['differing_values']} output values differ from the reference interpreter"
        )
    elif data["exact"]:
        lines.append("  outputs equal the reference interpreter in every byte")
    else:
        lines.append(
            "  outputs equal the reference interpreter within the rounding of the C library's "
            "functions (docs/numerics.md)"
        )
    if result.measured and (note := tried_line(result.board, result.measured.emulated)):
        lines.append(f"  {note}")
    return "\n".join(lines)


def _per_mac(data: dict[str, Any]) -> str:
    if not data["macs"]:
        return "no MACs"
    return f"{data['instructions'] / data['macs']:.2f} per MAC"
