# SPDX-License-Identifier: Apache-2.0
"""Which layer loses, by trying: on a model of which one layer is known to."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools import CortexMError, Program, lower_model
from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.frontend.quantize.study import FloatStudy
from cortexm_tools.frontend.quantize.wider import Trials
from cortexm_tools.plan.search.alternatives import instructions_in
from cortexm_tools.quality import QualityLimits, accuracy_of, check_quality
from cortexm_tools.report.page import report_html
from cortexm_tools.report.quality import losses_rows, quality_text
from cortexm_tools.report.reading import Report
from cortexm_tools.studied import StudyRequest, study_model
from cortexm_tools.target import Target


class Net(nn.Module):
    """Of a linear layer the one output that counts is small beside one that does not."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.wide, self.last = nn.Linear(12, 16), nn.Linear(16, 8), nn.Linear(8, 3)
        with torch.no_grad():
            self.wide.weight[0] *= 60.0
            self.last.weight[:, 0] = 0.0

    def forward(self, x: torch.Tensor) -> Any:
        return self.last(self.wide(torch.relu(self.first(x))).view(1, 8))


@pytest.fixture(scope="module")
def program() -> Program:
    net = Net().eval()
    samples = [(torch.randn(1, 12),) for _ in range(24)]
    labelled = [(x, int(net(*x).argmax())) for x in samples]
    return lower_model(net, samples[0], calibration=samples, evaluation=labelled)


def test_the_layer_that_loses_is_found_by_trying(program: Program) -> None:
    assert program.study is not None and program.quality is not None
    losses = program.study.losses()
    first, *others = losses["tried"]
    assert (losses["inputs"], losses["layers"], len(others)) == (16, 4, 3)
    assert (first["operator"], first["layer"].split()[0]) == ("linear", "wide")
    assert first["gain_db"] > 3.0 > max(each["gain_db"] for each in others)
    (row,) = losses_rows(losses, 1)
    assert row == (f"{first['gain_db']:+.1f} dB", "linear", first["layer"])


def test_without_any_rounding_nothing_is_lost(program: Program) -> None:
    """Each rounding belongs to a layer: all layers together in float are the float model."""
    study = program.study
    assert isinstance(study, FloatStudy)
    trials = Trials(study.samples, study.captured, study.quantized, study.float_module, {})
    parts = trials.layers()
    assert trials.level_without(set().union(*parts.values())) > 100.0
    assert trials.level_without(()) == pytest.approx(study.losses()["sqnr_db"], abs=0.01)


def test_other_inputs_are_measured_as_calibration_is(program: Program) -> None:
    study = program.study
    assert isinstance(study, FloatStudy)
    rows = [tuple(each.numpy() for each in sample) for sample in study.samples]
    again = study.quality_on(rows)
    assert (again.source, again.inputs) == ("evaluation", 24)
    assert again.outputs == study.quality.outputs and again.layers == study.quality.layers
    far = study.quality_on([(100.0 * row[0],) for row in rows])
    assert far.level < again.level and far.outputs[0].beyond > 0.5
    assert far.layers[0].operator == "input 0" and far.layers[0].beyond > 0.5
    channels = study.quality.outputs[0].channels
    assert len(channels) == 3 and None not in channels
    assert study.quality.level == min(each.decibels for each in channels if each is not None)


def test_what_is_missed_is_said_with_the_layer_and_what_was_tried(program: Program) -> None:
    assert program.quality is not None
    level = program.quality["outputs"][0]["worst_sqnr_db"]
    assert check_quality(program, QualityLimits(sqnr=level - 0.1)) is program
    with pytest.raises(CortexMError) as caught:
        check_quality(program, QualityLimits(sqnr=level + 10.0))
    said = caught.value
    assert (
        f"{level:.1f} dB in channel" in said.message and "4 of 4 tried on 16 inputs" in said.message
    )
    assert "MIN_SQNR is" in said.message and "wide (" in said.message.splitlines()[3]
    wider = program.study.advised(level + 10.0).wider if program.study and program.again else None
    assert wider is not None and "a16w8" in said.hint
    again = program.again(wider.patterns).quality["outputs"][0]["worst_sqnr_db"]  # type: ignore
    assert f"(about {round(again - level, 1):.0f} dB more)" in said.hint


OPTIONS = CompileOptions(target=Target.parse("cortex-m4"))


@pytest.fixture(scope="module")
def studied(program: Program) -> dict[str, Any]:
    """What `cortexm quality` finds."""
    return study_model(program, OPTIONS, StudyRequest())


def test_advice_is_lowered_and_planned(program: Program, studied: dict[str, Any]) -> None:
    assert program.study is not None and program.again is not None and program.quality is not None
    wider = program.study.advised(25.0).wider
    assert wider is not None and "wide" in wider.keys
    as_it_is, advised, whole = studied["quality"]["tried"]
    assert whole["quantization"] == {"*": "a16w8"}
    assert advised["quantization"] == dict.fromkeys(wider.keys, "a16w8")
    assert as_it_is["sqnr_db"] == pytest.approx(program.study.advised(0.0).level, abs=0.01)
    gained = advised["sqnr_db"] - as_it_is["sqnr_db"]
    assert gained > 10.0 and abs(gained - wider.gain) < 3.0
    for entry, one in ((as_it_is, program), (advised, program.again(wider.patterns))):
        compiled = compile_program(one, OPTIONS)
        assert entry["ram_bytes"] == compiled.report["arena_bytes"]
        assert entry["constants_bytes"] == compiled.report["constants_bytes"]
        assert entry["instructions"] == round(instructions_in(compiled.plan)) > 0


def test_all_of_it_is_said(program: Program, studied: dict[str, Any]) -> None:
    data = json.loads(json.dumps(studied))["quality"]
    assert data["accuracy"] == accuracy_of(program) and data["accuracy"]["samples"] == 24
    assert data["evaluation"]["source"] == "evaluation"
    text = quality_text(studied)
    page = report_html(Report(studied))
    for said in (text, page):
        assert "4 of 4 tried on 16 inputs" in said and "QUANTIZE a16w8" in said
        assert f"{data['tried'][1]['constants_bytes']:,} B" in said
        assert f"{data['tried'][1]['sqnr_db']:.1f} dB" in said
        assert "24 evaluation inputs" in said and "24 labelled inputs" in said
    worst = data["outputs"][0]["channels"][0]
    assert f"0 channel {worst['channel']}" in text and f"{worst['sqnr_db']:.1f}</span>" in page
    without = {key: value for key, value in data.items() if key not in ("losses", "tried")}
    assert "What a layer costs" not in report_html(Report({**studied, "quality": without}))


def test_evaluation_inputs_of_a_file(program: Program, tmp_path: Path) -> None:
    def quality_on(request: StudyRequest, **arrays: Any) -> dict[str, Any]:
        path = request.inputs or request.dataset
        assert path is not None
        np.savez(path, **arrays)
        enough = replace(request, enough=0.0)  # no advice
        found: dict[str, Any] = study_model(program, OPTIONS, enough)["quality"]
        return found

    inputs, dataset = (
        StudyRequest(inputs=tmp_path / "i.npz"),
        StudyRequest(dataset=tmp_path / "d.npz"),
    )
    rows = np.float32(50.0 * np.random.default_rng(0).normal(size=(5, 1, 12)))
    found = quality_on(inputs, in_0=rows)["evaluation"]
    assert found["inputs"] == 5 and found["layers"][0]["beyond"] > 0.5
    assert found["outputs"][0]["worst_sqnr_db"] < 10.0
    labels = np.arange(5) % 3
    assert quality_on(dataset, in_0=rows, labels=labels)["accuracy"]["samples"] == 5
    for arrays, message in (
        ({"in_0": rows, "labels": labels[:4]}, "has labels of int64"),
        ({"in_0": rows, "labels": labels[:, None]}, "has labels of int64"),
        ({"in_0": rows, "labels": labels + 1}, "there is a label 3, but the model gives 3 scores"),
        ({"in_0": rows[..., :11], "labels": labels}, "the model takes float32"),
    ):
        with pytest.raises(CortexMError, match=message):
            quality_on(dataset, **arrays)
    with pytest.raises(CortexMError, match="give one of them"):
        study_model(program, OPTIONS, replace(inputs, dataset=tmp_path / "d.npz"))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_weights_that_are_no_numbers_are_named(value: float) -> None:
    net = Net().eval()
    with torch.no_grad():
        net.wide.weight[2, 3] = value
    with pytest.raises(CortexMError, match=r"a constant of torch.nn.Linear contains") as caught:
        lower_model(net, (torch.ones(1, 12),))
    assert caught.value.where.startswith("wide (") and "finite" in caught.value.hint


class Still(Net):
    """An output that never changes, and one of which a channel does not."""

    def forward(self, x: torch.Tensor) -> Any:
        first = self.first(x)
        return first * 0.0 + 3.0, first * (torch.arange(16) != 5) + 7.0


def test_a_constant_output_is_met_by_its_constant() -> None:
    samples = [(torch.randn(1, 12),) for _ in range(24)]
    program = lower_model(Still().eval(), samples[0], calibration=samples)
    assert program.study is not None and program.quality is not None
    exact, moving = program.quality["outputs"]
    assert exact["without"] == "noise" and "channels" not in exact
    assert (
        5 not in {each["channel"] for each in moving["channels"]} and len(moving["channels"]) == 15
    )
    assert check_quality(program, QualityLimits(sqnr=20.0)) is program
    assert None not in {each["gain_db"] for each in program.study.losses()["tried"]}
