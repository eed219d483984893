# SPDX-License-Identifier: Apache-2.0
"""Streams give, call by call, the bytes of the model over the window that ends with the call's frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, DType, Graph, Op, contiguous, ops
from cortexm_tools.ir.interpreter import run_graph, run_sequence
from cortexm_tools.options.stream import Stream, parse_stream
from cortexm_tools.simplify import simplify
from cortexm_tools.stream import Streamed, check_stream, stream_graph
from cortexm_tools.stream.stage import stream_constants

from tests.support.graphs import Net
from tests.support.windows import random_frames, random_window, streamed_window

_NO_PADDING = (0, 0, 0, 0)


@pytest.mark.parametrize("seed", range(120))
def test_random_networks_equal_their_windows(seed: int) -> None:
    model = streamed_window(seed)
    dim, hop = model.stream.dim, model.stream.hop
    frames = random_frames(model.windowed, dim, (model.calls + 4) * hop, seed)
    assert check_stream(model, frames, calls=1, windows=1) == 1  # zeros in front
    assert check_stream(model, frames, calls=1000, windows=6) == 6
    simplified = replace(model, graph=simplify(model.graph))
    assert check_stream(simplified, frames, calls=1000, windows=1) == 1


def test_the_check_finds_a_wrong_state() -> None:
    model = stream_graph(_convs(30), Stream(2, 1))
    frames = random_frames(model.windowed, 2, 4, 0)
    states = tuple(replace(s, initial=s.initial ^ 64) for s in model.graph.states)
    wrong = replace(model, graph=replace(model.graph, states=states))
    with pytest.raises(CortexMError, match="differs from the model over its window in call 0"):
        check_stream(wrong, frames, calls=1, windows=1)


def _convs(length: int) -> Graph:
    """Three convolutions over 6 channels and a mean of what is left."""
    net = Net("convs", 5)
    x = net.input((1, 6, length, 1))
    for apart in (1, 2, 1):
        x = net.conv(x, 6, (3, 1), padding=_NO_PADDING, dilation=(apart, 1))
    left = net.shape(x)[2]
    return net.finish(net.view(net.pool(x, (left, 1), largest=False), (1, 6)))


def test_a_call_computes_one_column_of_each_layer() -> None:
    model = stream_graph(_convs(30), Stream(2, 1))
    made = {op.outputs[0]: op for op in model.graph.ops if isinstance(op.attrs, ops.Conv2d)}
    assert len(made) == 3
    assert {model.graph.tensors[index].shape[2] for index in made} == {1}
    # What the convolutions read, 3, 5 and 3 columns, and the 22 for the mean; the new one is pushed.
    kept = sorted(state.initial.shape[2] for state in model.graph.states)
    assert kept == [3, 3, 5, 22]
    assert sum(isinstance(op.attrs, ops.Push) for op in model.graph.ops) == 4
    assert dict(stream_constants(model)) == {
        "STREAM_HOP": 1, "STREAM_WINDOW": 30, "STREAM_DELAY": 0,
    }  # fmt: skip


def test_layers_that_read_the_same_share_a_state() -> None:
    net = Net("shared", 1)
    x = net.activation(net.input((1, 4, 20)))
    ways = [net.view(x, (1, 4, 1, 20)) for _ in range(2)]
    convs = [net.conv(way, 4, (1, 3), padding=_NO_PADDING) for way in ways]
    model = stream_graph(simplify(net.finish(net.sum(*convs))), Stream(2, 1))
    assert len(model.graph.states) == 1


def test_a_stride_that_the_hop_does_not_fit_keeps_every_phase() -> None:
    """A window of every call has columns between those of the last one: all are computed, once."""
    net = Net("strides", 2)
    x = net.input((1, 3, 33, 2))
    for _ in range(3):
        x = net.conv(x, 4, (3, 1), (2, 1), _NO_PADDING)
    graph = net.finish(x)
    for hop in (1, 2, 3, 4, 6, 8):
        model = stream_graph(graph, Stream(2, hop))
        frames = random_frames(graph, 2, hop * 40, hop)
        assert check_stream(model, frames, calls=40, windows=10) == 10
    assert sum(s.initial.size for s in stream_graph(graph, Stream(2, 8)).graph.states) < sum(
        s.initial.size for s in stream_graph(graph, Stream(2, 1)).graph.states
    )


def test_several_inputs_bring_their_frames_together() -> None:
    net = Net("two", 3)
    a, b = net.input((1, 3, 12, 1)), net.input((1, 3, 12, 1))
    both = net.sum(
        net.conv(a, 3, (3, 1), padding=_NO_PADDING), net.conv(b, 3, (3, 1), padding=_NO_PADDING)
    )
    model = stream_graph(net.finish(both), Stream(2, 2))
    frames = random_frames(model.windowed, 2, 40, 0)
    assert check_stream(model, frames, calls=20, windows=20) == 20


def test_frames_that_overlap_are_columns() -> None:
    """What torch.stft and unfold make: rows of 8 samples, 4 apart, of one row of samples."""
    net = Net("framing", 4)
    x = net.input((1, 64), order=contiguous(2))
    rows = net.add(ops.AsStrided((64, 4, 1), 0), [x], (1, 15, 8), order=contiguous(3))
    y = net.linear(rows, 5)
    graph = net.finish(net.linear(net.view(y, (1, 75)), 3))
    for hop in (4, 8, 1):
        model = stream_graph(graph, Stream(1, hop))
        frames = random_frames(graph, 1, 160, hop)
        assert check_stream(model, frames, calls=40, windows=8) == 8
    made = stream_graph(graph, Stream(1, 4)).graph
    linear = next(op for op in made.ops if isinstance(op.attrs, ops.Linear))
    assert made.tensors[linear.outputs[0]].shape == (1, 1, 5)


# -- padding ------------------------------------------------------------------------------------------


def _padded(length: int) -> Graph:
    net = Net("padded", 7)
    x = net.input((1, 4, length, 1))
    y = net.conv(x, 4, (3, 1), padding=(1, 0, 1, 0))
    y = net.sum(net.conv(y, 4, (3, 1), padding=(2, 0, 2, 0), dilation=(2, 1)), x)
    return net.finish(net.conv(y, 4, (3, 1), padding=(1, 0, 1, 0)))


@pytest.mark.parametrize("hop", [1, 3])
def test_a_causal_stream_is_the_model_over_an_endless_window(hop: int) -> None:
    graph = _padded(12)
    model = stream_graph(graph, Stream(2, hop, causal=True))
    assert model.delay == -(-4 // hop) * hop or model.delay == 4
    calls, silence = 24, 12
    frames = random_frames(graph, 2, calls * hop, 1)
    ends = -(-10 // hop) * hop  # what lies behind the last frame is of no importance
    front, back = (np.zeros((1, 4, n, 1), np.int8) for n in (silence, ends))
    length = silence + calls * hop + ends
    (whole,) = run_graph(_padded(length), [np.concatenate([front, frames[0], back], axis=2)])
    rows = list(run_sequence(model.graph, model.hops(frames)))
    for call, (got,) in enumerate(rows):
        end = silence + (call + 1) * hop - model.delay
        np.testing.assert_array_equal(got, whole[:, :, end - got.shape[2] : end])


def test_padding_before_what_is_read_is_no_matter() -> None:
    """A causal network of which the last column is read, over a window longer than it looks back."""
    net = Net("tcn", 8)
    x = net.input((1, 4, 20, 1))
    for apart in (1, 2, 4):
        x = net.conv(net.pad(x, (0, 0, 2 * apart, 0), (0, 0, 0, 0), 3), 4, (3, 1),
                     padding=_NO_PADDING, dilation=(apart, 1))  # fmt: skip
    last = net.add(ops.Slice((0, 0, 19, 0), (1, 1, 1, 1)), [x], (1, 4, 1, 1))
    graph = net.finish(net.linear(net.view(last, (1, 4)), 3))
    model = stream_graph(graph, Stream(2, 1))
    frames = random_frames(graph, 2, 30, 0)
    assert check_stream(model, frames, calls=30, windows=30) == 30
    shorter = replace_length(graph, 14)
    with pytest.raises(CortexMError, match="1 operator pads along time inside the window of 14"):
        stream_graph(shorter, Stream(2, 1))


def replace_length(graph: Graph, length: int) -> Graph:
    """The network of that test over another window."""
    old = graph.tensors[graph.inputs[0]].shape[2]
    tensors = [
        replace(t, shape=(*t.shape[:2], t.shape[2] + length - old, t.shape[3]))
        if len(t.shape) == 4 and not t.is_constant and t.shape[2] > 1
        else t
        for t in graph.tensors
    ]

    def moved(op: Op) -> Op:
        if not isinstance(op.attrs, ops.Slice):
            return op
        return replace(op, attrs=ops.Slice((0, 0, length - 1, 0), op.attrs.step))

    return replace(graph, tensors=tuple(tensors), ops=tuple(map(moved, graph.ops)))


# -- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_padding_is_refused_by_layer_or_causal(seed: int) -> None:
    graph = simplify(random_window(seed, pads=True))
    stream = Stream(streamed_window(seed).stream.dim, 1 + seed % 3)
    frames = random_frames(graph, stream.dim, 40 * stream.hop, seed)
    try:
        model = stream_graph(graph, stream)
    except CortexMError as error:
        assert "along time inside the window" in str(error)
        assert "of layer" in str(error) and f"{stream}:causal" in str(error)
    else:
        assert check_stream(model, frames, calls=40, windows=4) == 4
    causal = stream_graph(graph, replace(stream, causal=True))
    rows = list(run_sequence(causal.graph, causal.hops(frames)))
    _forgets(causal, frames, rows)


def _forgets(model: Streamed, frames: tuple[Array, ...], rows: list[list[Array]]) -> None:
    """What lies further back than every window has no influence."""
    begin = 2
    later = tuple(value.take(range(begin * model.stream.hop, value.shape[model.stream.dim]),
                             axis=model.stream.dim) for value in frames)  # fmt: skip
    again = list(run_sequence(model.graph, model.hops(later)))
    for have, want in zip(again[-1], rows[-1], strict=True):
        np.testing.assert_array_equal(have, want)


def test_attention_over_the_window_is_refused() -> None:
    net = Net("attention", 1)
    x = net.input((1, 10, 4), order=contiguous(3))
    graph = net.finish(net.softmax(net.batch_matmul(net.linear(x, 4), net.linear(x, 4)), 2))
    with pytest.raises(CortexMError, match="as in attention") as caught:
        stream_graph(graph, Stream(1, 1))
    assert caught.value.where == "layer2"


def test_sums_over_time_weighted_by_the_window_are_no_attention() -> None:
    net = Net("pooling", 2)
    x = net.input((1, 4, 10), order=contiguous(3))
    weights = net.softmax(net.linear(net.transpose(x, (0, 2, 1)), 1), 1)
    rows = net.view(weights, (1, 1, 10))
    graph = net.finish(net.batch_matmul(rows, x))
    model = stream_graph(simplify(graph), Stream(2, 1))
    frames = random_frames(graph, 2, 14, 0)
    assert check_stream(model, frames, calls=14, windows=14) == 14


def test_a_model_with_state_is_refused() -> None:
    net = Net("state", 1)
    x, h = net.input((1, 4, 9, 1)), net.tensor((1, 4, 9, 1))
    graph = net.finish(net.keep(h, net.sum(x, h)))
    with pytest.raises(CortexMError, match="keeps state between calls already"):
        stream_graph(graph, Stream(2, 1))


@pytest.mark.parametrize(
    ("stream", "said", "hint"),
    [
        (Stream(4, 1), "dimension 4 of input 't0' cannot be time", "DIM from 0 to 3"),
        (Stream(2, 30), "a hop of 30 frames does not fit", "give a hop below 30"),
        (Stream(2, 99), "a hop of 99 frames does not fit", "give a hop below 30"),
        (Stream(3, 1), "dimension 3 of input 't0', of shape (1, 6, 30, 1), has 1", "choose"),
    ],
)
def test_what_is_no_time_or_hop_is_refused(stream: Stream, said: str, hint: str) -> None:
    with pytest.raises(CortexMError) as caught:
        stream_graph(_convs(30), stream)
    assert said in str(caught.value) and hint in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["2", "2:", ":1", "2:0", "-1:1", "2:-1", "a:b", "2:1:2", "2:1:casual", "2:1:", "2:1.5",
     "2:9999999999", "²:1"],
)  # fmt: skip
def test_words_that_say_no_stream(text: str) -> None:
    with pytest.raises(CortexMError) as caught:
        parse_stream(text)
    assert caught.value.hint


def test_words_that_say_a_stream() -> None:
    assert parse_stream("") is None
    for text in ("2:1", "0:160", "1:3:causal"):
        assert str(parse_stream(text)) == text


def test_codes_of_both_types_and_floats() -> None:
    for dtype in (DType.S8, DType.S16, DType.F32):
        net = Net("types", 2)
        x = net.input((1, 4, 16, 1), dtype)
        if dtype is DType.F32:
            x = net.quantize(x)
        x = net.conv(x, 5, (4, 1), padding=_NO_PADDING)
        graph = simplify(net.finish(net.linear(net.view(x, (1, 65)), 3)))
        model = stream_graph(graph, Stream(2, 2))
        frames = random_frames(graph, 2, 40, 0)
        assert check_stream(model, frames, calls=20, windows=20) == 20
