# SPDX-License-Identifier: Apache-2.0
"""Operands of several types are converted as PyTorch does, and what is computed on codes stays there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, conv, float_operators, load

COUNTS = torch.arange(8).view(1, 8, 1, 1)
FULL = torch.arange(512).view(1, 8, 8, 8) % 7 - 3

BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "sum": lambda x, i: torch.add(x, i, alpha=2) + i * 0.5,
    "in place": lambda x, i: (x * 1.0).mul_(i).sub_(i),
    "quotient": lambda x, i: x / (i + 5) + i / 2,
    "power": lambda x, i: torch.sigmoid(x) ** i,
    "extremes": lambda x, i: torch.minimum(torch.maximum(x, i), i + 1),
    "choice": lambda x, i: torch.where(i > 0.5, x, i),
    "comparison": lambda x, i: (x > i) | (i <= x) | (i.to(torch.int32) == i),
    "joined": lambda x, i: torch.cat([x, i.expand(1, 8, 8, 8), x > 0], 1),
    "rounded": lambda x, i: torch.floor_divide(x, i + 9) + torch.remainder(i, x.abs() + 1),
    "integers": lambda x, i: x.argmax(1) + (i.to(torch.uint8) * i)[:, 0] * (i > 1)[:, 0],
    "sum of products": lambda x, i: torch.addcmul(x, i, x, value=0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_conversions_are_those_of_pytorch(name: str) -> None:
    """Of constants and inputs."""
    import_executorch()
    function = BINARY[name]

    def use(first: nn.Module, x: torch.Tensor, i: torch.Tensor) -> Any:
        x = first(x)
        return function(x, COUNTS), function(x, FULL), function(x, i)

    loaded = load(lambda: Net(use, conv()), (1, 8, 8, 8))
    sample = (*loaded.example_inputs, torch.randint(0, 4, (1, 8, 8, 8)))
    loaded = replace(loaded, example_inputs=sample, calibration=None)
    lowered = lower(loaded, target=Target.parse("cortex-m55"), quantization=None, name="net")
    results = run_graph(read_pte(lowered.pte, name="net"), tuple(x.numpy() for x in sample))
    for want, got in zip(loaded.module(*sample), results, strict=True):
        torch.testing.assert_close(torch.from_numpy(got), want, rtol=1e-4, atol=1e-5)


def test_integer_constants_beside_codes_are_codes() -> None:
    def use(first: nn.Module, line: nn.Module, x: torch.Tensor) -> Any:
        x = torch.where(COUNTS > 3, first(x), FULL) * COUNTS + FULL - COUNTS
        return torch.cat([x, FULL], 1), line(x.flatten(2)) * torch.arange(5)

    loaded = load(lambda: Net(use, conv(), nn.Linear(64, 5)), (1, 8, 8, 8))
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    assert float_operators(lowered) == []
    assert lowered.quality is not None and lowered.quality.level > 30
