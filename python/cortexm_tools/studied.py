# SPDX-License-Identifier: Apache-2.0
"""`cortexm quality`: how good a quantized model is, where it loses, and what would be better at which cost.

A build measures and warns. Here is tried what a build has no time for: layers in float one at a time, other
inputs, labels, and each advice as a model of its own, lowered and planned.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import npz_bytes
from .compile import Compiled, CompileOptions, compile_program
from .errors import CortexMError
from .ir import Array
from .plan.search.alternatives import instructions_in
from .program import EvaluationSet, Program
from .pte.quality import FLOAT_MODEL, Wider, level_of
from .quality import accuracy_of
from .run.bench import bench
from .run.command import RunRequest, read_dataset, read_inputs, run_program

ENOUGH_DB = 25.0
"""Above this ratio nothing is advised, unless more is asked for."""

_WHOLE = Wider(("*",), 0.0)


@dataclass(frozen=True)
class StudyRequest:
    """What to study.

    Attributes:
        inputs: an .npz with inputs to evaluate on; dataset: one with labels. Without both it is the model
            file's labelled inputs, if there are any.
        enough: the ratio in dB that advice should reach.
        measure: count instructions and flash on the emulated core, and run the labelled inputs there.
        board: the emulated board.
    """

    inputs: Path | None = None
    dataset: Path | None = None
    enough: float = ENOUGH_DB
    measure: bool = False
    board: str | None = None


def study_model(program: Program, options: CompileOptions, request: StudyRequest) -> dict[str, Any]:
    """The model's report, with all that was found in its ``quality`` (docs/report.md).

    Raises:
        CortexMError: there is no float model to compare with, or inputs do not fit.
    """
    study = program.study
    if study is None or program.quality is None:
        measured = program.quality or {}
        is_given = measured.get("beside", FLOAT_MODEL) != FLOAT_MODEL
        raise CortexMError(
            "there is nothing to compare: "
            + ("the model came quantized" if is_given else program.unmeasured),
            where=program.name,
            hint="give a model file with the float model, which is quantized here",
        )
    compiled = compile_program(program, options)
    rows, labelled = _evaluation(program, request)
    found: dict[str, Any] = {**program.quality, "losses": study.losses()}
    if rows:
        found["evaluation"] = study.quality_on(rows).data()
    if labelled is not None:
        found["accuracy"] = accuracy_of(program, labelled)
        if request.measure:
            found["accuracy"]["firmware"] = _on_firmware(compiled, labelled, request.board)
    found["tried"] = _tried(program, compiled, options, request, labelled)
    return {**compiled.report, "quality": found}


def _evaluation(
    program: Program, request: StudyRequest
) -> tuple[Sequence[tuple[Array, ...]], EvaluationSet | None]:
    """The inputs to evaluate on, and the labelled ones."""
    labelled = program.evaluation
    if request.inputs is not None and request.dataset is not None:
        raise CortexMError(
            "--inputs and --dataset are both inputs to evaluate on; give one of them"
        )
    if request.inputs is not None:
        rows, _ = read_inputs(program.graph(), request.inputs)
        return rows, labelled
    if request.dataset is not None:
        labels = read_dataset(request.dataset).labels
        rows, _ = read_inputs(program.graph(), request.dataset)
        labelled = EvaluationSet(np.stack([row[0] for row in rows]), labels)
    return [] if labelled is None else [(value,) for value in labelled.inputs], labelled


def _on_firmware(compiled: Compiled, labelled: EvaluationSet, board: str | None) -> float:
    """The accuracy of the image on the emulated core."""
    with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
        dataset = Path(folder) / "labelled.npz"
        dataset.write_bytes(npz_bytes({"in_0": labelled.inputs, "labels": labelled.labels}))
        data = run_program(compiled, RunRequest(board=board, dataset=dataset)).data
    return round(float(data["evaluation"]["accuracy"]), 6)


def _tried(
    program: Program,
    compiled: Compiled,
    options: CompileOptions,
    request: StudyRequest,
    labelled: EvaluationSet | None,
) -> list[dict[str, Any]]:
    """The model as it is, and what was advised, each with what it gives and takes."""
    assert program.study is not None and program.again is not None
    entries = [_entry({}, program, compiled, options, request, labelled)]
    wider = program.study.advised(request.enough).wider
    advised = [] if wider is None else [wider] if "*" in wider.keys else [wider, _WHOLE]
    for each in advised:
        written = dict.fromkeys(each.keys, each.precision)
        try:
            other = program.again(each.patterns)
            plan = compile_program(other, options)
            entries.append(_entry(written, other, plan, options, request, labelled))
        except CortexMError as error:
            entries.append({"quantization": written, "error": error.message})
    return entries


def _entry(
    written: dict[str, str],
    program: Program,
    compiled: Compiled,
    options: CompileOptions,
    request: StudyRequest,
    labelled: EvaluationSet | None,
) -> dict[str, Any]:
    """What a model with these precisions gives and takes."""
    report = compiled.report
    entry: dict[str, Any] = {
        "quantization": written,
        "sqnr_db": level_of(program.quality or {}),
        "ram_bytes": report["arena_bytes"] + report["state_bytes"],
        "constants_bytes": report["constants_bytes"],
        "instructions": round(instructions_in(compiled.plan)),
        "counted": False,
    }
    if labelled is not None and program.fake_quantized is not None:
        entry["accuracy"] = round(labelled.accuracy_of(program.fake_quantized), 6)
    if request.measure:
        measured = bench(program, options, board=request.board)
        parts = measured["flash_by_part"]
        flash = sum(size for part, size in parts.items() if part != "start-up and runner")
        entry |= {"flash_bytes": flash, "instructions": measured["instructions"], "counted": True}
    return entry
