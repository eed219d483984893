# SPDX-License-Identifier: Apache-2.0
"""MIN_SQNR and MIN_ACCURACY: what can be written, and what cannot be checked, on stored measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortexm_tools import CortexMError, cli, compile_model
from cortexm_tools.ir import Array
from cortexm_tools.options.quality import parse_decibels, parse_loss
from cortexm_tools.program import EvaluationSet, Program
from cortexm_tools.pte.noise import Noise
from cortexm_tools.pte.quality import NOT_QUANTIZED, QUANTIZED_MODEL, OutputQuality, Quality
from cortexm_tools.quality import QualityLimits, check_quality

PTE = Path(__file__).resolve().parents[1] / "data" / "digits" / "digits.pte"


def test_limits_have_a_unit_and_a_range() -> None:
    assert [parse_decibels(text) for text in ("25dB", " 7.5 db ", "200dB")] == [25.0, 7.5, 200.0]
    assert [parse_loss(text) for text in ("0.5%", "0 %", "50%")] == [0.5, 0.0, 50.0]
    words = (
        "",
        "25",
        "dB",
        "0dB",
        "0.0dB",
        "-3dB",
        "nandB",
        "infdB",
        "1e2dB",
        "201dB",
        "25%",
        "٣dB",
    )
    for parse, wrong in (
        (parse_decibels, words),
        (parse_loss, ("", "1", "-1%", "nan%", "50.1%", "99.5%", "1dB")),
    ):
        for text in wrong:
            with pytest.raises(CortexMError, match="is not a") as caught:
                parse(text, "LIMIT")
            assert caught.value.hint and caught.value.where == "LIMIT"


def measured(*outputs: OutputQuality, **fields: Any) -> dict[str, Any]:
    quality = Quality(3, 5, fields.pop("source", "calibration"), outputs, (), **fields)
    return quality.data()


GOOD, POOR = OutputQuality(Noise(1000.0, 1.0)), OutputQuality(Noise(20.0, 1.0))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (Program("net", b""), "cannot be checked: a .pte or .tflite carries no float model"),
        (Program("net", b"", unmeasured=NOT_QUANTIZED), "the model was lowered as it is"),
        (Program("net", b"", quality=measured(GOOD, beside=QUANTIZED_MODEL)), "came quantized"),
        (Program("net", b"", quality=measured(GOOD, source="example")), "no calibration data"),
        (Program("net", b"", quality=measured(OutputQuality(None, 1.0))), "the model has none"),
        (Program("net", b"", quality=measured(GOOD, POOR)), "output 1 13.0 dB against the float"),
        (Program("net", b"", quality=measured(OutputQuality(Noise(0.0, 1.0)))), "noise only"),
        (
            Program("net", b"", quality=measured(OutputQuality(Noise(0.0, 0.0, 9)))),
            "9 values not finite",
        ),
    ],
)
def test_what_is_missed_and_what_cannot_be_checked(program: Program, message: str) -> None:
    with pytest.raises(CortexMError) as caught:
        check_quality(program, QualityLimits(sqnr=25.0))
    assert message in caught.value.message and caught.value.where == "net" and caught.value.hint
    assert check_quality(program, QualityLimits()) is program


def test_what_is_met() -> None:
    constant = OutputQuality(Noise(9.0, 0.0))
    program = Program("net", b"", quality=measured(GOOD, constant, OutputQuality(None, 0.5)))
    assert check_quality(program, QualityLimits(sqnr=30.0)) is program


class Scores:
    """A model that gives its input, or something near it."""

    def __init__(self, error: float) -> None:
        self.error = error

    def __call__(self, inputs: tuple[Array, ...], /) -> tuple[Array, ...]:
        return (inputs[0] + np.float32([self.error, 0, 0])[: inputs[0].size],)

    def reset(self) -> None: ...


def labelled(labels: list[int], classes: int = 3) -> Program:
    rows = np.eye(4, classes, dtype=np.float32)
    evaluation = EvaluationSet(rows, np.array(labels))
    return Program(
        "net",
        b"",
        evaluation=evaluation,
        float_module=Scores(0.0),
        fake_quantized=Scores(2.0),
        quality=measured(GOOD),
    )


def test_accuracy_is_what_labels_say() -> None:
    program = labelled([0, 1, 2, 0])
    checked = check_quality(program, QualityLimits(loss=50.0))
    assert checked.quality is not None
    assert checked.quality["accuracy"] == {"samples": 4, "float": 1.0, "quantized": 0.5}
    with pytest.raises(CortexMError, match=r"50.00 percent points are lost, MIN_ACCURACY is 49%"):
        check_quality(program, QualityLimits(loss=49.0))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (labelled([0, 1, 2, 3]), "a label 3, but the model gives 3 scores"),
        (labelled([-1, 1, 2, 0]), "a label -1, but"),
        (labelled([0, 0, 0, 0], 1), "1 value, not one for each class"),
        (Program("net", b"", quality=measured(GOOD)), "carries no float model"),
        (
            Program(
                "net", b"", quality=measured(GOOD), float_module=Scores(0), fake_quantized=Scores(0)
            ),
            "no labelled inputs",
        ),
    ],
)
def test_labels_that_say_nothing(program: Program, message: str) -> None:
    with pytest.raises(CortexMError) as caught:
        check_quality(program, QualityLimits(loss=1.0))
    assert message in caught.value.message and caught.value.hint


def test_a_program_has_no_float_model() -> None:
    for options in ({"min_sqnr": "25dB"}, {"min_accuracy": "1%"}):
        with pytest.raises(CortexMError, match="cannot be checked: a .pte or .tflite carries"):
            compile_model(PTE, **options)  # type: ignore[arg-type]
    with pytest.raises(CortexMError, match="'25' is not a ratio"):
        compile_model(PTE, min_sqnr=25)


def test_the_quality_of_a_program_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        ([], "there is nothing to compare: a .pte or .tflite carries no float model"),
        (["--min-sqnr", "25"], "'25' is not a ratio in dB"),
        (["--out", "x.html"], "--out is for --html"),
    ):
        assert cli.main(["quality", str(PTE), *words]) == 1
        assert said in capsys.readouterr().err
