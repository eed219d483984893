# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that are compiled, each with its shapes and numbers fixed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..errors import CortexMError
from ..ir import Graph, Layer
from ..ir.types import QuantParams
from ..plan import lower
from ..plan.choose.kernels import PRICES, choose
from ..plan.choose.options import Option, options_of
from ..plan.lower.constants import pack_constants, with_names
from ..plan.lower.context import Lowerings
from ..plan.memory.offset_search import align_up
from ..plan.types import Call as KernelCall
from ..plan.types import Constant, ScratchArg
from ..pte.builder import COPY, Builder
from ..pte.call import Call
from ..pte.ops import CONVERTERS
from ..pte.reader import convert_call
from ..pte.schemas import SCHEMAS, Schema
from ..pte.values import (
    Dynamism,
    PteBools,
    PteFloats,
    PteInstruction,
    PteList,
    PteProgram,
    PteTensor,
    PteValue,
)
from ..simplify.layout import assign_layouts
from ..simplify.outputs import own_outputs
from ..target import Optimize, Target

assert lower  # importing it registers the lowerings

# The kinds of argument in a signature; the same numbers as in runtime/executorch/variants.cpp.
_NONE, _INT, _BOOL, _DOUBLE, _TENSOR, _STRING = range(6)
_INTS, _DOUBLES, _BOOLS, _TENSORS, _CONSTANT = range(6, 11)


@dataclass(frozen=True)
class Variant:
    """One call of an operator, compiled; `chosen` finds its kernel calls, their data and their scratch.

    Attributes:
        operator: its name with overload.
        signature: what the arguments must be, as 32-bit words.
        constants: data of tensor arguments that the compiled code has taken in, in the order of the
            signature; the argument's bytes must equal them.
        graph: the call as a graph.
        options: the ways to compute its operators.
        tensors: for each tensor of the graph that is an argument, its number among the tensors
            of the arguments.
        calls: kernel calls, each with the offset of its scratch in the temporary memory.
        offsets: for each other tensor of the graph, its offset in the temporary memory.
        temp: temporary bytes, a multiple of 16.
        tensor_count: number of tensors among the arguments.
        where: the layer, for messages.
    """

    operator: str
    signature: tuple[int, ...]
    constants: tuple[bytes, ...]
    graph: Graph
    options: tuple[tuple[Option, ...], ...]
    tensors: dict[int, int]
    offsets: dict[int, int]
    temp: int
    tensor_count: int
    where: str
    calls: tuple[tuple[KernelCall, int], ...] = ()
    data: tuple[Constant, ...] = ()


def chosen(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """With the ways that cost least for all of them together, which share the code of kernels."""
    every = [ways for variant in variants for ways in variant.options]
    ways = iter(choose(every, PRICES[Optimize.BALANCED].flash))
    return tuple(_with_calls(v, list(islice(ways, len(v.options)))) for v in variants)


def _with_calls(variant: Variant, options: Sequence[Option]) -> Variant:
    lowered = [option.lowered for option in options]
    sources = {key: source for each in lowered for key, source in each.sources.items()}
    constants, names = pack_constants(sources)
    calls = tuple(with_names(call, names) for each in lowered for call in each.calls)
    taken = (arg for call in calls for arg in call.args if isinstance(arg, ScratchArg))
    scratch = max((arg.offset + arg.nbytes for arg in taken), default=0)
    return replace(
        variant,
        calls=tuple((call, variant.temp) for call in calls),
        data=constants,
        temp=variant.temp + align_up(scratch, 16),
    )


def _flatten(program: PteProgram, indices: Sequence[int]) -> list[int]:
    """The tensors among arguments, those in lists included, in order."""
    found: list[int] = []
    for index in indices:
        value = program.values[index]
        if isinstance(value, PteTensor):
            found.append(index)
        elif isinstance(value, PteList) and value.of_tensors:
            found += [
                item
                for item in value.items
                if item >= 0 and isinstance(program.values[item], PteTensor)
            ]
    return found


def variant_of(
    program: PteProgram,
    instruction: PteInstruction,
    number: int,
    layer: Layer,
    target: Target,
    quants: dict[int, QuantParams],
) -> Variant:
    name = instruction.operator
    where = str(layer) if layer != Layer() else f"instruction {number}"
    if name not in CONVERTERS:
        raise CortexMError(
            f"operator {name} has no kernel here",
            where=where,
            hint="if the application registers one with ExecuTorch (its portable kernels, …), name "
            f"the operator: EXTERNAL_OPERATORS {name}",
        )
    schema = SCHEMAS[name]
    failure: CortexMError | None = None
    # Constants as plain arguments, if the operator can do without knowing them; and without the
    # results that it cannot compute, which then nothing may read.
    for keep_constants in (False, True):
        for results in range(schema.out_count, 0, -1):
            if results < schema.out_count and _is_read(program, instruction, schema, results):
                continue
            try:
                return _compile(
                    program,
                    instruction,
                    number,
                    layer,
                    schema,
                    target,
                    quants,
                    keep_constants,
                    results,
                )
            except CortexMError as error:
                failure = failure or error
    assert failure is not None
    raise CortexMError(
        failure.message,
        where=failure.where or where,
        hint=failure.hint
        or f"or register another kernel with ExecuTorch, and add EXTERNAL_OPERATORS {name}",
    )


def _is_read(
    program: PteProgram, instruction: PteInstruction, schema: Schema, results: int
) -> bool:
    dropped = instruction.args[schema.arg_count + results : schema.arg_count + schema.out_count]
    users = [i for i in program.instructions if i is not instruction]
    return any(
        index in program.outputs or any(index in _flatten(program, user.args) for user in users)
        for index in _flatten(program, dropped)
    )


def _compile(
    program: PteProgram,
    instruction: PteInstruction,
    number: int,
    layer: Layer,
    schema: Schema,
    target: Target,
    quants: dict[int, QuantParams],
    keep_constants: bool,
    results: int,
) -> Variant:
    """The call as a program of one instruction, planned with its tensors outside."""
    count = schema.arg_count + schema.out_count
    arguments = _flatten(program, instruction.args[:count])
    described = instruction.args[:count]
    if instruction.operator == COPY:
        program, instruction = _to_new_result(program, instruction)
    outs = _flatten(program, instruction.args[schema.arg_count : schema.arg_count + results])
    inputs = list(dict.fromkeys(_flatten(program, instruction.args[: schema.arg_count])))
    values: list[PteValue] = list(program.values)
    embedded: list[int] = []
    for index in set(arguments):
        value = values[index]
        assert isinstance(value, PteTensor)
        constant = value.data is not None and not value.mutable and index not in outs
        if constant and keep_constants:
            embedded.append(index)
            values[index] = replace(value, place=None)
        else:
            values[index] = replace(
                value, data=None, mutable=True, place=None, dynamism=Dynamism.STATIC
            )
    inputs = [index for index in inputs if index not in embedded]
    single = replace(
        program,
        values=tuple(values),
        inputs=tuple(inputs),
        outputs=tuple(outs),
        instructions=(instruction,),
    )
    builder = Builder(single, 4 * program.file_size)
    for position, index in enumerate(inputs):
        builder.add_input(index, position)
        if index in quants:
            builder.set_quant(builder.read(index), quants[index])
    convert_call(Call(single, instruction, number, layer, builder))
    graph = assign_layouts(own_outputs(builder.finish("call")))
    tensors = {
        tensor: arguments.index(index) for tensor, index in zip(graph.inputs, inputs, strict=True)
    }
    first_out = len(_flatten(program, instruction.args[: schema.arg_count]))
    for position, tensor in enumerate(graph.outputs):
        tensors[tensor] = first_out + position
    lowerings = Lowerings(graph, target)
    options = tuple(options_of(lowerings, op) for op in graph.ops)
    offsets: dict[int, int] = {}
    size = 0
    for op in graph.ops:
        for index in op.outputs:
            if index not in graph.outputs:
                offsets[index] = size
                size += align_up(graph.tensors[index].nbytes, 16)
    signature = [count]
    for index in described:
        signature += _describe(single, index, embedded)
    order = [i for i in arguments if i in embedded]
    return Variant(
        operator=instruction.operator,
        signature=tuple(signature),
        constants=tuple(bytes(_data(program, index)) for index in order),
        graph=graph,
        options=options,
        tensors=tensors,
        offsets=offsets,
        temp=size,
        tensor_count=len(arguments),
        where=str(layer) if layer != Layer() else f"instruction {number}",
    )


def _to_new_result(
    program: PteProgram, instruction: PteInstruction
) -> tuple[PteProgram, PteInstruction]:
    """A copy to a state as an operator with a result of its own: here, nothing outlives the call."""
    *others, state = instruction.args[: SCHEMAS[COPY].arg_count + 1]
    result = len(program.values)
    return (
        replace(program, values=(*program.values, program.values[state])),
        replace(instruction, args=(*others, result)),
    )


def _data(program: PteProgram, index: int) -> memoryview:
    value = program.values[index]
    assert isinstance(value, PteTensor) and value.data is not None
    return value.data


def _words(value: int | float) -> list[int]:
    """64 bits as two signed words, the low one first."""
    code = "<d" if isinstance(value, float) else "<q"
    return [int(word) for word in np.frombuffer(struct.pack(code, value), "<i4")]


def _describe(program: PteProgram, index: int, embedded: Sequence[int]) -> list[int]:
    """One argument of a signature."""
    value = program.values[index] if index >= 0 else None
    if value is None:
        return [_NONE]
    if isinstance(value, bool):
        return [_BOOL, int(value)]
    if isinstance(value, int):
        return [_INT, *_words(value)]
    if isinstance(value, float):
        return [_DOUBLE, *_words(value)]
    if isinstance(value, str):
        raw = value.encode()
        return [_STRING, len(raw), *raw]
    if isinstance(value, PteFloats):
        return [_DOUBLES, len(value.items), *(w for item in value.items for w in _words(item))]
    if isinstance(value, PteBools):
        return [_BOOLS, len(value.items), *(int(item) for item in value.items)]
    if isinstance(value, PteTensor):
        kind = _CONSTANT if index in embedded else _TENSOR
        return [kind, value.scalar_type, len(value.shape), *value.shape, *value.dim_order]
    if value.of_tensors:
        items = [_describe(program, item, embedded) for item in value.items]
        return [_TENSORS, len(items), *(word for item in items for word in item)]
    numbers = [program.values[item] for item in value.items]
    words = [_words(number) for number in numbers if isinstance(number, int)]
    if len(words) != len(numbers):
        raise CortexMError("a list of integers holds something else")
    return [_INTS, len(words), *(w for word in words for w in word)]
