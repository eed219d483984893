# SPDX-License-Identifier: Apache-2.0
"""Which layer loses, by trying: on a model of which one layer is known to."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from cortexm_tools import CortexMError, Program, lower_model
from cortexm_tools.frontend.quantize.study import FloatStudy
from cortexm_tools.frontend.quantize.wider import Trials
from cortexm_tools.quality import QualityLimits, check_quality


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
    assert (losses.inputs, losses.layers) == (16, 4) == (16, len(losses.trials))
    first, *others = losses.trials
    assert (first.operator, first.layer.split()[0]) == ("linear", "wide")
    assert first.level - losses.level > 3.0 > max(each.level for each in others) - losses.level
    assert losses.rows(1)[0][1:] == ("linear", first.layer)


def test_without_any_rounding_nothing_is_lost(program: Program) -> None:
    """Each rounding belongs to a layer: all layers together in float are the float model."""
    study = program.study
    assert isinstance(study, FloatStudy)
    trials = Trials(study.samples, study.captured, study.quantized, study.float_module, {})
    parts = trials.layers()
    assert trials.level_without(set().union(*parts.values())) > 100.0
    assert trials.level_without(()) == pytest.approx(study.losses().level)


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
    assert f"{level:.1f} dB in channel" in said.message and "(4 of 4 tried)" in said.message
    assert "MIN_SQNR is" in said.message and "wide (" in said.message.splitlines()[3]
    assert "a16w8" in said.hint and "dB more" in said.hint


def test_lowered_again_with_what_was_advised(program: Program) -> None:
    assert program.study is not None and program.again is not None and program.quality is not None
    wider = program.study.advised(25.0).wider
    assert wider is not None and "wide" in wider.keys
    better = program.again(wider.patterns)
    assert better.quality is not None
    gained = (
        better.quality["outputs"][0]["worst_sqnr_db"]
        - program.quality["outputs"][0]["worst_sqnr_db"]
    )
    assert 10.0 < gained and abs(gained - wider.gain) < 3.0
    assert program.again(()).pte == program.pte


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
    assert all(math.isfinite(trial.level) for trial in program.study.losses().trials)
