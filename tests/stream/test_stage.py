# SPDX-License-Identifier: Apache-2.0
"""A program compiled as a stream: what is written, said and run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.compile import Compiled, CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.options.stream import Stream
from cortexm_tools.report import summary
from cortexm_tools.run.command import RunRequest, run_program, run_text
from cortexm_tools.stream import stream_graph
from cortexm_tools.stream.stage import check_frames, stream_frames
from cortexm_tools.target import Target

from tests.support.graphs import GraphProgram, Net


def _network(padding: int = 0) -> Graph:
    net = Net("words", 11)
    x = net.input((1, 4, 20, 1))
    for _ in range(2):
        x = net.conv(x, 8, (3, 1), padding=(padding, 0, padding, 0))
    left = net.shape(x)[2]
    return net.finish(net.linear(net.view(net.pool(x, (left, 1), largest=False), (1, 8)), 3))


def _compiled(pte: bytes, stream: Stream, samples: int = 0) -> Compiled:
    example = (np.arange(80, dtype=np.int8).reshape(1, 4, 20, 1),)
    options = CompileOptions(target=Target.parse("host"), stream=stream, samples=samples)
    return compile_program(
        GraphProgram("words", pte, example=example, made=_network(int(pte))), options
    )


def test_what_is_written_and_said() -> None:
    compiled = _compiled(b"0", Stream(2, 3), samples=1)
    header = str(compiled.files["words.h"])
    for line in ("STREAM_HOP 3", "STREAM_WINDOW 20", "STREAM_DELAY 0", "INPUT_0_COUNT 12"):
        assert f"#define WORDS_{line}\n" in header or f"#define WORDS_{line} " in header
    report = compiled.report["stream"]
    assert (report["window"], report["hop"], report["calls_to_fill"]) == (20, 3, 7)
    assert 3 * report["call_macs"] < report["window_macs"]
    said = summary(compiled.report)
    assert "3 of 20 frames a call" in said
    assert "equals the model over the window in every byte" in said
    assert "words_samples.c" in compiled.files  # the calls of one window
    assert "#define WORDS_SAMPLE_COUNT 6" in str(compiled.files["words_samples.h"])


def test_a_stream_that_saves_nothing_says_which_layer_reads_the_window() -> None:
    said = summary(_compiled(b"0", Stream(1, 1)).report)
    assert "saves no MAC: conv2d of " in said
    assert "dimension 1 may not be time to it" in said


def test_the_check_runs_on_the_calibration_data() -> None:
    windows = [np.full((1, 4, 20, 1), code, np.int8) for code in (3, 7)]
    calibrated = tuple((window,) for window in windows)
    program = GraphProgram(
        "words", b"0", example=(-windows[0],), calibration=calibrated, made=_network(0)
    )
    model = stream_graph(program.graph(), Stream(2, 3))
    (frames,) = check_frames(model, program, 20)
    np.testing.assert_array_equal(frames[:, :, :40], np.concatenate(windows, 2))
    assert len(np.unique(frames[:, :, 40:])) > 40  # random ones
    (frames,) = stream_frames(model, program, 20)
    np.testing.assert_array_equal(frames[:, :, :20], -windows[0])
    (frames,) = check_frames(model, replace(program, calibration=()), 20)
    np.testing.assert_array_equal(frames[:, :, :20], -windows[0])


def test_a_causal_stream_says_how_far_it_is() -> None:
    compiled = _compiled(b"1", Stream(2, 1, causal=True))
    report = compiled.report["stream"]
    assert report["delay"] == 2 and report["causal"]
    assert "dB against the model over the window" in summary(compiled.report)
    with pytest.raises(CortexMError, match="2 operators pad along time"):
        _compiled(b"1", Stream(2, 1))


def test_runs_are_compared_with_windows(tmp_path: Path) -> None:
    compiled = _compiled(b"0", Stream(2, 1))
    report = run_program(compiled, RunRequest(work=tmp_path))
    assert report.passed and report.data["stream"]["compared"] == {"windows": 8, "differing": 0}
    assert "outputs equal the model over the window in every byte" in run_text(compiled, report)


def test_a_run_that_differs_from_the_windows_does_not_pass(tmp_path: Path) -> None:
    compiled = _compiled(b"0", Stream(2, 1))
    assert compiled.streamed is not None
    other = _compiled(b"0", Stream(2, 1)).streamed
    assert other is not None
    weights = [
        replace(t, data=-t.data) if t.data is not None and t.data.ndim == 4 else t
        for t in other.windowed.tensors
    ]
    windowed = replace(other.windowed, tensors=tuple(weights))
    wrong = replace(compiled, streamed=replace(compiled.streamed, windowed=windowed))
    report = run_program(wrong, RunRequest(work=tmp_path))
    assert report.matched and not report.passed
    assert "WRONG" in run_text(wrong, report)


def test_labelled_samples_are_of_windows(tmp_path: Path) -> None:
    compiled = _compiled(b"0", Stream(2, 1))
    with pytest.raises(CortexMError, match="a stream has no labelled samples"):
        run_program(compiled, RunRequest(dataset=tmp_path / "set.npz"))
