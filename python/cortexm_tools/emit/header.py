# SPDX-License-Identifier: Apache-2.0
"""NAME.h: what the application includes."""

from __future__ import annotations

from ..ir import Tensor
from ..plan import Plan
from ..plan.kernels.table import BUILTIN
from .arenas import shared_arena_lines
from .cwriter import c_comment, c_float
from .options import EmitOptions, preamble
from .state import state_symbol
from .ties import abi_check, build_macro

# Bytes of stack that no call of a model takes with our kernels: tests hold every kernel against it, with GCC
# and clang, with and without optimization, on every architecture.
STACK_MOST = 1024


def header_text(
    plan: Plan,
    options: EmitOptions,
    *,
    embeds_pte: bool,
    weights_size: int = 0,
    more: tuple[str, ...] = (),
) -> str:
    """NAME.h: sizes and types as macros, the model itself, the size of an image of weights if they lie
    apart, and `more` declarations."""
    graph, macro = plan.graph, options.macro
    guard = f"CORTEXM_MODEL_{options.name}_H"
    lines = preamble(options, f"Model {options.name} for {plan.target}.")
    lines += [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"#ifdef {macro}_BUILD",
        f'#error "the names of two models differ only in capitals: both define {macro}_ARENA_SIZE"',
        "#endif",
        build_macro(options),
        "",
        '#include "cortexm/model.h"',
        "",
        *abi_check(),
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"#define {macro}_ARENA_SIZE {plan.main_size}",
        *(
            f"#define {macro}_ARENA_{arena.region.name.upper()}_SIZE {arena.size}"
            for arena in plan.arenas[1:]
            if arena is not plan.state_arena
        ),
        *([f"#define {macro}_STATE_SIZE {plan.state_size}"] if plan.graph.states else []),
        *(f"#define {macro}_{name} {value}" for name, value in options.constants),
        f"#define {macro}_INPUT_COUNT {len(graph.inputs)}",
        f"#define {macro}_OUTPUT_COUNT {len(graph.outputs)}",
        "",
    ]
    lines += _stack_lines(plan, options)
    for role, indices in (("INPUT", graph.inputs), ("OUTPUT", graph.outputs)):
        for number, index in enumerate(indices):
            lines += _tensor_macros(f"{macro}_{role}_{number}", graph.tensors[index])
    lines += [f"extern const cortexm_model_t {options.name};", ""]
    if weights_size:
        lines += [
            f"/* The weights, {options.name}.weights.bin, lie apart: cortexm_load_weights() tells where. */",
            f"#define {macro}_WEIGHTS_SIZE {weights_size}",
            f"extern const cortexm_weights_t {options.name}_weights;",
            "",
        ]
    lines += shared_arena_lines(plan, options)
    if plan.graph.states:
        lines += [
            "/* What the model keeps from call to call; cortexm_reset() begins a new sequence of calls. To",
            " * serve several sequences by turns, save these bytes and write them back between calls. */",
            f"extern uint8_t {state_symbol(options)}[{macro}_STATE_SIZE];",
            "",
        ]
    if embeds_pte:
        lines += [
            "/* The ExecuTorch program this model was compiled from. */",
            f"extern const uint8_t {options.name}_pte[];",
            f"extern const size_t {options.name}_pte_size;",
            "",
        ]
    lines += more
    lines += ["#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""]
    return "\n".join(lines)


def _stack_lines(plan: Plan, options: EmitOptions) -> list[str]:
    """The bound on the stack. It follows from the machine code: the build writes it once there is some."""
    file, macro = f"{options.name}_stack.h", f"{options.macro}_STACK_SIZE"
    lines = [
        "/* Bytes of stack that a call of the model takes at most, interrupts aside: measured by the",
        " * build, which writes this file. Without it what none exceeds on a Cortex-M; not there if that",
        " * is not known. */",
        "#if defined(__has_include)",
        f'#if __has_include("{file}")',
        f'#include "{file}"',
        "#endif",
        "#endif",
    ]
    kernels = [call.kernel for step in plan.steps for call in step.calls]
    if kernels and all(kernel.library == BUILTIN for kernel in kernels):
        lines += [f"#ifndef {macro}", f"#define {macro} {STACK_MOST}", "#endif"]
    return [*lines, ""]


def _tensor_macros(prefix: str, tensor: Tensor) -> list[str]:
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    memory = "x".join(map(str, tensor.memory_shape)) or "scalar"
    lines = [
        f"/* {c_comment(tensor.name)}: {tensor.dtype.value} {shape}, in memory {memory} */",
        f"#define {prefix}_SIZE {tensor.nbytes} /* bytes */",
        f"#define {prefix}_COUNT {tensor.numel} /* elements */",
    ]
    if tensor.quant is not None:
        lines.append(f"#define {prefix}_SCALE {c_float(tensor.quant.scale)}")
        lines.append(f"#define {prefix}_ZERO_POINT {tensor.quant.zero_point}")
    return [*lines, ""]
