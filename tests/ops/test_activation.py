# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: near the real ones, and the kernels."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Rescale, ops
from cortexm_tools.ir.fixed_point import (
    count_leading_zeros,
    folded_softmax_table,
    one_over_one_plus,
    rounding_shift,
    softmax_blocks,
    softmax_factors,
    softmax_table,
)
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.batches import Job, run_jobs
from tests.support.float_graphs import INEXACT_UNARY, LAYERS, clamp, unary
from tests.support.graphs import GraphProgram, Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, run, seeds


def test_softmax_is_near_the_real_one() -> None:
    random = np.random.default_rng(4)
    x = random.integers(-128, 128, (40, 10)).astype(np.int8)
    scale = 0.07
    mantissa, exponent = math.frexp(scale * 2**26)
    attrs = ops.Softmax(1, Rescale(round(mantissa * 2**31), exponent), -(2**30))
    result = run(attrs, [x], (40, 10)).astype(np.float64)
    e = np.exp((x - x.max(axis=1, keepdims=True).astype(np.float64)) * scale)
    expected = np.clip(e / e.sum(axis=1, keepdims=True) * 256 - 128, -128, 127)
    assert np.abs(result - expected).max() < 0.51


def softmax_of(shape: tuple[int, ...], dim: int, attrs: ops.Softmax) -> Graph:
    net = Net()
    return net.finish(net.add(replace(attrs, dim=dim), [net.input(shape)], shape))


def of_scale(scale: float) -> ops.Softmax:
    """As quantizers have it."""
    mantissa, shift = math.frexp(scale * 2**26)
    return ops.Softmax(1, Rescale(round(mantissa * 2**31), shift), -(31 * 2**26 >> shift))


SOFTMAX = ops.Softmax(0, Rescale(1717986918, 22), -248)
SLOW = of_scale(0.005)  # without factors


@pytest.mark.parametrize(("scale", "shift", "diff_min"), [(1 << 30, 20, -255), (1717986918, 22, -248),
                                                          (2**31 - 1, 23, -3), (1 << 30, 22, 0)])  # fmt: skip
@pytest.mark.parametrize(("shape", "dim"), [((65536, 2), 1), ((256, 2, 256), 1), ((2, 65536), 0)])
def test_softmax_over_two_elements(
    executor: PlanExecutor, shape: tuple[int, ...], dim: int, scale: int, shift: int, diff_min: int
) -> None:
    """Of all pairs of codes."""
    graph = softmax_of(shape, dim, ops.Softmax(dim, Rescale(scale, shift), diff_min))
    codes = np.arange(-128, 128)
    pairs = np.stack(np.broadcast_arrays(codes[:, None], codes), axis=-1).reshape(-1, 2)
    whole = {1: pairs, 0: pairs.T}[dim]
    if len(shape) == 3:
        whole = np.moveaxis(pairs.reshape(256, 256, 2), -1, 1)
    inputs = [np.ascontiguousarray(whole.astype(np.int8))]
    plan = make_plan(graph, Target.parse("host"))
    assert [call.kernel.op for step in plan.steps for call in step.calls] == ["softmax_two"]
    (got,), (expected,) = executor.run(plan, inputs), run_graph(graph, inputs)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"])
def test_which_softmax_has_a_table_of_two(cpu: str) -> None:
    pair = "softmax_pair" if cpu == "cortex-m55" else "softmax_two"
    for shape, kernel in (((32, 2), "softmax_two"), ((1, 2), pair), ((32, 3), "")):
        (step,) = make_plan(softmax_of(shape, 1, SOFTMAX), Target.parse(cpu)).steps
        taken = step.calls[0].kernel.op
        assert taken == kernel or (not kernel and taken not in ("softmax_pair", "softmax_two"))


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3"])
def test_which_softmax_has_a_table_of_exponentials(cpu: str) -> None:
    """From 40 elements on, or 20 in portable C, of all that share it; from the first with OPTIMIZE speed."""
    columns = 1 if cpu == "cortex-m55" else 3  # where rows have another table
    most = (19 if cpu == "cortex-m3" else 39) // columns

    def taken(*sizes: int, optimize: Optimize = Optimize.BALANCED) -> list[str]:
        net = Net()
        outs = []
        for number, size in enumerate(sizes):
            shape = (size, columns)
            attrs = SLOW if cpu == "cortex-m55" else SOFTMAX
            attrs = replace(attrs, dim=0, diff_min=-200 if number == 2 else -248)
            outs.append(net.add(attrs, [net.input(shape)], shape))
        plan = make_plan(net.finish(*outs), Target.parse(cpu), optimize=optimize)
        return [call.kernel.op for step in plan.steps for call in step.calls]

    assert taken(most) == ["softmax"]
    assert taken(most, optimize=Optimize.SPEED) == ["softmax_table"]
    assert taken(most + 1) == ["softmax_table"]
    shared = taken(most // 2 + 2, most // 2 + 2, most)
    assert shared == ["softmax_table", "softmax_table", "softmax"]


def test_which_rows_have_a_folded_table() -> None:
    """Short ones that are worth its bytes: the fewer, the larger the scale is."""

    def taken(
        shape: tuple[int, int], shift: int = 22, cpu: str = "cortex-m4", **how: Optimize
    ) -> str:
        rescale, diff_min = Rescale(1717986918, shift), -min(255, (1 << 31 - shift) - 1)
        attrs = replace(SOFTMAX, rescale=rescale, diff_min=diff_min)
        (step,) = make_plan(softmax_of(shape, 1, attrs), Target.parse(cpu), **how).steps
        return step.calls[0].kernel.op

    for cpu in ("cortex-m0", "cortex-m3"):
        assert [taken((1, size), cpu=cpu) for size in (3, 4, 40, 41)] == [
            *("softmax", "softmax_rows", "softmax_rows", "softmax_table"),
        ]

    assert [taken((1, size)) for size in (7, 8, 64, 65)] == [
        *("softmax_blocks_of_seven", "softmax_rows", "softmax_rows", "softmax_table"),
    ]
    assert [taken((1, size), 21) for size in (8, 17, 18)] == [
        *("softmax_blocks", "softmax_blocks", "softmax_rows"),
    ]
    assert [taken((99, size)) for size in (7, 8, 24, 25)] == [
        *("softmax_seven", "softmax_rows", "softmax_rows", "softmax_table"),
    ]
    assert taken((1, 7), optimize=Optimize.SPEED) == "softmax_seven"
    assert taken((1, 10), optimize=Optimize.SPEED) == "softmax_rows"


@pytest.mark.parametrize("scale", np.geomspace(0.003, 30, 25))
def test_a_folded_table_gives_the_same_results(scale: float) -> None:
    mantissa, exponent = math.frexp(scale * 2**26)
    rescale = Rescale(round(mantissa * 2**31), exponent)
    random = np.random.default_rng(round(1000 * scale))
    for size in (4, 10, 31, 64):
        attrs = ops.Softmax(1, rescale, -((1 << 31 - exponent) - 1))
        graph = softmax_of((200, size), 1, attrs)
        x = random.integers(-128, 128, (200, size))
        x[::3] = np.clip(x[::3] // 8 + random.integers(0, 3, x[::3].shape) * 60, -128, 127)
        table = folded_softmax_table(rescale, attrs.diff_min)
        assert table is not None
        (expected,) = run_graph(graph, [x.astype(np.int8)])
        np.testing.assert_array_equal(by_folded_table(x, table), expected)


def test_an_exponential_that_no_folded_table_may_have() -> None:
    """It is half of a share, for which sums that are powers of two would need another product."""
    attrs = replace(SOFTMAX, rescale=Rescale(1887479040, 24), diff_min=-127)
    assert folded_softmax_table(attrs.rescale, attrs.diff_min) is None
    (step,) = make_plan(softmax_of((9, 10), 1, attrs), Target.parse("cortex-m4")).steps
    assert step.calls[0].kernel.op == "softmax_table"


def by_folded_table(x: np.ndarray, table: np.ndarray) -> np.ndarray:
    """What `put_rows` of kernels/src/activation/softmax.inc makes of rows."""
    factor, _, count, _ = table[:4].tolist()
    place = count + x - x.max(-1, keepdims=True)
    are_lower = place <= 0
    entries = table[4:].astype(np.int64) + 2**31
    twice = entries[np.where(are_lower, np.maximum(place + count, 0), place)]
    twice = np.where(are_lower, (twice * factor + 2**31) >> 32, twice)
    total = ((twice + 2**12) >> 13).sum(-1, keepdims=True)
    zeros = count_leading_zeros(total)
    reciprocal = one_over_one_plus((total << zeros) - 2**31)
    product = (twice * reciprocal + 2**31) >> 32
    return np.minimum(rounding_shift(product, 35 - zeros), 255) - 128


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_which_softmax_has_no_kernel_of_few_elements(cpu: str) -> None:
    """Long ones, and those whose differences of codes may have no exponent."""
    few = "mve" if cpu == "cortex-m55" else "dsp"
    small = replace(SOFTMAX, rescale=Rescale(1 << 30, 0))
    medium = SLOW if cpu == "cortex-m55" else SOFTMAX
    for attrs, size, isa in ((medium, 64, few), (SOFTMAX, 65, "scalar"), (small, 4, "scalar")):
        graph = softmax_of((1, size), 1, attrs)
        plan = make_plan(graph, Target.parse(cpu), optimize=Optimize.SIZE)
        (call,) = (call for step in plan.steps for call in step.calls)
        assert call.kernel.symbol == f"cortexm_softmax_s8_{isa}"


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3"])
def test_which_softmax_has_its_elements_in_registers(cpu: str) -> None:
    """Of three to seven, wherever they lie."""
    short, six, seven = "softmax_short", "softmax_six", "softmax_seven"
    shapes = {(32, 2): "softmax_two", (32, 3): short, (5, 16): short, (32, 5): short}
    shapes |= {(11, 6): six, (6, 16): six, (7, 16): seven, (16, 7): seven, (8, 32): "softmax_table"}
    for shape, kernel in shapes.items():
        dim = int(shape[0] > shape[1])
        (step,) = make_plan(softmax_of(shape, dim, SOFTMAX), Target.parse(cpu)).steps
        taken = step.calls[0].kernel.op
        if cpu == "cortex-m4":
            assert taken == kernel
        else:
            assert taken not in (short, six, seven)


def test_check_finds_a_wrong_table_of_two() -> None:
    plan = make_plan(softmax_of((32, 2), 1, SOFTMAX), Target.parse("host"))
    (table,) = plan.constants
    check_plan(plan)
    for place in (0, 255, 510):
        data = table.data.copy()
        data.reshape(-1)[place] ^= 1
        with pytest.raises(CortexMError, match="other codes"):
            check_plan(replace(plan, constants=(replace(table, data=data),)))


@pytest.mark.parametrize(
    ("scale", "most"),
    [(0.009, 760), (0.0125, 620), (0.02, 512), (0.03, 420), (0.0345, 400), (0.05, 284)]
    + [(scale, 256) for scale in (0.07, 0.1, 0.125, 0.1985, 0.33, 1.0, 3.0)],
)
def test_factors_of_exponentials(scale: float, most: int) -> None:
    """Their products are the exponentials, or others without a share that add as much to a sum."""
    attrs = of_scale(scale)
    factors = softmax_factors(attrs.rescale, attrs.diff_min)
    assert factors is not None and factors.nbytes <= most
    exact = softmax_table(attrs.rescale, attrs.diff_min)
    words, block, limit = factors.view(np.uint32).tolist(), -int(factors[1]), int(factors[3])
    first, start = 8 + block, int(factors[2]) // 4 + 8
    corrections = factors[start:].view(np.int8)
    for number, e in enumerate(exact.tolist(), start=-256):
        product = words[start + number // block] * words[8 + number % block] >> 32
        got = product + int(corrections[max(number - limit, 0)])
        is_small = max(e, got) < 2**22 and (e + 2048) >> 12 == (got + 2048) >> 12
        assert got == e or is_small
        assert first <= start + number // block < start
        assert number // block == number * words[0] >> 31  # as the kernels divide


def test_what_has_no_factors() -> None:
    """Exponentials that fall so slowly that corrections are more than bytes."""
    assert softmax_factors(SLOW.rescale, SLOW.diff_min) is None


def test_a_border_has_factors() -> None:
    """Those of blocks that end there, as those below have the factor 0."""
    attrs = replace(of_scale(0.1), diff_min=-60)
    factors = softmax_factors(attrs.rescale, attrs.diff_min)
    assert factors is not None and factors[1] == -61


def test_which_softmax_has_factors() -> None:
    """With MVE few elements, and rows of up to 64 of which a table would save little."""
    rows, columns, table = "softmax_factors", "softmax_factor_columns", "softmax_table"
    shapes = {(1, 10): rows, (1, 64): rows, (1, 65): table, (2, 10): rows, (4, 4): columns}
    shapes |= {(3, 6): columns, (8, 12): "softmax_columns", (1, 2): "softmax_pair", (64, 64): table}
    shapes |= {(1, 3): f"{rows}_of_four", (1, 4): f"{rows}_of_four", (1, 9): rows}
    shapes |= {(1, 5): f"{rows}_of_eight", (1, 8): f"{rows}_of_eight"}
    shapes |= {(2, 5): f"{rows}_of_five", (3, 5): f"{rows}_of_five", (4, 5): columns}
    shapes |= {(6, 5): f"{rows}_of_five", (8, 5): "softmax_columns"}
    for shape, kernel in shapes.items():
        (step,) = make_plan(softmax_of(shape, 1, of_scale(0.1)), Target.parse("cortex-m55")).steps
        assert step.calls[0].kernel.op == kernel
    for attrs, kernel in ((of_scale(0.02), rows), (of_scale(0.01), rows), (SLOW, "softmax")):
        plan = make_plan(softmax_of((1, 10), 1, attrs), Target.parse("cortex-m55"))
        assert plan.steps[0].calls[0].kernel.op == kernel
    # Too many bytes for so few elements, but with OPTIMIZE speed.
    few = softmax_of((1, 4), 1, of_scale(0.01))
    for goal, kernel in ((Optimize.BALANCED, "softmax"), (Optimize.SPEED, f"{rows}_of_four")):
        plan = make_plan(few, Target.parse("cortex-m55"), optimize=goal)
        assert plan.steps[0].calls[0].kernel.op == kernel


def test_a_single_row_beside_others() -> None:
    """Where a model has other softmaxes, a short row takes the code of rows of any number."""
    net = Net()
    outs = [net.add(of_scale(0.1), [net.input(shape)], shape) for shape in ((1, 5), (1, 10))]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    assert {call.kernel.op for step in plan.steps for call in step.calls} == {"softmax_factors"}


def test_rows_of_five_beside_others() -> None:
    """Several of as many rows share their code; where a model has others, that of any columns serves."""
    for second, kernel in (((3, 5), "softmax_factors_of_five"), ((3, 4), "softmax_factor_columns")):
        net = Net()
        outs = [net.add(of_scale(0.1), [net.input(shape)], shape) for shape in ((3, 5), second)]
        plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
        assert {call.kernel.op for step in plan.steps for call in step.calls} == {kernel}


def test_factors_give_the_same_bytes(tmp_path: Path) -> None:
    """On an emulated core: of any codes, of equal ones, and of one that lies above the others."""
    random = np.random.default_rng(3)
    jobs, expected = [], []
    shapes = (
        (1, 1, 1),
        *((1, size, 1) for size in (3, 4, 5, 7, 8)),
        (1, 10, 1),
        (3, 16, 1),
        (1, 64, 1),
        (4, 4, 1),
        *((rows, 5, 1) for rows in (2, 3, 5)),
        (3, 5, 1),
        (2, 3, 4),
        (2, 16, 1),
    )
    for number, (shape, scale) in enumerate(product(shapes, (0.01, 0.02, 0.05, 0.1, 0.1985, 2.0))):
        net = Net()
        graph = net.finish(net.add(of_scale(scale), [net.input(shape)], shape))
        alone = random.integers(-128, -100, shape).astype(np.int8)
        alone[:, :1] = random.integers(-128, 128, (shape[0], 1, shape[2]))
        codes = random.integers(-128, 128, (3, *shape)).astype(np.int8)
        rows = [[each] for each in (*codes, np.full(shape, 7, np.int8), alone)]
        jobs.append(Job(GraphProgram("net", str(number).encode(), made=graph), rows))
        expected.append([run_graph(graph, row) for row in rows])
    for got, wanted in zip(
        run_jobs(jobs, Target.parse("cortex-m55"), tmp_path), expected, strict=True
    ):
        np.testing.assert_array_equal(got, wanted)


def test_check_finds_wrong_factors() -> None:
    plan = make_plan(softmax_of((1, 10), 1, of_scale(0.1)), Target.parse("cortex-m55"))
    (table,) = plan.constants
    check_plan(plan)
    block = -int(table.data.reshape(-1)[1])
    for place in (0, 1, 2, 3, 4, 8, 7 + block, -1):
        data = table.data.copy()
        data.reshape(-1)[place] ^= 1
        with pytest.raises(CortexMError, match="other codes"):
            check_plan(replace(plan, constants=(replace(table, data=data),)))


@pytest.mark.parametrize(
    "scale", [0.014, 0.017, 0.02, 0.03, 0.0345, 0.05, 0.0625, 0.1, 0.1985, 0.33, 1.0, 3.0]
)
@pytest.mark.parametrize("has_limit", [True, False])
def test_exponentials_in_blocks(scale: float, has_limit: bool) -> None:
    """Factors' products are the exponentials, or others without a share that add as much to a sum."""
    attrs = of_scale(scale)
    factors = softmax_blocks(attrs.rescale, attrs.diff_min, has_limit)
    assert factors is not None and factors.nbytes <= 552
    exact = softmax_table(attrs.rescale, attrs.diff_min)
    words, corrections = factors.view(np.uint32).tolist(), factors[74:].view(np.int8)
    limit = words[68] & 255
    assert has_limit or limit == 0
    for number, e in enumerate(exact.tolist()):
        product = words[number % 64] * words[64 + number // 64] >> 32
        got = product + int(corrections[max(number - limit, 0)])
        is_small = max(e, got) < 2**22 and (e + 2048) >> 12 == (got + 2048) >> 12
        assert got == e or is_small


def test_which_softmax_has_blocks() -> None:
    """With DSP instructions few elements in rows, of which a table would save little."""
    few = [f"softmax_blocks_of_{size}" for size in ("three", "four", "five", "six", "seven")]
    shapes = {(1, 3 + place): kernel for place, kernel in enumerate(few)}
    shapes |= {
        (4, 4): few[1],
        (10, 4): "softmax_short",
        (1, 10): "softmax_blocks",
        (1, 2): "softmax_two",
    }
    for (rows, size), kernel in shapes.items():
        graph = softmax_of((rows, size), 1, of_scale(0.02))
        (step,) = make_plan(graph, Target.parse("cortex-m4")).steps
        assert step.calls[0].kernel.op == kernel
    (step,) = make_plan(softmax_of((1, 4), 1, of_scale(0.01)), Target.parse("cortex-m4")).steps
    assert step.calls[0].kernel.op == "softmax"


def test_blocks_give_the_same_bytes(tmp_path: Path) -> None:
    """On an emulated core: of any codes, of equal ones, and of one that lies above the others."""
    random = np.random.default_rng(4)
    jobs, expected = [], []
    shapes = ((3, 3), (4, 4), (2, 5), (1, 6), (5, 7), (1, 8), (2, 9), (1, 10), (1, 19))
    for number, (shape, scale) in enumerate(product(shapes, (0.014, 0.02, 0.035, 0.1, 2.0))):
        net = Net()
        graph = net.finish(net.add(of_scale(scale), [net.input(shape)], shape))
        alone = random.integers(-128, -100, shape).astype(np.int8)
        alone[:, :1] = random.integers(-128, 128, (shape[0], 1))
        codes = random.integers(-128, 128, (3, *shape)).astype(np.int8)
        rows = [[each] for each in (*codes, np.full(shape, 7, np.int8), alone)]
        jobs.append(Job(GraphProgram("net", str(number).encode(), made=graph), rows))
        expected.append([run_graph(graph, row) for row in rows])
    for got, wanted in zip(
        run_jobs(jobs, Target.parse("cortex-m4"), tmp_path), expected, strict=True
    ):
        np.testing.assert_array_equal(got, wanted)


def test_check_finds_wrong_blocks() -> None:
    for size in (5, 10):
        plan = make_plan(softmax_of((1, size), 1, of_scale(0.02)), Target.parse("cortex-m4"))
        (table,) = plan.constants
        check_plan(plan)
        for place in (0, 63, 65, 68, 70, 76):
            data = table.data.copy()
            data.reshape(-1)[place] ^= 1
            with pytest.raises(CortexMError, match="other codes"):
                check_plan(replace(plan, constants=(replace(table, data=data),)))


@pytest.mark.parametrize("function", ops.UNARY_FUNCTIONS)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=seeds)
def test_unary(executor: PlanExecutor, function: str, seed: int) -> None:
    compare_with_kernels(
        executor, unary(seed, function), seed, special=function not in INEXACT_UNARY
    )


@pytest.mark.parametrize("function", INEXACT_UNARY)
def test_library_functions_at_special_values(executor: PlanExecutor, function: str) -> None:
    """Element by element: poles and NaN where the interpreter has them, and a few ulp elsewhere."""
    graph = unary(1, function)
    x = np.concatenate([np.linspace(-9, 9, 181), [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-8]])
    column = np.float32(x).reshape(-1, 1)
    shape = graph.tensors[graph.inputs[0]].shape
    for value in column:
        given_value = np.full(shape, value, np.float32)
        (expected,) = run_graph(graph, [given_value])
        (got,) = executor.run_graph(graph, [given_value])
        with np.errstate(invalid="ignore"):
            error = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        scale = np.spacing(np.maximum(np.abs(expected), np.float32(1.0)))
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        assert (same | (error <= 4 * scale)).all(), (value, got, expected)


@pytest.mark.parametrize("dtype", [DType.F32, DType.S8, DType.S16, DType.S32])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_clamp(executor: PlanExecutor, dtype: DType, seed: int) -> None:
    compare_with_kernels(executor, clamp(seed, dtype), seed, special=True)


@pytest.mark.parametrize("layer", ["softmax"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


def test_element_wise_results_take_the_memory_of_a_dying_operand() -> None:
    net = Net()
    x = net.input((4, 4), DType.F32)
    for _ in range(3):
        x = net.add(ops.Unary("neg"), [x], (4, 4), DType.F32)
    plan = make_plan(simplify(net.finish(x)), Target.parse("any"))
    assert plan.arena_size == 64
