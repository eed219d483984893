# SPDX-License-Identifier: Apache-2.0
"""What exported models take of RAM, flash and stack: as far as that does not depend on a compiler, or as
one measures it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..compile import Compiled
from ..emit.header import STACK_MOST
from ..errors import CortexMError
from ..run.children import run_child
from ..run.footprint import Footprint, measure, stack_header
from ..run.image import COMPILER, compiler_version, require_program
from .sources import Sources

Measured = Mapping[str, Footprint]


def measured(sources: Sources) -> dict[str, Footprint]:
    """Each model with the kernels that it calls, compiled as the export says by the compiler that is here.

    Raises:
        CortexMError: there is no compiler, or no core to compile for.
    """
    if not sources.flags:
        raise CortexMError("--measure needs a core to compile for", hint="name one with --cpu")
    compiler = [require_program(COMPILER), *sources.flags, "--specs=nano.specs"]
    with tempfile.TemporaryDirectory(prefix="cortexm-") as name:
        folder = Path(name)
        objects = (
            folder / "CMakeFiles" / "export.dir"
        )  # where the compiler's figures are looked for
        objects.mkdir(parents=True)
        for path, text in sources.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        for unit in sources.compiled:
            words = ["-std=gnu11", *unit.options, "-ffunction-sections", "-fdata-sections"]
            _run([*compiler, *words, "-fstack-usage", "-c", str(folder / unit.path)], objects)
        archive = folder / "libexport.a"
        archiver = f"{COMPILER.removesuffix('gcc')}ar"
        _run([archiver, "rcs", str(archive), *map(str, sorted(objects.glob("*.o")))], folder)
        return {model: measure(compiler, [archive], model) for model in sources.models}


def _run(command: Sequence[str], folder: Path) -> None:
    done = run_child(command, cwd=folder)
    if done.returncode != 0:
        raise CortexMError("the export does not compile here", hint=done.stderr.strip())


def stack_files(found: Measured) -> dict[str, str]:
    """The bounds on the stack for the headers of the models."""
    return {f"src/{model}_stack.h": stack_header(model, size) for model, size in found.items()}


def sizes(compiled: Compiled, found: Measured) -> dict[str, int]:
    """Bytes by kind: RAM without the stack, flash, and a bound on the stack. Code if it was measured."""
    report = compiled.report
    size = found.get(compiled.program.name)
    if size is None:
        return {
            "ram_bytes": report["arena_bytes"] + report["state_bytes"],
            "constants_bytes": report["constants_bytes"],
            "stack_bytes": STACK_MOST,
        }
    return {
        "ram_bytes": size.ram,
        "flash_bytes": size.flash,
        "code_bytes": size.code,
        "stack_bytes": STACK_MOST if size.stack is None else size.stack,
    }


def sizes_table(models: Sequence[Compiled], found: Measured) -> str:
    """The same in Markdown."""
    titles = {
        "ram_bytes": "RAM",
        "constants_bytes": "flash: constants, without code",
        "flash_bytes": "flash",
        "code_bytes": "of it code",
        "stack_bytes": "stack at most",
    }
    rows = {compiled.program.name: sizes(compiled, found) for compiled in models}
    keys = list(next(iter(rows.values())))
    lines = [
        f"| bytes of | {' | '.join(titles[key] for key in keys)} |",
        "|---" * (len(keys) + 1) + "|",
    ]
    lines += [
        f"| {model} | {' | '.join(f'{row[key]:,}' for key in keys)} |"
        for model, row in rows.items()
    ]
    if found:
        lines += ["", f"Measured with {compiler_version()}."]
    return "\n".join(lines)
