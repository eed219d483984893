# SPDX-License-Identifier: Apache-2.0
"""Sums of int16 layers: 32 bits only where weights and biases prove that they suffice; and multipliers:
16 bits only where their other 16 are zero; and products of two taps in 16 bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, contiguous, ops
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.plan.check.sums import SUMS_32, largest_int16_sum
from cortexm_tools.plan.kernels.table import variants
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.random_graphs import random_wide
from tests.support.recurrent import add_layer
from tests.support.ways import taking, using, where


def with_largest_sum(graph: Graph, number: int, largest: int) -> Graph:
    """The same graph with so large a bias of one layer that it has this bound."""
    op = graph.ops[number]
    tensor = graph.tensors[op.inputs[2]]
    assert tensor.data is not None
    tensors = list(graph.tensors)

    def filled(value: int) -> Graph:
        data = np.full(tensor.shape, value, np.int64)
        tensors[op.inputs[2]] = replace(tensor, dtype=DType.S64, data=data)
        return replace(graph, tensors=tuple(tensors))

    weights = largest_int16_sum(filled(0), op)
    assert weights is not None
    return filled(-(largest - weights))


FOUR_BITS = where(lambda attrs, calls: all(call.kernel.types.endswith("w4") for call in calls))


def kernels_of(plan: Plan, result: int) -> set[str]:
    """Those that multiply for a tensor. (Tensors keep their numbers where operators become gates.)"""
    calls = [call for step in plan.steps for call in step.calls if call.macs]
    return {call.kernel.op for call in calls if call.result and call.result.index == result}


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
def test_sums_of_32_bits_need_a_proof(cpu: str) -> None:
    """One more than fits takes the kernel with 64 bits; the plan with 32 is refused."""
    found = 0
    for seed in range(16):
        graph = simplify(random_wide(seed))
        for number, op in enumerate(graph.ops):
            if largest_int16_sum(graph, op) is None or len(op.inputs) < 3:
                continue
            fits = make_plan(with_largest_sum(graph, number, SUMS_32), Target.parse(cpu))
            beyond = with_largest_sum(graph, number, SUMS_32 + 1)
            assert not any(name.endswith("_wide") for name in kernels_of(fits, op.outputs[0]))
            with pytest.raises(CortexMError, match=r"sums of up to 2,147,483,648 do not fit"):
                check_plan(replace(fits, graph=beyond))
            wide = kernels_of(make_plan(beyond, Target.parse(cpu)), op.outputs[0])
            assert wide and all(name.endswith("_wide") for name in wide)
            found += 1
            break
    assert found > 8


def test_multipliers_of_16_bits_need_zeros() -> None:
    """Weights of 4 bits are packed where every multiplier has 16 bits; a plan that does so for others is
    refused."""

    class FourBits(Net):
        bits_less = 4

    net = FourBits()
    graph = net.finish(net.conv(net.input((1, 8, 4, 4)), 8))
    (op,) = graph.ops
    assert isinstance(op.attrs, ops.Conv2d)
    first, *others = op.attrs.rescales
    more = (replace(first, multiplier=first.multiplier + 1), *others)
    changed = replace(graph, ops=(replace(op, attrs=replace(op.attrs, rescales=more)),))
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"):
        with taking(FOUR_BITS):
            plans = [make_plan(each, Target.parse(cpu)) for each in (graph, changed)]
        types = [
            {call.kernel.types for step in plan.steps for call in step.calls} for plan in plans
        ]
        assert types == [{"s8w4"}, {"s8"}]
        with pytest.raises(CortexMError, match="requires narrow_multipliers"):
            step = replace(plans[0].steps[0], op=changed.ops[0])
            check_plan(replace(plans[0], graph=changed, steps=(step,)))
        weight = graph.tensors[op.inputs[1]]
        assert weight.data is not None
        tensors = list(graph.tensors)
        tensors[op.inputs[1]] = replace(weight, data=weight.data * 2)
        with pytest.raises(CortexMError, match="weights are too large for the 4 bits of"):
            check_plan(replace(plans[0], graph=replace(graph, tensors=tuple(tensors))))


@pytest.mark.parametrize("codes", [DType.S8, DType.S16])
def test_both_matrices_of_a_recurrent_layer_need_4_bits(codes: DType) -> None:
    net = Net()
    graph = net.finish(
        *add_layer(net, ops.Gru, net.input((2, 1, 8), codes, contiguous(3)), 8, most=7)
    )
    (op,) = graph.ops
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0"):
        with taking(FOUR_BITS):
            plan = make_plan(graph, Target.parse(cpu))
        ((call,),) = [step.calls for step in plan.steps]
        assert call.kernel.types == f"{codes.value}w4"
        for index in op.inputs[-3:-1]:
            weight = graph.tensors[index]
            assert weight.data is not None
            tensors = list(graph.tensors)
            tensors[index] = replace(weight, data=weight.data * 2)
            changed = replace(graph, tensors=tuple(tensors))
            with pytest.raises(CortexMError, match="weights are too large for the 4 bits of"):
                check_plan(replace(plan, graph=changed))
            with taking(FOUR_BITS):
                (step,) = make_plan(changed, Target.parse(cpu)).steps
            assert step.calls[0].kernel.types == codes.value


@pytest.mark.parametrize(
    ("cpu", "kernel"),
    [
        ("cortex-m55", "depthwise_conv2d_3x3"),
        ("cortex-m4", "conv2d_symmetric"),
        ("cortex-m4", "conv2d_3x3_3x2"),
        ("cortex-m33", "conv2d_2x4"),
    ],
)
def test_pairs_in_16_bits_need_weights_from_minus_127(cpu: str, kernel: str) -> None:
    """Products of two taps are added in 16 bits, and weights of two channels kept there, where no weight
    is -128; a plan that does so for others is refused."""
    net = Net("pairs", 0)
    x = net.input((1, 16, 5, 5))
    graph = net.finish(net.conv(x, 16, (3, 3), depthwise="depthwise" in kernel))
    (op,) = graph.ops
    weight = graph.tensors[op.inputs[1]]
    assert weight.data is not None

    def with_weights(first: int, second: int) -> Graph:
        assert weight.data is not None
        data = weight.data.clip(-127)
        data.reshape(9, -1)[:2, 3] = first, second
        tensors = list(graph.tensors)
        tensors[op.inputs[1]] = replace(weight, data=data)
        return replace(graph, tensors=tuple(tensors))

    with taking(using(kernel)):
        plans = [make_plan(with_weights(-127, w), Target.parse(cpu)) for w in (-127, -128)]
    names = [[call.kernel.op for step in plan.steps for call in step.calls] for plan in plans]
    assert names[0] == [kernel] and kernel not in names[1]
    check_plan(plans[0])
    with pytest.raises(CortexMError, match="requires least_weight >= -127"):
        check_plan(replace(plans[0], graph=with_weights(-128, -128)))


def test_linear_in_16_bits_needs_weights_from_minus_127() -> None:
    net = Net("row", 0)
    graph = net.finish(net.linear(net.input((1, 20)), 8))
    index = graph.ops[0].inputs[1]
    weight = graph.tensors[index]
    assert weight.data is not None

    def with_least(least: int) -> Graph:
        assert weight.data is not None
        data = weight.data.clip(-127)
        data[3, 5] = least
        tensors = list(graph.tensors)
        tensors[index] = replace(weight, data=data)
        return replace(graph, tensors=tuple(tensors))

    with taking(using("linear_symmetric")):
        plans = [make_plan(with_least(least), Target.parse("cortex-m4")) for least in (-127, -128)]
    names = [[call.kernel.op for step in plan.steps for call in step.calls] for plan in plans]
    assert names[0] == ["linear_symmetric"] != names[1]
    check_plan(plans[0])
    with pytest.raises(CortexMError, match="linear_symmetric_s8_dsp requires least_weight >= -127"):
        check_plan(replace(plans[0], graph=with_least(-128)))


def test_two_pixels_written_as_one_lie_side_by_side() -> None:
    """The kernel that writes them so makes no part of a concatenation of channels."""
    net = Net("depthwise", 0)
    x = net.input((1, 8, 4, 6))
    parts = [net.conv(x, 8, (3, 3), padding=(1, 1, 1, 1), depthwise=True) for _ in range(2)]
    with taking(where(lambda attrs, calls: calls[0].kernel.pack == "depthwise16")):
        plan = make_plan(net.finish(net.concat(parts, 1)), Target.parse("cortex-m55"))
    (step, *_) = [step for step in plan.steps if step.calls[0].kernel.pack == "depthwise16"]
    assert step.calls[0].int_fields["out_pixel_stride"] == 8
    fields = (dict(step.calls[0].fields) | {"out_pixel_stride": 16}).items()
    apart = replace(step, calls=(replace(step.calls[0], fields=tuple(fields)),))
    with pytest.raises(CortexMError, match="requires in_c % 16 == 0 or"):
        check_contracts(plan, apart)
    kernels = variants("depthwise_conv2d", "s8", plan.target)
    relu = next(kernel for kernel in kernels if kernel.op.endswith("_relu"))
    clamped = replace(step, calls=(replace(step.calls[0], kernel=relu),))
    with pytest.raises(
        CortexMError, match="_relu_s8_mve requires out_zero_point == act_min == -128"
    ):
        check_contracts(plan, clamped)


@pytest.mark.parametrize(
    ("relu", "inputs", "outputs", "kernel", "few"),
    [
        (True, 24, 20, 1, True),
        (False, 24, 20, 1, False),
        (True, 20, 20, 1, False),
        (True, 24, 18, 1, False),
        (True, 24, 20, 2, False),
    ],
)
def test_pixels_of_few_inputs(
    relu: bool, inputs: int, outputs: int, kernel: int, few: bool
) -> None:
    """Which end as after a ReLU may have a kernel of their own."""
    net = Net("pixels", 0)
    x = net.input((1, inputs, 20, 21))
    window = (kernel, kernel)
    y = net.conv(x, outputs, window, padding=(0, 0, kernel - 1, kernel - 1), relu=relu)
    with taking(using("conv2d_1x1_c32")):
        plan = check_plan(make_plan(net.finish(y), Target.parse("cortex-m55")))
    (step,) = plan.steps
    (call,) = step.calls
    assert (call.kernel.op == "conv2d_1x1_c32") == few
    if few:
        for changed in ({"in_c": 40}, {"kernel_w": 3}, {"in_x0": -1}, {"out_c": 6}):
            fields = tuple((dict(call.fields) | changed).items())
            other = replace(step, calls=(replace(call, fields=fields),))
            with pytest.raises(CortexMError, match="conv2d_1x1_c32_s8_mve requires"):
                check_contracts(plan, other)


# Inputs, outputs, groups, rows and columns, stride.
UNCLAMPED = (
    (4, 24, 1, (20, 21), 1),
    (6, 36, 1, (43, 39), 2),
    (2, 32, 1, (24, 24), 1),
    (8, 43, 1, (13, 17), 1),
    (13, 48, 1, (11, 19), 1),
    (16, 80, 1, (20, 13), 1),
    (24, 60, 3, (9, 15), 1),
    (24, 68, 4, (9, 9), 1),
)


def test_pixels_of_up_to_16_inputs_without_a_clamp(tmp_path: Path) -> None:
    """Whatever their zero point is, and in groups, too."""
    net = Net("unclamped", 7)
    outs = []
    for inputs, outputs, groups, size, stride in UNCLAMPED:
        x = net.input((1, inputs, *size))
        shared: dict[str, Any] = {"groups": groups, "relu": stride == 2}
        outs.append(net.conv(x, outputs, (1, 1), (stride, stride), (0, 0, 0, 0), **shared))
    graph, m55 = net.finish(*outs), Target.parse("cortex-m55")

    def with_clamp(highest: int) -> Graph:
        changed = [
            replace(op, attrs=replace(op.attrs, act_max=highest))
            for op in graph.ops
            if isinstance(op.attrs, ops.Conv2d)
        ]
        return replace(graph, ops=tuple(changed))

    def kernels_of(plan: Plan) -> list[str]:
        return [call.kernel.op for step in plan.steps for call in step.calls]

    few = "conv2d_1x1_c16"
    with taking(using(few)):
        assert few not in kernels_of(make_plan(with_clamp(126), m55))
        plan = check_plan(make_plan(with_clamp(127), m55))
        assert_same_bytes(with_clamp(127), m55, tmp_path, seed=8)
    assert kernels_of(plan) == [few] * len(UNCLAMPED)
    step = plan.steps[0]
    (call,) = step.calls
    for changed in ({"in_c": 17}, {"kernel_w": 3}, {"in_x0": -1}, {"out_c": 3}, {"act_max": 126}):
        fields = tuple((dict(call.fields) | changed).items())
        with pytest.raises(CortexMError, match="conv2d_1x1_c16_s8_mve requires"):
            check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))


def test_outputs_in_fours_need_no_code_for_others() -> None:
    net = Net("parts", 5)
    x = net.input((1, 16, 9, 9))
    outs = [net.conv(x, 20), net.conv(x, 18), net.conv(net.input((1, 32, 9, 9)), 32, groups=2)]
    own = where(
        lambda attrs, calls: (
            calls[0].kernel.op == "conv2d_ungrouped"
            and calls[0].int_fields["out_c"] == len(attrs.rescales)
            and calls[0].int_fields["groups"] == attrs.groups
        )
    )
    with taking(own):
        plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    step = plan.steps[0]
    assert [each.calls[0].kernel.op == "conv2d_ungrouped" for each in plan.steps] == [
        True,
        False,
        False,
    ]
    (call,) = step.calls
    check_contracts(plan, step)
    for changed in ({"out_c": 18}, {"groups": 2}):
        fields = tuple((dict(call.fields) | changed).items())
        with pytest.raises(CortexMError, match="conv2d_ungrouped_s8_mve requires"):
            check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))
