# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers of random weights, alone and in networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from cortexm_tools.ir import DType, Graph, Layer, Op, contiguous, ops
from cortexm_tools.ir import recurrent as cells

from tests.support.graphs import Net

KINDS: tuple[type[ops.RecurrentAttrs], ...] = (ops.Lstm, ops.Gru, ops.Rnn)


def add_layer(
    net: Net,
    kind: type[ops.RecurrentAttrs],
    x: int,
    hidden: int,
    states: list[int] | None = None,
    most: int = 127,
    **options: Any,
) -> tuple[int, ...]:
    """The results of a layer of x [T, B, I].

    Args:
        most: the largest weight.
        states: h, and of an LSTM c, default: inputs of the graph.
        options: fields of the operator, where random ones do not do.
    """
    pick = net.random.integers
    dtype = net.tensors[x].dtype
    sequence = bool(options.get("sequence", True))
    batch_first = bool(options.get("batch_first", False))
    batch, inputs = net.shape(x)[0 if batch_first else 1], net.shape(x)[2]
    types = {ops.Lstm: (dtype, DType.S16), ops.Gru: (DType.S16,), ops.Rnn: (dtype,)}[kind]
    order = contiguous(2)
    if states is None:
        states = [net.input((batch, hidden), each, order) for each in types]
    sums = hidden * (4 if kind is not ops.Rnn else 1)
    # Sums of random codes and weights spread over +-2^13 * sqrt(terms); they shall reach the gates' ends.
    spread = (
        73.0 * (73.0 / 127 * most) * (1 if dtype is DType.S8 else 256) * np.sqrt(inputs + hidden)
    )
    factors = 2.0**17 / spread * net.random.uniform(0.3, 1.0, sums)
    gate_shift, gates = cells.gate_factors(factors.tolist(), dtype)
    state_bits = int(pick(13, 16))
    # Some codes of h saturate.
    unit = {ops.Lstm: 2.0**-14 / 0.6, ops.Gru: 2.0**-state_bits, ops.Rnn: 2.0**-15}[kind]
    out_multiplier, out_shift = cells.out_factor(unit * dtype.limits[1])
    x_zero, h_zero = net.zero_points(x, 2)
    fields: dict[str, Any] = {
        "batch_first": batch_first,
        "reverse": False,
        "sequence": sequence,
        "x_zero_point": x_zero,
        "h_zero_point": h_zero // 4,
        "h_shift": int(pick(0, 9)) if pick(0, 2) else 0,
        "gate_shift": gate_shift,
        "gates": gates,
        "out_multiplier": out_multiplier,
        "out_shift": out_shift,
    }
    own: dict[type[ops.RecurrentAttrs], dict[str, Any]] = {
        ops.Lstm: {"cell_bits": int(pick(10, 14))},
        ops.Gru: {"state_bits": state_bits},
        ops.Rnn: {"relu": bool(pick(0, 2))},
    }
    attrs = kind(**(fields | own[kind] | options))
    least_bias = 1 << (12 if dtype is DType.S8 else 20)
    rows = attrs.rows * hidden
    operands = (
        x,
        *states,
        net.constant(pick(-most, most + 1, (rows, inputs)), DType.S8),
        net.constant(pick(-most, most + 1, (rows, hidden)), DType.S8),
        net.constant(pick(-least_bias, least_bias, sums), DType.S32),
    )
    results = [net.tensor((batch, hidden), each, order) for each in types]
    if sequence:
        shape = (*net.shape(x)[:2], hidden)
        results.insert(0, net.tensor(shape, dtype, contiguous(3)))
    net.ops.append(Op(attrs, operands, tuple(results), Layer(f"layer{len(net.ops)}")))
    return tuple(results)


def random_recurrent(seed: int) -> Graph:
    """One to three layers of any kind and geometry, of int8 or int16 codes and weights of 8 or 4 bits; some
    in two directions whose results are joined, some whose states stay from call to call."""
    net = Net(f"recurrent{seed}", seed)
    pick = net.random.integers
    codes = (DType.S8, DType.S16)[seed % 2]
    steps, batch = int(pick(1, 6)), int(pick(1, 3))
    batch_first = bool(pick(0, 2))
    shape = (batch, steps) if batch_first else (steps, batch)
    x = net.input((*shape, int(pick(1, 40))), codes, contiguous(3))
    seen: list[int] = []
    count = int(pick(1, 4))
    for number in range(count):
        kind = KINDS[int(pick(0, 3))]
        hidden = int(pick(1, 24))
        most = (127, 127, 7)[int(pick(0, 3))]
        keeps = bool(pick(0, 2))
        is_last = number == count - 1
        joined = []
        for reverse in (False, True)[: int(pick(1, 3))]:
            sequence = not is_last or bool(pick(0, 2))
            first = len(net.inputs)
            results = add_layer(
                net,
                kind,
                x,
                hidden,
                most=most,
                batch_first=batch_first,
                reverse=reverse,
                sequence=sequence,
            )
            after = results[int(sequence) :]
            if keeps:
                befores = net.inputs[first:]
                del net.inputs[first:]
                for before, one in zip(befores, after, strict=True):
                    net.keep(before, one)
                seen += after[:1] if not sequence else ()
            else:
                seen += after
            joined += results[:1] if sequence else ()
        if not joined:
            break
        if len(joined) == 2:
            extents = [net.shape(each)[2] for each in joined]
            x = net.add(ops.Concat(2), joined, (*shape, sum(extents)), codes, contiguous(3))
        else:
            x = joined[0]
        if is_last:
            seen.append(x)
    return net.finish(*dict.fromkeys(seen))
