# SPDX-License-Identifier: Apache-2.0
"""What kernels require of their parameter blocks, and the memory they need, in C: for the fuzz driver."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cortexm_tools.kernels.rows import Row
from cortexm_tools.plan.kernels.contract import FACTS, FUNCTIONS, Expression, named, parse

_SIGNS: dict[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.And: "&&", ast.Or: "||"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
_FUNCTIONS: dict[type[ast.AST], str] = {
    **{ast.FloorDiv: "quotient", ast.Mod: "rest", ast.LShift: "raised"},
}

DECLARED = """/* SPDX-License-Identifier: Apache-2.0 */
/* Written by scripts/kernel_files.py: what each kernel requires of the fields of its parameter block, and the
 * bytes of scratch that it needs. */
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32_t least_shift, greatest_shift; /* of requantizations */
    int32_t sum_bits, bias_bits;         /* of absolute values */
    int32_t least_weight;
} limits_t;

typedef struct {
    const char *name;
    limits_t limits;
    uint64_t (*unmet)(const void *params); /* a bit for each condition that does not hold */
    int64_t (*scratch)(const void *params);
    const char *const *conditions;
    int32_t count, near_count; /* those of the first ones are where cases are */
    const size_t (*places)[2]; /* of the integers that these are about: offset and size */
    int32_t place_count;
} contract_t;
"""
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Written by scripts/kernel_files.py from kernels.json. */
#include "contracts.h"

#include "cortexm/params.h"

static inline int64_t quotient(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t rest(int64_t a, int64_t b)
{
    return a - b * quotient(a, b);
}

static inline int64_t raised(int64_t a, int64_t by)
{
    return (int64_t)((uint64_t)a << (by & 63));
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


def _conditions(node: ast.expr) -> Iterator[ast.expr]:
    """The comparisons that all must hold."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for each in node.values:
            yield from _conditions(each)
    elif isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        for op, a, b in zip(node.ops, sides, sides[1:], strict=False):
            yield ast.Compare(a, [op], [b])
    else:
        yield node


def _is_far(condition: ast.expr) -> bool:
    """Whether a bound is so large that random cases do not come near it."""
    parts = list(ast.walk(condition))
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return any(isinstance(part, ast.LShift) for part in parts) or max(constants, default=0) > 999


def _places(conditions: list[ast.expr], params: str) -> list[str]:
    """Where the integers lie that conditions are about."""
    parts = [part for each in conditions for part in ast.walk(each)]
    indexed = [part for part in parts if isinstance(part, ast.Subscript)]
    arrays = {ast.unparse(part.value) for part in indexed}
    names = {part.id for part in parts if isinstance(part, ast.Name)} - arrays - FUNCTIONS.keys()
    return [
        f"{{offsetof({params}, {name}), sizeof(((const {params} *)0)->{name})}}"
        for name in sorted(names | {ast.unparse(part) for part in indexed})
    ]


def _limits(asked: list[Expression]) -> str:
    """A limits_t of what is required of facts alone: the furthest values that are."""
    asked = [each for each in asked if each.names <= FACTS.keys()]
    usual = dict.fromkeys(FACTS, 0) | {"least_shift": -3, "greatest_shift": -3}
    usual |= dict.fromkeys(("narrow_multipliers", "constant_weights", "affine", "affine_fine"), 1)

    def good(**facts: int) -> bool:
        return all(each(usual | facts) for each in asked)

    def bits(fact: str) -> int:
        return max(count for count in range(1, 32) if good(**{fact: (1 << count) - 1}))

    shifts = [shift for shift in range(-31, 31) if good(least_shift=shift, greatest_shift=shift)]
    weights = (weight for weight in range(-128, 0) if good(least_weight=weight))
    found = [min(shifts), max(shifts), bits("largest_sum"), bits("largest_bias"), min(weights)]
    return f"{{{', '.join(map(str, found))}}}"


def contracts(rows: list[Row]) -> tuple[str, str]:
    """A header and a source with a contract_t for each kernel: what it requires of fields, without what
    facts say, and its scratch."""
    declared, parts = [DECLARED], [HEAD]
    for row in rows:
        name, params = row["name"], row["params"]
        begin = f"(const void *params)\n{{\n    const {params} *const p = params;\n\n"
        asked = [parse(text, named()) for text in row.get("requires", ())]
        found = [
            x for each in asked if not each.names & FACTS.keys() for x in _conditions(each.node)
        ]
        near = str(sum(not _is_far(each) for each in found))
        values = [f'"{name}"', _limits(asked), "0", "0", "0", str(len(found)), near, "0", "0"]
        if found:
            found.sort(key=_is_far)
            places = _places(found, params)
            tests = "".join(
                f" |\n           (uint64_t)!({c_text(each)}) << {n}" for n, each in enumerate(found)
            )
            texts = ", ".join(f'"{ast.unparse(each)}"' for each in found)
            parts += [
                f"static uint64_t unmet_{name}{begin}    return {tests[2:].strip()};\n}}\n",
                f"static const char *const conditions_{name}[] = {{{texts}}};",
                f"static const size_t places_{name}[][2] = {{{', '.join(places)}}};",
            ]
            values[2], values[4] = f"unmet_{name}", f"conditions_{name}"
            values[7:] = [f"places_{name}", str(len(places))]
        if "scratch" in row:
            text = c_text(parse(row["scratch"], named()).node)
            parts.append(f"static int64_t scratch_{name}{begin}    return {text};\n}}\n")
            values[3] = f"scratch_{name}"
        declared.append(f"extern const contract_t contract_{name};")
        parts.append(f"const contract_t contract_{name} = {{{', '.join(values)}}};\n")
    return "\n".join([*declared, ""]), "\n".join(parts)
