# SPDX-License-Identifier: Apache-2.0
"""Sections and symbols of an ELF file (System V ABI, "Object Files" and "Symbol Table")."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import CortexMError

SHT_SYMTAB = 2
SHT_NOBITS = 8
SHF_WRITE = 1
SHF_ALLOC = 2
SHF_EXECINSTR = 4
_STT_FUNC, _STT_SECTION, _STT_FILE = 2, 3, 4
_EM_ARM = 40
_PT_LOAD = 1


@dataclass(frozen=True)
class Section:
    """A section header; `size` in bytes, `offset` in the file, `address` in memory."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    address: int = 0


@dataclass(frozen=True)
class Symbol:
    """A defined symbol.

    Attributes:
        section: index of its section.
        file: source file of a symbol that only its object file sees, as the compiler named it.
        is_function: it has the type of functions.
    """

    name: str
    size: int
    section: int
    address: int = 0
    file: str = ""
    is_function: bool = False


@dataclass(frozen=True)
class Elf:
    """What the accounting of sizes and stack needs of an object or image.

    Attributes:
        undefined: names that another object must define.
        is_arm: whether it holds code for Arm cores.
    """

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    undefined: tuple[str, ...] = ()
    is_arm: bool = False


def parse_elf(data: bytes, *, where: str = "") -> Elf:
    """Reads a 32- or 64-bit ELF file of either byte order.

    Raises:
        CortexMError: it is not an ELF file, or damaged.
    """
    try:
        return _parse(data)
    except (struct.error, IndexError, ValueError):
        raise CortexMError("is not an ELF file", where=where) from None


def _parse(data: bytes) -> Elf:
    if data[:4] != b"\x7fELF":
        raise ValueError("magic")
    wide = data[4] == 2
    order = "<" if data[5] == 1 else ">"
    if wide:
        (table,) = struct.unpack_from(order + "Q", data, 40)
        entry, count, names = struct.unpack_from(order + "HHH", data, 58)
        header, symbol = order + "IIQQQQII", order + "IBBHQQ"
    else:
        (table,) = struct.unpack_from(order + "I", data, 32)
        entry, count, names = struct.unpack_from(order + "HHH", data, 46)
        header, symbol = order + "IIIIIIII", order + "IIIBBH"
    if table + count * entry > len(data):
        raise ValueError("section headers")
    # name, type, flags, address, offset, size, link, info
    raw = [struct.unpack_from(header, data, table + i * entry) for i in range(count)]
    strings = raw[names][4]
    sections = tuple(
        Section(_text(data, strings + r[0]), r[1], r[2], r[4], r[5], r[6], r[3]) for r in raw
    )
    symbols: list[Symbol] = []
    undefined: list[str] = []
    file = ""
    for section in sections:
        if section.type != SHT_SYMTAB:
            continue
        strings = sections[section.link].offset
        step = struct.calcsize(symbol)
        for at in range(section.offset, section.offset + section.size, step):
            fields = struct.unpack_from(symbol, data, at)
            if wide:
                name, info, _, index, address, size = fields
            else:
                name, address, size, info, _, index = fields
            kind, is_local = info & 15, info >> 4 == 0
            if kind == _STT_FILE:
                file = _text(data, strings + name)
            elif index == 0 and name:
                undefined.append(_text(data, strings + name))
            elif 0 < index < count and kind != _STT_SECTION:
                text = _text(data, strings + name)
                place = file if is_local else ""
                symbols.append(Symbol(text, size, index, address, place, kind == _STT_FUNC))
    (machine,) = struct.unpack_from(order + "H", data, 18)
    return Elf(sections, tuple(symbols), tuple(undefined), machine == _EM_ARM)


@dataclass(frozen=True)
class Segment:
    """Bytes to load, and the address where they lie before the program runs."""

    address: int
    data: bytes


def load_segments(data: bytes, *, where: str = "") -> tuple[Segment, ...]:
    """What a loader writes to memory of a 32-bit little-endian image: its PT_LOAD entries with contents.

    Raises:
        CortexMError: it is not such a file, or damaged.
    """
    try:
        if data[:6] != b"\x7fELF\x01\x01":
            raise ValueError("magic")
        (table,) = struct.unpack_from("<I", data, 28)
        entry, count = struct.unpack_from("<HH", data, 42)
        found = []
        for number in range(count):
            kind, offset, _, address, size = struct.unpack_from("<5I", data, table + number * entry)
            if kind == _PT_LOAD and size:
                if offset + size > len(data):
                    raise ValueError("segment")
                found.append(Segment(address, data[offset : offset + size]))
    except (struct.error, ValueError):
        raise CortexMError("is not an image for a Cortex-M", where=where) from None
    return tuple(found)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")
