# SPDX-License-Identifier: Apache-2.0
"""Which kernels compute with floats, and that they give the interpreter's bits on emulated cores."""

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
from cortexm_tools.target import Optimize, Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net

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


def kernels(graph: Graph, cpu: str) -> list[str]:
    steps = make_plan(graph, Target.parse(cpu)).steps
    made = {step.op.outputs[0]: step.calls[0].kernel for step in steps}
    return [f"{made[i].op}_{made[i].isa.value}" for i in graph.outputs]


def refuses(graph: Graph, wrong: dict[str, Any], message: str, cpu: str = "cortex-m55") -> None:
    """The plan of a graph of one call is right, and refused with other fields."""
    plan = make_plan(graph, Target.parse(cpu))
    (step,) = plan.steps
    check_plan(plan)
    fields = tuple((dict(step.calls[0].fields) | wrong).items())
    changed = replace(step, calls=(replace(step.calls[0], fields=fields),))
    with pytest.raises(CortexMError, match=message):
        check_plan(replace(plan, steps=(changed,)))


def test_few_rows_alone_take_the_small_kernel() -> None:
    """But not beside what the large one must compute anyway, or computes faster."""
    few, many, beside = FloatNet(), FloatNet(), FloatNet()
    alone = few.finish(few.layer(3, 64, 10), few.layer(25, 9, 32))
    long = many.finish(many.layer(3, 64, 10), many.layer(26, 9, 32))
    with_images = beside.finish(beside.layer(1, 64, 10), beside.image())
    assert kernels(alone, "cortex-m55") == ["conv2d_row_mve"] * 2
    assert kernels(long, "cortex-m55") == ["conv2d_narrow_mve"] * 2
    assert kernels(with_images, "cortex-m55") == ["conv2d_narrow_mve"] * 2
    assert kernels(alone, "cortex-m4") == kernels(long, "cortex-m4") == ["conv2d_row_dsp"] * 2
    assert kernels(with_images, "cortex-m4") == ["conv2d_dsp"] * 2


def test_many_rows_take_the_small_kernel_beside_images() -> None:
    """Convolutions that are such rows, too, of 160 blocks of three pixels and eight outputs together."""

    def taken(pixels: int, order: tuple[int, ...], *, alone: bool) -> list[str]:
        net = FloatNet()
        x = net.input((1, 3, 1, pixels), F32, order)
        attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
        row = net.add(attrs, [x, net.some(16, 3, 1, 1)], (1, 16, 1, pixels), F32, order)
        others = [] if alone else [net.image()]
        return kernels(net.finish(net.layer(1, 64, 8), row, *others), "cortex-m4")

    rows, images = ["conv2d_row_dsp"] * 2, ["conv2d_dsp"] * 3
    planes = ["conv2d_dsp", "conv2d_planes_1x1_dsp", "conv2d_dsp"]
    beside, apart = channels_last(4), contiguous(4)
    assert taken(240, beside, alone=False) == [*rows, "conv2d_dsp"]
    assert taken(237, beside, alone=False) == images
    assert taken(240, apart, alone=False) == planes
    assert taken(9, beside, alone=True) == rows
    assert taken(9, apart, alone=True) == images[:2]


@pytest.mark.parametrize(
    ("beside", "op"),
    [
        ({"kernel": (5, 3)}, "conv2d_narrow"),
        ({"kernel": (3, 4)}, "conv2d"),
        ({"out_c": 4, "in_c": 4, "groups": 4}, "conv2d"),
        ({"out_c": 3, "in_c": 3, "groups": 3}, "conv2d_narrow"),
    ],
)
def test_narrow_windows_alone_take_the_smaller_kernel(beside: dict[str, Any], op: str) -> None:
    """All take one that has no parts for wide windows, nor for channels that are groups; or all the other."""
    net = FloatNet()
    graph = net.finish(net.image(), net.layer(30, 8, 8), net.image(**beside))
    assert kernels(graph, "cortex-m55") == [f"{op}_mve"] * 3


def test_channels_that_are_groups_have_a_kernel() -> None:
    """Where there are enough of their outputs, also where two are a group each."""
    net = FloatNet()
    graph = net.finish(
        net.image(8, 8, groups=8),
        net.image(2, 2, (8, 8), groups=2),
        net.image(7, 7, groups=7),
        net.image(16, 8, groups=8),
        net.image(8, 8, groups=4),
    )
    own, others = ["conv2d_channels_dsp"] * 2, ["conv2d_dsp"] * 3
    assert kernels(graph, "cortex-m4") == [*own, *others]


@pytest.mark.parametrize(
    ("channels", "size", "order", "window", "op"),
    [
        (16, 16, channels_last(4), {"kernel": 5}, "conv2d_channels_eights"),
        (8, 16, channels_last(4), {"stride": 2}, "conv2d_channels_eights"),
        (14, 6, channels_last(4), {"stride": 2}, "conv2d_channels_eights"),
        (8, 4, channels_last(4), {"stride": 2}, "conv2d_channels_eights"),
        (8, 3, channels_last(4), {}, "conv2d_channels_eights"),
        (12, 16, channels_last(4), {"kernel": 5}, "conv2d_channels_fours"),
        (10, 16, channels_last(4), {"stride": 2}, "conv2d_channels_fours"),
        (4, 16, channels_last(4), {"kernel": 5}, "conv2d_channels_fours"),
        (4, 16, channels_last(4), {"stride": 2}, "conv2d_channels"),
        (12, 16, channels_last(4), {}, "conv2d_channels"),
        (9, 16, channels_last(4), {"kernel": 5}, "conv2d_channels"),
        (16, 2, channels_last(4), {"kernel": 1}, "conv2d"),
        (8, 16, channels_last(4), {}, "conv2d_channels"),
        (13, 16, channels_last(4), {"kernel": 5}, "conv2d_channels"),
        (7, 16, channels_last(4), {"kernel": 5}, "conv2d_channels"),
        (16, 16, contiguous(4), {"kernel": 5}, "conv2d_planes_wide"),
        (2, 16, channels_last(4), {}, "conv2d_channels_two"),
        (3, 16, channels_last(4), {}, "conv2d_channels_three"),
        (3, 8, channels_last(4), {}, "conv2d_channels_three"),
        (3, 4, channels_last(4), {}, "conv2d"),
        (3, 16, channels_last(4), {"stride": 2}, "conv2d_channels"),
    ],
)
def test_eights_of_channels_have_a_kernel_with_dsp(
    channels: int, size: int, order: tuple[int, ...], window: dict[str, int], op: str
) -> None:
    """Side by side, but for the 3x3 windows whose columns the other one shares."""
    net = FloatNet()
    kernel, stride = window.get("kernel", 3), window.get("stride", 1)
    graph = net.finish(_channels(net, channels, size, kernel, stride, order))
    assert kernels(graph, "cortex-m4") == [f"{op}_dsp"]


@pytest.mark.parametrize(
    "wrong",
    [{"groups": 8}, {"groups": 7, "in_c": 7, "out_c": 7}, {"filled": 1}]
    + [{"in_strides": (4096, 256, 16, 1)}, {"out_strides": (4096, 256, 16, 1)}],
)
@pytest.mark.parametrize("channels", [12, 16])
def test_eights_of_channels_are_checked(channels: int, wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, channels, 16, 5, 1, channels_last(4)))
    refuses(graph, wrong, "takes eight channels or more", "cortex-m4")


_USUAL = (("kernel", 3), ("stride", 1), ("dilation", 1))


@pytest.mark.parametrize(
    ("channels", "size", "order", "window", "op"),
    [
        (8, 16, channels_last(4), {}, "conv2d_channels_3x3"),
        (8, 16, channels_last(4), {"stride": 2}, "conv2d_channels_3x3_by_two"),
        (16, 16, channels_last(4), {"stride": 2}, "conv2d_channels_3x3_by_two_sixteen"),
        (8, 6, channels_last(4), {}, "conv2d_channels_3x3"),
        (6, 16, channels_last(4), {"kernel": 5}, "conv2d_channels_wide"),
        (16, 16, channels_last(4), {"kernel": 5, "stride": 2}, "conv2d_channels_five_by_two"),
        (16, 16, channels_last(4), {"kernel": 9}, "conv2d_channels"),
        (4, 4, channels_last(4), {}, "conv2d_channels_3x3"),
        (4, 3, channels_last(4), {}, "conv2d"),
        (64, 3, channels_last(4), {}, "conv2d_channels_wide"),
        (3, 16, channels_last(4), {}, "conv2d_channels_3x3_any"),
        (2, 6, channels_last(4), {}, "conv2d_channels_3x3_any"),
        (5, 16, channels_last(4), {}, "conv2d_channels_3x3_any"),
        (5, 16, channels_last(4), {"stride": 2}, "conv2d_channels_3x3_by_two"),
        (11, 16, channels_last(4), {}, "conv2d_channels_3x3"),
        (3, 16, channels_last(4), {"kernel": 5}, "conv2d_channels"),
        (16, 8, channels_last(4), {"dilation": 2}, "conv2d_channels_3x3_dilated"),
        (16, 7, channels_last(4), {"dilation": 2}, "conv2d_channels_wide"),
        (16, 8, channels_last(4), {"dilation": 3}, "conv2d_channels_wide"),
        (8, 16, contiguous(4), {}, "conv2d_channels"),
        (8, 16, contiguous(4), {"stride": 2}, "conv2d_planes_3x3_by_two"),
        (24, 7, contiguous(4), {"stride": 2}, "conv2d_planes_by_two"),
        (8, 16, contiguous(4), {"kernel": 5}, "conv2d_planes_five"),
        (8, 16, contiguous(4), {"kernel": 7}, "conv2d_planes_seven"),
        (8, 16, contiguous(4), {"kernel": 11}, "conv2d"),
        (16, 5, contiguous(4), {}, "conv2d_channels"),
        (72, 4, contiguous(4), {}, "conv2d"),
        (3, 11, contiguous(4), {}, "conv2d_channels"),
        (3, 4, contiguous(4), {}, "conv2d_narrow"),
    ],
)
def test_channels_that_are_groups_have_a_kernel_with_mve(
    channels: int, size: int, order: tuple[int, ...], window: dict[str, int], op: str
) -> None:
    """Side by side, or planes in strips of eight columns; where it saves enough for its code."""
    kernel, stride, dilation = (window.get(name, by) for name, by in _USUAL)
    net = FloatNet()
    x = net.input((1, channels, size, size), F32, order)
    pad = kernel // 2 * dilation
    attrs = ops.FloatConv2d(
        Window((kernel,) * 2, (stride,) * 2, (pad,) * 4, (dilation,) * 2), channels
    )
    out = (size - 1) // stride + 1
    weight = net.some(channels, 1, kernel, kernel)
    graph = net.finish(net.add(attrs, [x, weight], (1, channels, out, out), F32, order))
    assert kernels(graph, "cortex-m55") == [f"{op}_mve"]


def test_sixteen_channels_two_apart_have_a_kernel_where_it_pays() -> None:
    """In the place of that for any channels, or for so many outputs that it pays beside this one."""
    by_two = "conv2d_channels_3x3_by_two_mve"
    beside, many = FloatNet(), FloatNet()
    outs = [_channels(beside, count, 16, 3, 2, channels_last(4)) for count in (16, 24)]
    assert kernels(beside.finish(*outs), "cortex-m55") == [by_two] * 2
    outs = [_channels(many, *each, 3, 2, channels_last(4)) for each in ((16, 24), (24, 16))]
    own = "conv2d_channels_3x3_by_two_sixteen_mve"
    assert kernels(many.finish(*outs), "cortex-m55") == [own, by_two]
    net = FloatNet()
    graph = net.finish(_channels(net, 16, 16, 3, 2, channels_last(4)))
    wrong = {"in_strides": (4352, 1, 272, 17), "out_strides": (1088, 1, 136, 17)}
    refuses(graph, wrong, "takes channels that are groups, of other 3x3 windows")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 3}, {"dilation_w": 2}, {"pad_left": 2}, {"pad_top": 2}, {"filled": 1}, {"groups": 4}]
    + [{"kernel_w": 5}, {"stride_w": 2}, {"in_w": 14}, {"in_h": 14}]
    + [{"in_strides": (2048, 1, 128, 9)}, {"out_strides": (2048, 256, 16, 1)}],
)
def test_channels_of_3x3_windows_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, 3, 1, channels_last(4)))
    refuses(graph, wrong, "takes channels that are groups, of other 3x3 windows")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 3}, {"dilation_w": 2}, {"pad_left": 2}, {"pad_top": 2}, {"filled": 1}, {"groups": 1}]
    + [{"kernel_w": 5}, {"stride_w": 2}, {"stride_h": 2, "out_h": 8}, {"in_w": 14}, {"in_h": 14}]
    + [{"in_strides": (1280, 1, 80, 6)}, {"out_strides": (1280, 256, 16, 1)}]
    + [{"in_strides": (1280, 1, 80, -5), "out_strides": (1280, 1, 80, -5)}],
)
def test_any_channels_of_3x3_windows_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 5, 16, 3, 1, channels_last(4)))
    refuses(graph, wrong, "of other 3x3 windows")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 7}, {"dilation_w": 5}, {"pad_left": 3}, {"pad_top": 3}, {"filled": 1}, {"groups": 4}]
    + [{"kernel_w": 5}, {"stride_w": 2}, {"stride_h": 2}, {"in_w": 15}, {"in_h": 15}]
    + [{"dilation_h": 0}, {"pad_top": -1}]
    + [{"in_strides": (2048, 1, 128, 9)}, {"out_strides": (2048, 256, 16, 1)}],
)
def test_dilated_channels_of_3x3_windows_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    x = net.input((1, 8, 16, 16), F32, channels_last(4))
    attrs = ops.FloatConv2d(Window((3, 3), (1, 1), (2, 2, 2, 2), (2, 2)), 8)
    operands = [x, net.some(8, 1, 3, 3)]
    graph = net.finish(net.add(attrs, operands, (1, 8, 16, 16), F32, channels_last(4)))
    assert kernels(graph, "cortex-m55") == ["conv2d_channels_3x3_dilated_mve"]
    refuses(graph, wrong, "takes channels that are groups, of other 3x3 windows")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 3}, {"dilation_w": 2}, {"pad_left": 3}, {"pad_left": -1}, {"filled": 1}]
    + [{"groups": 4}, {"kernel_w": 3}, {"stride_w": 1}, {"in_w": 14}]
    + [{"in_strides": (2048, 2, 128, 8)}, {"out_strides": (512, 64, 8, 1)}],
)
def test_channels_of_five_columns_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, 5, 2, channels_last(4)))
    refuses(graph, wrong, "of windows of five columns")


@pytest.mark.parametrize(
    "wrong",
    [
        {"dilation_w": 0},
        {"dilation_w": 3, "stride_w": 2},
        {"stride_w": 2},
        {"kernel_w": 2},
        {"filled": 1},
    ]
    + [{"pad_left": 4}, {"pad_left": -1}, {"in_w": 14}, {"groups": 4}, {"in_w": 0}]
    + [{"in_strides": (2048, 2, 128, 8)}, {"out_strides": (2048, 256, 16, 1)}],
)
def test_channels_that_share_columns_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, 5, 1, channels_last(4)))
    refuses(graph, wrong, "of windows that share columns")


@pytest.mark.parametrize(
    "wrong",
    [
        {"dilation_w": 0},
        {"stride_w": 2},
        {"filled": 1},
        {"pad_left": 5},
        {"pad_left": -1},
        {"in_w": 14},
    ]
    + [{"groups": 4}, {"kernel_w": 5, "dilation_w": 4}, {"out_w": 15}]
    + [{"in_strides": (2048, 1, 128, 8)}, {"out_strides": (2048, 1, 16, 2)}],
)
def test_rows_of_planes_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, 7, 1, contiguous(4)))
    refuses(graph, wrong, "takes planes of 16 columns or more")


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
    assert kernels(graph, "cortex-m55") == ["conv2d_planes_row_mve"]
    refuses(graph, wrong, "takes planes of 16 columns or more")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 2}, {"dilation_w": 2}, {"dilation_h": 2}, {"pad_left": 2}, {"pad_top": -1}]
    + [{"kernel_h": 2}, {"kernel_w": 5}, {"stride_h": 1}, {"stride_w": 1}, {"in_w": 14}]
    + [{"in_h": 14}, {"groups": 4}, {"filled": 1}]
    + [{"in_strides": (2048, 1, 128, 8)}, {"out_strides": (512, 1, 64, 8)}],
)
def test_planes_of_3x3_windows_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 8, 16, 3, 2, contiguous(4)))
    refuses(graph, wrong, "takes planes, and 3x3 windows two apart")


def _planes_of_one(
    kernel: tuple[int, int], stride: tuple[int, int], size: tuple[int, int]
) -> Graph:
    """A convolution of 16 planes that are groups, of windows of one row or column."""
    net = FloatNet()
    x = net.input((1, 16, *size), F32, contiguous(4))
    attrs = ops.FloatConv2d(Window(kernel, stride, (kernel[0] // 2, kernel[1] // 2) * 2), 16)
    sides = [(extent - 1) // step + 1 for extent, step in zip(size, stride, strict=True)]
    operands = [x, net.some(16, 1, *kernel)]
    return net.finish(net.add(attrs, operands, (1, 16, *sides), F32, contiguous(4)))


@pytest.mark.parametrize(
    ("kernel", "stride", "size", "name"),
    [((3, 1), (1, 1), (64, 8), "planes_column"), ((5, 1), (2, 1), (64, 8), "planes_column")]
    + [((3, 1), (1, 1), (16, 21), "planes_column"), ((7, 1), (1, 1), (64, 8), "channels")]
    + [((3, 1), (1, 1), (64, 7), "channels"), ((3, 1), (1, 1), (2, 8), "planes_wide")]
    + [((1, 3), (1, 2), (1, 64), "planes_line_three_by_two")]
    + [((1, 5), (1, 2), (1, 65), "planes_line_five_by_two")],
)
def test_lines_and_columns_of_planes_have_kernels_with_an_fpu(
    kernel: tuple[int, int], stride: tuple[int, int], size: tuple[int, int], name: str
) -> None:
    """Of up to five rows, and of three or five columns two apart."""
    graph = _planes_of_one(kernel, stride, size)
    assert kernels(graph, "cortex-m4") == [f"conv2d_{name}_dsp"]


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 7}, {"in_w": 7}, {"pad_left": 1}, {"kernel_h": 6}, {"kernel_w": 3}, {"stride_w": 2}]
    + [{"groups": 4}, {"filled": 1}]
    + [{"in_strides": (8192, 1, 128, 16)}, {"out_strides": (4096, 1, 128, 16)}],
)
def test_columns_of_planes_in_eights_are_checked(wrong: dict[str, Any]) -> None:
    graph = _planes_of_one((5, 1), (2, 1), (64, 8))
    refuses(graph, wrong, "takes planes of eight columns or more", "cortex-m4")


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 3}, {"in_w": 14}, {"pad_left": 2}, {"kernel_w": 5}, {"stride_w": 2}]
    + [{"dilation_w": 2}, {"groups": 1}, {"filled": 1}]
    + [{"in_strides": (1024, 1, 64, 4)}, {"out_strides": (768, 256, 16, 1)}],
)
def test_few_channels_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 3, 16, 3, 1, channels_last(4)))
    refuses(graph, wrong, "takes so few channels that are groups", "cortex-m4")


@pytest.mark.parametrize(
    "wrong",
    [{"out_h": 3}, {"out_w": 3}, {"out_w": 9}, {"dilation_h": 2}, {"pad_left": 1}, {"pad_top": -1}]
    + [{"kernel_h": 3, "pad_top": 1}, {"kernel_w": 3}, {"stride_h": 3}, {"stride_w": 2}]
    + [{"in_h": 61}, {"pad_top": 3}, {"groups": 4}, {"filled": 1}]
    + [{"in_strides": (8192, 1, 128, 16)}, {"out_strides": (4096, 1, 128, 16)}],
)
def test_columns_of_planes_are_checked(wrong: dict[str, Any]) -> None:
    graph = _planes_of_one((5, 1), (2, 1), (64, 8))
    assert kernels(graph, "cortex-m55") == ["conv2d_planes_column_five_by_two_mve"]
    refuses(graph, wrong, "takes planes, and other windows of one column")


@pytest.mark.parametrize(
    ("rows", "stride", "size", "name"),
    [
        (3, 1, (64, 8), "column_three"),
        (5, 1, (16, 16), "column_five"),
        (3, 1, (64, 5), "column_three"),
    ]
    + [(3, 2, (64, 8), "column_three_by_two"), (3, 1, (16, 48), "column_three")]
    + [(7, 1, (64, 8), "row"), (3, 1, (8, 8), "row")],
)
def test_columns_of_planes_have_kernels(
    rows: int, stride: int, size: tuple[int, int], name: str
) -> None:
    """For windows of three or five rows, one or two apart."""
    graph = _planes_of_one((rows, 1), (stride, 1), size)
    assert kernels(graph, "cortex-m55") == [f"conv2d_planes_{name}_mve"]


@pytest.mark.parametrize(
    ("columns", "width", "name"),
    [(3, 64, "line_three"), (5, 64, "line_five"), (5, 33, "line_five"), (7, 99, "line_seven")],
)
def test_lines_of_planes_two_apart_have_kernels(columns: int, width: int, name: str) -> None:
    """Also where the last window lacks a column less than the first one."""
    graph = _planes_of_one((1, columns), (1, 2), (1, width))
    assert kernels(graph, "cortex-m55") == [f"conv2d_planes_{name}_by_two_mve"]


@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 15}, {"dilation_w": 2}, {"pad_left": 2}, {"pad_top": 1}, {"kernel_h": 2}]
    + [{"kernel_w": 5}, {"stride_w": 1}, {"in_w": 62}, {"groups": 4}, {"filled": 1}]
    + [{"out_w": 33}, {"in_h": 0}]
    + [{"in_strides": (1024, 1, 1024, 16)}, {"out_strides": (512, 1, 512, 16)}],
)
def test_lines_of_planes_two_apart_are_checked(wrong: dict[str, Any]) -> None:
    graph = _planes_of_one((1, 7), (1, 2), (1, 64))
    refuses(graph, wrong, "takes planes of 16 columns or more, of windows two apart")


def test_the_last_window_of_a_line_of_planes_two_apart_is_checked() -> None:
    """Of five columns that lack two."""
    graph = _planes_of_one((1, 5), (1, 2), (1, 32))
    assert kernels(graph, "cortex-m55") == ["conv2d_planes_line_five_by_two_mve"]
    refuses(graph, {"in_w": 31}, "takes planes of 16 columns or more, of windows two apart")


@pytest.mark.parametrize(
    ("columns", "name"),
    [(3, "line_three"), (5, "line_five"), (7, "line_seven"), (9, "line_nine")],
)
def test_lines_of_planes_have_kernels(columns: int, name: str) -> None:
    """For windows of one row that lack half of their columns at an end, or none."""
    for pad, op in ((columns // 2, name), (0, name), (1, "row" if columns > 3 else name)):
        net = FloatNet()
        x = net.input((1, 16, 1, 62 - 2 * pad + columns), F32, contiguous(4))
        attrs = ops.FloatConv2d(Window((1, columns), (1, 1), (0, pad, 0, pad)), 16)
        operands = [x, net.some(16, 1, 1, columns)]
        graph = net.finish(net.add(attrs, operands, (1, 16, 1, 63), F32, contiguous(4)))
        assert kernels(graph, "cortex-m55") == [f"conv2d_planes_{op}_mve"]


@pytest.mark.parametrize(
    "wrong",
    [{"pad_top": 1}, {"kernel_h": 2}, {"pad_left": 1}, {"in_w": 63}, {"out_w": 65}, {"in_h": 0}],
)
def test_lines_of_planes_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    x = net.input((1, 16, 1, 64), F32, contiguous(4))
    attrs = ops.FloatConv2d(Window((1, 5), (1, 1), (0, 2, 0, 2)), 16)
    out = net.add(attrs, [x, net.some(16, 1, 1, 5)], (1, 16, 1, 64), F32, contiguous(4))
    refuses(net.finish(out), wrong, "takes planes of 16 columns or more")


@pytest.mark.parametrize(
    ("columns", "name"),
    [(3, "line_three"), (5, "line_five"), (7, "line_seven"), (9, "line_nine")],
)
def test_lines_of_channels_have_kernels(columns: int, name: str) -> None:
    """For windows of one row, or one column, that lack half of their columns at an end, or none."""
    for pad, op in ((columns // 2, name), (0, name), (1, "wide" if columns > 3 else name)):
        for is_turned in (False, True):
            sides = (1, columns), (1, 62 - 2 * pad + columns), (0, pad) * 2, (1, 63)
            window, ins, pads, outs = (each[::-1] if is_turned else each for each in sides)
            net = FloatNet()
            x = net.input((1, 16, *ins), F32, channels_last(4))
            attrs = ops.FloatConv2d(Window(window, (1, 1), pads), 16)  # type: ignore[arg-type]
            out = net.add(
                attrs, [x, net.some(16, 1, *window)], (1, 16, *outs), F32, channels_last(4)
            )
            assert kernels(net.finish(out), "cortex-m55") == [f"conv2d_channels_{op}_mve"]


@pytest.mark.parametrize(
    ("columns", "name"), [(3, "three"), (5, "five"), (7, "seven"), (9, "nine")]
)
def test_lines_of_channels_two_apart_have_kernels(columns: int, name: str) -> None:
    """The last window may lack one column less."""
    half = columns // 2
    for size in (63, 64):
        net = FloatNet()
        x = net.input((1, 16, 1, size), F32, channels_last(4))
        attrs = ops.FloatConv2d(Window((1, columns), (2, 2), (0, half, 0, half)), 16)
        operands = [x, net.some(16, 1, 1, columns)]
        graph = net.finish(net.add(attrs, operands, (1, 16, 1, 32), F32, channels_last(4)))
        assert kernels(graph, "cortex-m55") == [f"conv2d_channels_line_{name}_by_two_mve"]


@pytest.mark.parametrize(
    "wrong",
    [{"pad_top": 1}, {"kernel_h": 2}, {"pad_left": 1}, {"in_w": 63}, {"out_w": 65}, {"in_h": 0}]
    + [{"stride_w": 2}, {"dilation_w": 2}, {"filled": 1}, {"groups": 4}]
    + [{"in_strides": (1024, 1, 1024, 17)}, {"out_strides": (1024, 64, 64, 1)}],
)
def test_lines_of_channels_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    x = net.input((1, 16, 1, 64), F32, channels_last(4))
    attrs = ops.FloatConv2d(Window((1, 5), (1, 1), (0, 2, 0, 2)), 16)
    out = net.add(attrs, [x, net.some(16, 1, 1, 5)], (1, 16, 1, 64), F32, channels_last(4))
    refuses(net.finish(out), wrong, "takes channels that are groups, of windows of one row")


def test_images_of_one_input_have_a_kernel() -> None:
    """Where windows are three columns, for four outputs or more, and there are enough of them."""
    net = FloatNet()
    wide = {"kernel": (3, 5)}, {"kernel": (4, 3)}, {"in_c": 2}
    graph = net.finish(
        *(net.image(out_c, 1, sides) for out_c, sides in ((4, (16, 16)), (5, (1, 205)))),
        *(net.image(out_c, 1, sides) for out_c, sides in ((3, (20, 20)), (4, (16, 15)))),
        *(net.image(**{"out_c": 4, "in_c": 1, "sides": (16, 16)} | each) for each in wide),
    )
    own, others = ["conv2d_one_mve"] * 2, ["conv2d_mve"] * 5
    assert kernels(graph, "cortex-m55") == [*own, *others]


def _channels(
    net: FloatNet, channels: int, size: int, kernel: int, stride: int, order: tuple[int, ...]
) -> int:
    x = net.input((1, channels, size, size), F32, order)
    attrs = ops.FloatConv2d(Window((kernel,) * 2, (stride,) * 2, (kernel // 2,) * 4), channels)
    out = (size - 1) // stride + 1
    weight = net.some(channels, 1, kernel, kernel)
    return net.add(attrs, [x, weight], (1, channels, out, out), F32, order)


def test_planes_of_apart_or_wide_windows_have_kernels() -> None:
    """Of four rows and columns of results, where there are products enough."""
    net = FloatNet()
    own = ((24, 7, 3, 2), (64, 6, 3, 2), (3, 22, 5, 1), (4, 16, 5, 2))
    others = ((64, 4, 3, 2), (8, 15, 7, 1))
    outs = [_channels(net, *each, contiguous(4)) for each in (*own, *others)]
    outs.append(_channels(net, 8, 16, 5, 1, channels_last(4)))
    ops_of = [
        f"conv2d_planes_{each}_mve" for each in ("by_two", "3x3_by_two", "five", "five_by_two")
    ]
    assert kernels(net.finish(*outs), "cortex-m55") == [
        *ops_of,
        *["conv2d_mve"] * 2,
        "conv2d_channels_wide_mve",
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"out_h": 3}, {"out_w": 3}, {"dilation_w": 2}, {"pad_left": 2}, {"filled": 1}, {"groups": 4}]
    + [{"kernel_w": 5}, {"stride_w": 1}, {"in_w": 6}, {"in_strides": (2048, 256, 32, 2)}],
)
def test_planes_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 24, 7, 3, 2, contiguous(4)))
    refuses(graph, wrong, "takes planes, and other windows")


def test_planes_have_kernels_with_an_fpu() -> None:
    """Rows of eight results or more, or seven, of windows one or two columns apart, where they save enough of
    all such layers; but not of three columns where these save nothing."""
    net = FloatNet()
    near = ((8, 16, 5, 1), (2, 16, 7, 1), (16, 7, 5, 1), (1, 16, 3, 1), (32, 8, 3, 1))
    apart = ((8, 16, 5, 2), (4, 14, 7, 2), (8, 16, 3, 2))
    others = ((8, 20, 3, 1), (8, 20, 3, 2), (8, 6, 5, 1), (8, 12, 5, 2), (2, 5, 5, 1))
    outs = [_channels(net, *each, contiguous(4)) for each in (*near, *apart, *others)]
    outs.append(_channels(net, 8, 16, 5, 1, channels_last(4)))
    found = kernels(net.finish(*outs), "cortex-m4")
    own = ["conv2d_planes_wide_dsp"] * 5 + ["conv2d_planes_wide_by_two_dsp"] * 3
    channels = "conv2d_channels_dsp"
    assert found == [*own, *[channels] * 4, "conv2d_dsp", "conv2d_channels_eights_dsp"]
    few = FloatNet()
    outs = [_channels(few, *each, contiguous(4)) for each in ((1, 8, 3, 1), (4, 8, 3, 1))]
    assert kernels(few.finish(*outs), "cortex-m4") == ["conv2d_dsp", channels]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(
    "wrong",
    [
        {"out_w": 4},
        {"dilation_w": 2},
        {"pad_left": 8},
        {"filled": 1},
        {"groups": 4},
        {"stride_w": 3},
    ]
    + [{"kernel_w": 15}, {"in_w": 7}, {"in_strides": (2048, 256, 32, 2)}]
    + [{"out_strides": (2048, 256, 32, 2)}],
)
def test_planes_in_eights_are_checked(wrong: dict[str, Any], stride: int) -> None:
    net = FloatNet()
    graph = net.finish(_channels(net, 16, 16, 5, stride, contiguous(4)))
    refuses(graph, wrong, "takes planes of five columns or more", "cortex-m4")


def test_wider_windows_of_one_input_have_kernels() -> None:
    """Of four or five columns, where there are four rows of pixels and four outputs, and products enough."""
    net = FloatNet()
    own = ((8, (10, 4), (25, 5)), (4, (10, 4), (10, 10)), (6, (5, 5), (11, 10)))
    others = (
        (4, (10, 4), (9, 11)),
        (3, (5, 5), (20, 20)),
        (8, (1, 5), (3, 200)),
        (4, (6, 6), (20, 20)),
    )
    images = [net.image(out_c, 1, sides, kernel) for out_c, kernel, sides in (*own, *others)]
    expected = ["conv2d_one_four_mve"] * 2 + ["conv2d_one_five_mve"] + ["conv2d_mve"] * 4
    assert kernels(net.finish(*images), "cortex-m55") == expected


@pytest.mark.parametrize(
    "wrong",
    [{"out_c": 3}, {"in_c": 2}, {"out_h": 3}, {"dilation_w": 2}, {"pad_left": 3}, {"filled": 1}]
    + [{"kernel_w": 5}, {"in_w": 3}, {"in_strides": (800, 800, 20, 2)}],
)
def test_wider_windows_of_one_input_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    refuses(
        net.finish(net.image(8, 1, (40, 10), (10, 4))),
        wrong,
        "takes one input, and windows of other columns",
    )


@pytest.mark.parametrize(
    "wrong",
    [{"out_c": 3}, {"in_c": 2}, {"out_w": 4}, {"dilation_w": 2}, {"pad_left": 2}, {"filled": 1}]
    + [{"kernel_w": 4}, {"kernel_h": 4}, {"in_w": 14}, {"in_strides": (512, 512, 32, 2)}],
)
def test_images_of_one_input_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    refuses(net.finish(net.image(8, 1, (16, 16))), wrong, "takes one input")


def test_pixels_of_few_inputs_have_kernels() -> None:
    """Where their outputs lie beside each other: four, eight or more, or any from four on of four inputs,
    and there are enough."""
    net = FloatNet()
    rows = ((36, 3, 16), (35, 3, 16), (36, 3, 20), (72, 3, 8), (144, 3, 4), (64, 3, 9))
    few = ((96, 3, 6), (3, 3, 288), (36, 1, 16), (36, 2, 17), (36, 4, 16), (144, 4, 4), (48, 5, 12))
    graph = net.finish(net.image(), *(net.layer(*each) for each in (*rows, *few)))
    three, others = "conv2d_three_mve", "conv2d_narrow_mve"
    expected = [others, three, others, *[three] * 4, others, others]
    expected += ["conv2d_single_mve", "conv2d_two_mve", *["conv2d_four_mve"] * 2, others]
    assert kernels(graph, "cortex-m55") == expected
    last = FloatNet()
    for order, op in ((contiguous(4), others), (channels_last(4), three)):
        x = last.input((1, 3, 9, 8), F32, order)
        attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
        pixels = last.finish(last.add(attrs, [x, last.some(8, 3, 1, 1)], (1, 8, 9, 8), F32, order))
        assert kernels(pixels, "cortex-m55") == [op]
        last = FloatNet()


def test_planes_of_few_inputs_or_outputs_have_a_kernel() -> None:
    """Of 1x1 windows, where there are pixels enough; that of all convolutions takes several outputs together,
    in less time where there are more terms."""
    planes = "conv2d_planes_1x1_mve"
    for inputs, outputs, sizes, op in (
        (1, 4, (16, 16), planes),
        (2, 1, (16, 16), planes),
        (8, 4, (16, 16), planes),
        (2, 4, (7, 9), planes),
        (2, 4, (5, 5), "conv2d_narrow_mve"),
        (2, 4, (3, 5), "conv2d_narrow_mve"),
        (8, 8, (16, 16), "conv2d_narrow_mve"),
    ):
        net = FloatNet()
        assert kernels(net.finish(_pixels(net, inputs, outputs, sizes)), "cortex-m55") == [op]


def test_planes_of_few_inputs_or_outputs_have_a_kernel_with_an_fpu() -> None:
    """The same there; several outputs take fewer cycles together where each has many terms."""
    planes = "conv2d_planes_1x1_dsp"
    for inputs, outputs, sizes, op in (
        (1, 4, (16, 16), planes),
        (3, 1, (32, 32), planes),
        (16, 3, (16, 16), planes),
        (5, 8, (16, 16), planes),
        (2, 12, (16, 16), planes),
        (8, 8, (16, 16), "conv2d_dsp"),
        (32, 4, (16, 16), "conv2d_dsp"),
        (1, 4, (4, 4), "conv2d_dsp"),
        (3, 8, (3, 5), "conv2d_dsp"),
    ):
        net = FloatNet()
        assert kernels(net.finish(_pixels(net, inputs, outputs, sizes)), "cortex-m4") == [op]


def _pixels(net: FloatNet, inputs: int, outputs: int, sizes: tuple[int, int]) -> int:
    """A convolution of 1x1 windows of planes."""
    x = net.input((1, inputs, *sizes), F32, contiguous(4))
    attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
    operands = [x, net.some(outputs, inputs, 1, 1)]
    return net.add(attrs, operands, (1, outputs, *sizes), F32, contiguous(4))


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize(
    "wrong",
    [{"out_w": 15}, {"in_w": 195}, {"groups": 2}, {"stride_w": 2}, {"pad_left": 1}, {"kernel_h": 2}]
    + [
        {"filled": 1},
        {"out_h": 2},
        {"out_strides": (784, 1, 56, 4)},
        {"in_strides": (392, 1, 28, 2)},
    ],
)
def test_planes_of_few_inputs_are_checked(wrong: dict[str, Any], cpu: str) -> None:
    net = FloatNet()
    refuses(
        net.finish(_pixels(net, 2, 4, (14, 14))),
        wrong,
        "takes a row of 16 pixels or more of each plane",
        cpu,
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"out_c": 7},
        {"out_c": 5},
        {"in_c": 2},
        {"in_w": 35},
        {"out_w": 3},
        {"stride_w": 2},
        {"pad_left": 1},
    ]
    + [{"filled": 1}, {"out_strides": (576, 36, 576, 1)}, {"in_strides": (144, 1, 144, 4)}],
)
def test_pixels_of_few_inputs_are_checked(wrong: dict[str, Any]) -> None:
    net = FloatNet()
    refuses(
        net.finish(net.layer(36, 3, 16)), wrong, "takes a row of pixels of other inputs or outputs"
    )


@pytest.mark.parametrize(
    ("groups", "cpu", "op", "message"),
    [
        (4, "cortex-m55", "conv2d_narrow", "has no channels that are groups"),
        (2, "cortex-m55", "conv2d_row", "computes a row of pixels only"),
        (2, "cortex-m4", "conv2d_row", "computes a row of pixels only"),
        (2, "cortex-m4", "conv2d_channels", "takes channels that are groups only"),
        (2, "cortex-m55", "conv2d_channels", "takes channels that are groups only"),
    ],
)
def test_what_others_leave_out_needs_the_larger_kernel(
    groups: int, cpu: str, op: str, message: str
) -> None:
    net = FloatNet()
    plan = make_plan(net.finish(net.image(4, 4, groups=groups)), Target.parse(cpu))
    (step,) = plan.steps
    kernel = replace(step.calls[0].kernel, op=op)
    smaller = replace(step, calls=(replace(step.calls[0], kernel=kernel),))
    with pytest.raises(CortexMError, match=message):
        check_plan(replace(plan, steps=(smaller,)))


def test_matrices_take_blocks_in_registers_where_there_is_an_fpu() -> None:
    """Of four columns and more, or up to three whose elements follow each other; a single sum has its own."""
    net = FloatNet()
    sizes = (
        (2, 16, 16, 8),
        (1, 3, 5, 4),
        (9, 16, 16, 3),
        (1, 2, 4, 2),
        (1, 64, 64, 1),
        (1, 1, 9, 1),
    )
    products = [net.product(*each) for each in sizes]
    apart = net.input((1, 16, 3), F32, (0, 2, 1))  # elements of a column lie side by side
    a = net.input((1, 5, 16), F32)
    products.append(net.add(ops.FloatMatmul(), [a, apart], (1, 5, 3), F32))
    products.append(net.layer(1, 9, 1))
    expected = ["matmul_dsp"] * 2 + ["matmul_few_dsp"] * 3 + ["matmul_one_dsp", "matmul_scalar"]
    assert kernels(net.finish(*products), "cortex-m4") == [*expected, "matmul_one_dsp"]


def test_a_single_column_is_computed_as_a_row() -> None:
    """Where its kernel takes several columns together, and none takes several rows."""
    net = FloatNet()
    graph = net.finish(net.product(1, 64, 64, 1), net.product(1, 2, 64, 1))
    for cpu, turned in (("cortex-m4", False), ("cortex-m0", True)):
        calls = [step.calls[0] for step in make_plan(graph, Target.parse(cpu)).steps]
        sides = {(dict(call.fields)["rows"], dict(call.fields)["cols"]) for call in calls}
        assert sides == ({(1, 64), (1, 2)} if turned else {(64, 1), (2, 1)})


def test_windows_of_a_single_column_go_along_rows() -> None:
    """But for depthwise ones, whose channels are vectors already."""
    net = FloatNet()
    kernel, sides = (3, 1), (12, 5)
    dense, grouped = net.image(8, 4, sides, kernel), net.image(8, 4, sides, kernel, groups=2)
    graph = net.finish(dense, grouped, net.image(4, 4, sides, kernel, groups=4))
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m0"):
        calls = [step.calls[0] for step in make_plan(graph, Target.parse(cpu)).steps]
        found = [(dict(call.fields)["kernel_h"], dict(call.fields)["in_h"]) for call in calls]
        assert found == [(1, 5), (1, 5), (3, 12)]


def test_products_with_few_columns_have_rows_in_lanes() -> None:
    """Four of them or more of elements that follow each other; others where they save enough for the code."""
    net = FloatNet()
    sizes = (
        (2, 40, 64, 3),
        (1, 64, 64, 2),
        (1, 64, 64, 3),
        (1, 1, 64, 2),
        (2, 16, 16, 4),
    )
    products = [net.product(*each) for each in sizes]
    apart = net.input((1, 64, 3), F32, (0, 2, 1))  # elements of a column lie side by side
    a = net.input((1, 80, 64), F32)
    products.append(net.add(ops.FloatMatmul(), [a, apart], (1, 80, 3), F32))
    rows, few, pairs = "matmul_rows_mve", "matmul_few_mve", "matmul_few_dsp"
    graph = net.finish(*products)
    assert kernels(graph, "cortex-m55") == [few, few, few, pairs, "matmul_mve", rows]


def test_small_matrices_have_a_kernel() -> None:
    """Of up to four columns, or eight that lie side by side of three rows: where they save more than its
    code, or it takes the place of larger ones."""
    small = "matmul_small_mve"
    alone = FloatNet()
    sizes = ((1, 3, 3, 3), (1, 6, 6, 6), (1, 2, 4, 4), (10, 3, 3, 1), (1, 4, 4, 1))
    graph = alone.finish(*(alone.product(*each) for each in sizes))
    assert kernels(graph, "cortex-m55") == [small] * 5
    beside = FloatNet()
    sizes = ((1, 16, 16, 16), (1, 4, 4, 4), (1, 2, 6, 6))
    graph = beside.finish(*(beside.product(*each) for each in sizes))
    assert kernels(graph, "cortex-m55") == ["matmul_mve"] * 3
    many = FloatNet()
    graph = many.finish(many.product(1, 16, 16, 16), many.product(40, 6, 6, 6))
    assert kernels(graph, "cortex-m55") == ["matmul_mve", small]
    few = FloatNet()  # rows in lanes take less
    assert kernels(few.finish(few.product(1, 4, 4, 1)), "cortex-m55") == ["matmul_column_mve"]


def test_layers_with_few_outputs_have_rows_in_lanes() -> None:
    """Where no layer needs another kernel, or they save enough for the code."""
    few, one, beside, images = FloatNet(), FloatNet(), FloatNet(), FloatNet()
    alone = few.finish(few.layer(8, 16, 3), few.layer(16, 64, 2), few.layer(16, 13, 7))
    assert kernels(alone, "cortex-m55") == ["matmul_few_mve"] * 3
    assert kernels(one.finish(one.layer(16, 64, 1)), "cortex-m55") == ["matmul_column_mve"]
    small = beside.finish(beside.layer(8, 16, 3), beside.layer(8, 64, 8))
    assert kernels(small, "cortex-m55") == ["conv2d_row_mve"] * 2
    both = FloatNet()
    outs = both.layer(8, 16, 1), both.layer(1, 16, 8), both.product(1, 8, 8, 2)
    assert kernels(both.finish(*outs), "cortex-m55") == [
        "matmul_column_mve",
        "matmul_row_mve",
        "matmul_few_mve",
    ]
    large = images.finish(images.layer(64, 64, 3), images.layer(3, 64, 3), images.image())
    rows, pixels = "matmul_few_mve", "conv2d_narrow_mve"
    assert kernels(large, "cortex-m55") == [rows, pixels, pixels]
    plan = make_plan(large, Target.parse("cortex-m55"), optimize=Optimize.SIZE)
    assert "matmul" not in {step.calls[0].kernel.serves for step in plan.steps}


def test_one_row_or_two_have_outputs_in_lanes() -> None:
    """Where no layer needs another kernel, or they save enough for the code; a single sum has its own."""
    alone, beside, images, large = FloatNet(), FloatNet(), FloatNet(), FloatNet()
    rows = alone.finish(alone.layer(1, 64, 10), alone.layer(2, 9, 3), alone.layer(1, 9, 1))
    assert kernels(rows, "cortex-m55") == ["matmul_row_mve"] * 2 + ["matmul_one_mve"]
    mixed = beside.finish(beside.layer(1, 64, 10), beside.layer(3, 64, 10))
    assert kernels(mixed, "cortex-m55") == ["conv2d_row_mve"] * 2
    points = FloatNet()
    few = points.finish(points.layer(1, 64, 10), points.layer(64, 3, 16), points.layer(64, 3, 9))
    assert kernels(few, "cortex-m55") == ["matmul_pairs_mve", *["conv2d_three_mve"] * 2]
    small = images.finish(images.layer(1, 64, 10), images.image())
    assert kernels(small, "cortex-m55") == ["conv2d_narrow_mve"] * 2
    outs = [large.layer(2, 64, 256) for _ in range(3)]
    many = kernels(large.finish(*outs, large.image()), "cortex-m55")
    assert many == ["matmul_row_mve"] * 3 + ["conv2d_narrow_mve"]


def test_one_row_of_pairs_of_outputs_has_a_kernel() -> None:
    """Where all layers of one row or two are such, as it is smaller than that of others."""
    pairs, others = FloatNet(), FloatNet()
    alone = pairs.finish(pairs.layer(1, 64, 10), pairs.layer(1, 8, 18), pairs.layer(1, 9, 1))
    assert kernels(alone, "cortex-m55") == ["matmul_pairs_mve"] * 2 + ["matmul_one_mve"]
    both = others.finish(others.layer(1, 64, 10), others.layer(1, 62, 10), others.layer(2, 64, 10))
    assert kernels(both, "cortex-m55") == ["matmul_row_mve"] * 3


def test_one_row_in_the_least_flash_is_portable_c() -> None:
    """As a product alone, as a convolution beside more rows; pairs have little code of their own."""
    alone, both, pairs = FloatNet(), FloatNet(), FloatNet()
    graphs = [
        alone.finish(alone.layer(1, 64, 10), alone.layer(2, 64, 3)),
        both.finish(both.layer(1, 64, 12), both.layer(3, 64, 3)),
        pairs.finish(pairs.layer(1, 64, 10), pairs.layer(24, 64, 3)),
    ]
    target = Target.parse("cortex-m55")
    plans = [make_plan(graph, target, optimize=Optimize.SIZE) for graph in graphs]
    used = [{step.calls[0].kernel.op for step in plan.steps} for plan in plans]
    assert used == [{"matmul"}, {"conv2d"}, {"matmul_pairs", "matmul"}]


def test_weights_of_one_row_lie_behind_biases() -> None:
    """Of a layer without biases behind zeros; layers that differ in biases only have their own constants.
    Biases that are computed are no constants."""
    net = FloatNet()
    x, weight = net.input((1, 2), F32), net.some(5, 2)
    outs = [
        net.add(ops.FloatLinear(), [x, weight, *bias], (1, 5), F32)
        for bias in ((), (net.some(5),), (net.some(5),))
    ]
    plan = make_plan(net.finish(*outs), Target.parse("cortex-m55"))
    assert sorted(constant.nbytes for constant in plan.constants) == [4, *[4 * (5 * 3 + 3)] * 3]
    computed = net.input((5,), F32)
    other = net.add(ops.FloatLinear(), [x, weight, computed], (1, 5), F32)
    assert kernels(net.finish(other), "cortex-m55") == ["conv2d_row_mve"]


def test_pixels_of_few_outputs_are_such_layers() -> None:
    """Of a 1x1 convolution whose channels lie side by side, among others with which they pay for the code;
    those of planes have a kernel of their own."""
    expected = {
        contiguous(4): ["conv2d_planes_1x1_mve"] * 2,
        channels_last(4): ["matmul_few_mve", "matmul_column_mve"],
    }
    for order, own in expected.items():
        net = FloatNet()
        x = net.input((1, 16, 16, 16), F32, order)
        outs = [net.image()]
        for channels in (3, 1, 4):
            shape = (1, channels, 16, 16)
            attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
            outs.append(net.add(attrs, [x, net.some(channels, 16, 1, 1)], shape, F32, order))
        other = "conv2d_narrow_mve"
        assert kernels(net.finish(*outs), "cortex-m55") == [other, *own, other]


def test_long_rows_of_sums_take_eights() -> None:
    """Not short ones, which take longer to begin than they save, nor few."""
    net = FloatNet()
    sizes = ((64, 8), (128, 7), (1, 504), (1, 512))
    sums = [
        net.add(ops.Binary("add"), [net.input(size, F32), net.some(size[1])], size, F32)
        for size in sizes
    ]
    expected = ["dsp", "scalar", "scalar", "dsp"]
    assert kernels(net.finish(*sums), "cortex-m4") == [f"add_{isa}" for isa in expected]


def test_functions_of_many_values_take_several_at_a_time() -> None:
    """Few are not worth the code; sqrt has one kernel."""
    net = FloatNet()
    few, many = (net.input((1, count), F32) for count in (127, 128))
    some = [
        net.add(attrs, [x], net.shape(x), F32)
        for attrs in (ops.Unary("relu"), ops.Clamp(0.0, 6.0), ops.Unary("sqrt"))
        for x in (few, many)
    ]
    graph = net.finish(*some)
    expected = [
        "relu_scalar",
        "relu_dsp",
        "clamp_scalar",
        "clamp_dsp",
        "sqrt_scalar",
        "sqrt_scalar",
    ]
    assert kernels(graph, "cortex-m4") == expected


def test_outputs_that_are_left_are_filled_up_to_vectors() -> None:
    """Where a layer has pixels enough for its weights, and none of them is to be saved."""
    net = FloatNet()
    odd, even = net.image(5), net.image(8)
    wide, tiny = net.image(5, 64), net.image(5, sides=(3, 3))
    pixels = [net.layer(*each) for each in ((16, 24, 3), (8, 25, 3), (26, 8, 7), (26, 8, 4))]
    graph = net.finish(odd, even, wide, tiny, *pixels)
    filled = {}
    for optimize in (Optimize.BALANCED, Optimize.SIZE):
        plan = make_plan(graph, Target.parse("cortex-m55"), optimize=optimize)
        calls = {step.op.outputs[0]: step.calls[0] for step in plan.steps}
        filled[optimize] = [dict(calls[i].fields).get("filled", 0) for i in graph.outputs]
    expected = [1, 0, 0, 0, 1, 0, 1, 0]
    assert filled == {Optimize.BALANCED: expected, Optimize.SIZE: [0] * len(expected)}


def test_filled_weights_are_checked() -> None:
    net = FloatNet()
    plan = make_plan(net.finish(net.image(7)), Target.parse("cortex-m55"))
    name = next(constant.name for constant in plan.constants if constant.name.startswith("w_"))
    for at in (0, 6, 7, 8 * 18 - 1):
        constants = list(plan.constants)
        number = next(i for i, constant in enumerate(constants) if constant.name == name)
        data = constants[number].data.copy()
        data[at] += 1
        constants[number] = replace(constants[number], data=data)
        with pytest.raises(CortexMError, match="would not find the weights"):
            check_plan(replace(plan, constants=tuple(constants)))


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_they_give_the_same_bits(cpu: str, tmp_path: Path) -> None:
    net, alone, target = FloatNet(), FloatNet(), Target.parse(cpu)
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
    shapes = ((5, 19, 3, 2), (3, 17, 5, 1), (4, 23, 5, 2))
    outs += [_channels(net, *each, contiguous(4)) for each in shapes]
    outs += [net.layer(*each) for each in ((37, 1, 20), (39, 2, 21), (45, 4, 13))]
    outs += [net.layer(*each) for each in ((72, 3, 8), (37, 3, 24))]
    pixel = net.input((2, 16, 5, 7), F32, channels_last(4))
    for channels in (1, 3, 7):
        attrs = ops.FloatConv2d(Window((1, 1), (1, 1), (0, 0, 0, 0)), 1)
        shape, weight = (2, channels, 5, 7), net.some(channels, 16, 1, 1)
        outs.append(net.add(attrs, [pixel, weight], shape, F32, channels_last(4)))
    graphs = [net.finish(*outs), alone.finish(*(alone.layer(*each) for each in rows))]
    random = np.random.default_rng(1)
    inputs = [
        [random.standard_normal(graph.tensors[x].shape, np.float32) for x in graph.inputs]
        for graph in graphs
    ]
    jobs = [
        Job(GraphProgram(f"products{i}", b"", made=graph), [values])
        for i, (graph, values) in enumerate(zip(graphs, inputs, strict=True))
    ]
    results = run_jobs(jobs, target, tmp_path)
    for graph, values, (got, *_) in zip(graphs, inputs, results, strict=True):
        for a, b in zip(got, run_graph(graph, values), strict=True):
            assert a.tobytes() == b.tobytes()
