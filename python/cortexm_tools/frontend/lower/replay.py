# SPDX-License-Identifier: Apache-2.0
"""Spare ExecuTorch's passes and torchao's observers the work that changes nothing.

Most passes of ``to_edge`` look for single operators, but run the whole graph on fake tensors and write
it anew. For the small operators of an unrolled recurrent layer that is nearly all of the time that
lowering takes. While `quick_passes` is active,

* a pass of `_PURE` first shows every call to its ``call_operator``, without running it. If that
  asks for just these calls with these arguments, the graph is what the pass would give, and stays;
* nodes share the history that PyTorch notes in them (``from_node``) instead of copying all of it at
  every pass;
* a histogram's search for a range takes all steps that leave the range as it is at once;
* the dispatcher's composite operators are collected when there are new ones, not for each of its
  namespaces at every decomposition, and what every decomposition registers with all of them is
  remembered. For a network of some layers this is half of the time;
* Python looks for garbage less often: graphs are many objects that refer to each other, and stay;
* graphs are compiled when they are called (`lazy.py`), and what quantized operators give on tensors
  without data is remembered (`shapes.py`): another quarter.

A pass that is not known here runs as it is.
"""

from __future__ import annotations

import gc
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
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
    import torch.export.decomp_utils as decomp_utils
    import torch.export.exported_program as exported_program
    import torch.fx.traceback as traceback
    from executorch.backends.transforms.remove_getitem_op import RemoveGetItemPass
    from executorch.exir.pass_base import _ExportPassBase
    from torch.fx.passes.infra.pass_base import PassResult
    from torchao.quantization.pt2e.observer import HistogramObserver

    whole, remove = _ExportPassBase.call, RemoveGetItemPass.call
    search = HistogramObserver._non_linear_param_search
    composites = _Composites(export_utils._collect_all_valid_cia_ops)
    overrides = _Overrides(exported_program._override_composite_implicit_decomp)

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
        sums = torch.cumsum(self.histogram, dim=0).numpy()
        if (np.diff(sums) < 0).any():
            return search(self)
        start, end = _best_bins(sums, self.histogram.sum().item(), self._compute_quantization_error)
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * start, self.min_val + width * (end + 1)

    with (
        _few_collections(),
        lazy_code(),
        known_shapes(),
        patch.object(HistogramObserver, "_non_linear_param_search", quick_search),
        patch.object(_ExportPassBase, "call", call),
        patch.object(RemoveGetItemPass, "call", remove_getitem),
        patch.object(traceback, "NodeSource", _shared_history(traceback.NodeSource)),
        patch.object(decomp_utils, "_collect_all_valid_cia_ops", composites),
        patch.object(exported_program, "_collect_all_valid_cia_ops", composites),
        patch.object(exported_program, "_override_composite_implicit_decomp", overrides),
    ):
        yield


@contextmanager
def _few_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


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


_STEPS = 100_002
_STEP = 1e-5


def _best_bins(
    sums: np.ndarray[Any, Any], total: float, error_of: Callable[[int, int], Any]
) -> tuple[int, int]:
    """The first and the last bin of the range that a HistogramObserver's search ends with.

    It leaves out a 1e-5th of all values below or above at a time, whichever costs more bins, until that
    makes the error larger. Most times that costs none; here it goes on to the time that does.

    Args:
        sums: of the bins up to each, float32 [n], not descending.
        total: of all bins.
        error_of: of a range of bins.
    """
    # A tensor of float32 is compared with a number that is rounded to float32.
    low, high = (np.float32(total * share) for share in _shares())
    # The number of steps after which a bin has too little below it, or above.
    below = np.searchsorted(low, sums, "right").tolist()
    above = np.searchsorted(-high, -sums[::-1], "right").tolist()
    last = len(sums) - 1
    start, end, best = 0, last, math.inf
    lows, highs = 0, 0  # steps taken
    alphas, betas = _shares()
    while alphas[lows] < betas[highs]:
        left = max(start, min(end, bisect_right(below, lows + 1)))
        if left == start:
            highs = max(highs, min(above[last - end] - 1, _STEPS - 1))
            if alphas[lows] >= betas[highs]:
                break
        right = min(end, max(start, last - bisect_right(above, highs + 1)))
        if left - start > end - right:
            lows += 1
            bins = left, end
        else:
            highs += 1
            bins = start, right
        if bins != (start, end):
            error = error_of(*bins)
            if error > best:
                break
            best, (start, end) = error, bins
    return start, end


@cache
def _shares() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The shares of all values below and up to the end of the range, after each step: sums, as the
    search computes them."""
    steps = np.full(_STEPS, _STEP)
    steps[0] = 0.0
    up = np.add.accumulate(steps)
    steps[0] = 1.0
    return up, np.subtract.accumulate(steps)


def _shared_history(source: type[Any]) -> Callable[..., Any]:
    """The class of what a node came from, which refers to the history of that instead of copying it."""

    class Shared(source):  # type: ignore[misc]
        def __init__(self, node: Node | None, pass_name: str = "", action: Any = None) -> None:
            history = node.meta.pop("from_node", None) if node is not None else None
            super().__init__(node, pass_name, action)
            if node is not None and history is not None:
                node.meta["from_node"] = self.from_node = history

    return Shared


class _Composites:
    """In the place of what collects the composite operators that a decomposition may keep."""

    # What they were collected from, and they; of the process.
    _known: tuple[Any, set[Any]] | None = None

    def __init__(self, whole: Callable[[], set[Any]]) -> None:
        self._whole = whole

    def __call__(self) -> set[Any]:
        if _Composites._known is None or _Composites._known[0] != self._sources():
            found = self._whole()  # looks up operators, which torch.ops then has
            _Composites._known = self._sources(), found
        return _Composites._known[1]

    @staticmethod
    def _sources() -> Any:
        """The dispatcher's composite operators, and how many operators each namespace has."""
        names = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
        spaces = [(name, len(getattr(torch.ops, name).__dict__)) for name in torch.ops._dir]
        return names, spaces


@dataclass(frozen=True)
class _Registered:
    """An operator's kernels before and while a decomposition has them replaced, and what it then gives
    on tensors without data."""

    before: dict[Any, Any]
    during: dict[Any, Any]
    fake: Any


class _Overrides:
    """In the place of what replaces the kernels of composite operators during a decomposition: kernels of
    an operator whose others are as before are those of the last time, but for the decomposition."""

    _known: dict[Any, _Registered] = {}  # of the process

    def __init__(self, whole: Callable[..., Any]) -> None:
        self._whole = whole

    @contextmanager
    def __call__(self, decompositions: dict[Any, Any]) -> Iterator[None]:
        from torch._C import DispatchKey
        from torch._subclasses.fake_impls import _deregister_op_impl, op_implementations_dict

        again = {
            op: known
            for op in decompositions
            if (known := self._known.get(op)) is not None
            and known.before == op.py_kernels
            and op not in op_implementations_dict
        }
        first = {op: given for op, given in decompositions.items() if op not in again}
        before = {op: dict(op.py_kernels) for op in first if op not in op_implementations_dict}
        with self._whole(first):
            for op, kernels in before.items():
                fake = op_implementations_dict[op]
                self._known[op] = _Registered(kernels, dict(op.py_kernels), fake)
            try:
                for op, known in again.items():
                    op.py_kernels.update(known.during)
                    op.py_kernels[DispatchKey.CompositeImplicitAutograd] = decompositions[op]
                    op._dispatch_cache.clear()
                    op_implementations_dict[op] = known.fake
                yield
            finally:
                for op, known in again.items():
                    op.py_kernels.clear()
                    op.py_kernels.update(known.before)
                    op._dispatch_cache.clear()
                    _deregister_op_impl(op)
