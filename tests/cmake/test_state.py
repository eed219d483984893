# SPDX-License-Identifier: Apache-2.0
"""Two models with state that share an arena: each goes on from its own last call."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Array
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.pte import read_pte

from tests.cmake.projects import ROOT, emulate, run, succeed
from tests.support.streams import STORED, stored_program


def _input(shape: tuple[int, ...], call: int) -> Array:
    """The input of a call, as main.c makes it."""
    numbers = (7 * call + 3 * np.arange(np.prod(shape))) % 11
    return ((numbers.astype(np.float32) - 5) * np.float32(0.25)).reshape(shape)


def _lines(name: str, calls: list[int]) -> list[str]:
    graph = read_pte(stored_program(name), name=name)
    rows = [[_input(graph.tensors[graph.inputs[0]].shape, call)] for call in calls]
    return [
        f"{name} {call} {outputs[0].tobytes().hex()}"
        for call, outputs in zip(calls, run_sequence(graph, rows), strict=True)
    ]


@pytest.mark.parametrize("board", ["", "mps3-an547"])
def test_two_models_with_state_share_an_arena(project, board: str) -> None:
    app = project("stateful", CortexMModel_DIR=str(ROOT / "cmake"), STATES=str(STORED))
    succeed(app.configure(**({"CORTEXM_BOARD": board} if board else {})))
    said = succeed(app.make())
    printed = (
        emulate(board, app.build / "app.elf") if board else succeed(run(str(app.build / "app")))
    )
    lines = [line for line in printed.splitlines() if line.startswith(("streaming", "recurrent"))]
    streams = [line for line in lines if line.startswith("streaming")]
    assert streams[:4] + streams[5:] == _lines("streaming", [0, 1, 2, 3, 4])
    assert streams[4] == _lines("streaming", [9])[0]
    cells = [line for line in lines if line.startswith("recurrent")]
    assert cells[:5] == _lines("recurrent", [0, 1, 2, 3, 4])
    assert cells[5] == cells[0] and len(set(cells)) == 5 and "done" in printed
    if not board:
        return
    assert "state" in said
    for name in ("streaming", "recurrent"):
        folder = app.build / "cortexm" / name
        report = json.loads(Path(folder / f"{name}.report.json").read_text())
        assert report["state_bytes"] == 16 and report["states"]
        sizes = json.loads(Path(folder / f"{name}.footprint.json").read_text())
        assert sizes["bss"] >= 16 and sizes["arena"] <= sizes["shared_arena"]
