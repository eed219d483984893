# SPDX-License-Identifier: Apache-2.0
"""NAME_weights.c: the constants of a plan; and programs or samples as byte arrays."""

from __future__ import annotations

import numpy as np

from ..options.memories import section_name
from ..plan import Plan
from ..plan.types import Constant
from .cwriter import array_lines, c_comment, c_type, check_written, string_pragmas
from .options import EmitOptions, preamble
from .ties import build_check, weights_symbol

# Kernels read weights by words, so every array starts at a word (float64 and int64 at their own size).
_MIN_ALIGN = 4


def symbol(options: EmitOptions, constant: str) -> str:
    """The linker name of a constant."""
    return f"{options.name}_{constant}"


def declaration(options: EmitOptions, constant: Constant) -> str:
    """``extern const …;`` for a constant."""
    return f"extern const {c_type(constant.data)} {symbol(options, constant.name)}[{constant.data.size}];"


def declarations(plan: Plan, options: EmitOptions) -> list[str]:
    """For NAME.c: the constants, the first by the name that only its own NAME_weights.c defines."""
    if not plan.constants:
        return []
    first, *others = plan.constants
    tied = weights_symbol(options)
    return [
        "/* The first constant, by a name that it has in no other build: there they do not link. */",
        f"extern const {c_type(first.data)} {tied}[{first.data.size}];",
        f"#define {symbol(options, first.name)} {tied}",
        *(declaration(options, constant) for constant in others),
        "",
    ]


def weights_text(plan: Plan, options: EmitOptions) -> str:
    """NAME_weights.c.

    Raises:
        CortexMError: the constants are too many for a source.
    """
    hint = "WEIGHTS partition writes them as an image beside the firmware"
    check_written("table of constants", plan.constant_bytes, options.name, hint)
    lines = preamble(
        options,
        f"Constants of model {options.name}: {plan.constant_bytes} bytes.",
    )
    lines += ["#include <stdint.h>", ""]
    lines += string_pragmas(constant.nbytes for constant in plan.constants)
    for constant in plan.constants:
        attribute = section_attribute(constant.section or options.section_weights)
        align = max(_MIN_ALIGN, constant.data.dtype.itemsize)
        name = symbol(options, constant.name)
        comment = f" {constant.comment}" if constant.comment else ""
        lines.append(declaration(options, constant))
        lines.append(f"/*{c_comment(comment)} {constant.nbytes} bytes */")
        lines.append(
            f"{attribute}_Alignas({align}) const {c_type(constant.data)} {name}"
            f"[{constant.data.size}] = {{"
        )
        lines += [*array_lines(constant.data), "};", ""]
    for first in plan.constants[:1]:
        lines += [
            f"extern const {c_type(first.data)} {weights_symbol(options)}[{first.data.size}]",
            f'    __attribute__((alias("{symbol(options, first.name)}")));',
            "",
        ]
    return "\n".join(lines)


def blob_text(options: EmitOptions, name: str, data: bytes) -> str:
    """A byte array `name` with its size in ``name_size``; aligned as ExecuTorch wants it.

    Raises:
        CortexMError: it is too large for a source.
    """
    check_written("program", len(data), options.name, "link it by other means than as C")
    lines = preamble(options, f"{name}: {len(data)} bytes.")
    lines += [
        f'#include "{options.name}.h"',
        "",
        *build_check(options),
        "",
        *string_pragmas([len(data)]),
        f"{section_attribute(options.section_weights)}_Alignas(16) const uint8_t {name}[{len(data)}] = {{",
        *array_lines(np.frombuffer(data, np.uint8)),
        "};",
        "",
        f"const size_t {name}_size = sizeof({name});",
        "",
    ]
    return "\n".join(lines)


def placed(section: str, definition: str) -> str:
    """The definition in C of an array without initial values, in `section` if that is not empty."""
    if not section:
        return f"{definition};"
    return f'CORTEXM_NOBITS("{section_name(section)}", {definition})'


def section_attribute(section: str) -> str:
    """The attribute that places a variable in `section`.

    Raises:
        CortexMError: no section can be named so.
    """
    return f'__attribute__((section("{section_name(section)}"))) ' if section else ""
