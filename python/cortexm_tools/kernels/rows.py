# SPDX-License-Identifier: Apache-2.0
"""The rows of kernels/kernels.json, one for each kernel, and the source file of each.

A row with lists stands for several kernels. A row with a template has no file of its own: its source is
a stamp, a few definitions in front of the template, and is generated where it is compiled. CMake does
the same for the library of all kernels (cmake/CortexMKernelSources.cmake).

Beside the stamps lies short_names.h, which they include first: kernels name macros as briefly as
variables, and are compiled with the definitions of an application, which may have others under these
names (Zephyr defines KERNEL everywhere). It undefines what kernels define without our prefix.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SHORT_NAMES = "short_names.h"
_SHORT_NAME = re.compile(r'^[ "]*# *define (?!CORTEXM_|cortexm_)(\w+)', re.MULTILINE)


def expand(rows: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """One row for each kernel: ``op``, ``types`` and ``isa`` are words, ``name`` is what follows
    ``cortexm_`` in its symbol, and ``shared`` whether its template serves several instruction sets."""
    for row in rows:
        for op, types, isa in product(*(_list(row[key]) for key in ("op", "types", "isa"))):
            last = _word(row["library"]) if "library" in row else isa
            one = {"op": op, "types": types, "isa": isa, "name": f"{op}_{types}_{last}"}
            yield {**row, **one, "shared": isinstance(row["isa"], list)}


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _word(library: str) -> str:
    return library.replace("-", "_")


def written(row: Row) -> str:
    """The file below kernels/src that a kernel's code stands in: its own, or its template."""
    last = _word(row["library"]) if "library" in row else row["isa"]
    folder = last if "library" in row else row["family"]
    if "template" in row:
        return f"{folder}/{row['template']}{'' if row['shared'] else f'_{last}'}.inc"
    return f"{folder}/{row['name']}.c"


def source(row: Row, table: Mapping[str, Any], kernels: Path, stamps: Path) -> Path:
    """The file to compile for a kernel. A stamp is written into `stamps`, if it is not there yet.

    Args:
        table: the content of kernels.json.
        kernels: the folder of kernels.json.
    """
    if "template" not in row:
        return kernels / "src" / written(row)
    _keep(stamps / SHORT_NAMES, _all_short_names(kernels))
    return _keep(stamps / f"{row['name']}.c", stamp(row, table))


def _keep(path: Path, text: str) -> Path:
    """Writes a file, unless that is what it says."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


@cache
def _all_short_names(kernels: Path) -> str:
    files = [kernels / "kernels.json", *(kernels / "src").rglob("*.*")]
    return short_names(file.read_text(encoding="utf-8") for file in files)


def short_names(texts: Iterable[str]) -> str:
    """The header that undefines the macros without a prefix that sources define."""
    names = sorted({name for text in texts for name in _SHORT_NAME.findall(text)})
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* Generated: names of kernels' macros. */",
    ]
    return "\n".join([*lines, *(f"#undef {name}" for name in names), ""])


def sources(kernels: Path, stamps: Path, part: str = "kernels") -> dict[str, Path]:
    """The file to compile for each kernel of a table, or each of its ``adapters``, by symbol.

    Args:
        kernels: the folder of kernels.json.
        stamps: where the stamps are written.
    """
    table = json.loads((kernels / "kernels.json").read_text(encoding="utf-8"))
    return {
        f"cortexm_{row['name']}": source(row, table, kernels, stamps) for row in expand(table[part])
    }


def stamp(row: Row, table: Mapping[str, Any]) -> str:
    """The source of a kernel that has a template."""
    halves = re.findall(r"[a-z]\d+", row["types"])
    values = {
        "NAME": f"cortexm_{row['name']}",
        "TEMPLATE": written(row),
        "OP": row["op"],
        "TYPES": row["types"],
        "FROM": halves[0],
        "TO": halves[-1],
        "ISA": row["name"].removeprefix(f"{row['op']}_{row['types']}_"),
        "PARAMS": row["params"],
    }
    text = "\n".join(table["stamp"]) + "\n"
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)
