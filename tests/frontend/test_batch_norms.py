# SPDX-License-Identifier: Apache-2.0
"""Batch normalization goes into the layer before it, and into no other call of that layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.capture.runner import channels_last
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.nodes import operator_name
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, float_operators, load

ROW, LINE, IMAGE, VOLUME = (2, 4), (1, 4, 9), (1, 4, 5, 6), (1, 4, 3, 4, 4)

# name: (layer, batch norm, channels, input shape)
LAYERS: dict[str, tuple[Callable[[], nn.Module], type[nn.Module], int, tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(4, 6, bias=False), nn.BatchNorm1d, 6, ROW),
    "line": (lambda: nn.Conv1d(4, 6, 3, groups=2), nn.BatchNorm1d, 6, LINE),
    "line transposed": (
        lambda: nn.ConvTranspose1d(4, 6, 3, 2, groups=2, bias=False), nn.BatchNorm1d, 6, LINE),
    "image": (lambda: nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d, 6, IMAGE),
    "image same": (lambda: nn.Conv2d(4, 6, 3, padding="same"), nn.BatchNorm2d, 6, IMAGE),
    "image transposed": (
        lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, groups=2), nn.BatchNorm2d, 6, IMAGE),
    "depthwise transposed": (
        lambda: nn.ConvTranspose2d(4, 8, 2, 2, groups=4), nn.BatchNorm2d, 8, IMAGE),
    "volume": (lambda: nn.Conv3d(4, 2, 2), nn.BatchNorm3d, 2, VOLUME),
}  # fmt: skip


def each_its_own(layer: nn.Module, a: nn.Module, b: nn.Module, x: torch.Tensor) -> Any:
    """With its norm, another one, none, twice the same, and beside itself."""
    y = layer(x + 1)
    return torch.relu(a(layer(x))), b(layer(x * 0.5)), layer(-x), a(a(layer(x))), y * 0.5, b(y)


@pytest.mark.parametrize("name", LAYERS)
def test_each_call_has_its_own_norm(name: str) -> None:
    import_executorch()
    make, norm, channels, shape = LAYERS[name]

    def build() -> Net:
        norms = [norm(channels), norm(channels)]
        for each in norms:
            nn.init.uniform_(each.weight, -1.5, 1.5)  # type: ignore[arg-type]
            nn.init.normal_(each.bias)  # type: ignore[arg-type]
        return Net(each_its_own, make(), *norms)

    loaded = load(build, shape)
    captured = capture(loaded)
    for sample in (loaded.calibration or ())[:2]:
        got = captured.graph(*channels_last(sample, captured.which))
        torch.testing.assert_close(got, loaded.module(*sample), rtol=1e-4, atol=1e-5)
    names = [operator_name(node) for node in captured.graph.graph.nodes]
    assert "aten::batch_norm" not in names


def test_shared_layers_compute_in_int8() -> None:
    def use(conv: nn.Module, up: nn.Module, *rest: Any) -> torch.Tensor:
        *norms, x = rest
        parts = [norm(conv(part)) for norm, part in zip(norms, x.chunk(3, 1), strict=False)]
        return norms[3](up(torch.relu(torch.cat(parts, 1))))  # type: ignore[no-any-return]

    norms = [nn.BatchNorm2d(channels) for channels in (4, 4, 4, 6)]
    loaded = load(
        lambda: Net(use, nn.Conv2d(4, 4, 3), nn.ConvTranspose2d(12, 6, 3, 2, 1, groups=2), *norms),
        (1, 12, 6, 6),
    )
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    assert float_operators(lowered) == []
    assert lowered.quality is not None
    assert lowered.quality.level > 25
    graph = read_pte(lowered.pte, name="net")
    kinds = [op.kind for op in graph.ops]
    assert kinds.count("conv2d") == 3 and kinds.count("transpose_conv2d") == 1
    assert "depthwise_conv2d" not in kinds  # norms by themselves
