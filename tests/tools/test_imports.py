# SPDX-License-Identifier: Apache-2.0
"""What the modules of the tools import: not themselves through others, and PyTorch in few places.

Imports inside functions and for types count as well."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from tests.support.imports import imported_libraries, imported_modules, modules, packages_of


def test_no_import_circle() -> None:
    graph = {}
    for name, path in modules().items():
        within = {name, *packages_of(name)}
        found = imported_modules(path)
        # A package runs before a module in it, unless it is what imports the module.
        graph[name] = (found | {p for other in found for p in packages_of(other)} - within) - {name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError("import circle: " + " -> ".join(error.args[1])) from None


def test_pytorch_stays_before_the_pte() -> None:
    may = {"frontend", "models", "testing"}
    found = {
        name
        for name, path in modules().items()
        if not imported_libraries(path).isdisjoint({"torch", "torchao", "executorch"})
    }
    assert found
    assert not {name for name in found if name.split(".")[0] not in may}
