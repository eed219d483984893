# SPDX-License-Identifier: Apache-2.0
"""NAME_cmsis_nn.c: makes the compiler check what the plan assumes of the CMSIS-NN that is found."""

from __future__ import annotations

from ..ir.text import tensor_text
from ..plan import Plan
from ..plan.kernels.cmsis_nn import LIBRARY, compiled_isa
from ..plan.types import Call, Field, ScratchArg, Step
from ..target import Isa
from .cwriter import braces, c_comment, c_float, c_int, c_string
from .options import EmitOptions, preamble
from .ties import build_check

# The operators for which CMSIS-NN has a function that tells its scratch memory, by their types.
_CHECKED = {
    "s8": ("conv2d", "depthwise_conv2d", "transpose_conv2d", "batch_matmul", "avg_pool2d"),
    "s8w4": ("conv2d", "depthwise_conv2d"),
    "s16": ("conv2d", "depthwise_conv2d", "avg_pool2d"),
}
_CODE = {Isa.SCALAR: "plain C", Isa.DSP: "DSP", Isa.MVE: "MVE"}


def check_text(plan: Plan, options: EmitOptions) -> str:
    """NAME_cmsis_nn.c: compiled with optimization and not linked (kernels/src/cmsis_nn/check.h)."""
    isa = compiled_isa(plan.target)
    code = _CODE[isa]
    lines = preamble(options, f"Checks of CMSIS-NN for model {options.name}.")
    lines += [
        f'#include "{options.name}.h"',
        '#include "check.h"',
        "",
        f"#if CORTEXM_NN_CODE != {list(Isa).index(isa)}",
        f'#error "planned for the {code} code of CMSIS-NN, but the compiler builds another: '
        f'choose the CPU and ISA that it builds for"',
        "#endif",
        *build_check(options),
        "",
    ]
    body: list[str] = []
    for number, step in enumerate(plan.steps):
        # The images of a batch have equal blocks, and the same scratch memory.
        alike = {(call.kernel.symbol, call.fields): call for call in step.calls}
        for place, call in enumerate(alike.values()):
            types, name = call.kernel.types, call.kernel.op.removesuffix("_wide")
            if call.kernel.library == LIBRARY and name in _CHECKED.get(types, ()):
                given = _given(call)
                prefix = f"{options.name}_op{number}" + (f"_{place}" if place else "")
                lines += _layer(prefix, step, call, plan)
                body.append(
                    f"    CORTEXM_NN_NEEDS(cortexm_nn_{name}_{types}_scratch(&{prefix}_params), "
                    f"{given}, {prefix}_refuse);"
                )
    name = f"{options.name}_cmsis_nn_check"
    lines += [f"void {name}(void);", "", "__attribute__((flatten)) void " + name + "(void)", "{"]
    return "\n".join([*lines, *body, "}", ""])


def _given(call: Call) -> int:
    """Bytes of scratch memory."""
    return sum(arg.nbytes for arg in call.args if isinstance(arg, ScratchArg))


def _layer(prefix: str, step: Step, call: Call, plan: Plan) -> list[str]:
    op = step.op
    result = tensor_text(plan.graph.tensors[op.outputs[0]])
    message = (
        f"{op.kind} of {op.layer}: this CMSIS-NN needs more scratch memory than the "
        f"{_given(call)} bytes planned; use a version that docs/cmake.md names, or KERNELS builtin"
    )
    fields = [
        f"    .{name} = {_value(value)},"
        for name, value in call.fields
        if not isinstance(value, str)
    ]
    return [
        f"/* {c_comment(f'{op.kind}  {op.layer}  out {result}')} */",
        f"static const {call.kernel.params} {prefix}_params = {{",
        *fields,
        "};",
        f"extern void {prefix}_refuse(void) __attribute__((error({c_string(message)})));",
        "",
    ]


def _value(value: Field) -> str:
    if isinstance(value, tuple):
        return braces(value)
    return c_float(value) if isinstance(value, float) else c_int(int(value))
