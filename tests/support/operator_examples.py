# SPDX-License-Identifier: Apache-2.0
"""Small sound graphs of one operator each, for every operator of the IR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cortexm_tools.ir import Attrs, DType, Graph, Layer, Op, Rescale, contiguous, ops
from cortexm_tools.ir.geometry import Window

from tests.support.graphs import Net
from tests.support.recurrent import add_layer

S8, S16, S32, S64, U8, F32, BOOL = (
    *(DType.S8, DType.S16, DType.S32, DType.S64, DType.U8, DType.F32, DType.BOOL),
)
_IMAGE = (1, 4, 5, 6)
_WINDOW = Window((2, 3), (2, 1), (1, 1, 0, 1))  # gives 3x6 of _IMAGE
_SPREAD = Window((2, 3), (2, 1), (1, 1, 1, 1), (1, 2))
_SIGNALS = np.round(32767 * np.hanning(50)).astype(np.int16), np.arange(39).astype(np.int16) * 800

# An operator, its operands in C order (inputs, or constants where there are values), and its result.
Operand = tuple[tuple[int, ...], DType] | np.ndarray
Row = tuple[Attrs, list[Operand], tuple[int, ...], DType]


def examples(kind: type[Attrs]) -> list[Graph]:
    """Graphs of one operator of this kind."""
    of_one = [_graph(row) for row in _ROWS if type(row[0]) is kind]
    return of_one + [g for g in _of_several_results() if type(g.ops[0].attrs) is kind]


def kinds() -> frozenset[type[Attrs]]:
    """The operators that have examples."""
    graphs = _of_several_results()
    return frozenset(
        map(type, [row[0] for row in _ROWS] + [graph.ops[0].attrs for graph in graphs])
    )


def _graph(row: Row) -> Graph:
    attrs, operands, shape, dtype = row
    net = Net(attrs.kind, 7)
    inputs = []
    for operand in operands:
        if isinstance(operand, np.ndarray):
            of_type = next(d for d in DType if d.numpy == operand.dtype)
            inputs.append(net.constant(operand, of_type))
        else:
            inputs.append(net.input(*operand, contiguous(len(operand[0]))))
    return net.finish(net.add(attrs, inputs, shape, dtype, contiguous(len(shape))))


def _codes(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(-128, 128, shape).astype(np.int8)


def _floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).normal(0, 1, shape).astype(np.float32)


def _biases(count: int) -> np.ndarray:
    return np.arange(-count, count, 2).astype(np.int32) * 100


def _wide_codes(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).integers(-(2**15), 2**15, shape).astype(np.int16)


def _wide_biases(count: int) -> np.ndarray:
    """With one beyond 32 bits."""
    return (_biases(count).astype(np.int64) * 1000) + np.eye(1, count, dtype=np.int64)[0] * 2**40


def _wide_scales(count: int) -> dict[str, Any]:
    return {
        "in_zero_point": 0,
        "out_zero_point": 0,
        "rescales": (Rescale(1518500250, -8), *(Rescale(2**31 - 1, -9),) * (count - 1)),
        "act_min": -32000,
        "act_max": 30000,
    }


def _scales(count: int) -> dict[str, Any]:
    return {
        "in_zero_point": -3,
        "out_zero_point": 5,
        "rescales": (Rescale(1518500250, -8),) * count,
        "act_min": -120,
        "act_max": 100,
    }


def _factors(*shape: int) -> list[Operand]:
    """Factors and offsets of a norm of codes."""
    random = np.random.default_rng(3)
    offsets = random.integers(-(2**18), 2**18, shape).astype(np.int32)
    return [random.integers(-(2**26), 2**26, shape).astype(np.int32), offsets]


def _of_several_results() -> Iterator[Graph]:
    ring = ops.DepthwiseRing(**_scales(8))
    net = Net("depthwise_ring", 3)
    position, rows = net.input((1,), S32, contiguous(1)), net.input((2, 3, 2, 4), S8, contiguous(4))
    constants = [net.constant(_codes(6, 8), S8), net.constant(_biases(8), S32)]
    after, out = net.tensor((1,), S32, contiguous(1)), net.tensor((1, 8), S8, contiguous(2))
    net.ops.append(Op(ring, (position, rows, *constants), (after, out), Layer("ring")))
    yield net.finish(after, out)
    for kind in (ops.Lstm, ops.Gru, ops.Rnn):
        for dtype, sequence in ((S8, True), (S16, True), (S8, False)):
            net = Net(kind.kind, 7)
            x = net.input((3, 2, 4), dtype, contiguous(3))
            yield net.finish(*add_layer(net, kind, x, 5, sequence=sequence, reverse=sequence))
    for batch_first in (False, True):
        net = Net("interpolated_lstm")
        x, h, c = net.input((2, 2, 4), S8), net.input((2, 3), S8), net.input((2, 3), S16)
        constants = list(
            map(net.constant, (_codes(12, 4), _codes(12, 3), _biases(12)), (S8, S8, S32))
        )
        outputs = net.tensor((2, 2, 3), S8), net.tensor((2, 3), S8), net.tensor((2, 3), S16)
        lstm = ops.InterpolatedLstm(
            batch_first, 3, -5, (Rescale(1518500250, -2),) * 4, (Rescale(1718500250, -3),) * 4,
            Rescale(1 << 30, -16), Rescale(1610612736, -22), 30000, 6, 1,
        )  # fmt: skip
        net.ops.append(Op(lstm, (x, h, c, *constants), outputs, Layer("lstm")))
        yield net.finish(*outputs)
    net = Net("svdf")
    kept, x = net.input((2, 12), S16), net.input((2, 4), S8)
    times = np.arange(-6, 6, dtype=np.int16).reshape(4, 3)
    bias = np.array([5, -9], np.int32)
    constants = list(map(net.constant, (_codes(4, 4), times, bias), (S8, S16, S32)))
    after, y = net.tensor((2, 12), S16), net.tensor((2, 2), S8)
    attrs = ops.Svdf(2, 3, _RESCALE, Rescale(1518500250, -3), -5)
    net.ops.append(Op(attrs, (kept, x, *constants), (after, y), Layer("svdf")))
    yield net.finish(after, y)
    for dtype, attrs, shape in (
        (F32, ops.ArgReduce("min", 1, False), (2, 4)),
        (S8, ops.TopK(1, True), (2, 2, 4)),
        (F32, ops.TopK(2, False), (2, 3, 4)),
    ):
        net = Net(attrs.kind)
        x = net.input((2, 3, 4), dtype)
        outputs = (net.tensor(shape, dtype), net.tensor(shape, S64))
        net.ops.append(Op(attrs, (x,), outputs, Layer("best")))
        yield net.finish(*outputs)


_RESCALE = Rescale(1518500250, -1)
_PLACED = ops.BatchMatmul(
    *(0, 0, 0, Rescale(1518500250, -16)),
    lhs=ops.Matrices((2, 1, 3, 5), (30, 0, 10, 1), 4),
    rhs=ops.Matrices((1, 2, 4, 5), (0, 4, 1, 9), 1),
    out=ops.Matrices((1, 2, 3, 4), (0, 4, 8, 1)),
)
_BETWEEN = (ops.Between(0, 1, 0.25), ops.Between(3, 4, 0.5))

_ROWS: list[Row] = [
    # Convolutions, products of matrices, pools
    *(
        (ops.Conv2d(_WINDOW, **scales, groups=2), [(_IMAGE, dtype), _codes(6, 2, 3, 2), *bias],
         (1, 6, 3, 6), dtype)
        for dtype, scales, bias in (
            (S8, _scales(6), [_biases(6)]), (S8, _scales(6), []),
            (S16, _wide_scales(6), [_biases(6)]), (S16, _wide_scales(6), [_wide_biases(6)]),
        )
    ),
    *(
        row
        for dtype, scales, biases in ((S8, _scales, _biases), (S16, _wide_scales, _wide_biases))
        for row in (
            (ops.DepthwiseConv2d(_WINDOW, **scales(8)),
             [(_IMAGE, dtype), _codes(1, 2, 3, 8), biases(8)], (1, 8, 3, 6), dtype),
            (ops.TransposeConv2d(_SPREAD, **scales(3)),
             [(_IMAGE, dtype), _codes(3, 2, 3, 4), biases(3)], (1, 3, 9, 8), dtype),
        )
    ),
    (ops.FloatConv2d(_WINDOW, groups=2), [(_IMAGE, F32), _floats(6, 2, 2, 3), _floats(6)],
     (1, 6, 3, 6), F32),
    (ops.FloatTransposeConv2d(_SPREAD, groups=2),
     [(_IMAGE, F32), _floats(4, 3, 2, 3), _floats(6)], (1, 6, 9, 8), F32),
    *(
        (ops.Linear(-3, 0, 5, rescales, -120, 100), [((3, 7), S8), _codes(4, 7), _biases(4)],
         (3, 4), S8)
        for rescales in (
            (Rescale(1518500250, -8),), tuple(Rescale(2**30 + i, -7 - i) for i in range(4))
        )
    ),
    *(
        (ops.Linear(0, 0, 0, _wide_scales(4)["rescales"], -32000, 30000),
         [((3, 7), S16), _codes(4, 7), bias], (3, 4), S16)
        for bias in (_biases(4), _wide_biases(4))
    ),
    (ops.FloatLinear(), [((3, 7), F32), _floats(4, 7), _floats(4)], (3, 4), F32),
    (ops.BatchMatmul(-3, 4, 5, Rescale(1518500250, -8)), [((2, 3, 5), S8), ((2, 4, 5), S8)],
     (2, 3, 4), S8),
    (replace(_PLACED, lhs=None, rhs=None, out=None), [((2, 3, 5), S16), ((2, 4, 5), S16)],
     (2, 3, 4), S16),
    *((_PLACED, [((2, 3, 10), dtype), ((5, 9), dtype)], (3, 8), dtype) for dtype in (S8, S16)),
    (ops.FloatMatmul(), [((2, 3, 5), F32), ((2, 5, 4), F32), _floats(3, 4)], (2, 3, 4), F32),
    *(
        (attrs, [(_IMAGE, dtype)], (1, 4, 3, 6), dtype)
        for attrs, dtype in (
            (ops.AvgPool2d(_WINDOW), S8), (ops.AvgPool2d(_WINDOW), S16),
            (ops.MaxPool2d(_WINDOW, -100, 90), S8), (ops.MaxPool2d(_WINDOW, -30000, 90), S16),
            (ops.FloatAvgPool2d(_WINDOW, (1, 1), True, None), F32),
            (ops.FloatAvgPool2d(_WINDOW, (1, 1), True, 3), F32), (ops.FloatMaxPool2d(_WINDOW), F32),
        )
    ),
    # Element by element
    (ops.Add(*(-3, _RESCALE), *(4, Rescale(-1073741824, 0)), *(5, Rescale(1610612736, -19)),
             *(-120, 100)), [((2, 3, 5), S8), ((3, 5), S8)], (2, 3, 5), S8),
    (ops.Add(*(0, _RESCALE), *(0, Rescale(-1073741824, 0)), *(0, Rescale(1610612736, -14)),
             *(-32000, 30000)), [((2, 3, 5), S16), ((3, 5), S16)], (2, 3, 5), S16),
    (ops.Mul(-300, 4, 5, Rescale(1610612736, -6)), [((2, 3, 5), S8), ((1,), S8)], (2, 3, 5), S8),
    (ops.Mul(0, 0, 0, Rescale(1610612736, -14)), [((2, 3, 5), S16), ((1,), S16)], (2, 3, 5), S16),
    (ops.Gate(1, 1, 0, -300, 4, 5, Rescale(1610612736, -6)),
     [((2, 5, 3), S8), ((2, 4, 3), S8), _codes(256)], (2, 4, 3), S8),
    (ops.Gate(1, 1, 0, 0, 0, 0, Rescale(1610612736, -14)),
     [((2, 5, 3), S16), ((2, 4, 3), S16), _wide_codes(513)], (2, 4, 3), S16),
    (ops.Gate(1, 1, 0, 0, 0, 0, Rescale(1610612736, -14)), [((2, 5, 3), S16), ((2, 5, 3), S16)],
     (2, 4, 3), S16),
    *((ops.Div(-3, 4, 5, 7.5), [((2, 9), dtype), ((2, 9), dtype)], (2, 9), dtype)
      for dtype in (S8, S16)),
    *((ops.Minimum(), [((2, 9), dtype), ((9,), dtype)], (2, 9), dtype) for dtype in (S8, F32)),
    *((ops.Maximum(), [((2, 9), dtype), ((1, 9), dtype)], (2, 9), dtype) for dtype in (S16, S64)),
    (ops.Binary("mul"), [((2, 9), F32), ((9,), F32)], (2, 9), F32),
    (ops.Binary("remainder"), [((2, 3), S32), np.array([3, -2, 1], np.int32)], (2, 3), S32),
    (ops.Activation(), [((2, 9), S8), _codes(256)], (2, 9), S8),
    (ops.Activation(), [((2, 9), S16), _wide_codes(1025)], (2, 9), S16),
    (ops.Softmax(1, Rescale(1717986918, 22), -248), [((2, 9), S8)], (2, 9), S8),
    (ops.WideSoftmax(1, 2**20), [((2, 9), S16)], (2, 9), S16),
    (ops.InterpolatedSoftmax(1, Rescale(1717986918, 2)), [((2, 9), S16)], (2, 9), S16),
    *((ops.WideSigmoid(24576, 14, is_tanh), [((2, 9), S16)], (2, 9), S16) for is_tanh in (False, True)),
    (ops.FloatSoftmax(1, False), [((2, 9), F32)], (2, 9), F32),
    (ops.Unary("leaky_relu", 0.1), [((2, 9), F32)], (2, 9), F32),
    (ops.Clamp(-1.5, 6.0), [((2, 9), F32)], (2, 9), F32),
    (ops.Clamp(-7, 20), [((2, 9), S8)], (2, 9), S8),
    *(
        (ops.LayerNorm(15, centred, zero_point, 4000, 12), [((2, 3, 5), dtype), *_factors(3, 5)],
         (2, 3, 5), dtype)
        for dtype, centred, zero_point in ((S8, True, 3), (S8, False, -7), (S16, True, 0))
    ),
    *((ops.GroupNorm(3, 4000, 12), [((2, 6, 3), dtype), *_factors(6)], (2, 6, 3), dtype)
      for dtype in (S8, S16)),
    (ops.FloatLayerNorm(15, 1e-5), [((2, 3, 5), F32), _floats(3, 5), _floats(3, 5)], (2, 3, 5),
     F32),
    (ops.FloatGroupNorm(3, 1e-5), [((2, 6, 3), F32), _floats(6), _floats(6)], (2, 6, 3), F32),
    (ops.Compare("le"), [((2, 9), S16), ((9,), S16)], (2, 9), BOOL),
    (ops.Logical("xor"), [((2, 9), BOOL), ((9,), BOOL)], (2, 9), BOOL),
    (ops.LogicalNot(), [((2, 9), BOOL)], (2, 9), BOOL),
    (ops.Where(), [((2, 1), BOOL), ((2, 9), S8), ((9,), S8)], (2, 9), S8),
    (ops.Quantize(0.05, 3, -128, 127), [((2, 9), F32)], (2, 9), S8),
    (ops.Quantize(0.05, 3, -32768, 32767), [((2, 9), F32)], (2, 9), S16),
    (ops.Dequantize(0.05, 3), [((2, 9), S8)], (2, 9), F32),
    (ops.Requantize(-3, _RESCALE, 0, -30000, 99), [((2, 9), S8)], (2, 9), S16),
    (ops.Requantize(0, _RESCALE, 4, -120, 99), [((2, 9), S16)], (2, 9), S8),
    (ops.Requantize(0, Rescale(1518500250, 1), 0, -30000, 30000), [((2, 9), S16)], (2, 9), S16),
    (ops.Lookup(1), [((2, 3, 5), U8), np.arange(3 * 256).reshape(3, 256).astype(np.int8)],
     (2, 3, 5), S8),
    (ops.Lookup(0), [((2, 9), U8), np.arange(256).reshape(1, 256).astype(np.int16)], (2, 9), S16),
    (ops.Cast(), [((2, 9), F32)], (2, 9), S32),
    # Data movement, indexing, reductions, resampling
    *((ops.Pad((0, 1), (2, 0), -3), [((2, 4), dtype)], (4, 5), dtype) for dtype in (S8, F32, S64)),
    (ops.Transpose((2, 0, 1)), [((2, 3, 4), S8)], (4, 2, 3), S8),
    (ops.View(), [((2, 3, 4), S8)], (6, 4), S8),
    (ops.Clone(), [((2, 3, 4), S16)], (2, 3, 4), S16),
    (ops.Expand(), [((3, 1), S8)], (2, 3, 4), S8),
    (ops.Concat(1), [((2, 3), S8), _codes(2, 1), ((2, 4), S8)], (2, 8), S8),
    (ops.Slice((4, 1), (-2, 1)), [((5, 6), S8)], (3, 4), S8),
    (ops.Tile(), [((2, 3), S8)], (2, 4, 3), S8),
    (ops.AsStrided((3, 2), 1), [((4, 5), S8)], (3, 4), S8),
    (ops.Gather(1), [((3, 5), S8), ((2, 4), S64)], (2, 4), S8),
    (ops.Index((0, 2)), [((3, 4, 5), S8), ((2, 3), S32), np.array([[1], [-1]], np.int64)],
     (2, 3, 4), S8),
    (ops.Embedding((900, 700, 1200), 7, -3, -60, 70),
     [np.arange(-7, 8, dtype=np.int8).reshape(3, 5), ((2, 3), S32)], (2, 3, 5), S8),
    *((ops.IndexPut((0,), adds), [((3, 4), S8), ((2, 4), S8), ((2,), S64)], (3, 4), S8)
      for adds in (False, True)),
    *((ops.Push(dim), [((5, 3, 2), S16), (new, S16)], (5, 3, 2), S16)
      for dim, new in ((0, (2, 3, 2)), (1, (5, 1, 2)), (2, (5, 3, 1)))),
    (ops.Reduce("mean", (0, 2), True), [((2, 3, 4), F32)], (1, 3, 1), F32),
    (ops.Reduce("amax", (1,), False), [((2, 3, 4), S8)], (2, 4), S8),
    (ops.Reduce("any", (1,), False), [((2, 3), BOOL)], (2,), BOOL),
    (ops.ArgReduce("max", 1, False), [((2, 3, 4), S8)], (2, 4), S64),
    (ops.Cumsum(1), [((2, 3, 4), F32)], (2, 3, 4), F32),
    (ops.UpsampleNearest2d((0, 0, 1, 4), (5, 2, 2)), [(_IMAGE, S8)], (1, 4, 4, 3), S8),
    *((ops.UpsampleBilinear2d(_BETWEEN, _BETWEEN[:1], 0 if dtype is S16 else -3),
       [(_IMAGE, dtype)], (1, 4, 2, 1), dtype) for dtype in (S8, S16, F32)),
    (ops.UpsampleBilinear2d(_BETWEEN, _BETWEEN, 0, True), [(_IMAGE, S8)], (1, 4, 2, 2), S8),
    # Two signals, three frames shorter than the transform, three bands
    *(
        (ops.LogMel(
            points=64, start=3, hop=20, shift=5, roots=roots, under_root=2**33 * roots,
            first=(4, 32, 0), count=(5, 1, 33),
            least=2**40 + 9, adds=adds, gains=(2**30, -(2**29), 2**28), offsets=(-(2**51), 0, 7),
            gain_shift=40 if dtype is S16 else 47, act_min=dtype.limits[0],
            act_max=dtype.limits[1] - 5,
        ), [((2, 97), S16), *_SIGNALS], (2, 3, 3), dtype)
        for roots, adds, dtype in ((False, True, S16), (True, False, S8))
    ),
]  # fmt: skip
