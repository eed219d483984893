# SPDX-License-Identifier: Apache-2.0
"""The language in which the table of kernels says what they require of a layer, and the memory they need.

Expressions of integers in Python's syntax, in Python's meaning: ``+ - * // % <<``, comparisons, also chained,
``and or not``, ``a if c else b``, ``max``, ``min``, and ``ceil(a, b)``, a quotient rounded up. Names are the
fields of the kernel's parameter block (``in_strides[3]`` one of an array; 0 where a call has none, as in C),
the facts below, and what the table's ``let`` defines: named expressions, each of names known before it, whose
first line says what they are.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

from ...errors import CortexMError
from ...paths import data_root

FACTS = {
    "least_shift": "the smallest shift of all requantizations; negative ones shift to the right",
    "greatest_shift": "the largest one",
    "narrow_multipliers": "1 if every multiplier is one of 16 bits, times 2^16",
    "largest_sum": "a bound of the absolute value of every accumulator, whatever the input is",
    "largest_bias": "the largest absolute value of a bias that zero points are folded into",
    "least_weight": "the smallest weight, or 0",
    "constant_weights": "1 if the weights are constants, which can be packed",
    "largest_step": "the largest distance of neighbours in a table of codes",
    "scale_exponent": "e of a scale from 2^e on and below 2^(e + 1)",
    "reach": "the distance of the last input from the first one of any sixteen of a window in a copy",
    "affine": "1 if an addition of codes is a function of them: add_affine",
    "affine_fine": "1 if it is such a function of more bits, and no operand repeats: add_affine_fine",
    "isa": "what another library is compiled for: 0 no extension, 1 DSP, 2 MVE",
    "largest_plain_sum": "largest_sum where zero points are subtracted from codes",
    "largest_start": "a bound of the sum of the first 512 products of int16 codes",
    "largest_result": "a bound of results of int16 before their last shift by one and their clamp",
}
"""What is known of a layer beside the fields of its block; the last four for other libraries."""

FUNCTIONS: dict[str, Callable[..., int]] = {"max": max, "min": min, "ceil": lambda a, b: -(-a // b)}

_GLOBALS: dict[str, Any] = {"__builtins__": {}, **FUNCTIONS}
_PARTS = (
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.IfExp),
    *(ast.Name, ast.Load, ast.Constant, ast.Call, ast.Subscript),
)


@dataclass(frozen=True)
class Expression:
    """An expression whose names are fields and facts: `node` without `let` names, `text` with them."""

    text: str
    node: ast.expr = field(compare=False, repr=False)

    def __call__(self, values: Mapping[str, Any]) -> int:
        """Its value for a layer; a condition's is true or false."""
        value: int = eval(_compiled(self), _GLOBALS, values)
        return value

    @property
    def names(self) -> frozenset[str]:
        """The fields and facts that it asks for."""
        nodes = (node.id for node in ast.walk(self.node) if isinstance(node, ast.Name))
        return frozenset(nodes) - FUNCTIONS.keys()


def parse(text: str, lets: Mapping[str, Expression] | None = None) -> Expression:
    """Raises a CortexMError if it is not in the language."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise _refused(text, error.msg) from error
    for part in ast.walk(node):
        for reason in _faults(part):
            raise _refused(text, reason)
    return Expression(text, _Inlining(lets or {}).visit(node))


def parse_lets(texts: Mapping[str, list[str]]) -> dict[str, Expression]:
    """The named expressions of a table, in its order: what they are, and their parts."""
    lets: dict[str, Expression] = {}
    for name, (_, *parts) in texts.items():
        lets[name] = parse(" ".join(parts), lets)
    return lets


@cache
def named() -> dict[str, Expression]:
    """Those of the table of kernels."""
    path = data_root() / "kernels" / "kernels.json"
    return parse_lets(json.loads(path.read_text(encoding="utf-8"))["let"])


class Fields(dict[str, Any]):
    """The fields of a parameter block and facts. A field that is not there is 0, as in C."""

    def __missing__(self, name: str) -> int:
        if name in FACTS or name in FUNCTIONS:
            raise KeyError(name)
        return 0


@cache
def _compiled(expression: Expression) -> CodeType:
    return compile(ast.Expression(expression.node), expression.text, "eval")


def _faults(part: ast.AST) -> Iterator[str]:
    if not isinstance(part, _PARTS):
        yield f"{type(part).__name__} is no part of the language"
    elif isinstance(part, ast.Constant) and type(part.value) is not int:
        yield f"{part.value!r} is no integer"
    elif isinstance(part, ast.Call):
        name = part.func.id if isinstance(part.func, ast.Name) else ""
        if name not in FUNCTIONS or part.keywords or len(part.args) < 2:
            yield f"{name or 'this'} is no function of two numbers"
        elif name == "ceil" and len(part.args) > 2:
            yield "ceil takes two numbers"
    elif isinstance(part, ast.Subscript):
        if not (isinstance(part.value, ast.Name) and isinstance(part.slice, ast.Constant)):
            yield "an index is a constant, of a field"


def _refused(text: str, reason: str) -> CortexMError:
    hint = "the table's expressions are those of plan/kernels/contract.py"
    return CortexMError(f"{text!r}: {reason}", where="the table of kernels", hint=hint)


class _Inlining(ast.NodeTransformer):
    def __init__(self, lets: Mapping[str, Expression]) -> None:
        self._lets = lets

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._lets[node.id].node if node.id in self._lets else node
