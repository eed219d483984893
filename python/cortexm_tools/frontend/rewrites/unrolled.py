# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN layers and cells in float, step by step in linear layers and element-wise operators.

The input's part of the gates is one linear layer over all steps; each step adds the state's part.
With i, f, g, o the four quarters of the sum, an LSTM's step is
c = sigmoid(f) c + sigmoid(i) tanh(g) and h = sigmoid(o) tanh(c), which a linear layer without bias
follows in an LSTM with a projection. With r, z, n the thirds, kept apart for input (x) and
state (h), a GRU's is n = tanh(n_x + sigmoid(r) n_h) and h = n + sigmoid(z) (h - n). An RNN's is
h = tanh or relu of the sum. The first step drops what a zero state multiplies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from .builder import Builder, Table, shape_of

_aten = torch.ops.aten


@dataclass(frozen=True)
class Weights:
    """One direction of one layer: [gates, input], [gates, state], biases or None, and the
    projection [state, hidden] or None."""

    w_ih: Any
    w_hh: Any
    b_ih: Any = None
    b_hh: Any = None
    w_hr: Any = None

    @classmethod
    def of(cls, parameters: list[Any], *, biases: bool) -> Weights:
        """As they stand in the arguments of the operator."""
        count = 4 if biases else 2
        projection = parameters[count] if len(parameters) > count else None
        b_ih, b_hh = parameters[2:4] if biases else (None, None)
        return cls(parameters[0], parameters[1], b_ih, b_hh, projection)


@dataclass
class _State:
    """Node of [batch, hidden], or None for zeros."""

    h: Node | None
    c: Node | None = None


Step = Callable[[Builder, Node, Weights, _State], _State]


def _gates(build: Builder, x: Node, weights: Weights, h: Node | None) -> Node:
    if h is None:
        if weights.b_hh is None:
            return x
        bias = build(_aten.expand.default, weights.b_hh, list(shape_of(x) or ()))
        return build(_aten.add.Tensor, x, bias)
    return build(_aten.add.Tensor, x, build(_aten.linear.default, h, weights.w_hh, weights.b_hh))


def _parts(build: Builder, gates: Node, hidden: int, count: int) -> list[Node]:
    return [build(_aten.slice.Tensor, gates, 1, k * hidden, (k + 1) * hidden) for k in range(count)]


def _rows(build: Builder, weight: Any) -> int:
    """How many outputs a linear layer of this weight has."""
    value = build.value(weight)
    assert value is not None
    return int(value.shape[0])


def _lstm_step(build: Builder, x: Node, weights: Weights, state: _State) -> _State:
    gates = _gates(build, x, weights, state.h)
    i, f, g, o = _parts(build, gates, _rows(build, weights.w_hh) // 4, 4)
    i, o = build(_aten.sigmoid.default, i), build(_aten.sigmoid.default, o)
    c = build(_aten.mul.Tensor, i, build(_aten.tanh.default, g))
    if state.c is not None:
        kept = build(_aten.mul.Tensor, build(_aten.sigmoid.default, f), state.c)
        c = build(_aten.add.Tensor, kept, c)
    h = build(_aten.mul.Tensor, o, build(_aten.tanh.default, c))
    if weights.w_hr is not None:
        h = build(_aten.linear.default, h, weights.w_hr)
    return _State(h, c)


def _gru_step(build: Builder, x: Node, weights: Weights, state: _State) -> _State:
    hidden = _rows(build, weights.w_hh) // 3
    if state.h is not None:
        recurrent = build(_aten.linear.default, state.h, weights.w_hh, weights.b_hh)
    elif weights.b_hh is not None:
        recurrent = build(_aten.expand.default, weights.b_hh, list(shape_of(x) or ()))
    else:
        w_hh = build.value(weights.w_hh)
        assert w_hh is not None
        recurrent = build.constant(torch.zeros(shape_of(x) or ()))
    xs, hs = _parts(build, x, hidden, 3), _parts(build, recurrent, hidden, 3)
    r, z = (build(_aten.sigmoid.default, build(_aten.add.Tensor, xs[k], hs[k])) for k in range(2))
    n = build(_aten.add.Tensor, xs[2], build(_aten.mul.Tensor, r, hs[2]))
    n = build(_aten.tanh.default, n)
    if state.h is None:
        return _State(build(_aten.sub.Tensor, n, build(_aten.mul.Tensor, z, n)))
    change = build(_aten.mul.Tensor, z, build(_aten.sub.Tensor, state.h, n))
    return _State(build(_aten.add.Tensor, n, change))


def _rnn_step(activation: Any) -> Step:
    def step(build: Builder, x: Node, weights: Weights, state: _State) -> _State:
        return _State(build(activation, _gates(build, x, weights, state.h)))

    return step


def _run(
    build: Builder, steps: list[Node], weights: Weights, state: _State, step: Step, back: bool
) -> tuple[list[Node], _State]:
    """The state's h after each step, in the order of `steps`, and the last state."""
    results = []
    for x in reversed(steps) if back else steps:
        state = step(build, x, weights, state)
        assert state.h is not None
        results.append(state.h)
    return (results[::-1] if back else results), state


def _layers(step: Step, states: int) -> Callable[[Builder], Node | None]:
    def rewrite(build: Builder) -> Node | None:
        args = build.arguments()
        shape = shape_of(args["input"])
        initial = args["hx"] if states == 2 else [args["hx"]]
        parameters = list(args["params"])
        directions = 2 if args["bidirectional"] else 1
        if shape is None or len(shape) != 3 or args["train"]:
            return None
        biases = bool(args["has_biases"])
        size, rest = divmod(len(parameters), args["num_layers"] * directions)
        assert not rest
        batch_first = bool(args["batch_first"])
        time = 1 if batch_first else 0
        sequence, last = args["input"], []
        for layer in range(args["num_layers"]):
            outputs = []
            for direction in range(directions):
                number = layer * directions + direction
                weights = Weights.of(parameters[number * size : (number + 1) * size], biases=biases)
                gates = build(_aten.linear.default, sequence, weights.w_ih, weights.b_ih)
                gate_shape = shape[1 - time], _rows(build, weights.w_ih)
                steps = []
                for t in range(shape[time]):
                    x = build(_aten.select.int, gates, time, t)
                    x.meta["val"] = torch.empty(gate_shape, device="meta")
                    steps.append(x)
                state = _State(*(initial_state(build, node, number) for node in initial))
                hs, state = _run(build, steps, weights, state, step, bool(direction))
                outputs.append(build(_aten.stack.default, hs, time))
                last.append(state)
            sequence = outputs[0] if directions == 1 else build(_aten.cat.default, outputs, 2)
        finals = [build(_aten.stack.default, [s.h for s in last], 0)]
        if states == 2:
            finals.append(build(_aten.stack.default, [s.c for s in last], 0))
        return give_parts(build, [sequence, *finals])

    return rewrite


def _cell(step: Step, states: int) -> Callable[[Builder], Node | None]:
    def rewrite(build: Builder) -> Node | None:
        args = build.arguments()
        if len(shape_of(args["input"]) or ()) != 2:
            return None
        weights = Weights(args["w_ih"], args["w_hh"], args["b_ih"], args["b_hh"])
        x = build(_aten.linear.default, args["input"], weights.w_ih, weights.b_ih)
        before = _State(*args["hx"]) if states == 2 else _State(args["hx"])
        after = step(build, x, weights, before)
        if states == 1:
            return after.h
        return give_parts(build, [after.h, after.c])

    return rewrite


def give_parts(build: Builder, parts: list[Any]) -> Node:
    """Put `parts` in the place of the node's results, which are read by index.

    Each part takes the shape of what it replaces, by which the rewrites of its readers go.
    """
    for user in list(build.node.users):
        index: Any = user.args[1]
        if "val" in user.meta:
            parts[index].meta["val"] = user.meta["val"]
        user.replace_all_uses_with(parts[index])
        user.graph.erase_node(user)
    result: Node = parts[0]
    return result


def initial_state(build: Builder, node: Node, number: int) -> Node | None:
    if node.target in (_aten.zeros.default, _aten.zeros_like.default):
        return None
    value = build.value(node)
    if value is not None and not bool(value.any()):
        return None
    return build(_aten.select.int, node, 0, number)


TABLE: Table = {
    _aten.lstm.input: _layers(_lstm_step, 2),
    _aten.gru.input: _layers(_gru_step, 1),
    _aten.rnn_tanh.input: _layers(_rnn_step(_aten.tanh.default), 1),
    _aten.rnn_relu.input: _layers(_rnn_step(_aten.relu.default), 1),
    _aten.lstm_cell.default: _cell(_lstm_step, 2),
    _aten.gru_cell.default: _cell(_gru_step, 1),
    _aten.rnn_tanh_cell.default: _cell(_rnn_step(_aten.tanh.default), 1),
    _aten.rnn_relu_cell.default: _cell(_rnn_step(_aten.relu.default), 1),
}
