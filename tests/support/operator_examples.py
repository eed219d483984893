# SPDX-License-Identifier: Apache-2.0
"""Small sound graphs of one operator each, for every operator of the IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

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

_BUILDERS: dict[type[Attrs], Callable[[], Iterator[Graph]]] = {}


def examples(kind: type[Attrs]) -> list[Graph]:
    """Graphs of one operator of this kind."""
    return list(_BUILDERS[kind]())


def kinds() -> frozenset[type[Attrs]]:
    """The operators that have examples."""
    return frozenset(_BUILDERS)


def _of(kind: type[Attrs]) -> Callable[[Callable[[], Iterator[Graph]]], None]:
    def register(build: Callable[[], Iterator[Graph]]) -> None:
        _BUILDERS[kind] = build

    return register


Operand = tuple[tuple[int, ...], DType]


def _graph(
    attrs: Attrs,
    operands: list[Operand | np.ndarray],
    shape: tuple[int, ...],
    dtype: DType,
) -> Graph:
    """Operands in C order: inputs, or constants where there are values."""
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


def _wide_scales(count: int) -> dict[str, object]:
    return {
        "in_zero_point": 0,
        "out_zero_point": 0,
        "rescales": (Rescale(1518500250, -8), *(Rescale(2**31 - 1, -9),) * (count - 1)),
        "act_min": -32000,
        "act_max": 30000,
    }


def _scales(count: int) -> dict[str, object]:
    return {
        "in_zero_point": -3,
        "out_zero_point": 5,
        "rescales": (Rescale(1518500250, -8),) * count,
        "act_min": -120,
        "act_max": 100,
    }


# -- convolutions, matrix products, pools ---------------------------------------------------------


@_of(ops.Conv2d)
def _conv2d() -> Iterator[Graph]:
    weight = _codes(6, 2, 3, 2)
    attrs = ops.Conv2d(_WINDOW, **_scales(6), groups=2)  # type: ignore[arg-type]
    yield _graph(attrs, [(_IMAGE, S8), weight, _biases(6)], (1, 6, 3, 6), S8)
    yield _graph(attrs, [(_IMAGE, S8), weight], (1, 6, 3, 6), S8)
    attrs = ops.Conv2d(_WINDOW, **_wide_scales(6), groups=2)  # type: ignore[arg-type]
    yield _graph(attrs, [(_IMAGE, S16), weight, _biases(6)], (1, 6, 3, 6), S16)
    yield _graph(attrs, [(_IMAGE, S16), weight, _wide_biases(6)], (1, 6, 3, 6), S16)


@_of(ops.DepthwiseConv2d)
def _depthwise_conv2d() -> Iterator[Graph]:
    attrs = ops.DepthwiseConv2d(_WINDOW, **_scales(8))  # type: ignore[arg-type]
    yield _graph(attrs, [(_IMAGE, S8), _codes(1, 2, 3, 8), _biases(8)], (1, 8, 3, 6), S8)
    attrs = ops.DepthwiseConv2d(_WINDOW, **_wide_scales(8))  # type: ignore[arg-type]
    yield _graph(attrs, [(_IMAGE, S16), _codes(1, 2, 3, 8), _wide_biases(8)], (1, 8, 3, 6), S16)


@_of(ops.DepthwiseRing)
def _depthwise_ring() -> Iterator[Graph]:
    attrs = ops.DepthwiseRing(**_scales(8))  # type: ignore[arg-type]
    net = Net("depthwise_ring", 3)
    position, ring = net.input((1,), S32, contiguous(1)), net.input((2, 3, 2, 4), S8, contiguous(4))
    constants = [net.constant(_codes(6, 8), S8), net.constant(_biases(8), S32)]
    after, out = net.tensor((1,), S32, contiguous(1)), net.tensor((1, 8), S8, contiguous(2))
    net.ops.append(Op(attrs, (position, ring, *constants), (after, out), Layer("ring")))
    yield net.finish(after, out)


@_of(ops.TransposeConv2d)
def _transpose_conv2d() -> Iterator[Graph]:
    attrs = ops.TransposeConv2d(_SPREAD, **_scales(3))  # type: ignore[arg-type]
    yield _graph(attrs, [(_IMAGE, S8), _codes(3, 2, 3, 4), _biases(3)], (1, 3, 9, 8), S8)
    attrs = ops.TransposeConv2d(_SPREAD, **_wide_scales(3))  # type: ignore[arg-type]
    yield _graph(attrs, [(_IMAGE, S16), _codes(3, 2, 3, 4), _wide_biases(3)], (1, 3, 9, 8), S16)


@_of(ops.FloatConv2d)
def _float_conv2d() -> Iterator[Graph]:
    attrs = ops.FloatConv2d(_WINDOW, groups=2)
    yield _graph(attrs, [(_IMAGE, F32), _floats(6, 2, 2, 3), _floats(6)], (1, 6, 3, 6), F32)


@_of(ops.FloatTransposeConv2d)
def _float_transpose_conv2d() -> Iterator[Graph]:
    attrs = ops.FloatTransposeConv2d(_SPREAD, groups=2)
    yield _graph(attrs, [(_IMAGE, F32), _floats(4, 3, 2, 3), _floats(6)], (1, 6, 9, 8), F32)


@_of(ops.Linear)
def _linear() -> Iterator[Graph]:
    for rescales in (Rescale(1518500250, -8),), tuple(Rescale(2**30 + i, -7 - i) for i in range(4)):
        attrs = ops.Linear(-3, 0, 5, rescales, -120, 100)
        yield _graph(attrs, [((3, 7), S8), _codes(4, 7), _biases(4)], (3, 4), S8)
    scales = _wide_scales(4)
    attrs = ops.Linear(0, 0, 0, scales["rescales"], -32000, 30000)  # type: ignore[arg-type]
    for bias in (_biases(4), _wide_biases(4)):
        yield _graph(attrs, [((3, 7), S16), _codes(4, 7), bias], (3, 4), S16)


@_of(ops.FloatLinear)
def _float_linear() -> Iterator[Graph]:
    operands = [((3, 7), F32), _floats(4, 7), _floats(4)]
    yield _graph(ops.FloatLinear(), operands, (3, 4), F32)


@_of(ops.BatchMatmul)
def _batch_matmul() -> Iterator[Graph]:
    attrs = ops.BatchMatmul(-3, 4, 5, Rescale(1518500250, -8))
    yield _graph(attrs, [((2, 3, 5), S8), ((2, 4, 5), S8)], (2, 3, 4), S8)
    attrs = ops.BatchMatmul(0, 0, 0, Rescale(1518500250, -16))
    yield _graph(attrs, [((2, 3, 5), S16), ((2, 4, 5), S16)], (2, 3, 4), S16)
    lhs, rhs = (
        ops.Matrices((2, 1, 3, 5), (30, 0, 10, 1), 4),
        ops.Matrices((1, 2, 4, 5), (0, 4, 1, 9), 1),
    )
    placed = replace(attrs, lhs=lhs, rhs=rhs, out=ops.Matrices((1, 2, 3, 4), (0, 4, 8, 1)))
    for dtype in (S8, S16):
        yield _graph(placed, [((2, 3, 10), dtype), ((5, 9), dtype)], (3, 8), dtype)


@_of(ops.FloatMatmul)
def _float_matmul() -> Iterator[Graph]:
    operands = [((2, 3, 5), F32), ((2, 5, 4), F32), _floats(3, 4)]
    yield _graph(ops.FloatMatmul(), operands, (2, 3, 4), F32)


@_of(ops.AvgPool2d)
def _avg_pool2d() -> Iterator[Graph]:
    for dtype in (S8, S16):
        yield _graph(ops.AvgPool2d(_WINDOW), [(_IMAGE, dtype)], (1, 4, 3, 6), dtype)


@_of(ops.MaxPool2d)
def _max_pool2d() -> Iterator[Graph]:
    for dtype, low in ((S8, -100), (S16, -30000)):
        attrs = ops.MaxPool2d(_WINDOW, low, 90)
        yield _graph(attrs, [(_IMAGE, dtype)], (1, 4, 3, 6), dtype)


@_of(ops.FloatAvgPool2d)
def _float_avg_pool2d() -> Iterator[Graph]:
    for divisor in (None, 3):
        attrs = ops.FloatAvgPool2d(_WINDOW, (1, 1), True, divisor)
        yield _graph(attrs, [(_IMAGE, F32)], (1, 4, 3, 6), F32)


@_of(ops.FloatMaxPool2d)
def _float_max_pool2d() -> Iterator[Graph]:
    yield _graph(ops.FloatMaxPool2d(_WINDOW), [(_IMAGE, F32)], (1, 4, 3, 6), F32)


def _recurrent(kind: type[ops.RecurrentAttrs]) -> Iterator[Graph]:
    for dtype, sequence in ((S8, True), (S16, True), (S8, False)):
        net = Net(kind.kind, 7)
        x = net.input((3, 2, 4), dtype, contiguous(3))
        results = add_layer(net, kind, x, 5, sequence=sequence, reverse=sequence)
        yield net.finish(*results)


@_of(ops.Lstm)
def _lstm() -> Iterator[Graph]:
    yield from _recurrent(ops.Lstm)


@_of(ops.Gru)
def _gru() -> Iterator[Graph]:
    yield from _recurrent(ops.Gru)


@_of(ops.Rnn)
def _rnn() -> Iterator[Graph]:
    yield from _recurrent(ops.Rnn)


# -- element by element ---------------------------------------------------------------------------


@_of(ops.Add)
def _add() -> Iterator[Graph]:
    attrs = ops.Add(
        *(-3, Rescale(1518500250, -1)),
        *(4, Rescale(-1073741824, 0)),
        *(5, Rescale(1610612736, -19)),
        *(-120, 100),
    )
    yield _graph(attrs, [((2, 3, 5), S8), ((3, 5), S8)], (2, 3, 5), S8)
    rescales = (Rescale(1518500250, -1), Rescale(-1073741824, 0), Rescale(1610612736, -14))
    attrs = ops.Add(0, rescales[0], 0, rescales[1], 0, rescales[2], -32000, 30000)
    yield _graph(attrs, [((2, 3, 5), S16), ((3, 5), S16)], (2, 3, 5), S16)


@_of(ops.Mul)
def _mul() -> Iterator[Graph]:
    attrs = ops.Mul(-300, 4, 5, Rescale(1610612736, -6))
    yield _graph(attrs, [((2, 3, 5), S8), ((1,), S8)], (2, 3, 5), S8)
    attrs = ops.Mul(0, 0, 0, Rescale(1610612736, -14))
    yield _graph(attrs, [((2, 3, 5), S16), ((1,), S16)], (2, 3, 5), S16)


@_of(ops.Gate)
def _gate() -> Iterator[Graph]:
    attrs = ops.Gate(1, 1, 0, -300, 4, 5, Rescale(1610612736, -6))
    table = _codes(256)
    yield _graph(attrs, [((2, 5, 3), S8), ((2, 4, 3), S8), table], (2, 4, 3), S8)
    attrs = ops.Gate(1, 1, 0, 0, 0, 0, Rescale(1610612736, -14))
    table = _wide_codes(513)
    yield _graph(attrs, [((2, 5, 3), S16), ((2, 4, 3), S16), table], (2, 4, 3), S16)
    yield _graph(attrs, [((2, 5, 3), S16), ((2, 5, 3), S16)], (2, 4, 3), S16)


@_of(ops.Div)
def _div() -> Iterator[Graph]:
    for dtype in (S8, S16):
        yield _graph(ops.Div(-3, 4, 5, 7.5), [((2, 9), dtype), ((2, 9), dtype)], (2, 9), dtype)


@_of(ops.Minimum)
def _minimum() -> Iterator[Graph]:
    for dtype in (S8, F32):
        yield _graph(ops.Minimum(), [((2, 9), dtype), ((9,), dtype)], (2, 9), dtype)


@_of(ops.Maximum)
def _maximum() -> Iterator[Graph]:
    for dtype in (S16, S64):
        yield _graph(ops.Maximum(), [((2, 9), dtype), ((1, 9), dtype)], (2, 9), dtype)


@_of(ops.Binary)
def _binary() -> Iterator[Graph]:
    yield _graph(ops.Binary("mul"), [((2, 9), F32), ((9,), F32)], (2, 9), F32)
    divisor = np.array([3, -2, 1], np.int32)
    yield _graph(ops.Binary("remainder"), [((2, 3), S32), divisor], (2, 3), S32)


@_of(ops.Activation)
def _activation() -> Iterator[Graph]:
    yield _graph(ops.Activation(), [((2, 9), S8), _codes(256)], (2, 9), S8)
    yield _graph(ops.Activation(), [((2, 9), S16), _wide_codes(1025)], (2, 9), S16)


@_of(ops.Softmax)
def _softmax() -> Iterator[Graph]:
    yield _graph(ops.Softmax(1, Rescale(1717986918, 22), -248), [((2, 9), S8)], (2, 9), S8)


@_of(ops.WideSoftmax)
def _wide_softmax() -> Iterator[Graph]:
    yield _graph(ops.WideSoftmax(1, 2**20), [((2, 9), S16)], (2, 9), S16)


@_of(ops.FloatSoftmax)
def _float_softmax() -> Iterator[Graph]:
    yield _graph(ops.FloatSoftmax(1, False), [((2, 9), F32)], (2, 9), F32)


@_of(ops.Unary)
def _unary() -> Iterator[Graph]:
    yield _graph(ops.Unary("leaky_relu", 0.1), [((2, 9), F32)], (2, 9), F32)


@_of(ops.Clamp)
def _clamp() -> Iterator[Graph]:
    yield _graph(ops.Clamp(-1.5, 6.0), [((2, 9), F32)], (2, 9), F32)
    yield _graph(ops.Clamp(-7, 20), [((2, 9), S8)], (2, 9), S8)


def _factors(*shape: int) -> list[np.ndarray]:
    """Factors and offsets of a norm of codes."""
    random = np.random.default_rng(3)
    offsets = random.integers(-(2**18), 2**18, shape).astype(np.int32)
    return [random.integers(-(2**26), 2**26, shape).astype(np.int32), offsets]


@_of(ops.LayerNorm)
def _layer_norm_of_codes() -> Iterator[Graph]:
    for dtype, centred, zero_point in ((S8, True, 3), (S8, False, -7), (S16, True, 0)):
        attrs = ops.LayerNorm(15, centred, zero_point, 4000, 12)
        yield _graph(attrs, [((2, 3, 5), dtype), *_factors(3, 5)], (2, 3, 5), dtype)


@_of(ops.GroupNorm)
def _group_norm_of_codes() -> Iterator[Graph]:
    for dtype in (S8, S16):
        attrs = ops.GroupNorm(3, 4000, 12)
        yield _graph(attrs, [((2, 6, 3), dtype), *_factors(6)], (2, 6, 3), dtype)


@_of(ops.FloatLayerNorm)
def _layer_norm() -> Iterator[Graph]:
    operands = [((2, 3, 5), F32), _floats(3, 5), _floats(3, 5)]
    yield _graph(ops.FloatLayerNorm(15, 1e-5), operands, (2, 3, 5), F32)


@_of(ops.FloatGroupNorm)
def _group_norm() -> Iterator[Graph]:
    operands = [((2, 6, 3), F32), _floats(6), _floats(6)]
    yield _graph(ops.FloatGroupNorm(3, 1e-5), operands, (2, 6, 3), F32)


@_of(ops.Compare)
def _compare() -> Iterator[Graph]:
    yield _graph(ops.Compare("le"), [((2, 9), S16), ((9,), S16)], (2, 9), BOOL)


@_of(ops.Logical)
def _logical() -> Iterator[Graph]:
    yield _graph(ops.Logical("xor"), [((2, 9), BOOL), ((9,), BOOL)], (2, 9), BOOL)


@_of(ops.LogicalNot)
def _logical_not() -> Iterator[Graph]:
    yield _graph(ops.LogicalNot(), [((2, 9), BOOL)], (2, 9), BOOL)


@_of(ops.Where)
def _where() -> Iterator[Graph]:
    operands: list[Operand | np.ndarray] = [((2, 1), BOOL), ((2, 9), S8), ((9,), S8)]
    yield _graph(ops.Where(), operands, (2, 9), S8)


@_of(ops.Quantize)
def _quantize() -> Iterator[Graph]:
    yield _graph(ops.Quantize(0.05, 3, -128, 127), [((2, 9), F32)], (2, 9), S8)
    yield _graph(ops.Quantize(0.05, 3, -32768, 32767), [((2, 9), F32)], (2, 9), S16)


@_of(ops.Dequantize)
def _dequantize() -> Iterator[Graph]:
    yield _graph(ops.Dequantize(0.05, 3), [((2, 9), S8)], (2, 9), F32)


@_of(ops.Requantize)
def _requantize() -> Iterator[Graph]:
    for x, out, zeros, low in ((S8, S16, (-3, 0), -30000), (S16, S8, (0, 4), -120)):
        attrs = ops.Requantize(zeros[0], Rescale(1518500250, -1), zeros[1], low, 99)
        yield _graph(attrs, [((2, 9), x)], (2, 9), out)
    attrs = ops.Requantize(0, Rescale(1518500250, 1), 0, -30000, 30000)
    yield _graph(attrs, [((2, 9), S16)], (2, 9), S16)


@_of(ops.Lookup)
def _lookup() -> Iterator[Graph]:
    tables = np.arange(3 * 256).reshape(3, 256)
    yield _graph(ops.Lookup(1), [((2, 3, 5), U8), tables.astype(np.int8)], (2, 3, 5), S8)
    yield _graph(ops.Lookup(0), [((2, 9), U8), tables[:1].astype(np.int16)], (2, 9), S16)


@_of(ops.Cast)
def _cast() -> Iterator[Graph]:
    yield _graph(ops.Cast(), [((2, 9), F32)], (2, 9), S32)


# -- data movement, indexing, reductions, resampling ----------------------------------------------


@_of(ops.Pad)
def _pad() -> Iterator[Graph]:
    for dtype in (S8, F32, S64):
        yield _graph(ops.Pad((0, 1), (2, 0), -3), [((2, 4), dtype)], (4, 5), dtype)


@_of(ops.Transpose)
def _transpose() -> Iterator[Graph]:
    yield _graph(ops.Transpose((2, 0, 1)), [((2, 3, 4), S8)], (4, 2, 3), S8)


@_of(ops.View)
def _view() -> Iterator[Graph]:
    yield _graph(ops.View(), [((2, 3, 4), S8)], (6, 4), S8)


@_of(ops.Clone)
def _clone() -> Iterator[Graph]:
    yield _graph(ops.Clone(), [((2, 3, 4), S16)], (2, 3, 4), S16)


@_of(ops.Expand)
def _expand() -> Iterator[Graph]:
    yield _graph(ops.Expand(), [((3, 1), S8)], (2, 3, 4), S8)


@_of(ops.Concat)
def _concat() -> Iterator[Graph]:
    yield _graph(ops.Concat(1), [((2, 3), S8), _codes(2, 1), ((2, 4), S8)], (2, 8), S8)


@_of(ops.Slice)
def _slice() -> Iterator[Graph]:
    yield _graph(ops.Slice((4, 1), (-2, 1)), [((5, 6), S8)], (3, 4), S8)


@_of(ops.Tile)
def _tile() -> Iterator[Graph]:
    yield _graph(ops.Tile(), [((2, 3), S8)], (2, 4, 3), S8)


@_of(ops.AsStrided)
def _as_strided() -> Iterator[Graph]:
    yield _graph(ops.AsStrided((3, 2), 1), [((4, 5), S8)], (3, 4), S8)


@_of(ops.Gather)
def _gather() -> Iterator[Graph]:
    yield _graph(ops.Gather(1), [((3, 5), S8), ((2, 4), S64)], (2, 4), S8)


@_of(ops.Index)
def _index() -> Iterator[Graph]:
    index = np.array([[1], [-1]], np.int64)
    yield _graph(ops.Index((0, 2)), [((3, 4, 5), S8), ((2, 3), S32), index], (2, 3, 4), S8)


@_of(ops.Embedding)
def _embedding() -> Iterator[Graph]:
    table = np.arange(-7, 8, dtype=np.int8).reshape(3, 5)
    scaled = ops.Embedding((900, 700, 1200), 7, -3, -60, 70)
    yield _graph(scaled, [table, ((2, 3), S32)], (2, 3, 5), S8)


@_of(ops.IndexPut)
def _index_put() -> Iterator[Graph]:
    operands: list[Operand | np.ndarray] = [((3, 4), S8), ((2, 4), S8), ((2,), S64)]
    for adds in (False, True):
        yield _graph(ops.IndexPut((0,), adds), operands, (3, 4), S8)


@_of(ops.Push)
def _push() -> Iterator[Graph]:
    for dim, new in ((0, (2, 3, 2)), (1, (5, 1, 2)), (2, (5, 3, 1))):
        yield _graph(ops.Push(dim), [((5, 3, 2), S16), (new, S16)], (5, 3, 2), S16)


@_of(ops.Reduce)
def _reduce() -> Iterator[Graph]:
    yield _graph(ops.Reduce("mean", (0, 2), True), [((2, 3, 4), F32)], (1, 3, 1), F32)
    yield _graph(ops.Reduce("amax", (1,), False), [((2, 3, 4), S8)], (2, 4), S8)
    yield _graph(ops.Reduce("any", (1,), False), [((2, 3), BOOL)], (2,), BOOL)


@_of(ops.ArgReduce)
def _arg_reduce() -> Iterator[Graph]:
    yield _graph(ops.ArgReduce("max", 1, False), [((2, 3, 4), S8)], (2, 4), S64)
    net = Net("arg_reduce")
    x = net.input((2, 3), F32)
    outputs = (net.tensor((2,), F32), net.tensor((2,), S64))
    net.ops.append(Op(ops.ArgReduce("min", 1, False), (x,), outputs, Layer("both")))
    yield net.finish(*outputs)


@_of(ops.TopK)
def _topk() -> Iterator[Graph]:
    for dtype, dim, k, largest in ((S8, 1, 2, True), (F32, 2, 4, False)):
        net = Net("topk")
        x = net.input((2, 3, 4), dtype)
        shape = tuple(k if d == dim else n for d, n in enumerate((2, 3, 4)))
        outputs = (net.tensor(shape, dtype), net.tensor(shape, S64))
        net.ops.append(Op(ops.TopK(dim, largest), (x,), outputs, Layer("best")))
        yield net.finish(*outputs)


@_of(ops.Cumsum)
def _cumsum() -> Iterator[Graph]:
    yield _graph(ops.Cumsum(1), [((2, 3, 4), F32)], (2, 3, 4), F32)


@_of(ops.UpsampleNearest2d)
def _nearest() -> Iterator[Graph]:
    attrs = ops.UpsampleNearest2d((0, 0, 1, 4), (5, 2, 2))
    yield _graph(attrs, [(_IMAGE, S8)], (1, 4, 4, 3), S8)


@_of(ops.UpsampleBilinear2d)
def _bilinear() -> Iterator[Graph]:
    places = (ops.Between(0, 1, 0.25), ops.Between(3, 4, 0.5))
    for dtype in (S8, S16, F32):
        attrs = ops.UpsampleBilinear2d(places, places[:1], 0 if dtype is S16 else -3)
        yield _graph(attrs, [(_IMAGE, dtype)], (1, 4, 2, 1), dtype)


# -- spectra --------------------------------------------------------------------------------------


@_of(ops.LogMel)
def _log_mel() -> Iterator[Graph]:
    """Two signals, three frames shorter than the transform, three bands."""
    window = np.round(32767 * np.hanning(50)).astype(np.int16)
    weights = np.arange(5 + 1 + 33).astype(np.int16) * 800
    for roots, adds, dtype in ((False, True, S16), (True, False, S8)):
        limits = dtype.limits
        attrs = ops.LogMel(
            points=64, start=3, hop=20, shift=5, roots=roots, under_root=2**33 * roots,
            first=(4, 32, 0), count=(5, 1, 33),
            least=2**40 + 9, adds=adds, gains=(2**30, -(2**29), 2**28), offsets=(-(2**51), 0, 7),
            gain_shift=40 if dtype is S16 else 47, act_min=limits[0], act_max=limits[1] - 5,
        )  # fmt: skip
        yield _graph(attrs, [((2, 97), S16), window, weights], (2, 3, 3), dtype)
