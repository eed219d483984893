# SPDX-License-Identifier: Apache-2.0
"""Every rewrite keeps every byte, and does what it is for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, channels_last, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify import simplify

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs, random_narrow, random_network


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


def same(before: Graph, after: Graph, seed: int = 0) -> None:
    inputs = random_inputs(before, seed)
    for a, b in zip(run_graph(before, inputs), run_graph(after, inputs), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(60))
def test_random_networks_keep_their_results(seed: int) -> None:
    for graph in (random_network(seed), random_narrow(seed)):
        same(graph, simplify(graph), seed)


def test_quantize_after_dequantize_vanishes() -> None:
    net = Net()
    x = net.input((1, 2, 4, 4))
    graph = net.finish(net.activation(net.quantize(net.dequantize(x))))
    result = simplify(graph)
    assert kinds(result) == ["activation"]
    same(graph, result)


@pytest.mark.parametrize(("scale", "zero_point"), [(0.05, 4), (0.013, 3), (1.7, -128)])
def test_other_parameters_become_a_table(scale: float, zero_point: int) -> None:
    net = Net()
    x = net.input((1, 1, 16, 16))
    graph = net.finish(net.quantize(net.dequantize(x), scale, zero_point))
    result = simplify(graph)
    assert kinds(result) == ["activation"]
    same(graph, result)


def test_pad_folds_into_the_convolution_that_reads_it() -> None:
    net = Net()
    x = net.input((1, 3, 5, 6))
    padded = net.pad(x, (0, 0, 2, 1), (0, 0, 0, 3), value=0)
    conv = net.conv(padded, 4, padding=(0, 1, 1, 0))
    zero_point = net.ops[-1].attrs.in_zero_point  # type: ignore[attr-defined]
    net.ops[0] = type(net.ops[0])(
        ops.Pad((0, 0, 2, 1), (0, 0, 0, 3), zero_point), net.ops[0].inputs, net.ops[0].outputs
    )
    graph = net.finish(conv)
    result = simplify(graph)
    assert kinds(result) == ["conv2d"]
    assert result.ops[0].attrs.window.padding == (2, 2, 1, 3)  # type: ignore[attr-defined]
    same(graph, result)


@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
@pytest.mark.parametrize("channels", [5, 1])
def test_convolutions_of_single_pixels_are_linear(channels: int, dtype: DType) -> None:
    """With the views that a program has around one there is nothing but the linear layer."""
    net = Net()
    x = net.input((2, 3, channels), dtype)
    pixels = net.view(x, (6, channels, 1, 1))
    conv = net.conv(pixels, 7, (1, 1), (2, 1), (0, 0, 0, 0), depthwise=channels == 1)
    graph = net.finish(net.view(conv, (2, 3, 7)))
    result = simplify(graph)
    assert kinds(result)[0] == "linear" and set(kinds(result)[1:]) <= {"view", "clone"}
    assert isinstance(result.ops[0].attrs, ops.Linear) and len(result.ops[0].attrs.rescales) == 7
    same(graph, result)


@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize(
    ("taps", "dilation"), [((4, 5), (1, 1)), ((4, 2), (1, 4)), ((2, 3), (3, 2))]
)
def test_convolutions_of_the_whole_image_are_linear_in_a_call_of_a_stream(
    taps: tuple[int, int], dilation: tuple[int, int], keeps: bool, dtype: DType
) -> None:
    """What two of them read is brought together once."""
    net = Net()
    x = net.input((2, 3, 4, 5), dtype)
    if keeps:
        x = net.keep(net.tensor((2, 3, 4, 5), dtype), net.activation(x))
        before = net.states[0].before
        x = net.sum(x, before)
    both = [net.conv(x, 7, taps, (3, 1), (0, 0, 0, 0), dilation=dilation) for _ in range(2)]
    graph = net.finish(*both)
    result = simplify(graph)
    assert kinds(result).count("linear") == 2 * keeps == 2 - kinds(result).count("conv2d")
    assert kinds(result).count("slice") == (keeps and dilation != (1, 1))
    same(graph, result)


@pytest.mark.parametrize(
    "more",
    [
        {"kernel": (1, 1), "padding": (1, 0, 0, 0)},
        {"kernel": (1, 1), "padding": (0, 0, 0, 0), "groups": 2},
    ],
)
def test_other_convolutions_of_single_pixels_stay(more: dict[str, Any]) -> None:
    net = Net()
    graph = net.finish(net.conv(net.input((1, 4, 1, 1)), 6, **more))
    assert kinds(simplify(graph)) == ["conv2d"]
    same(graph, simplify(graph))


def test_larger_images_stay() -> None:
    net = Net()
    graph = net.finish(net.conv(net.input((1, 4, 1, 2)), 6, (1, 1), padding=(0, 0, 0, 0)))
    assert kinds(simplify(graph)) == ["conv2d"]


def test_single_pixels_share_their_weights() -> None:
    net = Net()
    x = net.input((1, 4, 1, 1))
    first = net.conv(x, 4, (1, 1), padding=(0, 0, 0, 0))
    net.ops.append(replace(net.ops[-1], outputs=(net.tensor((1, 4, 1, 1)),)))
    graph = net.finish(first, net.ops[-1].outputs[0])
    result = simplify(graph)
    linear = [op for op in result.ops if op.kind == "linear"]
    assert len(linear) == 2 and linear[0].inputs[1] == linear[1].inputs[1]
    same(graph, result)


def test_codes_of_which_the_lowest_never_comes_stay() -> None:
    net = Net()
    x = net.requantize(net.input((1, 2, 4, 4), DType.S16), DType.S16)
    object.__setattr__(net.ops[-1].attrs, "act_min", -32767)
    y = net.dequantize(net.view(x, (8, 4)), 0.05 / 200, 0)
    z = net.quantize(y, 0.05, 0, dtype=DType.S16)
    object.__setattr__(net.ops[-1].attrs, "qmin", -32767)
    graph = net.finish(net.view(z, (4, 8)))
    assert not {"quantize", "dequantize"} & {*kinds(simplify(graph))}
    same(graph, simplify(graph))


def test_arithmetic_repeats_an_operand_itself() -> None:
    net = Net()
    x = net.input((1, 2, 9, 6))
    rows = net.add(ops.Expand(), [net.codes(9, 6)], (1, 2, 9, 6))
    column = net.add(ops.Expand(), [net.codes(9, 1)], (1, 2, 9, 6))
    graph = net.finish(net.sum(x, rows), net.sum(x, column))
    assert kinds(simplify(graph)) == ["expand", "add", "add"]
    same(graph, simplify(graph))


def test_a_view_of_a_view_is_one() -> None:
    net = Net()
    views = net.view(net.view(net.input((2, 3, 4)), (6, 4)), (24,))
    graph = net.finish(net.activation(views))
    result = simplify(graph)
    assert kinds(result) == ["view", "activation"]
    same(graph, result)


@pytest.mark.parametrize(("shape", "left"), [((1, 9, 1, 4), []), ((1, 9, 5, 1), ["expand"])])
def test_sums_repeat_smaller_operands(shape: tuple[int, ...], left: list[str]) -> None:
    """Copied only where its elements do not lie as they are repeated."""
    net = Net()
    x, row = net.input((1, 9, 5, 4)), net.input(shape)
    wide = net.add(ops.Expand(), [row], (1, 9, 5, 4), order=channels_last(4))
    graph = net.finish(net.sum(x, wide))
    result = simplify(graph)
    assert kinds(result) == [*left, "add"]
    same(graph, result)


def test_pad_of_another_value_stays() -> None:
    net = Net()
    padded = net.pad(net.input((1, 3, 5, 6)), (0, 0, 1, 1), (0, 0, 1, 1), value=0)
    conv = net.conv(padded, 4)
    object.__setattr__(net.ops[-1].attrs, "in_zero_point", 7)
    graph = net.finish(conv)
    assert kinds(simplify(graph)) == ["pad", "conv2d"]
    same(graph, simplify(graph))


def test_random_pads_keep_their_results() -> None:
    folded = 0
    for seed in range(120):
        net = Net(f"pads{seed}", seed)
        pick = net.random.integers
        x = net.input((1, int(pick(1, 4)), int(pick(1, 6)), int(pick(1, 6))))
        lowest = -128
        if pick(0, 2):
            x = net.conv(x, int(pick(1, 5)))
            lowest = int(pick(-128, 0))
            object.__setattr__(net.ops[-1].attrs, "act_min", lowest)
        edges = [int(n) for n in pick(0, 4, 4)]
        value = (-128, lowest, lowest + 1, int(pick(-128, 128)))[int(pick(0, 4))]
        x = net.pad(x, (0, 0, *edges[:2]), (0, 0, *edges[2:]), value)
        _, channels, *size = net.shape(x)
        kernel = tuple(min(int(pick(1, 5)), n) for n in size)
        kind = int(pick(0, 3))
        if kind < 2:
            x = net.conv(x, channels, kernel, depthwise=kind == 1)  # type: ignore[arg-type]
            if pick(0, 2):
                object.__setattr__(net.ops[-1].attrs, "in_zero_point", value)
        else:
            step = tuple(int(n) for n in pick(1, 3, 2))
            far = tuple(
                int(pick(1, 4)) if 3 * (k - 1) < n else 1 for k, n in zip(kernel, size, strict=True)
            )
            reach = [d * (k - 1) + 1 for d, k in zip(far, kernel, strict=True)]
            window = Window(kernel, step, (0, 0, 0, 0), far)  # type: ignore[arg-type]
            attrs = ops.MaxPool2d(window, int(pick(-128, -100)), 127)
            out = [(n - r) // s + 1 for n, r, s in zip(size, reach, step, strict=True)]
            x = net.add(attrs, [x], (1, channels, *out))
        graph = net.finish(x)
        result = simplify(graph)
        folded += "pad" not in kinds(result) and any(edges)
        for inputs in range(3):
            same(graph, result, inputs)
    assert folded > 30


def test_pad_of_nothing_and_dead_operators_vanish() -> None:
    net = Net()
    x = net.input((1, 3, 5, 6))
    net.activation(x)
    graph = net.finish(net.conv(net.pad(x, (0,) * 4, (0,) * 4, 9), 2))
    assert kinds(simplify(graph)) == ["conv2d"]


def test_contiguous_image_is_moved_once() -> None:
    net = Net()
    x = net.input((1, 3, 6, 6), order=contiguous(4))
    graph = net.finish(net.sum(net.conv(x, 2), net.conv(x, 2)))
    result = simplify(graph)
    assert kinds(result) == ["clone", "conv2d", "conv2d", "add"]
    same(graph, result)


def test_outputs_are_tensors_of_their_own() -> None:
    net = Net()
    x = net.input((1, 3, 6, 6))
    y = net.activation(x)
    graph = net.finish(x, y, y)
    result = simplify(graph)
    assert len(set(result.outputs)) == 3 and not set(result.outputs) & set(result.inputs)
    same(graph, result)


def test_int8_interface_gives_the_codes_of_the_float_one() -> None:
    net = Net()
    y = net.conv(net.quantize(net.input((1, 2, 6, 6), DType.F32)), 3)
    graph = net.finish(net.dequantize(y, 0.1, -5))
    codes = simplify(graph, io_int8=True)
    assert kinds(codes) == ["conv2d"]
    entry, result = codes.tensors[codes.inputs[0]], codes.tensors[codes.outputs[0]]
    assert entry.dtype is result.dtype is DType.S8
    assert entry.quant is not None and (entry.quant.scale, entry.quant.zero_point) == (0.05, 3)
    assert result.quant is not None and (result.quant.scale, result.quant.zero_point) == (0.1, -5)
    (x,) = random_inputs(graph, 1)
    given = np.clip(np.rint(x * np.float32(1 / 0.05)) + 3, -128, 127).astype(np.int8)
    (expected,) = run_graph(graph, [x])
    (code,) = run_graph(codes, [given])
    np.testing.assert_array_equal((code.astype(np.float32) + 5) * np.float32(0.1), expected)


def test_int8_interface_of_a_float_model_is_refused() -> None:
    net = Net()
    x = net.input((1, 4), DType.F32)
    graph = net.finish(net.dequantize(net.quantize(x)), net.view(x, (4,)))
    with pytest.raises(CortexMError, match="is not quantized in one way"):
        simplify(graph, io_int8=True)
