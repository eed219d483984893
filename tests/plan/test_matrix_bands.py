# SPDX-License-Identifier: Apache-2.0
"""Attention in bands of rows: the same bytes without the whole matrix of scores; mutated steps refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import Candidates, Chain, SearchSpace, assemble, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.search.matrix_bands import together
from cortexm_tools.plan.types import ConstantArg, ScratchArg, Step
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import GraphProgram, Net
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import ATTENTION_MASKS, random_attention, random_inputs

M55 = Target.parse("cortex-m55")


def candidates_of(graph: Graph, target: Target) -> Candidates:
    graph = replace(graph, ops=together(graph) or graph.ops)
    return SearchSpace(graph, target).as_given(Optimize.BALANCED)


@pytest.mark.parametrize("mask", ATTENTION_MASKS)
def test_every_height_of_bands_gives_the_same_bytes(mask: str, executor: PlanExecutor) -> None:
    for seed in range(3):
        graph = simplify(random_attention(seed, mask))
        inputs = random_inputs(graph, seed)
        expected = run_graph(graph, inputs)
        candidates = candidates_of(graph, Target.parse("any"))
        ((first, last),) = candidates.matrix_chains
        heads, height, keys = graph.tensors[candidates.graph.ops[first].outputs[0]].shape
        for rows in (1, 3, height):
            plan = assemble(candidates, (Chain(first, last, rows),))
            for got, want in zip(executor.run(plan, inputs), expected, strict=True):
                np.testing.assert_array_equal(got, want)
            (step,) = (step for step in plan.steps if step.fused)
            size = graph.tensors[step.inside[0]].dtype.size
            bands = {plan.buffers[plan.buffer_of[index]].nbytes for index in step.inside}
            assert bands == {rows * keys * size}
            assert sum(call.macs for call in step.calls) == sum(
                call.macs for single in candidates.calls for call in single
            )


def mutations(step: Step) -> Iterator[Step]:
    """The step with the place of one operand, or the rows of one call, changed, or without the call."""
    for number, call in enumerate(step.calls):
        changed = [None]
        for position, arg in enumerate(call.args):
            if not isinstance(arg, ScratchArg) and not (
                isinstance(arg, ConstantArg) and call.kernel.op == "where" and position
            ):
                other = replace(arg, offset=arg.offset + 1)
                args = (*call.args[:position], other, *call.args[position + 1 :])
                changed.append(replace(call, args=args))
        for name in ("rows", "outer", "count"):
            if name in call.int_fields:
                fields = dict(call.fields) | {name: call.int_fields[name] - 1}
                changed.append(replace(call, fields=tuple(fields.items())))
        for new in changed:
            calls = [*step.calls[:number], *([new] if new else []), *step.calls[number + 1 :]]
            yield replace(step, calls=tuple(calls))


@pytest.mark.parametrize("mask", ATTENTION_MASKS)
def test_mutated_bands_are_noticed(mask: str) -> None:
    candidates = candidates_of(simplify(random_attention(0, mask)), M55)
    ((first, last),) = candidates.matrix_chains
    plan = assemble(candidates, (Chain(first, last, 2),))
    number = next(i for i, step in enumerate(plan.steps) if step.fused)
    for step in mutations(plan.steps[number]):
        mutated = replace(plan, steps=(*plan.steps[:number], step, *plan.steps[number + 1 :]))
        with pytest.raises((CortexMError, AssertionError)):
            check_plan(mutated)


def test_long_sequences_fit_where_their_scores_do_not(executor: PlanExecutor) -> None:
    """Where a limit asks for it: one head at a time, or some of its rows."""
    net = Net()
    heads, tokens, width = 3, 96, 8
    query, key, value = (net.input((heads, tokens, width)) for _ in range(3))
    x = net.softmax(net.batch_matmul(query, key), 2)
    graph = simplify(net.finish(net.batch_matmul(x, net.transpose(value, (0, 2, 1)))))
    scores = heads * tokens * tokens
    target = Target.parse("any")
    assert make_plan(graph, target).arena_size > scores
    plan = make_plan(graph, target, ram_limit=scores)
    assert plan.arena_size <= scores
    small = make_plan(graph, target, ram_limit=12000)
    assert small.arena_size <= 12000 < scores / heads + 3 * heads * tokens * width
    (step,) = (step for step in small.steps if step.fused)
    assert [op.kind for op in step.ops] == ["batch_matmul", "softmax", "batch_matmul"]
    inputs = random_inputs(graph, 0)
    (want,) = run_graph(graph, inputs)
    for each in (plan, small):
        np.testing.assert_array_equal(executor.run(each, inputs)[0], want)
    least = make_plan(graph, target, ram_limit=1).arena_size
    assert least <= small.arena_size
    program = GraphProgram("net", b"", made=graph)
    refused = f"needs {least:,} bytes of RAM, RAM_LIMIT is {least - 1:,}\n"
    with pytest.raises(CortexMError, match=refused):
        compile_program(program, CompileOptions(target=target, ram_limit=least - 1))
    compiled = compile_program(program, CompileOptions(target=target, ram_limit=least))
    assert compiled.plan.arena_size == least
