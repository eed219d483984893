# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file that needs no network, and the arena as an SVG.

This module says what is shown; templates/ say how. Jinja2 escapes everything that
comes from a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CortexMError, printable
from ..pte.quality import accuracy_text, level_of, quality_line
from ..version import __version__
from . import compare
from .arena import arena_of
from .graph import graph_of
from .layers import layers_of, time_text
from .quality import losses_line, losses_rows, tried_table
from .reading import Report
from .tables import alternative_lines, is_idle, stream_lines

if TYPE_CHECKING:
    from jinja2 import Environment

MEGAHERTZ = 100.0
"""The clock that times are given for until the reader enters another one."""

_OPEN = 60  # a list of so many rows is shown at once, a longer one when asked for


@dataclass(frozen=True)
class Part:
    """A share of a whole, for a bar: `kind` chooses the colour."""

    name: str
    bytes: int
    kind: str
    note: str = ""


@dataclass(frozen=True)
class Limit:
    """What something uses of what it may."""

    name: str
    used: int
    most: int
    note: str


@dataclass(frozen=True)
class Noise:
    """A layer of the float model: dB of its operand and its result, and where they lie on the scale
    of 0 to 100; None where there is none."""

    operator: str
    layer: str
    text: str
    before: float | None
    after: float | None
    worst: bool


def report_html(report: Report, megahertz: float = MEGAHERTZ) -> str:
    """The page.

    Args:
        megahertz: the clock that times are given for at first.

    Raises:
        CortexMError: Jinja2 is missing.
    """
    return _render("page.html", **_context(report, megahertz))


def compare_html(a: Report, b: Report, data: dict[str, Any]) -> str:
    """Two reports side by side.

    Args:
        data: of compare.compare_reports.

    Raises:
        CortexMError: Jinja2 is missing.
    """
    rows = compare.differing_layers(data)
    measures = [
        (key, title)
        for key, title in compare.MEASURES.items()
        if any((row[side] or {}).get(key) for row in rows for side in compare.SIDES)
    ]
    return _render(
        "compare.html",
        data=data,
        arenas=[arena_of(one.data) if one.is_plan else None for one in (a, b)],
        quantities=compare.quantity_rows(data),
        facts=compare.facts(data),
        rows=rows,
        idle=[compare.is_idle(row) for row in rows],
        measures=measures,
        text=compare.measure_text,
        worse=data.get("exceeded", ()),
        version=__version__,
    )


def arena_svg(report: Report) -> str:
    """The arena over time as a picture of its own.

    Raises:
        CortexMError: there is no arena to show, or Jinja2 is missing.
    """
    picture = arena_of(report.data) if report.is_plan else None
    if picture is None:
        raise CortexMError(
            "has no arena to draw: no layer of a compiled plan uses it", where=str(report.path)
        )
    return _render("picture.svg", a=picture)


def _context(report: Report, megahertz: float) -> dict[str, Any]:
    data, bench = report.data, report.bench
    columns, rows = layers_of(report, megahertz) if report.is_plan else ((), ())
    return {
        "data": data,
        "bench": bench,
        "arena": arena_of(data) if report.is_plan else None,
        "graph": graph_of(data) if report.is_plan else None,
        "figures": _figures(report, megahertz),
        "ram": _ram(report),
        "flash": _flash(report),
        "limits": _limits(report),
        "columns": columns,
        "rows": rows,
        "idle": [is_idle(layer) for layer in data["layers"]] if report.is_plan else (),
        "noise": _noise(data),
        "precision": _precision(data.get("quality", {})),
        "quality": quality_line(data["quality"]) if "quality" in data else "",
        "alternatives": alternative_lines(data),
        "stream": [line.strip() for line in stream_lines(data)],
        "facts": _facts(report),
        "largest": report.footprint.get("largest", ()),
        "megahertz": megahertz,
        "estimate": bench.get("estimate"),
        "open": _OPEN,
        "version": __version__,
    }


def _figures(report: Report, megahertz: float) -> list[tuple[str, str, str, Any]]:
    """What counts most: a name, a number, what it consists of, and cycles if it is a time."""
    data, bench = report.data, report.bench
    ram = _ram(report)
    flash = _flash(report)
    rows: list[tuple[str, str, str, Any]] = [
        ("RAM", _bytes(sum(p.bytes for p in ram)), _sum_text(ram), None),
        ("flash", _bytes(sum(p.bytes for p in flash)), _sum_text(flash), None),
    ]
    if bench:
        per_mac = bench["instructions_per_mac"]
        note = f"{per_mac:.2f} per MAC, counted on the emulated {bench['board']}" if per_mac else ""
        rows.append(("instructions", f"{bench['instructions']:,}", note, None))
        if estimate := bench["estimate"]:
            ends = (estimate["cycles_low"], estimate["cycles_high"])
            rows.append(("time", time_text(ends, megahertz), "estimated, not measured", ends))
    elif report.is_plan:
        rows.append(("MACs", f"{data['macs']:,}", "", None))
    if (level := level_of(data.get("quality", {}))) is not None:
        rows.append(("SQNR", f"{level:.1f} dB", "against the float model", None))
    return rows


def _sum_text(parts: Sequence[Part]) -> str:
    if len(parts) == 1:
        return parts[0].note or parts[0].name
    return " + ".join(f"{part.bytes:,} {part.name}" for part in parts if part.bytes)


def _ram(report: Report) -> list[Part]:
    """RAM by part, as far as it is known: with stack and variables after a build or a measurement."""
    data, footprint, bench = report.data, report.footprint, report.bench
    if not report.is_plan:
        return [Part(name, size, "tensor") for name, size in data["pools"].items()]
    parts = [Part("arena", data["arena_bytes"], "tensor")]
    if data["state_bytes"]:
        parts.append(Part("state", data["state_bytes"], "state", "kept from call to call"))
    if footprint:
        variables = footprint["data"] + footprint["bss"]
        if not data["state_bytes"] and variables:  # the state is among the variables
            parts.append(Part("variables", variables, "input"))
    if bench:
        parts.append(Part("stack", bench["stack_bound"]["bytes"], "scratch", "at most"))
    elif footprint.get("stack"):
        parts.append(Part("stack", footprint["stack"], "scratch", footprint["stack_note"]))
    return parts


def _flash(report: Report) -> list[Part]:
    """Flash by part: of the image that was measured, of the build's trial link, or constants alone."""
    data, footprint, bench = report.data, report.footprint, report.bench
    if not report.is_plan:
        rest = data["constants_bytes"] - data["pte_bytes"]
        return [Part("program", data["pte_bytes"], "tensor"), Part("constants", rest, "band")]
    if bench:
        kinds = {"constants": "tensor", "kernels": "band", "plan": "scratch"}
        return [
            Part(name, size, kinds.get(name, "input"))
            for name, size in bench["flash_by_part"].items()
        ]
    if footprint:
        parts = [
            Part("constants", footprint["constants"], "tensor"),
            Part("code", footprint["code"], "band"),
        ]
        return parts + [Part("data", footprint["data"], "scratch")] * bool(footprint["data"])
    if image := data.get("weights"):
        return [Part("image of weights", image["image_bytes"], "tensor", "apart from the firmware")]
    note = "constants; code is known when the model is linked"
    return [Part("constants", data["constants_bytes"], "tensor", note)]


def _limits(report: Report) -> list[Limit]:
    data, footprint = report.data, report.footprint
    limits = data.get("limits", {})
    rows = []
    if limits.get("ram") is not None:
        used = footprint.get("ram") or data["arena_bytes"] + data["state_bytes"]
        rows.append(Limit("RAM_LIMIT", used, limits["ram"], "without stack"))
    if limits.get("flash") is not None:
        used = footprint.get("flash", data["constants_bytes"])
        rows.append(
            Limit("FLASH_LIMIT", used, limits["flash"], "" if footprint else "constants alone")
        )
    for region in data.get("regions", ()):
        used = region["bytes"] + region.get("state_bytes", 0)
        rows.append(Limit(region["name"], used, region["size"], f"memory for {region['kind']}"))
    return rows


def _facts(report: Report) -> list[tuple[str, str]]:
    """How the plan was made."""
    data = report.data
    facts = [
        ("command", data.get("command", "")),
        ("target", f"{data['target']['cpu']}, instruction set {data['target']['isa']}"),
    ]
    if report.is_plan:
        spared = data["operators_without_scratch"]
        bound = -(-data["arena_lower_bound_bytes"] // 16) * 16
        smallest = "no placement needs less" if bound == data["arena_bytes"] else (
            f"no placement needs less than {bound:,} B"
        )  # fmt: skip
        facts += [
            ("optimize", data["optimize"]),
            ("arena", f"{data['arena_bytes']:,} B; {smallest}"),
            ("constants", f"{data['constants_bytes']:,} B, needed "
             f"{data['constants_needed_bytes']:,} B"),
            ("kernels", f"{len(data['kernels'])}, of {', '.join(data['libraries'])}"),
        ]  # fmt: skip
        if image := data.get("weights"):
            facts.append(
                (
                    "weights",
                    f"apart, in an image of {image['image_bytes']:,} B for plan {image['plan']}",
                )
            )
        if removed := data.get("channels_removed", 0):
            facts.append(("constant channels removed", f"{removed:,}"))
        if spared:
            facts.append(("slower", f"{spared} operators by kernels with less scratch"))
    else:
        facts.append(("runtime", "ExecuTorch"))
        facts.append(("operators", ", ".join(data["operators"])))
    facts.append(("program", f"SHA-256 {data['program_sha256']}"))
    return [(name, text) for name, text in facts if text]


def _precision(quality: dict[str, Any]) -> dict[str, Any]:
    """What there is beside the layers: lines, channels, and what `cortexm quality` tried."""
    lines = [quality_line(quality["evaluation"])] if "evaluation" in quality else []
    lines += [f"accuracy {accuracy_text(quality['accuracy'])}"] if "accuracy" in quality else []
    channels = [
        (f"channel {each['channel']}", f"output {output['output']}", each)
        for output in quality.get("outputs", ())
        for each in output.get("channels", ())
    ]
    most = max([each["sqnr_db"] or 1.0 for *_, each in channels] + [1.0])
    found: dict[str, Any] = {
        "lines": lines,
        "channels": [
            Noise(name, output, _decibels(each), None, _place(each["sqnr_db"], most), False)
            for name, output, each in channels
        ],
        "losses": (),
    }
    if losses := quality.get("losses"):
        gains = [each["gain_db"] for each in losses["tried"]]
        top = max([gain for gain in gains if gain is not None] + [1.0])
        shares = [100.0 if gain is None else _place(gain, top) for gain in gains]
        rows = losses_rows(losses, len(gains))
        found["losses"] = [(*row, share) for row, share in zip(rows, shares, strict=True)]
        found["how"], found["tried"] = losses_line(losses), tried_table(quality)
    return found


def _place(value: float | None, most: float) -> float | None:
    """Where a value lies on a scale that ends at `most`, in per cent; None where there is none."""
    return None if value is None else max(0.0, min(100.0, 100 * value / most))


def _noise(data: dict[str, Any]) -> list[Noise]:
    entries = data.get("quality", {}).get("layers", ())
    worst = data.get("quality", {}).get("worst_layer")
    values = [
        entry[key]
        for entry in entries
        for key in ("before_sqnr_db", "sqnr_db")
        if entry[key] is not None
    ]
    most = max([*values, 1.0])

    return [
        Noise(
            entry["operator"],
            entry["layer"],
            _decibels(entry),
            _place(entry["before_sqnr_db"], most),
            _place(entry["sqnr_db"], most),
            worst is not None
            and (entry["operator"], entry["layer"]) == (worst["operator"], worst["layer"]),
        )
        for entry in entries
    ]


def _decibels(entry: dict[str, Any]) -> str:
    if entry["sqnr_db"] is None:
        return "exact" if entry["without"] == "noise" else "noise only"
    return f"{entry['sqnr_db']:.1f}"


def _bytes(count: int) -> str:
    return f"{count:,} B"


def _breaks(name: str) -> str:
    """A name that lines may break in, behind its dots and underscores."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([._])(?=\w)", r"\1<wbr>", str(escape(printable(name)))))


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ModuleNotFoundError:
        raise CortexMError(
            "the Python package 'jinja2' is missing, which pages and pictures need",
            hint="pip install jinja2",
        ) from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["px"] = lambda value: f"{value:.1f}".removesuffix(".0")
    environment.filters["breaks"] = _breaks
    environment.finalize = lambda value: printable(value, "\n\t") if type(value) is str else value
    return environment


def _render(template: str, **context: Any) -> str:
    return _environment().get_template(template).render(**context) + "\n"
