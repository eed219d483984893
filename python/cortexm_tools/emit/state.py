# SPDX-License-Identifier: Apache-2.0
"""The memory that a model keeps from call to call, and what it is before the first one."""

from __future__ import annotations

from ..ir.text import tensor_text
from ..plan import Plan
from ..plan.memory.states import initial_bytes, initial_name
from .apart import enter_lines
from .cwriter import c_comment
from .options import EmitOptions
from .weights import placed, symbol


def state_symbol(options: EmitOptions) -> str:
    """The linker name of the memory."""
    return f"{options.name}_state"


def reset_symbol(options: EmitOptions) -> str:
    """The model's init function."""
    return f"{options.name}_reset"


def state_lines(plan: Plan, options: EmitOptions) -> list[str]:
    """The memory, and the function that writes the initial values into it."""
    arena = plan.state_arena
    if arena is None:
        return []
    name = state_symbol(options)
    comment, writes = ["/* Kept from call to call:"], list[str]()
    stored = {constant.name for constant in plan.constants}
    for number, state in enumerate(plan.graph.states):
        tensor, place = plan.graph.tensors[state.before], plan.offset(state.before) - arena.base
        comment.append(f" *   {c_comment(state.name)}: {tensor_text(tensor)} @{place}")
        if initial_name(number) in stored:
            source = symbol(options, initial_name(number))
            writes.append(f"    memcpy({name} + {place}, {source}, {tensor.nbytes});")
        else:
            first = initial_bytes(plan.graph, state)[0]
            writes.append(f"    memset({name} + {place}, {first}, {tensor.nbytes});")
    comment[-1] += " */"
    array = f"_Alignas(CORTEXM_ARENA_ALIGN) uint8_t {name}[{options.macro}_STATE_SIZE]"
    return [
        *comment,
        placed(options.section_arena or arena.region.section, array),
        "",
        f"static void {reset_symbol(options)}(void *memory)",
        "{",
        "    (void)memory;",
        *(enter_lines(options) if options.weights_apart else ()),
        *writes,
        "}",
        "",
    ]
