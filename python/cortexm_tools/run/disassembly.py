# SPDX-License-Identifier: Apache-2.0
"""The instructions of a linked image, from binutils' disassembler.

The disassembler is asked of the compiler (``-print-prog-name=objdump``), so that it is the one that
knows the compiler's instruction set.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import CortexMError
from .children import run_child
from .elf import SHF_ALLOC, SHT_NOBITS, parse_elf

_MACHINE = "armv8.1-m.main"
_LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*(?:\t(\S+)(?:\t(.*))?)?$")
UNKNOWN = "<UNDEFINED>"  # the disassembler's word for codes it does not know
_DATA = re.compile(r"\.(word|short|byte|long|hword|inst)")
_COMMENT = re.compile(r"\s*[@;].*$")
_CONDITIONS = "eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le".split()
_FLOW = ("b", "bl", "blx", "bx", "pop", "push", "add", "sub", "ldr", "ldm", "ldmia", "ldmdb", "mov")


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        address, size: in bytes.
        mnemonic: without the width suffix and condition: ``ldm``, ``b``.
        condition: ``""`` if it is always executed.
        operands: as the disassembler prints them, without comments.
    """

    address: int
    size: int
    mnemonic: str
    operands: str
    condition: str = ""

    @property
    def target(self) -> int | None:
        """Where a direct branch or call goes."""
        last = self.operands.rpartition(",")[2].split("<")[0].strip()
        return int(last, 16) if re.fullmatch(r"[0-9a-f]+", last) else None


@dataclass(frozen=True)
class Code:
    """The code of an image: instructions by address, and what lies in its memory.

    `memory` holds the first address and the bytes of each section with contents.
    """

    instructions: dict[int, Instruction]
    memory: tuple[tuple[int, bytes], ...] = ()

    def data(self, address: int, size: int) -> int | None:
        """Little-endian data; None where an instruction or nothing lies."""
        if address in self.instructions:
            return None
        for start, content in self.memory:
            if start <= address and address + size <= start + len(content):
                return int.from_bytes(content[address - start : address - start + size], "little")
        return None


def find_objdump(compiler: Sequence[str]) -> str:
    """The disassembler that belongs to a compiler.

    Raises:
        CortexMError: there is none.
    """
    try:
        done = run_child([compiler[0], "-print-prog-name=objdump"])
        found = shutil.which(done.stdout.strip()) if done.returncode == 0 else None
    except OSError:
        found = None
    if found is None:
        raise CortexMError(
            f"no objdump belongs to {Path(compiler[0]).name}",
            hint="install binutils for the target (Debian: apt install binutils-arm-none-eabi)",
        )
    return found


def disassemble(objdump: str, image: Path) -> Code:
    """All code of a linked image.

    Raises:
        CortexMError: the disassembler fails.
    """
    command = [objdump, "-d", "-z", str(image)]
    # Named, or MVE is taken for coprocessor instructions; all other cores' code is part of it.
    done = run_child([*command, "-m", _MACHINE])
    if done.returncode != 0:  # too old to know the name
        done = run_child(command)
    if done.returncode != 0:
        raise CortexMError("the disassembly failed", where=str(image), hint=done.stderr.strip())
    content = image.read_bytes()
    elf = parse_elf(content, where=str(image))
    memory = tuple(
        (section.address, content[section.offset : section.offset + section.size])
        for section in elf.sections
        if section.flags & SHF_ALLOC and section.type != SHT_NOBITS
    )
    return Code(parse_disassembly(done.stdout), memory)


def parse_disassembly(text: str) -> dict[int, Instruction]:
    """The output of ``objdump -d``: instructions by address."""
    instructions: dict[int, Instruction] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        address, codes, mnemonic = int(match[1], 16), match[2].split(), match[3] or UNKNOWN
        size = sum(len(code) // 2 for code in codes)
        if _DATA.fullmatch(mnemonic):
            continue
        name, condition = split_mnemonic(mnemonic)
        operands = _COMMENT.sub("", match[4] or "").strip()
        instructions[address] = Instruction(address, size, name, operands, condition)
    return instructions


def split_mnemonic(word: str) -> tuple[str, str]:
    """``bne.n`` is ``b`` under the condition ``ne``.

    Only the mnemonics that move the flow or the stack pointer are looked into; other words keep
    what they end in.
    """
    name = re.sub(r"\.[nw]$", "", word)
    for base in _FLOW:
        rest = name[len(base) :]
        if name.startswith(base) and rest in _CONDITIONS:
            return base, rest
    return name, ""
