# SPDX-License-Identifier: Apache-2.0
"""Tables of embeddings that are a layer's weights, or fit in 4 bits, keep every byte of what is looked up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.kernels.rows import expand
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check.tables import check_tables
from cortexm_tools.plan.kernels.packing import Constants
from cortexm_tools.plan.lower.constants import Weights
from cortexm_tools.plan.lower.tables import find_places
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor

ROOT = Path(__file__).parents[2]
ROWS, WIDTH = 70, 33
TYPES = [(8, DType.S8), (4, DType.S8), (8, DType.S16), (4, DType.S16)]


def model(bits: int, dtype: DType, *, tied: bool = True, exact: bool = True) -> Graph:
    """Rows of a table by an index; then a layer whose weights have the codes of the table, if `tied`."""
    net = Net("mixed" if bits == 4 else "net", seed=bits, mixed=bits == 4)
    place = net.input((2, 3), DType.S64)
    table = net.constant(np.zeros((ROWS, WIDTH)), DType.F32)
    row = net.add(ops.Index((0,)), [table, place], (2, 3, WIDTH), DType.F32)
    codes = net.quantize(row, dtype=dtype)
    while bits == 4 and not net.bits_less:
        codes = net.activation(codes)
    result = net.linear(codes, ROWS)
    weight = net.tensors[net.ops[-1].inputs[1]].data
    assert weight is not None and np.abs(weight.astype(int)).max() <= 1 << bits - 1
    found = weight if tied else net.random.integers(-7, 8, weight.shape)
    real = found * net.random.uniform(0.2, 1.6, (ROWS, 1)) * 4 / np.abs(found.astype(int)).max()
    if not exact:
        real[ROWS // 2, 3] += 0.3
    data = np.ascontiguousarray(real.astype(np.float32))
    net.tensors[table] = replace(net.tensors[table], data=data)
    return net.finish(result, codes)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("bits, dtype", TYPES)
def test_tables_are_stored_once(
    bits: int, dtype: DType, tied: bool, executor: PlanExecutor
) -> None:
    before = model(bits, dtype, tied=tied)
    after = simplify(before)
    index = np.arange(-3, 75, 13).reshape(2, 3)
    wanted = run_graph(before, [index])
    (lookup, *_) = after.ops
    assert isinstance(lookup.attrs, ops.Embedding)
    layer = next(op for op in after.ops if op.kind == "linear")
    assert (lookup.inputs[0] == layer.inputs[1]) == tied
    for got in (run_graph(after, [index]), executor.run_graph(after, [index])):
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    for core in ("cortex-m0", "cortex-m4", "cortex-m55"):
        plan = make_plan(after, Target.parse(core))
        matrices = [c for c in plan.constants if 2 * c.nbytes >= ROWS * WIDTH]
        assert len(matrices) == (1 if tied else 2), core


def test_a_table_that_is_not_quite_the_weights_stays() -> None:
    after = simplify(model(8, DType.S8, exact=False))
    assert after.ops[0].kind == "index"
    assert simplify(model(8, DType.S8, tied=True)).ops[0].kind == "embedding"


def test_a_code_elsewhere_is_noticed() -> None:
    plan = make_plan(simplify(model(8, DType.S8)), Target.parse("cortex-m4"))
    step = next(s for s in plan.steps if s.op.kind == "embedding")
    check_tables(plan, step)
    places = next(c for c in plan.constants if c.name.startswith("p_"))
    moved = np.roll(places.data, 1)
    others = tuple(replace(c, data=moved) if c is places else c for c in plan.constants)
    with pytest.raises(CortexMError, match="row 0 of the table is not where"):
        check_tables(replace(plan, constants=others), step)


def test_every_form_of_a_linear_layer_has_rows() -> None:
    """What any kernel of linear layers reads; and that a matrix of another order is not found in it."""
    rows = json.loads((ROOT / "kernels" / "kernels.json").read_text(encoding="utf-8"))["kernels"]
    forms = {row.get("pack", "") for row in expand(rows) if row["op"] == "linear"}
    random = np.random.default_rng(1)
    for form in sorted(forms):
        most = 7 if "nibble" in form else 127
        for shape in ((1, 1), (3, 5), (5, 16), (9, 33), (16, 8), (23, 2)):
            codes = random.integers(-most, most + 1, shape).astype(np.int8)
            found = find_places(Weights(form, Constants(codes, np.zeros(len(codes), np.int32))))
            assert found is not None, (form, shape)
