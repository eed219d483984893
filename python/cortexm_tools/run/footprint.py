# SPDX-License-Identifier: Apache-2.0
"""Exact flash and RAM of a model with the kernels it uses.

The sizes come from a trial link: the model's archive with the kernel library and the C library, all
sections dropped that the model and four functions of cortexm/model.h (`_API`) do not reach. An
application that links several models shares kernels between them, so the sum of footprints is an
upper bound there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..emit.cwriter import c_comment
from ..errors import CortexMError
from ..report.tables import table
from .children import run_child
from .elf import SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, Elf, Section, Symbol, parse_elf
from .stack import path_text, trial_bound, usage_of

_API = ("cortexm_init", "cortexm_invoke", "cortexm_input", "cortexm_output")
_SHARED = "cortexm_arena_"  # how the names of arenas begin that models share
_LARGEST = 12

# Bytes of a model's arena by memory region; that with inputs and outputs has no name here.
Shares = Mapping[str, int]


@dataclass(frozen=True)
class Footprint:
    """Bytes by kind.

    Attributes:
        code: machine code.
        constants: read-only data.
        data: initialised variables: in RAM, with their initial values in flash.
        bss: other variables, without the arena.
        arena: the model's own arena, or what it takes of a shared one; 0 if the caller provides it.
        largest: name, kind and bytes of the symbols that take most, largest first.
        stack: bytes of stack that cortexm_init and cortexm_invoke cannot exceed (run/stack.py); None
            if not known.
        stack_note: the deepest chain of calls, or why the bound is not known; empty for a host.
        shared_arena: the whole of the arena that the model shares; 0 if it shares none.
    """

    code: int
    constants: int
    data: int
    bss: int
    arena: int
    largest: tuple[tuple[str, str, int], ...] = ()
    stack: int | None = None
    stack_note: str = ""
    shared_arena: int = 0

    @property
    def flash(self) -> int:
        return self.code + self.constants + self.data

    @property
    def ram(self) -> int:
        """Without stack."""
        return self.data + self.bss + self.arena


def footprint_of(elf: Elf, name: str, *, shares: Shares | None = None) -> Footprint:
    """Adds up the sections of a linked object.

    Args:
        name: the model's.
        shares: what the model takes of arenas that it shares; default: all of them.
    """
    total = dict.fromkeys(("code", "constants", "data", "bss"), 0)
    kinds = [_kind(section) for section in elf.sections]
    for section, kind in zip(elf.sections, kinds, strict=True):
        if kind:
            total[kind] += section.size
    sizes: dict[tuple[str, str], int] = {}
    arena = shared = beyond = 0
    for symbol in _first_names(elf):
        kind = kinds[symbol.section]
        if not kind or not symbol.size:
            continue
        size = symbol.size
        if kind == "bss" and symbol.name.startswith((f"{name}_own_arena", _SHARED)):
            kind = "arena"
            if symbol.name.startswith(_SHARED):
                shared += size
                region = symbol.name.removeprefix(_SHARED).partition("__")[2]
                size = size if shares is None else min(size, shares.get(region, 0))
                beyond += symbol.size - size
            arena += size
        sizes[symbol.name, kind] = sizes.get((symbol.name, kind), 0) + size
    largest = sorted(((n, k, size) for (n, k), size in sizes.items()), key=lambda r: (-r[2], r))
    # The arena's padding, if any, stays with the other variables.
    in_bss = min(arena + beyond, total["bss"])
    return Footprint(
        total["code"],
        total["constants"],
        total["data"],
        total["bss"] - in_bss,
        arena,
        tuple(largest),
        shared_arena=shared,
    )


def _first_names(elf: Elf) -> list[Symbol]:
    """The symbols, of those that name one place the first: arenas and constants have further names
    (emit/arenas.py, emit/ties.py)."""
    found: dict[tuple[int, int, int], Symbol] = {}
    for symbol in elf.symbols:
        place = (symbol.section, symbol.address, symbol.size)
        if place not in found or symbol.name < found[place].name:
            found[place] = symbol
    return list(found.values())


def _kind(section: Section) -> str:
    if not section.flags & SHF_ALLOC:
        return ""
    if section.flags & SHF_EXECINSTR:
        return "code"
    if not section.flags & SHF_WRITE:
        return "constants"
    return "bss" if section.type == SHT_NOBITS else "data"


def measure(
    compiler: Sequence[str],
    archives: Sequence[Path],
    name: str,
    *,
    shares: Shares | None = None,
) -> Footprint:
    """Links the model `name` and adds up what is there.

    Args:
        compiler: the C compiler with the options that select the core.
        archives: static libraries: the model's, the runtime, the kernels.
        shares: see `footprint_of`.

    Raises:
        CortexMError: the link fails.
    """
    roots = [f"-Wl,-u,{symbol}" for symbol in (name, f"{name}_pte", *_API)]
    options = [*compiler, "-r", "-nostdlib", "-Wl,--gc-sections", *roots]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "footprint.o"
        inputs = [
            "-Wl,--start-group",
            *map(str, archives),
            *_libraries(compiler),
            "-Wl,--end-group",
        ]
        command = [*options, "-o", str(output), *inputs]
        done = run_child(command)
        if done.returncode != 0:
            raise CortexMError(
                "the trial link for the memory summary failed",
                where=name,
                hint=done.stderr.strip() or f"{compiler[0]} gave status {done.returncode}",
            )
        elf = parse_elf(output.read_bytes(), where=str(output))
        size = footprint_of(elf, name, shares=shares)
        if not elf.is_arm:
            return size
        try:
            bound = trial_bound(output, elf, compiler, name, usage_of(archives))
        except CortexMError as error:
            return replace(size, stack_note=error.message)
    return replace(size, stack=bound.bytes, stack_note=path_text(bound))


def _libraries(compiler: Sequence[str]) -> list[str]:
    """The C library, where it is a static one that would be linked into the image."""
    if "none-eabi" not in Path(compiler[0]).name:
        return []
    nano = any("nano.specs" in option for option in compiler)
    return ["-lc_nano" if nano else "-lc", "-lm", "-lgcc"]


def shares_of(report: Mapping[str, Any]) -> Shares:
    """What a model takes of each memory, from its NAME.report.json."""
    rams = [region for region in report["regions"] if region["kind"] != "weights"]
    if not rams:
        return {"": report["arena_bytes"]}
    return {"": rams[0]["bytes"], **{region["name"]: region["bytes"] for region in rams[1:]}}


def summary_text(name: str, size: Footprint) -> str:
    """The few lines of the build's output."""
    if size.stack is not None:
        stack = f"\n{name}: stack {size.stack:,} B at most, in {size.stack_note}"
    else:
        stack = f"\n{name}: stack not known: {size.stack_note}" if size.stack_note else ""
    own = f"{size.arena:,} B arena" if size.arena else "arena by the caller"
    if size.shared_arena:
        own = f"{size.arena:,} B of the {size.shared_arena:,} B of a shared arena"
    return (
        f"{name}: flash {size.flash:,} B ({size.code:,} B code, "
        f"{size.constants + size.data:,} B constants)\n"
        f"{name}: RAM   {size.ram:,} B ({own}, {size.data + size.bss:,} B variables; without stack)"
        f"{stack}"
    )


def stack_header(name: str, size: Footprint) -> str:
    """NAME_stack.h, which NAME.h includes: the bound as a macro, which is not there if it is not known."""
    note = size.stack_note or "not known: this is not a program for Arm"
    bound = "" if size.stack is None else f"#define {name.upper()}_STACK_SIZE {size.stack}\n"
    return (
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Generated by cortexm from the machine code:\n"
        f" * {c_comment(note)} */\n{bound}"
    )


def check_footprint(
    name: str, size: Footprint, ram_limit: int | None, flash_limit: int | None
) -> None:
    """Raises a CortexMError with a table of what takes the space if a limit is exceeded."""
    for limit, used, what, kinds in (
        (flash_limit, size.flash, "FLASH_LIMIT", ("code", "constants", "data")),
        (ram_limit, size.ram, "RAM_LIMIT", ("data", "bss", "arena")),
    ):
        if limit is None or used <= limit:
            continue
        rows = [(n, bytes_, kind) for n, kind, bytes_ in size.largest if kind in kinds][:_LARGEST]
        memory = "flash" if what == "FLASH_LIMIT" else "RAM"
        raise CortexMError(
            f"{used:,} bytes of {memory} exceed {what} {limit:,}\n"
            + table(("symbol", "bytes", "kind"), rows),
            where=name,
            hint=f"make the largest smaller, or raise {what}; "
            "NAME.report.json has the sizes by layer".replace("NAME", name),
        )


def to_json(size: Footprint) -> str:
    """The contents of NAME.footprint.json."""
    entry = {**asdict(size), "flash": size.flash, "ram": size.ram}
    entry["largest"] = [
        {"symbol": n, "kind": kind, "bytes": count} for n, kind, count in size.largest[:_LARGEST]
    ]
    return json.dumps(entry, indent=2) + "\n"
