# SPDX-License-Identifier: Apache-2.0
"""check_graph: what the operators' checks let through is computed as stated.

Every operator is changed in one thing at a time. What check_graph, or the planner, does not refuse
must run to its end with the interpreter's result.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.emit import EmitOptions, emit
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Attrs, DType, Graph, Op, Rescale, Tensor, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.lower.context import has_lowering
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.data_graphs import random_values
from tests.support.graphs import Net
from tests.support.isolated import each_returns
from tests.support.mutants import Mutant, mutants
from tests.support.operator_examples import examples, kinds
from tests.support.plan_executor import PlanExecutor

OPERATORS = sorted(ops.OPERATORS.values(), key=lambda kind: kind.kind)


def test_every_operator_has_a_kernel_and_examples() -> None:
    assert len(OPERATORS) > 40
    for kind in OPERATORS:
        assert has_lowering(examples(kind)[0].ops[0].attrs), kind
    assert kinds() == set(OPERATORS)


def planned(graph: Graph) -> Plan | None:
    """The plan of a graph and its files, or None if it is refused."""
    try:
        plan = make_plan(simplify(graph), Target.parse("any"))
    except CortexMError as error:
        assert error.message
        return None
    emit(plan, EmitOptions(name="mutant", command="", digest="0" * 64))
    return plan


def accepted(graph: Graph) -> list[Mutant]:
    """The changed graphs that check_graph lets through."""
    found = []
    for mutant in mutants(graph):
        try:
            check_graph(mutant.graph)
        except CortexMError as error:
            assert error.message
        else:
            found.append(mutant)
    return found


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.kind)
def test_what_is_not_refused_is_computed_exactly(executor: PlanExecutor, kind: type[Attrs]) -> None:
    ran = []

    def run(mutant: Mutant) -> None:
        plan = planned(mutant.graph)
        if plan is None:
            return
        random = np.random.default_rng(len(mutant.change))
        graph = mutant.graph
        tensors = [graph.tensors[index] for index in graph.inputs]
        inputs = [random_values(random, tensor.dtype, tensor.shape) for tensor in tensors]
        expected = run_graph(graph, inputs)
        got = executor.run(plan, inputs)
        for tolerance, a, b in zip(tolerances(graph), got, expected, strict=True):
            assert differing(a, b, tolerance) == 0, (a, b)

    for example in examples(kind):
        ran += [Mutant(example, "nothing changed"), *accepted(example)]
    each_returns(run, ran, seconds=20)


def one(attrs: Attrs, operands: list[tuple[tuple[int, ...], DType]], out: Tensor) -> Graph:
    """An operator on inputs, not checked."""
    net = Net()
    inputs = [net.input(shape, dtype, contiguous(len(shape))) for shape, dtype in operands]
    net.tensors.append(out)
    op = Op(attrs, tuple(inputs), (len(inputs),))
    return Graph("one", tuple(net.tensors), (op,), tuple(inputs), (len(inputs),))


def result(shape: tuple[int, ...], dtype: DType = DType.S8) -> Tensor:
    return Tensor("out", dtype, shape, contiguous(len(shape)))


ADD = ops.Add(0, Rescale(2**30, 0), 0, Rescale(2**30, 0), 0, Rescale(2**30, -19), -128, 127)
MUL = ops.Mul(0, 0, 0, Rescale(2**30, -6))
S8, F32 = DType.S8, DType.F32


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (one(ADD, [((3, 4), S8), ((5,), F32)], result((7,), DType.S16)), "mixes the element types"),
        (one(ADD, [((3, 4), S8), ((5,), S8)], result((3, 4))), "do not broadcast"),
        (one(MUL, [((3,), S8)], result((3,))), "has 1 operands, takes 2"),
        (
            one(replace(MUL, rescale=Rescale(2**30, 31)), [((3,), S8)] * 2, result((3,))),
            "shift is 31",
        ),
        (
            one(replace(MUL, rescale=Rescale(-1, -6)), [((3,), S8)] * 2, result((3,))),
            "multiplier is -1",
        ),
        (
            one(
                ops.BatchMatmul(0, 0, 0, Rescale(2**30, -8)),
                [((2, 3, 4), S8), ((5, 6, 7), S8)],
                result((1,)),
            ),
            "do not fit",
        ),
        (one(ops.Softmax(0, Rescale(2**30, 22), 1), [((3,), S8)], result((3,))), "diff_min is 1"),
        (one(ops.Softmax(0, Rescale(2**30, 32), -9), [((3,), S8)], result((3,))), "shift is 32"),
        (one(ops.Softmax(0, Rescale(2**30, 31), -9), [((3,), S8)], result((3,))), "exceed 32 bits"),
        (
            one(ops.Softmax(0, Rescale(2**30, 22), -9), [((8192,), S8)], result((8192,))),
            "8192 elements",
        ),
        (one(ops.Clamp(0, 9), [((3,), S8)], result((4,))), "shape"),
        (one(ops.Clamp(9, 0), [((3,), S8)], result((3,))), "empty"),
        (one(ops.View(), [((2**16, 2**15), S8)], result((2**31,))), "larger than 2 GiB"),
        (one(ops.View(), [((-1, -4), S8)], result((4,))), "empty shape"),
    ],
)
def test_what_kernels_cannot_do_is_refused(graph: Graph, message: str) -> None:
    with pytest.raises(CortexMError, match=message):
        check_graph(graph)


def test_indices_and_doubled_results_are_refused() -> None:
    net = Net()
    x = net.input((2, 3))
    graph = net.finish(net.activation(x))
    op = graph.ops[0]
    for broken in (
        replace(graph, inputs=(9,)),
        replace(graph, outputs=()),
        replace(graph, outputs=(-1,)),
        replace(graph, inputs=(0, 1)),
        replace(graph, ops=(replace(op, outputs=op.outputs * 2),)),
    ):
        with pytest.raises(CortexMError):
            check_graph(broken)


def test_scalars_go_through_every_stage(executor: PlanExecutor) -> None:
    """Inputs, results and constants without dimensions keep their shape."""
    net = Net("scalars", 5)
    x, count = net.input((), F32, ()), net.input((), DType.S64, ())
    half = net.constant(np.array(0.5), F32)
    real = net.add(ops.Cast(), [count], (), F32, ())
    total = net.add(ops.Binary("add"), [net.dequantize(net.quantize(x)), real], (), F32, ())
    less = net.add(ops.Compare("lt"), [total, half], (), DType.BOOL, ())
    chosen = net.add(ops.Where(), [less, total, half], (), F32, ())
    wide = net.add(ops.Expand(), [chosen], (2, 3), F32)
    summed = net.add(ops.Reduce("sum", (0, 1), False), [wide], (), F32, ())
    joined = net.add(ops.Concat(0), [net.view(summed, (1,)), net.view(x, (1,))], (2,), F32)
    graph = net.finish(less, summed, joined)
    plan = planned(graph)
    assert plan is not None
    inputs = [np.array(0.25, np.float32), np.array(-3, np.int64)]
    for a, b in zip(executor.run(plan, inputs), run_graph(graph, inputs), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
