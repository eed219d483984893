# SPDX-License-Identifier: Apache-2.0
"""What kernels require of their parameter blocks, and the memory they need, in C: for the fuzz driver."""

from __future__ import annotations

import ast

from cortexm_tools.kernels.rows import Row
from cortexm_tools.plan.kernels.contract import FACTS, named, parse

_SIGNS: dict[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<", ast.And: "&&", ast.Or: "||"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
_FUNCTIONS: dict[type[ast.AST], str] = {ast.FloorDiv: "quotient", ast.Mod: "rest"}

HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Written by scripts/kernel_files.py from kernels.json: see contract_t in cases.h. */
#include "cases.h"
#include "contracts.h"

static int64_t quotient(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t rest(int64_t a, int64_t b)
{
    return a - b * quotient(a, b);
}

static inline int64_t ceil_(int64_t a, int64_t b)
{
    return -quotient(-a, b);
}

static inline int64_t max_(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t min_(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int always(const void *params)
{
    (void)params;
    return 1;
}

static int64_t none(const void *params)
{
    (void)params;
    return 0;
}
"""


def c_text(node: ast.expr) -> str:
    """An expression of a block `p`, of 64 bits; other than Python's, all sides of a comparison are found."""
    match node:
        case ast.Constant():
            return f"INT64_C({node.value})"
        case ast.Name():
            return f"(int64_t)p->{node.id}"
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=at)):
            return f"(int64_t)p->{name}[{at}]"
        case ast.UnaryOp():
            return f"({'!' if isinstance(node.op, ast.Not) else '-'}{c_text(node.operand)})"
        case ast.BoolOp():
            return "(" + f" {_SIGNS[type(node.op)]} ".join(map(c_text, node.values)) + ")"
        case ast.IfExp():
            return f"({c_text(node.test)} ? {c_text(node.body)} : {c_text(node.orelse)})"
        case ast.BinOp():
            sides = c_text(node.left), c_text(node.right)
            if type(node.op) in _FUNCTIONS:
                return f"{_FUNCTIONS[type(node.op)]}({', '.join(sides)})"
            return f"({f' {_SIGNS[type(node.op)]} '.join(sides)})"
        case ast.Compare():
            sides_ = [c_text(side) for side in (node.left, *node.comparators)]
            parts = [
                f"({a} {_SIGNS[type(op)]} {b})"
                for op, a, b in zip(node.ops, sides_, sides_[1:], strict=False)
            ]
            return parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"
        case ast.Call(func=ast.Name(id=name), args=[*args]):
            found = c_text(args[0])
            for each in args[1:]:
                found = f"{name}_({found}, {c_text(each)})"
            return found
    raise AssertionError(ast.dump(node))


def contracts(rows: list[Row]) -> tuple[str, str]:
    """A header and a source with a contract_t for each kernel: what it requires of fields, without what
    facts say, and its scratch."""
    declared, parts = ['#include "cases.h"', ""], [HEAD]
    for row in rows:
        name, members = row["name"], ["always", "none"]
        asked = [parse(text, named()) for text in row.get("requires", ())]
        fields = [c_text(each.node) for each in asked if not each.names & FACTS.keys()]
        functions = {"requires": " &&\n           ".join(fields)} if fields else {}
        if "scratch" in row:
            functions["scratch"] = c_text(parse(row["scratch"], named()).node)
        for at, (kind, result) in enumerate((("requires", "int"), ("scratch", "int64_t"))):
            if kind in functions:
                members[at] = f"{kind}_{name}"
                parts.append(
                    f"static {result} {members[at]}(const void *params)\n{{\n"
                    f"    const {row['params']} *const p = params;\n\n"
                    f"    return {functions[kind]};\n}}\n"
                )
        declared.append(f"extern const contract_t contract_{name};")
        parts.append(f"const contract_t contract_{name} = {{{', '.join(members)}}};\n")
    return "\n".join([*declared, ""]), "\n".join(parts)
