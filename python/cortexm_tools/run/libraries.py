# SPDX-License-Identifier: Apache-2.0
"""`cortexm bench --kernels builtin,cmsis-nn`: the same work with several kernel libraries, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..compile import CompileOptions
from ..plan import KernelChoice
from ..plan.kernels.table import BUILTIN, kernels
from ..program import Program
from ..report import table
from .bench import bench


def compare(
    program: Program,
    options: CompileOptions,
    choices: Sequence[KernelChoice],
    *,
    board: str | None = None,
    work: Path | None = None,
) -> dict[str, Any]:
    """`bench` with each choice of kernels.

    Returns:
        ``bench``: what `bench` says, by choice. ``layers``: instructions of each, and the library
        that computed it, by choice. ``operators``: the sums of the layers that CMSIS-NN computes
        somewhere, by operator (as the kernel table calls it) and choice.

    Raises:
        CortexMError: as `bench`.
    """
    if work is None:
        with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
            return compare(program, options, choices, board=board, work=Path(folder))
    results = {
        choice.value: bench(
            program, replace(options, kernels=choice, bands=False), board=board, work=work
        )
        for choice in choices
    }
    first = results[choices[0].value]
    layers = [
        {
            "operator": layer["operator"],
            "layer": layer["layer"],
            "macs": layer["macs"],
            "library": {name: data["layers"][number]["library"] for name, data in results.items()},
            "kernels": {name: data["layers"][number]["kernels"] for name, data in results.items()},
            "instructions": {
                name: data["layers"][number]["instructions"] for name, data in results.items()
            },
        }
        for number, layer in enumerate(first["layers"])
    ]
    return {
        "name": program.name,
        "cpu": first["cpu"],
        "isa": first["isa"],
        "board": first["board"],
        "macs": first["macs"],
        "instructions": {name: data["instructions"] for name, data in results.items()},
        "operators": _operators(layers),
        "layers": layers,
        "bench": results,
    }


def _operators(layers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    op_of = {kernel.symbol: kernel.op for kernel in kernels("adapters")}
    sums: dict[str, dict[str, Any]] = {}
    for layer in layers:
        found = {
            op_of[name] for names in layer["kernels"].values() for name in names if name in op_of
        }
        for op in found:
            row = sums.setdefault(op, {"operator": op, "layers": 0, "macs": 0, "instructions": {}})
            row["layers"] += 1
            row["macs"] += layer["macs"]
            for name, count in layer["instructions"].items():
                row["instructions"][name] = row["instructions"].get(name, 0) + count
    return [sums[op] for op in sorted(sums)]


def compare_text(data: dict[str, Any]) -> str:
    """The same for people: one row a layer, sums, and memory."""
    names = list(data["instructions"])
    base = names[0]

    def share(counts: dict[str, int], name: str) -> str:
        return f"{counts[name] / counts[base]:.2f}" if counts[base] else "-"

    def cells(counts: dict[str, int]) -> list[object]:
        return [counts[name] for name in names] + [share(counts, name) for name in names[1:]]

    header = [*names, *(f"{name} / {base}" for name in names[1:])]
    rows = [
        [number + 1, layer["operator"], layer["layer"] or "-", layer["macs"],
         *cells(layer["instructions"]),
         " ".join(sorted({one for one in layer["library"].values() if one != BUILTIN})) or "-"]
        for number, layer in enumerate(data["layers"])
        if any(layer["kernels"].values())
    ]  # fmt: skip
    total = [["", "total", "", data["macs"], *cells(data["instructions"]), ""]]
    memory: dict[str, Callable[[dict[str, Any]], object]] = {
        "code": lambda one: one["flash_by_part"]["kernels"] + one["flash_by_part"]["plan"],
        "constants": lambda one: one["flash_by_part"]["constants"],
        "arena": lambda one: one["ram"]["arena"],
        "stack": lambda one: one["ram"]["stack"],
    }
    return "\n".join(
        (
            f"{data['name']} on emulated {data['board']}, {data['cpu']} ({data['isa']}): instructions",
            "",
            table(("#", "operator", "layer", "MACs", *header, "other library"), rows + total),
            "",
            table(
                ("bytes of", *names),
                [
                    [what, *(count(data["bench"][name]) for name in names)]
                    for what, count in memory.items()
                ],
            ),
        )
    )
