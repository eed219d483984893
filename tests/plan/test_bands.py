# SPDX-License-Identifier: Apache-2.0
"""Operators in bands of rows: each finds the rows that it needs, and mutated steps are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import Candidates, Chain, SearchSpace, assemble, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.search.bands import is_chain
from cortexm_tools.plan.types import Call, Step, TensorArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_inputs, random_tower

M55 = Target.parse("cortex-m55")


def chains_of(candidates: Candidates, rows: int) -> list[Chain]:
    """All that the graph allows, of up to four operators."""
    count = len(candidates.graph.ops)
    return [
        Chain(first, last, rows)
        for first in range(count)
        for last in range(first + 1, min(first + 4, count))
        if is_chain(candidates.graph, candidates.calls, first, last)
    ]


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
@pytest.mark.parametrize("seed", range(6))
def test_bands_hold_the_rows_they_need(seed: int, cpu: str) -> None:
    """Every chain of a network, in bands of one and three rows: bytes are never lost, no row is
    computed twice, and a buffer one row shorter is refused."""
    graph = simplify(random_tower(seed))
    candidates = SearchSpace(graph, Target.parse(cpu)).as_given(Optimize.BALANCED)
    for rows in (1, 3):
        for chain in chains_of(candidates, rows):
            plan = assemble(candidates, (chain,))
            replay(plan)
            (step,) = (step for step in plan.steps if step.fused)
            for op in step.ops:
                made = [
                    dict(call.fields).get("out_h", 0)
                    for call in step.trace()
                    if call.kernel.op == op.kind and tensors_of(call)[-1] == op.outputs[0]
                ]
                out = plan.graph.tensors[op.outputs[0]]
                assert sum(made) <= out.shape[2]  # type: ignore[arg-type]
            total = sum(call.macs for single in candidates.calls for call in single)
            assert sum(call.macs for step in plan.steps for call in step.calls) <= total
            number = plan.buffer_of[step.inside[0]]
            row = plan.graph.tensors[step.inside[0]]
            short = list(plan.buffers)
            short[number] = replace(
                short[number], nbytes=short[number].nbytes - row.nbytes // row.shape[2]
            )
            with pytest.raises(CortexMError, match="larger than its buffer"):
                check_plan(replace(plan, buffers=tuple(short)))


def tensors_of(call: Call) -> list[int]:
    return [arg.index for arg in call.args if isinstance(arg, TensorArg)]


def mutations(step: Step) -> Iterator[Step]:
    """The step with one parameter or place of one call changed, or without the call."""
    for number, call in enumerate(step.calls):
        changes = [("in_y0", 1), ("in_h", -1), ("out_w", -1), ("out_pixel_stride", 1)]
        changed = [call_with(call, name, by) for name, by in (*changes, ("in_row_stride", 1))]
        if call.kernel.op == "move":
            changed.append(None)
        for new in changed:
            if new != call:
                calls = [*step.calls[:number], *([new] if new else []), *step.calls[number + 1 :]]
                yield replace(step, calls=tuple(calls))


def call_with(call: Call, name: str, by: int) -> Call:
    fields = {key: value + by if key == name else value for key, value in call.fields}  # type: ignore[operator]
    return replace(call, fields=tuple(fields.items()))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_bands_are_noticed(seed: int) -> None:
    graph = simplify(random_tower(seed))
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    for chain in chains_of(candidates, 2):
        plan = assemble(candidates, (chain,))
        number = next(i for i, step in enumerate(plan.steps) if step.fused)
        for step in mutations(plan.steps[number]):
            mutated = replace(plan, steps=(*plan.steps[:number], step, *plan.steps[number + 1 :]))
            with pytest.raises((CortexMError, AssertionError)):
                check_plan(mutated)


def test_equal_blocks_are_banded_together() -> None:
    """A chain for one of them alone saves nothing."""
    net = Net()
    x = net.input((1, 8, 16, 16))
    for _ in range(3):
        narrow = net.conv(x, 8, (1, 1), padding=(0, 0, 0, 0))
        wide = net.conv(x, 24, (1, 1), padding=(0, 0, 0, 0))
        x = net.sum(narrow, net.conv(wide, 8, (3, 3)))
    graph = simplify(net.finish(x))
    plan = make_plan(graph, M55, optimize=Optimize.SIZE)
    assert sum(bool(step.fused) for step in plan.steps) >= 3
    assert plan.arena_size < 0.8 * make_plan(graph, M55, optimize=Optimize.SPEED).arena_size


@pytest.mark.parametrize("first", [False, True], ids=["constant second", "constant first"])
def test_whole_constants_are_added_outside_of_bands(first: bool, executor: PlanExecutor) -> None:
    """A band would need its own rows of the constant; constants are read from their beginning."""
    net = Net()
    x = net.conv(net.input((1, 4, 8, 8)), 4, (3, 3))
    image = net.codes(1, 4, 8, 8)
    net.tensors[image] = replace(net.tensors[image], dim_order=net.tensors[x].dim_order)
    x = net.sum(*((image, x) if first else (x, image)))
    graph = net.finish(net.conv(net.conv(x, 4, (3, 3)), 4, (3, 3)))
    candidates = SearchSpace(graph, Target.parse("any")).as_given(Optimize.BALANCED)
    chains = chains_of(candidates, 2)
    assert [(chain.first, chain.last) for chain in chains] == [(2, 3)]
    inputs = random_inputs(graph, 0)
    (want,) = run_graph(graph, inputs)
    for chain in chains:
        (got,) = executor.run(assemble(candidates, (chain,)), inputs)
        np.testing.assert_array_equal(got, want)
