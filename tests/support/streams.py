# SPDX-License-Identifier: Apache-2.0
"""Networks that keep state from call to call: random ones from a seed, and programs kept as files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.geometry import Window

from tests.support.graphs import Net


def random_stream(seed: int) -> Graph:
    """A small int8 image network that reads and writes states in many ways and orders."""
    net = Net(f"stream{seed}", seed)
    pick = net.random.integers
    x = net.input((1, int(pick(1, 9)), int(pick(2, 6)), int(pick(2, 7))))
    outputs: list[int] = []
    for _ in range(int(pick(1, 5))):
        x = _STAGES[int(pick(0, len(_STAGES)))](net, x)
        if pick(0, 3) == 0:
            x = net.conv(x, int(pick(1, 9)))
        if net.states and pick(0, 3) == 0:
            outputs.append(net.states[-1].after)
    outputs.append(net.linear(_flat(net, x), 5))
    given = {*net.inputs, *(state.before for state in net.states)}
    return net.finish(*(i for i in dict.fromkeys(outputs) if i not in given))


def _flat(net: Net, x: int) -> int:
    return net.view(x, (1, math.prod(net.shape(x))))


def _like(net: Net, x: int) -> int:
    return net.tensor(net.shape(x), net.tensors[x].dtype, net.tensors[x].dim_order)


def _cache(net: Net, x: int) -> int:
    """The last rows of the inputs so far, before those of this one."""
    _, channels, rows, width = net.shape(x)
    kept = int(net.random.integers(1, 2 * rows))
    cache = net.tensor((1, channels, kept, width))
    window = net.concat([cache, x], 2)
    last = ops.Slice((0, 0, rows, 0), (1, 1, 1, 1))
    if net.random.integers(0, 2):
        net.keep(cache, net.add(last, [window], (1, channels, kept, width)))
        return net.conv(window, channels, (kept + 1, 1), padding=(0, 0, 0, 0))
    result = net.conv(window, channels, (kept + 1, 1), padding=(0, 0, 0, 0))
    net.keep(cache, net.add(last, [window], (1, channels, kept, width)))
    return result


def _hidden(net: Net, x: int) -> int:
    """A hidden state that goes through a matrix, and back into the image."""
    _, channels, rows, width = net.shape(x)
    hidden = net.tensor((1, channels))
    total = net.sum(net.linear(_flat(net, x), channels), net.linear(hidden, channels))
    net.keep(hidden, net.activation(total))
    return net.mul(x, net.view(net.states[-1].after, (1, channels, 1, 1)))


def _mean(net: Net, x: int) -> int:
    """A sum that goes on, element by element."""
    total = _like(net, x)
    operands = (total, x) if net.random.integers(0, 2) else (x, total)
    return net.keep(total, net.sum(*operands))


def _delay(net: Net, x: int) -> int:
    """What was given two calls ago: one state becomes another."""
    older, old = _like(net, x), _like(net, x)
    if net.random.integers(0, 2):
        result = net.sum(older, net.conv(x, net.shape(x)[1]))
        net.keep(older, old)
        net.keep(old, x)
        return result
    net.keep(old, net.activation(x))
    net.keep(older, old)
    return net.sum(x, older)


def _exchange(net: Net, x: int) -> int:
    """Two states that change places."""
    a, b = _like(net, x), _like(net, x)
    net.keep(a, b)
    net.keep(b, net.activation(a) if net.random.integers(0, 2) else a)
    return net.sum(net.sum(a, x), b)


def _late(net: Net, x: int) -> int:
    """A new value that is there before the old one is read."""
    old = _like(net, x)
    new = net.conv(x, net.shape(x)[1])
    net.keep(old, new)
    return net.sum(net.conv(old, net.shape(x)[1]), net.activation(new))


def _seen(net: Net, x: int) -> int:
    """A state that is read through a view, before or after the new one is computed."""
    shape = net.shape(x)
    flat = net.tensor((1, math.prod(shape)))
    if net.random.integers(0, 2):
        old = net.view(flat, shape)
        net.keep(flat, _flat(net, net.activation(x)))
        return net.sum(old, x)
    y = net.sum(net.view(flat, shape), x)
    net.keep(flat, _flat(net, y))
    return net.conv(y, shape[1])


def _float(net: Net, x: int) -> int:
    """A state in floats, quantized in one way or two, from codes or not."""
    old = net.tensor(net.shape(x), DType.F32, net.tensors[x].dim_order)
    y = net.sum(net.quantize(old), x)
    kind = int(net.random.integers(0, 4))
    if kind == 0:
        y = net.mul(net.quantize(old, 0.1, -7), y)
    if kind == 1:
        net.keep(old, net.add(ops.Binary("add"), [old, net.dequantize(y)], net.shape(x), DType.F32))
    else:
        net.keep(old, net.dequantize(y, 0.1 if kind == 2 else 0.05))
    return y


def _given(net: Net, x: int) -> int:
    """The input itself, kept in the layout of C."""
    shape = net.shape(net.inputs[0])
    old = net.tensor(shape, order=(0, 1, 2, 3))
    net.keep(old, net.inputs[0])
    pooled = net.add(
        ops.AvgPool2d(Window(shape[2:], shape[2:], (0, 0, 0, 0))), [old], (*shape[:2], 1, 1)
    )
    return net.mul(x, net.linear(net.view(pooled, (1, shape[1])), net.shape(x)[3]))


def _deep(net: Net, x: int) -> int:
    """An image that goes through layers which may be computed in bands of rows."""
    channels = net.shape(x)[1]
    old = net.tensor((1, channels, 12, 4))
    wide = net.conv(old, 24, (1, 1), padding=(0, 0, 0, 0))
    wide = net.conv(wide, 24, depthwise=True)
    new = net.conv(wide, channels, (1, 1), padding=(0, 0, 0, 0))
    net.keep(old, new if net.random.integers(0, 2) else net.sum(old, new))
    net.mul(net.states[-1].after, net.activation(net.pool(x, net.shape(x)[2:], largest=True)))
    return net.ops[-1].outputs[0]


def _ring(net: Net, x: int) -> int:
    """Rows that are written one by one, at a place that goes round."""
    _, channels, rows, width = net.shape(x)
    ring = net.tensor((1, channels, 3, width))
    place = net.tensor((1,), DType.S64)
    row = net.add(ops.Slice((0, 0, rows - 1, 0), (1, 1, 1, 1)), [x], (1, channels, 1, width))
    if net.random.integers(0, 4) == 0:
        row = net.add(ops.Slice((0, 0, 1, 0), (1, 1, 1, 1)), [ring], (1, channels, 1, width))
    accumulate = bool(net.random.integers(0, 4) == 0)
    new = net.add(ops.IndexPut((2,), accumulate), [ring, row, place], net.shape(ring))
    net.keep(ring, new)
    last = net.constant(np.array([2]), DType.S64)
    at_end = net.add(ops.Compare("eq"), [place, last], (1,), DType.BOOL)
    one = net.constant(np.array([1]), DType.S64)
    further = net.add(ops.Binary("add"), [place, one], (1,), DType.S64)
    start = net.constant(np.array([0]), DType.S64)
    net.keep(
        place,
        net.add(ops.Where(), [at_end, start, further], (1,), DType.S64),
        net.random.integers(0, 3, 1),
    )
    read = ring if net.random.integers(0, 4) == 0 else new
    return net.conv(net.concat([read, x], 2), channels)


_STAGES = (_cache, _hidden, _mean, _delay, _exchange, _late, _seen, _float, _given, _deep, _ring)


STORED = Path(__file__).parents[1] / "data" / "states"


def stored_programs() -> list[str]:
    """The names of the programs with state that are kept as files."""
    return sorted(path.stem for path in STORED.glob("*.pte"))


def stored_program(name: str) -> bytes:
    return (STORED / f"{name}.pte").read_bytes()
