# SPDX-License-Identifier: Apache-2.0
"""Operators for one direction of one recurrent layer over all steps, in float32.

They stand in a captured graph until the layer is quantized (quantize/recurrent.py), and give all that is
quantized there at every step. A sequence of T steps is [T, B, ·], with `batch_first` [B, T, ·]. States
that are not given are zeros. With `reverse` the last step comes first, and what belongs to a step still
lies in its place.

    lstm   h = o tanh(c) and the cell state c = f c + i g
    gru    h = n + z (h - n), twice: as others read it, and as it is kept for the next step
    rnn    h
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import torch
from torch import Tensor
from torch.fx import Node

_NONLINEAR: dict[bool, Callable[[Tensor], Tensor]] = {False: torch.tanh, True: torch.relu}


def _inputs_part(x: Tensor, weight: Tensor, bias: Tensor | None, batch_first: bool) -> Tensor:
    """The input's part of the gates at all steps, [T, B, G]."""
    sums = torch.nn.functional.linear(x, weight, bias)
    return sums.transpose(0, 1) if batch_first else sums


def _order(steps: int, reverse: bool) -> range:
    return range(steps - 1, -1, -1) if reverse else range(steps)


def _sequence(values: list[Tensor], batch_first: bool, reverse: bool) -> Tensor:
    """The values of all steps, in the order in which they were computed, as a sequence."""
    return torch.stack(values[::-1] if reverse else values, 1 if batch_first else 0)


def _start(state: Tensor | None, gates: Tensor, size: int) -> Tensor:
    return gates.new_zeros(gates.shape[1], size) if state is None else state


@torch.library.custom_op("cortexm_tools::lstm", mutates_args=())
def lstm(
    x: Tensor,
    h0: Tensor | None,
    c0: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    batch_first: bool,
    reverse: bool,
) -> tuple[Tensor, Tensor]:
    """All h and all c. Gates in the order i, f, g, o; w_ih [4 H, I], w_hh [4 H, H]."""
    sums = _inputs_part(x, w_ih, b_ih, batch_first)
    h, c = (_start(state, sums, w_hh.shape[1]) for state in (h0, c0))
    hs, cs = [], []
    for t in _order(len(sums), reverse):
        gates = sums[t] + torch.nn.functional.linear(h, w_hh, b_hh)
        i, f, g, o = gates.chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        hs.append(h)
        cs.append(c)
    return _sequence(hs, batch_first, reverse), _sequence(cs, batch_first, reverse)


@torch.library.custom_op("cortexm_tools::gru", mutates_args=())
def gru(
    x: Tensor,
    h0: Tensor | None,
    shown: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    batch_first: bool,
    reverse: bool,
) -> tuple[Tensor, Tensor]:
    """All h, twice. Gates in the order r, z, n; w_ih [3 H, I], w_hh [3 H, H]. `shown` is h0 once more, in
    the codes of those h that others read: they are factors of the sums."""
    sums = _inputs_part(x, w_ih, b_ih, batch_first)
    h = _start(h0, sums, w_hh.shape[1])
    hs = []
    for t in _order(len(sums), reverse):
        r_x, z_x, n_x = sums[t].chunk(3, 1)
        r_h, z_h, n_h = torch.nn.functional.linear(h, w_hh, b_hh).chunk(3, 1)
        n = torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h)
        h = n + torch.sigmoid(z_x + z_h) * (h - n)
        hs.append(h)
    y = _sequence(hs, batch_first, reverse)
    return y, y.clone()


@lstm.register_fake
@gru.register_fake
def _(
    x: Tensor,
    h0: Tensor | None,
    second: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    batch_first: bool,
    reverse: bool,
) -> tuple[Tensor, Tensor]:
    shape = (*x.shape[:2], w_hh.shape[1])
    return x.new_empty(shape), x.new_empty(shape)


@torch.library.custom_op("cortexm_tools::rnn", mutates_args=())
def rnn(
    x: Tensor,
    h0: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    relu: bool,
    batch_first: bool,
    reverse: bool,
) -> Tensor:
    """All h. tanh, or ReLU, of the sum; w_ih [H, I], w_hh [H, H]."""
    sums = _inputs_part(x, w_ih, b_ih, batch_first)
    h = _start(h0, sums, w_hh.shape[1])
    hs = []
    for t in _order(len(sums), reverse):
        h = _NONLINEAR[relu](sums[t] + torch.nn.functional.linear(h, w_hh, b_hh))
        hs.append(h)
    return _sequence(hs, batch_first, reverse)


@rnn.register_fake
def _(
    x: Tensor,
    h0: Tensor | None,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    relu: bool,
    batch_first: bool,
    reverse: bool,
) -> Tensor:
    return x.new_empty(*x.shape[:2], w_hh.shape[1])


LSTM = torch.ops.cortexm_tools.lstm.default
GRU = torch.ops.cortexm_tools.gru.default
RNN = torch.ops.cortexm_tools.rnn.default

OPERATORS = (LSTM, GRU, RNN)


def is_kept(node: Node) -> bool:
    """Whether `node` takes the result of an operator above that has more bits than its activations:
    the cell states of an LSTM, or the states that a GRU keeps."""
    if node.target is not operator.getitem or node.args[1] != 1:
        return False
    source = node.args[0]
    return isinstance(source, Node) and source.target in (LSTM, GRU)


def recurrent_call(node: Node) -> Node | None:
    """The call of an operator above of which `node` is a result, or its last step; the call itself where it
    has only one result. What an LSTM keeps is none."""
    if node.target is torch.ops.aten.select.int and isinstance(node.args[0], Node):
        node = node.args[0]
    if node.target is operator.getitem and isinstance(node.args[0], Node):
        source = node.args[0]
        return (
            source if source.target is GRU or (source.target, node.args[1]) == (LSTM, 0) else None
        )
    return node if node.target is RNN else None
