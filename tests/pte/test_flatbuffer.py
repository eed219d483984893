# SPDX-License-Identifier: Apache-2.0
"""The FlatBuffers reader, on buffers put together by hand."""

from __future__ import annotations

import struct

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.flatbuffer import Buffer, Table
from cortexm_tools.pte.values import PTE


def table_at(fields: bytes, slots: list[int], tail: bytes = b"") -> bytes:
    """A buffer: root offset, vtable with `slots`, table with `fields`, `tail`."""
    vtable = struct.pack(f"<HH{len(slots)}H", 4 + 2 * len(slots), 4 + len(fields), *slots)
    vtable += bytes(-len(vtable) % 4)
    table = 4 + len(vtable)
    return struct.pack("<I", table) + vtable + struct.pack("<i", len(vtable)) + fields + tail


def root(data: bytes) -> Table:
    return Buffer(data, PTE).root()


def test_scalars_and_defaults() -> None:
    fields = struct.pack("<bxxxiq", -3, -70000, -(2**40))
    table = root(table_at(fields, [4, 8, 12, 0]))
    assert (table.i8(0), table.i32(1), table.i64(2)) == (-3, -70000, -(2**40))
    assert table.u8(0) == 253
    assert (table.i32(3, 7), table.i32(9, 8)) == (7, 8)
    assert table.has(0) and not table.has(3) and not table.has(99)
    assert table.f64(3, 0.5) == 0.5


def test_vectors_and_strings() -> None:
    # Two offset fields; the vector begins right behind them, the string behind the vector.
    tail = struct.pack("<Iiii", 3, 1, -2, 3) + struct.pack("<I", 2) + b"hi\0\0"
    table = root(table_at(struct.pack("<II", 8, 20), [4, 8], tail))
    assert table.scalars(0, "i") == (1, -2, 3)
    assert table.string(1) == "hi"
    assert table.scalars(5, "i") == () and table.string(5) == ""


@pytest.mark.parametrize("offset", [9, 1000, 2**31, 2**32 - 1])
def test_offsets_outside_of_the_buffer(offset: int) -> None:
    table = root(table_at(struct.pack("<I", offset), [4], bytes(8)))
    for access in (table.table, table.string, table.raw, lambda n: table.scalars(n, "i")):
        with pytest.raises(CortexMError, match="damaged"):
            access(0)


@pytest.mark.parametrize("count", [3, 2**31, 2**32 - 1])
def test_a_hostile_count_allocates_nothing(count: int) -> None:
    table = root(table_at(struct.pack("<I", 4), [4], struct.pack("<I", count) + bytes(8)))
    for read in (lambda: table.scalars(0, "i"), lambda: list(table.tables(0))):
        with pytest.raises(CortexMError, match="damaged"):
            read()


def test_a_vtable_outside_of_the_buffer() -> None:
    for distance in (-(2**31), 2**31 - 1, 100, -100):
        with pytest.raises(CortexMError, match="damaged"):
            root(struct.pack("<Ii", 4, distance) + bytes(8))


def test_shared_vectors_are_charged_each_time() -> None:
    """A table that is read again and again cannot cost more than the file's size allows."""
    tail = struct.pack("<I", 1000) + bytes(4000)
    table = root(table_at(struct.pack("<I", 4), [4], tail))
    with pytest.raises(CortexMError, match="more data than the file holds"):
        for _ in range(100):
            table.scalars(0, "i")
