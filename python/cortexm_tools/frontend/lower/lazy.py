# SPDX-License-Identifier: Apache-2.0
"""Write the code of a graph when somebody asks for it.

``GraphModule.recompile`` writes a graph as Python code and compiles that, and every pass of ExecuTorch
and torchao ends with it. The next pass works on the graph, so that of some 170 such functions of one
lowering about ten are called. While `lazy_code` is active, ``recompile`` leaves a note on the module's
class (PyTorch gives every module a class of its own) in the place of ``forward``, the code and
whatever else reads it; the first who looks there has it compiled by PyTorch.

The code is that of the graph at this moment. PyTorch demands a ``recompile`` after every change of a
graph before it is called, so the two are the same for everyone who obeys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from weakref import ref

from torch.fx import Graph, GraphModule
from torch.fx.graph import _PyTreeCodeGen

# What ``recompile`` writes to the instance, and who reads the code.
_WRITTEN = ("_code", "_lineno_map", "_prologue_start")
_READERS = ("forward", *_WRITTEN, "__reduce__", "__reduce_package__")


@contextmanager
def lazy_code() -> Iterator[None]:
    """Compile graphs at their first use if they are written within this block."""
    with patch.object(GraphModule, "recompile", _lazy(GraphModule.recompile)):
        yield


def _lazy(whole: Callable[[GraphModule], Any]) -> Callable[[GraphModule], Any]:
    """`whole`, which is ``GraphModule.recompile``, put off."""
    empty = Graph()
    empty.output(())
    code = empty.python_code("self")
    empty.python_code = lambda *args, **kwargs: code  # type: ignore[method-assign]

    def recompile(self: Any) -> Any:
        cls, graph = type(self), self._graph
        _forget(cls)
        try:
            self._graph = empty
            result = whole(self)  # the class's wrappers of calls; the modules within
        finally:
            self._graph = graph
        if isinstance(graph._codegen, _PyTreeCodeGen):
            self._in_spec = graph._codegen.pytree_info.in_spec
            self._out_spec = graph._codegen.pytree_info.out_spec
        for name in _WRITTEN:
            self.__dict__.pop(name, None)
        for name in _READERS:
            setattr(cls, name, _Note(name, self, whole))
        return result

    return recompile


class _Note:
    """In the place of an attribute of a module's class; has the module compiled when it is read."""

    def __init__(self, name: str, module: Any, whole: Callable[[GraphModule], Any]) -> None:
        self._name, self._module, self._whole = name, ref(module), whole

    def __get__(self, instance: Any, owner: Any) -> Any:
        module = self._module()
        if module is None:
            raise AttributeError(self._name)
        cls = type(module)
        call = vars(cls).get("__call__")  # may have been replaced since
        _forget(cls)
        module.__dict__["_recompile_submodules"] = list  # they were told at the time
        try:
            self._whole(module)
        finally:
            del module.__dict__["_recompile_submodules"]
            cls.__call__ = call
        return getattr(owner if instance is None else instance, self._name)


def _forget(cls: Any) -> None:
    for name in _READERS:
        if isinstance(vars(cls).get(name), _Note):
            delattr(cls, name)
