# SPDX-License-Identifier: Apache-2.0
"""Silence for the libraries' own log lines and deprecation warnings.

torchao and executorch log a page of remarks about themselves (optional CUDA libraries, deprecated
internals) that a user can do nothing about. What goes wrong arrives as an exception regardless.
"""

from __future__ import annotations

import importlib
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

from ..errors import CortexMError
from ..packages import WORKING
from .origin.places import first_line

# In an order in which executorch's circular imports work out.
_MODULES = (
    "torchao.quantization.pt2e.quantize_pt2e",
    "executorch.exir",
    "executorch.backends.cortex_m.quantizer.quantizer",
    "executorch.backends.cortex_m.passes.cortex_m_pass_manager",
    "executorch.backends.cortex_m.ops.operators",
)


@contextmanager
def quiet() -> Iterator[None]:
    """Drop log records up to ERROR and all Python warnings while the block runs."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.ERROR))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _quick_yaml() -> Iterator[None]:
    """Read YAML with libyaml: ExecuTorch reads its table of operators with a parser in Python, which
    takes a fifth of the import."""
    import yaml
    from ruamel.yaml import YAML

    whole = YAML.load

    def load(self: Any, stream: Any) -> Any:
        if "safe" in self.typ and isinstance(stream, str):
            return yaml.load(stream, Loader=yaml.CSafeLoader)
        return whole(self, stream)

    if not yaml.__with_libyaml__:
        yield
        return
    with patch.object(YAML, "load", load):
        yield


@contextmanager
def _without_inductor() -> Iterator[None]:
    """Import ExecuTorch without PyTorch's compiler for other processors, a fifth of the time. All it takes
    from there is a decomposition of operators that are given operators: its module is imported for a graph
    that has one."""
    name = "torch._inductor.fx_passes.post_grad"
    if name in sys.modules:
        yield
        return

    def decompose_auto_functionalized(graph: Any) -> None:
        from torch._ops import HigherOrderOperator

        if any(isinstance(node.target, HigherOrderOperator) for node in graph.nodes):
            importlib.import_module(name).decompose_auto_functionalized(graph)

    sys.modules[name] = stand_in = ModuleType(name)
    vars(stand_in)["decompose_auto_functionalized"] = decompose_auto_functionalized
    try:
        yield
    finally:
        del sys.modules[name]


def import_executorch() -> None:
    """Import everything the lowering needs, silently.

    Raises:
        CortexMError: a package is missing or damaged.
    """
    try:
        with quiet(), _quick_yaml(), _without_inductor():
            for name in _MODULES:
                importlib.import_module(name)
    except Exception as error:  # of another version anything
        raise CortexMError(
            f"cannot import ExecuTorch's Cortex-M backend: {first_line(error)}",
            hint=f"run 'cortexm doctor'; {WORKING}",
        ) from error
