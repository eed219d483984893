# SPDX-License-Identifier: Apache-2.0
"""The sources of a model: generated code, runtime, the kernels it calls, and what these include."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..compile import Compiled
from ..errors import CortexMError
from ..kernels.rows import expand, stamp, written
from ..paths import data_root
from ..target import CORES, Core
from .includes import Kernel

_RUNTIME = ("model.c", "check.c", "nms.c", "reset.c", "status_text.c")
_APART = ("weights.c",)  # for weights in an image of their own


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
        image: the weights as an image of their own, and what another has to be, by path (`WEIGHTS
            partition`); empty where they are among the sources.
        url: where the library is published, if the user says so.
    """

    name: str
    core: Core
    isa: str
    flags: tuple[str, ...]
    files: dict[str, str]
    compiled: tuple[Source, ...]
    image: dict[str, str | bytes]
    url: str = ""


def collect(compiled: Compiled) -> Sources:
    """The files below ``src/``, which is the one folder that includes are looked for in.

    Raises:
        CortexMError: the model calls a kernel of another library.
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
    image = {
        f"weights/{file}": content
        for file, content in compiled.files.items()
        if file in (f"{name}.weights.bin", f"{name}.weights.json")
    }
    for file in _RUNTIME + _APART * bool(image):
        files[f"src/runtime/{file}"] = (folder / "runtime" / file).read_text(encoding="utf-8")
        units.append(Source(f"src/runtime/{file}", ("-Os",)))
    kernels = folder / "kernels"
    table = json.loads((kernels / "kernels.json").read_text(encoding="utf-8"))
    rows = {f"cortexm_{row['name']}": row for row in expand(table["kernels"])}
    headers = ("cortexm/kernels.h", "cortexm/model.h", "cortexm/nms.h")
    needed = [(header, Kernel("")) for header in headers]
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
        kernel = Kernel.of(row)
        needed += [(file, kernel) for file in kernel.included(text)]
    _add_headers(files, needed, folder)
    flags = () if core is Core.ANY else CORES[core].flags[compiled.plan.target.isa]
    return Sources(name, core, isa, flags, files, tuple(units), image)


def _kernel_text(row: dict[str, Any], table: dict[str, Any], kernels: Path) -> str:
    if "template" in row:
        return stamp(row, table)
    return (kernels / "src" / written(row)).read_text(encoding="utf-8")


def _add_headers(files: dict[str, str], needed: Iterable[tuple[str, Kernel]], folder: Path) -> None:
    """Adds what `needed` names, and what that includes, one after another."""
    places = [folder / "kernels/src", folder / "kernels/include", folder / "runtime/include"]
    queue, seen = list(needed), set[tuple[str, Kernel]]()
    while queue:
        file, kernel = queue.pop()
        if (file, kernel) in seen:
            continue
        seen.add((file, kernel))
        found = next((place / file for place in places if (place / file).is_file()), None)
        if found is None:  # of the compiler, or there for some instruction sets only
            continue
        text = found.read_text(encoding="utf-8")
        files[str(PurePosixPath("src") / file)] = text
        queue += [(other, kernel) for other in kernel.included(text)]
