# SPDX-License-Identifier: Apache-2.0
"""No module of the tools imports itself through others: not even inside a function, or for types."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from tests.support.imports import imported_modules, modules, packages_of


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
