# SPDX-License-Identifier: Apache-2.0
"""The memories that a model works in, in C: static arrays of its own, or arrays that models share.

Who defines an array that models share cannot be seen from here. So the model refers to it by a name
that says how large it must be, and its header has a macro that gives the array this name where it is
large enough: an array for other models, or for another build of this one, does not link.
"""

from __future__ import annotations

from ..options.arena import OwnArena
from ..plan import Plan
from ..plan.types import Arena
from .options import EmitOptions
from .state import state_symbol
from .weights import placed


def address(plan: Plan, options: EmitOptions, offset: int) -> str:
    """A byte of the plan as an expression in C."""
    for arena in reversed(plan.arenas):
        if offset >= arena.base and arena.size:
            return f"{_name(plan, options, arena)} + {offset - arena.base}"
    return f"arena + {offset}"


def main_arena_symbol(plan: Plan, options: EmitOptions) -> str:
    """What the model's description gives as its arena; NULL for the caller's."""
    if not plan.main_size:
        return "NULL"
    if options.group:
        return _served_symbol(options, plan.arenas[0], main=True)
    return f"{options.name}_own_arena" if isinstance(options.arena, OwnArena) else "NULL"


def arena_lines(plan: Plan, options: EmitOptions) -> list[str]:
    """The arrays."""
    return [*_main_arena(plan, options), *_other_arenas(plan, options)]


def shared_arena_lines(plan: Plan, options: EmitOptions) -> list[str]:
    """For the header: what the shared arrays must be, and the macros that say that they are."""
    if not options.group:
        return []
    lines = [
        "/* The arena is defined elsewhere, with this behind the definition: without it, or with what",
        " * another build of this model says here, the model does not link. */",
    ]
    for arena in _working_arenas(plan):
        main = arena is plan.arenas[0]
        macro = f"{options.macro}_SHARED_ARENA" + ("" if main else f"_{arena.region.name.upper()}")
        if not arena.size:
            lines.append(f"#define {macro}")
            continue
        lines.append(
            f"#define {macro} CORTEXM_ARENA_SERVES({_array(options, arena, main=main)}, {arena.size}, "
            f"{_served_symbol(options, arena, main=main)})"
        )
    return [*lines, ""]


def _working_arenas(plan: Plan) -> list[Arena]:
    """Without that of the state, which is the model's own."""
    return [arena for arena in plan.arenas if arena is not plan.state_arena]


def _array(options: EmitOptions, arena: Arena, *, main: bool) -> str:
    """The linker name of an array that models share."""
    return f"cortexm_arena_{options.group}" + ("" if main else f"__{arena.region.name}")


def _served_symbol(options: EmitOptions, arena: Arena, *, main: bool) -> str:
    return f"{_array(options, arena, main=main)}_has_{arena.size}_bytes_for_{options.name}"


def _name(plan: Plan, options: EmitOptions, arena: Arena) -> str:
    if arena is plan.state_arena:
        return state_symbol(options)
    if arena is plan.arenas[0]:
        return "arena"
    return f"{options.name}_own_arena_{arena.region.name}"


def _other_arenas(plan: Plan, options: EmitOptions) -> list[str]:
    lines: list[str] = []
    for arena in _working_arenas(plan)[1:]:
        name = _name(plan, options, arena)
        if arena.size and options.group:
            shared = _served_symbol(options, arena, main=False)
            lines += [
                f"extern uint8_t {shared}[];",
                f"static uint8_t *const {name} = {shared};",
            ]
        elif arena.size:
            array = f"static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t {name}[{arena.size}]"
            lines.append(placed(arena.region.section, array))
    return [*lines, ""] if lines else []


def _main_arena(plan: Plan, options: EmitOptions) -> list[str]:
    symbol = main_arena_symbol(plan, options)
    if symbol == "NULL":
        return []
    if options.group:
        return [
            f"/* {_array(options, plan.arenas[0], main=True)}, which the build defines, is as large as the "
            "largest model that shares it. */",
            f"extern uint8_t {symbol}[];",
            "",
        ]
    array = f"static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t {symbol}[{options.macro}_ARENA_SIZE]"
    return [placed(options.section_arena or plan.arenas[0].region.section, array), ""]
