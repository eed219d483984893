# SPDX-License-Identifier: Apache-2.0
"""`cortexm compile`: from a program to the files a build takes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .emit import EmitOptions, Sample, emit
from .emit.files import write_files
from .errors import CortexMError
from .ir import Array, Graph, ops
from .ir.edit import producers
from .ir.interpreter import run_graph
from .plan import Plan, make_plan
from .program import EvaluationSet, Program
from .report import check_limits, float_ops, report_data, report_json
from .simplify import simplify
from .target import Target


@dataclass(frozen=True)
class CompileOptions:
    """What a user can choose about a compiled model."""

    target: Target
    io_int8: bool = False
    own_arena: bool = True
    shared_arena: str = ""
    section_arena: str = ""
    section_weights: str = ""
    ram_limit: int | None = None
    flash_limit: int | None = None
    require_int8: bool = False
    embed_pte: bool = False
    samples: int = 0
    poison: bool = False
    profile: bool = False
    command: str = "cortexm compile"


@dataclass(frozen=True)
class Compiled:
    """A compiled program: its graph as read, its plan, its report and its files by name."""

    program: Program
    graph: Graph
    plan: Plan
    report: dict[str, Any]
    files: dict[str, str | bytes]


def compile_program(program: Program, options: CompileOptions) -> Compiled:
    """Runs every stage right of the .pte.

    Raises:
        CortexMError: the program has an operator without kernel, or exceeds a limit.
    """
    graph = program.graph()
    simplified = simplify(graph, io_int8=options.io_int8)
    if options.require_int8:
        _require_int8(simplified)
    plan = make_plan(simplified, options.target)
    report = report_data(plan, name=program.name, digest=program.digest)
    check_limits(report, options.ram_limit, options.flash_limit)
    samples = _samples(program, plan, options.samples) if options.samples else None
    emit_options = EmitOptions(
        name=program.name,
        command=options.command,
        digest=program.digest,
        own_arena=options.own_arena and not options.shared_arena,
        shared_arena=options.shared_arena,
        section_arena=options.section_arena,
        section_weights=options.section_weights,
        poison=options.poison,
        profile=options.profile,
    )
    pte = program.pte if options.embed_pte else None
    files: dict[str, str | bytes] = {
        f"{program.name}.pte": program.pte,
        f"{program.name}.layers.json": program.sidecar,
        f"{program.name}.report.json": report_json(report),
    }
    files |= emit(plan, emit_options, pte=pte, samples=samples)
    if program.evaluation is not None:
        files[f"{program.name}.evaluation.npz"] = _npz(program.evaluation, program)
    return Compiled(program, graph, plan, report, files)


def write_compiled(compiled: Compiled, folder: Path) -> list[str]:
    """Writes the files; returns the names of those that changed."""
    return write_files(folder, compiled.files)


def _require_int8(graph: Graph) -> None:
    found = float_ops(graph)
    if not found:
        return
    reasons = [f"  {op.kind} of {op.layer}: {_why_float(op, graph)}" for op in found]
    raise CortexMError(
        f"{len(found)} operators compute in float32, REQUIRE_INT8 forbids it:\n"
        + "\n".join(reasons),
        where=graph.name,
        hint="replace these layers, or drop REQUIRE_INT8",
    )


def _why_float(op: Any, graph: Graph) -> str:
    made_by = producers(graph)
    sources = [made_by.get(i) for i in op.inputs]
    if any(source is not None and isinstance(source.attrs, ops.Dequantize) for source in sources):
        return "ExecuTorch's quantizer has no int8 form for it"
    return "its operands are not quantized"


def memory_bytes(value: Array, dim_order: tuple[int, ...]) -> bytes:
    """A logical array as the bytes the device sees."""
    return np.ascontiguousarray(value.transpose(dim_order)).tobytes()


def from_memory(
    data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], dim_order: tuple[int, ...]
) -> Array:
    """The inverse of `memory_bytes`."""
    array = np.frombuffer(data, dtype).reshape([shape[d] for d in dim_order])
    return np.ascontiguousarray(array.transpose(np.argsort(dim_order)))


def _samples(program: Program, plan: Plan, count: int) -> list[Sample]:
    graph = plan.graph
    if len(graph.inputs) != 1 or len(graph.outputs) != 1:
        raise CortexMError("SAMPLES needs a model with one input and one output", where=graph.name)
    entry, result = graph.tensors[graph.inputs[0]], graph.tensors[graph.outputs[0]]
    samples = []
    for value, label in _sample_inputs(program, count):
        given = _as_codes(value, plan) if value.dtype != entry.dtype.numpy else value
        (out,) = run_graph(graph, [given])
        samples.append(
            Sample(
                memory_bytes(given, entry.dim_order),
                memory_bytes(out, result.dim_order),
                label,
            )
        )
    return samples


def _sample_inputs(program: Program, count: int) -> list[tuple[Array, int]]:
    if program.evaluation is not None:
        pairs = zip(
            program.evaluation.inputs[:count], program.evaluation.labels[:count], strict=True
        )
        return [(value, int(label)) for value, label in pairs]
    if program.example is not None:
        return [(program.example[0], -1)]
    raise CortexMError(
        "SAMPLES needs a model file: a .pte has no inputs to take", where=program.name
    )


def _as_codes(value: Array, plan: Plan) -> Array:
    """A float input as the codes that an IO int8 model takes."""
    tensor = plan.graph.tensors[plan.graph.inputs[0]]
    assert tensor.quant is not None
    return quantize_input(value, tensor.quant.scale, tensor.quant.zero_point, tensor.dtype.numpy)


def quantize_input(value: Array, scale: float, zero_point: int, dtype: np.dtype[Any]) -> Array:
    """Codes of a float array, with the arithmetic of the quantize operator."""
    limits = np.iinfo(np.dtype(dtype).name)
    scaled = np.rint(value.astype(np.float32) * np.float32(1.0 / scale)).astype(np.float64)
    return np.asarray(np.clip(scaled + zero_point, limits.min, limits.max).astype(dtype))


def _npz(evaluation: EvaluationSet, program: Program) -> bytes:
    """The evaluation set for later runs without torch, with the float model's accuracy."""
    arrays: dict[str, Array] = {"in_0": evaluation.inputs, "labels": evaluation.labels}
    if program.float_module is not None:
        right = [
            int(np.argmax(program.float_module((value,))[0])) == int(label)
            for value, label in zip(evaluation.inputs, evaluation.labels, strict=True)
        ]
        arrays["float_accuracy"] = np.array(np.mean(right))
    return npz_bytes(arrays)


def npz_bytes(arrays: dict[str, Array]) -> bytes:
    """An .npz with fixed time stamps, so that equal arrays give equal bytes."""
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, np.asanyarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    return buffer.getvalue()
