# SPDX-License-Identifier: Apache-2.0
"""MIN_SQNR and MIN_ACCURACY: a quantized model that is too far from the float model fails the build.

Which layer loses and what would be better is tried where a limit is missed, and only there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from .errors import CortexMError
from .program import EvaluationSet, Program
from .pte.quality import (
    FLOAT_MODEL,
    NO_FLOAT_MODEL,
    Quality,
    accuracy_text,
    better_text,
    gain_of,
    level_of,
    output_level,
    output_text,
    worst_text,
)
from .report import table
from .report.quality import losses_line, losses_rows
from .runner import Runner, run_in_order

_SHOWN = 10  # layers in an error


@dataclass(frozen=True)
class QualityLimits:
    """What a quantized model must have; None for no limit.

    Attributes:
        sqnr: the least ratio of the worst channel of all outputs, in dB.
        loss: the most that the accuracy may be below that of the float model, in percent points.
    """

    sqnr: float | None = None
    loss: float | None = None

    def data(self) -> dict[str, float]:
        """For ``limits`` of the report; nothing where there is no limit."""
        given = {"sqnr_db": self.sqnr, "accuracy_loss": self.loss}
        return {key: value for key, value in given.items() if value is not None}


def check_quality(program: Program, limits: QualityLimits) -> Program:
    """The program, with its accuracy in ``quality`` if that is limited.

    Raises:
        CortexMError: a limit is missed, or what it asks for cannot be measured.
    """
    if limits.sqnr is not None:
        _check_sqnr(program, limits.sqnr)
    if limits.loss is None:
        return program
    _measured(program, "MIN_ACCURACY")
    accuracy = accuracy_of(program)
    _check_loss(program, accuracy, limits.loss)
    return replace(program, quality={**(program.quality or {}), "accuracy": accuracy})


def accuracy_of(program: Program, evaluation: EvaluationSet | None = None) -> dict[str, Any]:
    """The accuracy of the quantized and the float model, in [0, 1].

    Args:
        evaluation: labelled inputs; None for those of the program.

    Raises:
        CortexMError: there are none, or they do not go with the model's outputs.
    """
    labelled = evaluation or program.evaluation
    if program.float_module is None or program.fake_quantized is None:
        raise CortexMError(
            f"the accuracy is not known: {NO_FLOAT_MODEL}",
            where=program.name,
            hint="give the model file",
        )
    if labelled is None:
        raise CortexMError(
            "the accuracy is not known: the model has no labelled inputs",
            where=program.name,
            hint="define EvaluationInputs (docs/pipeline.md), for a model of one input",
        )

    def share(run: Runner) -> float:
        outputs = run_in_order(run, [(value,) for value in labelled.inputs])
        _check_labels(labelled, outputs[0][0].size, program.name)
        return labelled.accuracy(outputs)

    return {
        "samples": len(labelled.labels),
        "float": round(share(program.float_module), 6),
        "quantized": round(share(program.fake_quantized), 6),
    }


def _check_labels(labelled: EvaluationSet, scores: int, name: str) -> None:
    """Raises a CortexMError for labels that no output can have."""
    if scores < 2:
        raise CortexMError(
            f"the accuracy is not known: the first output has {scores} value, not one for each class",
            where=name,
            hint="let the model give the scores of all classes first",
        )
    least, most = int(labelled.labels.min()), int(labelled.labels.max())
    if least < 0 or most >= scores:
        raise CortexMError(
            f"there is a label {least if least < 0 else most}, but the model gives {scores:,} scores",
            where=name,
            hint=f"labels are the indices of the scores, from 0 to {scores - 1:,}",
        )


def _measured(program: Program, word: str) -> dict[str, Any]:
    """What was measured.

    Raises:
        CortexMError: nothing was that says how far the quantized model is from the float model.
    """
    data = program.quality
    if data is None:
        raise CortexMError(
            f"{word} cannot be checked: {program.unmeasured}",
            where=program.name,
            hint=f"give a model file that is quantized here, or leave out {word}",
        )
    if data.get("beside", FLOAT_MODEL) != FLOAT_MODEL:
        raise CortexMError(
            f"{word} cannot be checked: the model came quantized, without its float form",
            where=program.name,
            hint=f"give the float model, or leave out {word}",
        )
    if data["source"] == "example":
        raise CortexMError(
            f"{word} cannot be checked: there is no calibration data, only the example input that the "
            "ranges come from",
            where=program.name,
            hint="define CalibrationInputs, some ten to a few hundred typical inputs, or give CALIBRATION",
        )
    return data


def _check_sqnr(program: Program, least: float) -> None:
    data = _measured(program, "MIN_SQNR")
    real = [output for output in data["outputs"] if "agreement" not in output]
    if not real:
        raise CortexMError(
            "MIN_SQNR is for outputs of real numbers, and the model has none",
            where=program.name,
            hint="MIN_ACCURACY, with labelled inputs, is for classes",
        )
    missed = [output for output in real if output_level(output) < least]
    if missed:
        listed = ", ".join(output_text(each, len(data["outputs"]) > 1) for each in missed)
        raise _missed(
            program, f"{listed} against the float model", f"MIN_SQNR is {least:g} dB", least
        )


def _check_loss(program: Program, accuracy: dict[str, Any], most: float) -> None:
    lost = 100.0 * (accuracy["float"] - accuracy["quantized"])
    if lost > most + 1e-4:  # as the accuracies are rounded
        said = f"{accuracy_text(accuracy)}: {lost:.2f} percent points are lost"
        raise _missed(program, f"accuracy {said}", f"MIN_ACCURACY is {most:g}%", math.inf)


def _measured_again(program: Program, quality: Quality) -> Quality:
    """With what the advised precision gains when the model is lowered with it: a trial tells it roughly."""
    wider = quality.wider
    if wider is None or program.again is None:
        return quality
    level = level_of(program.again(wider.patterns).quality or {})
    if level is None:  # nothing is lost any more
        return quality
    return replace(quality, wider=replace(wider, gain=level - quality.level))


def _missed(program: Program, found: str, limit: str, enough: float) -> CortexMError:
    """What is missed by how much, what it is lost by, and what was tried against it."""
    data, study, lines = program.quality or {}, program.study, [f"{found}, {limit}"]
    if study is not None:
        data = _measured_again(program, study.advised(enough)).data()
        losses = study.losses()
        lines += [
            f"{losses_line(losses)}:",
            table(("gain", "operator", "layer"), losses_rows(losses, _SHOWN)),
        ]
    elif data.get("worst_layer"):
        lines[0] += f"; most is lost in {worst_text(data)}"
    better = better_text(data, "build with ") or "calibrate on more inputs, as typical as can be"
    is_little = 0.0 < gain_of(data) < enough - (level_of(data) or 0.0) and enough < math.inf
    return CortexMError(
        "\n".join(lines),
        where=program.name,
        hint=f"{better}{', which is not enough alone' * is_little}, or change {limit.split()[0]}",
    )
