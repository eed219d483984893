# SPDX-License-Identifier: Apache-2.0
"""Parsing a .pte file into frozen values: a faithful, checked copy of one method.

File layout: a FlatBuffer with the identifier ``ET12``; right behind its identifier an extended
header may follow that says where the flatbuffer ends and where the segments (constant data) begin.
The schema is ExecuTorch's schema/program.fbs; field numbers are the order of the fields there.
"""

from __future__ import annotations

import math

from ..errors import CortexMError, did_you_mean, printable
from ..flatbuffer import Buffer, Table
from .values import (
    PTE,
    Dynamism,
    InstructionKind,
    PteBools,
    PteFloats,
    PteInstruction,
    PteList,
    PteProgram,
    PteTensor,
    PteValue,
    ScalarType,
    damaged,
)

_IDENTIFIER = b"ET12"
_SCHEMA_VERSION = 0
_HEADER_MAGIC = b"eh00"
_HEADER_MIN_LENGTH = 24
_MAX_RANK = 16
_MAX_NAME = 200
_MAX_BYTES = 2**31 - 1


def parse_program(data: bytes, *, method: str | None = None) -> PteProgram:
    """Parses a .pte file.

    Args:
        data: the file's bytes.
        method: the method to take; by default ``forward``, or the only one.

    Raises:
        CortexMError: the bytes are not such a program, are damaged, or keep data in other files.
    """
    view = memoryview(data)
    if len(view) < 8 or view[4:8] != _IDENTIFIER:
        raise CortexMError(
            "this is not an ExecuTorch program: the identifier ET12 is missing",
            hint="a .pte file from ExecuTorch 1.x is needed",
        )
    size, segment_base = _extended_header(view)
    root = Buffer(view[:size], PTE).root()
    version = root.u32(0)
    if version != _SCHEMA_VERSION:
        raise CortexMError(
            f"the .pte file has schema version {version}, only 0 is known",
            hint="write the file with ExecuTorch 1.x",
        )
    segments = _segments(root, view, segment_base)
    plan = _choose_plan(root, method)
    values = tuple(_values(plan, _Data(root, segments)))
    return PteProgram(
        method=plan.string(0),
        values=values,
        inputs=_indices(plan, 3, len(values), "an input"),
        outputs=_indices(plan, 4, len(values), "an output"),
        instructions=tuple(_instructions(plan, len(values))),
        delegates=tuple(printable(table.string(0)) for table in plan.tables(7)),
        named_data=tuple(
            (table.string(0), _at(segments, table.u32(1), "a segment")) for table in root.tables(7)
        ),
        file_size=len(view),
        planned_sizes=_planned_sizes(plan),
    )


def _extended_header(view: memoryview) -> tuple[int, int]:
    """Size of the flatbuffer and offset of the first segment (0 if there are no segments)."""
    if len(view) < 8 + _HEADER_MIN_LENGTH or view[8:12] != _HEADER_MAGIC:
        return len(view), 0
    length = int.from_bytes(view[12:16], "little")
    program_size = int.from_bytes(view[16:24], "little")
    segment_base = int.from_bytes(view[24:32], "little")
    if length < _HEADER_MIN_LENGTH or not 8 + length <= program_size <= len(view):
        raise damaged("its extended header does not fit the file")
    if segment_base and not program_size <= segment_base <= len(view):
        raise damaged("its segments do not begin behind the program")
    return program_size, segment_base


def _segments(root: Table, view: memoryview, base: int) -> tuple[memoryview, ...]:
    segments = []
    for table in root.tables(4):
        begin, size = base + table.u64(0), table.u64(1)
        # A program without constants has one empty segment and no extended header.
        if size and (not base or begin + size > len(view)):
            raise damaged("a data segment lies outside the file")
        segments.append(view[begin : begin + size] if size else view[:0])
    return tuple(segments)


def _choose_plan(root: Table, method: str | None) -> Table:
    plans = {plan.string(0): plan for plan in root.tables(1)}
    if not plans:
        raise damaged("it has no method")
    if method is None:
        method = next(iter(plans)) if len(plans) == 1 else "forward"
    if method not in plans:
        raise CortexMError(
            f"the .pte file has no method {method!r}", hint=did_you_mean(method, plans)
        )
    return plans[method]


def _at(items: tuple[memoryview, ...], index: int, what: str) -> memoryview:
    if not 0 <= index < len(items):
        raise damaged(f"{what} does not exist")
    return items[index]


def _indices(table: Table, number: int, count: int, what: str) -> tuple[int, ...]:
    items = table.scalars(number, "i")
    if any(not 0 <= item < count for item in items):
        raise damaged(f"{what} refers to a value that does not exist")
    return items


class _Data:
    """Where the data of tensors lies."""

    def __init__(self, root: Table, segments: tuple[memoryview, ...]) -> None:
        self._inline = tuple(table.raw(0) for table in root.tables(2))
        self._constants = _slices(root.table(5), segments)
        self._mutable = tuple(_slices(table, segments) for table in root.tables(6))

    def constant(self, index: int, nbytes: int) -> memoryview:
        return _first(_at(self._inline or self._constants, index, "a constant"), nbytes)

    def initial_state(self, segment: int, index: int, nbytes: int) -> memoryview:
        if not 0 <= segment < len(self._mutable):
            raise damaged("the data of a mutable tensor does not exist")
        return _first(_at(self._mutable[segment], index, "a mutable tensor's data"), nbytes)


def _first(data: memoryview, nbytes: int) -> memoryview:
    if len(data) < nbytes:
        raise damaged("a constant is larger than its data")
    return data[:nbytes]


def _slices(table: Table | None, segments: tuple[memoryview, ...]) -> tuple[memoryview, ...]:
    """From each offset into a segment to the segment's end."""
    offsets = table.scalars(1, "Q") if table is not None else ()
    if table is None or not offsets:
        return ()
    segment = _at(segments, table.u32(0), "a segment")
    if max(offsets) > len(segment):
        raise damaged("a constant lies outside its segment")
    return tuple(segment[offset:] for offset in offsets)


def _values(plan: Table, data: _Data) -> list[PteValue]:
    values: list[PteValue] = []
    for table in plan.tables(2):
        kind, content = table.u8(0), table.table(1)
        if content is None:
            raise damaged("a value has no content")
        values.append(_value(kind, content, data))
    for value in values:
        if isinstance(value, PteList):
            lowest = -1 if value.of_tensors else 0
            if any(not lowest <= item < len(values) for item in value.items):
                raise damaged("a list refers to a value that does not exist")
    return values


def _value(kind: int, table: Table, data: _Data) -> PteValue:
    """One value; `kind` is its number in the union KernelTypes."""
    match kind:
        case 1:
            return None
        case 2:
            return table.i64(0)
        case 3:
            return table.u8(0) != 0
        case 4:
            return table.f64(0)
        case 5:
            return _tensor(table, data)
        case 6:
            return table.string(0)
        case 7:
            return PteList(table.scalars(0, "q"), of_tensors=False)
        case 8:
            return PteFloats(table.scalars(0, "d"))
        case 9:
            return PteBools(tuple(item != 0 for item in table.scalars(0, "B")))
        case 10 | 11:
            return PteList(table.scalars(0, "i"), of_tensors=True, optional=kind == 11)
        case _:
            raise damaged(f"a value has the unknown type {kind}")


def _tensor(table: Table, data: _Data) -> PteTensor:
    extra = table.table(9)
    name = printable(extra.string(1)) if extra else ""
    if extra and extra.i8(2) != 0:
        raise CortexMError(
            f"the data of tensor {name!r} is kept outside of the .pte file",
            hint="make the program with its constants inside (no external .ptd file)",
        )
    number = table.i8(0)
    if number not in ScalarType.__members__.values():
        raise CortexMError(
            f"the .pte file uses the unsupported element type number {number}",
            hint="supported are integers, bool and float; complex and quantized tensors are not",
        )
    scalar_type = ScalarType(number)
    shape = table.scalars(2, "i")
    dim_order = table.scalars(3, "B")
    if table.i32(1) != 0:
        raise CortexMError("tensors with a storage offset are not supported")
    if len(shape) > _MAX_RANK or sorted(dim_order) != list(range(len(shape))):
        raise damaged("a tensor's dim order does not fit its shape")
    if any(extent < 0 for extent in shape):
        raise damaged("a tensor has a negative size")
    nbytes = math.prod(shape) * scalar_type.size
    if nbytes > _MAX_BYTES:
        raise damaged("a tensor is larger than 2 GiB")
    dynamism = table.i8(8)
    if dynamism not in (0, 1, 2):
        raise damaged("a tensor's shape dynamism is unknown")
    index = table.u32(5)
    allocation = table.table(6)
    content = None
    if index and allocation:
        content = data.initial_state(extra.u64(0) if extra else 0, index, nbytes)
    elif index:
        content = data.constant(index, nbytes)
    return PteTensor(
        scalar_type,
        shape,
        dim_order,
        Dynamism(dynamism),
        data=content,
        mutable=allocation is not None or not index,
        place=_place(allocation) if allocation else None,
        name=name,
    )


def _planned_sizes(plan: Table) -> tuple[int, ...]:
    """The sizes of the planned memory areas; the first entry of the file's list is reserved."""
    sizes = plan.scalars(8, "q")[1:]
    if any(not 0 <= size <= _MAX_BYTES for size in sizes):
        raise damaged("a planned memory area has an impossible size")
    return sizes


def _place(allocation: Table) -> tuple[int, int]:
    return allocation.u32(0), allocation.u32(1) | allocation.u32(2) << 32


def _instructions(plan: Table, value_count: int) -> list[PteInstruction]:
    names = []
    for table in plan.tables(6):
        name, overload = printable(table.string(0)), printable(table.string(1))
        if len(name) + len(overload) > _MAX_NAME:
            raise damaged("an operator has an overlong name")
        names.append(f"{name}.{overload}" if overload else name)
    chains = list(plan.tables(5))
    if len(chains) > 1:
        raise CortexMError(f"programs with several chains ({len(chains)}) are not supported")
    if not chains:
        raise damaged("the method has no instructions")
    kinds = list(InstructionKind)
    instructions = []
    for table in chains[0].tables(2):
        number, body = table.u8(0), table.table(1)
        if body is None or not 1 <= number <= len(kinds):
            raise damaged("an instruction has an unknown type")
        kind = kinds[number - 1]
        if kind is not InstructionKind.KERNEL:
            instructions.append(PteInstruction(kind))
            continue
        index = body.i32(0)
        if not 0 <= index < len(names):
            raise damaged("an instruction refers to an operator that does not exist")
        args = _indices(body, 1, value_count, "an instruction")
        instructions.append(PteInstruction(kind, names[index], args))
    return instructions
