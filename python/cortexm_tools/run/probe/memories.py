# SPDX-License-Identifier: Apache-2.0
"""Where an image lies on a chip: ``--memory``, a linker script of the user's, and what follows from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ...documents import read_text
from ...errors import CortexMError, did_you_mean
from ...options.sizes import parse_size

NAMES = ("flash", "code", "ram", "fast", "weights")
_EXAMPLE = "flash=0x08000000:512K,ram=0x20000000:128K"
_STACK = 4096


@dataclass(frozen=True)
class Memory:
    """A memory: what it is for, first address and bytes."""

    name: str
    origin: int
    length: int


def parse_memory(text: str, where: str = "--memory") -> tuple[Memory, ...]:
    """Reads ``flash=0x08000000:512K,ram=0x20000000:128K``.

    Raises:
        CortexMError: a word is not of this form, or they do not make a machine.
    """
    found: list[Memory] = []
    for word in re.split(r"[,\s]+", text.strip()):
        name, equals, rest = word.partition("=")
        origin, colon, size = rest.partition(":")
        if not equals or not colon:
            raise CortexMError(
                f"{word!r} is not NAME=ADDRESS:SIZE", where=where, hint=f"for example {_EXAMPLE}"
            )
        if name not in NAMES:
            raise CortexMError(
                f"unknown memory {name!r}", where=where, hint=did_you_mean(name, NAMES)
            )
        try:
            start = int(origin, 0)
        except ValueError:
            raise CortexMError(
                f"{origin!r} is not an address", where=where, hint="write 0x08000000"
            ) from None
        length = parse_size(size, where)
        if start < 0 or not length or start + length > 1 << 32:
            raise CortexMError(f"{word!r} does not lie in 32 bits of addresses", where=where)
        if any(other.name == name for other in found):
            raise CortexMError(f"memory {name!r} is given twice", where=where)
        for other in found:
            if start < other.origin + other.length and other.origin < start + length:
                raise CortexMError(f"memories {other.name!r} and {name!r} overlap", where=where)
        found.append(Memory(name, start, length))
    names = {memory.name for memory in found}
    if "ram" not in names:
        raise CortexMError("there is no memory 'ram'", where=where, hint=f"for example {_EXAMPLE}")
    if {"flash", "code"} <= names:
        raise CortexMError("'flash' and 'code' are two words for one thing", where=where)
    return tuple(found)


def linker_script(memories: tuple[Memory, ...]) -> str:
    """The script for them, which includes boards/common/sections.ld."""
    names = {memory.name: memory.name.upper() for memory in memories}
    code = names.get("flash") or names.get("code") or names["ram"]
    ram = names["ram"]
    regions = {
        **dict.fromkeys(("VECTORS", "TEXT", "RODATA"), code),
        "WEIGHTS": names.get("weights", code),
        **dict.fromkeys(("DATA", "BSS", "ARENA"), ram),
        "FAST": names.get("fast", ram),
    }
    smallest = min(memory.length for memory in memories if memory.name == "ram")
    lines = ["/* Written by cortexm from --memory or boards/silicon.json. */", "MEMORY", "{"]
    for memory in memories:
        lines.append(
            f"    CHIP_{memory.name.upper()} (rwx) : ORIGIN = {memory.origin:#010x}, "
            f"LENGTH = {memory.length}"
        )
    lines.append("}")
    lines += [f'REGION_ALIAS("{alias}", CHIP_{name})' for alias, name in regions.items()]
    lines.append(f"BOARD_STACK_SIZE = {min(_STACK, smallest // 8)};")
    return "\n".join([*lines, "INCLUDE sections.ld", ""])


# Of tokens with a blank between them. No part can match at many places of one word: that would take a time
# that grows with the square of its length.
_TOKEN = re.compile(r"\w+|[^\w\s]")
_REGION = re.compile(
    r"\b\w+ (?:\( ([\w! ]*) \) )?: (?:ORIGIN|org|o) = (\w+) , (?:LENGTH|len|l) = (\w+?)([KM]?)\b",
    re.IGNORECASE,
)


def read_linker_script(path: Path) -> tuple[Memory, ...] | None:
    """The memories of a vendor's linker script; None for one that includes sections.ld, to be used as
    it is.

    Raises:
        CortexMError: it cannot be read, or says nothing of memories.
    """
    text = read_text(path)
    before, *comments = text.split("/*")
    text = " ".join([before, *(comment.partition("*/")[2] for comment in comments)])
    if re.search(r"INCLUDE\s+\"?sections\.ld", text):
        return None
    begin = re.search(r"\bMEMORY\s*\{", text)
    block = text[begin.end() :].partition("}")[0] if begin else ""
    flash: list[Memory] = []
    ram: list[Memory] = []
    for attributes, origin, length, unit in _REGION.findall(" ".join(_TOKEN.findall(block))):
        size = _number(length, path) * {"": 1, "k": 1 << 10, "m": 1 << 20}[unit.lower()]
        writable = "w" in attributes.lower()
        (ram if writable else flash).append(Memory("", _number(origin, path), size))
    if not ram:
        raise CortexMError(
            "has no MEMORY block with an address and a length of writable memory",
            where=str(path),
            hint=f"say where the memories are: --memory {_EXAMPLE}",
        )
    largest = max(ram, key=lambda memory: memory.length)
    words = [f"ram={largest.origin:#x}:{largest.length}"]
    if flash:
        first = max(flash, key=lambda memory: memory.length)
        words.insert(0, f"flash={first.origin:#x}:{first.length}")
    return parse_memory(",".join(words), str(path))


def _number(text: str, path: Path) -> int:
    """A number of a linker script: as in C."""
    try:
        return int(text, 8 if re.match("0[0-7]", text) else 0)
    except ValueError:
        raise CortexMError(f"{text[:40]!r} is no number", where=str(path)) from None
