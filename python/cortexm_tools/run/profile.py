# SPDX-License-Identifier: Apache-2.0
"""Exact instruction counts per step and per function, with the counting plugin for QEMU."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import CortexMError
from ..target import Core, Isa
from .boards import boards_for, check_board
from .children import run_child
from .classes import mix_of
from .counts import Counts, read_counts
from .disassembly import disassemble, find_objdump
from .elf import SHF_EXECINSTR, Elf, parse_elf
from .emulator import run_image
from .image import DoesNotFit, Image, build_image, require_program
from .mapfile import flash_by_part, runner_functions
from .result import INPUTS, OUTPUTS, RunResult, pack_inputs, unpack_outputs
from .stack import StackBound, image_bounds, read_usage

_PLUGIN = Path(__file__).resolve().parent / "plugin" / "counter.c"
_MARKER = "cortexm_profile"


@dataclass(frozen=True)
class Profile:
    """Where the instructions of one inference go.

    Attributes:
        steps: instructions of each step of the plan; a step's share of the marks around it, some
            five instructions, is in it.
        functions: instructions by function over the whole run of one inference, largest first,
            without start-up and runner.
        mix: the same instructions by class (run/classes.py), for the estimate of cycles.
        stack: the bound of cortexm_invoke's stack; its measured depth is in `result`.
        result: outputs and sizes.
    """

    steps: tuple[int, ...]
    functions: tuple[tuple[str, int], ...]
    mix: dict[str, int]
    stack: StackBound
    result: RunResult


def profile_model(
    model_dir: Path,
    name: str,
    inputs: Sequence[bytes],
    work_dir: Path,
    *,
    core: Core,
    isa: Isa,
    board: str | None = None,
    step_count: int,
) -> Profile:
    """Runs one inference of a model that was compiled with profile marks.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    plugin = build_plugin(work_dir)
    image, place = _build(model_dir, name, work_dir, core, isa, board)
    folder = image.path.parent
    elf = parse_elf(image.path.read_bytes(), where=str(image.path))
    functions = _functions(elf)
    marker = next(start for found, start, _ in functions if found == _MARKER)
    counts = folder / "counts.txt"
    counts.unlink(missing_ok=True)
    (folder / OUTPUTS).unlink(missing_ok=True)
    (folder / INPUTS).write_bytes(pack_inputs([inputs]))
    arguments = f"{plugin},mark={marker:#x},out={counts}"
    console = run_image(place, image.path, folder, extra=("-plugin", arguments))
    if not counts.is_file():
        raise CortexMError(
            "this QEMU did not run the counting plugin", hint="it must be built with plugins"
        )
    (result,) = unpack_outputs(
        (folder / OUTPUTS).read_bytes(),
        [1],
        board=place,
        footprint=image.footprint,
        console=console,
    )
    text = (folder / "runner.map").read_text(encoding="utf-8", errors="replace")
    found = read_counts(counts.read_text())
    marks = found.marks
    if len(marks) != step_count + 1:
        raise CortexMError(f"{len(marks)} profile marks, expected {step_count + 1}", where=name)
    steps = tuple(after - before for before, after in zip(marks, marks[1:], strict=False))
    per_function = _per_function(found, functions, runner_functions(text, name))
    compiler = (folder / "compiler.txt").read_text(encoding="utf-8").split("\n")
    roots = ("runner_invoke", "cortexm_invoke")
    bounds = image_bounds(image.path, compiler, roots, model=name, usage=read_usage(folder))
    # What the runner takes around the call is its own: 8 bytes where the core has no tail calls.
    around = bounds["runner_invoke"].bytes - bounds["cortexm_invoke"].bytes
    result = replace(result, stack_bytes=result.stack_bytes - around)
    code = disassemble(find_objdump(compiler), image.path)
    mix = mix_of(code.instructions, found.instructions)
    return Profile(steps, per_function, mix, bounds["cortexm_invoke"], result)


def image_flash(
    model_dir: Path,
    name: str,
    work_dir: Path,
    *,
    core: Core,
    isa: Isa,
    board: str | None = None,
) -> dict[str, int]:
    """Bytes of flash by part of the runner's image around a model.

    Raises:
        CortexMError: a tool is missing, or the build fails.
    """
    image, _ = _build(model_dir, name, work_dir, core, isa, board)
    text = (image.path.parent / "runner.map").read_text(encoding="utf-8", errors="replace")
    return flash_by_part(text, name)


def build_plugin(folder: Path) -> Path:
    """Compiles the plugin with this machine's compiler."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder.resolve() / "counter.so"
    options = ["-O2", "-shared", "-fPIC", "-o", str(target), str(_PLUGIN)]
    done = run_child([require_program("cc"), *options])
    if done.returncode != 0:
        raise CortexMError("the counting plugin does not compile", hint=done.stderr.strip())
    return target


def _build(
    model_dir: Path, name: str, work_dir: Path, core: Core, isa: Isa, board: str | None
) -> tuple[Image, str]:
    places = (board,) if board is not None else boards_for(core)
    for place in places:
        check_board(place)
        folder = work_dir / f"profile-{place}-{core.value}-{isa.value}"
        try:
            return build_image(model_dir, [name], folder, board=place, core=core, isa=isa), place
        except DoesNotFit:
            if place == places[-1]:
                raise
    raise CortexMError(f"no emulated board runs {core.value}")


def _functions(elf: Elf) -> list[tuple[str, int, int]]:
    """Name, start and end of every function, sorted, the first name of each address."""
    found: dict[int, tuple[str, int]] = {}
    for symbol in elf.symbols:
        if symbol.size and elf.sections[symbol.section].flags & SHF_EXECINSTR:
            found.setdefault(symbol.address & ~1, (symbol.name, symbol.size))
    rows = sorted((start, name, size) for start, (name, size) in found.items())
    ends = [row[0] for row in rows[1:]] + [2**32]
    return [
        (name, start, min(start + size, end))
        for (start, name, size), end in zip(rows, ends, strict=True)
    ]


def _per_function(
    counts: Counts, functions: list[tuple[str, int, int]], others: set[str]
) -> tuple[tuple[str, int], ...]:
    """Instructions of the whole run by function, largest first, without those named in `others`."""
    starts = [start for _, start, _ in functions]
    sums: dict[int, int] = {}
    for address, executed in counts.instructions.items():
        index = bisect_right(starts, address) - 1
        if index >= 0 and address < functions[index][2]:
            sums[index] = sums.get(index, 0) + executed.count
    rows = [(functions[index][0], count) for index, count in sorted(sums.items())]
    own = [row for row in rows if row[0] not in others]
    return tuple(sorted(own, key=lambda row: -row[1]))
