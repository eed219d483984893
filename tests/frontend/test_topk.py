# SPDX-License-Identifier: Apache-2.0
"""torch.topk of codes and of floats, in any dimension: PyTorch's values, and one result from all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import DType
from cortexm_tools.options.precision import INT8
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.plan_executor import PlanExecutor


class Best(nn.Module):
    """The input comes back, so that the indices can be judged by what they point at."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = self.conv(x)
        last = torch.topk(x, 3)
        channels = x.topk(2, dim=1, largest=False, sorted=False)
        first = torch.relu(torch.topk(x, 1, dim=-2).values - 0.1)
        where = x.flatten(1).topk(k=4, dim=1).indices
        picked = torch.gather(x, 3, last.indices)
        return x, *last, *channels, first, where, picked


@pytest.mark.parametrize("quantized", [True, False])
def test_topk(quantized: bool, executor: PlanExecutor) -> None:
    import_executorch()
    generator = torch.Generator().manual_seed(0)
    samples = tuple((torch.randn(1, 3, 8, 7, generator=generator),) for _ in range(4))
    loaded = LoadedModel(Path("net.py").absolute(), Best().eval(), samples[0], samples, None)
    wanted = INT8 if quantized else None
    result = lower(loaded, target=Target.parse("cortex-m55"), quantization=wanted, name="net")
    graph = simplify(read_pte(result.pte, name="net", layers=[layer for _, layer in result.layers]))
    found = [op for op in graph.ops if isinstance(op.attrs, ops.TopK)]
    assert len(found) == 4
    dtype = DType.S8 if quantized else DType.F32
    assert {graph.tensors[i].dtype for op in found for i in (*op.inputs, op.outputs[0])} == {dtype}

    arrays = (samples[1][0].numpy(),)
    given = run_graph(graph, arrays)
    for got, planned in zip(given, executor.run_graph(graph, arrays), strict=True):
        assert np.array_equal(got, planned)
    with torch.no_grad():
        wanted = [value.numpy() for value in loaded.module(*samples[1])]
    reference = result.reference(arrays)
    x, last, last_at, low, low_at, first, where, picked = given
    for number, (got, want) in enumerate(zip(given, wanted, strict=True)):
        assert got.shape == want.shape
        if got.dtype == np.float32:
            np.testing.assert_allclose(got, want, atol=0.1 if quantized else 1e-5)
            np.testing.assert_allclose(got, reference[number], atol=0 if quantized else 1e-5)
        else:
            assert np.array_equal(got, reference[number])
            # No two floats are equal, and which of equal codes is taken PyTorch leaves open.
            assert quantized or np.array_equal(got, want)
    flat = x.reshape(1, -1)
    for source, dim, values, index, sign in (
        (x, 3, last, last_at, -1),
        (x, 1, low, low_at, 1),
        (flat, 1, -np.sort(-flat, 1)[:, :4], where, -1),
    ):
        assert np.array_equal(np.take_along_axis(source, index, dim), values)
        # In order, the lower index first where values are equal.
        before, after = (np.delete(sign * values, place, dim) for place in (-1, 0))
        ordered = np.delete(index, -1, dim) < np.delete(index, 0, dim)
        assert np.all((before < after) | ((before == after) & ordered))
    assert np.array_equal(picked, last)
