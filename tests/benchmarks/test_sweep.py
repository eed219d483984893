# SPDX-License-Identifier: Apache-2.0
"""benchmarks/sweep.py: it counts what it is asked for, and marks what costs more than its neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import sweep
from benchmarks.sweep import Cost, Layer, Work, depthwise


def test_neighbours_have_usual_sizes() -> None:
    layer = Layer("conv", 10, 15, kernel=(1, 5), dilation=2, groups=5)
    assert layer.neighbour == Layer("conv", 40, 40, kernel=(5, 5), groups=5)
    assert depthwise(13, (7, 7), 2).neighbour == depthwise(16, (3, 3), 2)
    every = sweep.layers()
    assert len(every) > 300
    assert all(layer.neighbour.neighbour == layer.neighbour for layer in every)


def test_an_output_counts_as_products() -> None:
    narrow, wide = Cost(240, Work(8, 1)), Cost(480, Work(80, 1))
    assert narrow.each == 30.0 and wide.each == 6.0
    assert narrow.times(wide) == 2.0


def test_layers_are_counted(tmp_path: Path) -> None:
    """One of each kind; a grouped convolution beside one that is not."""
    first = {layer.kind: layer for layer in sweep.layers()}
    found = sweep.costs(list(first.values()), "cortex-m4", tmp_path)
    assert all(cost.instructions > cost.work.per / 4 for cost in found.values())


def test_what_costs_more_is_marked() -> None:
    layers = [Layer("conv", 3, 5), Layer("conv", 9, 5)]
    beside = {layer.neighbour: Cost(10, Work(1)) for layer in layers}
    found = {layer: Cost(cost, Work(1)) for layer, cost in zip(layers, (21, 20), strict=True)}
    (first, _), (second, times) = sweep.rows(found | beside, layers)
    assert first.startswith("** conv 3->5 1x1 on 8x8 ")
    assert not second.startswith("**") and times == 2.0


@pytest.mark.parametrize("options", [["--kinds", "convs"]])
def test_bad_options_are_errors(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep.main(options) == 1
    assert "did you mean" in capsys.readouterr().err
