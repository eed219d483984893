# SPDX-License-Identifier: Apache-2.0
"""The sources of a model: generated code, runtime, the kernels it calls, and what these include."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..compile import Compiled
from ..errors import CortexMError
from ..kernels.rows import expand, stamp, written
from ..paths import data_root
from ..target import CORES, Core

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+(?:\"([^\"]+)\"|(CORTEXM_\w+))", re.MULTILINE)
# Headers that a kernel names by its instruction set (kernels/src/common/stamp.h).
_ROUTINES = {"CORTEXM_ROUTINES": "common/{isa}.h", "CORTEXM_ROUTINES_WIDE": "common/wide/{isa}.h"}
_RUNTIME = ("model.c", "check.c", "reset.c", "status_text.c")


@dataclass(frozen=True)
class Source:
    """A C file to compile.

    Attributes:
        path: below the export's folder.
        options: of the compiler, behind the project's: optimization, and for kernels what keeps their
            arithmetic.
    """

    path: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """What every format has in common.

    Attributes:
        name: the model's, in C.
        core, isa: what it is planned for, in words.
        flags: what makes GCC and clang compile for the core; none for CPU any.
        files: texts by path.
        compiled: the C files among them.
    """

    name: str
    core: Core
    isa: str
    flags: tuple[str, ...]
    files: dict[str, str]
    compiled: tuple[Source, ...]


def collect(compiled: Compiled) -> Sources:
    """The files below ``src/``, which is the one folder that includes are looked for in.

    Raises:
        CortexMError: the model calls a kernel of another library, or its weights are apart.
    """
    name = compiled.program.name
    report = compiled.report
    core, isa = Core(report["target"]["cpu"]), report["target"]["isa"]
    if core is Core.HOST:
        raise CortexMError("an export is for a Cortex-M core", hint="name one with --cpu, or any")
    files: dict[str, str] = {}
    units: list[Source] = []
    for file, text in compiled.files.items():
        if file.endswith((".c", ".h")):
            assert isinstance(text, str)
            files[f"src/{file}"] = text
            if file.endswith(".c"):
                units.append(Source(f"src/{file}", ("-Os",)))
    folder = data_root()
    for file in _RUNTIME:
        files[f"src/runtime/{file}"] = (folder / "runtime" / file).read_text(encoding="utf-8")
        units.append(Source(f"src/runtime/{file}", ("-Os",)))
    kernels = folder / "kernels"
    table = json.loads((kernels / "kernels.json").read_text(encoding="utf-8"))
    rows = {f"cortexm_{row['name']}": row for row in expand(table["kernels"])}
    needed: list[tuple[str, str]] = [("cortexm/kernels.h", ""), ("cortexm/model.h", "")]
    for symbol in sorted(report["kernels"]):
        if symbol not in rows:
            raise CortexMError(
                f"{symbol} belongs to another library", where=name, hint="use --kernels builtin"
            )
        row = rows[symbol]
        path = f"src/kernels/{row['name']}.c"
        text = _kernel_text(row, table, kernels)
        files[path] = text
        own = row.get(report["optimize"], table["optimize"][report["optimize"]])
        units.append(Source(path, (own, *table["options"])))
        needed += [(file, row["isa"]) for file in _includes(text, row["isa"])]
    _add_headers(files, needed, folder)
    flags = () if core is Core.ANY else CORES[core].flags[compiled.plan.target.isa]
    return Sources(name, core, isa, flags, files, tuple(units))


def _kernel_text(row: dict[str, Any], table: dict[str, Any], kernels: Path) -> str:
    if "template" in row:
        return stamp(row, table)
    return (kernels / "src" / written(row)).read_text(encoding="utf-8")


def _includes(text: str, isa: str) -> list[str]:
    """The files of ours that a text includes, in a kernel of this instruction set."""
    return [
        file or _ROUTINES[macro].format(isa=isa)
        for file, macro in _INCLUDE.findall(text)
        if file or macro in _ROUTINES
    ]


def _add_headers(files: dict[str, str], needed: Iterable[tuple[str, str]], folder: Path) -> None:
    """Adds what `needed` names, and what that includes, one after another."""
    places = [folder / "kernels/src", folder / "kernels/include", folder / "runtime/include"]
    queue, seen = list(needed), set[tuple[str, str]]()
    while queue:
        file, isa = queue.pop()
        if (file, isa) in seen:
            continue
        seen.add((file, isa))
        found = next((place / file for place in places if (place / file).is_file()), None)
        if found is None:  # of the compiler, or there for some instruction sets only
            continue
        text = found.read_text(encoding="utf-8")
        files[str(PurePosixPath("src") / file)] = text
        queue += [(other, isa) for other in _includes(text, isa)]
