# SPDX-License-Identifier: Apache-2.0
"""`cortexm compile`: from a program to the files a build takes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .emit import EmitOptions, emit, emit_samples, emit_weights, tie
from .emit.files import write_files
from .errors import CortexMError, did_you_mean
from .executorch.compile import check as check_pools
from .executorch.compile import prepare, sources
from .executorch.compile import report as executorch_report
from .executorch.sizes import Sizes
from .ir import Graph, ops
from .ir.edit import producers
from .options.arena import Arena, OwnArena, SharedArena
from .options.memories import Region
from .options.stream import Stream
from .plan import KernelChoice, Plan
from .plan.search.alternatives import Alternative, other_plans
from .plan.search.choose import plan_within
from .plan.search.space import SearchSpace
from .program import Program
from .progress import counted
from .pte.builder import state_values
from .quality import QualityLimits, check_quality
from .report import check_limits, float_ops, report_data, report_json
from .self_check import evaluation_npz, samples_of, vector_report
from .simplify import simplified
from .simplify.input_layout import with_input_layout
from .stream import Streamed
from .stream.stage import stream_constants, stream_stage
from .target import Optimize, Target


@dataclass(frozen=True)
class ExecutorchOptions:
    """RUNTIME executorch.

    Attributes:
        sizes: of ExecuTorch's objects in the image.
        external_operators: operators that the application registers with ExecuTorch itself.
    """

    sizes: Sizes
    external_operators: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompileOptions:
    """What a user can choose about a compiled model; options/ has the words for it.

    Attributes:
        target: the core and the instruction set to use.
        kernels: whose kernels.
        io_int8, io_int16, io_codes: inputs and outputs of the model stay quantized: codes of this
            type, or of any, in place of float32.
        io_uint8: the same of any type, but int8 codes at the inputs are bytes, 128 larger.
        input_layout: how images [N, C, H, W] at the inputs lie in memory: "nhwc", "nchw", or "model" for
            as the program takes them.
        arena: whose memory it computes in.
        section_arena, section_weights: linker sections (letters, digits, ``_``, ``.``, ``$``); empty
            for those of the regions, or else the compiler's choice.
        regions: the memories there are, sizes in bytes; none for one without end.
        optimize: fewer instructions, or less flash and RAM.
        bands: compute operators in bands of rows where that saves RAM. Without them every operator is
            a step, in the program's order.
        ram_limit: most bytes of arena and state, 0 or more; None for no limit.
        flash_limit: most bytes of constants, 0 or more; None for no limit.
        min_quality: how near the quantized model must be to the float one.
        require_int8: refuse operators that compute in float32.
        stream: the model over a window takes the new frames alone; None: all of the window.
        weights_apart: the constants are no C, but an image beside the firmware, which can be replaced
            (emit/apart.py).
        embed_pte: write the program itself as C.
        samples: how many inputs to write with what the reference gives for them, 0 or more, at most as
            many as the program has.
        poison: overwrite dead bytes of the arena while the model runs, for tests.
        profile: call cortexm_profile() before and after every step.
        command: the command line that the preamble of the generated files names.
        executorch: for ExecuTorch's own runtime in place of a compiled plan; None for the plan.
    """

    target: Target
    kernels: KernelChoice = KernelChoice.BUILTIN
    io_int8: bool = False
    io_int16: bool = False
    io_codes: bool = False
    io_uint8: bool = False
    input_layout: str = "model"
    arena: Arena = OwnArena()
    section_arena: str = ""
    section_weights: str = ""
    regions: tuple[Region, ...] = ()
    optimize: Optimize = Optimize.BALANCED
    bands: bool = True
    ram_limit: int | None = None
    flash_limit: int | None = None
    min_quality: QualityLimits = QualityLimits()
    require_int8: bool = False
    stream: Stream | None = None
    weights_apart: bool = False
    embed_pte: bool = False
    samples: int = 0
    poison: bool = False
    profile: bool = False
    command: str = "cortexm compile"
    executorch: ExecutorchOptions | None = None


@dataclass(frozen=True)
class Compiled:
    """A compiled program: its graph as read, its plan, its report and its files by name; and how it is
    streamed, if it is."""

    program: Program
    graph: Graph
    plan: Plan
    report: dict[str, Any]
    files: dict[str, str | bytes]
    streamed: Streamed | None = None


def compile_program(program: Program, options: CompileOptions) -> Compiled:
    """Runs every stage right of the .pte or .tflite.

    Raises:
        CortexMError: the program has an operator without kernel, or exceeds a limit.
    """
    program = check_quality(program, options.min_quality)
    if program.is_litert:
        _check_litert(program, options)
    if options.executorch is not None:
        return _compile_for_executorch(program, options, options.executorch)
    graph = program.graph()
    if options.input_layout != "model":
        if options.stream is not None:
            raise CortexMError(
                "INPUT_LAYOUT is for whole images; a STREAM takes frames as they come in time",
                where=program.name,
                hint="leave out INPUT_LAYOUT",
            )
        graph = with_input_layout(graph, options.input_layout)
    result = simplified(
        graph,
        io_int8=options.io_int8,
        io_int16=options.io_int16,
        io_codes=options.io_codes,
        io_uint8=options.io_uint8,
        keep_channels=options.weights_apart,
    )
    simple, streamed = result.graph, None
    if options.stream is not None:
        streamed, stream_report = stream_stage(simple, options.stream, program)
        simple = streamed.graph
    if options.require_int8:
        _require_int8(simple)
    if options.weights_apart:
        _check_apart(program, options)
    with counted("search for a plan: arenas tried"):
        space = _space(simple, options)
        plan = plan_within(
            space, options.regions, options.optimize, options.ram_limit, bands=options.bands
        )
        others: list[Alternative] = []
        if options.bands and options.ram_limit is None:
            others = other_plans(space, plan, None if streamed else lambda: _coded(graph, options))
    report = report_data(
        plan,
        name=program.name,
        digest=program.digest,
        alternatives=others,
        command=options.command,
        limits={
            "ram": options.ram_limit,
            "flash": options.flash_limit,
            **options.min_quality.data(),
        },
    )
    report["channels_removed"] = result.channels_removed
    report["quality"] = program.quality or {"not_measured": program.unmeasured}
    if streamed is not None:
        report["stream"] = stream_report
    check_limits(report, options.ram_limit, None if options.weights_apart else options.flash_limit)
    samples = None
    if options.samples:
        samples, outputs = samples_of(program, plan, options.samples, streamed)
        if program.vectors and streamed is None:
            report["test_vectors"] = vector_report(program, plan.graph, outputs)
    emit_options = _emit_options(program, options)
    if streamed is not None:
        emit_options = replace(emit_options, constants=stream_constants(streamed))
    pte = program.pte if options.embed_pte else None
    files: dict[str, str | bytes] = {
        program.file: program.pte,
        f"{program.name}.report.json": report_json(report),
    }
    if not program.is_litert:
        files[f"{program.name}.layers.json"] = program.sidecar
    files |= emit(
        plan,
        emit_options,
        pte=pte,
        samples=samples,
        checks_cmsis_nn=options.kernels is not KernelChoice.BUILTIN,
    )
    if options.weights_apart:
        weights = emit_weights(plan, emit_options)
        files |= weights
        report["weights"] = json.loads(weights[f"{program.name}.weights.json"])
        for key in ("format", "name", "command", "agreed"):
            del report["weights"][key]
        files[f"{program.name}.report.json"] = report_json(report)
    if program.evaluation is not None:
        files[f"{program.name}.evaluation.npz"] = evaluation_npz(program.evaluation, program)
    return Compiled(program, graph, plan, report, files, streamed)


def _space(graph: Graph, options: CompileOptions) -> SearchSpace:
    return SearchSpace(
        graph, options.target, options.kernels, options.optimize, apart=options.weights_apart
    )


def _coded(graph: Graph, options: CompileOptions) -> SearchSpace:
    """That of the program with codes at its interface."""
    result = simplified(graph, io_codes=True, keep_channels=options.weights_apart)
    return _space(result.graph, options)


def _check_litert(program: Program, options: CompileOptions) -> None:
    """Raises a CortexMError for what takes a program of ExecuTorch's."""
    for what, given in (
        ("RUNTIME executorch", options.executorch is not None),
        ("EMBED_PTE", options.embed_pte),
    ):
        if given:
            raise CortexMError(
                f"{what} takes a program of ExecuTorch's (.pte), and this is a .tflite",
                where=program.name,
                hint=f"leave out {what}",
            )


def _check_apart(program: Program, options: CompileOptions) -> None:
    """Raises a CortexMError for options that place constants elsewhere."""
    regions = [region.name for region in options.regions if region.kind == "weights"]
    given = ["SECTION_WEIGHTS"] if options.section_weights else []
    given += [f"REGIONS {name}=…:weights" for name in regions]
    if given:
        raise CortexMError(
            f"{given[0]} and WEIGHTS partition both say where the weights are",
            where=program.name,
            hint="leave out one; cortexm_load_weights() takes an image from any address",
        )


def kernel_choice(name: str) -> KernelChoice:
    """The choice of this name.

    Raises:
        CortexMError: there is none.
    """
    names = [choice.value for choice in KernelChoice]
    if name not in names:
        raise CortexMError(f"unknown kernel library {name!r}", hint=did_you_mean(name, names))
    return KernelChoice(name)


def _emit_options(program: Program, options: CompileOptions) -> EmitOptions:
    return EmitOptions(
        name=program.name,
        command=options.command,
        digest=program.digest,
        arena=options.arena,
        section_arena=options.section_arena,
        section_weights=options.section_weights,
        weights_apart=options.weights_apart,
        poison=options.poison,
        profile=options.profile,
    )


def _compile_for_executorch(
    program: Program, options: CompileOptions, runtime: ExecutorchOptions
) -> Compiled:
    refused = {
        "IO int8": options.io_int8,
        "IO int16": options.io_int16,
        "IO uint8": options.io_uint8,
        "IO codes": options.io_codes,
        "INPUT_LAYOUT": options.input_layout != "model",
        "REQUIRE_INT8": options.require_int8,
        "STREAM": options.stream is not None,
        "REGIONS": bool(options.regions),
        "WEIGHTS partition": options.weights_apart,
        "KERNELS cmsis-nn": options.kernels is KernelChoice.CMSIS_NN,
    }
    for what, given in refused.items():
        if given:
            raise CortexMError(
                f"{what} is for compiled plans; ExecuTorch's runtime runs the program as it is",
                where=program.name,
                hint="leave it out, or leave out RUNTIME executorch",
            )
    loaded = prepare(program, options.target, runtime.sizes, runtime.external_operators)
    if isinstance(options.arena, SharedArena) and state_values(loaded.program):
        raise CortexMError(
            "ExecuTorch's runtime keeps the model's state in its arena, which other models would "
            "overwrite",
            where=program.name,
            hint="give the model an arena of its own, or leave out RUNTIME executorch",
        )
    report = executorch_report(loaded, program)
    report["quality"] = program.quality or {"not_measured": program.unmeasured}
    check_pools(report, options.ram_limit, options.flash_limit)
    emit_options = _emit_options(program, options)
    files: dict[str, str | bytes] = {
        f"{program.name}.pte": program.pte,
        f"{program.name}.layers.json": program.sidecar,
        f"{program.name}.report.json": report_json(report),
    }
    code = sources(loaded, program, runtime.sizes, emit_options)
    if options.samples:
        graph = program.graph()
        samples, _ = samples_of(program, replace(loaded.plan, graph=graph), options.samples)
        code = tie(emit_options, code | emit_samples(emit_options, samples))
    files |= code
    return Compiled(program, loaded.plan.graph, loaded.plan, report, files)


def write_compiled(compiled: Compiled, folder: Path) -> list[str]:
    """Writes the files; returns the names of those that changed.

    Raises:
        CortexMError: the folder cannot be written, or has a model whose name differs only in capitals.
    """
    name = compiled.program.name
    for report in folder.glob("*.report.json"):
        other = report.name.removesuffix(".report.json")
        if other != name and other.lower() == name.lower():
            raise CortexMError(
                f"the folder has a model called {other}, whose macros {name} would have as well",
                where=str(folder),
                hint="choose another name with --name, or another folder with --out",
            )
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
        return "its operands are dequantized for it"
    return "its operands are not quantized"
