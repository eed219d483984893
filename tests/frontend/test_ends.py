# SPDX-License-Identifier: Apache-2.0
"""What needs no rounding is not rounded: values at the ends of their range, and outputs that are inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quantize.ends import kept_ends
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.frontend.test_rewrites import Net, load

M55 = Target.parse("cortex-m55")


def noise(observer: Any, x: torch.Tensor) -> float:
    scale, zero_point = (value.item() for value in observer.calculate_qparams())
    codes = ((x / scale).round() + zero_point).clamp(observer.quant_min, observer.quant_max)
    return float(((codes - zero_point) * scale - x).square().sum())


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16])
def test_no_range_is_worse_than_without_its_ends(dtype: torch.dtype) -> None:
    import_executorch()
    from torchao.quantization.pt2e.observer import HistogramObserver

    torch.manual_seed(0)
    normal, bits = torch.randn(20_000), torch.iinfo(dtype)
    truths = [(torch.rand(20_000) > share).float() for share in (0.5, 0.999)]
    exact = [*truths, torch.randint(0, 4, (2_000,)) * 2.0, (torch.rand(5_000) * 255).round()]
    others = [normal, F.relu6(4 * normal), torch.sigmoid(8 * normal), normal.exp(), normal[:50]]
    for x in (*exact, *others):
        found = []
        for rule in (True, False):
            observer = HistogramObserver(dtype=dtype, quant_min=bits.min, quant_max=bits.max)
            observer(x)
            if rule:
                with kept_ends():
                    found.append(noise(observer, x))
            else:
                found.append(noise(observer, x))
        assert found[0] <= 1.03 * found[1]
        if any(x is each for each in (exact if dtype is torch.int8 else truths)):
            assert found[0] <= 1e-9 * float(x.square().sum())


def test_truth_values_and_bytes_are_exact() -> None:
    def function(layer: nn.Module, x: torch.Tensor) -> Any:
        y = layer(x)
        return (
            (y > 0.2).float(),
            F.one_hot(y.argmax(1), 8).float(),
            torch.cat([y * 0, y * 0 + 3], 1),
        )

    loaded = load(lambda: Net(function, nn.Linear(12, 8)), (6, 12))
    graph = read_pte(lower(loaded, target=M55, name="net").pte, name="net")
    truths, ones, parts = run_graph(graph, tuple(x.numpy() for x in loaded.example_inputs))
    assert set(np.unique(truths)) == set(np.unique(ones)) == {0.0, 1.0}
    assert set(np.unique(parts)) == {0.0, 3.0}


def test_16_bits_reach_to_the_ends() -> None:
    loaded = load(lambda: Net(lambda c, x: F.relu6(c(x) * 6) + 1, nn.Linear(12, 8)), (6, 12))
    lowered = lower(loaded, target=M55, quantization=parse_quantization("a16w8"), name="net")
    graph = read_pte(lowered.pte, name="net")
    (got,) = run_graph(graph, tuple(x.numpy() for x in loaded.example_inputs))
    assert 6.9995 < got.max() < 7.0005


@pytest.mark.parametrize("shape", [(2, 12), (1, 3, 5, 6)])
def test_outputs_that_are_inputs(shape: tuple[int, ...]) -> None:
    """In floats they are the very inputs, as codes the very codes."""

    def function(layer: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Any:
        return x, layer(x), x, y

    loaded = load(
        lambda: Net(function, nn.Linear(12, 4) if len(shape) == 2 else nn.Conv2d(3, 4, 3)),
        shape,
        (3,),
    )
    lowered = lower(loaded, target=M55, name="net")
    graph = read_pte(lowered.pte, name="net")
    given = tuple(x.numpy() for x in loaded.example_inputs)
    plain = simplify(graph)
    first, _, second, other = run_graph(plain, given)
    assert np.array_equal(first, given[0]) and np.array_equal(second, given[0])
    assert np.array_equal(other, given[1])
    for options, low in (({"io_int8": True}, -128), ({"io_uint8": True}, 0)):
        coded = simplify(graph, **options)
        dtype = np.int8 if low else np.uint8
        codes = np.random.default_rng(0).integers(low, low + 256, shape).astype(dtype)
        first, _, second, other = run_graph(coded, (codes, given[1]))
        assert np.array_equal(first, codes) and np.array_equal(second, codes)
        assert first.dtype == dtype and np.array_equal(other, given[1])
