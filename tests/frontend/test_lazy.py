# SPDX-License-Identifier: Apache-2.0
"""Graphs that are compiled at their first use are those that PyTorch compiles at once, for whoever
looks; what is remembered of an operator is what it gives."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, symbolic_trace

from cortexm_tools.frontend.lower.lazy import lazy_code
from cortexm_tools.frontend.lower.shapes import known_shapes
from cortexm_tools.frontend.quiet import import_executorch


class Inner(nn.Module):
    def forward(self, x, *, by=2.0):  # PyTorch cannot pickle a graph with annotations
        return {"sum": torch.relu(x) + by}


X = torch.tensor([-1.0, 3.0])


def changed() -> GraphModule:
    """A graph that was compiled and then changed twice."""
    module = symbolic_trace(Inner())
    for target in (torch.relu, torch.neg):
        (node,) = (n for n in module.graph.nodes if n.target in (torch.relu, torch.neg))
        node.target = {torch.relu: torch.neg, torch.neg: torch.abs}[target]
        module.recompile()
    return module


USES: dict[str, Callable[[Any], Any]] = {
    "call": lambda m: m(X)["sum"].tolist(),
    "keyword": lambda m: m(X, by=5.0)["sum"].tolist(),
    "forward": lambda m: m.forward(X)["sum"].tolist(),
    "class": lambda m: type(m).forward(m, X)["sum"].tolist(),
    "code": lambda m: m.code,
    "text": str,
    "lines": lambda m: m._lineno_map,
    "signature": lambda m: str(inspect.signature(m.forward)),
    "copy": lambda m: copy.copy(m)(X)["sum"].tolist(),
    "deepcopy": lambda m: copy.deepcopy(m)(X)["sum"].tolist(),
    "pickle": lambda m: pickle.loads(pickle.dumps(m))(X)["sum"].tolist(),
    "within": lambda m: symbolic_trace(nn.Sequential(m))(X)["sum"].tolist(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("inside", [True, False])
def test_whoever_looks_finds_the_code(use: str, inside: bool) -> None:
    wanted = USES[use](changed())
    with lazy_code():
        module = changed()
        assert "_code" not in vars(module)
        if inside:
            assert USES[use](module) == wanted
    assert USES[use](module) == wanted
    assert USES["call"](module) == USES["call"](changed())
    assert "_code" in vars(module)


def test_compiled_once_and_only_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    count = []
    whole = torch.fx.Graph.python_code

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        count.append(self)
        return whole(self, *args, **kwargs)

    with lazy_code():
        monkeypatch.setattr(torch.fx.Graph, "python_code", counted)
        module = changed()
        assert not count
        assert module(X)["sum"].tolist() == module(X)["sum"].tolist() == [3.0, 5.0]
        assert len(count) == 1
        module.recompile()
        assert module.code == module.code
        assert len(count) == 2


def test_what_was_put_in_the_place_of_a_call_stays() -> None:
    with lazy_code():
        module = changed()
        type(module).__call__ = lambda self, x: "replaced"  # type: ignore[method-assign]
        assert module.forward(X)["sum"].tolist() == [3.0, 5.0]
        assert module(X) == "replaced"


def test_modules_within_are_compiled_with_it() -> None:
    with lazy_code():
        inner = changed()
        outer = GraphModule(
            nn.Sequential(inner), symbolic_trace(nn.Sequential(nn.Identity())).graph
        )
        (node,) = (n for n in outer.get_submodule("0").graph.nodes if n.target is torch.abs)
        node.target = torch.neg
        outer.recompile()
        assert outer(X)["sum"].tolist() == [3.0, -1.0]


def test_quantization_on_fake_tensors_is_remembered() -> None:
    import_executorch()
    quantize = torch.ops.quantized_decomposed.quantize_per_tensor.default
    multiply = torch.ops.cortex_m.quantized_mul.default
    found: list[list[Any]] = []
    for remember in (False, True, True):
        before = FakeTensorMode.cache_hits
        with FakeTensorMode() as mode:
            image = mode.from_tensor(torch.zeros(1, 3, 4, 5).to(memory_format=torch.channels_last))
            given: list[Any] = []
            for dtype in (torch.int8, torch.int16, torch.int8):
                if remember:
                    with known_shapes():
                        given.append(quantize(image, 0.5, 3, -9, 9, dtype))
                else:
                    given.append(quantize(image, 0.5, 3, -9, 9, dtype))
            with known_shapes():
                given.append(multiply(given[0], 0, given[2], 0, 0, 1 << 30, 0))
        assert len({id(value) for value in given}) == len(given)
        assert all(value.fake_mode is mode for value in given)
        found.append([(v.shape, v.stride(), v.dtype, v.device) for v in given])
        hits = FakeTensorMode.cache_hits - before
    assert found[0] == found[1] == found[2]
    assert hits >= 3  # the last time they were known
