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
    """The memory, and the function that writes the initial values into it."""
    arena = plan.state_arena
    if arena is None:
        return []
    name = state_symbol(options)
    comment, constants, writes = ["/* Kept from call to call:"], list[str](), list[str]()
    for number, state in enumerate(plan.graph.states):
        tensor, place = plan.graph.tensors[state.before], plan.offset(state.before) - arena.base
        comment.append(f" *   {c_comment(state.name)}: {tensor_text(tensor)} @{place}")
        data = state.initial.transpose(tensor.dim_order).tobytes()
        if len(set(data)) == 1:
            writes.append(f"    memset({name} + {place}, {data[0]}, {len(data)});")
            continue
        constants += [
            f"{section_attribute(options.section_weights)}static const uint8_t initial_{number}[] = {{",
            *array_lines(np.frombuffer(data, np.uint8)),
            "};",
            "",
        ]
        writes.append(f"    memcpy({name} + {place}, initial_{number}, sizeof initial_{number});")
    comment[-1] += " */"
    section = section_attribute(options.section_arena or arena.region.section)
    return [
        *comment,
        f"{section}_Alignas(CORTEXM_ARENA_ALIGN) uint8_t {name}[{options.macro}_STATE_SIZE];",
        "",
        *constants,
        f"static void {RESET}(void *memory)",
        "{",
        "    (void)memory;",
        *writes,
        "}",
        "",
    ]
