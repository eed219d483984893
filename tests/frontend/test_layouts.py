# SPDX-License-Identifier: Apache-2.0
"""The order in which an image lies in memory is no reason to refuse an operator, or to compute in float."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import DType
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, load

BOUNDS = torch.linspace(-1.0, 1.0, 12).view(1, 4, 3, 1)


def check(function: Callable[..., Any], layer: Callable[[], nn.Module], *shape: int) -> None:
    """Is lowered to int8; its results are near PyTorch's."""
    loaded = load(lambda: Net(lambda first, x: function(first(x)), layer()), shape)
    result = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    graph = simplify(read_pte(result.pte, name="net"))
    kinds = {
        op.kind for op in graph.ops if DType.F32 in {graph.tensors[i].dtype for i in op.inputs}
    }
    assert kinds <= {"quantize", "clone"}  # of inputs, and of outputs that lie in another order
    for sample in (loaded.calibration or ())[:2]:
        arrays = tuple(x.numpy() for x in sample)
        for got, want in zip(run_graph(graph, arrays), result.float_module(arrays), strict=True):
            assert got.shape == want.shape and got.dtype == want.dtype
            if want.dtype == np.float32:
                assert np.abs(got - want).mean() <= 0.03 * np.ptp(want)
            else:
                assert (got == want).mean() > 0.9


@pytest.mark.parametrize("shape", [(4, 5), (4, 7), (7, 5)])
def test_shares_and_their_logarithms(shape: tuple[int, int]) -> None:
    """Of channels of one pixel, one row and one column."""

    def function(x: torch.Tensor) -> Any:
        return x.softmax(1), x.log_softmax(1), x.softmax(3)

    check(function, lambda: nn.Conv2d(3, 6, (4, 5)), 1, 3, *shape)


def test_copies_of_what_is_broadcast() -> None:
    """A line of channels_last codes beside a column of contiguous ones."""

    def function(x: torch.Tensor) -> Any:
        above = x[:, :, None, :] > BOUNDS
        return above.float(), above.int(), above.clone(), (above * 2).sum(2)

    check(function, lambda: nn.Conv1d(3, 4, 3), 1, 3, 9)


PARTS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda x: F.pad(x, (1, 1))[..., 1:-1],
    lambda x: torch.cat([x, x * 2], 1).chunk(2, 1)[1],
    lambda x: F.glu(torch.cat([x, x], 1), 1),
    lambda x: torch.cat([x[:, :3], torch.relu(x[:, 3:])], 1),
    lambda x: x * x.mean(1, keepdim=True),
    lambda x: torch.maximum(x, -x),
    lambda x: F.pixel_shuffle(torch.cat([x, x, x, x], 1), 2)[..., ::2],
    lambda x: x.roll(1, 3),
]


def test_factors_of_channels() -> None:
    """As those of squeeze and excitation behind what only has PyTorch's strides in order."""

    def function(x: torch.Tensor) -> Any:
        parts = [part(x) for part in PARTS]
        return [y * torch.sigmoid(y.mean((2, 3), True)) + y.amax((2, 3), True) for y in parts]

    check(function, lambda: nn.Conv2d(3, 8, 3), 1, 3, 6, 7)
