# SPDX-License-Identifier: Apache-2.0
"""The tables: docs/benchmarks.md and the one in README.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from . import litert
from .measure import CORES, LARGE, MODELS, Row, ram_of
from .record import Record
from benchmarks import ROOT

BASELINE: dict[str, Any] = json.loads(
    (ROOT / "benchmarks" / "baseline.json").read_text(encoding="utf-8")
)
_BEGIN, _END = "<!-- benchmarks: begin -->\n", "<!-- benchmarks: end -->\n"


def document(record: Record) -> str:
    """docs/benchmarks.md: what `record` has, and what benchmarks/litert.py recorded."""
    peer = json.loads(litert.RECORD.read_text("utf-8"))
    return f"{page(record)}\n{litert.section(peer, peer)}"


def page(record: Record) -> str:
    """The models of benchmarks/models."""
    parts = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- Written by benchmarks/run.py --record. -->",
        "# Benchmarks",
        "",
        "`python -m benchmarks.run` prints these tables; `--check` compares with the recorded "
        "numbers, `--record` writes both; `--models`, `--cpus` and `--configurations` choose some "
        "rows. Instructions are exact counts of the emulator per inference, not cycles; "
        "[cycles.md](cycles.md) has estimates of these. Sizes are bytes of the linked image. "
        f"Compiler: {record.compiler}.",
        "",
        "The baseline (`benchmarks/baseline.json`): " + BASELINE["about"],
        "",
    ]
    for cpu, rows in record.tables.get("float", {}).items():
        parts += [f"## {cpu}", "", *_main_table(cpu, rows), ""]
    parts += _ram_section(record)
    parts += _peer_section(record)
    return "\n".join(parts).rstrip() + "\n"


def _main_table(cpu: str, rows: dict[str, Row]) -> list[str]:
    lines = _markdown(
        ("model", "instructions", "of baseline", "code flash", "of baseline", "constants", "RAM"),
        (
            (
                model,
                f"{row['instructions']:,}",
                _share(_ratio(cpu, model, "instructions", row["instructions"])),
                f"{row['code_flash']:,}",
                _share(_ratio(cpu, model, "code_flash", row["code_flash"])),
                f"{row['constants']:,}",
                f"{ram_of(row):,}",
            )
            for model, row in rows.items()
        ),
    )
    mean = _mean(cpu, rows)
    if mean:
        lines += ["", f"Geometric mean of instructions: {mean:.2f} of the baseline's."]
    return lines


def _ram_section(record: Record) -> list[str]:
    """RAM in all on the M55, with both interfaces, beside the baseline's."""
    cpu = "cortex-m55"
    floats = record.tables.get("float", {}).get(cpu, {})
    codes = record.tables.get("int8", {}).get(cpu, {})
    base = BASELINE["ram"].get(cpu, {})
    rows = []
    for model in (*MODELS, LARGE):
        for interface, table in (("float", floats), ("int8", codes)):
            if model not in table:
                continue
            row, total = table[model], ram_of(table[model])
            rows.append(
                (
                    model,
                    interface,
                    *(f"{row[key]:,}" for key in ("arena", "arena_lower_bound", "variables")),
                    f"{row['stack_bound']:,}",
                    f"{total:,}",
                    f"{base[model]:,}" if model in base else "",
                    _share(total / base[model] if model in base else None),
                )
            )
    if not rows:
        return []
    header = (
        *("model", "IO", "arena", "its lower bound", "variables", "stack at most", "RAM"),
        *("baseline", "of baseline"),
    )
    return [
        "## RAM, cortex-m55",
        "",
        "RAM in all: arena, variables, and the bound on the stack. The baseline's: "
        f"{BASELINE['ram']['about']}; it has float inputs and outputs in every row. "
        "mobilenet_v2_224 is MobileNetV2 at 224x224: built, not run.",
        "",
        *_markdown(header, rows),
        "",
    ]


def _peer_section(record: Record) -> list[str]:
    """Another code generator beside ours, on the models it takes."""
    lines: list[str] = []
    for peer in BASELINE["generators"]:
        cpu = peer["cpu"]
        ours = record.tables.get(peer["configuration"], {}).get(cpu, {})
        rows = []
        for model, theirs in peer["models"].items():
            if model not in ours:
                continue
            row = ours[model]
            flash = row["code_flash"] + row["constants"]
            rows.append(
                (
                    model,
                    *_pair(row["instructions"], theirs["instructions"]),
                    *_pair(flash, theirs["code_flash"] + theirs["constants"]),
                    *_pair(ram_of(row), theirs["ram"]),
                )
            )
        if rows:
            header = ["model"]
            for what in ("instructions", "flash", "RAM"):
                header += [what, f"{peer['name']}'s", "ratio"]
            lines += [
                f"## {peer['name']}, {cpu}",
                "",
                peer["about"],
                "",
                *_markdown(header, rows),
                "",
            ]
    return lines


def _pair(ours: int, theirs: int) -> tuple[str, str, str]:
    return f"{ours:,}", f"{theirs:,}", _share(ours / theirs)


def readme_table(record: Record) -> str:
    """The table of README.md: shares of the baseline's instructions, and code flash on the M55."""
    table = record.tables.get("float", {})
    names = [cpu.removeprefix("cortex-").upper() for cpu in CORES]
    rows: list[Sequence[str]] = []
    for model in MODELS:
        shares = [
            _share(_ratio(cpu, model, "instructions", table[cpu][model]["instructions"]))
            if model in table.get(cpu, {})
            else ""
            for cpu in CORES
        ]
        flash = table.get(CORES[0], {}).get(model, {}).get("code_flash")
        rows.append(
            (
                model,
                *(share or "-" for share in shares),
                f"{flash:,}" if flash else "-",
                _share(_ratio(CORES[0], model, "code_flash", flash)) if flash else "-",
            )
        )
    means = [_mean(cpu, table.get(cpu, {})) for cpu in CORES]
    rows.append(("geometric mean", *(f"{mean:.2f}" if mean else "-" for mean in means), "", ""))
    header = ("model", *names, f"code flash {names[0]}", "of baseline")
    return "\n".join(_markdown(header, rows)) + "\n"


def with_table(readme: str, record: Record) -> str:
    """README.md with its table replaced."""
    before, _, rest = readme.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}{readme_table(record)}{_END}{after}"


def _mean(cpu: str, rows: dict[str, Row]) -> float | None:
    """The geometric mean of the shares of the baseline's instructions."""
    ratios = [
        _ratio(cpu, model, "instructions", row["instructions"]) for model, row in rows.items()
    ]
    logs = [math.log(ratio) for ratio in ratios if ratio]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _ratio(cpu: str, model: str, kind: str, value: int) -> float | None:
    base = BASELINE[kind].get(cpu, {}).get(model)
    return value / base if base else None


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(header)} |",
        "|" + "---|" * len(header),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
