# SPDX-License-Identifier: Apache-2.0
"""plan/kernels/cost.py: what kernels cost is known for all between which there is a choice, and near what is counted."""

from __future__ import annotations

import ast
import json
from dataclasses import replace

import pytest

from cortexm_tools.paths import data_root
from cortexm_tools.plan.kernels.cost import (
    Formula,
    Terms,
    column,
    instructions,
    instructions_of,
    terms_of,
)
from cortexm_tools.plan.kernels.params import field_types
from cortexm_tools.plan.kernels.table import kernels, variants
from cortexm_tools.plan.types import Call
from cortexm_tools.target import CORES, Core, Target

from tests.support.graphs import conv_fields

COSTS = json.loads((data_root() / "kernels" / "costs.json").read_text(encoding="utf-8"))["kernels"]
TERMS = json.loads((data_root() / "kernels" / "terms.json").read_text(encoding="utf-8"))
OF = {kernel.symbol: kernel for kernel in kernels()}
CPUS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")
CONV = OF["cortexm_conv2d_s8_mve"]


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def test_lets_are_of_those_before_and_tiles_of_the_row() -> None:
    terms = Terms({"half": "rows // 2", "quarter": "half // 2"}, (3, 2, 1), ("1",))
    assert Formula(terms, "quarter + mr * nr + ceil(rows, kr)")({"rows": 12}) == 3 + 6 + 12


@pytest.mark.parametrize("kernel", OF.values(), ids=lambda kernel: kernel.symbol)
def test_terms_are_of_fields(kernel) -> None:
    """Everything is a field, of an array also what is known of it, or a named expression before."""
    terms = terms_of(kernel.symbol)
    fields = field_types()[kernel.params]
    known = {*fields, "element", "mr", "nr", "kr", "max", "min", "ceil"}
    known |= {f"{name}_{of}" for name in fields for of in ("all", "last", "next")}
    for name, text in terms.let.items():
        if _names(text) <= known:
            known.add(name)
    used = [t for n, t in enumerate(terms.terms) if any(row[n] for row in COSTS.get(kernel.symbol, {}).values())]
    for text in used:
        assert _names(text) <= known, text


def test_every_coefficient_has_its_term() -> None:
    for symbol, rows in COSTS.items():
        for row in rows.values():
            assert symbol in OF
            assert len(row) == len(terms_of(symbol).terms) and min(row) >= 0 and any(row)


def test_no_term_is_unused() -> None:
    """What helps no kernel of a row on any core is not there."""
    for row in TERMS["terms"]:
        of_row = [costs for symbol in COSTS if terms_of(symbol).terms == tuple(row["terms"]) for costs in COSTS[symbol].values()]
        assert of_row and all(any(costs[n] for costs in of_row) for n in range(len(row["terms"]))), row["kernels"]


NOT_MEASURED = set()


def test_what_may_be_chosen_is_measured() -> None:
    missing = set()
    for cpu in CPUS:
        target = Target.parse(cpu)
        for op, types in {(kernel.serves, kernel.types) for kernel in OF.values()}:
            found = variants(op, types, target)
            if len(found) > 1:
                missing |= {kernel.symbol for kernel in found if cpu not in COSTS.get(kernel.symbol, {})}
    assert missing == NOT_MEASURED


def test_every_core_has_costs() -> None:
    for core in Core:
        if core is not Core.HOST:
            assert column(core) in CPUS
    assert column(Core.M7) == "cortex-m4" and column(Core.M85) == "cortex-m55"
    assert column(Core.M23) == "cortex-m0" and CORES[Core.M0].base is CORES[Core.M23].base


def test_turns_and_rows_cost() -> None:
    fields = conv_fields(1, 16, 16)
    one = instructions_of(CONV, fields, Core.M55)
    call = Call(CONV, tuple(fields.items()), ())
    assert instructions(call, Core.M55) == one
    assert instructions(replace(call, turns=5), Core.M55) == 5 * one
    more = instructions_of(CONV, {**fields, "out_h": 16, "in_h": 16}, Core.M55)
    assert 1.5 * one < more < 2.5 * one


def test_what_was_not_measured_costs_its_products() -> None:
    other = replace(CONV, op="conv2d_unheard_of")
    few, many = (instructions_of(other, {}, Core.M55, products) for products in (1000, 2000))
    assert 0 < few < many < 2 * few + 1
