# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions in other forms: with which weights, and the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, channels_last, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.linear_map import check_linear_map
from cortexm_tools.plan.forms.float_phases import float_phases
from cortexm_tools.plan.forms.phases import columns_as_one
from cortexm_tools.plan.types import Call, ConstantArg, Field, Plan, ScratchArg, TensorArg
from cortexm_tools.target import Optimize, Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net, rescales
from tests.support.problems import conv_problem
from tests.support.ways import taking, where

# Inputs, outputs, rows and columns, kernel, stride, what is cut off above, left, below and right, rows and
# columns added behind.
LAYERS = (
    (13, 2, (6, 6), (2, 2), (2, 2), (0, 0, 0, 0), (0, 0)),
    (16, 3, (5, 6), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    (8, 1, (4, 7), (4, 4), (2, 2), (1, 1, 1, 1), (0, 0)),
    (3, 5, (6, 5), (5, 5), (3, 3), (1, 1, 1, 1), (1, 1)),
    (7, 2, (6, 6), (2, 3), (3, 3), (0, 0, 0, 0), (0, 0)),
    (5, 4, (3, 8), (1, 2), (1, 4), (0, 0, 0, 0), (0, 2)),
    (4, 1, (6, 6), (3, 3), (1, 2), (2, 1, 0, 1), (0, 1)),
)
OF_STRIDE_1 = (
    (13, 2, (6, 6), (3, 3), (1, 1), (0, 0, 0, 0), (0, 0)),
    (6, 8, (5, 7), (3, 4), (1, 1), (2, 0, 1, 3), (0, 0)),
    (9, 5, (6, 6), (5, 1), (1, 1), (1, 0, 3, 0), (0, 0)),
)
_Layer = tuple[
    int, int, tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, ...], tuple[int, int]
]


Wanted = Callable[[Any, Sequence[Call]], bool]


def graph_of(*layers: _Layer, of: DType = DType.S8, images: int = 1) -> Graph:
    net = Net("transposed", 11)
    outs = []
    for in_c, out_c, size, kernel, stride, cut, surplus in layers:
        x = net.input((images, in_c, *size), of)
        shifts = np.full(out_c, -10 - (7 if of is DType.S16 else 0))
        scales = rescales(net.random.integers(2**30, 2**31, out_c), shifts)
        attrs = ops.TransposeConv2d(
            Window(kernel, stride, cut),  # type: ignore[arg-type]
            *net.zero_points(x, 2),
            scales,
            *of.limits,
        )
        extents = [
            (i - 1) * s + k - cut[d] - cut[d + 2] + more
            for d, (i, s, k, more) in enumerate(zip(size, stride, kernel, surplus, strict=True))
        ]
        inputs = [x, net.codes(out_c, *kernel, in_c), net.biases(x, out_c)]
        outs.append(net.add(attrs, inputs, (images, out_c, *extents)))
    return net.finish(*outs)


def is_of_columns(attrs: Any, calls: Sequence[Call]) -> bool:
    """Whether all phases of the columns are one pixel; where the stride is 1, whether it is a convolution."""
    (call, *others) = calls
    if attrs.window.stride == (1, 1):
        return call.kernel.serves.startswith("conv2d") and not others
    return call.int_fields.get("out_c", 0) > len(attrs.rescales) and not others


def is_of_rows(attrs: Any, calls: Sequence[Call]) -> bool:
    """Whether a convolution makes rows, or two rows, in scratch."""
    return any(call.kernel.serves.startswith("conv2d") for call in calls) and (
        len(calls) > 1 or attrs.window.stride != (1, 1)
    )


def is_of_all_rows(attrs: Any, calls: Sequence[Call]) -> bool:
    """Whether a single one makes all of them, which copies follow."""
    kinds = [call.kernel.serves.startswith("conv2d") for call in calls]
    return kinds[0] and len(kinds) > 1 and not any(kinds[1:])


def found(plan: Plan, wanted: Wanted) -> list[bool]:
    """Which operators are so, by their results; the plan may have them in another order."""
    made = {step.op.outputs[0]: wanted(step.op.attrs, step.calls) for step in plan.steps}
    return [made[index] for index in sorted(made)]


def plan_of(graph: Graph, wanted: Wanted, cpu: str) -> Plan:
    with taking(where(wanted)):
        return make_plan(graph, Target.parse(cpu))


def fields_of(width: int, begin: int, stride: int) -> dict[str, int]:
    return {
        "in_x0": begin,
        "out_h": 16,
        "out_w": width,
        "stride_h": stride,
        "stride_w": stride,
        "dilation_h": 1,
        "dilation_w": 1,
    }


def test_each_column_has_its_taps() -> None:
    weight = np.arange(1, 7, dtype=np.int8).reshape(1, 1, 3, 2)
    problem = conv_problem(weight, fields_of(16, -1, 2), "transpose_conv2d")
    form = columns_as_one(problem)
    assert form is not None and len(form.weight) == 2
    # Output columns 2 g and 2 g + 1; tap 0 of input i is column 2 i - 1, thus of pixel i - 1 the second.
    first, second = form.weight
    assert (first[:, 1] == weight[0, :, 1]).all() and not first[:, 0].any()
    assert (second[:, 0] == weight[0, :, 0]).all() and (second[:, 1] == weight[0, :, 2]).all()
    assert form.fields["in_x0"] == -1 and form.fields["kernel_w"] == 2
    assert form.fields["out_w"] == 8 and form.fields["out_pixel_stride"] == 2
    for width, stride in ((17, 2), (16, 1)):  # columns that are left, and a single phase
        problem = conv_problem(weight, fields_of(width, 0, stride), "transpose_conv2d")
        assert columns_as_one(problem) is None


def compare(graph: Graph, target: Target, folder: Path) -> None:
    """The interpreter's results with those of a plan on the device."""
    random = np.random.default_rng(1)
    inputs = []
    for tensor in (graph.tensors[index] for index in graph.inputs):
        low, high = tensor.dtype.limits
        inputs.append(random.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy))
    program = GraphProgram("transposed", b"", made=graph)
    got = run_jobs([Job(program, [inputs])], target, folder)[0][0]
    for a, b in zip(got, run_graph(graph, inputs), strict=True):
        assert (a == b).all()


@pytest.mark.parametrize("of", [DType.S8, DType.S16])
@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3"])
def test_columns_give_the_same_bytes(cpu: str, of: DType, tmp_path: Path) -> None:
    graph = graph_of(*LAYERS, *OF_STRIDE_1, of=of)
    joined = found(plan_of(graph, is_of_columns, cpu), is_of_columns)
    assert sum(joined[: len(LAYERS)]) >= 4 and all(joined[len(LAYERS) :])
    with taking(where(is_of_columns)):
        compare(graph, Target.parse(cpu), tmp_path)


# Of these rows are made in scratch: columns or rows that are no multiple of the stride, rows without a tap,
# more rows than the last phase has, and of a single row.
OF_ROWS = (
    *LAYERS,
    (13, 2, (6, 6), (3, 3), (2, 2), (0, 0, 0, 0), (0, 0)),
    (3, 5, (6, 6), (5, 5), (3, 3), (0, 0, 0, 0), (0, 0)),
    (13, 2, (6, 6), (2, 3), (3, 3), (0, 0, 0, 0), (0, 0)),
    (8, 3, (1, 19), (1, 3), (1, 2), (0, 1, 0, 0), (0, 0)),
    (4, 12, (5, 4), (4, 4), (2, 2), (1, 1, 1, 1), (0, 0)),
    (13, 2, (6, 6), (2, 3), (3, 3), (2, 0, 0, 0), (0, 0)),
)
# And of these, of stride 1, for two rows as one: also an odd number of them.
OF_PAIRS = (
    (13, 2, (6, 6), (3, 3), (1, 1), (0, 0, 0, 0), (0, 0)),
    (13, 2, (9, 7), (3, 3), (1, 1), (1, 1, 1, 1), (0, 0)),
    (13, 2, (6, 6), (5, 3), (1, 1), (3, 0, 0, 1), (0, 0)),
)


@pytest.mark.parametrize("of", [DType.S8, DType.S16])
@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
@pytest.mark.parametrize("images", [1, 2])
def test_rows_in_scratch_give_the_same_bytes(
    cpu: str, of: DType, images: int, tmp_path: Path
) -> None:
    graph = graph_of(*OF_ROWS, *OF_PAIRS, of=of, images=images)
    rows = found(plan_of(graph, is_of_rows, cpu), is_of_rows)
    assert sum(rows[: len(OF_ROWS)]) >= 9 and sum(rows[len(OF_ROWS) :]) >= 2
    with taking(where(is_of_rows)):
        compare(graph, Target.parse(cpu), tmp_path)


@pytest.mark.parametrize(
    ("layer", "field", "more"),
    [
        *((LAYERS[2], name, 1) for name in ("in_x0", "in_y0", "kernel_w", "out_pixel_stride")),
        *((LAYERS[2], name, 1) for name in ("stride_w", "out_w")),
        *((OF_STRIDE_1[0], name, -1) for name in ("in_x0", "in_y0", "kernel_w", "stride_w")),
    ],
)
def test_taps_that_are_elsewhere_are_found_out(layer: _Layer, field: str, more: int) -> None:
    plan = plan_of(graph_of(layer), is_of_columns, "cortex-m55")
    (step,) = plan.steps
    check_linear_map(plan, step)
    (call,) = step.calls
    fields = tuple((dict(call.fields) | {field: call.int_fields[field] + more}).items())
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(plan, replace(step, calls=(replace(call, fields=fields),)))


@pytest.mark.parametrize(
    ("number", "field", "more"),
    [
        *((0, name, 1) for name in ("in_x0", "in_y0", "kernel_w", "out_pixel_stride", "stride_w")),
        *((0, name, 1) for name in ("stride_h", "dilation_h")),
        *((0, name, -1) for name in ("in_h", "out_w", "kernel_h", "out_c")),
        *((2, name, 1) for name in ("dims", "in_stride", "out_stride")),
    ],
)
@pytest.mark.parametrize("layer", [OF_ROWS[7], OF_PAIRS[0]])
def test_rows_that_are_elsewhere_are_found_out(
    layer: _Layer, number: int, field: str, more: int
) -> None:
    plan = plan_of(graph_of(layer), is_of_all_rows, "cortex-m55")
    (step,) = plan.steps
    check_linear_map(plan, step)
    calls = list(step.calls)
    number = min(number, len(calls) - 1)
    was = dict(calls[number].fields)[field]
    changed: Field = (*was[:-1], was[-1] + more) if isinstance(was, tuple) else int(was) + more
    fields = tuple((dict(calls[number].fields) | {field: changed}).items())
    calls[number] = replace(calls[number], fields=fields)
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(plan, replace(step, calls=tuple(calls)))


def test_rows_that_are_overwritten_or_missing_are_found_out() -> None:
    plan = plan_of(graph_of(OF_ROWS[7]), is_of_rows, "cortex-m55")
    (step,) = plan.steps
    first, *others = step.calls
    *_, made, work = first.args
    assert isinstance(made, ScratchArg) and isinstance(work, ScratchArg)
    over = replace(first, args=(*first.args[:-2], made, replace(work, offset=work.offset - 8)))
    for wrong in ((over, *others), (first, *others[1:])):
        with pytest.raises(CortexMError, match="products of the model"):
            check_linear_map(plan, replace(step, calls=wrong))


@pytest.mark.parametrize("number", [9, 12])  # the last rows of three, and the first ones
def test_other_rows_of_biases_alone_are_found_out(number: int) -> None:
    plan = plan_of(graph_of(OF_ROWS[number]), is_of_rows, "cortex-m55")
    (step,) = plan.steps
    check_linear_map(plan, step)
    (alone,) = (n for n, call in enumerate(step.calls) if isinstance(call.args[0], ConstantArg))
    assert alone == (0 if number == 12 else len(step.calls) - 1)
    copy = step.calls[alone]
    codes, place = copy.args
    assert isinstance(codes, ConstantArg) and isinstance(place, TensorArg)
    others = [
        replace(copy, args=(codes, replace(place, offset=place.offset ^ 2))),
        replace(copy, args=(codes, replace(place, step=2))),
        replace(copy, turns=2),
        replace(copy, fields=tuple((dict(copy.fields) | {"in_stride": (0, 1, 1)}).items())),
    ]
    for wrong in others:
        calls = *step.calls[:alone], wrong, *step.calls[alone + 1 :]
        with pytest.raises(CortexMError, match="products of the model"):
            check_linear_map(plan, replace(step, calls=calls))
    constants = tuple(
        replace(constant, data=constant.data + 1) if constant.name == codes.name else constant
        for constant in plan.constants
    )
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(replace(plan, constants=constants), step)


def test_of_stride_1_they_are_computed_in_bands() -> None:
    """With what follows, as other convolutions are; the check knows which rows they read."""
    net = Net("bands", 1)
    x = net.conv(net.input((1, 2, 40, 8)), 24, (3, 3))
    attrs = ops.TransposeConv2d(
        Window((3, 3), (1, 1), (1, 1, 1, 1)),
        *net.zero_points(x, 2),
        rescales(net.random.integers(2**30, 2**31, 24), np.full(24, -9)),
        -128,
        127,
    )
    y = net.add(attrs, [x, net.codes(24, 3, 3, 24), net.biases(x, 24)], net.shape(x))
    graph = net.finish(net.conv(y, 2, (3, 3)))
    plan = check_plan(make_plan(graph, Target.parse("cortex-m55"), optimize=Optimize.SIZE))
    assert any(step.fused for step in plan.steps)


# Inputs and outputs of a group, groups, rows and columns, kernel, stride, what is cut off, added behind.
FLOATS = (
    (3, 5, 1, (6, 5), (2, 2), (2, 2), (0, 0, 0, 0), (0, 0)),
    (2, 9, 2, (5, 6), (3, 4), (2, 2), (1, 1, 1, 1), (1, 1)),
    (1, 1, 5, (4, 7), (4, 4), (2, 3), (2, 3, 2, 3), (0, 0)),
    (4, 8, 1, (6, 6), (3, 3), (1, 1), (2, 1, 0, 1), (0, 2)),
    (6, 4, 1, (1, 9), (1, 5), (1, 4), (0, 3, 0, 3), (0, 1)),
)
_Pair = tuple[int, int]
_FloatLayer = tuple[int, int, int, _Pair, _Pair, _Pair, tuple[int, int, int, int], _Pair]


def of_floats(layers: tuple[_FloatLayer, ...], *, last: bool = False) -> Graph:
    """Transposed convolutions of floats; with channels `last`, side by side."""
    net = Net("floats", 12)
    outs = []

    def some(*shape: int) -> int:
        return net.constant(net.random.standard_normal(shape), DType.F32)

    order = channels_last(4) if last else contiguous(4)
    for in_c, out_c, groups, size, kernel, stride, cut, surplus in layers:
        x = net.input((2, groups * in_c, *size), DType.F32, order)
        attrs = ops.FloatTransposeConv2d(Window(kernel, stride, cut), groups)
        extents = [
            (i - 1) * s + k - cut[d] - cut[d + 2] + more
            for d, (i, s, k, more) in enumerate(zip(size, stride, kernel, surplus, strict=True))
        ]
        inputs = [x, some(groups * in_c, out_c, *kernel), some(groups * out_c)]
        outs.append(net.add(attrs, inputs, (2, groups * out_c, *extents), DType.F32, order))
    return net.finish(*outs)


def is_of_phases(attrs: Any, calls: Sequence[Call]) -> bool:
    return all(call.kernel.serves == "conv2d" for call in calls)


def test_phases_of_floats_meet_their_taps() -> None:
    """Of stride 2 and three taps, less one output: even outputs are those of the full result's odd ones."""
    ((row, column), *_) = float_phases(Window((1, 3), (1, 2), (0, 1, 0, 1)), (1, 4), (1, 7), 16)
    assert (row.taps, row.count, row.pad) == (1, 1, 0)
    # Output 2 g + 1 meets with taps 0 and 2 the inputs g + 1 and g: none is beyond the last one.
    assert (column.tap, column.taps, column.first, column.count) == (0, 2, 1, 3)
    assert (column.inputs, column.pad) == (4, 0)
    assert not float_phases(
        Window((1, 1), (2, 2), (0, 0, 0, 0)), (4, 4), (7, 7), 16
    )  # some meet none
    assert not float_phases(Window((5, 5), (5, 5), (0, 0, 0, 0)), (4, 4), (20, 20), 16)  # too many


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
def test_phases_of_floats_give_the_same_bits(cpu: str, last: bool, tmp_path: Path) -> None:
    graph, target = of_floats(FLOATS, last=last), Target.parse(cpu)
    steps = plan_of(graph, is_of_phases, cpu).steps
    assert {call.kernel.serves for step in steps for call in step.calls} == {"conv2d"}
    random = np.random.default_rng(1)
    inputs = [random.standard_normal(graph.tensors[x].shape, np.float32) for x in graph.inputs]
    program = GraphProgram("floats", b"", made=graph)
    with taking(where(is_of_phases)):
        got = run_jobs([Job(program, [inputs])], target, tmp_path)[0][0]
    for a, b in zip(got, run_graph(graph, inputs), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pad_left", 2),
        ("kernel_w", 3),
        ("in_w", 4),
        ("out_w", 4),
        ("in_strides", (30, 15, 5, -1)),
        ("out_strides", (120, 1, -2, -2)),
    ],
)
def test_phases_that_meet_others_are_found_out(field: str, value: Field) -> None:
    plan = plan_of(of_floats(FLOATS[:1]), is_of_phases, "cortex-m55")
    (step,) = plan.steps
    check_linear_map(plan, step)
    first, second, *others = step.calls
    wrong = replace(first, fields=tuple((dict(first.fields) | {field: value}).items()))
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(plan, replace(step, calls=(wrong, second, *others)))
    swapped = replace(first, args=(first.args[0], second.args[1], *first.args[2:]))
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(plan, replace(step, calls=(swapped, second, *others)))
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(plan, replace(step, calls=(second, *others)))
    x = first.args[0]
    assert isinstance(x, TensorArg)
    moved = replace(first, args=(replace(x, offset=x.offset - 4), *first.args[1:]))
    with pytest.raises(CortexMError, match="products of the model"):
        check_linear_map(plan, replace(step, calls=(moved, second, *others)))
