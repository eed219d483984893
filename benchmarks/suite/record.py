# SPDX-License-Identifier: Apache-2.0
"""benchmarks/recorded.json: the numbers of the last `run.py --record`, and what changed since."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .measure import CONFIGURATIONS, CORES, LARGE, MODELS, Row

RECORD = Path(__file__).resolve().parents[1] / "recorded.json"

Table = dict[str, dict[str, Row]]  # core, model

# Derived from the plan; it is no merit of a build that it grows or shrinks.
_NEUTRAL = frozenset({"arena_lower_bound"})


@dataclass(frozen=True)
class Record:
    """Rows by configuration, core and model.

    Attributes:
        compiler: what compiled them.
        programs: digests of the lowered models; another torch or another machine may lower
            to other codes.
    """

    compiler: str = ""
    programs: dict[str, str] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """A number that is not as recorded."""

    where: str
    before: int | None
    after: int
    worse: bool

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.where}: new, {self.after:,}"
        share = f"{self.after / self.before - 1:+.2%}" if self.before else "from nothing"
        return f"{self.where}: {self.before:,} -> {self.after:,} ({share})"


def load(path: Path = RECORD) -> Record:
    """The recorded numbers; nothing if there are none."""
    if not path.is_file():
        return Record()
    data = json.loads(path.read_text(encoding="utf-8"))
    return Record(data["compiler"], data["programs"], data["tables"])


def save(record: Record, path: Path = RECORD) -> None:
    data = {
        "compiler": record.compiler,
        "programs": dict(sorted(record.programs.items())),
        "tables": {name: record.tables[name] for name in sorted(record.tables)},
    }
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _sorted(table: Table) -> Table:
    """Cores and models in the order of the tables, whatever the order they were measured in."""
    models, cores = (*MODELS, LARGE), CORES
    return {
        cpu: {
            name: table[cpu][name]
            for name in dict.fromkeys((*models, *table[cpu]))
            if name in table[cpu]
        }
        for cpu in dict.fromkeys((*cores, *table))
        if cpu in table
    }


def merge(old: Record, new: Record) -> Record:
    """`old` with the rows of `new` in place of its own."""
    tables: dict[str, Table] = {}
    for name in {**old.tables, **new.tables}:
        before, after = old.tables.get(name, {}), new.tables.get(name, {})
        rows = {cpu: {**before.get(cpu, {}), **after.get(cpu, {})} for cpu in {**before, **after}}
        tables[name] = _sorted(rows)
    return replace(new, programs={**old.programs, **new.programs}, tables=tables)


def missing(record: Record) -> list[str]:
    """What a full record would have and this one has not."""
    return [
        f"{name} {cpu} {model}"
        for name, cores in CONFIGURATIONS.items()
        for cpu, models in cores.items()
        for model in models
        if model not in record.tables.get(name, {}).get(cpu, {})
    ]


def changes(old: Record, new: Record, *, tolerance: float = 0.0) -> list[Change]:
    """Every number of `new` that differs from `old` by more than the share `tolerance`.

    All numbers are costs: more is worse.
    """
    found = []
    for name, table in new.tables.items():
        for cpu, rows in table.items():
            for model, row in rows.items():
                before: dict[str, Any] = old.tables.get(name, {}).get(cpu, {}).get(model, {})
                for kind, value in row.items():
                    recorded = before.get(kind)
                    if recorded is not None and abs(value - recorded) <= tolerance * recorded:
                        continue
                    worse = recorded is not None and value > recorded and kind not in _NEUTRAL
                    found.append(Change(f"{model} ({name}) {cpu} {kind}", recorded, value, worse))
    return found
