# SPDX-License-Identifier: Apache-2.0
"""Two reports side by side: what a change of model, options, kernels or tools came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from ..pte.quality import level_of
from .change import QUANTITIES, Quantity, amount, change
from .reading import FORMAT, Report
from .tables import decibels_of, operator_text, table

SIDES = ("a", "b")
MEASURES = {
    "instructions": "instructions",
    "macs": "MACs",
    "live_bytes": "live RAM",
    "constants_bytes": "constants",
    "sqnr_db": "dB",
}
"""What layers are compared by, with titles."""

_FACTS = ("target", "optimize", "libraries", "limits", "program_sha256", "cortexm")


def compare_reports(a: Report, b: Report, labels: tuple[str, str]) -> dict[str, Any]:
    """The comparison as plain data.

    ``quantities``: for each of change.QUANTITIES its value in `a` and `b`, null where it is not known
    of both in the same way. ``differs``: what else is not the same. ``layers``: rows with the layer of
    each side that belongs together, null where the other has none.
    """
    counted = bool(a.bench and b.bench)
    quantities = [
        {"name": name, "unit": quantity.unit, "a": before, "b": after}
        for quantity in QUANTITIES
        for name, before, after in [(quantity.name, *_pair(quantity.name, a, b))]
    ]
    return {
        "format": FORMAT,
        **{
            side: {
                "label": label,
                "name": one.data["name"],
                **{key: one.data.get(key) for key in _FACTS},
            }
            for side, label, one in zip(SIDES, labels, (a, b), strict=True)
        },
        "quantities": quantities,
        "differs": [
            key for key in _FACTS if a.data.get(key) != b.data.get(key) and key != "program_sha256"
        ],
        "same_program": a.data["program_sha256"] == b.data["program_sha256"],
        "counted": counted,
        "layers": _layers(a, b, counted) if a.is_plan and b.is_plan else [],
    }


def values(data: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """Both values of each quantity."""
    return {row["name"]: (row["a"], row["b"]) for row in data["quantities"]}


def _pair(name: str, a: Report, b: Report) -> tuple[float | None, float | None]:
    """A quantity of both, from the same kind of source; what one of them has alone is None there."""
    if name not in ("stack", "flash", "code"):
        return _of_plan(name, a), _of_plan(name, b)
    if a.footprint and b.footprint:
        return a.footprint[name], b.footprint[name]
    if a.bench and b.bench:
        return _of_bench(name, a.bench), _of_bench(name, b.bench)
    if all(one.footprint or one.bench for one in (a, b)):
        return None, None  # a trial link and an image with a runner are not the same
    return _either(name, a), _either(name, b)


def _either(name: str, report: Report) -> float | None:
    if report.footprint:
        found: float | None = report.footprint[name]
        return found
    return _of_bench(name, report.bench) if report.bench else None


def _of_plan(name: str, report: Report) -> float | None:
    data = report.data
    if name == "ram":
        return float(data["arena_bytes"] + data.get("state_bytes", 0))
    if name == "instructions":
        return report.bench.get("instructions")
    if name == "sqnr":
        return level_of(data.get("quality", {}))
    keys = {"arena": "arena_bytes", "state": "state_bytes", "constants": "constants_bytes"}
    return data.get(keys.get(name, name))


def _of_bench(name: str, bench: dict[str, Any]) -> float:
    """Of a measured image, without its start-up code and runner."""
    if name == "stack":
        return float(bench["stack_bound"]["bytes"])
    parts = {k: v for k, v in bench["flash_by_part"].items() if k != "start-up and runner"}
    constants = parts.pop("constants")
    return float(sum(parts.values()) + (constants if name == "flash" else 0))


def _layers(a: Report, b: Report, counted: bool) -> list[dict[str, Any]]:
    """The layers of both in order; those with the same operator and place in the model are one row."""
    keys = [[(operator_text(one), one["layer"]) for one in r.data["layers"]] for r in (a, b)]
    rows = [_entries(report, counted) for report in (a, b)]
    result = []
    for i, j in _aligned(keys[0], keys[1]):
        operator, layer = keys[0][i] if i is not None else keys[1][j or 0]
        result.append(
            {
                "operator": operator,
                "layer": layer,
                "a": None if i is None else rows[0][i],
                "b": None if j is None else rows[1][j],
            }
        )
    return result


def _entries(report: Report, counted: bool) -> list[dict[str, Any]]:
    decibels = decibels_of(report.data)
    return [
        {
            "index": number,
            **({"instructions": report.bench["layers"][number]["instructions"]} if counted else {}),
            "macs": layer["macs"],
            "live_bytes": layer["live_bytes"],
            "constants_bytes": layer["constants_bytes"],
            "sqnr_db": decibels.get((layer["layer"], layer["source"])),
            "precision": layer["precision"],
            "kernels": layer["kernels"],
        }
        for number, layer in enumerate(report.data["layers"])
    ]


def _aligned(
    a: Sequence[tuple[str, str]], b: Sequence[tuple[str, str]]
) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of positions; what only one side has stands alone, in order."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    for _, a_low, a_high, b_low, b_high in matcher.get_opcodes():
        if a[a_low:a_high] == b[b_low:b_high]:
            yield from zip(range(a_low, a_high), range(b_low, b_high), strict=True)
            continue
        yield from ((i, None) for i in range(a_low, a_high))
        yield from ((None, j) for j in range(b_low, b_high))


def quantity_rows(data: dict[str, Any]) -> list[tuple[Quantity, str, str, str]]:
    """The quantities that are known of a side, with both values and the change as text."""
    rows = []
    for quantity, row in zip(QUANTITIES, data["quantities"], strict=True):
        before, after = row["a"], row["b"]
        if (before is None and after is None) or (
            quantity.name == "state" and before == after == 0
        ):
            continue
        known = before is not None and after is not None
        said = change(before, after, quantity) if known else ""
        rows.append((quantity, amount(before, quantity), amount(after, quantity), said))
    return rows


def differing_layers(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows whose sides are not equal in what is compared."""
    return [row for row in data["layers"] if _differs(row["a"], row["b"])]


def is_idle(row: dict[str, Any]) -> bool:
    """Whether a row's layers call no kernel on either side."""
    return not any(row[side] and row[side]["kernels"] for side in SIDES)


def _differs(a: dict[str, Any] | None, b: dict[str, Any] | None) -> bool:
    if a is None or b is None:
        return True
    return any(a.get(key) != b.get(key) for key in (*MEASURES, "precision", "kernels"))


def facts(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What else differs: a name, and both sides as text."""
    return [(key, _fact(data["a"][key]), _fact(data["b"][key])) for key in data["differs"]]


def _fact(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {one if one is not None else 'none'}" for key, one in value.items()
        )
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def compare_text(data: dict[str, Any]) -> str:
    """The comparison for people."""
    rows = differing_layers(data)
    lines = [f"A  {data['a']['label']}", f"B  {data['b']['label']}"]
    if data["same_program"]:
        lines.append("the same program")
    lines += [
        "",
        table(
            ("", "A", "B", "change"),
            [(quantity.name, a, b, said) for quantity, a, b, said in quantity_rows(data)],
        ),
    ]
    if found := facts(data):
        lines += ["", table(("what differs", "A", "B"), found)]
    if rows:
        lines += ["", _layer_table(rows)]
    if data["layers"]:
        same = len(data["layers"]) - len(rows)
        lines += ["", f"{same} of {len(data['layers'])} layers are the same"]
    return "\n".join(lines)


def _layer_table(rows: Sequence[dict[str, Any]]) -> str:
    """Each layer that differs, with those measures in which any of them does."""
    measures = {
        key: title
        for key, title in MEASURES.items()
        if any((row["a"] or {}).get(key) != (row["b"] or {}).get(key) for row in rows)
    }
    header = ["operator", "layer"]
    for title in measures.values():
        header += [f"{title} A", "B"]
    cells = []
    for row in rows:
        line: list[object] = [row["operator"], row["layer"] or "-"]
        for key in measures:
            line += [measure_text(row[side], key) for side in SIDES]
        cells.append(line)
    return table(header, cells)


def measure_text(side: dict[str, Any] | None, key: str) -> str:
    """A measure of a layer; nothing where there is none."""
    value = (side or {}).get(key)
    if value is None:
        return ""
    return f"{value:.1f}" if key == "sqnr_db" else f"{value:,}"
