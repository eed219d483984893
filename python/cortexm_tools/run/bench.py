# SPDX-License-Identifier: Apache-2.0
"""`cortexm bench`: what one inference costs, in all, per layer, per function and per memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..compile import CompileOptions, compile_program, write_compiled
from ..ir.memory import memory_bytes
from ..program import Program
from ..report import alternative_lines, operator_text, table
from ..report.reading import FORMAT
from ..target import Core, Cost
from .command import example_inputs
from .cycles import estimate
from .profile import image_flash, profile_model

_FUNCTIONS = 12


def bench(
    program: Program,
    options: CompileOptions,
    *,
    board: str | None = None,
    work: Path | None = None,
    costs: Mapping[Core, Mapping[str, Cost]] | None = None,
) -> dict[str, Any]:
    """Runs one inference on the emulated board of `options.target` and counts.

    Args:
        costs: of cycles by core, of cortexm calibrate, instead of the ledger's.

    Returns:
        The numbers of the table, as plain data. Instructions are exact counts of the emulator,
        not cycles; flash is that of the linked image, by part.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    if work is None:
        with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
            return bench(program, options, board=board, work=Path(folder), costs=costs)
    # The marks of a profile are code, which what is shipped does not have: sizes come from an image
    # without them. Only NAME.c differs between the two.
    write_compiled(compile_program(program, options), work / "model")
    target = options.target
    flash = image_flash(
        work / "model", program.name, work, core=target.core, isa=target.isa, board=board
    )
    compiled = compile_program(program, replace(options, profile=True))
    graph = compiled.plan.graph
    write_compiled(compiled, work / "model")
    row = example_inputs(compiled, 1)[0]
    packed = [
        memory_bytes(value, graph.tensors[index].dim_order)
        for value, index in zip(row, graph.inputs, strict=True)
    ]
    profile = profile_model(
        work / "model",
        program.name,
        packed,
        work,
        core=target.core,
        isa=target.isa,
        board=board,
        step_count=len(compiled.plan.steps),
    )
    total = sum(profile.steps)
    layers = [
        {
            "operator": operator_text(layer),
            "layer": layer["layer"],
            "kernels": layer["kernels"],
            "library": layer["library"],
            "macs": layer["macs"],
            "instructions": count,
        }
        for layer, count in zip(compiled.report["layers"], profile.steps, strict=True)
    ]
    macs = compiled.report["macs"]
    return {
        "format": FORMAT,
        "name": program.name,
        "program_sha256": program.digest,
        "cpu": target.core.value,
        "isa": target.isa.value,
        "board": profile.result.board,
        "instructions": total,
        "macs": macs,
        "arena_bytes": compiled.plan.working_size,
        "state_bytes": compiled.plan.state_size,
        "alternatives": compiled.report["alternatives"],
        "instructions_per_mac": total / macs if macs else None,
        "arena_lower_bound": compiled.plan.lower_bound - compiled.plan.state_size,
        "flash_by_part": flash,
        "constants_needed": compiled.plan.needed_bytes,
        "weights_image": compiled.report.get("weights", {}).get("image_bytes", 0),
        "ram": {
            "arena": compiled.plan.working_size,
            **({"state": compiled.plan.state_size} if compiled.plan.state_size else {}),
            "variables": profile.result.ram_bytes
            - compiled.plan.arena_size
            - profile.result.stack_bytes,
            "stack": profile.result.stack_bytes,
            "total": profile.result.ram_bytes,
        },
        "stack_bound": {
            "bytes": profile.stack.bytes,
            "path": [{"name": name, "bytes": size} for name, size in profile.stack.path],
        },
        "mix": profile.mix,
        "estimate": _estimate(target.core, profile.mix, costs),
        "functions": [{"name": name, "instructions": n} for name, n in profile.functions],
        "layers": layers,
    }


def _constants_line(data: dict[str, Any]) -> str:
    """How far the constants in the image exceed what the model needs."""
    stored, needed = data["flash_by_part"]["constants"], data["constants_needed"]
    if image := data.get("weights_image"):
        return (
            f"of the constants the model needs {needed:,} bytes, apart: an image of {image:,} bytes"
        )
    over = 100 * (stored / needed - 1) if needed else 0.0
    return f"of the constants the model needs {needed:,} bytes: +{over:.1f} %"


def _estimate(
    core: Core, mix: dict[str, int], costs: Mapping[Core, Mapping[str, Cost]] | None
) -> dict[str, Any] | None:
    fitted = (costs or {}).get(core)
    cycles = estimate(core, mix, fitted)
    if cycles is None:
        return None
    source = "from a table of costs; not measured" if fitted is None else "from fitted costs"
    return {
        "about": f"cycles of one inference, {source} (docs/cycles.md)",
        "cycles_low": cycles.low,
        "cycles_high": cycles.high,
    }


def _estimate_text(data: dict[str, Any]) -> list[str]:
    cycles = data["estimate"]
    if cycles is None:
        return ["", f"estimate, not measured: there is no table of cycles for {data['cpu']}"]
    low, high = cycles["cycles_low"], cycles["cycles_high"]
    per = [f"{value / data['instructions']:.2f}" for value in (low, high)]
    return [
        "",
        f"estimate, not measured (docs/cycles.md): {low:,} to {high:,} cycles per inference, "
        f"{per[0]} to {per[1]} per instruction",
    ]


def bench_text(data: dict[str, Any]) -> str:
    """The same for people."""
    per_mac = data["instructions_per_mac"]
    lines = [
        f"{data['name']} on emulated {data['board']}, {data['cpu']} ({data['isa']})",
        f"  {data['instructions']:,} instructions per inference"
        + (f", {per_mac:.3f} per MAC ({data['macs']:,} MACs)" if per_mac else ""),
        "",
        table(
            ("#", "operator", "layer", "instructions", "per MAC", "MACs"),
            [
                (
                    number + 1,
                    layer["operator"],
                    layer["layer"] or "-",
                    layer["instructions"],
                    f"{layer['instructions'] / layer['macs']:.2f}" if layer["macs"] else "",
                    layer["macs"],
                )
                for number, layer in enumerate(data["layers"])
                if layer["kernels"]
            ],
        ),
        "",
        table(
            ("function", "instructions"),
            [(row["name"], row["instructions"]) for row in data["functions"][:_FUNCTIONS]],
        ),
        "",
        table(("flash of", "bytes"), list(data["flash_by_part"].items())),
        _constants_line(data),
        "",
        table(("RAM of", "bytes"), list(data["ram"].items())),
        *alternative_lines(data),
        f"stack: {data['ram']['stack']:,} B touched by this run, at most "
        f"{data['stack_bound']['bytes']:,} B by any: "
        + " > ".join(f"{row['name']} {row['bytes']}" for row in data["stack_bound"]["path"]),
        *_estimate_text(data),
    ]
    return "\n".join(lines)
