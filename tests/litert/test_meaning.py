# SPDX-License-Identifier: Apache-2.0
"""What TFLM does not have, or leaves undefined, is computed as the operator is defined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cortexm_tools.ir import Array
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.litert import read_litert
from cortexm_tools.simplify import simplify

from tests.litert.files import ENUMS, File
from tests.litert.networks import net

ALL = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)
SCALE, ZERO, OUT_SCALE, OUT_ZERO = 0.03, 5, 0.05, -20


@pytest.mark.parametrize(
    ("name", "function", "options"),
    [
        ("EXP", np.exp, {"table": "ExpOptions"}),
        ("LOG", lambda x: np.log(np.maximum(x, 1e-9)), {}),
        ("RELU_N1_TO_1", lambda x: np.clip(x, -1, 1), {}),
        ("RELU_0_TO_1", lambda x: np.clip(x, 0, 1), {}),
        ("GELU", lambda x: x / (1 + np.exp(-1.702 * x)), {"table": "GeluOptions"}),
        (
            "GELU",
            lambda x: x / (1 + np.exp(-1.702 * x)),
            {"table": "GeluOptions", "approximate": 1},
        ),
    ],
)
def test_functions_of_codes(
    name: str, function: Callable[[Array], Array], options: dict[str, Any]
) -> None:
    f = File()
    x = f.tensor((1, 256), scale=SCALE, zero=ZERO)
    y = f.tensor((1, 256), scale=OUT_SCALE, zero=OUT_ZERO)
    f.operator(name, [x], [y], **options)
    (got,) = run_graph(read_litert(f.data([x], [y]), name="net"), [ALL])
    codes = function((ALL.astype(np.float64) - ZERO) * SCALE) / OUT_SCALE + OUT_ZERO
    # The logarithm of what is not positive is no number.
    used = ALL > ZERO if name == "LOG" else np.full(ALL.shape, True)
    assert np.abs(got - np.clip(codes, -128, 127))[used].max() <= 1.0


def moved(name: str, x: Array, operand: Array, results: list[Array], table: str) -> list[Array]:
    """The results of an operator of codes and integers."""
    f = File()
    source, number = f.tensor(x.shape, scale=SCALE, zero=ZERO), f.constant(operand)
    outputs = [
        f.tensor(y.shape, y.dtype.name, SCALE if y.dtype == np.int8 else None, ZERO)
        for y in results
    ]
    f.operator(name, [source, number], outputs, table)
    return run_graph(read_litert(f.data([source], outputs), name="net"), [x])


def test_tiles_and_largest_elements() -> None:
    x = np.array([[3, -7, 9], [5, 1, -2]], np.int8)
    tiled = np.tile(x, (2, 3))
    (got,) = moved("TILE", x, np.array([2, 3], np.int32), [tiled], "TileOptions")
    np.testing.assert_array_equal(got, tiled)
    best = [np.array([[9, 3], [5, 1]], np.int8), np.array([[2, 0], [0, 1]], np.int32)]
    for got, want in zip(
        moved("TOPK_V2", x, np.array([2], np.int32), best, "TopKV2Options"), best, strict=True
    ):
        np.testing.assert_array_equal(got, want)


def test_batches_are_padded_with_the_zero_point() -> None:
    f = File()
    x = f.tensor((1, 1, 3, 1), scale=SCALE, zero=ZERO)
    y = f.tensor((2, 1, 2, 1), scale=SCALE, zero=ZERO)
    block = f.constant(np.array([1, 2], np.int32))
    pads = f.constant(np.array([[0, 0], [1, 0]], np.int32))
    f.operator("SPACE_TO_BATCH_ND", [x, block, pads], [y], "SpaceToBatchNDOptions")
    graph = read_litert(f.data([x], [y]), name="net")
    (got,) = run_graph(graph, [np.array([7, 8, 9], np.int8).reshape(1, 1, 3, 1)])
    assert got.reshape(-1).tolist() == [ZERO, 8, 7, 9]


@pytest.mark.parametrize(
    "constant",
    [
        {"data": np.array([[1.5], [-2.0]], np.float16), "kind": "float16"},
        {"data": np.array([[30], [-4]], np.int8), "scale": [0.05, 0.5]},
        {"data": np.array([[33], [-37]], np.int8), "scale": 0.05, "zero": 3},
    ],
)
def test_weights_are_dequantized_here(constant: dict[str, Any]) -> None:
    f = File()
    x, y, plain = (f.tensor(shape, "float32") for shape in ((2, 3), (2, 3), (2, 1)))
    f.operator("DEQUANTIZE", [f.constant(**constant)], [plain], "DequantizeOptions")
    f.operator("MUL", [x, plain], [y], "MulOptions")
    graph = read_litert(f.data([x], [y]), name="net")
    (got,) = run_graph(graph, [np.ones((2, 3), np.float32)])
    np.testing.assert_allclose(got, np.tile([[1.5], [-2.0]], 3), rtol=1e-6)
    assert [op.kind for op in graph.ops] == ["binary"]


def test_integers_are_divided_towards_zero() -> None:
    f = File()
    x, y = f.tensor((4,), "int32"), f.tensor((4,), "int32")
    f.operator("DIV", [x, f.constant(np.array([2, -2, 3, 7], np.int32))], [y], "DivOptions")
    graph = read_litert(f.data([x], [y]), name="net")
    (got,) = run_graph(graph, [np.array([-7, 7, 8, -6], np.int32)])
    assert got.tolist() == [-3, -3, 2, 0]


def test_what_is_computed_from_shapes_is_a_constant() -> None:
    f = File()
    x, y = f.tensor((2, 3), "float32"), f.tensor((3, 2), "float32")
    shape, turned = f.tensor((2,), "int32"), f.tensor((2,), "int32")
    f.operator("SHAPE", [x], [shape], "ShapeOptions", out_type=2)
    ints = [f.constant(np.array([value], np.int32)) for value in (1, -3, -1)]
    f.operator("STRIDED_SLICE", [shape, *ints], [turned], "StridedSliceOptions")
    f.operator("RESHAPE", [x, turned], [y], "ReshapeOptions")
    assert [op.kind for op in read_litert(f.data([x], [y]), name="net").ops] == ["view"]


def test_pads_fold_and_images_are_turned_at_the_border_alone() -> None:
    f = net()
    operators, tensors = f.graphs[0]["operators"], f.graphs[0]["tensors"]
    padded = f.tensor((1, 8, 8, 8), scale=tensors[1]["quantization"]["scale"], zero=-3)
    pads = f.constant(np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
    f.operator("PAD", [1, pads], [padded], "PadOptions")
    operators.insert(1, operators.pop())
    depthwise = operators[2]
    depthwise["inputs"][0] = padded
    depthwise["builtin_options"][1]["padding"] = ENUMS["Padding"]["VALID"]
    kinds = Counter(op.kind for op in simplify(read_litert(f.data(), name="net")).ops)
    assert kinds["pad"] == 0 and kinds["conv2d"] == kinds["depthwise_conv2d"] == kinds["add"] == 1
    assert kinds["transpose"] <= 2
