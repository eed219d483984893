# SPDX-License-Identifier: Apache-2.0
"""Weights rounded by what the layers read: never worse where it is done, the same every time."""

from __future__ import annotations

import copy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.capture.capture import Captured, capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quantize.columns import WEIGHTED, as_matrices, as_weight, columns
from cortexm_tools.frontend.quantize.gptq import Moments, nearest, round_weights, squared_error
from cortexm_tools.frontend.quantize.quantize import Quantized, quantize
from cortexm_tools.frontend.quantize.tags import tag_nodes, tag_of
from cortexm_tools.frontend.quantize.weight_bits import (
    WeightedLayer,
    layers_with_weights,
    stay_at_8_bits,
)
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import PRECISIONS, Precision, Rounding, parse_quantization
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.quick import quick_ranges
from tests.support.state_models import Net, recurrent

_aten = torch.ops.aten


def inputs(groups: int, size: int, count: int, rank: int) -> torch.Tensor:
    """Codes of correlated inputs, [groups, size, count]; the first one is always zero."""
    mixed = torch.randn(groups, size, rank) @ torch.randn(groups, rank, count)
    codes = torch.clamp(torch.round(20 * mixed), -255, 255)
    codes[:, 0] = 0
    return codes


@pytest.mark.parametrize("rank, count", [(3, 200), (40, 200), (40, 5), (40, 0)])
@pytest.mark.parametrize("limit", [7, 127])
def test_errors_cancel(rank: int, count: int, limit: int) -> None:
    """With few inputs and many, in general position and not."""
    torch.manual_seed(rank + count)
    moments = Moments.none(2, 40)
    x = inputs(2, 40, count, rank)
    moments.add(x[:, :, : count // 2])
    moments.add(x[:, :, count // 2 :])
    weight = torch.randn(2, 3, 40, dtype=torch.float64)
    step = weight.abs().amax(-1, keepdim=True) / limit
    codes = round_weights(weight, step, moments.square, limit)
    assert torch.equal(codes, codes.round()) and float(codes.abs().max()) <= limit
    assert torch.equal(codes[:, :, 0], nearest(weight, step, limit)[:, :, 0])
    plain = nearest(weight, step, limit) * step - weight
    wrong = codes * step - weight
    direct = (wrong @ x.double()).square().sum(-1)
    assert torch.allclose(squared_error(wrong, moments.square), direct, rtol=1e-9, atol=1e-6)
    if count == 200:
        assert float(direct.sum()) < 0.7 * float(squared_error(plain, moments.square).sum())
    about = moments.about(moments.mean)
    centered = x.double() - moments.mean[:, :, None]
    assert torch.allclose(about, centered @ centered.mT, atol=1e-6)


CONVOLUTIONS = [
    # channels, kernel shape, stride, padding, dilation, groups
    (4, (6, 4, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    (4, (6, 2, 3, 2), (2, 1), (0, 1), (1, 2), 2),
    (4, (8, 1, 2, 3), (1, 3), (2, 0), (2, 1), 4),
    (3, (5, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("channels, kernel, stride, padding, dilation, groups", CONVOLUTIONS)
def test_a_convolution_is_a_product(
    channels: int, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> None:
    graph = torch.fx.Graph()
    args = (graph.placeholder("x"), graph.placeholder("w"), None)
    call = graph.call_function(_aten.conv2d.default, (*args, stride, padding, dilation, groups))
    x, weight = torch.randn(2, channels, 7, 8).double(), torch.randn(kernel).double()
    want = _aten.conv2d.default(x, weight, None, stride, padding, dilation, groups)
    check_product(call, x, weight, want)


@pytest.mark.parametrize("stride, padding", product([(1, 1), (2, 3)], [(0, 0), (1, 2)]))
def test_a_transposed_convolution_is_a_product(stride: Any, padding: Any) -> None:
    graph = torch.fx.Graph()
    args = (graph.placeholder("x"), graph.placeholder("w"), None)
    call = graph.call_function(_aten.conv_transpose2d.input, (*args, stride, padding))
    x, weight = torch.randn(2, 3, 4, 5).double(), torch.randn(3, 4, 2, 3).double()
    want = _aten.conv_transpose2d.input(x, weight, None, stride, padding)
    check_product(call, x, weight, want)


def test_a_linear_layer_is_a_product() -> None:
    graph = torch.fx.Graph()
    call = graph.call_function(
        _aten.linear.default, (graph.placeholder("x"), graph.placeholder("w"))
    )
    x, weight = torch.randn(2, 5, 6).double(), torch.randn(4, 6).double()
    want = _aten.linear.default(x, weight).reshape(10, 4).T
    check_product(call, x, weight, want.reshape(1, 4, 10))


def check_product(call: Any, x: torch.Tensor, weight: torch.Tensor, want: torch.Tensor) -> None:
    matrices = as_matrices(call, weight)
    assert torch.equal(as_weight(call, matrices, weight), weight)
    found = matrices @ columns(call, x, weight.shape, 10_000)
    if want.dim() == 4:
        want = want.transpose(0, 1)
    assert torch.allclose(found.reshape(want.shape), want)
    some = matrices @ columns(call, x, weight.shape, 7)
    assert some.shape[-1] == 7
    every = found.reshape(*some.shape[:2], -1)
    taken = torch.arange(7) * every.shape[-1] // 7
    assert torch.allclose(some, every[:, :, taken])


class Network(nn.Module):
    """Every kind of layer with weights, one layer called twice, and one that reads zeros alone."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 8, 3, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False)
        self.grouped = nn.Conv2d(8, 8, 1, groups=2)
        self.up = nn.ConvTranspose2d(8, 6, 2, 2)
        self.twice = nn.Linear(6, 6)
        self.dead = nn.Linear(6, 6)
        self.last = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.grouped(torch.relu(self.depthwise(torch.relu(self.first(x)))))
        x = torch.relu(self.up(x)).mean((2, 3))
        x = self.twice(torch.relu(self.twice(x)))
        return self.last(x + self.dead(torch.relu(x - 1000)))


def captured_network() -> tuple[Captured, LoadedModel]:
    import_executorch()
    torch.manual_seed(0)
    samples = tuple((torch.randn(1, 2, 6, 6),) for _ in range(20))
    loaded = LoadedModel(Path("net.py").absolute(), Network().eval(), samples[0], samples, None)
    captured = capture(loaded)
    tag_nodes(captured.graph)
    return captured, loaded


def rounded_network(captured: Captured, loaded: LoadedModel, bits: int, threads: int) -> Quantized:
    calls = [node for node in captured.graph.graph.nodes if node.target in WEIGHTED]
    tags = {tag_of(node) for node in calls} if bits == 4 else set()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return quantize(
            copy.deepcopy(captured.graph),
            loaded.calibration or (),
            captured.which,
            base=Path(),
            four_bits=tags,  # type: ignore[arg-type]
            rounding=Rounding.GPTQ,
        )
    finally:
        torch.set_num_threads(before)


def codes_of(quantized: Quantized) -> list[torch.Tensor]:
    graph = quantized.graph
    weights = [node.args[1].args[0] for node in graph.graph.nodes if node.target in WEIGHTED]
    return [getattr(graph, str(node.target)) for node in weights]


def test_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_ranges(monkeypatch)
    captured, loaded = captured_network()
    for bits, limit in ((4, 7), (8, 127)):
        quantized = rounded_network(captured, loaded, bits, 1)
        rounded, found = quantized.rounded, codes_of(quantized)
        assert rounded is not None
        for codes in found:
            assert codes.dtype == torch.int8 and int(codes.abs().max()) <= limit
        # One layer of two calls is rounded once.
        assert len(found) == 8 and len(rounded.layers) == 7
        assert torch.equal(found[4], found[5])
        assert rounded.held_back == 4 and rounded.chosen <= rounded.nearest
        for layer in rounded.layers:
            assert layer.bits == bits
            assert layer.chosen.noise <= layer.nearest.noise
            assert layer.by_inputs == (layer.chosen.noise < layer.nearest.noise)
        assert sum(layer.by_inputs for layer in rounded.layers) >= 4
    again = rounded_network(captured, loaded, 8, 2)
    assert again.rounded == rounded
    assert all(map(torch.equal, found, codes_of(again)))


def test_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """ExecuTorch lowers codes of 4 bits as those of 8, and its operators compute what ours do."""
    quick_ranges(monkeypatch)
    _, loaded = captured_network()
    wanted = parse_quantization("a8w4")
    result = lower(loaded, target=Target.parse("cortex-m55"), quantization=wanted, name="net")
    graph = simplify(read_pte(result.pte, name="net"))
    layers = (ops.Conv2d, ops.DepthwiseConv2d, ops.TransposeConv2d, ops.Linear)
    largest = []
    for op in graph.ops:
        if isinstance(op.attrs, layers):
            data = graph.tensors[op.inputs[1]].data
            assert data is not None
            largest.append(int(np.abs(data.astype(int)).max()))
            # Multipliers have 16 bits where weights have 4.
            are_narrow = all(rescale.is_narrow for rescale in op.attrs.rescales)
            assert are_narrow == (largest[-1] <= 7), op.layer
    assert len(largest) == 8 and sum(most <= 7 for most in largest) == 6
    assert result.quality is not None and "weights" in result.quality.data()
    for sample in (loaded.calibration or ())[:3]:
        arrays = tuple(x.numpy() for x in sample)
        for got, want in zip(run_graph(graph, arrays), result.reference(arrays), strict=True):
            assert np.array_equal(got, want)


@pytest.mark.parametrize("word", ["a8w4", "a16w4"])
def test_a_model_with_state(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its layers read in calibration are the calls one after the other: the state as it comes."""
    quick_ranges(monkeypatch)
    import_executorch()
    torch.manual_seed(0)
    net = Net(
        recurrent,
        a=nn.Linear(8, 24),
        b=nn.Linear(24, 24),
        out=nn.Linear(24, 8),
        hidden=torch.zeros(1, 24),
    ).eval()
    samples = tuple((torch.randn(1, 8),) for _ in range(20))
    loaded = LoadedModel(Path("net.py").absolute(), net, samples[0], samples, None)
    target, wanted = Target.parse("cortex-m55"), parse_quantization(word)
    results = [lower(loaded, target=target, quantization=wanted, name="net") for _ in range(2)]
    assert results[0].pte == results[1].pte
    assert torch.equal(net.hidden, torch.zeros(1, 24))
    quality = results[0].quality
    assert quality is not None
    found = quality.data()["weights"]
    assert found["held_back"] == 4 and found["sqnr_db"] >= found["nearest_db"]
    assert any(layer["by_inputs"] for layer in found["layers"])
    graph = simplify(read_pte(results[0].pte, name="net"))
    (state,) = graph.states
    hidden = next(op for op in graph.ops if op.kind == "linear" and state.before in op.inputs)
    data = graph.tensors[hidden.inputs[1]].data
    assert data is not None and np.abs(data.astype(int)).max() <= 7


def test_which_layers_stay_at_8_bits() -> None:
    captured, _ = captured_network()
    layers = layers_with_weights(captured)
    assert [layer.weights for layer in layers] == [144, 72, 32, 192, 36, 36, 24]
    assert [layer.first for layer in layers] == [True, *[False] * 6]
    assert [layer.depthwise for layer in layers] == [False, True, *[False] * 5]
    assert [layer.last for layer in layers] == [*[False] * 6, True]
    assert [len(layer.tags) for layer in layers] == [1, 1, 1, 1, 2, 1, 1]
    # The first one holds more than a quarter.
    assert stay_at_8_bits(layers) == [layers[1], layers[6]]
    large = WeightedLayer(frozenset({1}), 1000, first=True)
    assert stay_at_8_bits([large, WeightedLayer(frozenset({2}), 3000)]) == [large]


def test_words() -> None:
    for word, precision in PRECISIONS.items():
        found = parse_quantization(word)
        assert (found and found.precision) == precision
    four = parse_quantization("a8w4")
    assert four is not None and four.precision == Precision(8, 4)
    assert four.weights_rounded is Rounding.GPTQ
    eight = parse_quantization("int8", "weights=gptq")
    assert eight is not None and eight.weights_rounded is Rounding.GPTQ
    plain = parse_quantization("int8")
    assert plain is not None and plain.weights_rounded is Rounding.NEAREST
    for words in (("a8w5", ""), ("int8", "weights=up"), ("int8", "gptq"), ("none", "weights=gptq")):
        with pytest.raises(CortexMError) as caught:
            parse_quantization(*words)
        assert caught.value.hint
