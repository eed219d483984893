# SPDX-License-Identifier: Apache-2.0
"""Random small graphs of data movement, indexing, comparisons, casts and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cortexm_tools.ir import Array, DType, Graph, Layer, Op, ops

from tests.support.graphs import Net

NUMBERS = (DType.S8, DType.S16, DType.S32, DType.S64, DType.U8, DType.F32)
TYPES = (*NUMBERS, DType.BOOL)


def random_values(random: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Values over the whole range; floats with infinities, NaN, both zeros and ties."""
    if dtype is DType.F32:
        value = random.normal(0, 100, shape).astype(np.float32)
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 2.5, -2.5, 3e9], np.float32)
        chosen = random.integers(0, 40, shape)
        return np.where(chosen < 8, special[np.minimum(chosen, 7)], value)
    if dtype is DType.BOOL:
        return random.integers(0, 2, shape).astype(np.bool_)
    limits = np.iinfo(dtype.numpy)
    wide = random.integers(limits.min, limits.max, shape, dtype=dtype.numpy, endpoint=True)
    small = np.clip(random.integers(-3, 4, shape), limits.min, limits.max).astype(dtype.numpy)
    return np.where(random.integers(0, 2, shape) == 0, wide, small)


class DataNet(Net):
    """Net with random shapes, memory orders and values."""

    def pick(self, low: int, high: int) -> int:
        """A number in [low, high]."""
        return int(self.random.integers(low, high + 1))

    def one_of(self, *values: DType) -> DType:
        return values[self.pick(0, len(values) - 1)]

    def order(self, rank: int) -> tuple[int, ...]:
        return tuple(self.random.permutation(rank).tolist())

    def extents(self, rank: int) -> tuple[int, ...]:
        return tuple(self.pick(1, 5) for _ in range(rank))

    def operand(self, shape: tuple[int, ...], dtype: DType, *, stored: bool | None = None) -> int:
        """An input in any memory order, or sometimes a constant."""
        if self.pick(0, 4) == 0 if stored is None else stored:
            return self.constant(random_values(self.random, dtype, shape), dtype)
        return self.input(shape, dtype, self.order(len(shape)))

    def result(
        self, attrs: ops.Attrs, inputs: list[int], shape: tuple[int, ...], dtype: DType
    ) -> int:
        return self.add(attrs, inputs, shape, dtype, self.order(len(shape)))

    def broadcastable(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to `shape`."""
        own = tuple(1 if self.pick(0, 3) == 0 else extent for extent in shape)
        return own[self.pick(0, len(own)) :] if self.pick(0, 3) == 0 else own

    def indices(self, shape: tuple[int, ...], size: int) -> int:
        """Index values, some of them negative or far outside of [0, size)."""
        dtype = self.one_of(DType.S32, DType.S64)
        if self.pick(0, 3) == 0:
            value = self.random.integers(-size, size, shape)
            return self.constant(value, dtype)
        return self.input(shape, dtype, self.order(len(shape)))


def _concat(net: DataNet, x: int) -> int:
    shape, dtype = net.shape(x), net.tensors[x].dtype
    dim = net.pick(0, len(shape) - 1)
    others = [(*shape[:dim], net.pick(1, 4), *shape[dim + 1 :]) for _ in range(net.pick(0, 2))]
    operands = [x, *(net.operand(other, dtype) for other in others)]
    net.random.shuffle(operands)
    joined = sum(net.shape(i)[dim] for i in operands)
    return net.result(ops.Concat(dim), operands, (*shape[:dim], joined, *shape[dim + 1 :]), dtype)


def _slice(net: DataNet, x: int) -> int:
    begins, steps, shape = [], [], []
    for extent in net.shape(x):
        step = net.pick(1, 3) * (1 if net.pick(0, 1) else -1)
        begin = net.pick(0, extent - 1)
        reach = (extent - 1 - begin if step > 0 else begin) // abs(step) + 1
        begins.append(begin)
        steps.append(step)
        shape.append(net.pick(1, reach))
    attrs = ops.Slice(tuple(begins), tuple(steps))
    return net.result(attrs, [x], tuple(shape), net.tensors[x].dtype)


def _tile(net: DataNet, x: int) -> int:
    own = net.shape(x)
    extra = (1,) * net.pick(0, 1)
    shape = tuple(extent * net.pick(1, 2) for extent in (*extra, *own))
    return net.result(ops.Tile(), [x], shape, net.tensors[x].dtype)


def _expand(net: DataNet, x: int) -> int:
    own = tuple(1 if net.pick(0, 1) else extent for extent in net.shape(x))
    small = net.operand(own, net.tensors[x].dtype)
    shape = (*net.extents(net.pick(0, 1)), *net.shape(x))
    return net.result(ops.Expand(), [small], shape, net.tensors[x].dtype)


def _as_strided(net: DataNet, x: int) -> int:
    numel = net.tensors[x].numel
    shape = net.extents(net.pick(1, 3))
    strides = tuple(net.pick(0, 3) for _ in shape)
    reach = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if reach >= numel:
        return x
    attrs = ops.AsStrided(strides, net.pick(0, numel - 1 - reach))
    return net.result(attrs, [x], shape, net.tensors[x].dtype)


def _transpose(net: DataNet, x: int) -> int:
    perm = net.order(len(net.shape(x)))
    shape = tuple(net.shape(x)[d] for d in perm)
    return net.result(ops.Transpose(perm), [x], shape, net.tensors[x].dtype)


def _gather(net: DataNet, x: int) -> int:
    own = net.shape(x)
    dim = net.pick(0, len(own) - 1)
    shape = tuple(
        net.pick(1, 4) if d == dim else net.pick(1, extent) for d, extent in enumerate(own)
    )
    index = net.indices(shape, own[dim])
    return net.result(ops.Gather(dim), [x, index], shape, net.tensors[x].dtype)


def _index_operands(net: DataNet, x: int) -> tuple[tuple[int, ...], list[int], tuple[int, ...]]:
    own = net.shape(x)
    count = net.pick(1, min(len(own), 3))
    axes = tuple(sorted(net.random.permutation(len(own))[:count].tolist()))
    joint = net.extents(net.pick(1, 2))
    shapes = [joint, *(net.broadcastable(joint) for _ in axes[1:])]
    indices = [net.indices(s, own[a]) for s, a in zip(shapes, axes, strict=True)]
    rest = [extent for d, extent in enumerate(own) if d not in axes]
    place = axes[0] if axes == tuple(range(axes[0], axes[0] + len(axes))) else 0
    return axes, indices, (*rest[:place], *joint, *rest[place:])


def _index(net: DataNet, x: int) -> int:
    axes, indices, shape = _index_operands(net, x)
    return net.result(ops.Index(axes), [x, *indices], shape, net.tensors[x].dtype)


def _index_put(net: DataNet, x: int) -> int:
    dtype = net.tensors[x].dtype
    axes, indices, shape = _index_operands(net, x)
    accumulate = dtype is not DType.BOOL and bool(net.pick(0, 1))
    values = net.operand(net.broadcastable(shape), dtype)
    attrs = ops.IndexPut(axes, accumulate)
    return net.result(attrs, [x, values, *indices], net.shape(x), dtype)


def _where(net: DataNet, x: int) -> int:
    shape, dtype = net.shape(x), net.tensors[x].dtype
    condition = net.operand(net.broadcastable(shape), DType.BOOL)
    other = net.operand(net.broadcastable(shape), dtype)
    operands = [x, other] if net.pick(0, 1) else [other, x]
    return net.result(ops.Where(), [condition, *operands], shape, dtype)


def _cast(net: DataNet, x: int) -> int:
    return net.result(ops.Cast(), [x], net.shape(x), net.one_of(*TYPES))


def _compare(net: DataNet, x: int) -> int:
    shape, dtype = net.shape(x), net.tensors[x].dtype
    other = net.operand(net.broadcastable(shape), dtype)
    operands = [x, other] if net.pick(0, 1) else [other, x]
    function = ops.COMPARISONS[net.pick(0, len(ops.COMPARISONS) - 1)]
    return net.result(ops.Compare(function), operands, shape, DType.BOOL)


def _extremum(net: DataNet, x: int) -> int:
    shape, dtype = net.shape(x), net.tensors[x].dtype
    if dtype is DType.BOOL:
        return x
    other = net.operand(net.broadcastable(shape), dtype)
    attrs = ops.Minimum() if net.pick(0, 1) else ops.Maximum()
    return net.result(attrs, [x, other], shape, dtype)


def _logical(net: DataNet, x: int) -> int:
    shape = net.shape(x)
    a = x if net.tensors[x].dtype is DType.BOOL else net.operand(shape, DType.BOOL)
    if net.pick(0, 3) == 0:
        return net.result(ops.LogicalNot(), [a], shape, DType.BOOL)
    b = net.operand(net.broadcastable(shape), DType.BOOL)
    function = ops.LOGICAL_FUNCTIONS[net.pick(0, 2)]
    return net.result(ops.Logical(function), [a, b], shape, DType.BOOL)


def _reduce(net: DataNet, x: int) -> int:
    own, dtype = net.shape(x), net.tensors[x].dtype
    functions = ["amax", "amin"]
    if dtype is DType.F32:
        functions += ["sum", "mean"]
    elif dtype is DType.S64:
        functions += ["sum"]
    elif dtype is DType.BOOL:
        functions = ["any", "all"]
    dims = tuple(sorted(net.random.permutation(len(own))[: net.pick(1, len(own))].tolist()))
    keep = bool(net.pick(0, 1))
    shape = tuple(
        1 if d in dims else extent for d, extent in enumerate(own) if keep or d not in dims
    )
    attrs = ops.Reduce(functions[net.pick(0, len(functions) - 1)], dims, keep)
    return net.result(attrs, [x], shape, dtype)


def _arg_reduce(net: DataNet, x: int) -> int:
    own, dtype = net.shape(x), net.tensors[x].dtype
    if dtype is DType.BOOL:
        return x
    dim, keep = net.pick(0, len(own) - 1), bool(net.pick(0, 1))
    shape = tuple(1 if d == dim else n for d, n in enumerate(own) if keep or d != dim)
    index = net.tensor(shape, DType.S64, net.order(len(shape)))
    outputs = (index,)
    if net.pick(0, 1):
        outputs = (net.tensor(shape, dtype, net.order(len(shape))), index)
    attrs = ops.ArgReduce("max" if net.pick(0, 1) else "min", dim, keep)
    net.ops.append(Op(attrs, (x,), outputs, Layer(f"layer{len(net.ops)}")))
    return outputs[0]


def _topk(net: DataNet, x: int) -> int:
    own, dtype = net.shape(x), net.tensors[x].dtype
    if dtype is DType.BOOL:
        return x
    dim = net.pick(0, len(own) - 1)
    k = net.pick(1, own[dim])
    shape = tuple(k if d == dim else n for d, n in enumerate(own))
    outputs = tuple(net.tensor(shape, t, net.order(len(shape))) for t in (dtype, DType.S64))
    attrs = ops.TopK(dim, bool(net.pick(0, 1)))
    net.ops.append(Op(attrs, (x,), outputs, Layer(f"layer{len(net.ops)}")))
    return outputs[0]


def _cumsum(net: DataNet, x: int) -> int:
    dtype = net.tensors[x].dtype
    if dtype not in (DType.F32, DType.S32, DType.S64):
        return x
    attrs = ops.Cumsum(net.pick(0, len(net.shape(x)) - 1))
    return net.result(attrs, [x], net.shape(x), dtype)


def _nearest(net: DataNet, x: int) -> int:
    own, dtype = net.shape(x), net.tensors[x].dtype
    if len(own) != 4:
        return x
    places: list[tuple[int, ...]] = []
    for extent in own[2:]:
        if net.pick(0, 1):
            places.append(tuple(i // 2 for i in range(2 * extent)))
        else:
            places.append(tuple(net.pick(0, extent - 1) for _ in range(net.pick(1, 6))))
    shape = (*own[:2], *(len(p) for p in places))
    return net.result(ops.UpsampleNearest2d(*places), [x], shape, dtype)


def _bilinear(net: DataNet, x: int) -> int:
    own, dtype = net.shape(x), net.tensors[x].dtype
    if len(own) != 4 or dtype not in (DType.F32, DType.S8, DType.S16):
        return x
    places = [
        tuple(
            ops.Between(net.pick(0, extent - 1), net.pick(0, extent - 1), net.pick(0, 16) / 16.0)
            for _ in range(net.pick(1, 6))
        )
        for extent in own[2:]
    ]
    zero_point = 0 if dtype is DType.S16 else net.pick(-128, 127)
    attrs = ops.UpsampleBilinear2d(*places, zero_point=zero_point)
    return net.result(attrs, [x], (*own[:2], *(len(p) for p in places)), dtype)


STEPS: tuple[Callable[[DataNet, int], int], ...] = (
    *(_concat, _slice, _tile, _expand, _as_strided, _transpose, _gather, _index, _index_put),
    *(_where, _cast, _compare, _extremum, _logical, _reduce, _arg_reduce, _cumsum),
    *(_nearest, _bilinear, _topk),
)


def data_graph(seed: int) -> Graph:
    """A graph whose structure follows from `seed`; the first operator is STEPS[seed mod n]."""
    net = DataNet(f"data{seed}", seed)
    first = STEPS[seed % len(STEPS)]
    rank = 4 if first in (_nearest, _bilinear) else net.pick(1, 4)
    types: tuple[DType, ...] = TYPES
    if first in (_bilinear, _cumsum):
        types = (
            (DType.F32, DType.S8, DType.S16)
            if first is _bilinear
            else (DType.F32, DType.S64, DType.S32)
        )
    dtype = types[seed // len(STEPS) % len(types)]
    x = net.operand(net.extents(rank), dtype, stored=False)
    outputs = [first(net, x)]
    for _ in range(net.pick(0, 3)):
        if not net.shape(outputs[-1]) or math.prod(net.shape(outputs[-1])) > 2000:
            break
        outputs.append(STEPS[net.pick(0, len(STEPS) - 1)](net, outputs[-1]))
    while not net.ops:  # all of them passed on what they were given
        outputs.append(STEPS[net.pick(0, len(STEPS) - 1)](net, outputs[-1]))
    # Every intermediate result is an output, if it was computed and not only passed on.
    made = {index for op in net.ops for index in op.outputs}
    kept = [index for index in dict.fromkeys(outputs) if index in made]
    kept += sorted(made.difference(kept, *(op.inputs for op in net.ops)))
    return net.finish(*kept)


def data_inputs(graph: Graph, seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    return [
        random_values(random, graph.tensors[i].dtype, graph.tensors[i].shape) for i in graph.inputs
    ]
