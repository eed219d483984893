# SPDX-License-Identifier: Apache-2.0
"""What was measured on silicon: as data, as a file that others can use, and for people.

docs/boards.md describes the file. Whoever changes it so that older readers misread it raises `VERSION`.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from ..compile import CompileOptions, compile_program, write_compiled
from ..documents import json_of, read_file
from ..errors import CortexMError
from ..ir.interpreter import run_sequence
from ..ir.memory import memory_bytes
from ..paths import data_root
from ..program import Program
from ..report import operator_text, table
from ..target import Core
from ..version import __version__
from .bench import bench
from .circumstances import measured_data, measured_lines, tried_line
from .command import differing_values, example_inputs, unpack
from .emulator import EMULATOR
from .image import compiler_version
from .place import Place
from .result import Measured

FORMAT, VERSION = "cortexm-measurement", 1
_WARM = 1  # inferences before those that count, which fill caches
_COUNTED = 5


def measure(
    program: Program, options: CompileOptions, place: Place, *, work: Path, counts: bool = True
) -> dict[str, Any]:
    """Runs inferences on a board, and says what each layer takes; the file of ``--measurement``.

    Args:
        counts: also count instructions on the emulator, if that is there.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    compiled = compile_program(program, replace(options, profile=True))
    graph = compiled.plan.graph
    write_compiled(compiled, work / "model")
    row = example_inputs(compiled, 1)[0]
    packed = [
        memory_bytes(value, graph.tensors[index].dim_order)
        for value, index in zip(row, graph.inputs, strict=True)
    ]
    steps = len(compiled.plan.steps)
    runs = _WARM + _COUNTED
    result = place.run(
        work / "model",
        program.name,
        [packed] * runs,
        work,
        target=options.target,
        steps=steps,
    )
    found = result.measured
    assert found is not None
    expected = [tuple(values) for values in run_sequence(graph, [row] * runs)]
    wrong = differing_values(graph, [unpack(graph, each) for each in result.outputs], expected)
    layers = _layers(compiled.report["layers"], found)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "tool": __version__,
        "board": result.board,
        "cpu": options.target.core.value,
        "isa": options.target.isa.value,
        **measured_data(replace(found, cycles=found.cycles[_WARM:])),
        "model": {
            "name": program.name,
            "digest": program.digest,
            "macs": compiled.report["macs"],
        },
        "kernels": {
            "library": options.kernels.value,
            "optimize": options.optimize.value,
            "digest": kernels_digest(),
            "compiler": compiler_version(),
        },
        "invocations": runs,
        "differing_values": wrong,
        "matched": wrong == 0,
        "stack_bytes": result.stack_bytes,
        "layers": layers,
    }
    if counts and shutil.which(EMULATOR) and shutil.which("cc"):
        counted = bench(program, options, work=work / "emulated")
        data |= {key: counted[key] for key in ("instructions", "mix", "estimate")}
        for layer, other in zip(layers, counted["layers"], strict=True):
            layer["instructions"] = other["instructions"]
    return data


def _layers(rows: Sequence[dict[str, Any]], found: Measured) -> list[dict[str, Any]]:
    """A row for each step; `cycles` is the median of the runs that count."""
    counted = found.layers[_WARM:]
    cycles = [round(median(each)) for each in zip(*counted, strict=True)] if counted else []
    return [
        {
            "step": number + 1,
            "operator": operator_text(row),
            "layer": row["layer"],
            "kernels": row["kernels"],
            "macs": row["macs"],
            "cycles": cycles[number] if cycles else None,
        }
        for number, row in enumerate(rows)
    ]


def measurement_text(data: dict[str, Any]) -> str:
    """What was measured, for people."""
    lines = [
        f"{data['model']['name']} on {data['board']} by {data['how']}, {data['cpu']} ({data['isa']})"
    ]
    lines += ["  " + line for line in measured_lines(data)]
    if "instructions" in data:
        lines += ["  " + line for line in _beside_counts(data)]
    if data["counter"] != "none":
        lines += ["", _table(data), ""]
    if data["matched"]:
        lines.append("  outputs equal the reference interpreter")
    else:
        lines.append(
            f"  WRONG: {data['differing_values']} output values differ from the reference interpreter"
        )
    if note := tried_line(data["board"], data["emulated"]):
        lines.append(f"  {note}")
    return "\n".join(lines)


def _beside_counts(data: dict[str, Any]) -> list[str]:
    lines = [f"{data['instructions']:,} instructions, counted by the emulator"]
    if data["emulated"] or not data["cycles"]:
        return lines
    lines[0] += f": {data['cycles'] / data['instructions']:.2f} cycles each"
    estimate = data["estimate"]
    if estimate is not None:
        low, high = estimate["cycles_low"], estimate["cycles_high"]
        place = "inside" if low <= data["cycles"] <= high else "OUTSIDE"
        lines.append(f"estimate (docs/cycles.md): {low:,} to {high:,} cycles, {place}")
    return lines


def _table(data: dict[str, Any]) -> str:
    rows = [
        (
            layer["step"],
            layer["operator"],
            layer["layer"] or "-",
            layer["cycles"],
            f"{layer['cycles'] / layer['macs']:.2f}" if layer["macs"] else "",
            layer["macs"],
        )
        for layer in data["layers"]
        if layer["kernels"]
    ]
    return table(("#", "operator", "layer", "cycles", "per MAC", "MACs"), rows)


@cache
def kernels_digest() -> str:
    """SHA-256 of the kernels' sources, in the order of their paths."""
    folder = data_root() / "kernels"
    total = hashlib.sha256()
    files = [*folder.glob("src/**/*"), *folder.glob("include/**/*")]
    for file in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        if file.suffix in (".c", ".h", ".inc"):
            total.update(file.relative_to(folder).as_posix().encode() + b"\0")
            total.update(file.read_bytes())
    return total.hexdigest()


_NEEDED = {
    "board": str,
    "cpu": str,
    "isa": str,
    "emulated": bool,
    "counter": str,
    "matched": bool,
    "model": dict,
    "kernels": dict,
    "clock": dict,
    "layers": list,
}


def read_measurement(path: Path) -> dict[str, Any]:
    """A file of ``--measurement``.

    Raises:
        CortexMError: it is not one, or of another version.
    """
    try:
        data = json_of(read_file(path))
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CortexMError(
            "is not a measurement", where=str(path), hint="cortexm bench --measurement writes one"
        )
    if data.get("version") != VERSION:
        raise CortexMError(
            f"is a measurement of version {data.get('version')}, this tool reads {VERSION}",
            where=str(path),
            hint="measure again, or use the tool that wrote it",
        )
    for key, kind in _NEEDED.items():
        if not isinstance(data.get(key), kind):
            raise CortexMError(f"has no {key!r} of the right kind", where=str(path))
    if data["cpu"] not in {core.value for core in Core}:
        raise CortexMError(f"is of a core that is not known: {data['cpu']!r}", where=str(path))
    return data
