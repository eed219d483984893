# SPDX-License-Identifier: Apache-2.0
"""Lowering in short ways gives what lowering in long ways gives."""

from __future__ import annotations

import sys
import types
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import nn

from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower import lower as lowering
from cortexm_tools.frontend.lower.replay import quick_passes
from cortexm_tools.frontend.quiet import _quick_yaml, _without_inductor, import_executorch
from cortexm_tools.target import Target


class Mixed(nn.Module):
    """Something for every pass: views, scalars, indices, two results, mixed types, memory orders."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.recurrent = nn.Conv2d(3, 4, 3), nn.GRU(8, 5, batch_first=True)
        self.last = nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> Any:
        y = nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        y = self.recurrent(y.permute(0, 2, 3, 1).reshape(1, 2, 8) * 0.5)[0]
        scores = self.last(y[:, -1]).t().unsqueeze(0)
        best, where = scores.max(1)
        return scores.sigmoid() + 1, best, where, (x[:, :, 0] > 0) * 2.0


def test_same_program() -> None:
    torch.manual_seed(0)
    samples = tuple((torch.randn(1, 3, 6, 6),) for _ in range(3))
    loaded = LoadedModel(Path("net.py").absolute(), Mixed().eval(), samples[0], samples, None)
    said: list[str] = []
    results = []
    for context in (quick_passes, nullcontext):
        with (
            patch.object(lowering, "quick_passes", context),
            patch.object(lowering, "_MANY_OPERATORS", 10),
        ):
            results.append(
                lowering.lower(
                    loaded, target=Target.parse("cortex-m55"), name="net", progress=said.append
                )
            )
    assert results[0].pte == results[1].pte
    assert results[0].layers == results[1].layers
    assert results[0].quality == results[1].quality
    for part, line in enumerate(said[:6], 1):
        assert "operators: " in line and line.endswith(f"({part} of 6)")


def test_the_table_of_operators_is_read_as_executorch_reads_it() -> None:
    import_executorch()
    from executorch.exir.dialects.edge import _ops

    with _quick_yaml():
        quick = _ops._load_edge_dialect_info()
    assert len(quick) > 100 and quick == _ops._load_edge_dialect_info()


def test_the_decomposition_of_operators_of_operators_is_there_where_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import_executorch()
    name = "torch._inductor.fx_passes.post_grad"
    monkeypatch.delitem(sys.modules, name, raising=False)
    with _without_inductor():
        stand_in = sys.modules[name]
    assert name not in sys.modules
    decomposed: list[torch.fx.Graph] = []
    monkeypatch.setitem(sys.modules, name, module := types.ModuleType(name))
    vars(module)["decompose_auto_functionalized"] = decomposed.append
    plain, higher = torch.fx.Graph(), torch.fx.Graph()
    plain.call_function(torch.ops.aten.relu.default, (plain.placeholder("x"),))
    higher.call_function(torch.ops.higher_order.auto_functionalized_v2)
    for graph in (plain, higher):
        vars(stand_in)["decompose_auto_functionalized"](graph)
    assert decomposed == [higher]


def test_kernels_of_a_decomposition_are_those_of_the_first_time() -> None:
    import torch.export.exported_program as exported_program

    def kernels() -> list[dict[Any, Any]]:
        return [dict(op.py_kernels) for op in operators]

    operators = [torch.ops.aten.linear.default, torch.ops.aten.matmul.default]
    whole = exported_program._override_composite_implicit_decomp
    found, before = [], kernels()
    for time in range(3):
        given = {op: object() for op in operators}
        with quick_passes() if time else nullcontext():
            with exported_program._override_composite_implicit_decomp(given):
                inside = kernels()
            assert (exported_program._override_composite_implicit_decomp is whole) == (time == 0)
        assert kernels() == before
        assert [
            list(each.values()).count(given[op]) for op, each in zip(operators, inside, strict=True)
        ] == [
            1,
            1,
        ]
        found.append([each.keys() for each in inside])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", ["normal", "few", "sparse", "constant"])
def test_same_ranges(kind: str) -> None:
    import_executorch()
    from torchao.quantization.pt2e.observer import HistogramObserver

    torch.manual_seed(1)
    for _ in range(6):
        batches = [torch.randn(400) * 10 ** (2 * torch.rand(1)) for _ in range(3)]
        if kind == "few":
            batches = [batch[:7] for batch in batches]
        elif kind == "sparse":
            batches = [torch.relu(batch - 3) for batch in batches]
        elif kind == "constant":
            batches = [torch.full((5,), 2.5)]
        found = []
        for context in (quick_passes, nullcontext):
            observer = HistogramObserver(dtype=torch.int8)
            with context():
                for batch in batches:
                    observer(batch)
                found.append([value.item() for value in observer.calculate_qparams()])
        assert found[0] == found[1]
