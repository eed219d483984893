# SPDX-License-Identifier: Apache-2.0
"""The tools as functions of Python; docs/python.md shows them.

What is here is also in the package itself: ``from cortexm_tools import compile_model``. PyTorch is
imported when a module is lowered, and not before.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import to_array
from .cli.inspect import inspect_text
from .cli.settle import command_line, compile_options, limits, quality_limits
from .compile import Compiled, compile_program, write_compiled
from .errors import CortexMError, did_you_mean
from .ir import Array
from .ir.interpreter import run_sequence
from .options import COMPILE, OPTIONS, Option
from .options.arena import parse_arena
from .options.memories import section_name
from .options.names import check_name, name_of_file
from .options.precision import parse_patterns, parse_quantization
from .program import Program, load_program, program_of_module, torch_needed
from .pte.vectors import fit_input
from .report import layer_table, quality_table, summary
from .run.command import RunReport, RunRequest, run_program, run_text
from .runner import Progress
from .target import Target

__all__ = [
    "CompiledModel",
    "CortexMError",
    "Program",
    "compile_model",
    "inspect_model",
    "lower_model",
    "prepare_qat",
]

# Options of `cortexm compile` that say where files go, and what has an argument of its own here.
_NOT_HERE = {
    "out", "quiet", "bundleio", "intermediates", "depfile", "stamp", "runtime", "executorch_sizes",
    "external_operator", "name", "cpu", "quantize", "calibrate", "calibration", "model_input",
}  # fmt: skip


@dataclass(frozen=True)
class CompiledModel:
    """A compiled model: what `cortexm compile` would write, still in memory.

    Attributes:
        compiled: every stage's result: the graph as read, the plan, the report, the files.
    """

    compiled: Compiled

    @property
    def name(self) -> str:
        """What the model is called in C."""
        return self.compiled.program.name

    @property
    def program(self) -> Program:
        """What was compiled; `compile_model` takes it again, for another core."""
        return self.compiled.program

    @property
    def files(self) -> Mapping[str, str | bytes]:
        """The generated files by name: NAME.c, NAME.h, NAME_weights.c, NAME.pte, …"""
        return self.compiled.files

    @property
    def report(self) -> Mapping[str, Any]:
        """NAME.report.json: sizes in bytes, and a row for each layer."""
        return self.compiled.report

    def save(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the files; returns the names of those that changed.

        Raises:
            CortexMError: the folder cannot be written, or has another model of this name.
        """
        return write_compiled(self.compiled, Path(folder))

    def summary(self) -> str:
        """RAM, flash, work and precision, as the command line prints them."""
        return summary(self.compiled.report)

    def layer_table(self) -> str:
        """A row for each operator: what, where from, multiply-accumulates, bytes."""
        return layer_table(self.compiled.report)

    def quality_table(self) -> str:
        """Signal-to-quantization-noise ratio by layer, in dB; empty where it was not measured."""
        return quality_table(self.compiled.report)

    def __call__(self, *inputs: Any) -> tuple[Array, ...]:
        """One inference by the reference interpreter: the bytes that every device gives.

        A model that keeps state begins with its initial one.

        Args:
            inputs: an array or tensor for each input, in the shape and type of the model's, as the
                generated header states them; those of IO int8 are the codes.

        Returns:
            An array for each output, in logical shape.

        Raises:
            CortexMError: one has another shape, or values that do not fit.
        """
        graph = self.compiled.plan.graph
        if len(inputs) != len(graph.inputs):
            raise CortexMError(
                f"{len(inputs)} inputs are given, the model takes {len(graph.inputs)}",
                where=self.name,
            )
        given = [
            fit_input(graph.tensors[index], to_array(value), f"input {number}")
            for number, (index, value) in enumerate(zip(graph.inputs, inputs, strict=True))
        ]
        (row,) = run_sequence(graph, [given])
        return tuple(row)

    def run(
        self,
        inputs: Sequence[Any] | None = None,
        *,
        labels: Any = None,
        board: str | None = None,
        outputs: str | os.PathLike[str] | None = None,
        work: str | os.PathLike[str] | None = None,
    ) -> RunReport:
        """Builds an image, runs it on an emulated board and compares with the reference.

        A model compiled for the CPU ``host`` runs on this machine.

        Args:
            inputs: for each input of the model the values of all invocations, stacked on a new first
                axis; default: the model's own evaluation set, test vectors or example.
            labels: the class index of each invocation, for a model of one input: the result then
                has the accuracy.
            board: default: the first of the core's boards with room for it.
            outputs: an .npz to write, with out_0, out_1, … stacked likewise.
            work: a folder to build in, which may be used again; default: a temporary one.

        Raises:
            CortexMError: a tool is missing (`cortexm doctor` says how to get it), an input does not
                fit, or the image fails.
        """
        if labels is not None and (inputs is None or len(inputs) != 1):
            raise CortexMError("labels go with the inputs of a model that takes one")
        with tempfile.TemporaryDirectory() as folder:
            file = None
            if inputs is not None:
                file = Path(folder) / "inputs.npz"
                arrays = {f"in_{number}": to_array(x) for number, x in enumerate(inputs)}
                if labels is not None:
                    arrays["labels"] = to_array(labels)
                np.savez(file, **arrays)
            request = RunRequest(
                board=board,
                inputs=file if labels is None else None,
                dataset=file if labels is not None else None,
                outputs=None if outputs is None else Path(outputs),
                work=None if work is None else Path(work),
            )
            return run_program(self.compiled, request)

    def run_text(self, report: RunReport) -> str:
        """What a run gave, as the command line prints it."""
        return run_text(self.compiled, report)


def compile_model(
    model: Any,
    example_inputs: Any = None,
    *,
    cpu: str = "cortex-m55",
    name: str | None = None,
    quantize: bool | str = True,
    quantization: Mapping[str, str] | None = None,
    calibrate: str = "",
    calibration: Any = None,
    evaluation: Any = None,
    progress: Progress = lambda text: None,
    **options: Any,
) -> CompiledModel:
    """Compiles a model to C for a core.

    Args:
        model: an ``nn.Module``; or the path of a model.py, .pt2, .pte, .bpte or .tflite, or of a module saved
            whole (.pt); or a built-in model's name; or a `Program`.
        example_inputs: of a module, an array or tensor for each input, as it takes them: with the
            batch's axis, real numbers in float32. Of a .pt, a file. Else None.
        cpu: the core, such as ``cortex-m4``; ``any`` for all, ``host`` for this machine.
        name: C identifier; default: the file's name, or ``model``.
        quantize: the precision of a module or model.py: ``"int8"``, or True; ``"a8w4"``, weights of
            4 bits; ``"none"``, or False, to lower it as it is.
        quantization: precisions of a module or model.py by module paths, as in its
            ``Quantization`` (docs/pipeline.md), in the place of which they come; `quantize` then
            is for what they leave.
        calibrate: ``"weights=gptq"`` or ``"weights=nearest"``: how weights are rounded; default:
            GPTQ for weights of 4 bits.
        calibration: samples to take the quantization ranges from: of a module an iterable of inputs
            like `example_inputs`, or for all a file or folder; default: the model file's, or the
            example.
        evaluation: of a module, labelled inputs: pairs (input, class index).
        progress: called with a sentence at every stage of the lowering.
        options: as of ``cortexm compile`` (docs/cli.md), with ``_`` for ``-``: ``isa``, ``io``,
            ``input_layout``, ``optimize``, ``kernels``, ``region`` (a list), ``require_int8``, ``arena``,
            ``section_arena``, ``section_weights``, ``weights``, ``ram_limit``, ``flash_limit``
            (bytes, or text such as ``"64K"``), ``min_sqnr``, ``min_accuracy``, ``embed_pte``,
            ``samples``, ``stream``, ``profile``.

    Raises:
        CortexMError: an option has no such value, the model cannot be lowered, an operator has no
            kernel, or a limit is exceeded. Nothing is written either way.
    """
    args = _arguments(options)
    target = Target.parse(cpu, args.isa)
    args.cpu, args.model = cpu, _shown_path(model, name)
    args.quantize, args.calibrate = _precision(quantize), calibrate
    settled = compile_options(
        args,
        target,
        arena=parse_arena(args.arena),
        section_arena=section_name(args.section_arena, "section_arena"),
        section_weights=section_name(args.section_weights, "section_weights"),
        embed_pte=args.embed_pte,
        samples=args.samples,
        profile=args.profile,
        command=command_line(args),
        min_quality=quality_limits(args),
        **limits(args),
    )
    program = model
    if isinstance(model, Program) and quantization is not None:
        raise CortexMError(
            "a Program is quantized already: it takes no quantization",
            where=model.name,
            hint="give it to lower_model",
        )
    if not isinstance(model, Program):
        program = lower_model(
            model,
            example_inputs,
            cpu=cpu,
            isa=args.isa,
            name=name,
            quantize=quantize,
            quantization=quantization,
            calibrate=calibrate,
            calibration=calibration,
            evaluation=evaluation,
            progress=progress,
        )
    return CompiledModel(compile_program(program, settled))


def lower_model(
    model: Any,
    example_inputs: Any = None,
    *,
    cpu: str = "cortex-m55",
    isa: str | None = None,
    name: str | None = None,
    quantize: bool | str = True,
    quantization: Mapping[str, str] | None = None,
    calibrate: str = "",
    calibration: Any = None,
    evaluation: Any = None,
    progress: Progress = lambda text: None,
) -> Program:
    """Quantizes and lowers a model, or reads a program; the arguments are those of `compile_model`.

    A program lowered for one core can be compiled for others.

    Raises:
        CortexMError: the file is missing or of an unknown kind, or the model cannot be lowered.
    """
    target = Target.parse(cpu, isa)
    settled = parse_quantization(_precision(quantize), calibrate)
    patterns = None
    if quantization is not None:
        patterns = parse_patterns(quantization, "quantization")
        if settled is None:
            raise CortexMError(
                "a model that is lowered as it is takes no quantization",
                hint="leave out quantize, or quantization",
            )
    if isinstance(model, (str, os.PathLike)):
        if evaluation is not None:
            raise CortexMError("evaluation is for a module; a model file defines EvaluationInputs")
        path = Path(model)
        return load_program(
            path,
            name=check_name(name) if name is not None else name_of_file(path.stem)[0],
            target=target,
            calibration=None if calibration is None else Path(calibration),
            model_input=None if example_inputs is None else Path(example_inputs),
            quantization=settled,
            patterns=patterns,
            progress=progress,
        )
    return program_of_module(
        model,
        example_inputs,
        name=check_name(name or "model"),
        target=target,
        calibration=calibration,
        evaluation=evaluation,
        quantization=settled,
        patterns=patterns,
        progress=progress,
    )


def prepare_qat(
    module: Any,
    example_inputs: Any,
    *,
    quantize: bool | str = True,
    quantization: Mapping[str, str] | None = None,
) -> Any:
    """Prepares a module for training that knows of the codes of its build (docs/python.md).

    Args:
        module: an ``nn.Module``, which is copied.
        example_inputs, quantize, quantization: as `compile_model` takes them.

    Returns:
        An ``nn.Module`` of the same inputs and outputs, in training mode, whose weights and activations are
        rounded. Its ``finish()`` gives the trained module on floats, which is built as any other.

    Raises:
        CortexMError: the module is quantized already, cannot be captured, or has no weights to train.
    """
    settled = parse_quantization(_precision(quantize), "")
    if settled is None:
        raise CortexMError(
            "a module that stays in float needs no training for codes",
            hint="give quantize the precision that the build will have, such as int8 or a8w4",
        )
    if quantization is not None:
        patterns = parse_patterns(quantization, "quantization")
        settled = replace(settled, patterns=patterns)
    with torch_needed("model"):
        from .frontend.load.given import given_module
        from .frontend.quantize.trained import prepare

    loaded = given_module(module, example_inputs, None, None, "model")
    return prepare(module, loaded, settled)


def inspect_model(path: str | os.PathLike[str]) -> str:
    """What is in a .pte, .bpte or .tflite, as text: inputs, outputs, operators, and what has no kernel.

    Raises:
        CortexMError: it cannot be read, or is damaged.
    """
    file = Path(path)
    return inspect_text(
        load_program(file, name=name_of_file(file.stem)[0], target=Target.parse("any"))
    )


def _precision(quantize: bool | str) -> str:
    """The precision's word."""
    if isinstance(quantize, str):
        return quantize
    return "int8" if quantize else "none"


def _shown_path(model: Any, name: str | None) -> Path:
    """What the generated files' preamble names as the model."""
    if isinstance(model, (str, os.PathLike)):
        return Path(model)
    return Path(model.name if isinstance(model, Program) else name or "model")


def _arguments(options: Mapping[str, Any]) -> argparse.Namespace:
    """The options as the command line would have them, defaults included."""
    known: dict[str, Option] = {
        option.dest: option
        for option in OPTIONS
        if COMPILE in option.commands and option.flags and option.dest not in _NOT_HERE
    }
    for word, value in options.items():
        if word not in known:
            raise CortexMError(f"unknown option {word!r}", hint=did_you_mean(word, known))
        choices = known[word].choices
        if choices and value not in choices:
            raise CortexMError(
                f"{word} cannot be {value!r}", hint=did_you_mean(str(value), choices)
            )
    args = {word: option.value_of(options.get(word)) for word, option in known.items()}
    return argparse.Namespace(command=COMPILE, runtime="compiled", **args)
