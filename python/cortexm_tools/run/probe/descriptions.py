# SPDX-License-Identifier: Apache-2.0
"""What GDB servers say of a chip in XML: memories that are erased in blocks, and numbers of registers.

It is parsed as GDB does it: by expat without namespaces, as QEMU declares none. What stands before damage
counts, and an entity, of which no server has any, is damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

_MOST_FLASH = 64  # memories of a chip
_ADDRESSES = 1 << 32


@dataclass(frozen=True)
class Flash:
    """A memory that is erased in blocks before it is written."""

    start: int
    length: int
    block: int

    def overlaps(self, start: int, end: int) -> bool:
        return start < self.start + self.length and self.start < end


@dataclass
class Element:
    """A tag, with the text behind it up to the next one."""

    tag: str
    attributes: dict[str, str]
    text: list[str] = field(default_factory=list)


def elements(document: bytes) -> list[Element]:
    """The elements in the order in which they begin."""
    found: list[Element] = []

    def data(text: str) -> None:
        if found:
            found[-1].text.append(text)

    def refuse(*declared: object) -> None:
        raise expat.ExpatError

    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: found.append(Element(tag, attributes))
    parser.CharacterDataHandler = data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(document, True)
    except expat.ExpatError:
        pass
    return found


def included(description: Sequence[Element]) -> list[str]:
    """The files that a description includes."""
    names = [e.attributes.get("href", "") for e in description if e.tag == "xi:include"]
    return [name for name in names if re.fullmatch(r"[\w.+-]{1,80}", name)]


def register_numbers(description: Iterable[Element]) -> dict[str, int]:
    """Numbers of registers by their names: the given one, or that behind the one before."""
    found: dict[str, int] = {}
    number = 0
    for element in description:
        if element.tag == "reg":
            given = element.attributes.get("regnum", "")
            number = int(given) if re.fullmatch(r"[0-9]{1,5}", given) else number
            found.setdefault(element.attributes.get("name", "").lower(), number)
            number += 1
    return found


def flash_of(memory_map: Iterable[Element]) -> tuple[Flash, ...]:
    """The memories that are erased in blocks."""
    found: list[Flash] = []
    memory: dict[str, str] = {}
    for element in memory_map:
        if element.tag == "memory":
            memory = element.attributes
        elif element.tag != "property" or element.attributes.get("name") != "blocksize":
            continue
        elif memory.get("type") == "flash" and len(found) < _MOST_FLASH:
            words = memory.get("start", ""), memory.get("length", ""), "".join(element.text)
            try:
                start, length, block = (int(word, 0) for word in words)
            except ValueError:
                continue
            if 0 <= start < start + length <= _ADDRESSES and 0 < block:
                found.append(Flash(start, length, block))
    return tuple(found)
