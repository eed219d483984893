# SPDX-License-Identifier: Apache-2.0
"""Spare ExecuTorch's passes and torchao's observers the work that changes nothing.

Most passes of ``to_edge`` look for single operators, but run the whole graph on fake tensors and write
it anew. For the small operators of an unrolled recurrent layer that is nearly all of the time that
lowering takes. While `quick_passes` is active,

* a pass of `_PURE` first shows every call to its ``call_operator``, without running it. If that
  asks for just these calls with these arguments, the graph is what the pass would give, and stays;
* nodes share the history that PyTorch notes in them (``from_node``) instead of copying all of it at
  every pass;
* a histogram's search for a range reads its sums from a list instead of making a tensor of each one;
* the dispatcher's composite operators are looked up in ``torch.ops`` when there are new ones, not for
  each of its namespaces at every decomposition, and kernels are registered with them, which every
  decomposition does for all of them, without evaluating annotations anew. For a network of some
  layers this is a third of the time;
* graphs are compiled when they are called (`lazy.py`), and what quantized operators give on tensors
  without data is remembered (`shapes.py`): another quarter.

A pass that is not known here runs as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.fx import GraphModule, Node, Proxy

from .lazy import lazy_code
from .shapes import known_shapes

# Passes of executorch.exir whose call_operator depends on its arguments alone and changes nothing else.
_PURE = {
    "ReplaceViewOpsWithViewCopyOpsPass",
    "NormalizeTransposePass",
    "ReplaceBrokenOpsWithFunctionalOpsPass",
    "ScalarToTensorPass",
    "SymToTensorPass",
    "RemoveMixedTypeOperators",
    "MemoryFormatOpsPass",
    "LegalizePortableDimOrderPass",
}


class _Changed(Exception):
    """The pass asks for something else than what is there."""


@contextmanager
def quick_passes() -> Iterator[None]:
    """Lower within this block."""
    import torch._export.utils as export_utils
    import torch.fx.traceback as traceback
    from executorch.backends.transforms.remove_getitem_op import RemoveGetItemPass
    from executorch.exir.pass_base import _ExportPassBase
    from torch._ops import OperatorBase
    from torch.fx.passes.infra.pass_base import PassResult
    from torchao.quantization.pt2e.observer import HistogramObserver

    whole, remove = _ExportPassBase.call, RemoveGetItemPass.call
    search = HistogramObserver._non_linear_param_search

    def call(self: Any, graph_module: GraphModule) -> Any:
        if type(self).__name__ in _PURE and is_idle(self, graph_module):
            return PassResult(graph_module, False)
        return whole(self, graph_module)

    def remove_getitem(self: Any, graph_module: GraphModule) -> Any:
        names = {getattr(node.target, "__name__", "") for node in graph_module.graph.nodes}
        if not names & {"aten.max_pool2d_with_indices.default", "aten.max.dim"}:
            return PassResult(graph_module, False)
        return remove(self, graph_module)

    def quick_search(self: Any) -> Any:
        if self.histogram.dtype is not torch.float32:
            return search(self)
        sums = torch.cumsum(self.histogram, dim=0)
        with patch.object(torch, "cumsum", lambda *args, **kwargs: _Sums(sums)):
            return search(self)

    with (
        lazy_code(),
        known_shapes(),
        patch.object(HistogramObserver, "_non_linear_param_search", quick_search),
        patch.object(_ExportPassBase, "call", call),
        patch.object(RemoveGetItemPass, "call", remove_getitem),
        patch.object(traceback, "NodeSource", _shared_history(traceback.NodeSource)),
        patch.object(export_utils, "_materialize_cpp_cia_ops", _Lookup(export_utils)),
        patch.object(OperatorBase, "py_impl", _quick_registration(OperatorBase.py_impl)),
    ):
        yield


def is_idle(export_pass: Any, graph_module: GraphModule) -> bool:
    """Whether `export_pass` would give `graph_module` as it is."""
    from executorch.exir.pass_base import NodeMetadata, ProxyValue

    values: dict[Node, Any] = {}

    def lookup(node: Node) -> Any:
        if node not in values:
            values[node] = ProxyValue(node.meta["val"], Proxy(node))
        return values[node]

    try:
        for node in graph_module.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            if node.op != "call_function" or not hasattr(node.target, "_schema"):
                return False  # getitem, constants, control flow
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lookup)
            asked = _Asked(node, args, kwargs, lookup(node))
            with patch.object(export_pass, "_fx", asked):
                given = export_pass.call_operator(
                    node.target, args, kwargs, NodeMetadata(dict(node.meta))
                )
            if given is not asked.value:
                return False
    except Exception:
        return False  # if it is an error the pass itself will say so
    return True


class _Asked:
    """In the place of a pass's ``_fx``: gives the node's value if it is asked for the node's call."""

    def __init__(self, node: Node, args: Any, kwargs: Any, value: Any) -> None:
        self.call = ("call_function", node.target, args, kwargs)
        self.value = value

    def __call__(self, kind: str, target: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if not _same(self.call, (kind, target, args, kwargs)):
            raise _Changed
        return self.value


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b


class _Sums:
    """A float32 tensor [n] whose elements are compared as PyTorch compares them with a number: the
    number is rounded to float32."""

    def __init__(self, values: torch.Tensor) -> None:
        self._values = [_Float32(value) for value in values.tolist()]

    def __getitem__(self, index: int) -> _Float32:
        return self._values[index]


class _Float32(float):
    def __lt__(self, other: float) -> bool:
        return float.__lt__(self, float(np.float32(other)))

    def __gt__(self, other: float) -> bool:
        return float.__gt__(self, float(np.float32(other)))


def _shared_history(source: type[Any]) -> Callable[..., Any]:
    """The class of what a node came from, which refers to the history of that instead of copying it."""

    class Shared(source):  # type: ignore[misc]
        def __init__(self, node: Node | None, pass_name: str = "", action: Any = None) -> None:
            history = node.meta.pop("from_node", None) if node is not None else None
            super().__init__(node, pass_name, action)
            if node is not None and history is not None:
                node.meta["from_node"] = self.from_node = history

    return Shared


class _Lookup:
    """In the place of what makes ``torch.ops`` know all composite operators of the dispatcher."""

    _known: list[str] | None = None  # those that it knows by now

    def __init__(self, utils: Any) -> None:
        self._whole = utils._materialize_cpp_cia_ops

    def __call__(self) -> None:
        key = "CompositeImplicitAutograd"
        names = torch._C._dispatch_get_registrations_for_dispatch_key(key)
        if names != _Lookup._known:
            self._whole()
            _Lookup._known = names


def _quick_registration(whole: Callable[..., Any]) -> Callable[..., Any]:
    """``py_impl`` for keys of the dispatcher that have no kernel yet; `whole` for all others."""
    from torch._C import DispatchKey

    def py_impl(self: Any, key: Any) -> Any:
        if not isinstance(key, DispatchKey) or key == DispatchKey.Python or key in self.py_kernels:
            return whole(self, key)

        def register(function: Any) -> Any:
            self.py_kernels[key] = function
            self._dispatch_cache.clear()
            return function

        return register

    return py_impl
