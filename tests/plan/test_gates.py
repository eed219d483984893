# SPDX-License-Identifier: Apache-2.0
"""Products with a function of codes: which become one pass, and that they keep every byte."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Rescale, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import KernelChoice, Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.choose.kernels import PRICES, cost_of
from cortexm_tools.plan.lower.gates import find_gates
from cortexm_tools.plan.search import space
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Isa, Optimize, Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_gate, random_inputs
from tests.support.ways import kernels_for

HOST = Target.parse("host")


def kernels(plan: Plan) -> list[str]:
    return [call.kernel.op for step in plan.steps for call in step.calls]


def halves(net: Net, whole: int, dim: int) -> tuple[int, int]:
    """What Tensor.chunk(2, dim) gives."""
    shape = list(net.shape(whole))
    shape[dim] //= 2
    first, second = (
        net.add(
            ops.Slice(tuple(n if d == dim else 0 for d in range(len(shape))), (1,) * len(shape)),
            [whole],
            tuple(shape),
            order=net.tensors[whole].dim_order,
        )
        for n in (0, shape[dim])
    )
    return first, second


def glu(
    size: int,
    *,
    rows: int = 8,
    turned: bool = False,
    of: DType = DType.S8,
    smooth: bool = False,
) -> Graph:
    net = Net()
    a, b = halves(net, net.input((rows, 2 * size), of), 1)
    gate = net.activation(b, smooth=smooth)
    return net.finish(net.mul(gate, a) if turned else net.mul(a, gate))


@pytest.mark.parametrize("size", [1, 5, 17, 33, 64])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("of", [DType.S8, DType.S16])
def test_glu_is_one_pass(executor: PlanExecutor, size: int, turned: bool, of: DType) -> None:
    graph = simplify(glu(size, rows=40 if size == 1 else 8, turned=turned, of=of))
    plan = make_plan(graph, HOST)
    assert kernels(plan) == ["gate"]
    replay(plan)
    inputs = random_inputs(graph, 3)
    np.testing.assert_array_equal(executor.run(plan, inputs)[0], run_graph(graph, inputs)[0])


def test_halves_of_an_images_channels(executor: PlanExecutor) -> None:
    net = Net()
    x = net.conv(net.input((1, 3, 5, 7)), 10)
    a, b = halves(net, x, 1)
    graph = simplify(net.finish(net.mul(a, net.activation(b))))
    plan = make_plan(graph, HOST)
    assert kernels(plan).count("gate") == 1 and "mul" not in kernels(plan)
    (call,) = (c for step in plan.steps for c in step.calls if c.kernel.op == "gate")
    assert {"rows": 35, "size": 5, "a_stride": 10, "b_stride": 10}.items() <= dict(
        call.fields
    ).items()
    inputs = random_inputs(graph, 3)
    np.testing.assert_array_equal(executor.run(plan, inputs)[0], run_graph(graph, inputs)[0])


def test_swiglu_of_two_layers_is_in_place() -> None:
    net = Net()
    x = net.input((4, 20))
    gate = net.activation(net.linear(x, 17))
    graph = simplify(net.finish(net.linear(net.mul(gate, net.linear(x, 17)), 3)))
    plan = make_plan(graph, HOST)
    (step,) = (step for step in plan.steps if isinstance(step.op.attrs, ops.Gate))
    assert plan.buffer_of[step.op.outputs[0]] in {plan.buffer_of.get(i) for i in step.inputs}
    assert not {"activation", "mul"} & set(kernels(plan))


def test_gates_of_joined_tensors(executor: PlanExecutor) -> None:
    """The result, and with it the operand over which it is written, lies in that of a concatenation."""
    net = Net()
    x = net.input((8, 16))
    gate = net.mul(net.linear(x, 16), net.activation(net.linear(x, 16)))
    graph = simplify(net.finish(net.concat([net.linear(x, 16), gate], 0)))
    plan = make_plan(graph, HOST, optimize=Optimize.SIZE)
    assert plan.parts and "gate" in kernels(plan)
    replay(plan)
    inputs = random_inputs(graph, 3)
    np.testing.assert_array_equal(executor.run(plan, inputs)[0], run_graph(graph, inputs)[0])


def test_what_another_operator_reads_stays() -> None:
    """The function's result; or a part, whose copy is needed anyway."""
    net = Net()
    a, b = halves(net, net.input((6, 10)), 1)
    gate = net.activation(b)
    shared = make_plan(simplify(net.finish(net.mul(a, gate), net.activation(gate))), HOST)
    assert "gate" not in kernels(shared) and kernels(shared).count("activation") == 2
    net = Net()
    a, b = halves(net, net.input((8, 10)), 1)
    gate = net.mul(a, net.activation(b))
    plan = make_plan(simplify(net.finish(gate, net.activation(a))), HOST)
    assert kernels(plan).count("gate") == kernels(plan).count("copy") == 1


@pytest.mark.parametrize("smooth", [False, True])
def test_tables_of_large_steps_have_no_vectors(smooth: bool) -> None:
    """Of int16, differences of neighbouring entries that need more than 16 bits."""
    net = Net()
    x = net.activation(net.input((6, 10), DType.S16), smooth=smooth)
    alone = net.finish(x)
    for graph, op in ((glu(10, of=DType.S16, smooth=smooth), "gate"), (alone, "activation")):
        found = kernels_for(simplify(graph), Target.parse("cortex-m55"))
        assert {kernel.op for kernel in found} == {op}
        assert any(kernel.isa is Isa.MVE for kernel in found) is smooth


def test_what_no_gate_is() -> None:
    """Operands that are repeated, and products that are not shifted to the right."""
    net = Net()
    x = net.input((6, 10))
    repeated = net.finish(net.mul(x, net.activation(net.input((10,)))))
    net = Net()
    x = net.input((6, 10))
    y = net.activation(net.input((6, 10)))
    left = net.finish(net.add(ops.Mul(1, 2, 3, Rescale(1610612736, 1)), [x, y], (6, 10)))
    net = Net()
    x, y = (net.input((6, 10), DType.S16) for _ in range(2))
    attrs = ops.Mul(0, 0, 0, Rescale(1610612736, -1))
    half = net.finish(net.add(attrs, [x, net.activation(y)], (6, 10)))
    for graph in (repeated, left, half):
        assert "gate" not in kernels(make_plan(simplify(graph), HOST))


def test_what_is_put_together_costs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all operators, with each kernel counted once."""
    gates = fewer = 0
    for seed, cpu in product(range(12), ("cortex-m55", "cortex-m4", "cortex-m0")):
        graph = random_gate(seed) if seed % 2 else plain(1 << seed // 2, rows=4 * seed + 1)
        for optimize in Optimize:
            costs = []
            for is_apart in (True, False):
                with monkeypatch.context() as patch:
                    if is_apart:
                        patch.setattr(space, "find_gates", lambda graph: (graph, {}))
                    found = space.SearchSpace(simplify(graph), Target.parse(cpu), optimize=optimize)
                chosen = found.chosen(optimize).values()
                costs.append(cost_of(chosen, PRICES[optimize].flash))
            assert costs[1] <= costs[0]
            fewer += costs[1] < costs[0]
            gates += any(isinstance(op.attrs, ops.Gate) for op in found.graph.ops)
    assert gates >= fewer > 20


def test_gates_of_a_few_elements_stay() -> None:
    """Where others take the kernels of what they replace."""
    for rows, is_gate in ((1, False), (400, True)):
        net = Net()
        a, b = net.input((rows, 5)), net.input((rows, 5))
        small = net.mul(a, net.activation(b))
        c, d = net.input((64, 5)), net.input((64, 5))
        graph = simplify(net.finish(small, net.mul(c, d), net.activation(c)))
        plan = make_plan(graph, Target.parse("cortex-m4"))
        assert ("gate" in kernels(plan)) is is_gate, rows


def plain(size: int, *, rows: int = 32, turned: bool = False, of: DType = DType.S8) -> Graph:
    """A product of two halves, as of channels that gate each other."""
    net = Net()
    a, b = halves(net, net.input((rows, 2 * size), of), 1)
    return net.finish(net.mul(b, a) if turned else net.mul(a, b))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("rows", "size"), [(205, 5), (61, 17), (32, 33), (16, 64)])
def test_parts_without_a_function(
    executor: PlanExecutor, rows: int, size: int, turned: bool
) -> None:
    """The table gives the codes themselves, so that each is multiplied as it is."""
    graph = simplify(plain(size, rows=rows, turned=turned))
    plan = make_plan(graph, HOST)
    assert kernels(plan) == ["gate"]
    replay(plan)
    inputs = random_inputs(graph, 3)
    np.testing.assert_array_equal(executor.run(plan, inputs)[0], run_graph(graph, inputs)[0])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("rows", "size"), [(1, 16), (2, 16), (61, 17), (32, 33), (3, 64)])
def test_wide_parts_without_a_function(
    executor: PlanExecutor, rows: int, size: int, turned: bool
) -> None:
    """Of int16 the kernel of products reads rows that lie apart."""
    graph = simplify(plain(size, rows=rows, turned=turned, of=DType.S16))
    plan = make_plan(graph, HOST)
    assert kernels(plan) == ["mul"]
    inputs = random_inputs(graph, 3)
    np.testing.assert_array_equal(executor.run(plan, inputs)[0], run_graph(graph, inputs)[0])


def test_wide_parts_of_tensors_of_two_sizes_stay(executor: PlanExecutor) -> None:
    """There is one stride for both."""
    net = Net()
    x, y = net.input((8, 32), DType.S16), net.input((8, 48), DType.S16)
    parts = [net.add(ops.Slice((0, 16), (1, 1)), [each], (8, 16)) for each in (x, y)]
    graph = simplify(net.finish(net.mul(*parts)))
    plan = make_plan(graph, HOST)
    assert kernels(plan) == ["copy", "copy", "mul"]
    inputs = random_inputs(graph, 3)
    np.testing.assert_array_equal(executor.run(plan, inputs)[0], run_graph(graph, inputs)[0])


def test_which_parts_without_a_function_stay() -> None:
    """Those that something else reads, and of int16 single elements, of which kernels know no stride."""
    net = Net()
    a, b = halves(net, net.input((64, 20)), 1)
    for graph in (net.finish(net.mul(a, b), net.activation(b)), plain(1, of=DType.S16)):
        assert not find_gates(simplify(graph))[1]


def test_products_of_cmsis_nn_stay() -> None:
    plan = make_plan(simplify(glu(8)), Target.parse("cortex-m55"), kernels=KernelChoice.CMSIS_NN)
    assert not any(isinstance(step.op.attrs, ops.Gate) for step in plan.steps)
    assert "cortexm_mul_s8_cmsis_nn" in {c.kernel.symbol for s in plan.steps for c in s.calls}


@pytest.mark.parametrize("seed", range(48))
def test_random_gates(executor: PlanExecutor, seed: int) -> None:
    graph = simplify(random_gate(seed))
    inputs = random_inputs(graph, seed)
    expected = run_graph(graph, inputs)
    for cpu in ("host", "cortex-m55", "cortex-m4", "cortex-m0"):
        plan = make_plan(graph, Target.parse(cpu))
        if graph.tensors[graph.inputs[0]].dtype is DType.S8:  # it knows images of bytes only
            replay(plan)
        if cpu == "host":
            for got, wanted in zip(executor.run(plan, inputs), expected, strict=True):
                np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("of", [DType.S8, DType.S16])
def test_check_finds_a_gate_that_reads_elsewhere(of: DType) -> None:
    plan = make_plan(simplify(glu(5, of=of)), HOST)
    (step,) = plan.steps
    (call,) = step.calls
    for name, value in (("a_stride", 5), ("rows", 3), ("size", 4)):
        fields = tuple((key, value if key == name else old) for key, old in call.fields)
        wrong = replace(step, calls=(replace(call, fields=fields),))
        with pytest.raises(CortexMError, match="other elements"):
            check_plan(replace(plan, steps=(wrong,)))
    a, *others = call.args
    moved = replace(step, calls=(replace(call, args=(replace(a, offset=of.size), *others)),))
    with pytest.raises(CortexMError, match="other elements"):
        check_plan(replace(plan, steps=(moved,)))


def test_check_finds_a_product_of_other_rows() -> None:
    plan = make_plan(simplify(plain(32, of=DType.S16)), HOST)
    (step,) = plan.steps
    (call,) = step.calls
    for name, value in (("stride", 0), ("stride", 65), ("a_period", 16), ("count", 512)):
        fields = tuple((key, value if key == name else old) for key, old in call.fields)
        wrong = replace(step, calls=(replace(call, fields=fields),))
        with pytest.raises(CortexMError, match="other elements"):
            check_plan(replace(plan, steps=(wrong,)))
    net = Net()
    shape = (4, 8)
    whole = make_plan(net.finish(net.mul(*(net.input(shape, DType.S16) for _ in "ab"))), HOST)
    (step,) = whole.steps
    (call,) = step.calls
    fields = tuple((key, 8 if key == "stride" else old) for key, old in call.fields)
    wrong = replace(step, calls=(replace(call, fields=fields),))
    with pytest.raises(CortexMError, match="which the graph has not"):
        check_plan(replace(whole, steps=(wrong,)))
