# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: the interpreter against layers in floats, and the kernels against the interpreter."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph, run_sequence
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.data_graphs import random_values
from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.recurrent import KINDS, add_layer, random_recurrent
from tests.support.single_operator import seeds

Reals = npt.NDArray[np.float64]


def sigmoid(x: Reals) -> Reals:
    return 1 / (1 + np.exp(-x))


def in_floats(graph: Graph, inputs: list[npt.NDArray[np.generic]]) -> tuple[Reals, Reals]:
    """y of a graph of one layer, as PyTorch's documentation defines it on real numbers, and the layer's own,
    both as multiples of a code of h; the scale of a row is that which its multiplier stands for."""
    (op,) = graph.ops
    attrs = op.attrs
    assert isinstance(attrs, ops.RecurrentAttrs)
    operands = dict(zip(graph.inputs, inputs, strict=True))
    arrays = [operands[i] if i in operands else graph.tensors[i].data for i in op.inputs]
    x, h, *rest = (np.asarray(each, np.float64) for each in arrays)
    w_ih, w_hh, bias = rest[-3:]
    hidden = h.shape[1]
    unit = np.array(attrs.gates) * 2.0 ** (attrs.gate_shift - 32)
    if isinstance(attrs, ops.Lstm):
        c = rest[0] / 2**attrs.cell_bits
        unit = unit * np.repeat([2.0, 2.0, 1.0, 2.0], hidden)
        # o * tanh(c) in Q30
        code = 2.0**14 * attrs.out_multiplier / 2**attrs.out_shift
    else:
        bits = attrs.state_bits if isinstance(attrs, ops.Gru) else 15
        code = 2.0**bits * attrs.out_multiplier / 2**attrs.out_shift
    if isinstance(attrs, ops.Gru):
        unit = unit * np.repeat([2.0, 2.0, 1.0, 1.0], hidden)
        h = h / 2**attrs.state_bits
    else:
        h = (h - attrs.h_zero_point) / code
    x = x - attrs.x_zero_point
    x = x.transpose(1, 0, 2) if attrs.batch_first else x
    y = np.zeros((*x.shape[:2], hidden))
    ends = np.array(graph.tensors[op.inputs[0]].dtype.limits) - attrs.h_zero_point
    for t in range(len(x))[:: -1 if attrs.reverse else 1]:
        of_x, of_h = x[t] @ w_ih.T, np.clip(h * code, *ends) @ w_hh.T
        beside = slice(0, 2 * hidden) if isinstance(attrs, ops.Gru) else slice(None)
        of_h[:, beside] /= 2**attrs.h_shift
        if isinstance(attrs, ops.Gru):
            r, z = np.split(
                sigmoid(
                    (of_x + of_h)[:, : 2 * hidden] * unit[: 2 * hidden]
                    + bias[: 2 * hidden] * unit[: 2 * hidden]
                ),
                2,
                axis=1,
            )
            n_x, n_h = np.split(
                np.concatenate([of_x[:, 2 * hidden :], of_h[:, 2 * hidden :]], axis=1)
                * unit[2 * hidden :]
                + bias[2 * hidden :] * unit[2 * hidden :],
                2,
                axis=1,
            )
            n = np.tanh(n_x + r * n_h)
            h = (1 - z) * n + z * h
        else:
            gates = (of_x + of_h + bias) * unit
            if isinstance(attrs, ops.Lstm):
                i, f, g, o = np.split(gates, 4, axis=1)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
            else:
                assert isinstance(attrs, ops.Rnn)
                h = np.maximum(gates / 8, 0) if attrs.relu else np.tanh(gates)
        y[t] = h
    own = np.asarray(run_graph(graph, inputs)[0], np.float64) - attrs.h_zero_point
    return np.clip(y * code, *ends), own.transpose(1, 0, 2) if attrs.batch_first else own


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
def test_a_layer_is_what_it_is_in_floats(kind: type[ops.RecurrentAttrs], dtype: DType) -> None:
    """Against the definition on real numbers, with the same weights: what is left is the rounding of h,
    which the next steps see."""
    for seed in range(8):
        net = Net("layer", seed)
        x = net.input((4, 2, 9), dtype, contiguous(3))
        results = add_layer(net, kind, x, 6, reverse=seed % 2 == 1)
        graph = check_graph(net.finish(*results))
        random = np.random.default_rng(seed)
        inputs = [
            random_values(random, graph.tensors[i].dtype, graph.tensors[i].shape) // 8
            for i in graph.inputs
        ]
        wanted, got = in_floats(graph, inputs)
        assert np.abs(got).max() > dtype.limits[1] / 32
        noise = np.sqrt(np.mean((wanted - got) ** 2))
        assert noise < (0.6 if dtype is DType.S8 else 15.0), (seed, noise)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=seeds)
def test_kernels_give_what_the_interpreter_says(executor: PlanExecutor, seed: int) -> None:
    graph = random_recurrent(seed)
    if graph.states:
        return  # tests/device runs them
    random = np.random.default_rng(seed)
    tensors = [graph.tensors[i] for i in graph.inputs]
    inputs = [random_values(random, tensor.dtype, tensor.shape) for tensor in tensors]
    for got, wanted in zip(
        executor.run_graph(graph, inputs), run_graph(graph, inputs), strict=True
    ):
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_sequence_is_its_steps(kind: type[ops.RecurrentAttrs]) -> None:
    """Steps one by one, with the state kept from call to call, give what they give in one call."""
    whole, single = (Net("layer", 5) for _ in range(2))
    x = whole.input((6, 1, 7), DType.S8, contiguous(3))
    graph = whole.finish(*add_layer(whole, kind, x, 5))
    x = single.input((1, 1, 7), DType.S8, contiguous(3))
    y, *after = add_layer(single, kind, x, 5)
    befores = single.inputs[1:]
    del single.inputs[1:]
    for before, one in zip(befores, after, strict=True):
        tensor = single.tensors[before]
        single.keep(before, one, np.zeros(tensor.shape, tensor.dtype.numpy))
    codes = random_values(np.random.default_rng(1), DType.S8, (6, 1, 7))
    zeros = [
        np.zeros(graph.tensors[i].shape, graph.tensors[i].dtype.numpy) for i in graph.inputs[1:]
    ]
    wanted = run_graph(graph, [codes, *zeros])[0]
    steps = run_sequence(single.finish(y), [[codes[t : t + 1]] for t in range(6)])
    assert np.array_equal(np.concatenate([step[0] for step in steps]), wanted)


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
def test_the_plan_does_not_grow_with_the_steps(cpu: str) -> None:
    def plan_of(steps: int) -> tuple[int, int]:
        net = Net("layer", 3)
        x = net.input((steps, 1, 10), DType.S8, contiguous(3))
        results = add_layer(net, ops.Lstm, x, 16, sequence=False)
        plan = make_plan(simplify(net.finish(*results)), Target.parse(cpu))
        return plan.constant_bytes, plan.working_size - steps * 10

    assert plan_of(500) == plan_of(4)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_sums_beyond_32_bits_are_refused(kind: type[ops.RecurrentAttrs]) -> None:
    net = Net("layer", 3)
    x = net.input((2, 1, 600), DType.S16, contiguous(3))
    graph = net.finish(*add_layer(net, kind, x, 4))
    check_graph(graph)
    for tensor in graph.tensors:
        if tensor.data is not None and tensor.data.ndim == 2:
            tensor.data[:] = 127
    with pytest.raises(CortexMError, match="do not fit in 32 bits"):
        check_graph(graph)
