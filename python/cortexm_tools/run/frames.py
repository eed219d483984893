# SPDX-License-Identifier: Apache-2.0
"""How deep one function takes the stack, found by following the machine code.

Starting at an entry with depth 0, every path is followed through branches, also those that leave
the function (tail calls) and through tables of jumps; each instruction that moves the stack
pointer changes the depth. Calls are not followed but noted with the depth at which they happen.
Nothing is asked of the compiler, so this works for assembler and for the C library as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .disassembly import UNKNOWN, Code, Instruction

_LIMIT = 1 << 16  # no stack is deeper: a loop that pushes

_REGISTERS = re.compile(r"([rsdq])(\d+)(?:-[rsdq](\d+))?|(lr|pc|ip|fp|sl|sb)")
_WIDTH = {"r": 4, "s": 4, "d": 8, "q": 16}
_TABLES = {  # switch helpers of libgcc for ARMv6-M: bytes of an entry, and whether it has a sign
    "__gnu_thumb1_case_uqi": (1, False),
    "__gnu_thumb1_case_sqi": (1, True),
    "__gnu_thumb1_case_uhi": (2, False),
    "__gnu_thumb1_case_shi": (2, True),
}


class NotFollowed(Exception):
    """The code does something that this analysis does not understand; says what and where."""


@dataclass(frozen=True)
class Flow:
    """What can happen from an entry on.

    Attributes:
        depth: bytes of stack below the entry's, without callees.
        own: the same, only of the instructions inside the entry's own function.
        calls: address called, or None for a call through a register, and the depth at it; the
            third is where the call stands.
    """

    depth: int
    own: int
    calls: frozenset[tuple[int | None, int, int]]


def follow(code: Code, entry: int, extent: range, names: Mapping[int, str]) -> Flow:
    """The flow from `entry`.

    Args:
        extent: addresses of the entry's function.
        names: of all functions, by address.

    Raises:
        NotFollowed: an instruction is not understood.
    """
    depths: dict[int, int] = {}
    calls: set[tuple[int | None, int, int]] = set()
    work = [(entry, 0)]
    deepest = own = 0
    while work:
        address, depth = work.pop()
        if depths.get(address, -1) >= depth:
            continue
        if depth > _LIMIT:
            raise NotFollowed(f"a loop around {address:#x} pushes in every turn")
        instruction = code.instructions.get(address)
        if instruction is None:
            # After a call that does not return comes data, or nothing.
            continue
        depths[address] = depth
        growth = _growth(instruction)
        # What happens under a condition may not happen: the depth that is left is the safe one.
        after = max(depth + (0 if instruction.condition and growth < 0 else growth), 0)
        deepest = max(deepest, after)
        if address in extent:
            own = max(own, after)
        for target, call in _next(code, instruction, names):
            if call:
                calls.add((target, after, address))
            else:
                assert target is not None
                work.append((target, after))
    return Flow(deepest, own, frozenset(calls))


def _growth(instruction: Instruction) -> int:
    """By how many bytes the stack grows; negative if it shrinks."""
    name, operands = instruction.mnemonic, instruction.operands
    if name == UNKNOWN:
        raise NotFollowed(f"no instruction at {instruction.address:#x}")
    if name in ("push", "vpush"):
        return _bytes_of(operands)
    if name in ("pop", "vpop"):
        return -_bytes_of(operands)
    if not re.search(r"\bsp\b", operands):
        return 0
    first = operands.split(",")[0].strip()
    listed = re.match(r"(v?stmdb|vstmdb|stmfd|fstmdb\w*)$", name)
    if first == "sp!":
        size = _bytes_of(operands.partition("{")[2])
        if listed:
            return size
        if re.match(r"v?ldm(ia|fd)?$|fldmia\w*$", name):
            return -size
        raise NotFollowed(f"{name} {operands} at {instruction.address:#x}")
    if match := re.search(r"\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)", operands):
        return -int(match[1] or match[2])
    if first != "sp" or name.startswith("str"):  # what is stored is the address of a variable
        return 0
    if re.match(r"(ldm|stm)(ia)?$", name):  # registers from and to the frame
        return 0
    if name in ("add", "sub", "addw", "subw", "adds", "subs"):
        match = re.search(r"#(\d+)$", operands)
        source = operands.split(",")[1].strip()
        if match and (source == "sp" or source.startswith("#")):
            change = int(match[1])
            return change if name.startswith("sub") else -change
    raise NotFollowed(f"{name} {operands} at {instruction.address:#x}")


def _bytes_of(registers: str) -> int:
    total = 0
    for kind, first, last, _ in _REGISTERS.findall(registers):
        count = int(last) - int(first) + 1 if last else 1
        total += _WIDTH[kind] * count if kind else 4
    return total


def _next(
    code: Code, instruction: Instruction, names: Mapping[int, str]
) -> list[tuple[int | None, bool]]:
    """Where the flow goes, and whether that is a call (then it comes back)."""
    name, operands = instruction.mnemonic, instruction.operands
    after = instruction.address + instruction.size
    onward: list[tuple[int | None, bool]] = [(after, False)]
    maybe = onward if instruction.condition else []
    target = instruction.target
    if name == "bl":
        name = names.get(target, "") if target is not None else ""
        if name in _TABLES:
            return [(place, False) for place in _table(code, after, *_TABLES[name])]
        if not name:
            # On ARMv6-M a branch too far for `b`, or a subroutine inside a function: both are followed.
            return [(target, False), *onward]
        return [(target, True), *onward]
    if name == "blx":
        return [(None, True), *onward]
    if name == "b":
        return [(target, False), *maybe]
    if name in ("cbz", "cbnz", "wls", "le", "letp", "wlstp.8", "wlstp.16", "wlstp.32", "wlstp.64"):
        return [(target, False), *onward]
    if name == "bx":
        if operands == "lr" or _popped(code, instruction):
            return maybe
        return [(None, True), *maybe]
    if name in ("pop", "ldm", "ldmia", "ldmfd") and re.search(r"\bpc\b", operands):
        return maybe
    if name in ("tbb", "tbh"):
        size = 1 if name == "tbb" else 2
        return [(place, False) for place in _table(code, after, size, False)]
    if name in ("ldr", "mov") and re.match(r"pc\b", operands):
        # Back, or on to what the function has kept in its frame, as by ldm; both are deep enough already.
        if re.search(r"\[sp\b", operands) or operands.endswith("lr"):
            return maybe
        return _words(code, instruction, names)
    if re.match(r"pc\b", operands):
        raise NotFollowed(f"{name} {operands} at {instruction.address:#x}")
    if name in ("udf", "bkpt"):
        return []
    return onward


def _popped(code: Code, instruction: Instruction) -> bool:
    """Whether `bx rN` returns: ``pop {rN}`` stands right before it."""
    for back in (2, 4):
        before = code.instructions.get(instruction.address - back)
        if before is not None and before.size == back and before.mnemonic == "pop":
            return re.search(rf"\b{instruction.operands}\b", before.operands) is not None
    return False


def _table(code: Code, start: int, size: int, signed: bool) -> list[int]:
    """The targets of a table of offsets in halfwords that begins at `start`."""
    targets: list[int] = []
    place = start
    while (value := code.data(place, size)) is not None and place < min(targets, default=1 << 40):
        if signed and value >> (8 * size - 1):
            value -= 1 << (8 * size)
        if start + 2 * value in code.instructions:
            targets.append(start + 2 * value)
        place += size
    if not targets:
        raise NotFollowed(f"the table of jumps at {start:#x}")
    return targets


def _words(
    code: Code, instruction: Instruction, names: Mapping[int, str]
) -> list[tuple[int | None, bool]]:
    """The targets of a table of addresses: behind the jump, or where a literal before it points."""
    after = instruction.address + instruction.size
    starts = [(after + 3) & ~3]
    for back in range(2, 18, 2):
        before = code.instructions.get(instruction.address - back)
        if before is not None and (match := re.search(r"\[pc, #(\d+)\]", before.operands)):
            literal = code.data((before.address + 4 & ~3) + int(match[1]), 4)
            starts += [literal] if literal is not None else []
    home = _function(instruction.address, names)
    targets: list[int] = []
    for place in starts:
        while (value := code.data(place, 4)) is not None and value & ~1 in code.instructions:
            if _function(value & ~1, names) != home:
                break
            targets.append(value & ~1)
            place += 4
    if not targets:
        raise NotFollowed(f"the table of jumps at {instruction.address:#x}")
    return [(target, False) for target in targets]


def _function(address: int, names: Mapping[int, str]) -> int:
    return max((start for start in names if start <= address), default=0)
