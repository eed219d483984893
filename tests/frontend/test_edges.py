# SPDX-License-Identifier: Apache-2.0
"""Graphs whose edges are constant: sums, maxima and softmaxes over the edges of each node, as PyTorch
Geometric's layers say them, keep their values and are int8."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import cortexm_tools.frontend.rewrites.edge_lists as edge_lists
from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import DType
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

NODES, EDGES, FEATURES = 9, 24, 5
M55 = Target.parse("cortex-m55")


class Net(nn.Module):
    """Functions of the features of nodes [nodes, features], the edges [2, edges] and a number for each."""

    def __init__(self, *functions: Callable[..., Any]) -> None:
        super().__init__()
        dice = torch.Generator().manual_seed(5)
        self.functions = functions
        self.edges: torch.Tensor
        self.numbers: torch.Tensor
        to = torch.randint(0, NODES - 1, (EDGES,), generator=dice)  # the last node has no edge
        to[:3] = torch.tensor([0, 1, 2])
        begin = torch.randint(0, NODES, (EDGES,), generator=dice)
        begin[:3] = torch.tensor([0, 4, 2])  # loops, and edges that there are twice
        begin[-1], to[-1] = begin[-2], to[-2]
        self.register_buffer("edges", torch.stack([begin, to]))
        self.register_buffer("numbers", torch.rand(EDGES, generator=dice) + 0.5)

    def forward(self, x: torch.Tensor) -> Any:
        return tuple(function(x, self.edges, self.numbers) for function in self.functions)


def scattered(messages: torch.Tensor, to: torch.Tensor, reduce: str = "sum") -> torch.Tensor:
    """As torch_geometric.utils.scatter says it."""
    whole = messages.new_zeros((NODES, *messages.shape[1:]))
    index = to.view(-1, *[1] * (messages.dim() - 1)).expand_as(messages)
    if reduce in ("min", "max"):
        return whole.scatter_reduce_(0, index, messages, f"a{reduce}", include_self=False)
    result = whole.scatter_add_(0, index, messages)
    if reduce == "sum":
        return result
    ones = messages.new_ones(len(to))
    count = messages.new_zeros(NODES).scatter_add_(0, to, ones).clamp(min=1)
    return result / count.view(-1, 1).expand_as(result)


def shares(scores: torch.Tensor, to: torch.Tensor) -> torch.Tensor:
    """As torch_geometric.utils.softmax."""
    largest = scattered(scores.detach(), to, "max")
    out = (scores - largest.index_select(0, to)).exp()
    return out / (scattered(out, to) + 1e-16).index_select(0, to)


def normalized(x: torch.Tensor, e: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """A GCNConv with loops of its own, in the place of those that the graph has."""
    e = torch.cat([e[:, e[0] != e[1]], torch.arange(NODES).view(1, -1).repeat(2, 1)], 1)
    ones = torch.ones(e.shape[1])
    kept = w[w > 0.6]
    kept.mul_(0.0)
    degree = (scattered(ones, e[1]) + kept.sum()).pow_(-0.5)
    degree.masked_fill_(degree == float("inf"), 0)
    norm = degree[e[0]] * ones * degree[e[1]]
    return scattered(norm.view(-1, 1) * x.index_select(-2, e[0]), e[1])


def attention(x: torch.Tensor, e: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Two heads, as in GATConv."""
    heads = torch.stack([x, x.flip(1)], 1)
    scores = (heads * torch.linspace(-1, 1, FEATURES)).sum(-1)
    scores = torch.nn.functional.leaky_relu(scores[e[0]] + scores[e[1]], 0.2)
    messages = heads.index_select(0, e[0]) * shares(scores, e[1]).unsqueeze(-1)
    return scattered(messages, e[1]).view(-1, 2 * FEATURES)


def batched(x: torch.Tensor, e: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Nodes lie along the last dimension but one."""
    both = torch.stack([x, x * 0.5])
    messages = both.index_select(-2, e[0]) * w.view(-1, 1)
    return both.new_zeros(both.shape).index_add_(1, e[1], messages)


CASES: dict[str, Callable[..., torch.Tensor]] = {
    "gathered": lambda x, e, w: scattered(x.index_select(-2, e[0]), e[1]),
    "weighted": lambda x, e, w: scattered(w.view(-1, 1) * x[e[0]], e[1]),
    "messages": lambda x, e, w: scattered((x[e[0]] - x[e[1]]).relu(), e[1]),
    "normalized": normalized,
    "mean": lambda x, e, w: scattered(x[e[0]], e[1], "mean"),
    "max": lambda x, e, w: scattered(x.index_select(0, e[0]), e[1], "max"),
    "min": lambda x, e, w: scattered((x[e[0]] - x[e[1]]).tanh(), e[1], "min"),
    "attention": attention,
    "batched": batched,
    "added": lambda x, e, w: x.relu().index_add(0, e[1], x[e[0]], alpha=0.5),
    "columns": lambda x, e, w: x.t().index_add(1, e[1], x.t()[:, e[0]]),
    "flat": lambda x, e, w: x[:, 0].scatter_add(0, e[1], x[:, 1][e[0]] / w),
    "put": lambda x, e, w: x.index_put((e[1],), x[e[0]] * 2, accumulate=True),
    "part": lambda x, e, w: x.scatter_add(
        0, e[1, :7].view(-1, 1).expand(-1, FEATURES), x[e[0]].tanh()
    ),
    "with_itself": lambda x, e, w: x.index_reduce(0, e[1], x[e[0]], "amax"),
    "or_itself": lambda x, e, w: x.index_reduce(
        0, e[1], x[e[0]].tanh(), "amin", include_self=False
    ),
    "mean_with_itself": lambda x, e, w: x.index_reduce(0, e[1], x[e[0]], "mean"),
    "mean_or_itself": lambda x, e, w: x.scatter_reduce(
        0, e[1].view(-1, 1).expand(-1, FEATURES), x[e[0]], "mean", include_self=False
    ),
    "written": lambda x, e, w: x.scatter(
        0, torch.tensor([3, 0, 5]).view(-1, 1).expand(-1, FEATURES), x[:3].tanh()
    ),
}


def load(*functions: Callable[..., Any]) -> LoadedModel:
    torch.manual_seed(0)
    samples = tuple((torch.randn(NODES, FEATURES),) for _ in range(8))
    return LoadedModel(Path("net.py").absolute(), Net(*functions).eval(), samples[0], samples, None)


def check_values(loaded: LoadedModel) -> None:
    captured = capture(loaded)
    left = {node.target for node in captured.graph.graph.nodes} & set(edge_lists.READERS)
    assert not left
    for sample in (loaded.calibration or ())[:3]:
        with torch.no_grad():
            wanted, given = loaded.module(*sample), captured.graph(*sample)
        for name, want, got in zip(CASES, wanted, given, strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5, msg=name)


def test_same_values() -> None:
    check_values(load(*CASES.values()))


def test_same_values_where_nodes_gather_their_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix would take too many weights."""
    monkeypatch.setattr(edge_lists, "_MOST_WEIGHTS", 80)
    check_values(load(*CASES.values()))


def ratio(want: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> float:
    return 10 * float(np.log10(np.square(want).sum() / np.square(want - got).sum()))


def test_quantized() -> None:
    """In int8 throughout, near the float model."""
    loaded = load(*CASES.values())
    result = lower(loaded, target=M55, name="net")
    graph = simplify(read_pte(result.pte, name="net"))
    floats = [
        type(op.attrs).__name__
        for op in graph.ops
        if type(op.attrs).__name__ not in ("Quantize", "Dequantize")
        and any(graph.tensors[t].dtype is DType.F32 for t in (*op.inputs, *op.outputs))
    ]
    assert not floats
    for sample in (loaded.calibration or ())[:3]:
        given = run_graph(graph, tuple(x.numpy() for x in sample))
        with torch.no_grad():
            wanted = [value.numpy() for value in loaded.module(*sample)]
        found = {n: ratio(w, g) for n, w, g in zip(CASES, wanted, given, strict=True)}
        assert min(found.values()) > 27, found


def test_float_model() -> None:
    loaded = load(*CASES.values())
    result = lower(loaded, target=M55, quantization=None, name="net")
    graph = simplify(read_pte(result.pte, name="net"))
    sample = loaded.example_inputs
    with torch.no_grad():
        wanted = loaded.module(*sample)
    given = run_graph(graph, tuple(x.numpy() for x in sample))
    for name, want, got in zip(CASES, wanted, given, strict=True):
        assert np.allclose(got, want.numpy(), 1e-4, 1e-5), name


def refused(function: Callable[..., Any]) -> CortexMError:
    with pytest.raises(CortexMError) as caught:
        lower(load(function), target=M55, name="net")
    return caught.value


def test_computed_edges_are_refused() -> None:
    """By what to do: the edges are a buffer where the graph is always the same."""
    error = refused(lambda x, e, w: x.scatter_add(0, (x > 0).long(), x))
    assert "torch.Tensor.scatter_add" in error.message
    assert "buffer" in error.hint


def test_large_graphs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_lists, "_MOST_WEIGHTS", 20)
    error = refused(CASES["weighted"])
    assert "more than 20 weights" in error.message
    assert "test_edges.py" in error.where


def test_a_graph_changes_its_state() -> None:
    """What is read before a write is no constant."""

    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("sums", torch.zeros(NODES, FEATURES))
            self.register_buffer("edges", torch.tensor([[0, 1, 2, 3], [1, 1, 5, 5]]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            kept = self.edges[:, self.edges[0] != self.edges[1]]
            self.sums.index_add_(0, kept[1], x[kept[0]])
            return self.sums * 1.0

    samples = [(torch.randn(NODES, FEATURES),) for _ in range(4)]
    model = Counter().eval()
    loaded = LoadedModel(Path("net.py").absolute(), model, samples[0], tuple(samples), None)
    result: Lowered = lower(loaded, target=M55, quantization=None, name="net")
    result.reference.reset()  # type: ignore[attr-defined]
    for (x,) in samples:
        want = model(x).numpy()
        (got,) = result.reference((x.numpy(),))
        assert np.allclose(got, want, 1e-5, 1e-5)
