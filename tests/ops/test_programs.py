# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules, exported and read back: the interpreter gives what PyTorch gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import read_pte

from tests.support.portable import portable_pte

Function = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]

IMAGE = torch.arange(48, dtype=torch.float32).reshape(1, 2, 4, 6).sin() * 20
NUMBERS = torch.tensor([[3, -1, 7], [0, 5, -9]])

CASES: dict[str, tuple[Function, tuple[torch.Tensor, ...]]] = {
    "nearest_twice": (lambda x: functional.interpolate(x, scale_factor=2), (IMAGE,)),
    "nearest_size": (lambda x: functional.interpolate(x, size=(7, 5)), (IMAGE,)),
    "bilinear": (
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
        (IMAGE,),
    ),
    "bilinear_corners": (
        lambda x: functional.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True),
        (IMAGE,),
    ),
    "bilinear_smaller": (
        lambda x: functional.interpolate(x, scale_factor=0.5, mode="bilinear"),
        (IMAGE,),
    ),
    "cumsum": (lambda x: x.cumsum(2), (IMAGE,)),
    "cumsum_int": (lambda x: x.cumsum(-1), (NUMBERS,)),
    "cumsum_bool": (lambda x: (x > 0).cumsum(1), (NUMBERS,)),
    "sum_int": (lambda x: x.sum(1), (NUMBERS.to(torch.int32),)),
    "argmax_all": (lambda x: x.argmax(), (IMAGE,)),
    "max_dim": (lambda x: tuple(x.max(1)), (NUMBERS,)),
    "topk": (lambda x: (*x.topk(2, 1), *x.topk(3, largest=False, sorted=True)), (NUMBERS,)),
    "topk_nan": (
        lambda x: (*torch.topk(x, 4), *torch.topk(x, 4, largest=False)),
        (torch.tensor([1.0, float("nan"), float("inf"), -2.0]),),
    ),
    "cast_down": (lambda x: x.to(torch.int8), (torch.tensor([300.7, -1.9, 127.5, 2.0]),)),
    "cast_up": (lambda x: x.to(torch.float32) * 0.5, (NUMBERS,)),
    "where": (lambda x: torch.where(x > 1, x, -x.abs()), (IMAGE,)),
    "index": (lambda x, i: x[:, i], (IMAGE[0], torch.tensor([3, -1, 0]))),
    "index_pairs": (
        lambda x, i: x[i, :, i.flip(0)],
        (torch.arange(24.0).reshape(2, 3, 4)[:2], torch.tensor([1, 0])),
    ),
    "gather": (lambda x, i: x.gather(1, i), (NUMBERS, torch.tensor([[2, 2], [0, 1]]))),
    "remainder": (lambda x: (x % 4, x % -4, torch.fmod(x, 4)), (NUMBERS,)),
    "remainder_32": (lambda x: x.clone().add_(1).remainder_(4), (NUMBERS.to(torch.int32),)),
    "remainder_of_rows": (lambda x: x % torch.tensor([3, -2, 5]), (NUMBERS,)),
    "quotient": (lambda x: (x // 4, torch.div(x, -4, rounding_mode="trunc")), (NUMBERS,)),
    "quotient_32": (lambda x: x // torch.tensor([3, -2, 5]), (NUMBERS.to(torch.int32),)),
    "adaptive_average": (lambda x: functional.adaptive_avg_pool2d(x, (3, 4)), (IMAGE,)),
    "adaptive_average_whole": (lambda x: functional.adaptive_avg_pool2d(x, (2, 1)), (IMAGE,)),
    "adaptive_average_row": (lambda x: functional.adaptive_avg_pool2d(x, (2, 4)), (IMAGE,)),
    "adaptive_largest": (lambda x: functional.adaptive_max_pool2d(x, (3, 5)), (IMAGE,)),
    "clamp_by_tensors": (
        lambda x: (x.clamp(-x[:, :1].abs(), x[..., :1]), x.clamp(max=x[:, :, :1])),
        (IMAGE,),
    ),
    "mean_of_all": (lambda x: x.mean(), (IMAGE,)),
    "embedding": (lambda x, i: functional.embedding(i, x), (IMAGE[0, 0], torch.tensor([[1, 3]]))),
}


class Module(torch.nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        return self.function(*inputs)


def read(function: Function, inputs: tuple[torch.Tensor, ...]) -> Graph:
    return check_graph(read_pte(portable_pte(Module(function), inputs), name="program"))


@pytest.mark.parametrize("name", CASES)
def test_interpreter_gives_what_pytorch_gives(name: str) -> None:
    function, inputs = CASES[name]
    expected = function(*inputs)
    graph = read(function, inputs)
    results = run_graph(graph, [value.numpy() for value in inputs])
    wanted = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    for result, value in zip(results, wanted, strict=True):
        assert result.dtype == value.numpy().dtype
        np.testing.assert_allclose(result, value.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x % 0, "divided by zero"),
        (lambda x: x // torch.tensor([3, 0, 5]), "divided by zero"),
        (lambda x: x % (x * x + 1), "divisor of integers is not known at build time"),
        (lambda x: x % 2.5, "2.5 is not a value of type s64"),
    ],
    ids=["zero", "a_zero", "computed", "real"],
)
def test_divisions_without_a_known_result_are_refused(function: Function, message: str) -> None:
    with pytest.raises(CortexMError, match=message):
        read(function, (NUMBERS,))
