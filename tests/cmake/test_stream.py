# SPDX-License-Identifier: Apache-2.0
"""STREAM in a project: each call's outputs are those of the model over its window of sound."""

from __future__ import annotations

import json

import numpy as np

from cortexm_tools.options.stream import Stream
from cortexm_tools.pte import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.stream import stream_graph

from tests.cmake.projects import ROOT, refuse, run, succeed

SOUND = ROOT / "tests" / "data" / "precision" / "sound.pte"
HOP = 80


def _samples(count: int) -> np.ndarray:
    """The samples that main.c makes."""
    seed, made = 1, []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        made.append((seed >> 15) - 32768)
    return np.array(made, np.int16)


def test_a_stream_of_sound(project) -> None:
    app = project("streaming", CortexMModel_DIR=str(ROOT / "cmake"), MODEL=str(SOUND))
    succeed(app.configure(STREAM=f"1:{HOP}"))
    said = succeed(app.make())
    assert "equals the model over the window in every byte" in said
    report = json.loads((app.build / "cortexm/sound/sound.report.json").read_text())
    lines = succeed(run(str(app.build / "app"))).splitlines()

    graph = simplify(read_pte(SOUND.read_bytes(), name="sound"), io_codes=True)
    model = stream_graph(graph, Stream(1, HOP))
    assert report["stream"]["window"] == model.window and report["stream"]["hop"] == HOP
    calls = model.window // HOP + 6
    frames = (_samples(calls * HOP)[None],)
    windows = [model.expected(frames, call)[0] for call in range(calls)]
    assert lines[:calls] == [" ".join(map(str, row.reshape(-1))) + " " for row in windows]
    assert lines[calls:] == lines[:calls] and len(set(lines)) > 20


def test_a_hop_that_does_not_fit(project) -> None:
    app = project("streaming", CortexMModel_DIR=str(ROOT / "cmake"), MODEL=str(SOUND))
    assert "STREAM cannot be '1'" in refuse(app.configure(STREAM="1"))
    succeed(app.configure(STREAM="1:5000"))
    assert "a hop of 5000 frames does not fit" in refuse(app.make())
