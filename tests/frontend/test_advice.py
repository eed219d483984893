# SPDX-License-Identifier: Apache-2.0
"""Operators that nothing computes: the error has the user's line, what is called there, and what to
do instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.advice import ADVICE, advice_on, no_kernel
from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir.types import Layer
from cortexm_tools.pte.layers import layers_from_json, layers_to_json
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.target import Target

HERE = Path(__file__)
MATRIX, SQUARE, IMAGE, VOLUME = (4, 8), (4, 4), (1, 2, 8, 8), (1, 2, 4, 8, 8)


def loudness(x: torch.Tensor) -> torch.Tensor:
    spectrum = torch.fft.rfft(x)
    return spectrum.abs()


# What is called, a function that does so in a line that has its name, and the shape of its input.
# Where the first is no whole name, any of these names will do.
CASES: list[tuple[str, Callable[..., Any], tuple[int, ...]]] = [
    ("torch.fft.rfft", lambda x: torch.fft.rfft(x).abs(), MATRIX),
    ("torch.fft.rfft", loudness, MATRIX),
    ("torch.fft.fft2", lambda x: torch.fft.fft2(x).real, MATRIX),
    ("torch.stft", lambda x: torch.stft(x, 4, return_complex=True).abs(), MATRIX),
    ("torch.complex", lambda x: torch.complex(x, x).abs(), MATRIX),
    ("torch.polar", lambda x: torch.view_as_real(torch.polar(x.abs(), x)), MATRIX),
    ("torch.linalg.svd", lambda x: torch.linalg.svd(x)[1], MATRIX),
    ("torch.linalg.inv", lambda x: torch.linalg.inv(x), SQUARE),
    ("torch.linalg.qr", lambda x: torch.linalg.qr(x)[0], SQUARE),
    ("torch.linalg.det", lambda x: torch.linalg.det(x), SQUARE),
    ("torch.sort", lambda x: torch.sort(x)[0], MATRIX),
    ("torch.Tensor.argsort", lambda x: x.argsort(), MATRIX),
    ("torch.kthvalue", lambda x: torch.kthvalue(x, 2)[0], MATRIX),
    ("torch.Tensor.median", lambda x: x.median(1)[0], MATRIX),
    ("torch.unique", lambda x: torch.unique(x), MATRIX),
    ("torch.nonzero", lambda x: torch.nonzero(x), MATRIX),
    ("x[mask]", lambda x: x[x > 0], MATRIX),
    ("torch.masked_select", lambda x: torch.masked_select(x, x > 0), MATRIX),
    ("torch.bincount", lambda x: torch.bincount(x.abs().long().flatten()), MATRIX),
    ("torch.histc", lambda x: torch.histc(x, 4), MATRIX),
    ("torch.multinomial", lambda x: torch.multinomial(x.softmax(-1), 2), MATRIX),
    ("torch.bernoulli", lambda x: torch.bernoulli(x.sigmoid()), MATRIX),
    ("torch.nn.functional.conv_transpose3d",
     lambda x: F.conv_transpose3d(x, torch.ones(2, 2, 3, 3, 3)), VOLUME),
    ("torch.nn.functional.embedding_bag",
     lambda x: F.embedding_bag(x.abs().long() % 7, torch.ones(8, 3)), MATRIX),
    ("torch.Tensor.scatter_reduce",
     lambda x: x.scatter_reduce(1, (x > 0).long(), x, "amax"), MATRIX),
    ("torch.cumprod", lambda x: torch.cumprod(x, 1), MATRIX),
    ("torch.logcumsumexp", lambda x: torch.logcumsumexp(x, 1), MATRIX),
    ("torch.searchsorted", lambda x: torch.searchsorted(torch.arange(8.0), x), MATRIX),
    ("torch.bucketize", lambda x: torch.bucketize(x, torch.arange(8.0)), MATRIX),
    ("torch.erfinv", lambda x: torch.erfinv(x.tanh()), MATRIX),
    ("torch.lgamma", lambda x: torch.lgamma(x.abs() + 1), MATRIX),
    ("torch.special.i0", lambda x: torch.special.i0(x), MATRIX),
    ("torch.nn.functional.interpolate",
     lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), VOLUME),
    ("torch.nn.functional.fold", lambda x: F.fold(x, (3, 5), 2), MATRIX),
    ("torch.nn.functional.pdist", lambda x: F.pdist(x), MATRIX),
    ("torch.matrix_exp", lambda x: torch.matrix_exp(x), SQUARE),
    ("torch.quantile", lambda x: torch.quantile(x, 0.5, dim=1), MATRIX),
    ("float(", lambda x: x * float(x.sum()), MATRIX),
    ("if ", lambda x: x if x.sum() > 0 else -x, MATRIX),
    ("numpy(", lambda x: torch.from_numpy(x.numpy()), MATRIX),
    ("torch.Tensor.double", lambda x: x.double() * 2, MATRIX),
]  # fmt: skip


class Net(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def attempt(module: nn.Module, shape: tuple[int, ...]) -> Lowered:
    sample = (torch.randn(shape, generator=torch.Generator().manual_seed(0)),)
    loaded = LoadedModel(HERE, module.eval(), sample, (sample,), None)
    result = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    read_pte(result.pte, name="net", layers=[layer for _, layer in result.layers])
    return result


@pytest.mark.parametrize(
    ("call", "function", "shape"), CASES, ids=[f"{n}_{case[0]}" for n, case in enumerate(CASES)]
)
def test_error_names_line_and_call(
    call: str, function: Callable[..., Any], shape: tuple[int, ...]
) -> None:
    import_executorch()
    with pytest.raises(CortexMError) as caught:
        attempt(Net(function), shape)
    error = caught.value
    place, _, number = error.where.rpartition("(")[2].rstrip(")").rpartition(":")
    assert place == HERE.name, error
    first = function.__code__.co_firstlineno
    assert first <= int(number) <= first + 1, error
    assert call in error.message, error
    assert error.hint and "did you mean" not in error.hint, error


def test_layer_of_torch_is_named() -> None:
    import_executorch()
    with pytest.raises(CortexMError, match=r"torch\.nn\.ConvTranspose3d") as caught:
        attempt(nn.Sequential(nn.ConvTranspose3d(2, 2, 3)), VOLUME)
    assert caught.value.where.startswith("0")
    assert caught.value.hint == advice_on("torch.nn.ConvTranspose3d")


def test_what_cannot_be_written_as_a_function_is_refused() -> None:
    with pytest.raises(CortexMError, match="torch.export cannot capture the model"):
        attempt(nn.CrossMapLRN2d(3), IMAGE)


def test_calls_are_in_the_sidecar() -> None:
    """And so in the errors of what reads the program later."""
    layers = (("aten::sort", Layer("head", "net.py:7", "torch.sort")), ("aten::add", Layer()))
    text = layers_to_json(b"program", layers)
    assert layers_from_json(text, b"program") == layers
    old = json.loads(text)
    for call in old["kernel_calls"]:
        del call["call"]
    assert layers_from_json(json.dumps(old), b"program")[0][1] == Layer("head", "net.py:7")
    error = no_kernel("aten::sort.values", layers[0][1], "head (net.py:7)")
    assert error.message == "there is no kernel for torch.sort (aten::sort.values)"


@pytest.mark.parametrize(
    ("operator", "call"),
    [
        ("aten::_fft_r2c.out", "torch.fft.rfft"),
        ("aten::kthvalue.values", "torch.kthvalue"),
        ("aten::sort.values", "torch.sort"),
        ("aten::linalg_qr.out", "torch.linalg.qr"),
        ("aten::_embedding_bag.out", "torch.nn.EmbeddingBag"),
    ],
)
def test_operators_of_foreign_programs(operator: str, call: str) -> None:
    error = no_kernel(operator, Layer(), "instruction 3")
    assert error.message == f"there is no kernel for {call} ({operator})"
    assert error.hint == advice_on(call)


def test_an_unknown_operator_has_its_name() -> None:
    error = no_kernel("mine::thing.out", Layer(), "instruction 3")
    assert error.message == "there is no kernel for mine::thing.out" and error.hint


def test_table() -> None:
    """Every name is one of PyTorch's, and stands once."""
    calls = [call for advice in ADVICE for call in advice.calls]
    torchvision = [call for call in calls if call.startswith("torchvision.")]
    for call in set(calls) - {"x[mask]"} - set(torchvision):
        owner: Any = torch
        for part in call.split(".")[1:]:
            owner = getattr(owner, part, None)
        assert owner is not None, call
    assert len(set(calls)) == len(calls)
    owners: dict[str, str] = {}
    for advice in ADVICE:
        for name in {call.rpartition(".")[2] for call in advice.calls} | set(advice.aten):
            assert owners.setdefault(name, advice.text) == advice.text, name
