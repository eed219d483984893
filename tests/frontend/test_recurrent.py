# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: in float as PyTorch's modules, on codes one operator for all steps, and how well that
follows the float model."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._pytree import tree_leaves

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quantize.simulate import one_thread
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import Graph
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.ir.types import DType
from cortexm_tools.options.precision import parse_patterns, parse_quantization
from cortexm_tools.pte import read_pte
from cortexm_tools.report import precision
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

M55 = Target.parse("cortex-m55")
RECURRENT = {"lstm", "gru", "rnn"}


class Net(nn.Module):
    """`function` of the module, its buffers among it, and the inputs."""

    def __init__(self, function: Callable[..., Any], **parts: nn.Module | torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, nn.Module):
                setattr(self, name, part)
            else:
                self.register_buffer(name, part)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)


def load(module: nn.Module, samples: list[tuple[torch.Tensor, ...]], **more: Any) -> LoadedModel:
    for parameter in module.eval().parameters():
        parameter.requires_grad_(False)
    path = Path(__file__).absolute()
    return LoadedModel(path, module, samples[0], tuple(samples), None, **more)


def graph_of(lowered: Lowered) -> Graph:
    return simplify(read_pte(lowered.pte, name="net"))


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


def decibels(lowered: Lowered) -> list[float]:
    assert lowered.quality is not None
    return [output.noise.decibels for output in lowered.quality.outputs if output.noise is not None]


def lowered_as(loaded: LoadedModel, word: str = "int8") -> Lowered:
    return lower(loaded, target=M55, quantization=parse_quantization(word), name="net")


KINDS: list[tuple[type[nn.RNNBase], dict[str, Any]]] = [
    (nn.LSTM, {}),
    (nn.LSTM, {"proj_size": 3}),
    (nn.GRU, {}),
    (nn.RNN, {}),
    (nn.RNN, {"nonlinearity": "relu"}),
]


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_float_values(kind: type[nn.RNNBase], options: dict[str, Any]) -> None:
    """The captured graph gives what the module does, whatever its options."""
    import_executorch()
    grid = itertools.product((1, 2), (False, True), (False, True), (False, True), (False, True))
    for number, (layers, both, first, biases, given) in enumerate(grid):
        if number % 3:  # every option with every other one, but not all of them
            continue
        torch.manual_seed(number)
        dropout = 0.5 if layers > 1 else 0.0
        layer = kind(5, 4, layers, bias=biases, batch_first=first, bidirectional=both,
                     dropout=dropout, **options)  # fmt: skip
        states = layers * (2 if both else 1)
        x = torch.randn((2, 3, 5) if first else (3, 2, 5))
        initial = [torch.randn(states, 2, options.get("proj_size", 4)), torch.randn(states, 2, 4)]
        count = (2 if kind is nn.LSTM else 1) * given

        def run(net: Any, x: torch.Tensor, *hx: torch.Tensor) -> Any:
            return net.layer(x, (hx if kind is nn.LSTM else hx[0]) if hx else None)

        net = Net(run, layer=layer)
        sample = (x, *initial[:count])
        loaded = load(net, [sample])
        captured = capture(loaded).graph
        targets = {str(node.target) for node in captured.graph.nodes}
        assert not any(name.startswith(f"aten.{kind.__name__.lower()}") for name in targets)
        assert any(name.startswith("cortexm_tools.") for name in targets)
        for want, got in zip(
            tree_leaves(net(*sample)), tree_leaves(captured(*sample)), strict=True
        ):
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_unbatched_and_cells() -> None:
    import_executorch()
    torch.manual_seed(0)

    def run(net: Any, x: torch.Tensor) -> Any:
        h, c = net.lstm_cell(x[0])
        h, c = net.lstm_cell(x[1], (c, h))
        g = net.gru_cell(x[:2], torch.stack([h, c]))
        return net.lstm(x)[0], net.gru(x)[1], h, g, net.rnn_cell(g, g)

    net = Net(run, lstm=nn.LSTM(5, 4), gru=nn.GRU(5, 4), lstm_cell=nn.LSTMCell(5, 4),
              gru_cell=nn.GRUCell(5, 4), rnn_cell=nn.RNNCell(4, 4))  # fmt: skip
    samples = [(torch.randn(3, 5),) for _ in range(8)]
    loaded = load(net, samples)
    captured = capture(loaded).graph
    for want, got in zip(net(*samples[0]), captured(*samples[0]), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    lowered = lowered_as(loaded)
    found = sorted(kind for kind in kinds(graph_of(lowered)) if kind in RECURRENT)
    assert found == ["gru", "gru", "lstm", "lstm", "lstm", "rnn"]
    assert min(decibels(lowered)) > 25


def denoised(kind: type[nn.RNNBase]) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """Two layers that take noise off waves, frame by frame, trained for a second."""

    def waves(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
        time = torch.arange(160) / 160
        rate, phase, level = torch.rand(3, batch, 1)
        clean = torch.sin(6.28 * ((1 + 6 * rate) * time + phase)) * (0.2 + 0.8 * level)
        noisy = clean + 0.3 * torch.randn(batch, 160)
        return noisy.unfold(1, 8, 4), clean.unfold(1, 8, 4)

    net = Net(lambda net, x: net.out(net.rnn(x)[0]),
              rnn=kind(8, 24, 2, batch_first=True), out=nn.Linear(24, 8))  # fmt: skip
    trained(net, lambda: waves(16), F.mse_loss)
    return net, [(x[None],) for x in waves(16)[0]]


def classified(kind: type[nn.RNNBase]) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """A classifier that reads images row by row, trained for a second."""
    shapes = F.interpolate(torch.randn(10, 1, 5, 5), size=(16, 16), mode="bilinear")[:, 0]

    def images(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
        labels = torch.randint(0, 10, (batch,))
        return shapes[labels] + 0.5 * torch.randn(batch, 16, 16), labels

    net = Net(lambda net, x: net.out(net.rnn(x)[0][:, -1]),
              rnn=kind(16, 24, batch_first=True), out=nn.Linear(24, 10))  # fmt: skip
    trained(net, lambda: images(16), F.cross_entropy)
    return net, [(x[None],) for x in images(16)[0]]


def trained(net: nn.Module, draw: Callable[[], Any], loss: Callable[..., torch.Tensor]) -> None:
    optimizer = torch.optim.Adam(net.parameters(), 2e-2)
    for _ in range(60):
        x, wanted = draw()
        optimizer.zero_grad()
        loss(net(x), wanted).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize(
    ("make", "least", "word", "least_of_4_bits"),
    [(denoised, 33, "a16w4", 39), (classified, 36, "a8w4", 23)],
)
def test_precision(
    kind: type[nn.RNNBase], make: Any, least: float, word: str, least_of_4_bits: float
) -> None:
    """With 8 bits for gates and cell states it would be some 10 dB; TensorFlow Lite has 35 and 38. The
    nearest codes of 4 bits have 33 and 17, or 29."""
    import_executorch()
    torch.manual_seed(0)
    with one_thread():
        net, samples = make(kind)
    loaded = load(net, samples)
    narrow, wide = lowered_as(loaded), lowered_as(loaded, "a16w8")
    assert min(decibels(narrow)) >= least
    assert min(decibels(wide)) >= 40  # its weights have 8 bits, too
    small = lowered_as(loaded, word)
    assert min(decibels(small)) >= least_of_4_bits
    assert small.quality is not None
    for layer in small.quality.data()["weights"]["layers"]:
        assert layer["by_inputs"] and layer["sqnr_db"] > layer["nearest_db"] + (layer["bits"] == 4)
    for lowered, precision_of_all in ((narrow, "int8"), (wide, "a16w8"), (small, word)):
        graph = graph_of(lowered)
        for op in graph.ops:
            assert op.kind not in RECURRENT or precision(op, graph) == precision_of_all
        inputs = [tuple(x.numpy() for x in sample) for sample in samples[:3]]
        for given, (got,) in zip(inputs, run_sequence(graph, inputs), strict=True):
            np.testing.assert_array_equal(lowered.reference(given)[0], got)
            # Float layers around it may round to another code than those of the device.
            (simulated,) = lowered.fake_quantized(given)
            assert np.abs(simulated - got).max() <= 0.02 * np.abs(got).max()
        layers = [kind for kind in kinds(graph) if kind in RECURRENT]
        assert layers == [kind.__name__.lower()] * (2 if make is denoised else 1)
        (first, *_) = [op for op in graph.ops if op.kind in RECURRENT]
        assert first.attrs.sequence is (make is denoised)  # type: ignore[attr-defined]
        origin = dict(lowered.layers)[f"cortexm::{first.kind}{'' if make is denoised else '_last'}"]
        assert (origin.path, origin.call) == ("rnn", f"torch.nn.{kind.__name__}")
    assert narrow.quality is not None
    assert kind.__name__.lower() in [layer.operator for layer in narrow.quality.layers]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_few_large_inputs_leave_the_weights_of_h_their_bits(kind: type[nn.RNNBase]) -> None:
    """The scale of x is that of its largest values: with the weights of h in the scale that it gives those
    of x, 2 to 19 dB would be left."""
    import_executorch()
    torch.manual_seed(0)
    net = Net(lambda net, x: net.rnn(x)[0], rnn=kind(6, 12, batch_first=True))
    net.rnn.weight_hh_l0.data *= 4
    samples = [(torch.exp(2 * torch.randn(1, 24, 6)) / 8,) for _ in range(16)]
    lowered = lowered_as(load(net, samples), "a16w8")
    (layer,) = [op for op in graph_of(lowered).ops if op.kind in RECURRENT]
    assert layer.attrs.h_shift >= 3  # type: ignore[attr-defined]
    assert min(decibels(lowered)) > (20 if kind is nn.RNN else 38)


def test_500_steps() -> None:
    """Two directions are two operators, whatever the number of steps."""
    import_executorch()
    torch.manual_seed(0)
    net = Net(lambda net, x: net.out(net.rnn(x)[0]),
              rnn=nn.LSTM(6, 8, batch_first=True, bidirectional=True), out=nn.Linear(16, 2))  # fmt: skip
    loaded = load(net, [(torch.randn(1, 500, 6),) for _ in range(3)])
    begin = time.monotonic()
    lowered = lowered_as(loaded)
    assert time.monotonic() - begin < 30
    assert sorted(kinds(graph_of(lowered))) == sorted(
        ["quantize", "lstm", "lstm", "concat", "linear", "dequantize"]
    )
    assert len(lowered.pte) < 20_000


def kept_lstm(net: Any, x: torch.Tensor) -> torch.Tensor:
    y, (h, c) = net.rnn(x, (net.h, net.c))
    net.h.copy_(h)
    net.c.copy_(c)
    return net.out(y)


def kept_gru(net: Any, x: torch.Tensor) -> torch.Tensor:
    y, h = net.rnn(x, net.h)
    net.h.copy_(h)
    return net.out(y)


def kept_cell(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.h, net.c = net.rnn(x[:, 0], (net.h, net.c))
    return net.out(net.h)


@pytest.mark.parametrize(
    ("run", "layer", "types"),
    [
        (kept_lstm, nn.LSTM(5, 6, batch_first=True), {"h": DType.S8, "c": DType.S16}),
        (kept_gru, nn.GRU(5, 6, batch_first=True), {"h": DType.S16}),
        (kept_cell, nn.LSTMCell(5, 6), {"h": DType.S8, "c": DType.S16}),
    ],
)
def test_states_keep_their_codes(run: Any, layer: Any, types: dict[str, DType]) -> None:
    """From call to call: nothing is dequantized and quantized again, and small changes add up."""
    import_executorch()
    torch.manual_seed(0)
    shape = (1, 6) if run is kept_cell else (1, 1, 6)
    states = {name: torch.zeros(shape) for name in types}
    net = Net(run, rnn=layer, out=nn.Linear(6, 2), **states)
    samples = [(torch.randn(1, 2, 5) + 0.5,) for _ in range(20)]
    lowered = lowered_as(load(net, samples))
    graph = graph_of(lowered)
    assert {s.name: graph.tensors[s.before].dtype for s in graph.states} == types
    assert {kind for kind in kinds(graph) if "quantize" in kind} <= {
        "quantize", "dequantize", *(["requantize"] if run is kept_gru else [])
    }  # fmt: skip
    assert kinds(graph).count("quantize") == kinds(graph).count("dequantize") == 1
    given = [tuple(x.numpy() for x in sample) for sample in samples]
    for inputs, (got,) in zip(given, run_sequence(graph, given), strict=True):
        np.testing.assert_array_equal(lowered.reference(inputs)[0], got)
    assert min(decibels(lowered)) > 30


def test_float_layers_are_written_out() -> None:
    """A layer in float between layers in codes, and a whole model in float."""
    import_executorch()
    torch.manual_seed(0)
    net = Net(lambda net, x: net.out(net.b(net.a(x)[0])[0]),
              a=nn.GRU(4, 4, batch_first=True), b=nn.LSTM(4, 4, batch_first=True),
              out=nn.Linear(4, 2))  # fmt: skip
    samples = [(torch.randn(1, 3, 4),) for _ in range(8)]
    mixed = lowered_as(load(net, samples, patterns=parse_patterns({"b": "float"})))
    found = kinds(graph_of(mixed))
    assert "gru" in found
    assert "lstm" not in found
    assert min(decibels(mixed)) > 25
    whole = lower(load(net, samples), target=M55, quantization=None, name="net")
    assert not RECURRENT & set(kinds(graph_of(whole)))


def test_refusals() -> None:
    import_executorch()

    def packed(net: Any, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        sequence = nn.utils.rnn.pack_padded_sequence(x, lengths, True, False)
        return nn.utils.rnn.pad_packed_sequence(net.rnn(sequence)[0], batch_first=True)[0]

    def last_of_packed(net: Any, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        sequence = nn.utils.rnn.pack_padded_sequence(x, lengths, True, False)
        y, (h, _) = net.rnn(sequence)
        return h

    def cut(net: Any, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = net.rnn(x[:, : int(lengths[0])])[0]
        return y

    def counted(net: Any, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        h = None
        for step in range(lengths[0]):
            h = net.rnn(x[:, step : step + 1], h)[1]
        return h[0]

    rnn = nn.LSTM(4, 4, batch_first=True)
    x = torch.randn(2, 3, 4)
    for run, said in (
        (packed, "the lengths of a packed sequence are not known at build time"),
        (last_of_packed, "at 'sequence = nn.utils.rnn.pack_padded_sequence"),
        (cut, "depend on data at 'y: torch.Tensor = net.rnn(x[:, : int(lengths[0])])"),
        (counted, "depend on data at 'for step in range(lengths[0]):'"),
    ):
        with pytest.raises(CortexMError, match=re.escape(said)) as caught:
            lowered_as(load(Net(run, rnn=rnn), [(x, torch.tensor([3, 3]))]))
        assert "all steps" in caught.value.hint
        assert caught.value.where.startswith("test_recurrent.py:")


def test_weights_of_4_bits_by_module() -> None:
    """A layer that is named has them; and by QUANTIZE those that hold many weights."""
    import_executorch()
    torch.manual_seed(0)

    def run(net: Any, x: torch.Tensor) -> torch.Tensor:
        y, _ = net.b(torch.relu(net.a(x)[0]))
        z: torch.Tensor = net.out(net.cell(y[:, -1]))
        return z

    net = Net(run, a=nn.GRU(4, 2, batch_first=True), b=nn.RNN(2, 12, batch_first=True, nonlinearity="relu"),
              cell=nn.GRUCell(12, 8), out=nn.Linear(8, 2))  # fmt: skip
    samples = [(torch.randn(1, 3, 4),) for _ in range(12)]
    for word, patterns, wanted in (
        ("a8w4", {}, ["int8", "a8w4", "a8w4"]),
        ("int8", {"a": "a16w4", "cell": "a8w4"}, ["a16w4", "int8", "a8w4"]),
    ):
        loaded = load(net, samples, patterns=parse_patterns(patterns))
        lowered = lowered_as(loaded, word)
        graph = graph_of(lowered)
        assert [precision(op, graph) for op in graph.ops if op.kind in RECURRENT] == wanted
        assert min(decibels(lowered)) > 15
        given = tuple(x.numpy() for x in samples[0])
        ((got,),) = run_sequence(graph, [given])
        np.testing.assert_array_equal(lowered.reference(given)[0], got)


class ConvLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.out = nn.Conv2d(6, 16, 3, padding=1), nn.Conv2d(4, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = torch.zeros(x.shape[0], 4, *x.shape[3:])
        for step in x.unbind(1):
            i, f, g, o = self.conv(torch.cat([step, h], 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        y: torch.Tensor = self.out(h)
        return y


def by_hand(net: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """A minGRU, an update by torch.lerp and a reservoir, each with a state in a buffer."""
    z = torch.sigmoid(net.z(x))
    net.a = (1 - z) * net.a + z * net.n(x)
    net.b = torch.lerp(net.b, torch.tanh(net.n(x)), z)
    net.c.mul_(0.7).add_(0.3 * torch.tanh(net.n(x) + F.linear(net.c, net.w)))
    return net.out(net.a), net.out(net.b), net.out(net.c)


def test_written_by_hand() -> None:
    """Recurrent networks of other operators compute in integers, too."""
    import_executorch()
    torch.manual_seed(0)
    layers = {"z": nn.Linear(6, 8), "n": nn.Linear(6, 8), "out": nn.Linear(8, 2)}
    states = {name: torch.zeros(1, 8) for name in "abc"}
    cells = Net(by_hand, w=torch.randn(8, 8) * 0.2, **layers, **states)
    for net, shape in ((ConvLstm(), (1, 2, 2, 4, 4)), (cells, (1, 6))):
        lowered = lowered_as(load(net, [(torch.randn(shape),) for _ in range(12)]))
        graph = graph_of(lowered)
        for op in graph.ops:
            floats = [graph.tensors[i].dtype is DType.F32 for i in (*op.inputs, *op.outputs)]
            assert op.kind in ("quantize", "dequantize") or not any(floats)
        assert min(decibels(lowered)) > 30
