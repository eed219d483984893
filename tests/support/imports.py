# SPDX-License-Identifier: Apache-2.0
"""What the modules of the tools import of one another, read from their source."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import cortexm_tools

PACKAGE = Path(cortexm_tools.__file__).parent


def module_name(path: Path) -> str:
    """The dotted name below the package; "" for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by name."""
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """The modules of the package that a file imports, wherever in it; types for the checker, too."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set[str]()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(
                alias.name.partition(".")[2]
                for alias in node.names
                if alias.name.split(".")[0] == PACKAGE.name
            )
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".") if package else []
                base = ".".join([*parts[: len(parts) + 1 - node.level], *filter(None, [base])])
            elif base.split(".")[0] == PACKAGE.name:
                base = base.partition(".")[2]
            else:
                continue
            whole = (f"{base}.{alias.name}".strip(".") for alias in node.names)
            found.update(module if module in modules() else base for module in whole)
    return frozenset(found)


def rooms(package: str) -> dict[str, list[Path]]:
    """The modules of a package by its folders, and those beside these by their own names."""
    found: dict[str, list[Path]] = {}
    for name, path in modules().items():
        room = name.removeprefix(f"{package}.").split(".")[0]
        if name.startswith(f"{package}."):
            found.setdefault(room, []).append(path)
    return found


def wrong_imports(package: str, may: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    """(module, what it imports) where a room of `package` imports what it may not.

    Args:
        may: what each room may import: rooms of `package`, and modules or packages outside it.
    """
    return {
        (module_name(path), other)
        for room, paths in rooms(package).items()
        for path in paths
        for other in imported_modules(path)
        if other.removeprefix(f"{package}.").split(".")[0] not in may[room]
    }


def imported_libraries(path: Path) -> set[str]:
    """The libraries that a file imports, wherever in it."""
    found = set[str]()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
    return found - {PACKAGE.name}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements, also those within others."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield child
            yield from _statements(child)


def packages_of(name: str) -> Iterator[str]:
    """The packages in which a module lies, which its import runs first."""
    while name:
        name = name.rpartition(".")[0]
        yield name
