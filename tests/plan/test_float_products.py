# SPDX-License-Identifier: Apache-2.0
"""Which kernels may compute with floats, and that they give the interpreter's bits on emulated cores."""

from __future__ import annotations

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
from cortexm_tools.plan.kernels.table import variants
from cortexm_tools.plan.lower.context import Lowerings
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net
from tests.support.ways import COPIES, spread, taking, using, where

F32 = DType.F32


class FloatNet(Net):
    """Of layers of floats."""

    def some(self, *shape: int) -> int:
        return self.constant(self.random.standard_normal(shape), F32)

    def layer(self, rows: int, inner: int, cols: int) -> int:
        x = self.input((rows, inner), F32)
        return self.add(
            ops.FloatLinear(), [x, self.some(cols, inner), self.some(cols)], (rows, cols), F32
        )

    def image(
        self,
        out_c: int = 5,
        in_c: int = 2,
        sides: tuple[int, int] = (4, 4),
        kernel: tuple[int, int] = (3, 3),
        groups: int = 1,
    ) -> int:
        before = [side // 2 for side in kernel]
        after = [(side - 1) // 2 for side in kernel]
        attrs = ops.FloatConv2d(Window(kernel, (1, 1), (*before, *after)), groups)  # type: ignore[arg-type]
        x = self.input((1, in_c, *sides), F32, contiguous(4))
        weight = self.some(out_c, in_c // groups, *kernel)
        return self.add(attrs, [x, weight], (1, out_c, *sides), F32, contiguous(4))

    def product(self, batches: int, rows: int, inner: int, cols: int) -> int:
        a, b = self.input((batches, rows, inner), F32), self.input((batches, inner, cols), F32)
        return self.add(ops.FloatMatmul(), [a, b], (batches, rows, cols), F32)


def may(graph: Graph, cpu: str) -> list[set[str]]:
    """The kernels of each operator's ways."""
    lowerings = Lowerings(graph, Target.parse(cpu))
    made = {
        op.outputs[0]: {
            f"{call.kernel.op}_{call.kernel.isa.value}"
            for way in lowerings.ways(op)
            for call in way.calls
        }
        for op in graph.ops
    }
    return [made[i] for i in graph.outputs]


def refuses(graph: Graph, wrong: dict[str, Any], kernel: str, cpu: str = "cortex-m55") -> None:
    """The plan of a graph of one call of this kernel is right, and refused with other fields."""
    with taking(using(kernel)):
        plan = make_plan(graph, Target.parse(cpu))
    (step,) = plan.steps
    assert step.calls[0].kernel.op == kernel
    check_plan(plan)
    fields = tuple((dict(step.calls[0].fields) | wrong).items())
    changed = replace(step, calls=(replace(step.calls[0], fields=fields),))
    with pytest.raises(CortexMError, match=f"{step.calls[0].kernel.symbol} requires"):
        check_plan(replace(plan, steps=(changed,)))


def test_rows_of_pixels_have_a_kernel() -> None:
    """Linear layers, and convolutions of pixels whose channels lie side by side."""
    net = FloatNet()
    outs = [net.layer(3, 64, 10), net.layer(25, 9, 32)]
    outs += [_pixels(net, 3, order) for order in (channels_last(4), contiguous(4))]
    graph = net.finish(*outs, net.image())
    for cpu, isa in (("cortex-m4", "dsp"), ("cortex-m55", "mve")):
        found = [f"conv2d_row_{isa}" in each for each in may(graph, cpu)]
        assert found == [True, True, True, False, False]


def _pixels(net: FloatNet, inputs: int, order: tuple[int, ...]) -> int:
    """A 1x1 convolution of 12 pixels."""
    x = net.input((1, inputs, 3, 4), F32, order)
    attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
    return net.add(attrs, [x, net.some(8, inputs, 1, 1)], (1, 8, 3, 4), F32, order)


def _channels(
    net: FloatNet,
    channels: int,
    size: int,
    order: tuple[int, ...],
    kernel: int = 3,
    stride: int = 1,
    dilation: int = 1,
) -> int:
    """A convolution whose channels are groups of one output."""
    x = net.input((1, channels, size, size), F32, order)
    pad = kernel // 2 * dilation
    window = Window((kernel,) * 2, (stride,) * 2, (pad,) * 4, (dilation,) * 2)
    out = (size - 1) // stride + 1
    operands = [x, net.some(channels, 1, kernel, kernel)]
    return net.add(ops.FloatConv2d(window, channels), operands, (1, channels, out, out), F32, order)


@pytest.mark.parametrize(
    ("channels", "size", "order", "window", "mve", "dsp"),
    [
        (8, 16, channels_last(4), {}, "depthwise_4x4", "depthwise"),
        (8, 16, channels_last(4), {"stride": 2}, "depthwise", "depthwise"),
        (6, 16, channels_last(4), {"kernel": 5}, "depthwise_4x4", "depthwise"),
        (4, 3, channels_last(4), {"kernel": 9}, "depthwise", "depthwise"),
        (3, 16, channels_last(4), {}, "depthwise", "depthwise"),
        (16, 8, channels_last(4), {"dilation": 2}, "depthwise_4x4", "depthwise"),
        (8, 16, contiguous(4), {}, "depthwise_nchw_3x3", "depthwise"),
        (2, 5, contiguous(4), {}, "depthwise_nchw_3x3", "depthwise"),
        (8, 4, contiguous(4), {}, "depthwise", "depthwise"),
        (8, 16, contiguous(4), {"stride": 2}, "depthwise", "depthwise"),
        (8, 16, contiguous(4), {"kernel": 5}, "depthwise_nchw_row", "depthwise_nchw_1x8"),
        (8, 16, contiguous(4), {"kernel": 11}, "depthwise", "depthwise_nchw_1x8"),
        (8, 15, contiguous(4), {"kernel": 17}, "depthwise", "depthwise"),
    ],
)
def test_channels_that_are_groups_have_kernels(
    channels: int, size: int, order: tuple[int, ...], window: dict[str, int], mve: str, dsp: str
) -> None:
    """Side by side, where their windows share columns, or planes."""
    net = FloatNet()
    graph = net.finish(_channels(net, channels, size, order, **window))
    assert f"conv2d_{mve}_mve" in may(graph, "cortex-m55")[0]
    assert f"conv2d_{dsp}_dsp" in may(graph, "cortex-m4")[0]


def test_groups_of_several_outputs_are_convolutions() -> None:
    net = FloatNet()
    graph = net.finish(net.image(16, 8, groups=8), net.image(8, 8, groups=4))
    for found in may(graph, "cortex-m4"):
        assert "conv2d_dsp" in found and not any("depthwise" in name for name in found)


@pytest.mark.parametrize(
    "wrong",
    [{"dilation_w": 0}, {"dilation_w": 3, "stride_w": 2}, {"stride_w": 2}, {"kernel_w": 2}]
    + [{"pad_left": 4}, {"pad_left": -1}, {"in_w": 14}, {"groups": 4}, {"in_w": 0}, {"filled": 1}]
    + [{"in_strides": (2048, 2, 128, 8)}, {"out_strides": (2048, 256, 16, 1)}],
)
def test_channels_that_share_columns_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, channels_last(4), 5))
    refuses(graph, wrong, "conv2d_depthwise_4x4")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 4}, {"dilation_w": 2}, {"pad_left": 2}, {"pad_top": 2}, {"filled": 1}, {"groups": 4}]
    + [{"kernel_w": 5}, {"stride_w": 2}, {"stride_h": 2}, {"in_w": 15}, {"in_h": 15}]
    + [{"in_h": 1, "out_h": 1}]
    + [{"in_strides": (2048, 1, 128, 8)}, {"out_strides": (2048, 1, 128, 8)}],
)
def test_planes_of_3x3_windows_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, contiguous(4)))
    refuses(graph, wrong, "conv2d_depthwise_nchw_3x3")


@pytest.mark.parametrize(
    "wrong",
    [{"dilation_w": 0}, {"stride_w": 2}, {"filled": 1}, {"pad_left": 5}, {"pad_left": -1}]
    + [{"in_w": 14}, {"groups": 4}, {"kernel_w": 5, "dilation_w": 4}, {"out_w": 15}]
    + [{"in_strides": (2048, 1, 128, 8)}, {"out_strides": (2048, 1, 16, 2)}],
)
def test_rows_of_planes_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, contiguous(4), 7))
    refuses(graph, wrong, "conv2d_depthwise_nchw_row")


@pytest.mark.parametrize(
    "wrong",
    [{"stride_h": 2}, {"stride_w": 2}, {"pad_left": 1}, {"pad_top": -1}, {"kernel_w": 2}]
    + [{"out_h": 3}, {"in_h": 5}, {"out_w": 7}, {"in_w": 9}, {"groups": 4}, {"filled": 1}]
    + [{"dilation_h": 32}]
    + [{"in_strides": (8192, 512, 9, 1)}, {"out_strides": (8192, 512, 9, 1)}],
)
def test_narrow_planes_of_one_row_are_checked(wrong: dict[str, Any]) -> None:
    """Of windows of one column, where two rows of eight pixels have all rows of them."""
    net = FloatNet()
    x = net.input((1, 16, 64, 8), F32, contiguous(4))
    attrs = ops.FloatConv2d(Window((3, 1), (1, 1), (2, 0, 2, 0), (2, 1)), 16)
    out = net.add(attrs, [x, net.some(16, 1, 3, 1)], (1, 16, 64, 8), F32, contiguous(4))
    graph = net.finish(out)
    refuses(graph, wrong, "conv2d_depthwise_nchw_row")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 4}, {"dilation_w": 2}, {"pad_left": 8}, {"filled": 1}, {"groups": 4}]
    + [{"stride_w": 2}, {"kernel_w": 15}, {"in_w": 7}, {"in_strides": (2048, 256, 32, 2)}]
    + [{"out_strides": (2048, 256, 32, 2)}],
)
def test_planes_in_eights_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 16, 16, contiguous(4), 5))
    refuses(graph, wrong, "conv2d_depthwise_nchw_1x8", "cortex-m4")


def test_images_of_one_input_have_kernels() -> None:
    """Of three to five columns, where there are four rows of pixels and four outputs."""
    net = FloatNet()
    own = ((4, (3, 3), (16, 16)), (5, (4, 3), (4, 9)), (8, (10, 4), (25, 5)), (6, (5, 5), (11, 10)))
    others = ((3, (5, 5), (20, 20)), (8, (1, 5), (3, 200)), (4, (6, 6), (20, 20)))
    images = [net.image(out_c, 1, sides, kernel) for out_c, kernel, sides in (*own, *others)]
    graph = net.finish(*images, net.image(4, 2, (16, 16)))
    expected = [f"conv2d_c1_{each}_mve" for each in ("1x3", "1x3", "1x4", "1x5")]
    for found, name in zip(may(graph, "cortex-m55"), [*expected, *[""] * 4], strict=True):
        assert {each for each in found if "_c1_" in each} == ({name} if name else set())


@pytest.mark.parametrize(
    "wrong",
    [{"out_c": 3}, {"in_c": 2}, {"out_h": 3}, {"dilation_w": 2}, {"filled": 1}]
    + [{"kernel_w": 6}, {"in_w": 3}, {"in_strides": (800, 800, 20, 2)}],
)
@pytest.mark.parametrize("columns", [3, 4, 5])
def test_images_of_one_input_are_checked(columns: int, wrong: dict[str, Any]) -> None:
    for each in (wrong, {"pad_left": columns // 2 + 1}):
        net = FloatNet()
        graph = net.finish(net.image(8, 1, (40, 10), (10, columns)))
        refuses(graph, each, f"conv2d_c1_1x{columns}")


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
@pytest.mark.parametrize("op", ["conv2d_row", "conv2d_depthwise"])
def test_what_others_leave_out_needs_the_larger_kernel(cpu: str, op: str) -> None:
    net = FloatNet()
    plan = make_plan(net.finish(net.image(4, 4, groups=2)), Target.parse(cpu))
    (step,) = plan.steps
    kernel = next(each for each in variants("conv2d", "f32", plan.target) if each.op == op)
    smaller = replace(step, calls=(replace(step.calls[0], kernel=kernel),))
    with pytest.raises(CortexMError, match=f"{op}_f32_.* requires"):
        check_plan(replace(plan, steps=(smaller,)))


@pytest.mark.parametrize(("cpu", "isa"), [("cortex-m4", "dsp"), ("cortex-m55", "mve")])
def test_matrices_may_take_blocks_in_registers(cpu: str, isa: str) -> None:
    """Of four columns and more that lie side by side, or whose elements do; of a single one in its place the
    rows."""
    net = FloatNet()
    sizes = ((2, 16, 16, 8), (1, 3, 5, 4), (9, 16, 16, 3), (1, 64, 64, 1), (1, 2, 64, 1))
    products = [net.product(*each) for each in sizes]
    a, apart = net.input((1, 5, 16), F32), net.input((1, 16, 6), F32, (0, 2, 1))
    products.append(net.add(ops.FloatMatmul(), [a, apart], (1, 5, 6), F32))
    found = [f"matmul_{isa}" in each for each in may(net.finish(*products), cpu)]
    assert found == [True, True, False, True, False, True]


def test_a_single_column_is_computed_as_a_row() -> None:
    """Of which kernels take several columns together."""
    net = FloatNet()
    graph = net.finish(net.product(1, 64, 64, 1), net.product(1, 2, 64, 1))
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m0"):
        calls = [step.calls[0] for step in make_plan(graph, Target.parse(cpu)).steps]
        sides = {(dict(call.fields)["rows"], dict(call.fields)["cols"]) for call in calls}
        assert sides == {(1, 64), (1, 2)}


def test_windows_of_a_single_column_go_along_rows() -> None:
    """But for planes that are groups, whose rows are vectors already."""
    net = FloatNet()
    kernel, sides = (3, 1), (12, 5)
    dense, grouped = net.image(8, 4, sides, kernel), net.image(8, 4, sides, kernel, groups=2)
    graph = net.finish(dense, grouped, net.image(4, 4, sides, kernel, groups=4))
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m0"):
        calls = [step.calls[0] for step in make_plan(graph, Target.parse(cpu)).steps]
        found = [(dict(call.fields)["kernel_h"], dict(call.fields)["in_h"]) for call in calls]
        assert found == [(1, 5), (1, 5), (3, 12)]


def test_filled_weights_are_checked() -> None:
    net = FloatNet()
    with taking(where(lambda attrs, calls: calls[0].int_fields.get("filled", 0))):
        plan = make_plan(net.finish(net.image(7)), Target.parse("cortex-m55"))
    name = next(constant.name for constant in plan.constants if constant.name.startswith("w_"))
    for at in (0, 6, 7, 8 * 18 - 1):
        constants = list(plan.constants)
        number = next(i for i, constant in enumerate(constants) if constant.name == name)
        data = constants[number].data.copy()
        data[at] += 1
        constants[number] = replace(constants[number], data=data)
        with pytest.raises(CortexMError, match="would not compute the products"):
            check_plan(replace(plan, constants=tuple(constants)))


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_they_give_the_same_bits(cpu: str, tmp_path: Path) -> None:
    net, target = FloatNet(), Target.parse(cpu)
    rows = (
        (1, 64, 10),
        (1, 7, 1),
        (1, 33, 3),
        (2, 16, 15),
        (7, 5, 37),
        (25, 9, 30),
        (4, 3, 2),
        (7, 64, 3),
    )
    matrices = (
        (2, 17, 33, 9),
        (1, 16, 16, 16),
        (3, 11, 31, 5),
        (2, 13, 50, 8),
        (3, 1, 31, 53),
        (2, 23, 70, 1),
        (2, 29, 31, 2),
        (1, 75, 5, 3),
    )
    lanes = ((16, 64, 3), (19, 32, 2), (9, 65, 7), (5, 31, 5), (13, 41, 1))
    outs = [net.layer(*each) for each in (*rows, *lanes)] + [
        net.product(*each) for each in matrices
    ]
    outs += [net.image(out_c, sides=(5, 7)) for out_c in (2, 3, 7, 13)]
    outs += [net.image(12, 4, (4, 17), groups=groups) for groups in (1, 2)]
    outs += [net.image(9, 1, (9, 11), kernel) for kernel in ((5, 5), (1, 4), (10, 2))]
    outs += [
        net.image(5, 5, (6, 11), groups=5),
        net.image(9, 1, (11, 13)),
        net.image(4, 1, (1, 300)),
        net.image(6, 1, (21, 9), (10, 4)),
        net.image(9, 3, (9, 13), (5, 5)),
        net.image(8, 4, (12, 5), (3, 1)),
        net.image(7, 6, (9, 7), (4, 1)),
        net.image(6, 4, (11, 3), (5, 1), groups=2),
    ]
    shapes = ((5, 19, 3, 2), (3, 17, 5, 1), (4, 23, 5, 2), (7, 13, 9, 1))
    for channels, size, *window in shapes:
        outs += [
            _channels(net, channels, size, order, *window)
            for order in (contiguous(4), channels_last(4))
        ]
    outs += [net.layer(*each) for each in ((37, 1, 20), (39, 2, 21), (45, 4, 13))]
    outs += [net.layer(*each) for each in ((72, 3, 8), (37, 3, 24))]
    pixel = net.input((2, 16, 5, 7), F32, channels_last(4))
    for channels in (1, 3, 7):
        attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
        shape, weight = (2, channels, 5, 7), net.some(channels, 16, 1, 1)
        outs.append(net.add(attrs, [pixel, weight], shape, F32, channels_last(4)))
    graph = net.finish(*outs)
    random = np.random.default_rng(1)
    inputs = [random.standard_normal(graph.tensors[x].shape, np.float32) for x in graph.inputs]
    jobs = [
        Job(GraphProgram(f"products{n}", b"", made=replace(graph, name=f"products{n}")), [inputs])
        for n in range(COPIES)
    ]
    with taking(spread):
        results = run_jobs(jobs, target, tmp_path)
    expected = run_graph(graph, inputs)
    for got, *_ in results:
        for a, b in zip(got, expected, strict=True):
            assert a.tobytes() == b.tobytes()
