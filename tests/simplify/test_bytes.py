# SPDX-License-Identifier: Apache-2.0
"""fold_bytes, IO uint8 and INPUT_LAYOUT: bytes become codes through one table for each channel."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.simplify.bytes import fold_bytes
from cortexm_tools.simplify.input_layout import turned_images, with_input_layout
from cortexm_tools.target import Target

from tests.support.byte_graphs import images, random_chain
from tests.support.graphs import GraphProgram, Net
from tests.support.plan_executor import PlanExecutor

HOST = Target.parse("any")
M55 = Target.parse("cortex-m55")


def test_chains_are_tables(executor: PlanExecutor) -> None:
    for seed in range(40):
        graph = random_chain(seed)
        inputs = images(graph)
        (expected,) = run_graph(graph, inputs)
        for layout in ("model", "nhwc", "nchw"):
            given = graph if layout == "model" else with_input_layout(graph, layout)
            simple = simplify(given)
            kinds = [op.kind for op in simple.ops if op.kind not in ("transpose", "clone")]
            # Of int16, a table that is interpolated is left behind it.
            wide = simple.tensors[simple.outputs[0]].dtype is DType.S16
            assert kinds[0] == "lookup" and kinds[-1] == "conv2d", (seed, kinds)
            assert wide or kinds == ["lookup", "conv2d"], (seed, kinds)
            np.testing.assert_array_equal(run_graph(simple, inputs)[0], expected)
            for plan in (make_plan(simple, HOST), make_plan(simple, HOST, bands=False)):
                np.testing.assert_array_equal(executor.run(plan, inputs)[0], expected)
            calls = [call.kernel.op for step in plan.steps for call in step.calls]
            if layout == "nhwc":
                assert "copy" not in calls, seed
            assert "copy" in calls or not turned_images(simple), (seed, layout)


def test_one_scale_is_no_table() -> None:
    net = Net()
    x = net.input((1, 1, 8, 8), DType.U8)
    real = net.add(ops.Cast(), [x], (1, 1, 8, 8), DType.F32)
    code = net.add(ops.Quantize(1.0, -128, -128, 127), [real], (1, 1, 8, 8))
    plan = make_plan(simplify(net.finish(net.conv(code, 4))), M55)
    assert plan.steps[0].calls[0].kernel.symbol == "cortexm_center_u8s8_mve"
    assert not any("table" in constant.name for constant in plan.constants)


def test_truth_values_become_codes_by_a_table(executor: PlanExecutor) -> None:
    """`F.one_hot(x).float()`, whose integers and floats no tensor has then."""
    shape = (3, 5, 7)
    net = Net()
    x = net.input(shape)
    true = net.add(
        ops.Compare("gt"), [x, net.constant(np.full((1,), 9), DType.S8)], shape, DType.BOOL
    )
    count = net.add(ops.Cast(), [true], shape, DType.S64)
    code = net.quantize(net.add(ops.Cast(), [count], shape, DType.F32), 1 / 255, -128)
    graph = net.finish(code)
    simple = check_graph(simplify(graph))
    assert [op.kind for op in simple.ops] == ["compare", "lookup"]
    codes = np.random.default_rng(2).integers(-128, 128, shape).astype(np.int8)
    expected = np.where(codes > 9, 127, -128)
    for found in (run_graph(graph, [codes]), run_graph(simple, [codes])):
        np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(executor.run(make_plan(simple, HOST), [codes])[0], expected)


def test_images_that_are_turned_are_told() -> None:
    net = Net()
    x = net.input((1, 3, 8, 8), DType.U8)
    real = net.add(ops.Cast(), [x], (1, 3, 8, 8), DType.F32)
    graph = net.finish(
        net.conv(net.add(ops.Quantize(1.0, -128, -128, 127), [real], (1, 3, 8, 8)), 4)
    )
    assert turned_images(simplify(with_input_layout(graph, "nchw"))) == graph.inputs
    assert turned_images(simplify(with_input_layout(graph, "nhwc"))) == ()


@pytest.mark.parametrize(("short", "told"), [(1, True), (6000, False)])
def test_limits_that_turned_images_exceed_name_the_layout(short: int, told: bool) -> None:
    """But not where other layers exceed them, too."""
    net = Net()
    graph = net.finish(net.conv(net.input((1, 3, 32, 32)), 32, (3, 3), (4, 4)))
    program = GraphProgram("turned", b"", made=with_input_layout(graph, "nchw"))
    needed = compile_program(program, CompileOptions(target=M55)).report["arena_bytes"]
    with pytest.raises(CortexMError) as caught:
        compile_program(program, CompileOptions(target=M55, ram_limit=needed - short))
    assert ("use INPUT_LAYOUT nhwc, " in caught.value.hint) is told


def test_a_table_serves_all_readers_and_steps_beside_it_stay() -> None:
    net = Net()
    x = net.input((1, 2, 4, 4), DType.U8)
    real = net.add(ops.Cast(), [x], (1, 2, 4, 4), DType.F32)
    code = net.add(ops.Quantize(2.0, -128, -128, 127), [real], (1, 2, 4, 4))
    moved = net.transpose(code, (0, 1, 3, 2), contiguous(4))
    graph = net.finish(net.conv(code, 4), net.conv(moved, 4), real)
    simple = check_graph(simplify(graph))
    assert [op.kind for op in simple.ops].count("lookup") == 1
    assert [op.kind for op in simple.ops].count("cast") == 1  # an output reads it
    for got, want in zip(*(run_graph(g, images(graph)) for g in (simple, graph)), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "case", ["two dimensions", "channels", "inexact", "a count", "another input"]
)
def test_what_is_no_table_stays(case: str) -> None:
    net = Net()
    shape = (1, 40, 4, 4) if case == "channels" else (1, 2, 4, 4)
    x = net.input(shape, DType.U8)
    to = DType.S16 if case == "a count" else DType.F32
    real = net.add(ops.Cast(), [x], shape, to)
    if case == "a count":
        graph = net.finish(real)
    else:
        if case == "inexact":
            real = net.add(ops.Unary("exp"), [real], shape, DType.F32)
        else:
            own = {"channels": (1, 40, 1, 1), "two dimensions": (1, 2, 4, 1)}.get(case, shape)
            other = net.constant(net.random.normal(size=own), DType.F32)
            if case == "another input":
                other = net.input(shape, DType.F32)
            real = net.add(ops.Binary("add"), [real, other], shape, DType.F32)
        graph = net.finish(net.add(ops.Quantize(2.0, 0, -128, 127), [real], shape))
    assert fold_bytes(graph) == graph


@pytest.mark.parametrize("kind", ["softmax", "layer_norm"])
def test_rows_of_codes_are_made_behind_the_table(kind: str) -> None:
    """An element of theirs is not made of the one in its place alone."""
    net = Net()
    x = net.input((8, 5), DType.U8)
    codes = net.quantize(net.add(ops.Cast(), [x], (8, 5), DType.F32), 2.0)
    if kind == "softmax":
        y = net.softmax(codes, 1)
    else:
        factor, offset = (net.constant(np.full(5, value), DType.S32) for value in (9999, 5))
        y = net.add(ops.LayerNorm(5, True, 3, 4000, 12), [codes, factor, offset], (8, 5))
    graph = net.finish(y)
    simple = simplify(graph)
    assert [op.kind for op in simple.ops] == ["lookup", kind]
    np.testing.assert_array_equal(*(run_graph(g, images(graph))[0] for g in (simple, graph)))


def test_bytes_in_place_of_codes(executor: PlanExecutor) -> None:
    """With IO uint8 the input is the code and 128, and so is the zero point."""
    net = Net()
    real = net.input((1, 3, 5, 5), DType.F32)
    code = net.activation(net.quantize(real))
    graph = net.finish(net.dequantize(net.conv(code, 4)))
    signed, bytewise = simplify(graph, io_int8=True), simplify(graph, io_uint8=True)
    assert [op.kind for op in bytewise.ops] == ["lookup", "conv2d"]
    of_codes, of_bytes = (g.tensors[g.inputs[0]] for g in (signed, bytewise))
    assert (of_codes.dtype, of_bytes.dtype) == (DType.S8, DType.U8)
    assert of_codes.quant is not None and of_bytes.quant is not None
    assert of_bytes.quant.zero_point == of_codes.quant.zero_point + 128
    assert bytewise.tensors[bytewise.outputs[0]].dtype is DType.S8
    codes = net.random.integers(-128, 128, (1, 3, 5, 5)).astype(np.int8)
    (want,) = run_graph(signed, [codes])
    given = (codes.astype(np.int16) + 128).astype(np.uint8)
    np.testing.assert_array_equal(executor.run(make_plan(bytewise, HOST), [given])[0], want)


def test_codes_of_int16_are_no_bytes() -> None:
    net = Net()
    code = net.quantize(net.input((1, 3, 5, 5), DType.F32), dtype=DType.S16)
    with pytest.raises(CortexMError, match="input 0 has codes of int16, which are no bytes"):
        simplify(net.finish(net.dequantize(net.conv(code, 4))), io_uint8=True)


def test_a_layout_is_for_images() -> None:
    net = Net()
    graph = net.finish(net.linear(net.input((1, 9)), 4))
    with pytest.raises(CortexMError, match=r"no input is an image .*: \[1, 9\]"):
        with_input_layout(graph, "nhwc")
