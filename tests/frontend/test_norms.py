# SPDX-License-Identifier: Apache-2.0
"""Norms and attention compute on codes, in every byte as the program says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.nodes import operator_name
from cortexm_tools.frontend.quantize.scales import constant_factor
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import DType
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import Program
from cortexm_tools.runner import run_in_order
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target


class Norms(nn.Module):
    """One of each kind, with and without weights, and a product of heads."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 8, 3, padding=1)
        self.group, self.instance = nn.GroupNorm(2, 8), nn.InstanceNorm2d(8, affine=True)
        self.plain = nn.GroupNorm(1, 8, affine=False)
        self.layer, self.rms = nn.LayerNorm(16), nn.RMSNorm(16)
        self.linear = nn.Linear(16, 48)
        for norm in (self.group, self.instance, self.layer):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, 0.0, 0.3)
        nn.init.uniform_(self.rms.weight, 0.5, 1.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.plain(self.instance(torch.relu(self.group(self.conv(x)))))
        x = self.layer(x.flatten(2))
        q, k, v = (y.unflatten(-1, (2, 8)).transpose(1, 2) for y in self.linear(x).chunk(3, -1))
        x = x + ((q @ k.transpose(-2, -1) * 8**-0.5).softmax(-1) @ v).transpose(1, 2).flatten(2)
        return self.rms(x)


@pytest.mark.parametrize(("precision", "least"), [("int8", 22.0), ("a16w8", 38.0)])
def test_norms_and_attention_compute_on_codes(precision: str, least: float) -> None:
    import_executorch()
    torch.manual_seed(1)
    samples = tuple((torch.randn(1, 2, 4, 4) * (0.5 + 0.2 * k),) for k in range(6))
    model = LoadedModel(Path(__file__), Norms().eval(), samples[0], samples, None)
    lowered = lower(
        model,
        target=Target.parse("cortex-m55"),
        name="norms",
        quantization=parse_quantization(precision),
    )
    graph = simplify(Program("norms", lowered.pte, lowered.layers).graph())
    kinds = [op.kind for op in graph.ops]
    assert kinds.count("group_norm") == 3 and kinds.count("layer_norm") == 2
    assert kinds.count("quantize") == kinds.count("dequantize") == 1
    assert "float_layer_norm" not in kinds
    assert kinds.count("activation") <= 1  # the ReLU: neither the scale of the scores nor shares
    inside = {graph.tensors[i].dtype for op in graph.ops[1:-1] for i in op.outputs}
    assert inside == {DType.S8 if precision == "int8" else DType.S16}
    rows = [tuple(x.numpy() for x in sample) for sample in samples]
    got, reference, real = (
        np.stack([row[0] for row in each])
        for each in (
            run_sequence(graph, rows),
            run_in_order(lowered.reference, rows),
            run_in_order(lowered.float_module, rows),
        )
    )
    if precision == "a16w8":  # ExecuTorch computes softmax of int8 in float
        np.testing.assert_array_equal(got, reference)
    assert 10 * np.log10((real**2).sum() / ((real - got) ** 2).sum()) > least


W, B = torch.rand(5, 16) + 0.5, torch.randn(5, 16)


def _centred(x: torch.Tensor, *dims: int) -> torch.Tensor:
    return x - x.mean(dims, keepdim=True)


def _llama(x: torch.Tensor) -> torch.Tensor:
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * W[0]


def _annotated(x: torch.Tensor) -> torch.Tensor:
    return W[0] * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + B[0]


def _both(x: torch.Tensor) -> torch.Tensor:
    variance, mean = torch.var_mean(x, (1, 2), keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-5) * W + B


def _channels_first(x: torch.Tensor) -> torch.Tensor:
    y = x.unflatten(-1, (4, 4))  # as ConvNeXt's
    d = y - y.mean(1, keepdim=True)
    d = d / torch.sqrt(d.pow(2).mean(1, keepdim=True) + 1e-6)
    return W[0, :5, None, None] * d + B[0, :5, None, None]


def _instance(x: torch.Tensor) -> torch.Tensor:
    y = x.unflatten(-1, (4, 4))
    return _centred(y, 2, 3) / (y.var((2, 3)) + 1e-5).sqrt()[..., None, None] * W[0, :5, None, None]


@pytest.mark.parametrize(
    ("written", "norms"),
    [
        (_llama, ["rms_norm"]),
        (lambda x: nn.functional.normalize(x, dim=-1) * 4 * W[0], ["rms_norm"]),
        (lambda x: x / (x.norm(dim=-1, keepdim=True) * 0.25 + 1e-6), ["rms_norm"]),
        (lambda x: x * (x.square().sum(1, keepdim=True) / 5 + 1e-3).pow(-0.5), ["rms_norm"]),
        (_annotated, ["layer_norm"]),
        (_both, ["layer_norm"]),
        (_channels_first, ["layer_norm"]),
        (lambda x: _both(_annotated(x).relu() + _annotated(_both(x))), ["layer_norm"] * 4),
        (lambda x: _centred(x, 0, 1, 2) * (1 / (x.std() + 1e-6)), ["layer_norm"]),
        (_instance, ["group_norm"]),
        # The mean of sizes, rows of others, without the mean, and a number that counts.
        (lambda x: x / (x.abs().mean(-1, keepdim=True) + 1e-5), []),
        (lambda x: x[:, :, :5] * torch.rsqrt(x.pow(2).mean(-1) + 1e-5), []),
        (lambda x: _centred(x, 1) / x.std(2, keepdim=True), []),
        (lambda x: x / (x.std(2, keepdim=True) + 1e-5), []),
        (lambda x: x / (x.norm(dim=-1, keepdim=True) + 1.0), []),
    ],
)
def test_norms_that_are_written_out(
    written: Callable[[torch.Tensor], torch.Tensor], norms: list[str]
) -> None:
    torch.manual_seed(1)
    x = torch.randn(1, 5, 16) + 0.3
    module = WrittenNorm(written).eval()
    graph = capture(LoadedModel(Path(__file__), module, (x,), None, None)).graph
    names = [operator_name(node).rpartition("::")[2] for node in graph.graph.nodes]
    assert [name for name in names if name.endswith("_norm")] == norms
    assert not norms or not {"mean", "sum", "sqrt", "rsqrt", "linear", "div"} & set(names)
    torch.testing.assert_close(graph(x), module(x), rtol=2e-5, atol=2e-5)


class WrittenNorm(nn.Module):
    def __init__(self, written: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.written = written

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.written(x)


X, LAST = {"v": -1}, {"v": 0}


@pytest.mark.parametrize(
    ("steps", "factor"),
    [
        ([["mul.Tensor", [X, 0.25], {}]], 0.25),
        ([["mul.Tensor", [3.0, X], {}], ["div.Tensor", [LAST, 8.0], {}]], 0.375),
        ([["mul.Tensor", [X, -1.0], {}]], None),
        ([["mul.Tensor", [X, X], {}]], None),
        ([["mul.Tensor", [X, 2.0], {}], ["mul.Tensor", [X, 2.0], {}]], None),
        ([["div.Tensor", [2.0, X], {}]], None),
        ([["div.Tensor_mode", [X, 2.0], {"rounding_mode": "floor"}]], None),
        ([["round.default", [X], {}]], None),  # as is every whole number
        ([["gt.Scalar", [X, 0.0], {}]], None),
    ],
)
def test_factors_are_products_with_numbers(steps: list[list[Any]], factor: float | None) -> None:
    assert constant_factor(json.dumps([[f"aten.{name}", *rest] for name, *rest in steps])) == factor


class Sounds(nn.Module):
    """Norms behind 1-D convolutions, whose pixels lie together while their results are used as rows."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(3, 8, 5, padding=2), nn.Conv1d(8, 8, 3)
        self.group, self.instance = nn.GroupNorm(2, 8), nn.InstanceNorm1d(8)
        self.layer, self.rms = nn.LayerNorm(8), nn.RMSNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.group(self.first(x)))
        x = x + self.layer(x.transpose(1, 2)).transpose(1, 2)
        return self.rms(self.instance(self.second(x)).transpose(1, 2))


@pytest.mark.parametrize("precision", ["int8", "a16w8"])
def test_norms_of_rows_compute_on_codes(precision: str) -> None:
    import_executorch()
    torch.manual_seed(1)
    samples = tuple((torch.randn(1, 3, 17),) for _ in range(6))
    model = LoadedModel(Path(__file__), Sounds().eval(), samples[0], samples, None)
    lowered = lower(
        model,
        target=Target.parse("cortex-m55"),
        name="sounds",
        quantization=parse_quantization(precision),
    )
    graph = simplify(Program("sounds", lowered.pte, lowered.layers).graph())
    kinds = [op.kind for op in graph.ops]
    assert kinds.count("group_norm") == 2 and kinds.count("layer_norm") == 2
    assert kinds.count("quantize") == kinds.count("dequantize") == 1
    rows = [tuple(x.numpy() for x in sample) for sample in samples]
    got, reference = run_sequence(graph, rows), run_in_order(lowered.reference, rows)
    np.testing.assert_array_equal([row[0] for row in got], [row[0] for row in reference])
    assert lowered.quality is not None and lowered.quality.level > 25


@pytest.mark.parametrize(
    ("norm", "shape", "least", "words"),
    [
        (nn.GroupNorm(1, 8), (1, 8, 96, 96), 1.0, "73,728 elements together"),
        (nn.LayerNorm(8), (1, 3, 8), 1e-5, "no room for its epsilon"),
    ],
)
def test_norms_that_codes_have_no_room_for(
    norm: nn.Module, shape: tuple[int, ...], least: float, words: str
) -> None:
    import_executorch()
    net = nn.Sequential(nn.Conv2d(8, 8, 1) if len(shape) == 4 else nn.Linear(8, 8), norm).eval()
    first: Any = net[0]
    with torch.no_grad():
        first.weight.mul_(least)
        first.bias.zero_()
    sample = (torch.randn(shape),)
    with pytest.raises(CortexMError, match=words) as caught:
        lower(
            LoadedModel(Path(__file__), net, sample, (sample,), None),
            target=Target.parse("cortex-m55"),
            name="norm",
        )
    assert caught.value.where == "1" and caught.value.hint
