# SPDX-License-Identifier: Apache-2.0
"""Channels whose code cannot change, or that nobody uses, are removed, and no byte changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, DType, Graph, Op, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify import channels, simplified
from cortexm_tools.simplify.channels import remove_channels, worth_keeping
from cortexm_tools.simplify.check_channels import check_removal

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs


def change(net: Net, **fields: Any) -> None:
    """Other fields of the operator added last."""
    net.ops[-1] = replace(net.ops[-1], attrs=replace(net.ops[-1].attrs, **fields))


def data(net: Net, operand: int) -> Array:
    """The constant that the operator added last reads as this operand; may be changed."""
    value = net.tensors[net.ops[-1].inputs[operand]].data
    assert value is not None
    return value


def layer(net: Net, made: int, dead: Array, *, zeroed: Array | None = None) -> int:
    """The layer added last reads codes as they were made, and ends in a ReLU. Channels `dead` have a bias
    that keeps them below 0; those `zeroed` have no weights."""
    attrs: Any = net.ops[-1].attrs
    made_by = {op.outputs[0]: op for op in net.ops}
    source: Any = made_by[made].attrs if made in made_by else None
    zero = getattr(source, "out_zero_point", attrs.in_zero_point)
    change(net, in_zero_point=zero, act_min=attrs.out_zero_point)
    change(net, act_max=max(attrs.act_max, attrs.out_zero_point))
    data(net, 2)[dead] = -(1 << 30)
    if zeroed is not None:
        axis = 3 if isinstance(attrs, ops.DepthwiseConv2d) else 0
        np.moveaxis(data(net, 1), axis, 0)[zeroed] = 0
    return net.ops[-1].outputs[0]


def random_constant(seed: int, codes: DType = DType.S8) -> Graph:
    """A network many of whose channels have one code, or are not read."""
    net = Net(f"constant{seed}", seed)
    pick = net.random.integers
    x = net.input((1, int(pick(1, 6)), int(pick(4, 8)), int(pick(4, 8))), codes)

    def some(count: int) -> Array:
        return np.flatnonzero(pick(0, 3, count) == 0)

    def add(source: int, out_c: int, **how: Any) -> int:
        y = net.conv(source, out_c, **how)
        layer(net, source, some(out_c), zeroed=some(out_c) if pick(0, 2) else None)
        if pick(0, 3) == 0:  # some of the operand's channels have no weights
            net_weights = data(net, 1)
            net_weights[..., some(net_weights.shape[3])] = 0
        return y

    point: Any = {"kernel": (1, 1), "padding": (0, 0, 0, 0)}
    for _ in range(int(pick(2, 7))):
        c, kind = net.shape(x)[1], int(pick(0, 11))
        bare: Any = point if pick(0, 2) else {"padding": tuple(int(v) for v in pick(0, 2, 4))}
        if min(net.shape(x)[2:]) < 3:
            bare = point
        if kind <= 2:
            x = add(x, int(pick(1, 13)), **bare)
        elif kind <= 4:
            x = add(x, c * (1 if kind == 3 else int(pick(1, 3))), depthwise=True, **bare)
        elif kind == 5:
            x = net.sum(add(x, c, **point), add(x, c, **point))
        elif kind == 6:
            x = net.activation(x)
        elif kind == 7 and min(net.shape(x)[2:]) >= 4:
            x = net.pool(x, (2, 2), largest=bool(pick(0, 2)))
        elif kind == 8:
            x = net.concat([add(x, int(pick(1, 6)), **point), x], 1)
        elif kind == 9:
            x = net.mul(x, net.activation(net.pool(x, net.shape(x)[2:], largest=False)))
        elif codes is DType.S8:
            x = net.pad(x, (0, 0, 1, 0), (0, 0, 0, 2), int(pick(-128, 128)))
        else:
            x = net.transpose_conv(x, int(pick(1, 6)), (2, 2), 2)
    if pick(0, 2):
        x = add(x, int(pick(1, 9)), **point)
    x = net.linear(net.view(x, (1, int(np.prod(net.shape(x))))), int(pick(2, 9)))
    layer(net, -1, some(net.shape(x)[1]))
    return net.finish(net.linear(x, 5))


def results_of(graph: Graph, seed: int) -> list[list[Array]]:
    """For random codes, and for the ends of the type everywhere."""
    low, high = graph.tensors[graph.inputs[0]].dtype.limits
    given = random_inputs(graph, seed)
    rows = [given, *([np.full_like(x, end) for x in given] for end in (low, high))]
    return [run_graph(graph, row) for row in rows]


def same(before: Graph, after: Graph, seed: int = 0) -> None:
    for a, b in zip(results_of(before, seed), results_of(after, seed), strict=True):
        assert all(map(np.array_equal, a, b))


def macs(graph: Graph) -> int:
    return sum(
        graph.tensors[op.inputs[1]].numel
        for op in graph.ops
        if isinstance(op.attrs, ops.ConvAttrs | ops.Linear)
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks here are too small for what is worth removing: whatever can go goes, but one."""
    monkeypatch.setattr(channels, "worth_keeping", lambda count, needed: int(needed == 0))


@pytest.mark.parametrize(
    ("count", "needed", "kept"),
    [(64, 59, 60), (64, 61, 64), (64, 31, 31), (66, 66, 66), (66, 65, 66), (16, 0, 8), (6, 1, 6)],
)
def test_what_is_not_worth_removing(count: int, needed: int, kept: int) -> None:
    assert worth_keeping(count, needed) == kept - needed


@pytest.mark.parametrize("codes", [DType.S8, DType.S16])
def test_random_networks_keep_their_results(codes: DType) -> None:
    removed = []
    for seed in range(50):
        graph = random_constant(seed, codes)
        result = simplified(graph)
        same(graph, result.graph, seed)
        assert (macs(result.graph) < macs(graph)) == (result.channels_removed > 0)
        removed.append(result.channels_removed)
    assert sum(count > 0 for count in removed) > 30


def tower(edge: tuple[int, int, int, int], code: int = 0) -> Graph:
    """Two channels of four have one code, `code` above the next layer's zero point."""
    net = Net("tower", 3)
    x = net.input((1, 3, 6, 6))
    y = net.conv(x, 4, (1, 1), padding=(0, 0, 0, 0))
    layer(net, x, np.array([1, 3]))
    zero = net.ops[-1].attrs.out_zero_point  # type: ignore[attr-defined]
    y = net.conv(y, 5, (3, 3), padding=edge)
    change(net, in_zero_point=zero - code)
    return net.finish(y)


@pytest.mark.parametrize(
    ("edge", "code", "left"),
    [((1, 1, 1, 1), 0, 2), ((0, 0, 0, 0), 7, 2), ((1, 1, 1, 1), 7, 4), ((0, 0, 0, 1), 7, 4)],
)
def test_padding_keeps_a_constant_that_is_not_its_value(
    edge: tuple[int, int, int, int], code: int, left: int
) -> None:
    graph = tower(edge, code)
    result, removed = remove_channels(graph)
    assert (result.tensors[result.ops[0].outputs[0]].shape[1], removed) == (left, 4 - left)
    same(graph, result)


def test_interface_and_states_keep_their_channels() -> None:
    net = Net()
    x = net.input((1, 3, 6, 6))
    y = net.conv(x, 4, (1, 1), padding=(0, 0, 0, 0))
    layer(net, x, np.array([1, 3]))
    z = net.conv(y, 2, (1, 1), padding=(0, 0, 0, 0))
    layer(net, y, np.array([], int))
    graph = net.finish(z, y)
    assert remove_channels(graph) == (graph, 0)
    net.keep(net.tensor((1, 4, 6, 6)), y)
    graph = net.finish(net.sum(z, z), net.sum(y, net.states[0].before))
    assert remove_channels(graph)[1] == 0


def test_sums_that_wrap_say_nothing() -> None:
    """Beyond 32 bits a sum can have any sign, whatever its bounds."""
    graph = tower((0, 0, 0, 0))
    bias = graph.tensors[graph.ops[0].inputs[2]].data
    assert bias is not None and remove_channels(graph)[1] == 2
    bias[1] = -(1 << 31) + 1
    assert remove_channels(graph)[1] == 1


def test_all_channels_but_one_can_go() -> None:
    net = Net()
    x = net.input((1, 3, 6, 6))
    y = net.conv(x, 4, (1, 1), padding=(0, 0, 0, 0))
    layer(net, x, np.arange(4))
    graph = net.finish(net.conv(y, 2, (1, 1), padding=(0, 0, 0, 0)))
    result, removed = remove_channels(graph)
    assert removed == 3
    same(graph, result)


def test_the_check_refuses_what_changes_a_result() -> None:
    graph = tower((1, 1, 1, 1))
    result, _ = remove_channels(graph)
    y = graph.ops[0].outputs[0]
    gone = {y: (1, np.array([False, True, False, True]))}
    # The graph that `remove_channels` made before it dropped unused tensors.
    after = _numbered_as(graph, result)
    check_removal(graph, after, gone)
    conv = after.ops[1]

    def refuses(changed: Graph, what: str, removed: Any = gone) -> None:
        with pytest.raises(CortexMError, match=what):
            check_removal(graph, changed, removed)

    for operand, what in ((1, "other weights"), (2, "another bias")):
        tensor = after.tensors[conv.inputs[operand]]
        assert tensor.data is not None
        wrong = replace(tensor, data=tensor.data + tensor.dtype.numpy.type(1))
        tensors = list(after.tensors)
        tensors[conv.inputs[operand]] = wrong
        refuses(replace(after, tensors=tuple(tensors)), what)
    other = replace(conv, attrs=replace(conv.attrs, out_zero_point=0, in_zero_point=0))
    refuses(replace(after, ops=(after.ops[0], other)), "other fields")
    refuses(after, "changes", {y: (1, np.array([True, False, False, True]))})
    # The same removal where a channel is not constant.
    bias = graph.tensors[graph.ops[0].inputs[2]].data
    assert bias is not None
    bias[1] = 100
    refuses(after, "codes differ")


def _numbered_as(graph: Graph, result: Graph) -> Graph:
    """`result` with the indices of `graph`, its new tensors behind them."""
    tensors, places = list(graph.tensors), {}
    for index, tensor in enumerate(result.tensors):
        match = [i for i, old in enumerate(graph.tensors) if old.name == tensor.name]
        places[index] = match[0] if match else len(tensors)
        if match:
            tensors[match[0]] = tensor
        else:
            tensors.append(tensor)

    def renumbered(op: Op) -> Op:
        inputs, outputs = (tuple(places[i] for i in row) for row in (op.inputs, op.outputs))
        return replace(op, inputs=inputs, outputs=outputs)

    made = tuple(renumbered(op) for op in result.ops)
    return replace(graph, tensors=tuple(tensors), ops=made)
