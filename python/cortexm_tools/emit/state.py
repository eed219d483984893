# SPDX-License-Identifier: Apache-2.0
"""The memory that a model keeps from call to call, and what it is before the first one."""

from __future__ import annotations

import numpy as np

from ..ir.text import tensor_text
from ..plan import Plan
from .cwriter import array_lines, c_comment
from .options import EmitOptions
from .weights import section_attribute

RESET = "reset"  # the model's init function


def state_symbol(options: EmitOptions) -> str:
    """The linker name of the memory."""
    return f"{options.name}_state"


def state_lines(plan: Plan, options: EmitOptions) -> list[str]:
    """The memory, its initial value if that is not zero, and the function that writes it."""
    arena = plan.state_arena
    if arena is None:
        return []
    name, initial = state_symbol(options), _initial(plan)
    lines = ["/* Kept from call to call:"]
    for state in plan.graph.states:
        tensor, place = plan.graph.tensors[state.before], plan.offset(state.before) - arena.base
        lines.append(f" *   {c_comment(state.name)}: {tensor_text(tensor)} @{place}")
    lines[-1] += " */"
    section = section_attribute(options.section_arena or arena.region.section)
    lines += [f"{section}_Alignas(CORTEXM_ARENA_ALIGN) uint8_t {name}[{options.macro}_STATE_SIZE];"]
    lines.append("")
    write = f"memset({name}, 0, sizeof {name});"
    if any(initial):
        write = f"memcpy({name}, initial_state, sizeof {name});"
        lines += [
            f"{section_attribute(options.section_weights)}static const uint8_t initial_state[] = {{",
            *array_lines(np.frombuffer(initial, np.uint8)),
            "};",
            "",
        ]
    return [
        *lines,
        f"static void {RESET}(void *memory)",
        "{",
        "    (void)memory;",
        f"    {write}",
        "}",
        "",
    ]


def _initial(plan: Plan) -> bytes:
    """The bytes of all states before the first call."""
    memory = bytearray(plan.state_size)
    for state in plan.graph.states:
        order = plan.graph.tensors[state.before].dim_order
        data = np.ascontiguousarray(state.initial.transpose(order)).tobytes()
        begin = plan.offset(state.before) - plan.arenas[-1].base
        memory[begin : begin + len(data)] = data
    return bytes(memory)
