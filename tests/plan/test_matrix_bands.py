# SPDX-License-Identifier: Apache-2.0
"""Attention in bands of rows: the same bytes without the whole matrix of scores; mutated steps refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, contiguous, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import Candidates, Chain, Lowerings, assemble, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.search.matrix_bands import together
from cortexm_tools.plan.types import ConstantArg, ScratchArg, Step
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_inputs

M55 = Target.parse("cortex-m55")
MASKS = ("none", "where", "keys", "add", "each", "wide")


def attention(mask: str, seed: int = 0) -> Graph:
    """Heads of q k^T, mask, softmax, times v, of any sizes; the values are copied in the middle."""
    net = Net(seed=seed)
    heads, rows, keys, width = (int(v) for v in net.random.integers((1, 5, 3, 2), (5, 20, 20, 12)))
    dtype = DType.S16 if mask == "wide" or seed % 3 == 2 else DType.S8
    query, key = net.input((heads, rows, width), dtype), net.input((heads, keys, width), dtype)
    value = net.input((heads, keys, width), dtype)
    x = net.batch_matmul(query, key)
    if mask == "wide":
        x = net.requantize(x, DType.S16)
    x = net.view(x, (1, heads, rows, keys))
    shape = (1, heads if mask == "each" else 1, 1 if mask == "keys" else rows, keys)
    if mask in ("where", "keys", "each"):
        condition = net.constant(net.random.integers(0, 2, shape), DType.BOOL)
        least = net.constant(np.full((1,), dtype.limits[0]), dtype)
        x = net.add(
            ops.Where(), [condition, least, x], (1, heads, rows, keys), dtype, contiguous(4)
        )
    elif mask == "add":
        other = net.codes(*shape, dtype=dtype)
        x = net.sum(x, other)
        net.tensors[x] = replace(net.tensors[x], dim_order=contiguous(4))
    x = net.view(net.softmax(x, 3), (heads, rows, keys))
    x = net.batch_matmul(x, net.transpose(value, (0, 2, 1)))
    return net.finish(x, net.activation(value))


def candidates_of(graph: Graph, target: Target) -> Candidates:
    graph = replace(graph, ops=together(graph) or graph.ops)
    return Candidates(graph, Lowerings(graph, target))


@pytest.mark.parametrize("mask", MASKS)
def test_every_height_of_bands_gives_the_same_bytes(mask: str, executor: PlanExecutor) -> None:
    for seed in range(4):
        graph = simplify(attention(mask, seed))
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


@pytest.mark.parametrize("mask", MASKS)
def test_mutated_bands_are_noticed(mask: str) -> None:
    candidates = candidates_of(simplify(attention(mask)), M55)
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
    assert make_plan(graph, target, ram_limit=1).arena_size <= small.arena_size
