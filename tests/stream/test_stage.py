# SPDX-License-Identifier: Apache-2.0
"""A program compiled as a stream: what is written, said and run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.compile import Compiled, CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph, ops
from cortexm_tools.options.stream import Stream
from cortexm_tools.report import summary
from cortexm_tools.run.command import RunRequest, run_program, run_text
from cortexm_tools.stream import stream_graph
from cortexm_tools.stream.dimension import check_dimension
from cortexm_tools.stream.stage import check_frames, stream_frames
from cortexm_tools.target import Target

from tests.support.graphs import GraphProgram, Net
from tests.support.operator_examples import examples


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
    net = Net("words", 3)
    made = net.finish(net.linear(net.view(net.input((1, 4, 20, 1)), (1, 80)), 3))
    options = CompileOptions(target=Target.parse("host"), stream=Stream(2, 1))
    said = summary(compile_program(GraphProgram("words", b"whole", made=made), options).report)
    assert "saves no MAC: linear of " in said and "dimension 2 may not be time to it" in said


def _images() -> Graph:
    """Four images, whose features nothing looks at together."""
    net = Net("batch", 7)
    x = net.conv(net.input((4, 3, 6, 6)), 5, (3, 3))
    return net.finish(net.linear(net.view(x, (4, 180)), 2))


@pytest.mark.parametrize(
    ("graph", "dim", "said"),
    [
        (_network(), 1, "it is the channels of conv2d, which reads all of them"),
        (_images(), 0, "it is a batch: no layer reads more than one step of it, as conv2d"),
        (_images(), 1, "it is the channels of conv2d"),
    ],
)
def test_a_dimension_that_is_not_time_is_refused(graph: Graph, dim: int, said: str) -> None:
    options = CompileOptions(target=Target.parse("host"), stream=Stream(dim, 1))
    with pytest.raises(CortexMError, match=said) as caught:
        compile_program(GraphProgram("other", said.encode(), made=graph), options)
    assert caught.value.where == "layer0" and f"dimension {dim} of input" in str(caught.value)
    assert caught.value.hint is not None and "the dimension that is time" in caught.value.hint


def test_images_of_a_window_that_are_looked_at_together_are_time() -> None:
    net = Net("video", 9)
    x = net.linear(net.view(net.conv(net.input((5, 2, 4, 4)), 3, (3, 3)), (5, 48)), 6)
    made = net.finish(net.linear(net.view(x, (1, 30)), 2))
    options = CompileOptions(target=Target.parse("host"), stream=Stream(0, 1))
    report = compile_program(GraphProgram("video", b"0", made=made), options).report["stream"]
    assert 4 * report["call_macs"] < 2 * report["window_macs"]


def test_features_of_a_recurrent_layer_are_not_time() -> None:
    graph = next(iter(examples(ops.Lstm)))
    x, *states = graph.inputs
    tensors = list(graph.tensors)
    for index in states:
        zeros = np.zeros(tensors[index].shape, tensors[index].dtype.numpy)
        tensors[index] = replace(tensors[index], data=zeros)
    graph, stream = replace(graph, tensors=tuple(tensors), inputs=(x,)), Stream(2, 1)
    with pytest.raises(CortexMError, match="is not time: it is the channels of lstm"):
        check_dimension(graph, stream)


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
