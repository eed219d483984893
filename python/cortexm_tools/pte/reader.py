# SPDX-License-Identifier: Apache-2.0
"""`read_pte`: from the bytes of a .pte file to a Graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..advice import OTHER_VERSION, no_kernel
from ..errors import CortexMError
from ..ir.types import Graph, Layer
from .builder import Builder
from .call import Call
from .ops import CONVERTERS
from .pairs import use_codes
from .program import parse_program
from .values import InstructionKind, PteInstruction, PteProgram

# Constants may be copied into another order this many times the size of the file.
_COPIES = 4

_REFUSALS = {
    InstructionKind.DELEGATE: "parts of the model are delegated to another backend",
    InstructionKind.MOVE: "the model has control flow (a move instruction)",
    InstructionKind.JUMP: "the model has control flow (a conditional jump)",
}


@dataclass(frozen=True)
class Operator:
    """One operator call of a program, for listings.

    Attributes:
        name: ``namespace::name.overload``; the kind of instruction where it is not an operator call.
        number: the instruction's number.
        layer: where it comes from, if known.
        supported: whether `read_pte` knows the operator.
    """

    name: str
    number: int
    layer: Layer
    supported: bool


def list_operators(
    program: PteProgram, layers: Sequence[Layer] | None = None
) -> tuple[Operator, ...]:
    """All instructions of `program` in order, the unsupported ones included; never raises."""
    return tuple(
        Operator(
            instruction.operator or instruction.kind.value,
            number,
            layer,
            instruction.operator in CONVERTERS or instruction.kind is InstructionKind.FREE,
        )
        for number, (instruction, layer) in enumerate(_with_layers(program, layers))
    )


def read_pte(
    data: bytes, *, name: str, layers: Sequence[Layer] | None = None, method: str | None = None
) -> Graph:
    """Reads a .pte file of the cortex_m dialect.

    Args:
        data: the file's bytes.
        name: the graph's name.
        layers: the layer of each operator call, in program order; ignored if their number is not
            the program's.
        method: the method to read; by default ``forward``, or the only one.

    Raises:
        CortexMError: the file is damaged, or uses something that cannot be expressed in the IR;
            the message names the operator and its layer (or its number in the program).
    """
    return read_program(parse_program(data, method=method), name=name, layers=layers)


def read_program(program: PteProgram, *, name: str, layers: Sequence[Layer] | None = None) -> Graph:
    """Like `read_pte`, from a parsed program."""
    if program.delegates:
        raise CortexMError(
            f"the program hands work to other backends: {', '.join(program.delegates)}",
            hint="lower the model for cortex_m only",
        )
    builder = Builder(program, _COPIES * program.file_size)
    for number, index in enumerate(program.inputs):
        builder.add_input(index, number)
    builder.add_states()
    for number, (instruction, layer) in enumerate(_with_layers(program, layers)):
        if instruction.kind is not InstructionKind.FREE:
            convert_call(Call(program, instruction, number, layer, builder))
    graph = builder.finish(name)
    return use_codes(graph, builder.codes) if _has_pairs(program) else graph


def _has_pairs(program: PteProgram) -> bool:
    """Whether a program states quantization by pairs: no operator of it is meant for this backend."""
    spaces = {call.operator.partition("::")[0] for call in program.instructions}
    return "quantized_decomposed" in spaces and not spaces & {"cortex_m", "cortexm"}


def _with_layers(
    program: PteProgram, layers: Sequence[Layer] | None
) -> list[tuple[PteInstruction, Layer]]:
    """Each instruction with its layer; only operator calls have one."""
    calls = [i for i in program.instructions if i.kind is InstructionKind.KERNEL]
    if layers is None or len(layers) != len(calls):
        return [(instruction, Layer()) for instruction in program.instructions]
    remaining = iter(layers)
    return [
        (instruction, next(remaining) if instruction.kind is InstructionKind.KERNEL else Layer())
        for instruction in program.instructions
    ]


def convert_call(call: Call) -> None:
    """Adds the operators of one instruction to the call's builder."""
    instruction = call.instruction
    if instruction.kind is not InstructionKind.KERNEL:
        raise CortexMError(_REFUSALS[instruction.kind], where=call.where)
    convert = CONVERTERS.get(instruction.operator)
    if convert is None:
        raise no_kernel(instruction.operator, call.layer, call.where)
    # The value an operator returns is repeated behind its results.
    expected = call.schema.arg_count + call.schema.out_count
    have = len(instruction.args)
    if have not in (expected, expected + 1):
        hint = OTHER_VERSION if instruction.operator.startswith("cortex_m::") else ""
        raise call.error(f"{have} arguments, expected {expected}", hint)
    convert(call)
