# SPDX-License-Identifier: Apache-2.0
"""Readers ask for arguments that their operators have; the C++ side has the ledger's positions."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cortexm_tools.pte
from cortexm_tools.pte.ops import CONVERTERS
from cortexm_tools.pte.schemas import SCHEMAS

PTE = Path(cortexm_tools.pte.__file__).parent
ROOT = Path(__file__).resolve().parents[2]

# What an accessor of Call reads: the types of arguments.
ACCESSORS = {
    "boolean": {"bool"},
    "constant": {"Tensor", "Tensor?"},
    "constant_data": {"Tensor", "Tensor?"},
    "dim": {"int", "int?"},
    "dims": {"int[]", "int[]?"},
    "integer": {"int", "int?", "ScalarType", "ScalarType?"},
    "integers": {"int[]", "int[]?"},
    "is_integer": {"int", "int[]", "int[]?"},
    "optional": {"Tensor?"},
    "optional_tensor_list": {"Tensor?[]"},
    "pair": {"int[]"},
    "real": {"float", "float?", "Scalar"},
    "reals": {"float[]", "float[]?"},
    "rescale": {"int"},
    "scalar": {"Scalar", "Scalar?"},
    "tensor": {"Tensor"},
    "tensor_list": {"Tensor[]"},
    "text": {"str", "str?"},
}


@dataclass(frozen=True)
class Use:
    """`call.accessor(name)` in a reader: of these operators, or of some of its module."""

    place: str
    accessor: str
    name: str
    operators: tuple[str, ...]


def _operators(function: ast.FunctionDef) -> tuple[str, ...]:
    """What `@reads(...)` of literal names says."""
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name):
            names = [arg.value for arg in mark.args if isinstance(arg, ast.Constant)]
            return tuple(str(name) for name in names)
    return ()


def _uses(path: Path) -> Iterator[Use]:
    for top in ast.parse(path.read_text(encoding="utf-8")).body:
        operators = _operators(top) if isinstance(top, ast.FunctionDef) else ()
        for node in ast.walk(top):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "call"):
                continue
            for arg in node.args:
                if node.func.attr in ACCESSORS and isinstance(arg, ast.Constant):
                    if isinstance(arg.value, str):
                        place = f"{path.name}:{node.lineno}"
                        yield Use(place, node.func.attr, arg.value, operators)


def _readers() -> dict[Path, list[str]]:
    """The modules that read arguments, and the operators of each; helpers read for all."""
    found = {PTE / "operands.py": list(CONVERTERS), PTE / "windows.py": list(CONVERTERS)}
    for operator, convert in CONVERTERS.items():
        path = Path(convert.__code__.co_filename)
        found.setdefault(path, []).append(operator)
    return found


def test_every_operator_that_is_read_is_in_the_ledger() -> None:
    assert CONVERTERS.keys() == SCHEMAS.keys()


def test_readers_ask_for_arguments_that_there_are() -> None:
    count = 0
    for path, operators in _readers().items():
        for use in _uses(path):
            types = ACCESSORS[use.accessor]
            fits = [
                SCHEMAS[operator].types.get(use.name) in types
                for operator in use.operators or operators
            ]
            assert (all if use.operators else any)(fits), use
            count += 1
    assert count > 150


def test_the_wrappers_in_cpp_have_the_ledgers_positions() -> None:
    script = runpy.run_path(str(ROOT / "scripts/operator_schemas.py"))
    assert script["main"](["--check", "--ledger"]) == 0
