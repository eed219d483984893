# SPDX-License-Identifier: Apache-2.0
"""NAME_samples.h and .c: inputs with labels and expected outputs, for a self-check on the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cwriter import array_lines, check_written, string_pragmas
from .options import EmitOptions, preamble
from .ties import build_check


@dataclass(frozen=True)
class Sample:
    """Inputs, one after another, and what the reference says of them: bytes in memory order; -1 is
    no label."""

    data: bytes
    expected: bytes
    label: int


def samples_header_text(options: EmitOptions, samples: list[Sample]) -> str:
    """NAME_samples.h."""
    guard = f"CORTEXM_MODEL_{options.name}_SAMPLES_H"
    lines = preamble(options, f"Inputs of model {options.name} with expected outputs.")
    lines += [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f'#include "{options.name}.h"',
        "",
        *build_check(options),
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"#define {options.macro}_SAMPLE_COUNT {len(samples)}",
        f"/* cortexm_check_sample(&{options.name}, arena, &{options.name}_samples[i]) runs one. */",
        f"extern const cortexm_sample_t {options.name}_samples[{options.macro}_SAMPLE_COUNT];",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
        "",
    ]
    return "\n".join(lines)


def samples_text(options: EmitOptions, samples: list[Sample]) -> str:
    """NAME_samples.c. Arrays are aligned so that they can be read as floats or 64-bit integers.

    Raises:
        CortexMError: they are too many for a source.
    """
    size = sum(len(sample.data) + len(sample.expected) for sample in samples)
    check_written("set of samples", size, options.name, "take fewer SAMPLES")
    lines = preamble(options, f"Inputs of model {options.name} with expected outputs.")
    lines += [f'#include "{options.name}_samples.h"', "", *build_check(options), ""]
    lines += string_pragmas(max(len(each.data), len(each.expected)) for each in samples)
    for number, sample in enumerate(samples):
        for role, data in (("input", sample.data), ("expected", sample.expected)):
            lines.append(
                f"static _Alignas(8) const uint8_t {options.name}_{role}_{number}[{len(data)}] = {{"
            )
            lines += [*array_lines(np.frombuffer(data, np.uint8)), "};"]
    name = options.name
    lines += ["", f"const cortexm_sample_t {name}_samples[{options.macro}_SAMPLE_COUNT] = {{"]
    lines += [
        f"    {{{name}_input_{i}, {name}_expected_{i}, {sample.label}}},"
        for i, sample in enumerate(samples)
    ]
    return "\n".join([*lines, "};", ""])
