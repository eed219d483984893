# SPDX-License-Identifier: Apache-2.0
"""Graphs whose layers are measured to fit the cost of kernels to them: those of programs, usual and odd
layers, and random ones of operators that are in few networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from cortexm_tools.ir import DType, Graph, Rescale, contiguous, ops
from cortexm_tools.ir.wide import narrowed

from benchmarks import limits, programs, sweep
from benchmarks.sweep import Layer
from tests.support import float_graphs, operator_examples
from tests.support.data_graphs import data_graph
from tests.support.graphs import Net
from tests.support.random_graphs import random_gate
from tests.support.recurrent import random_recurrent

PRODUCTS = ("conv", "depthwise", "transposed", "linear")
WIDE = (*PRODUCTS, "matmul", "max_pool", "avg_pool", "add", "mul", "softmax")
_SHAPES = ((7,), (64,), (500,), (6, 33), (12, 12, 8))
_RANDOM = (
    *(float_graphs.convolution, float_graphs.channels, float_graphs.near_channels),
    *(float_graphs.lines_of_channels, float_graphs.planes_of_pixels, float_graphs.linear),
    *(float_graphs.transpose_convolution, float_graphs.matmul, float_graphs.pool),
    *(float_graphs.softmax, float_graphs.layer_norm, float_graphs.group_norm, random_recurrent),
    random_gate,
)
_SEEDS = 24  # of each of these


def _layers() -> list[Layer]:
    found = sweep.layers()
    found = [*found, *(layer.neighbour for layer in found)]
    for inner, outputs, rows in product((20, 64, 100, 256), (4, 10, 16, 30), (1, 6)):
        found.append(Layer("linear", inner, outputs, (1, rows)))
    for rows, inner, cols in (
        (4, 8, 8),
        (12, 16, 12),
        (32, 8, 32),
        (5, 20, 6),
        (16, 64, 16),
        (1, 64, 8),
    ):
        found.append(Layer("matmul", inner, cols, (1, rows)))
    for kind, channels in product(("max_pool", "avg_pool"), (2, 3, 4, 6, 8, 24)):
        for side in (2, 3, 5):
            found.append(Layer(kind, channels, 0, (10, 15), (side, side), side))
    return list(dict.fromkeys(found))


def _swept(of: DType, kinds: Sequence[str]) -> Graph:
    made = sweep.Sweep()
    some = (replace(layer, of=of) for layer in _layers() if layer.kind in kinds)
    return _mostly_unclamped(made.net.finish(*(made.add(layer)[0] for layer in some)))


def _mostly_unclamped(graph: Graph) -> Graph:
    """One layer in four has a clamp of its own, as in networks those without a ReLU6 or so have none."""
    changed = []
    for number, op in enumerate(graph.ops):
        if hasattr(op.attrs, "act_min"):
            low, high = graph.tensors[op.outputs[0]].dtype.limits
            limits = {"act_min": low, "act_max": high - (high // 9 if number % 4 == 0 else 0)}
            op = replace(op, attrs=replace(op.attrs, **limits))
        changed.append(op)
    return replace(graph, ops=tuple(changed))


def _of_four_bits(graph: Graph) -> Graph:
    """The same layers with weights of 4 bits, and multipliers as lowering rounds them then."""
    weights = {op.inputs[1] for op in graph.ops if hasattr(op.attrs, "rescales")}
    tensors = [
        replace(tensor, data=tensor.data >> 4)
        if number in weights and tensor.data is not None
        else tensor
        for number, tensor in enumerate(graph.tensors)
    ]
    changed = [
        replace(op, attrs=replace(op.attrs, rescales=tuple(map(_narrowed, op.attrs.rescales))))
        if hasattr(op.attrs, "rescales")
        else op
        for op in graph.ops
    ]
    return replace(graph, tensors=tuple(tensors), ops=tuple(changed))


def _narrowed(rescale: Rescale) -> Rescale:
    return Rescale(narrowed(rescale.multiplier), rescale.shift)


def _elements() -> Graph:
    """Functions of elements, of one operand or two."""
    net, outs = Net("elements", 1), []
    for shape in _SHAPES:
        order = contiguous(len(shape))
        inputs = {of: [net.input(shape, of, order) for _ in range(2)] for of in DType}
        rows = net.input((*(1 for _ in shape[:-1]), shape[-1]), DType.F32, order)
        floats = inputs[DType.F32]
        for function in ops.UNARY_FUNCTIONS:
            outs.append(net.add(ops.Unary(function), floats[:1], shape, DType.F32, order))
        for function in ops.BINARY_FUNCTIONS:
            for operands in (floats, [floats[0], rows]):
                outs.append(net.add(ops.Binary(function), operands, shape, DType.F32, order))
        for function, of in product(
            ops.COMPARISONS, (DType.S8, DType.S16, DType.S32, DType.U8, DType.F32)
        ):
            outs.append(net.add(ops.Compare(function), inputs[of], shape, DType.BOOL, order))
        for of in (DType.S8, DType.S16, DType.F32):
            operands = [inputs[DType.BOOL][0], *inputs[of]]
            outs.append(net.add(ops.Where(), operands, shape, of, order))
        for of, kind in product((DType.S8, DType.S16, DType.F32), (ops.Minimum, ops.Maximum)):
            outs.append(net.add(kind(), inputs[of], shape, of, order))
        for of in (DType.S8, DType.S16):
            outs.append(net.quantize(floats[0], dtype=of))
            outs.append(net.dequantize(inputs[of][0]))
    return net.finish(*outs)


def usual() -> Iterator[Graph]:
    names = programs.names()
    folder = programs.prepared(names)
    for name in names:
        yield programs.load(name, folder).program.graph()
    for kind in limits.LIMITS:
        net = Net("limits", 1)
        yield net.finish(*(item.add(net) for item in limits.items() if item.kind == kind))
    yield _swept(DType.S8, [layer.kind for layer in _layers()])
    yield _swept(DType.S16, WIDE)
    for of in (DType.S8, DType.S16):
        yield _of_four_bits(_swept(of, PRODUCTS))
    yield _elements()


def random() -> Iterator[Graph]:
    for make, seed in product(_RANDOM, range(_SEEDS)):
        yield make(seed)
    for seed in range(10 * _SEEDS):
        yield data_graph(seed)
    for kind in sorted(operator_examples.kinds(), key=lambda kind: kind.kind):
        yield from operator_examples.examples(kind)
