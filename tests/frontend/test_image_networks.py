# SPDX-License-Identifier: Apache-2.0
"""Random image networks, also of one channel, row or column: right, in int8, and without copies for
padding that a convolution can do."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import DType
from cortexm_tools.plan import make_plan
from cortexm_tools.pte import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.image_networks import SHAPES, Apply, Each, random_image_network
from tests.support.quick import quick_ranges
from tests.support.reference import ExactPools

M55 = Target.parse("cortex-m55")


def load(networks: list[nn.Module], shapes: list[tuple[int, ...]]) -> LoadedModel:
    torch.manual_seed(0)
    module = Each(networks).eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    samples = tuple(tuple(torch.randn(shape) for shape in shapes) for _ in range(6))
    return LoadedModel(Path("net.py").absolute(), module, samples[0], samples, None)


def check(loaded: LoadedModel) -> tuple[Lowered, Graph]:
    """The lowered networks and their plan's graph; the interpreter gives the reference's bytes, which
    are near the float model's values."""
    lowered = lower(loaded, target=M55, name="net")
    read = read_pte(lowered.pte, name="net")
    graph = simplify(read)
    make_plan(graph, M55)
    for op in graph.ops:
        if not isinstance(op.attrs, ops.Quantize | ops.Dequantize):
            kinds = {graph.tensors[i].dtype for i in (*op.inputs, *op.outputs)}
            assert DType.F32 not in kinds, op
    for sample in (loaded.calibration or ())[:2]:
        row = tuple(x.numpy() for x in sample)
        with ExactPools():
            wanted = lowered.reference(row)
        found = run_graph(graph, row)
        for k, (got, want, value) in enumerate(
            zip(found, wanted, lowered.float_module(row), strict=True)
        ):
            np.testing.assert_array_equal(got, want, err_msg=f"network {k}")
            np.testing.assert_array_equal(got, run_graph(read, row)[k])
            spread = float(value.max() - value.min())
            assert float(np.abs(got - value).mean()) <= 0.02 * spread + 0.02, f"network {k}"
    return lowered, graph


def test_random_image_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_ranges(monkeypatch)
    shapes = [SHAPES[seed % len(SHAPES)] for seed in range(10, 25)]
    torch.manual_seed(0)
    networks = [random_image_network(seed, shape) for seed, shape in enumerate(shapes, 10)]
    check(load(networks, shapes))


def test_zero_padding_is_the_convolution_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_ranges(monkeypatch)

    def network(channels: int, pad: nn.Module, second: nn.Module) -> nn.Module:
        return nn.Sequential(nn.Conv2d(channels, 8, 3, 2), nn.ReLU(), pad, second)

    pads = [
        (Apply(lambda x: F.pad(x, (0, 1, 0, 1))), nn.Conv2d(8, 8, 3, 2)),
        (nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(8, 8, 3, 2, groups=8)),
        (nn.ZeroPad2d(1), nn.Conv2d(8, 8, 3, 2)),
        (nn.ZeroPad2d((1, 0, 2, 1)), nn.MaxPool2d(3, 2)),
    ]
    networks = [network(channels, *rest) for channels in (1, 3) for rest in pads]
    shapes = [(1, channels, 17, 13) for channels in (1, 3) for _ in pads]
    lowered, graph = check(load(networks, shapes))
    assert [name for name, _ in lowered.layers].count("cortex_m::pad") == len(networks)
    assert not any(isinstance(op.attrs, ops.Pad) for op in graph.ops)


def test_every_pool_is_captured_with_its_values() -> None:
    import_executorch()
    kernels, strides = (2, 3, (2, 5)), (None, 2, 3, (3, 1), 5)
    averages = [
        {"kernel_size": k, "stride": s, "padding": p, "ceil_mode": ceil, "count_include_pad": counted,
         "divisor_override": divisor}
        for k, s, p, ceil, counted, divisor in itertools.product(
            kernels, strides, (0, 1), (False, True), (False, True), (None, 7))
    ]  # fmt: skip
    largest = [
        {"kernel_size": k, "stride": s, "padding": p, "ceil_mode": ceil, "dilation": d}
        for k, s, p, ceil, d in itertools.product(
            kernels, strides, (0, 1), (False, True), (1, 2))
    ]  # fmt: skip
    pools = [Apply(lambda x, o=o: F.avg_pool2d(x, **o)) for o in averages]
    pools += [Apply(lambda x, o=o: F.max_pool2d(x, **o)) for o in largest]

    class All(nn.Module):
        def forward(self, x: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (*(pool(x) for pool in pools), *(pool(row) for pool in pools[::17]))

    module = All()
    inputs = torch.randn(1, 2, 11, 10), torch.randn(2, 12, 9)
    captured = capture(LoadedModel(Path("net.py").absolute(), module, inputs, (inputs,), None))
    for got, want in zip(captured.graph(*inputs), module(*inputs), strict=True):
        torch.testing.assert_close(got, want)


def test_pools_stay_int8(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_ranges(monkeypatch)
    pools = [
        lambda x: F.avg_pool2d(x, 5, ceil_mode=True),
        lambda x: F.avg_pool2d(x, (2, 5), 2, 1, ceil_mode=True),
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda x: F.avg_pool2d(x, 3, ceil_mode=True, divisor_override=5),
        lambda x: F.max_pool2d(x, 2, dilation=2),
        lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
        lambda x: F.max_pool2d(x.squeeze(0), 3),
    ]
    networks = [nn.Sequential(nn.Conv2d(1, 3, 2), Apply(pool)) for pool in pools]
    check(load(networks, [(1, 1, 12, 13)] * len(networks)))


class Detector(nn.Module):
    """With constants of five dimensions beside convolutions, and a layer that is not used."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2, 1)
        self.unused = nn.Conv3d(2, 3, 3)
        self.register_buffer("anchors", torch.rand(1, 2, 4, 1, 1) + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        return y.view(1, 2, 4, *y.shape[2:]) * self.anchors


def test_constants_of_five_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_ranges(monkeypatch)
    check(load([Detector()], [(1, 3, 8, 8)]))
