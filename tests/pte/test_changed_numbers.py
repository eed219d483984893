# SPDX-License-Identifier: Apache-2.0
"""Numbers in stored programs made extreme: multipliers, shifts, zero points, paddings, scales, sizes.

A program is refused with CortexMError, or its plan runs to its end with the interpreter's result.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.fixed_point import Rescale, high_mul
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import Graph
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.pte import parse_program
from cortexm_tools.pte.call import as_rescale
from cortexm_tools.pte.ops import CONVERTERS
from cortexm_tools.pte.reader import read_program
from cortexm_tools.pte.values import PteFloats, PteProgram, PteTensor, ScalarType
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.data_graphs import random_values
from tests.support.golden import golden_cases
from tests.support.isolated import each_returns
from tests.support.plan_executor import PlanExecutor
from tests.support.wide_programs import ARGUMENTS, wide_program

INTEGERS = (
    *(-(2**63), -(2**31), -129, -128, -32, -1, 0, 1, 2, 31, 32, 128, 255, 8192, 65536),
    *(2**31 - 1, 2**31, 2**62),
)
FLOATS = (float("nan"), float("inf"), -1.0, 0.0, 1e-46, 1e-40, 1e-5, 3.0, 1e39)
READ = 60  # changed programs of each one that are read …
PLANNED = 6  # … and of those that are not refused, planned and run


@dataclass(frozen=True)
class Changed:
    """A program with one other number."""

    program: PteProgram
    change: str

    def __str__(self) -> str:
        return self.change


def smallest_programs() -> dict[str, PteProgram]:
    """For every operator of the golden cases the smallest program with it, named after the first
    operator that it serves."""
    found: dict[str, bytes] = {}
    for case in golden_cases(cpu="cortex-m55"):
        for operator in CONVERTERS.keys() & case.operators:
            if operator not in found or len(case.pte) < len(found[operator]):
                found[operator] = case.pte
    names = {pte: operator for operator, pte in sorted(found.items(), reverse=True)}
    return {operator: parse_program(pte) for pte, operator in names.items()}


PROGRAMS = smallest_programs() | {f"cortexm::{name}": wide_program(name) for name in ARGUMENTS}


def changes(program: PteProgram) -> Iterator[Changed]:
    """Every number replaced by every extreme one."""
    for index, value in enumerate(program.values):
        others: list[object] = []
        if isinstance(value, bool):
            others = [not value]
        elif isinstance(value, int):
            others = list(dict.fromkeys((*INTEGERS, value - 1, value + 1)))
        elif isinstance(value, float):
            others = list(FLOATS)
        elif isinstance(value, PteFloats):
            others = [replace(value, items=(x, *value.items[1:])) for x in FLOATS]
        elif isinstance(value, PteTensor) and value.data and value.scalar_type is ScalarType.S32:
            # Multipliers, shifts and biases of channels.
            rest = bytes(value.data)[4:]
            others = [
                replace(value, data=memoryview(np.int32(x).tobytes() + rest))
                for x in INTEGERS
                if -(2**31) <= x < 2**31
            ]
        for other in others:
            if other != value or isinstance(other, PteTensor):
                values = (*program.values[:index], other, *program.values[index + 1 :])
                what = bytes(other.data or b"")[:4] if isinstance(other, PteTensor) else other
                yield Changed(
                    replace(program, values=values),  # type: ignore[arg-type]
                    f"value {index} {what!r}",
                )


def read(changed: Changed) -> Graph | None:
    try:
        return check_graph(read_program(changed.program, name="changed"))
    except CortexMError as error:
        assert error.message
        return None


def planned(graph: Graph) -> Plan | None:
    try:
        return make_plan(simplify(graph), Target.parse("any"))
    except CortexMError as error:
        assert error.message
        return None


@pytest.mark.parametrize("operator", PROGRAMS)
def test_changed_numbers_are_refused_or_computed(executor: PlanExecutor, operator: str) -> None:
    def run(changed: Changed) -> None:
        graph = read(changed)
        plan = planned(graph) if graph is not None else None
        if graph is None or plan is None:
            return
        tensors = [graph.tensors[index] for index in graph.inputs]
        values = np.random.default_rng(len(changed.change))
        inputs = [random_values(values, tensor.dtype, tensor.shape) for tensor in tensors]
        got = executor.run(plan, inputs)
        for tolerance, a, b in zip(tolerances(graph), got, run_graph(graph, inputs), strict=True):
            assert differing(a, b, tolerance) == 0, (a, b)

    every = list(changes(PROGRAMS[operator]))
    random.Random(operator).shuffle(every)
    accepted = [changed for changed in every[:READ] if read(changed) is not None]
    each_returns(run, accepted[:PLANNED], seconds=20)


@pytest.mark.parametrize("multiplier", [-(2**31) + 1, 0, 1, 2**30, 2**31 - 1])
def test_a_factor_too_small_for_a_shift_gives_zero(multiplier: int) -> None:
    sums = np.array([-(2**31), -(2**31) + 1, -1, 0, 1, 2**30, 2**31 - 1], np.int64)
    for shift in (-32, -33, -60, -(2**31)):
        half = 2 ** (-shift - 1) if shift > -64 else 2**63
        assert all(abs(int(high)) < half for high in high_mul(sums, multiplier))
        assert not as_rescale(multiplier, shift).apply(sums).any()
    assert as_rescale(multiplier, -31) == Rescale(multiplier, -31)
