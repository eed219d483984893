# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN layers and cells as operators that go through all steps.

A layer is one operator of recurrent_operators.py for each direction, a cell is one with a single step.
With a projection h = R m of m = o tanh(c), an LSTM's gates depend on W h = (W R) m: it is an LSTM without
one, of the state m, with a linear layer behind it. One that begins with an h of its own begins with the
shortest m that R brings there, R+ h with the pseudoinverse R+, for R R+ = 1 where the rows of R are
independent.

What computes in float is written out step by step instead (unrolled.py), and so are a layer whose
weights are computed, which nobody knows when the program is made, and one that begins with an h that
its projection cannot give.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any

import torch
from torch.fx import Node

from . import unrolled
from .builder import Builder, Rewrite, Table, shape_of
from .recurrent_operators import GRU, LSTM, RNN
from .unrolled import Weights, give_parts, initial_state

_aten = torch.ops.aten

Run = Callable[[Builder, Node, list[Node | None], Weights, bool, bool], tuple[Node, list[Node]]]
"""Builds a direction of a layer: (build, x, its initial states, weights, batch_first, reverse) to what it
gives at all steps, h, and what the last step leaves, for all states, as sequences."""


def _lstm(
    build: Builder,
    x: Node,
    before: list[Node | None],
    weights: Weights,
    batch_first: bool,
    reverse: bool,
) -> tuple[Node, list[Node]]:
    w_hh, projection = weights.w_hh, build.value(weights.w_hr)
    if projection is not None:
        known = build.value(w_hh)
        assert known is not None
        w_hh = build.constant(known @ projection)
        h0 = before[0]
        if h0 is not None:
            back = build.constant(torch.linalg.pinv(projection))
            before = [build(_aten.linear.default, h0, back), *before[1:]]
    matrices = weights.w_ih, w_hh, weights.b_ih, weights.b_hh
    call = build(LSTM, x, *before, *matrices, batch_first, reverse)
    hs, cs = build(getitem, call, 0), build(getitem, call, 1)
    if projection is not None:
        hs = build(_aten.linear.default, hs, weights.w_hr)
    return hs, [hs, cs]


def _gru(
    build: Builder,
    x: Node,
    before: list[Node | None],
    weights: Weights,
    batch_first: bool,
    reverse: bool,
) -> tuple[Node, list[Node]]:
    matrices = weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh
    (h0,) = before
    shown = None if h0 is None else build(_aten.clone.default, h0)
    call = build(GRU, x, h0, shown, *matrices, batch_first, reverse)
    return build(getitem, call, 0), [build(getitem, call, 1)]


def _rnn(relu: bool) -> Run:
    def run(
        build: Builder,
        x: Node,
        before: list[Node | None],
        weights: Weights,
        batch_first: bool,
        reverse: bool,
    ) -> tuple[Node, list[Node]]:
        matrices = weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh
        hs = build(RNN, x, *before, *matrices, relu, batch_first, reverse)
        return hs, [hs]

    return run


def _layers(run: Run, states: int, otherwise: Rewrite) -> Rewrite:
    def rewrite(build: Builder) -> Node | None:
        args = build.arguments()
        shape = shape_of(args["input"])
        initial = args["hx"] if states == 2 else [args["hx"]]
        parameters = list(args["params"])
        directions = 2 if args["bidirectional"] else 1
        if shape is None or len(shape) != 3 or args["train"]:
            return None
        count = args["num_layers"] * directions
        size, rest = divmod(len(parameters), count)
        assert not rest
        biases, batch_first = bool(args["has_biases"]), bool(args["batch_first"])
        weights = [
            Weights.of(parameters[k * size : (k + 1) * size], biases=biases) for k in range(count)
        ]
        before = [[initial_state(build, node, k) for node in initial] for k in range(count)]
        if not _are_constants(build, parameters):
            return otherwise(build)
        if before[0][0] is not None and not all(_gives_any(build, each.w_hr) for each in weights):
            return otherwise(build)
        time = 1 if batch_first else 0
        sequence, finals = args["input"], list[list[Node]]()
        for _ in range(args["num_layers"]):
            outputs = []
            for reverse in (False, True)[:directions]:
                k = len(finals)
                hs, left = run(build, sequence, before[k], weights[k], batch_first, reverse)
                last = 0 if reverse else shape[time] - 1
                outputs.append(hs)
                finals.append([build(_aten.select.int, part, time, last) for part in left])
            sequence = outputs[0] if directions == 1 else build(_aten.cat.default, outputs, 2)
        after = [_stack(build, list(parts)) for parts in zip(*finals, strict=True)]
        return give_parts(build, [sequence, *after])

    return rewrite


def _stack(build: Builder, states: list[Node]) -> Node:
    if len(states) == 1:
        return build(_aten.unsqueeze.default, states[0], 0)
    return build(_aten.stack.default, states, 0)


def _cell(run: Run, states: int, otherwise: Rewrite) -> Rewrite:
    def rewrite(build: Builder) -> Node | None:
        args = build.arguments()
        if len(shape_of(args["input"]) or ()) != 2:
            return None
        weights = Weights(args["w_ih"], args["w_hh"], args["b_ih"], args["b_hh"])
        given = [weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh]
        if not _are_constants(build, given):
            return otherwise(build)
        before = list(args["hx"]) if states == 2 else [args["hx"]]
        x = build(_aten.unsqueeze.default, args["input"], 0)
        _, left = run(build, x, _apart(build, before), weights, False, False)
        after = [build(_aten.select.int, part, 0, 0) for part in left]
        return after[0] if states == 1 else give_parts(build, after)

    return rewrite


def _are_constants(build: Builder, parameters: list[Any]) -> bool:
    return all(each is None or build.value(each) is not None for each in parameters)


def _gives_any(build: Builder, projection: Any) -> bool:
    """Whether there is no projection, or it can give any h."""
    value = build.value(projection)
    if value is None:
        return True
    there_and_back = value.double() @ torch.linalg.pinv(value.double())
    return bool(
        torch.allclose(there_and_back, torch.eye(len(value), dtype=torch.double), atol=1e-4)
    )


def _apart(build: Builder, states: list[Any]) -> list[Node | None]:
    """The states a cell begins with; one that begins as another one does is a copy of it, so that each can
    be quantized in its own way. None for zeros."""
    found: list[Node | None] = []
    for state in states:
        value = build.value(state)
        zeros = state.target in (_aten.zeros.default, _aten.zeros_like.default)
        if zeros or (value is not None and not bool(value.any())):
            found.append(None)
        else:
            found.append(build(_aten.clone.default, state) if state in found else state)
    return found


_RUNS: dict[Any, tuple[Run, int]] = {
    _aten.lstm.input: (_lstm, 2),
    _aten.gru.input: (_gru, 1),
    _aten.rnn_tanh.input: (_rnn(relu=False), 1),
    _aten.rnn_relu.input: (_rnn(relu=True), 1),
    _aten.lstm_cell.default: (_lstm, 2),
    _aten.gru_cell.default: (_gru, 1),
    _aten.rnn_tanh_cell.default: (_rnn(relu=False), 1),
    _aten.rnn_relu_cell.default: (_rnn(relu=True), 1),
}

TABLE: Table = {
    target: (_cell if "cell" in str(target) else _layers)(*run, unrolled.TABLE[target])
    for target, run in _RUNS.items()
}
