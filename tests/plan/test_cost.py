# SPDX-License-Identifier: Apache-2.0
"""plan/kernels/cost.py: what kernels cost is known where there is a choice, and near what is counted."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import Any

import pytest

from cortexm_tools.paths import data_root
from cortexm_tools.plan.kernels.contract import parse
from cortexm_tools.plan.kernels.cost import (
    Formula,
    column,
    instructions,
    instructions_of,
    terms_of,
)
from cortexm_tools.plan.kernels.params import field_types
from cortexm_tools.plan.kernels.table import kernels, variants
from cortexm_tools.plan.types import Call
from cortexm_tools.target import Core, Target

from tests.support.graphs import conv_fields

CPUS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")
KERNELS = {kernel.symbol: kernel for kernel in (*kernels(), *kernels("adapters"))}
COSTS: dict[str, dict[str, list[float]]] = {
    symbol: row["costs"]
    for symbol, row in json.loads(
        (data_root() / "kernels" / "costs.json").read_text(encoding="utf-8")
    )["kernels"].items()
}
CONV = KERNELS["cortexm_conv2d_s8_mve"]


def test_formulas_are_of_fields_and_lets_and_tiles() -> None:
    fields = conv_fields(2, 3, 4, kernel_h=5)
    assert Formula(CONV, "(depth, mr, nr, kr, element)")(fields) == (45, 2, 4, 16, 1)
    copy = KERNELS["cortexm_copy_x16_v7m"]
    box: dict[str, Any] = {"rank": 3, "dims": (2, 3, 5), "in_stride": (15, 5, 1)}
    names = "(dims_all, dims_last, dims_next, in_stride_next, out_stride_next, element)"
    assert Formula(copy, names)(box) == (30, 5, 3, 5, 1, 2)
    assert Formula(copy, "(dims_next, rank)")({"dims": (7,)}) == (1, 0)


@pytest.mark.parametrize("symbol", COSTS)
def test_terms_are_of_fields(symbol: str) -> None:
    """Each is in the language of contracts, of fields and what is known of them, or of a name before."""
    fields = field_types()[KERNELS[symbol].params]
    known = {*fields, "element", "mr", "nr", "kr", "max", "min", "ceil"}
    known |= {f"{name}_{of}" for name in fields for of in ("all", "last", "next")}
    for name, text in terms_of(symbol)["let"].items():
        parse(text)
        known |= {name} if _names(text) <= known else set()
    for number, text in enumerate(terms_of(symbol)["terms"]):
        parse(text)
        if any(row[number] for row in COSTS[symbol].values()):
            assert _names(text) <= known, text


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def test_every_coefficient_has_its_term() -> None:
    for symbol, rows in COSTS.items():
        for row in rows.values():
            assert len(row) == len(terms_of(symbol)["terms"]) and min(row) >= 0 and any(row), symbol


NOT_MEASURED = {"cortexm_center_u8s8_mve", "cortexm_center_u8s8_scalar"}
"""Kernels of operators that benchmarks/layers.py has no graphs of."""


def test_what_may_be_chosen_is_measured() -> None:
    missing = set()
    for target in map(Target.parse, CPUS):
        for op, types in {(kernel.serves, kernel.types) for kernel in kernels()}:
            found = variants(op, types, target)
            if len(found) > 1:
                missing |= {
                    k.symbol for k in found if target.core.value not in COSTS.get(k.symbol, {})
                }
    assert missing == NOT_MEASURED


def test_cores_that_are_alike_share_a_column() -> None:
    assert {column(core) for core in Core} == set(CPUS)
    near = {Core("cortex-m7"): 2, Core("cortex-m85"): 3, Core("cortex-m23"): 0, Core.ANY: 1}
    assert {core: CPUS.index(column(core)) for core in near} == near


def test_turns_and_rows_cost() -> None:
    fields = conv_fields(1, 16, 16)
    core = Core("cortex-m55")
    one = instructions_of(CONV, fields, core)
    call = Call(CONV, tuple(fields.items()), ())
    assert instructions(call, core) == one
    assert instructions(replace(call, turns=5), core) == 5 * one
    more = instructions_of(CONV, {**fields, "out_h": 16, "in_h": 16}, core)
    assert 1.5 * one < more < 2.5 * one


def test_what_was_not_measured_costs_its_products() -> None:
    other, core = replace(CONV, op="conv2d_unheard_of"), Core("cortex-m55")
    few, many = (instructions_of(other, {}, core, products) for products in (1000, 2000))
    assert 0 < few < many < 2 * few


# Kernels, cores, channels in and out of 3x3 windows in an image of 8 rows and columns, instructions.
COUNTED = [
    ("conv2d_s8_v7m", "cortex-m3", (16, 32), 455922),
    ("conv2d_s16_v7m", "cortex-m3", (8, 8), 109930),
    ("conv2d_s8_dsp", "cortex-m4", (16, 16), 162096),
    ("conv2d_3x3_3x2_s8_dsp", "cortex-m4", (16, 16), 131726),
    ("conv2d_s8w4_v7m", "cortex-m4", (16, 16), 256721),
    ("depthwise_conv2d_s8_dsp", "cortex-m4", (16, 16), 39973),
    ("depthwise_conv2d_by_channel_s16_dsp", "cortex-m4", (16, 16), 75990),
    ("conv2d_ungrouped_s8_mve", "cortex-m55", (8, 8), 9964),
    ("conv2d_gathered_s8_mve", "cortex-m55", (8, 8), 9998),
    ("conv2d_s16_mve", "cortex-m55", (8, 8), 15721),
    ("depthwise_conv2d_3x3_s8_mve", "cortex-m55", (8, 8), 10611),
    ("depthwise_conv2d_3x4_s8_mve", "cortex-m55", (8, 8), 4613),
]


@pytest.mark.parametrize(("name", "cpu", "channels", "count"), COUNTED)
def test_costs_are_near_what_was_counted(
    name: str, cpu: str, channels: tuple[int, int], count: int
) -> None:
    kernel = KERNELS[f"cortexm_{name}"]
    low, high = (-32768, 32700) if "s16" in name else (-128, 100)
    fields = conv_fields(1, *channels, act_min=low, act_max=high)
    assert abs(instructions_of(kernel, fields, Core(cpu)) / count - 1) <= 0.15
