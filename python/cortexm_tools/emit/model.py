# SPDX-License-Identifier: Apache-2.0
"""NAME.c: the plan as C without branches; loops go over the images of a batch or bands of rows."""

from __future__ import annotations

from ..errors import CortexMError
from ..ir import DType, Op, Tensor
from ..ir.text import tensor_text
from ..plan import Plan
from ..plan.kernels.params import block_fields
from ..plan.types import Arg, Call, ConstantArg, Field, ScratchArg, Step, TensorArg
from ..target import Isa, Target
from .apart import Apart, block_lines, define_lines, enter_lines, fixed_fields, status_lines
from .arenas import address, arena_lines, main_arena_symbol
from .cwriter import braces, c_comment, c_float, c_int, c_string
from .options import EmitOptions, preamble
from .poison import dead_after_call, dead_ranges
from .state import reset_symbol, state_lines
from .ties import ABI, build_check
from .weights import declarations, symbol

_MOST_TENSORS = 2**16 - 1  # input_count and output_count of cortexm_model_t


def model_text(plan: Plan, options: EmitOptions) -> str:
    """NAME.c."""
    lines = preamble(
        options,
        f"Model {options.name} for {plan.target}.",
        (f"memory   {_memory(plan)}, constants {plan.constant_bytes} bytes",),
    )
    lines += [f'#include "{options.name}.h"', "", '#include "cortexm/kernels.h"', ""]
    if options.poison or plan.graph.states:
        lines += ["#include <string.h>", ""]
    lines += build_check(options)
    lines += _guards(plan)
    apart = image_of(plan) if options.weights_apart else None
    lines += define_lines(apart, options) if apart else declarations(plan, options)
    blocks = _block_names(plan, options)
    for number, step in enumerate(plan.steps):
        for position, call in enumerate(step.calls):
            name = blocks[number, position]
            if name == _params_name(options, number, position, step):
                lines += params_lines(options, name, call)
    lines += arena_lines(plan, options)
    lines += state_lines(plan, options)
    lines += _invoke(plan, options, blocks, apart)
    functions = {"init": reset_symbol(options)} if plan.graph.states else {}
    if apart:
        lines += status_lines(options)
        functions["status"] = f"{options.name}_status"
    lines += description_lines(plan, options, functions)
    return "\n".join(lines)


def image_of(plan: Plan) -> Apart:
    """The weights of a plan as an image for the code of this emitter."""
    return Apart(plan, ABI)


def _fields(options: EmitOptions, call: Call) -> tuple[tuple[str, Field], ...]:
    """The fields of a call's parameter block that are constants of the code."""
    fields = fixed_fields(call) if options.weights_apart else call.fields
    return block_fields(call.kernel, fields)


def _guards(plan: Plan) -> list[str]:
    used = {call.kernel.isa for step in plan.steps for call in step.calls}
    return guard_lines(used, plan.target)


def guard_lines(used: set[Isa], target: Target) -> list[str]:
    """Stops a build for a core without the kernels' instructions."""
    lines: list[str] = []
    for isa in reversed(Isa):
        if isa in used and isa.macro:
            lines += [
                f"#if !defined({isa.macro})",
                f'#error "planned for a core with {isa.name}: compile for {target.core.value} '
                f'or choose another CPU or ISA"',
                "#endif",
            ]
    return [*lines, ""]


def _params_name(options: EmitOptions, number: int, position: int, step: Step) -> str:
    suffix = f"_{position}" if len(step.calls) > 1 else ""
    return f"{options.name}_op{number}{suffix}_params"


def _block_names(plan: Plan, options: EmitOptions) -> dict[tuple[int, int], str]:
    """The parameter block of every call, by step and position. Equal blocks are one: the first."""
    found: dict[tuple[str, tuple[tuple[str, Field], ...]], str] = {}
    return {
        (number, position): found.setdefault(
            (call.kernel.params, _fields(options, call)),
            _params_name(options, number, position, step),
        )
        for number, step in enumerate(plan.steps)
        for position, call in enumerate(step.calls)
    }


def params_lines(options: EmitOptions, name: str, call: Call) -> list[str]:
    lines = [f"static const {call.kernel.params} {name} = {{"]
    lines += [
        f"    .{field} = {_field(options, value)}," for field, value in _fields(options, call)
    ]
    return [*lines, "};", ""]


def _field(options: EmitOptions, value: Field) -> str:
    if isinstance(value, str):
        return symbol(options, value)
    if isinstance(value, tuple):
        return braces(value)
    if isinstance(value, float):
        return c_float(value)
    return c_int(value)


def _memory(plan: Plan) -> str:
    parts = [
        f"arena {arena.size} bytes" + (f" of {arena.region.name}" if arena.region.name else "")
        for arena in plan.arenas
        if arena is not plan.state_arena
    ]
    return ", ".join([*parts, *([f"state {plan.state_size} bytes"] if plan.graph.states else [])])


def _invoke(
    plan: Plan, options: EmitOptions, blocks: dict[tuple[int, int], str], apart: Apart | None
) -> list[str]:
    lines = [f"static void {options.name}_invoke(void *memory)", "{"]
    lines += ["    uint8_t *const arena = memory;", *([] if apart else [""])]
    if apart:
        lines += enter_lines(options)
    if not any(step.calls for step in plan.steps):
        lines.append("    (void)arena;")
    if options.profile:
        lines.append(f"    cortexm_profile(&{options.name}, 0);")
    for number, step in enumerate(plan.steps):
        lines += _step(plan, options, number, step, blocks, apart)
        if options.profile:
            lines.append(f"    cortexm_profile(&{options.name}, {number + 1});")
        if options.poison:
            lines += _poison(plan, options, dead_ranges(plan, number), "    ")
    return [*lines, "}", ""]


def _poison(
    plan: Plan, options: EmitOptions, ranges: list[tuple[int, int]], indent: str
) -> list[str]:
    return [f"{indent}memset({address(plan, options, a)}, 0xA5, {b - a});" for a, b in ranges]


def _step(
    plan: Plan,
    options: EmitOptions,
    number: int,
    step: Step,
    blocks: dict[tuple[int, int], str],
    apart: Apart | None,
) -> list[str]:
    op = step.op
    places = [_place(plan, options, "in ", index) for index in step.inputs if plan.has_place(index)]
    places += [_place(plan, options, "out", index) for index in op.outputs]
    for index in step.inside:
        buffer = plan.buffers[plan.buffer_of[index]]
        places.append(
            f"band of {buffer.name}, {buffer.nbytes} bytes {_at(plan, options, buffer.offset)}"
        )
    if number in plan.scratch_of:
        buffer = plan.buffers[plan.scratch_of[number]]
        places.append(f"scratch {buffer.nbytes} bytes {_at(plan, options, buffer.offset)}")
    names = [f"{member.kind}  {member.layer}" for member in step.ops]
    title = f"{number + 1}/{len(plan.steps)}  {names[0]}"
    body = ["     * " + c_comment(f"then {name}, in bands of rows") for name in names[1:]]
    body += ["     * " + c_comment(place) for place in places]
    lines = ["    /* " + c_comment(title), *body]
    lines[-1] += " */"
    if not step.calls:
        return [
            *lines[:-1],
            lines[-1].removesuffix(" */"),
            f"     * {_nothing_to_do(plan, op)}: nothing to do */",
        ]
    inside, loop, turn = 1, 0, turn_of(step)  # turns of the open loop, its number, the name of one
    for position, call in enumerate(step.calls):
        name = blocks[number, position]
        other = (call.turns, call.loop) != (inside, loop)
        if other and inside > 1:
            lines.append("    }")
        if other and call.turns > 1:
            lines.append(loop_line(turn, call.turns))
        inside, loop = call.turns, call.loop
        args = [_arg(plan, options, number, arg, turn) for arg in call.args]
        indent = "    " if inside > 1 else ""
        block = block_lines(apart, options, number, position, name) if apart else []
        if block:
            # A copy of the block with what the image has of it.
            deeper = indent + "        "
            lines += [indent + "    {", *(deeper + line if line else "" for line in block)]
            lines += call_lines(call.kernel.symbol, ["&params", *args], indent + "    ")
            lines.append(indent + "    }")
        else:
            lines += call_lines(call.kernel.symbol, ["&" + name, *args], indent)
        if options.poison:
            lines += _poison(plan, options, dead_after_call(plan, number, call), indent + "    ")
    return [*lines, "    }"] if inside > 1 else lines


def turn_of(step: Step) -> str:
    """The variable that counts the turns of a step's loop."""
    return "band" if step.fused else "image"


def loop_line(turn: str, turns: int) -> str:
    return f"    for (int32_t {turn} = 0; {turn} < {turns}; ++{turn}) {{"


def _nothing_to_do(plan: Plan, op: Op) -> str:
    return "joined in place" if plan.parts.keys() & set(op.inputs) else "the same bytes"


def call_lines(function: str, args: list[str], indent: str = "") -> list[str]:
    line = f"    {function}({', '.join(args)});"
    if len(indent) + len(line) <= 100:
        return [indent + line]
    lines = [f"    {function}(", *[f"        {arg}," for arg in args[:-1]], f"        {args[-1]});"]
    return [indent + line for line in lines]


def _place(plan: Plan, options: EmitOptions, role: str, index: int) -> str:
    part = plan.parts.get(index)
    gaps = f", {part.pixel} of every {part.pitch} bytes" if part is not None and part.pitch else ""
    return f"{role} {tensor_text(plan.graph.tensors[index])} {_at(plan, options, plan.offset(index))}{gaps}"


def _at(plan: Plan, options: EmitOptions, offset: int) -> str:
    """The place of a byte in a comment: ``@64``, ``@dtcm+64``."""
    where = address(plan, options, offset).replace(" ", "").removeprefix(f"{options.name}_")
    return "@" + where.removeprefix("own_arena_").removeprefix("arena+")


def _arg(plan: Plan, options: EmitOptions, number: int, arg: Arg, turn: str) -> str:
    if isinstance(arg, ScratchArg):
        if not arg.nbytes:
            return "NULL"
        start = plan.buffers[plan.scratch_of[number]].offset + arg.offset
        place = address(plan, options, start)
        return place if arg.of is None else f"({arg.of.c_type} *)(void *)({place})"
    step = f" + {arg.step} * {turn}" if arg.step else ""
    if isinstance(arg, ConstantArg):
        name = symbol(options, arg.name)
        if not arg.offset and not step:
            return name
        return f"(const void *)((const uint8_t *){name} + {arg.offset}{step})"
    assert isinstance(arg, TensorArg)
    tensor = plan.graph.tensors[arg.index]
    place = f"({address(plan, options, plan.offset(arg.index) + arg.offset)}{step})"
    return (
        f"({pointer_type(tensor)}){place}"
        if tensor.dtype.size == 1
        else f"({pointer_type(tensor)})(void *){place}"
    )


def pointer_type(tensor: Tensor) -> str:
    return f"{tensor.dtype.c_type} *"


_DTYPE_ENUM = {dtype: f"CORTEXM_{dtype.name}" for dtype in DType}


def description_lines(
    plan: Plan, options: EmitOptions, functions: dict[str, str] | None = None
) -> list[str]:
    """The tables of inputs and outputs, and the model itself; `functions` override its functions."""
    graph, name = plan.graph, options.name
    lines: list[str] = []
    for role, indices in (("input", graph.inputs), ("output", graph.outputs)):
        if len(indices) > _MOST_TENSORS:
            raise CortexMError(
                f"the model has {len(indices):,} {role}s, and no more than {_MOST_TENSORS:,} can be "
                "counted on the device",
                where=name,
                hint=f"pass several {role}s as one tensor",
            )
        for number, index in enumerate(indices):
            shape = graph.tensors[index].memory_shape or (1,)
            lines.append(f"static const int32_t {name}_{role}_{number}_shape[] = {braces(shape)};")
        if not indices:
            continue
        lines.append(f"static const cortexm_tensor_info_t {name}_{role}s[] = {{")
        for number, index in enumerate(indices):
            lines.append(_info(plan, graph.tensors[index], index, f"{name}_{role}_{number}_shape"))
        lines += ["};", ""]
    fields = {
        "abi": f"{ABI}",
        "name": c_string(name),
        "arena_size": f"{options.macro}_ARENA_SIZE",
        "arena": main_arena_symbol(plan, options),
        "stack_size": f"{options.macro}_STACK_SIZE",
        "inputs": f"{name}_inputs" if graph.inputs else "NULL",
        "outputs": f"{name}_outputs" if graph.outputs else "NULL",
        "input_count": f"{options.macro}_INPUT_COUNT",
        "output_count": f"{options.macro}_OUTPUT_COUNT",
        "init": "NULL",
        "invoke": f"{name}_invoke",
        "status": "NULL",
    } | (functions or {})
    lines += [
        f"#ifndef {options.macro}_STACK_SIZE",
        f"#define {options.macro}_STACK_SIZE 0 /* not known */",
        "#endif",
        f"const cortexm_model_t {name} = {{",
    ]
    lines += [f"    .{field} = {value}," for field, value in fields.items()]
    return [*lines, "};", ""]


def _info(plan: Plan, tensor: Tensor, index: int, shape: str) -> str:
    scale = c_float(tensor.quant.scale) if tensor.quant else "0.0f"
    zero_point = tensor.quant.zero_point if tensor.quant else 0
    return (
        f"    {{{c_string(tensor.name)}, {plan.offset(index)}, {tensor.nbytes}, {shape}, "
        f"{len(tensor.shape)}, {_DTYPE_ENUM[tensor.dtype]}, {scale}, {zero_point}}},"
    )
