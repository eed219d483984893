# SPDX-License-Identifier: Apache-2.0
"""Weights are quantized to [-127, 127] with the scale max|w| / 127, whatever operator they are of and
wherever they come from."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule, Node

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quantize.quantize import quantize
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, float_operators, load
from tests.support.quick import quick_ranges

_aten = torch.ops.aten
AXES = {_aten.conv2d.default: 0, _aten.conv_transpose2d.input: 1, _aten.linear.default: 0}
"""Of the outputs, each of which has a scale."""


class Everything(nn.Module):
    """Every layer that has weights."""

    def __init__(self) -> None:
        super().__init__()
        self.images = nn.Sequential(
            nn.Conv2d(1, 8, 3, 2, bias=False),
            nn.ReLU(),
            nn.Conv2d(8, 16, (1, 3), groups=8),
            nn.PReLU(16),
            nn.Conv2d(16, 6, 3, padding="same", groups=2),
            nn.BatchNorm2d(6),
            nn.ReLU6(),
            nn.BatchNorm2d(6),
            nn.ConvTranspose2d(6, 4, 3, 2),
            nn.ConvTranspose2d(4, 4, 3, 1, groups=2),
            nn.Hardswish(),
        )
        self.rows = nn.Sequential(nn.Conv1d(4, 6, 3), nn.ConvTranspose1d(6, 6, 2, 2))
        self.features = nn.Sequential(
            nn.Linear(6, 9), nn.BatchNorm1d(9), nn.Linear(9, 6, bias=False), nn.Hardsigmoid()
        )
        self.matrix = nn.Parameter(torch.randn(6, 7))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.rows(self.images(x).mean(2))
        return torch.softmax(self.features(rows.amax(2)) @ self.matrix, -1)


def weights_of(graph: GraphModule) -> list[tuple[Any, Any]]:
    """The operators with weights and where their weights come from, in order."""
    return [(n.target, n.args[1]) for n in graph.graph.nodes if n.target in AXES]


def constant(graph: GraphModule, node: Any) -> Any:
    assert isinstance(node, Node) and node.op == "get_attr"
    return attrgetter(str(node.target))(graph)


def test_weights_are_centered(monkeypatch: pytest.MonkeyPatch) -> None:
    import_executorch()
    quick_ranges(monkeypatch)
    torch.manual_seed(0)
    module = Everything().eval()
    for number, parameter in enumerate(module.parameters()):
        parameter.requires_grad_(False)
        if parameter.dim() > 1:  # of any size, lopsided, with channels of zeros, of codes
            parameter.mul_(10.0 ** torch.randint(-3, 3, (1,))).add_(parameter.std() * (number % 3))
            parameter[0] = 0
            parameter[-1] = torch.randint(-127, 128, parameter[-1].shape) * 0.01
            parameter[-1].view(-1)[0] = -1.27
    samples = tuple((torch.randn(1, 1, 12, 9),) for _ in range(2))
    loaded = LoadedModel(Path("net.py").absolute(), module, samples[0], samples, None)
    captured = capture(loaded)
    floats = [(t, constant(captured.graph, w)) for t, w in weights_of(captured.graph)]
    quantized = quantize(captured.graph, samples, captured.which, base=Path()).graph
    codes = weights_of(quantized)
    assert [t for t, _ in codes] == [t for t, _ in floats] and len(codes) >= 9
    for (target, weight), (_, dequantize) in zip(floats, codes, strict=True):
        args = [a if not isinstance(a, Node) else constant(quantized, a) for a in dequantize.args]
        code, axis = args[0], AXES[target]
        rest = [d for d in range(code.dim()) if d != axis]
        most = weight.abs().amax(rest)
        scale = torch.as_tensor(args[1]).to(torch.float64)
        least = torch.finfo(torch.float32).eps
        torch.testing.assert_close(scale, (most / 127).clamp(min=least).to(torch.float64))
        assert args[4:] == [-127, 127, torch.int8]
        assert code.dtype == torch.int8 and int(code.min()) >= -127
        wide = scale.reshape([-1 if d == axis else 1 for d in range(code.dim())])
        error = (code * wide - weight).abs()
        assert bool((error <= wide * 0.5001).all())
        assert bool((code.abs().amax(rest or None)[most > 127 * least] == 127).all())


def test_weights_that_are_computed() -> None:
    """Of constants they are constant, however much larger; of inputs the layer is a product of matrices."""

    def function(line: nn.Module, make: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Any:
        up = F.interpolate(F.leaky_relu(line(x)), scale_factor=2, mode="linear")  # 64 x 128 weights
        thin = F.linear(line(x), torch.linspace(-1, 1, 90)[:, None] * torch.linspace(0, 1, 64))
        blur = F.conv1d(
            up, torch.linspace(0, 1, 700).view(1, 1, 700)[..., :5].repeat(8, 1, 1), groups=8
        )
        return up, thin, blur, F.linear(y, make(y), make(y)[:, 0])

    loaded = load(
        lambda: Net(function, nn.Conv1d(1, 8, 9, padding=4), nn.Linear(12, 12)), (1, 1, 64), (5, 12)
    )
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    assert float_operators(lowered) == []
    assert lowered.quality is not None
    assert all(each.noise and each.noise.decibels > 25 for each in lowered.quality.outputs)
    kinds = [op.kind for op in simplify(read_pte(lowered.pte, name="net")).ops]
    assert kinds.count("batch_matmul") == 1 and kinds.count("linear") == 4
