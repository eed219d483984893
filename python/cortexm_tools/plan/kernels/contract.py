# SPDX-License-Identifier: Apache-2.0
"""The language in which the table of kernels says what they require of a layer, and the memory they need.

Expressions of integers in Python's syntax, in Python's meaning: ``+ - * // % <<``, comparisons, also chained,
``and or not``, ``a if c else b``, ``max``, ``min``, and ``ceil(a, b)``, a quotient rounded up. Names are the
fields of the kernel's parameter block (``in_strides[3]`` one of an array), the facts below, and what a
table's ``let`` defines: named expressions, each of names known before it, which stand here for themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

from ...errors import CortexMError

FACTS = {
    "least_shift": "the smallest shift of all requantizations; negative ones shift to the right",
    "greatest_shift": "the largest one",
    "narrow_multipliers": "1 if every multiplier is one of 16 bits, times 2^16",
    "largest_sum": "a bound of the absolute value of every accumulator, whatever the input is",
    "largest_bias": "the largest absolute value of a bias that zero points are folded into",
    "least_weight": "the smallest weight",
    "constant_weights": "1 if the weights are constants, which can be packed",
    "looked_up": "1 if an embedding reads the weights as they are",
    "largest_step": "the largest distance of neighbours in a table of codes",
    "scale_exponent": "e of a scale from 2^e on and below 2^(e + 1)",
}
"""What a layer's constants, which no parameter block has, are known to be."""

FUNCTIONS: dict[str, Callable[..., int]] = {"max": max, "min": min, "ceil": lambda a, b: -(-a // b)}

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
    node: ast.expr

    def __call__(self, values: Mapping[str, Any]) -> int:
        """Its value for a layer; a condition's is true or false."""
        value: int = eval(self._code, {"__builtins__": {}, **FUNCTIONS}, values)
        return value

    @cached_property
    def _code(self) -> CodeType:
        return compile(ast.Expression(self.node), self.text, "eval")

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


def parse_lets(texts: Mapping[str, str]) -> dict[str, Expression]:
    """The named expressions of a table, in its order."""
    lets: dict[str, Expression] = {}
    for name, text in texts.items():
        lets[name] = parse(text, lets)
    return lets


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
