# SPDX-License-Identifier: Apache-2.0
"""What `cortexm quality` found, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..pte.quality import accuracy_text, decibels_text, quality_line
from .tables import table

_CHANNELS = 16  # of an output, the worst ones
_LAYERS = 12  # of those that cost most


def quality_text(report: dict[str, Any]) -> str:
    """All of it, as tables."""
    data, target = report["quality"], report["target"]
    lines = [f"{report['name']} for {target['cpu']} ({target['isa']})", f"  {quality_line(data)}"]
    if "evaluation" in data:
        lines.append(f"  {quality_line(data['evaluation'])}")
    if "accuracy" in data:
        lines.append(f"  accuracy {accuracy_text(data['accuracy'])}")
    others = data.get("evaluation", {})
    header = ("", "SQNR", "beyond")
    more = ("evaluation", "beyond") if others else ()
    lines += ["", table(("output", *header[1:], *more), list(_outputs(data, others)))]
    if data["layers"]:
        rows = list(_layers(data, others))
        lines += ["", table(("operator", "layer", "before", *header[1:], *more), rows)]
    lines += [
        "",
        losses_line(data["losses"]),
        table(("gain", "operator", "layer"), losses_rows(data["losses"])),
    ]
    lines += ["", table(*tried_table(data))]
    return "\n".join(lines)


def losses_line(losses: dict[str, Any]) -> str:
    """How what a layer costs was tried."""
    return (
        f"what the outputs gain without the rounding of one layer, {len(losses['tried'])} of "
        f"{losses['layers']} tried on {losses['inputs']} inputs"
    )


def losses_rows(losses: dict[str, Any], most: int = _LAYERS) -> list[tuple[str, str, str]]:
    """What at most so many layers cost, of ``Losses.data()``: dB, operator and layer."""
    return [
        (
            "all" if each["gain_db"] is None else f"{round(each['gain_db'], 1) + 0.0:+.1f} dB",
            each["operator"],
            each["layer"] or "-",
        )
        for each in losses["tried"][:most]
    ]


def tried_table(data: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """The header, and the model as it is and as it was advised, with what each gives and takes."""
    tried = data["tried"]
    titles = {"RAM": "ram_bytes", "constants": "constants_bytes", "flash": "flash_bytes"}
    columns = {title: key for title, key in titles.items() if key in tried[0]}
    labelled = "accuracy" in tried[0]
    rows: list[tuple[object, ...]] = []
    for entry in tried:
        name = written_text(entry["quantization"])
        if "error" in entry:
            rows.append((name, entry["error"], *[""] * (len(columns) + 1 + labelled)))
            continue
        level = entry["sqnr_db"]
        rows.append(
            (
                name,
                "exact" if level is None else f"{level:.1f} dB",
                *([f"{entry['accuracy']:.2%}"] if labelled else []),
                *(f"{entry[key]:,} B" for key in columns.values()),
                f"{entry['instructions']:,}",
            )
        )
    count = "instructions" if tried[0]["counted"] else "instructions (estimate)"
    return ("built with", "SQNR", *["accuracy"] * labelled, *columns, count), rows


def written_text(quantization: dict[str, str]) -> str:
    """How a precision is written."""
    if not quantization:
        return "as it is"
    if "*" in quantization:
        return f"QUANTIZE {quantization['*']}"
    return "Quantization = {" + ", ".join(f'"{k}": "{v}"' for k, v in quantization.items()) + "}"


def _outputs(data: dict[str, Any], others: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """A row an output, and behind it one for each of its channels, the worst first."""
    rest = others.get("outputs") or [None] * len(data["outputs"])
    for output, other in zip(data["outputs"], rest, strict=True):
        name = str(output["output"])
        count = len(output.get("channels", ()))
        most = f", and the worst of {count} channels" if count > _CHANNELS else ""
        yield (f"{name} in all{most}", *_values(output), *(_values(other) if other else ()))
        also = other or {}
        is_same = also.get("dimension") == output.get("dimension")
        found = {each["channel"]: each for each in also.get("channels", ()) if is_same}
        for channel in output.get("channels", ())[:_CHANNELS]:
            number = channel["channel"]
            note = "constant" if number in output.get("constant", ()) else ""
            there = decibels_text(found[number]) if number in found else ""
            yield (
                f"{name} channel {number}",
                decibels_text(channel),
                note,
                *([there, ""] if also else ()),
            )


def _layers(data: dict[str, Any], others: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """A row a layer."""
    found = {(each["operator"], each["layer"]): each for each in others.get("layers", ())}
    for layer in data["layers"]:
        other = found.get((layer["operator"], layer["layer"]))
        yield (
            layer["operator"],
            layer["layer"] or "-",
            decibels_text(layer, "before_"),
            *_values(layer),
            *((_values(other) if other else ("", "")) if others else ()),
        )


def _values(entry: dict[str, Any]) -> tuple[str, str]:
    """The ratio over the whole, and the share of values beyond the range."""
    if "agreement" in entry:
        share = entry["agreement"]
        return ("empty" if share is None else f"{share:.1%} equal"), ""
    beyond = entry.get("beyond", 0.0)
    return decibels_text(entry), f"{beyond:.2%}" if beyond else ""
