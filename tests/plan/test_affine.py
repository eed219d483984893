# SPDX-License-Identifier: Apache-2.0
"""Additions by a function of the codes: only where it gives the operator's codes, for all pairs of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Tensor, ops
from cortexm_tools.ir.fixed_point import Rescale
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.kernels.affine import Affine, FineAffine, affine_of, codes_of
from cortexm_tools.target import Target

from tests.support.graphs import Net

RESULT = Tensor("y", DType.S8, (1, 1, 1, 1), (0, 1, 2, 3))


def rescale(factor: float) -> Rescale:
    mantissa, exponent = np.frexp(factor)
    return Rescale(int(mantissa * 2**31), int(exponent))


def addition(random: np.random.Generator) -> ops.Add:
    """A sum as it is quantized: the scales of both operands beside the result's, and zero points."""
    a, b = np.exp(random.normal(size=2))
    larger = 2 * max(a, b)
    out = larger * random.uniform(0.2, 1.1)
    zeros = [int(z) for z in random.integers(-128, 128, 3)]
    return ops.Add(
        *(zeros[0], rescale(a / larger)),
        *(zeros[1], rescale((-b if random.random() < 0.2 else b) / larger)),
        *(zeros[2], rescale(larger / (out * 2**20))),
        *(-128, 127),
    )


def test_most_sums_are_such_functions() -> None:
    random = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        attrs = addition(random)
        affine = affine_of(attrs, RESULT)
        if affine is not None:
            assert np.array_equal(affine.codes(), codes_of(attrs, RESULT))
            assert affine.fits
            assert max(abs(affine.a_factor), abs(affine.b_factor)) < 2**23
            found += 1
    assert found >= 95


def test_no_factor_has_more_than_24_bits() -> None:
    """An operand whose codes are worth four of the result's each."""
    assert not Affine(2**23, 0, 0).fits and not Affine(0, -(2**23), 0).fits
    assert Affine(2**23 - 1, 0, 0).fits and Affine(0, 1 - 2**23, 0).fits


def test_a_finer_function_is_taken_where_there_is_one() -> None:
    """Two sums of MobileNetV2, of which the first one has no function of 21 bits."""
    only_fine, both = (
        ops.Add(
            *(a, Rescale(multiplier, -1), b, Rescale(1 << 30, 0), out, Rescale(factor, -19)),
            *(-128, 127),
        )
        for a, multiplier, b, out, factor in (
            (-4, 1757120969, -7, -11, 1592980755),
            (-3, 2036374810, 7, 0, 1581130633),
        )
    )
    coarse = replace(both, out_rescale=rescale(2**-18))  # its sums are too large for the finer one
    assert affine_of(only_fine, RESULT) is None and affine_of(coarse, RESULT, FineAffine) is None
    for attrs in (only_fine, both):
        fine = affine_of(attrs, RESULT, FineAffine)
        assert fine is not None and np.array_equal(fine.codes(), codes_of(attrs, RESULT))

    def kernels(*sums: ops.Add) -> list[str]:
        net = Net()
        x, y = net.input((1, 8, 3, 3)), net.input((1, 8, 3, 3))
        for attrs in sums:
            x = net.add(attrs, [x, y], (1, 8, 3, 3))
        plan = make_plan(net.finish(x), Target.parse("cortex-m4"))
        return [call.kernel.op.removeprefix("add_affine") for s in plan.steps for call in s.calls]

    assert kernels(only_fine, both) == ["_fine", "_fine"]
    assert kernels(coarse, both, only_fine) == ["", "_fine", "_fine"]


def test_no_function_knows_a_clamp() -> None:
    attrs = replace(addition(np.random.default_rng(1)), act_min=-100)
    assert affine_of(attrs, RESULT) is None


def plan_of(attrs: ops.Add, cpu: str) -> Plan:
    net = Net()
    a, b = net.input((1, 8, 3, 3)), net.input((1, 8, 3, 3))
    return make_plan(net.finish(net.add(attrs, [a, b], (1, 8, 3, 3))), Target.parse(cpu))


@pytest.mark.parametrize("half", [1 << 30, (1 << 30) - 777])
@pytest.mark.parametrize("channels", [1, 3, 4, 12])
def test_short_operands_take_the_kernel_that_repeats_them(channels: int, half: int) -> None:
    attrs = ops.Add(
        *(3, Rescale(1518500250, -1)),
        *(-5, Rescale(half, 0)),
        *(0, Rescale(1610612736, -19)),
        *(-128, 127),
    )
    found = set()
    for cpu in ("cortex-m4", "cortex-m3", "cortex-m55"):
        net = Net()
        x, y = net.input((1, channels, 12, 12)), net.input((1, channels, 1, 1))
        graph = net.finish(net.add(attrs, [x, y], (1, channels, 12, 12)))
        plan = make_plan(graph, Target.parse(cpu))
        ops_of = {call.kernel.op for step in plan.steps for call in step.calls}
        found |= {(cpu, "add_affine" in ops_of)}
    assert affine_of(attrs, RESULT) is not None
    repeated = channels in (3, 4)
    assert found == {("cortex-m4", not repeated), ("cortex-m3", True), ("cortex-m55", True)}


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"])
def test_a_plan_with_another_function_is_refused(cpu: str) -> None:
    attrs = addition(np.random.default_rng(2))
    plan = plan_of(attrs, cpu)
    ((call,),) = (step.calls for step in plan.steps if step.calls)
    assert call.kernel.op == "add_affine_fine"
    clamped = plan_of(replace(attrs, act_max=100), cpu)
    assert [call.kernel.op for step in clamped.steps for call in step.calls] == ["add"]
    for name in ("a_factor", "constant", "a_period"):
        wrong = {**call.int_fields, name: call.int_fields[name] + 999}
        fields = tuple(wrong.items())
        steps = tuple(replace(step, calls=(replace(call, fields=fields),)) for step in plan.steps)
        with pytest.raises(CortexMError, match="would add codes to others than the model's"):
            check_plan(replace(plan, steps=steps))
