# SPDX-License-Identifier: Apache-2.0
"""The generated sources of a model with RUNTIME executorch."""

from __future__ import annotations

import numpy as np

from ..emit import EmitOptions
from ..emit.arenas import arena_lines
from ..emit.cwriter import array_lines, braces, c_comment, c_string, c_type, string_pragmas
from ..emit.header import header_text
from ..emit.model import (
    call_lines,
    description_lines,
    guard_lines,
    loop_line,
    params_lines,
    pointer_type,
)
from ..emit.options import preamble
from ..emit.ties import build_check, tie
from ..emit.weights import blob_text, section_attribute, symbol
from ..ir import Graph, Tensor, contiguous
from ..ir.types import DType
from ..options.memories import Region
from ..plan import Plan
from ..plan.types import Arena, Arg, Buffer, ConstantArg, ScratchArg, TensorArg
from ..pte.values import PteProgram, PteTensor, ScalarType
from ..target import Target
from .operators import Operators
from .pools import ALIGN, Layout, Pool
from .sizes import Sizes
from .variants import Variant

_IMAGE = "image"  # the variable of loops over the images of a batch


def border_plan(program: PteProgram, layout: Layout, target: Target, name: str) -> Plan:
    """A plan without steps that places the program's inputs and outputs in its arena."""
    border = [
        (_tensor(program.values[index], f"{role}_{number}"), pool)
        for role, indices, pools in (
            ("in", program.inputs, layout.inputs),
            ("out", program.outputs, layout.outputs),
        )
        for number, (index, pool) in enumerate(zip(indices, pools, strict=True))
        if isinstance(program.values[index], PteTensor)
    ]
    tensors = [tensor for tensor, _ in border]
    count = len(tensors) - len(program.outputs)
    graph = Graph(
        name,
        tuple(tensors),
        (),
        tuple(range(count)),
        tuple(range(count, len(tensors))),
    )
    buffers = tuple(
        Buffer(tensor.name, pool.size, ALIGN, 0, 0, pool.offset) for tensor, pool in border
    )
    return Plan(
        graph=graph,
        target=target,
        steps=(),
        constants=(),
        buffers=buffers,
        buffer_of={i: i for i in range(len(tensors))},
        scratch_of={},
        arena_size=layout.size,
        lower_bound=layout.size,
        arenas=(Arena(Region("", layout.size, "ram", ""), 0, layout.size),),
    )


def _tensor(value: object, name: str) -> Tensor:
    assert isinstance(value, PteTensor)
    dtype = DType[ScalarType(value.scalar_type).name]
    return Tensor(name, dtype, value.shape, value.dim_order or contiguous(len(value.shape)))


def model_sources(
    program: PteProgram,
    pte: bytes,
    plan: Plan,
    layout: Layout,
    operators: Operators,
    sizes: Sizes,
    options: EmitOptions,
) -> dict[str, str]:
    """NAME.h, NAME.c, NAME_pte.c, NAME_operators.c and NAME_kernels.cpp."""
    name = options.name
    more = (
        "/* The program as this model's functions load it. */",
        '#include "cortexm/executorch.h"',
        f"extern const cortexm_et_program_t {name}_program;",
        "",
        "/* For those who use ExecuTorch's API themselves: registers the program's operators with its",
        " * runtime, but for those that have a kernel there already. Returns ExecuTorch's error number. */",
        f"uint32_t {name}_register_operators(void);",
        "",
    )
    files = {
        f"{name}.h": header_text(plan, options, embeds_pte=True, more=more),
        f"{name}.c": _model_text(plan, options, layout, sizes),
        f"{name}_pte.c": blob_text(options, f"{name}_pte", pte),
        f"{name}_operators.c": operators_text(operators, options, plan.target),
        f"{name}_kernels.cpp": kernels_text(program, operators, layout, len(pte), options),
    }
    return tie(options, files)


def _model_text(plan: Plan, options: EmitOptions, layout: Layout, sizes: Sizes) -> str:
    name = options.name
    planned = sum(pool.size for pool in layout.planned)
    lines = preamble(
        options,
        f"Model {name} for ExecuTorch's runtime, {plan.target}.",
        (
            f"memory   arena {plan.arena_size} bytes: method pool {layout.method.size}, planned "
            f"{planned}, temporary {layout.temp.size}, loader {layout.state.size}",
        ),
    )
    lines += [f'#include "{name}.h"', "", *build_check(options), ""]
    lines += arena_lines(plan, options)
    for function in ("init", "invoke"):
        lines += [
            f"static void {name}_{function}(void *arena)",
            "{",
            f"    cortexm_et_{function}(&{name}_program, arena);",
            "}",
            "",
        ]
    functions = {"init": f"{name}_init", "status": "cortexm_et_status"}
    lines += description_lines(plan, options, functions)
    return "\n".join(lines)


def operators_text(operators: Operators, options: EmitOptions, target: Target) -> str:
    """NAME_operators.c: the compiled calls, in one table for each operator."""
    lines = preamble(options, f"Operators of model {options.name}, compiled call by call.")
    lines += ["#include <stddef.h>", '#include "cortexm/kernels.h"', '#include "cortexm/model.h"']
    lines += ['#include "cortexm/executorch_variants.h"', "", f'#include "{options.name}.h"', ""]
    lines += [*build_check(options), ""]
    used = {call.kernel.isa for variant in operators.variants for call, _ in variant.calls}
    lines += guard_lines(used, target)
    for number, variant in enumerate(operators.variants):
        lines += _variant_lines(variant, number, options)
    for name, numbers in by_operator(operators).items():
        table = table_name(options, name)
        lines += [
            f"extern const cortexm_et_variant_t {table}[];",
            f"/* {c_comment(name)} */",
            f"const cortexm_et_variant_t {table}[] = {{",
        ]
        for number in numbers:
            variant = operators.variants[number]
            prefix = _variant_prefix(options, number)
            constants = f"{prefix}_constants" if variant.constants else "NULL"
            lines.append(
                f"    {{{prefix}_signature, {constants}, {variant.tensor_count}, {variant.temp}, "
                f"{prefix}_run}},"
            )
        lines += ["};", ""]
    return "\n".join(lines)


def by_operator(operators: Operators) -> dict[str, list[int]]:
    """The numbers of the variants of each operator, sorted by name."""
    found: dict[str, list[int]] = {}
    for number, variant in enumerate(operators.variants):
        found.setdefault(variant.operator, []).append(number)
    return dict(sorted(found.items()))


def table_name(options: EmitOptions, operator: str) -> str:
    """The C name of an operator's table."""
    return f"{options.name}_op_{operator.replace('::', '_').replace('.', '_')}"


def _variant_prefix(options: EmitOptions, number: int) -> str:
    return f"{options.name}_v{number}"


def _variant_lines(variant: Variant, number: int, options: EmitOptions) -> list[str]:
    prefix = _variant_prefix(options, number)
    own = EmitOptions(
        prefix,
        options.command,
        options.digest,
        section_weights=options.section_weights,
    )
    attribute = section_attribute(options.section_weights)
    signature = np.array(variant.signature, np.int32)
    lines = [f"/* {c_comment(variant.operator)}  {c_comment(variant.where)} */"]
    lines += [
        f"{attribute}static const int32_t {prefix}_signature[] = {{",
        *array_lines(signature),
        "};",
        "",
    ]
    lines += string_pragmas(map(len, variant.constants))
    lines += string_pragmas(constant.nbytes for constant in variant.data)
    for position, data in enumerate(variant.constants):
        lines += [
            f"{attribute}static const uint8_t {prefix}_constant{position}[{len(data)}] = {{",
            *array_lines(np.frombuffer(data, np.uint8)),
            "};",
            "",
        ]
    if variant.constants:
        names = ", ".join(f"{prefix}_constant{i}" for i in range(len(variant.constants)))
        lines += [f"static const uint8_t *const {prefix}_constants[] = {{{names}}};", ""]
    for constant in variant.data:
        align = max(4, constant.data.dtype.itemsize)
        lines += [
            f"{attribute}static _Alignas({align}) const {c_type(constant.data)} "
            f"{symbol(own, constant.name)}[{constant.data.size}] = {{",
            *array_lines(constant.data),
            "};",
            "",
        ]
    for position, (call, _) in enumerate(variant.calls):
        lines += params_lines(own, f"{prefix}_{position}_params", call)
    lines += [
        f"static void {prefix}_run(void *const *tensors, uint8_t *temp)",
        "{",
        "    (void)tensors;",
        "    (void)temp;",
    ]
    for position, (call, scratch) in enumerate(variant.calls):
        args = [f"&{prefix}_{position}_params"]
        args += [_argument(variant, own, arg, scratch) for arg in call.args]
        if call.turns > 1:
            lines.append(loop_line(_IMAGE, call.turns))
        lines += call_lines(call.kernel.symbol, args, "    " if call.turns > 1 else "")
        lines += ["    }"] if call.turns > 1 else []
    return [*lines, "}", ""]


def _argument(variant: Variant, own: EmitOptions, arg: Arg, scratch: int) -> str:
    if isinstance(arg, ConstantArg):
        return symbol(own, arg.name)
    if isinstance(arg, ScratchArg):
        if not arg.nbytes:
            return "NULL"
        place = f"temp + {scratch + arg.offset}"
        return place if arg.of is None else f"({arg.of.c_type} *)(void *)({place})"
    assert isinstance(arg, TensorArg)
    kind = pointer_type(variant.graph.tensors[arg.index])
    step = f" + {arg.step} * {_IMAGE}" if arg.step else ""
    if arg.index in variant.tensors:
        base = f"(uint8_t *)tensors[{variant.tensors[arg.index]}]"
        return f"({kind})(void *)({base} + {arg.offset}{step})"
    return f"({kind})(void *)(temp + {variant.offsets[arg.index] + arg.offset}{step})"


def kernels_text(
    program: PteProgram, operators: Operators, layout: Layout, pte_size: int, options: EmitOptions
) -> str:
    """NAME_kernels.cpp: the program's operators for ExecuTorch's runtime, and its pools."""
    name = options.name
    lines = preamble(options, f"Operators and pools of model {name} for ExecuTorch's runtime.")
    lines += [
        '#include "cortexm/executorch_operators.h"',
        '#include "cortexm/executorch.h"',
        '#include "cortexm/executorch_variants.h"',
        "",
    ]
    lines += [f'#include "{name}.h"', "", *build_check(options), ""]
    tables = by_operator(operators)
    entries, body = kernel_entries(operators, options)
    lines += body
    lines += [
        "namespace {",
        "",
        "using ::executorch::runtime::Kernel;",
        "",
    ]
    if entries:
        lines += [
            f"constexpr Kernel {name}_kernels[] = {{",
            *(f"    {e}," for e in entries),
            "};",
            "",
        ]
    for role, pools in (
        ("planned", layout.planned),
        ("inputs", layout.inputs),
        ("outputs", layout.outputs),
    ):
        if pools:
            items = ", ".join(_pool(pool) for pool in pools)
            lines.append(f"constexpr cortexm_et_pool_t {name}_{role}[] = {{{items}}};")
    lines += ["", "} // namespace", ""]
    fields = [
        ("pte", f"{name}_pte"),
        ("pte_size", str(pte_size)),
        ("method", c_string(program.method)),
        ("kernels", f"{name}_kernels" if entries else "nullptr"),
        ("kernel_count", str(len(entries))),
        ("state_size", str(layout.state.size)),
        ("method_pool", _pool(layout.method)),
        ("temp_pool", _pool(layout.temp)),
        ("planned", f"{name}_planned" if layout.planned else "nullptr"),
        ("planned_count", str(len(layout.planned))),
        ("spans", _pool(layout.spans)),
        ("inputs", f"{name}_inputs" if layout.inputs else "nullptr"),
        ("outputs", f"{name}_outputs" if layout.outputs else "nullptr"),
        ("input_count", str(len(layout.inputs))),
        ("output_count", str(len(layout.outputs))),
    ]
    lines += [f'extern "C" const cortexm_et_program_t {name}_program = {{']
    lines += [f"    /* {field} */ {value}," for field, value in fields]
    registered = f"{{{name}_kernels, {len(entries)}}}" if entries else "{}"
    lines += [
        "};",
        "",
        f'extern "C" uint32_t {name}_register_operators(void)',
        "{",
        f"    return static_cast<uint32_t>(cortexm_et::register_missing({registered}));",
        "}",
        "",
    ]
    assert len(entries) == len(operators.wrapped) + len(tables)
    return "\n".join(lines)


def kernel_entries(operators: Operators, options: EmitOptions) -> tuple[list[str], list[str]]:
    """The entries of the table of kernels, and the functions and declarations they need."""
    entries = [
        f"Kernel({c_string(name)}, cortexm_et::{function})"
        for name, function in operators.wrapped.items()
    ]
    body: list[str] = []
    prefix = f"{options.name}_operator_"
    for number, (name, numbers) in enumerate(by_operator(operators).items()):
        table = table_name(options, name)
        body += [
            f'extern "C" const cortexm_et_variant_t {table}[];',
            "",
            f"static void {prefix}{number}(",
            "    ::executorch::runtime::KernelRuntimeContext &context,",
            "    ::executorch::runtime::Span<::executorch::runtime::EValue *> values)",
            "{",
            f"    cortexm_et::call_variant(context, values, {table}, {len(numbers)});",
            "}",
            "",
        ]
        entries.append(f"Kernel({c_string(name)}, {prefix}{number})")
    return entries, body


def _pool(pool: Pool) -> str:
    return braces((pool.offset, pool.size))
