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
_STT_SECTION, _STT_FILE = 3, 4


@dataclass(frozen=True)
class Section:
    """A section header; `size` in bytes."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Symbol:
    """A defined symbol, its address and the index of its section."""

    name: str
    size: int
    section: int
    address: int = 0


@dataclass(frozen=True)
class Elf:
    """What the size accounting needs of an object or image."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]


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
        Section(_text(data, strings + r[0]), r[1], r[2], r[4], r[5], r[6]) for r in raw
    )
    symbols: list[Symbol] = []
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
            if 0 < index < count and info & 15 not in (_STT_SECTION, _STT_FILE):
                symbols.append(Symbol(_text(data, strings + name), size, index, address))
    return Elf(sections, tuple(symbols))


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")
