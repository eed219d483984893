# SPDX-License-Identifier: Apache-2.0
"""An output is as good as its worst channel, beside what its values tell: a level hides nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.frontend.quantize.differences import OutputNoise, Sums
from cortexm_tools.frontend.quantize.measure import measure
from cortexm_tools.pte.quality import OutputQuality, Quality, level_of, quality_line

from tests.frontend.test_measure import measured, plain

LEVELS = torch.tensor([1013.0, 20.0, 0.5])
SPREADS = torch.tensor([5.0, 3.0, 0.1])
Calls = Sequence[tuple[torch.Tensor, torch.Tensor]]


def judged(calls: Calls, ends: tuple[float, float] = (-math.inf, math.inf)) -> OutputQuality:
    output = OutputNoise(ends)
    for want, got in calls:
        output.add(want, got)
    return output.quality()


def calls_of(shape: tuple[int, ...], axis: int, count: int = 20) -> list[tuple[torch.Tensor, ...]]:
    """Of three sensors along a dimension, with noise of one kind."""
    along = [3 if d == axis else 1 for d in range(len(shape))]
    generator = torch.Generator().manual_seed(len(shape) + axis)
    level, spread = (each.reshape(along) for each in (LEVELS, SPREADS))
    wanted = [torch.randn(shape, generator=generator) * spread + level for _ in range(count)]
    return [(want, want + 0.05 * torch.randn(shape, generator=generator)) for want in wanted]


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1, 3), 1), ((3,), 0), ((2, 3, 7), 1), ((1, 7, 3), 2), ((1, 3, 5, 6), 1), ((1, 5, 6, 3), 3)],
)
def test_worst_channel(shape: tuple[int, ...], axis: int) -> None:
    calls = calls_of(shape, axis)
    found = judged(calls)
    want, got = (np.stack([np.moveaxis(call[k].double().numpy(), axis, -1) for call in calls])
                 for k in range(2))  # fmt: skip
    want, got = want.reshape(-1, 3), got.reshape(-1, 3)
    levels = 10 * np.log10(want.var(0) / np.square(want - got).mean(0))
    assert found.place == (axis, levels.argmin()) == (axis, 2)
    assert found.level == pytest.approx(levels[2]) and found.constant == ()
    whole = 10 * np.log10(np.square(want).sum() / np.square(want - got).sum())
    assert found.noise is not None and found.noise.decibels == pytest.approx(whole)

    halted = [(want, torch.where(want > 500, 1013.0, got)) for want, got in calls]
    found = judged(halted)
    assert found.constant == (0,) and found.place == (axis, 0) and found.level < 0.1 < 55 < whole
    text = quality_line(Quality(1, 1, "example", (found,), ()).data())
    where = "channel 0" if axis == 1 else f"channel 0 of dimension {axis}"
    assert f"dB in {where} (constant) against" in text
    layer = Sums()
    for want, got in halted:
        layer.add(want, got)
    if axis == (1 if len(shape) > 3 else len(shape) - 1):
        assert layer.noise().decibels < 3


def test_what_is_not_judged_by_itself() -> None:
    """Parts of one, channels of few values or very many, and what does not deviate."""
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    steps = [drawn(4, 5) * torch.tensor([9.0, 9.0, 1.0, 1.0, 0.1]) for _ in range(20)]
    shares = [each.softmax(1) for each in steps]
    assert judged([(s, (256 * s).round() / 256) for s in shares]).place is None
    assert judged([(s, (256 * s).round() / 256) for s in steps]).place == (1, 4)
    few = judged([(s, s + 0.1) for s in steps[:3]])
    assert few.place is None and few.about is not None and few.constant == ()
    assert judged([(x, x + 0.1) for x in (drawn(1, 400) for _ in range(20))]).place is None
    still = judged([(torch.full((1, 3), 7.0), torch.full((1, 3), 7.1))] * 20)
    assert still.about is None and still.level == pytest.approx(20 * math.log10(70), abs=1e-2)
    level = LEVELS.expand(1, 3)
    one = judged([(level + torch.eye(3)[1] * k, level + torch.eye(3)[1] * k) for k in range(20)])
    assert one.place == (1, 1) and one.level == math.inf  # the others never change
    (whole,) = {judged([(x, x), (x, x)]).level for x in (torch.zeros(()), torch.zeros(0, 3))}
    assert whole == math.inf


def test_values_beyond_the_range() -> None:
    want = torch.linspace(-1.0, 2.0, 301).reshape(1, -1)
    found = judged([(want, want.clamp(-0.5, 1.5))] * 4, (-0.5, 1.5))
    assert found.beyond == pytest.approx(1 / 3, abs=0.01)
    data = Quality(1, 1, "example", (found,), ()).data()
    assert "(33 % of values beyond the range) against" in quality_line(data)
    torn = judged([(want, want.where(want < 0.5, math.nan))] * 4)
    assert torn.noise is not None and torn.noise.left_out == 4 * int((want >= 0.5).sum())
    assert torn.about is not None and torn.about.signal == pytest.approx(
        4 * float((want[want < 0.5] - want[want < 0.5].mean()).square().sum())
    )


class Level(nn.Module):
    """Outputs at levels far from zero, beside what they tell."""

    def __init__(self, biases: Sequence[float]) -> None:
        super().__init__()
        self.layer = nn.Linear(12, len(biases))
        self.layer.bias.data = torch.tensor(biases)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer(x)
        return y


@pytest.mark.parametrize("biases", [[1013.0, 0.5], [293.0]])
def test_levels_hide_nothing(biases: list[float]) -> None:
    quality, *_ = measured(lambda: Level(biases), plain, 30)
    (output,) = quality.outputs
    assert output.noise is not None and output.noise.decibels > 50 > 15 > output.level
    assert level_of(quality.data()) == pytest.approx(output.level, abs=0.01)
    assert quality.worst is not None and quality.worst.operator == "linear"
    (warning,) = quality.warnings("net")
    assert "linear of layer" in warning and '"layer": "a16w8"' in warning


def test_inputs_beyond_the_calibrated_ones() -> None:
    """What an output has no codes for is counted, and said."""
    _, loaded, captured, real, coded = measured(lambda: Level([0.0, 0.0]), plain, 20)
    calibration = loaded.calibration or ()
    larger = replace(loaded, calibration=tuple((4 * x,) for (x,) in calibration))
    quality = measure(larger, captured, coded._module, real)
    known = torch.cat([real.step(sample)[0] for sample in calibration])
    values = torch.cat([real.step(sample)[0] for sample in larger.calibration or ()])
    share = float(((values < known.min()) | (values > known.max())).float().mean())
    assert share > 0.3 and quality.outputs[0].beyond == pytest.approx(share, abs=0.05)
    assert "of values beyond the range" in quality_line(quality.data())
