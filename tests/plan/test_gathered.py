# SPDX-License-Identifier: Apache-2.0
"""Convolutions of few channels or outputs from a copy of the image: which may be, and the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.contracts import check_contracts
from cortexm_tools.plan.kernels.contract import named
from cortexm_tools.plan.kernels.facts import Known
from cortexm_tools.plan.kernels.table import variants
from cortexm_tools.plan.types import Plan, ScratchArg
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net, conv_fields
from tests.support.ways import taking, using

GATHERED, DIRECT = "conv2d_gathered", "conv2d_direct"
M55 = Target.parse("cortex-m55")

# Groups, inputs and outputs of a group, rows and columns, kernel, stride, dilation.
LAYERS = (
    (8, 1, 4, (8, 8), (3, 3), 1, 1),
    (3, 1, 2, (7, 8), (3, 3), 1, 1),
    (5, 1, 3, (6, 11), (3, 3), 2, 1),
    (1, 1, 8, (15, 13), (3, 3), 1, 2),
    (1, 1, 8, (15, 13), (3, 3), 3, 1),
    (1, 3, 7, (8, 8), (3, 3), 1, 1),
    (1, 5, 7, (15, 13), (3, 3), 2, 2),
    (1, 2, 3, (7, 8), (3, 5), 1, 3),
    (4, 2, 2, (8, 8), (3, 3), 1, 1),
    (1, 3, 7, (9, 5), (3, 1), 1, 1),
    (2, 2, 3, (8, 11), (5, 1), 1, 2),
    (1, 1, 5, (12, 12), (5, 1), 1, 1),
    (1, 5, 7, (15, 13), (3, 3), 1, 3),
    (8, 1, 4, (7, 12), (3, 3), 1, 1),
    (1, 1, 5, (5, 12), (4, 3), 1, 2),
    (3, 4, 1, (8, 8), (3, 3), 1, 1),
    (1, 8, 1, (8, 8), (3, 3), 1, 1),
    (1, 21, 2, (7, 9), (5, 1), 2, 1),
    (1, 64, 3, (8, 8), (1, 1), 1, 1),
    (1, 48, 3, (6, 7), (3, 1), 1, 3),
    (1, 33, 1, (6, 10), (2, 3), 1, 1),
)
COUNTS = {GATHERED: 17, DIRECT: 21}  # of them that each kernel may compute


def graph_of(relu: bool = False) -> Graph:
    net = Net("gathered", 11)
    outs = []
    for groups, in_c, out_c, size, kernel, stride, dilation in LAYERS:
        x = net.input((1, groups * in_c, *size))
        top, left = (side // 2 * dilation for side in kernel)
        outs.append(
            net.conv(
                x,
                groups * out_c,
                kernel,
                (stride, stride),
                (top, left, top, left),
                groups=groups,
                dilation=(dilation, dilation),
                relu=relu,
            )
        )
    return net.finish(*outs)


def taken(plan: Plan) -> list[str]:
    return [call.kernel.op for step in plan.steps for call in step.calls]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kernel", COUNTS)
def test_copied_images_give_the_same_bytes(kernel: str, relu: bool, tmp_path: Path) -> None:
    graph = graph_of(relu)
    with taking(using(kernel)):
        plan = check_plan(make_plan(graph, M55))
        assert taken(plan).count(kernel) == COUNTS[kernel]
        assert_same_bytes(graph, M55, tmp_path, seed=2)


def test_what_fits() -> None:
    def fits(op: str, **fields: int) -> bool:
        (kernel,) = (k for k in variants("conv2d", "s8", M55) if k.op == op)
        return kernel.takes(Known({**fields, "greatest_shift": -1}))

    for op in (GATHERED, DIRECT):
        assert fits(op, **conv_fields(2, 8, 1))
        assert not fits(op, **conv_fields(1, 1, 9, out_pixel_stride=9363))
    # From a window's first input to that three rows below, and six pixels further on: 3 * 3 * columns + 24.
    assert fits(GATHERED, **conv_fields(1, 3, 1, dilation_h=3, out_w=23))
    assert not fits(GATHERED, **conv_fields(1, 3, 1, dilation_h=3, out_w=24))
    # Fifteen inputs of a row have a vector of their own.
    assert fits(GATHERED, **conv_fields(1, 5, 1, dilation_h=3, out_w=24))
    # Columns apart are in no piece, rows apart may be.
    assert fits(DIRECT, **conv_fields(1, 5, 1, dilation_h=3, out_w=16))
    assert not fits(DIRECT, **conv_fields(1, 5, 1, dilation_w=2))
    assert fits(DIRECT, **conv_fields(1, 5, 1, kernel_w=1, dilation_w=2))


def test_an_image_that_is_read_itself_takes_no_scratch() -> None:
    inside = {"in_y0": 0, "in_x0": 0, "kernel_h": 1, "kernel_w": 1}
    least = 12 * 3 + 4 * 2  # of each output, and of two sixteens of inputs
    assert named()["direct"](conv_fields(1, 64, 3, **inside)) == least
    for change in ({"in_x0": -1}, {"in_row_stride": 520}, {"out_w": 7}, {"kernel_w": 2}):
        assert named()["direct"](conv_fields(1, 64, 3, **{**inside, **change})) > 7 * 64


@pytest.mark.parametrize("kernel", COUNTS)
def test_check_finds_far_inputs_and_little_scratch(kernel: str) -> None:
    with taking(using(kernel)):
        plan = make_plan(graph_of(), M55)
    for step in plan.steps:
        (call,) = step.calls
        if call.kernel.op != kernel:
            continue
        check_contracts(plan, step)
        along = "w" if call.int_fields["kernel_w"] > 1 else "h"
        far = (("stride_w", 200), (f"dilation_{along}", 200), ("out_pixel_stride", 9363))
        if kernel == DIRECT:
            far = (("out_pixel_stride", 9363),)
            if call.int_fields["kernel_w"] > 1:
                far += (("dilation_w", 2),)
        for name, value in far:
            fields = tuple((k, value if k == name else v) for k, v in call.fields)
            with pytest.raises(CortexMError, match=f"{call.kernel.symbol} requires"):
                check_contracts(plan, replace(step, calls=(replace(call, fields=fields),)))
        args = tuple(
            ScratchArg(arg.nbytes - 1) if isinstance(arg, ScratchArg) else arg for arg in call.args
        )
        with pytest.raises(CortexMError, match="not enough scratch"):
            check_contracts(plan, replace(step, calls=(replace(call, args=args),)))
