# SPDX-License-Identifier: Apache-2.0
"""The sources of models: generated code, runtime, the kernels they call, and what these include."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..compile import Compiled
from ..errors import CortexMError
from ..kernels.rows import SHORT_NAMES, expand, short_names, stamp, written
from ..options.names import check_beside
from ..paths import data_root
from ..target import CORES, Core
from .beside import names_in, own_names, public_names, relative_includes, version_of, weak
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
        name: the export's, in C: that of its model if it has one.
        models: names of the models.
        core, isa: what they are planned for, in words.
        flags: what makes GCC and clang compile for the core; none for CPU any.
        files: texts by path.
        compiled: the C files among them.
        image: weights as images of their own, and what others have to be, by path (`WEIGHTS
            partition`); empty where they are among the sources.
        url: where the library is published, if the user says so.
    """

    name: str
    models: tuple[str, ...]
    core: Core
    isa: str
    flags: tuple[str, ...]
    files: dict[str, str]
    compiled: tuple[Source, ...]
    image: dict[str, str | bytes]
    url: str = ""


def collect(models: Sequence[Compiled], name: str = "") -> Sources:
    """The files below ``src/`` of models that were compiled with the same options.

    Raises:
        CortexMError: a model calls a kernel of another library, or two have one name.
    """
    report = models[0].report
    core, isa = Core(report["target"]["cpu"]), report["target"]["isa"]
    if core is Core.HOST:
        raise CortexMError("an export is for a Cortex-M core", hint="name one with --cpu, or any")
    names = tuple(compiled.program.name for compiled in models)
    check_beside(names)
    folder = data_root()
    places = [folder / "kernels/src", folder / "kernels/include", folder / "runtime/include"]
    own: dict[str, str] = {}
    image: dict[str, str | bytes] = {}
    for compiled in models:
        for file, content in compiled.files.items():
            if file.endswith((".c", ".h")):
                assert isinstance(content, str)
                own[f"src/{file}"] = content
            elif file.endswith((".weights.bin", ".weights.json")):
                image[f"weights/{file}"] = content
    units = [Source(path, ("-Os",)) for path in own if path.endswith(".c")]
    public = public_names((folder / "runtime/include/cortexm").glob("*.h"))
    runtime: dict[str, str] = {}
    for file in _RUNTIME + _APART * bool(image):
        runtime[f"src/runtime/{file}"] = weak((folder / "runtime" / file).read_text("utf-8"))
        units.append(Source(f"src/runtime/{file}", ("-Os",)))
    kernels, chosen, needed = _kernels(models, folder / "kernels")
    headers = ("cortexm/kernels.h", "cortexm/model.h", "cortexm/nms.h")
    needed += [(header, Kernel("")) for header in headers]
    _add_headers(kernels, needed, places)
    kernels[f"src/kernels/{SHORT_NAMES}"] = short_names(kernels.values())
    version = version_of(folder / "kernels")
    names_of_kernels = names_in(kernels.values(), public)
    files = {
        path: own_names(text, names_of_kernels, version)
        for path, text in {**own, **kernels}.items()
    }
    for unit in chosen:
        symbol = f"cortexm_{version}_{PurePosixPath(unit.path).stem}"
        files[unit.path] = weak(files[unit.path], [symbol])
    files = relative_includes({**files, **runtime}, "src")
    flags = () if core is Core.ANY else CORES[core].flags[models[0].plan.target.isa]
    return Sources(name or names[0], names, core, isa, flags, files, (*units, *chosen), image)


def _kernels(
    models: Sequence[Compiled], folder: Path
) -> tuple[dict[str, str], list[Source], list[tuple[str, Kernel]]]:
    """The kernels that models call, how they are compiled, and what they include."""
    table = json.loads((folder / "kernels.json").read_text(encoding="utf-8"))
    rows = {f"cortexm_{row['name']}": row for row in expand(table["kernels"])}
    files: dict[str, str] = {}
    units: list[Source] = []
    needed: list[tuple[str, Kernel]] = []
    optimize = models[0].report["optimize"]
    for symbol in sorted({symbol for each in models for symbol in each.report["kernels"]}):
        if symbol not in rows:
            raise CortexMError(f"{symbol} belongs to another library", hint="use --kernels builtin")
        row = rows[symbol]
        path = f"src/kernels/{row['name']}.c"
        files[path] = _kernel_text(row, table, folder)
        units.append(
            Source(path, (row.get(optimize, table["optimize"][optimize]), *table["options"]))
        )
        kernel = Kernel.of(row)
        needed += [(file, kernel) for file in kernel.included(files[path])]
    return files, units, needed


def _kernel_text(row: dict[str, Any], table: dict[str, Any], kernels: Path) -> str:
    if "template" in row:
        return stamp(row, table)
    return (kernels / "src" / written(row)).read_text(encoding="utf-8")


def _add_headers(
    files: dict[str, str], needed: Iterable[tuple[str, Kernel]], places: Sequence[Path]
) -> None:
    """Adds what `needed` names, and what that includes, one after another."""
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
