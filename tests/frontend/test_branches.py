# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one tensor that are added up are one, with the same values, where that loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.capture.runner import channels_last
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.nodes import operator_name
from cortexm_tools.options.precision import PRECISIONS

IMAGE, SEQUENCE = (1, 8, 9, 9), (1, 8, 20)


class Sum(nn.Module):
    """The sum of what all branches make of an input; the activation keeps it from what follows."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: torch.Tensor) -> Any:
        total: Any = 0
        for branch in self.branches:
            total = total + branch(x)
        return torch.sigmoid(total)


class Normalized(Sum):
    """The normalized sum of a tensor's branches."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__(*branches)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x: torch.Tensor) -> Any:
        first, second, third = (branch(x) for branch in self.branches)
        return self.norm(first + second + third)


class Shared(nn.Module):
    """A result of a convolution that is read in two places."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x: torch.Tensor) -> Any:
        y = self.first(x)
        return torch.sigmoid(y + self.second(x)) * y


def conv(size: Any, *, groups: int = 1, **options: Any) -> nn.Sequential:
    """A convolution as of a branch, with its normalization."""
    layer = nn.Conv2d(8, 8, size, groups=groups, bias=False, **options)
    return nn.Sequential(layer, nn.BatchNorm2d(8))


def captured(module: nn.Module, shape: tuple[int, ...], precision: str) -> list[str]:
    """The graph's convolutions and sums, after a comparison of its values."""
    torch.manual_seed(0)
    for norm in module.modules():
        if isinstance(norm, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2.0)
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias)
    example = (torch.randn(shape),)
    loaded = LoadedModel(Path("net.py").absolute(), module.eval(), example, (example,), None)
    result = capture(loaded, precision_of=lambda path: PRECISIONS[precision])
    given = channels_last(example, result.which)
    with torch.no_grad():
        expected, found = module(*example), result.graph(*given)
    expected, found = (x if isinstance(x, tuple) else (x,) for x in (expected, found))
    for one, other in zip(expected, found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    names = [operator_name(node) for node in result.graph.graph.nodes]
    return [name for name in names if name.startswith("aten::conv") or name == "aten::add"]


ONE = ["aten::conv2d"]
JOINED: dict[str, Callable[[], nn.Module]] = {
    "RepVGG without itself": lambda: Sum(conv(3, padding=1), conv(1)),
    "MobileOne": lambda: Sum(
        nn.BatchNorm2d(8), *(conv(3, padding=1, groups=8) for _ in range(3)), conv(1, groups=8)
    ),
    "RepViT": lambda: Normalized(
        conv(3, padding=1, groups=8), nn.Conv2d(8, 8, 1, groups=8), nn.Identity()
    ),
    "stride 2": lambda: Sum(conv(3, padding=1, stride=2), conv(1, stride=2)),
    "groups": lambda: Sum(conv(3, padding=1, groups=2), conv(1, groups=2)),
    "dilation": lambda: Sum(
        conv(3, padding=2, dilation=2), conv(1), conv(3, padding=2, dilation=2)
    ),
    "ACNet": lambda: Sum(
        conv(3, padding=1), conv((1, 3), padding=(0, 1)), conv((3, 1), padding=(1, 0))
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_branches_are_one(name: str) -> None:
    assert captured(JOINED[name](), IMAGE, "int8") == ONE


def test_branches_of_sequences_are_one() -> None:
    module = Sum(nn.Conv1d(8, 8, 5, padding=2), nn.Conv1d(8, 8, 3, padding=1), nn.Conv1d(8, 8, 1))
    assert captured(module, SEQUENCE, "int8") == ONE


APART: dict[str, tuple[Callable[[], nn.Module], str]] = {
    # The weights of the others would be rounded to a 127th of 1.
    "itself beside many inputs": (lambda: Sum(nn.Identity(), conv(3, padding=1)), "int8"),
    # There are no codes of 8 bits in between.
    "itself in 16 bits": (lambda: Sum(conv(3, padding=1, groups=8), nn.Identity()), "a16w8"),
    "more work": (lambda: Sum(conv((1, 3), padding=(0, 1)), conv((3, 1), padding=(1, 0))), "int8"),
    "other groups": (lambda: Sum(conv(3, padding=1, groups=8), conv(1)), "int8"),
    "taps in between": (lambda: Sum(conv(3, padding=2, dilation=2), conv(3, padding=1)), "int8"),
    "read elsewhere": (lambda: Shared(conv(3, padding=1), conv(1)), "int8"),
}


@pytest.mark.parametrize("name", APART)
def test_other_sums_stay(name: str) -> None:
    build, precision = APART[name]
    assert "aten::add" in captured(build(), IMAGE, precision)


def test_floats_take_any_sum_of_less_work() -> None:
    """Nothing is rounded to a scale."""
    assert captured(Sum(nn.Identity(), conv(3, padding=1)), IMAGE, "none") == ONE


def test_what_cannot_join_is_added() -> None:
    module = Sum(nn.Identity(), conv(3, padding=1), conv(1))
    assert captured(module, IMAGE, "int8") == ["aten::conv2d", "aten::add"]
