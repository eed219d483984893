# SPDX-License-Identifier: Apache-2.0
"""A small FlatBuffers reader that trusts nothing.

Every offset and length is checked against the buffer before it is used, and what is decoded is
charged to a budget proportional to the buffer's size, so that tables that share vectors cannot make
a small file expensive. Format: https://flatbuffers.dev/internals/ (little endian; offsets to
objects are unsigned and relative to where they are stored; a table starts with a signed distance
back to its vtable).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .errors import CortexMError

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_SCALARS = {code: struct.Struct("<" + code) for code in "bBhHiIqQfd"}

# Elements that may be decoded per byte of the buffer. A file without sharing needs less than one.
_BUDGET_PER_BYTE = 4


@dataclass(frozen=True)
class Format:
    """What a buffer holds, for messages.

    Attributes:
        suffix: of such files.
        writer: the tool to write one again with.
    """

    suffix: str
    writer: str

    def damaged(self, what: str) -> CortexMError:
        """The error for bytes that break the format."""
        return CortexMError(
            f"the {self.suffix} file is damaged: {what}",
            hint=f"write the file again with {self.writer}",
        )


class Buffer:
    """Bytes with checked access and a budget of elements to decode."""

    def __init__(self, data: bytes | memoryview, holds: Format) -> None:
        self.data = memoryview(data)
        self.damaged = holds.damaged
        self._size = len(self.data)
        self._left = _BUDGET_PER_BYTE * self._size + 4096

    def check(self, pos: int, size: int, what: str) -> None:
        """Raises CortexMError unless [pos, pos + size) lies in the buffer."""
        if pos < 0 or size < 0 or pos + size > self._size:
            raise self.damaged(f"{what} lies outside the file")

    def spend(self, count: int) -> None:
        """Charges `count` decoded elements."""
        self._left -= count
        if self._left < 0:
            raise self.damaged("its tables refer to far more data than the file holds")

    def read(self, form: struct.Struct, pos: int, what: str) -> Any:
        if pos < 0 or pos + form.size > self._size:
            self.check(pos, form.size, what)
        return form.unpack_from(self.data, pos)[0]

    def follow(self, pos: int, what: str) -> int:
        """The position that the offset stored at `pos` points to."""
        target: int = pos + self.read(_U32, pos, what)
        if target + 4 > self._size:
            self.check(target, 4, what)
        return target

    def root(self) -> Table:
        """The root table."""
        return Table(self, self.follow(0, "the root table"))


class Table:
    """One table. Fields are addressed by their number in the schema; an absent one has its default.

    Every accessor raises CortexMError if the field does not lie in the buffer.
    """

    def __init__(self, buffer: Buffer, pos: int) -> None:
        buffer.spend(1)
        self._buffer = buffer
        self._pos = pos
        self._vtable = pos - buffer.read(_I32, pos, "a table")
        self._vtable_size = buffer.read(_U16, self._vtable, "a vtable")
        buffer.check(self._vtable, self._vtable_size, "a vtable")
        if self._vtable_size < 4:
            raise buffer.damaged("a vtable is too short")

    def _field(self, number: int) -> int:
        """The position of a field, or 0 if it is absent."""
        slot = 4 + 2 * number
        if slot + 2 > self._vtable_size:
            return 0
        offset: int = _U16.unpack_from(self._buffer.data, self._vtable + slot)[0]  # was checked
        return self._pos + offset if offset else 0

    def has(self, number: int) -> bool:
        return self._field(number) != 0

    def scalar(self, number: int, code: str, default: Any) -> Any:
        """A number; `code` is its struct format character."""
        pos = self._field(number)
        return self._buffer.read(_SCALARS[code], pos, "a field") if pos else default

    def i8(self, number: int, default: int = 0) -> int:
        return int(self.scalar(number, "b", default))

    def u8(self, number: int, default: int = 0) -> int:
        return int(self.scalar(number, "B", default))

    def i32(self, number: int, default: int = 0) -> int:
        return int(self.scalar(number, "i", default))

    def u32(self, number: int, default: int = 0) -> int:
        return int(self.scalar(number, "I", default))

    def i64(self, number: int, default: int = 0) -> int:
        return int(self.scalar(number, "q", default))

    def u64(self, number: int, default: int = 0) -> int:
        return int(self.scalar(number, "Q", default))

    def f64(self, number: int, default: float = 0.0) -> float:
        return float(self.scalar(number, "d", default))

    def table(self, number: int) -> Table | None:
        """A subtable; also the value of a union, whose type is the field before it."""
        pos = self._field(number)
        return Table(self._buffer, self._buffer.follow(pos, "a table")) if pos else None

    def _vector(self, number: int, item_size: int) -> tuple[int, int]:
        """Position of the first element, and the number of elements."""
        pos = self._field(number)
        if not pos:
            return 0, 0
        start = self._buffer.follow(pos, "a vector")
        count = self._buffer.read(_U32, start, "a vector")
        self._buffer.check(start + 4, count * item_size, "a vector")
        return start + 4, count

    def scalars(self, number: int, code: str) -> tuple[Any, ...]:
        """A vector of numbers; `code` is their struct format character."""
        start, count = self._vector(number, struct.calcsize("<" + code))
        self._buffer.spend(count)
        return struct.unpack_from(f"<{count}{code}", self._buffer.data, start)

    def raw(self, number: int) -> memoryview:
        """A vector of bytes, not copied."""
        start, count = self._vector(number, 1)
        return self._buffer.data[start : start + count]

    def tables(self, number: int) -> Iterator[Table]:
        """The elements of a vector of tables."""
        start, count = self._vector(number, 4)
        self._buffer.spend(count)
        for index in range(count):
            yield Table(self._buffer, self._buffer.follow(start + 4 * index, "a table"))

    def string(self, number: int) -> str:
        data = self.raw(number)
        self._buffer.spend(len(data))
        try:
            return bytes(data).decode("utf-8")
        except UnicodeDecodeError:
            raise self._buffer.damaged("a string is not UTF-8") from None
