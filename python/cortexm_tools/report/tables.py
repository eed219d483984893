# SPDX-License-Identifier: Apache-2.0
"""Tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import printable
from ..pte.quality import layer_rows, quality_line
from ..pte.rounded import rounded_line
from ..target import CORES, Core

_NAMED = 6  # so many float operators are named
_COMPUTING = ("int8", "a8w4", "a16w8", "a16w4", "float", "integer")
_COUNTED = {"operators": "operators that compute", "macs": "MACs"}


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns aligned: numbers to the right, words to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max(len(header[i]), *(len(row[i]) for row in cells)) if cells else len(header[i])
        for i in range(len(header))
    ]
    right = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    lines = [_line(header, widths, right)]
    lines += [_line(row, widths, right) for row in cells]
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return printable(str(value))
    return f"{value:,}"


def _line(words: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = [
        word.rjust(width) if is_right else word.ljust(width)
        for word, width, is_right in zip(words, widths, right, strict=True)
    ]
    return "  ".join(parts).rstrip()


def operator_text(layer: dict[str, Any]) -> str:
    """``add``, or ``conv2d + add in bands`` where several operators are computed together."""
    names = [one["operator"] for one in layer.get("bands_with", ())]
    return " + ".join([*names, layer["operator"]]) + (" in bands" if names else "")


def is_idle(layer: dict[str, Any]) -> bool:
    """Whether a step does nothing on the device: a view, another name for bytes that stay where they are."""
    return not layer["kernels"] and len(layer["reads"]) <= 1


def layer_table(data: dict[str, Any]) -> str:
    """One row an operator; whose kernels compute it, if not all are ours."""
    rows = [
        (
            layer["index"] + 1,
            operator_text(layer),
            layer["layer"] or "-",
            layer["precision"],
            layer["outputs"][0],
            layer["macs"],
            layer["constants_bytes"],
            layer["live_bytes"],
            layer.get("library") or "-",
        )
        for layer in data["layers"]
    ]
    header = (
        "#",
        "operator",
        "layer",
        "precision",
        "result",
        "MACs",
        "constants",
        "live RAM",
        "kernels",
    )
    if data.get("libraries", ["builtin"]) in (["builtin"], []):
        return table(header[:-1], [row[:-1] for row in rows])
    return table(header, rows)


def _image_lines(data: dict[str, Any]) -> list[str]:
    """The image of weights, where they lie apart from the code."""
    image = data.get("weights")
    if image is None:
        return []
    return [
        f"  image  {image['image_bytes']:>10,} B {data['name']}.weights.bin, plan {image['plan'][:8]}"
    ]


def summary(data: dict[str, Any]) -> str:
    """The few lines that every build prints."""
    target = data["target"]
    work = ", ".join(
        f"{entry['operators']} {kind}" + (f" ({entry['macs']:,} MACs)" if entry["macs"] else "")
        for kind, entry in sorted(data["work"].items())
    )
    bound = -(-data["arena_lower_bound_bytes"] // 16) * 16  # arenas are whole blocks of 16
    proof = (
        "optimal" if bound == data["arena_bytes"] else f"no placement needs less than {bound:,} B"
    )
    regions = [
        f"  region {entry['bytes'] + entry.get('state_bytes', 0):>10,} B of {entry['size']:,} in "
        f"{entry['name']} ({entry['kind']})"
        for entry in data.get("regions", ())
    ]
    others = [name for name in data.get("libraries", ()) if name != "builtin"]
    chains = [layer for layer in data["layers"] if layer.get("bands_with")]
    bands = [
        f"  bands  {sum(len(chain['bands_with']) + 1 for chain in chains)} operators in bands of rows, "
        f"{sum(chain['moved_bytes'] for chain in chains):,} B moved, no row computed twice"
    ]
    state = [
        f"  state  {data.get('state_bytes', 0):>10,} B kept from call to call, beside the arena"
    ]
    spared = data.get("operators_without_scratch", 0)
    slower = [f"  slower {spared} operators by kernels with less scratch, for less RAM"]
    removed = data.get("channels_removed", 0)
    constant = [f"  less   {removed:,} constant channel{'s' * (removed > 1)} removed"]
    joined = [is_there for layer in data["layers"] for is_there in layer.get("joined", ())]
    joins = [
        f"  joins  {sum(joined)} of {len(joined)} operands of concatenations computed in place"
    ]
    turned = data.get("turned_inputs", ())
    layout = [
        f"  layout {', '.join(turned)} turned from NCHW to NHWC; INPUT_LAYOUT nhwc takes frames as cameras "
        "give them"
    ]
    return "\n".join(
        (
            f"{data['name']} for {target['cpu']} ({target['isa']})",
            f"  RAM    {data['arena_bytes']:>10,} B arena ({proof})",
            *(state if data.get("state_bytes") else ()),
            *stream_lines(data),
            f"  {'apart' if 'weights' in data else 'flash'}  {data['constants_bytes']:>10,} B constants "
            f"({_overhead(data)})",
            *_image_lines(data),
            *regions,
            *(bands if chains else ()),
            *(slower if spared else ()),
            *(joins if joined else ()),
            *(layout if turned else ()),
            *("  saving " + line for line in alternative_lines(data)),
            f"  work   {work}",
            *(constant if removed else ()),
            *float_lines(data),
            *quality_lines(data),
            *(f"  {name} computes {_shares(data, name)}" for name in others),
        )
    )


def float_lines(data: dict[str, Any]) -> tuple[str, ...]:
    """Which operators compute in float32; nothing where none does."""
    work = data["work"]
    found = [layer for layer in data["layers"] if layer["precision"] == "float"]
    if not found:
        return ()
    kinds = [work[kind] for kind in _COMPUTING if kind in work]
    counts = [(work["float"][key], sum(kind[key] for kind in kinds)) for key in _COUNTED]
    shares = [f"{some:,} of {total:,} {_COUNTED[key]}" for key, (some, total) in
              zip(_COUNTED, counts, strict=True) if total]  # fmt: skip
    names = [
        f"{layer['operator']} of {layer['layer']}" if layer["layer"] else layer["operator"]
        for layer in found
    ]
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    listed = ", ".join(names[:_NAMED])
    cost = CORES[Core(data["target"]["cpu"])].float_mac
    macs = work["float"]["macs"]
    emulated = (
        f"  float  this core has no FPU: about {cost} instructions for each MAC in float32, "
        f"{cost * macs:,} in all"
    )
    line = f"  float  {' and '.join(shares)} in float32: {listed}{more}"
    return (line, emulated) if cost and macs else (line,)


def stream_lines(data: dict[str, Any]) -> tuple[str, ...]:
    """What a call of a stream takes, and how it compares with the window; nothing for other models."""
    found = data.get("stream")
    if found is None:
        return ()
    lines = [
        f"  stream {found['hop']:>10,} of {found['window']:,} frames a call, "
        f"{found['call_macs']:,} MACs in place of {found['window_macs']:,}"
    ]
    if first := found.get("whole"):
        lines.append(
            f"  saves no MAC: {first} reads the whole window in every call; dimension {found['dim']} "
            "may not be time to it"
        )
    count = found["windows_compared"]
    if not found["causal"]:
        lines.append(f"  equals the model over the window in every byte ({count} windows compared)")
    else:
        noise = found["sqnr_db"]
        said = "equal" if noise is None else f"{noise:.1f} dB"
        lines.append(
            f"  causal: {said} against the model over the window ({count} windows compared), "
            f"{found['delay']:,} frame{'s' * (found['delay'] != 1)} late"
        )
    return tuple(lines)


def quality_lines(data: dict[str, Any]) -> tuple[str, ...]:
    """How close the quantized model is to the float one; nothing for reports that do not say it."""
    if "quality" not in data:
        return ()
    rounded = rounded_line(data["quality"])
    return (f"  SQNR   {quality_line(data['quality'])}", *([f"  {rounded}"] if rounded else []))


def quality_table(data: dict[str, Any]) -> str:
    """One row an operator of the float model: the noise in its operands and in its result."""
    rows = layer_rows(data.get("quality", {}))
    return table(("operator", "layer", "before", "SQNR"), rows) if rows else ""


def decibels_of(data: dict[str, Any]) -> dict[tuple[str, str], float]:
    """dB behind each layer of the model, by its path and source line."""
    found: dict[str, float] = {
        entry["layer"]: entry["sqnr_db"]
        for entry in data.get("quality", {}).get("layers", ())
        if entry["layer"] and entry["sqnr_db"] is not None
    }
    places = {(layer["layer"], layer["source"]) for layer in data["layers"]}
    return {
        (path, source): found[text]
        for path, source in places
        if (text := f"{path} ({source})" if path and source else path or source) in found
    }


def alternative_lines(data: dict[str, Any]) -> list[str]:
    """What other plans would give, where that is much: see plan/search/alternatives.py."""
    return [
        f"{entry['ram_bytes']:,} B RAM instead of {data['arena_bytes'] + data['state_bytes']:,} with "
        f"{_option(entry)}, {_more(entry['instructions'])} (estimate)"
        for entry in data.get("alternatives", ())
    ]


def _option(entry: dict[str, Any]) -> str:
    """What leads to another plan."""
    if "io" not in entry:
        return f"OPTIMIZE {entry['optimize']}"
    return f"IO {' or '.join(entry['io'])} (codes at inputs and outputs, in place of floats)"


def _more(ratio: float) -> str:
    """How a number of instructions differs from another one: in whole per cent."""
    percent = round(100 * (ratio - 1))
    if percent == 0:
        return "about as many instructions"
    return f"about {abs(percent)} % {'more' if percent > 0 else 'fewer'} instructions"


def _overhead(data: dict[str, Any]) -> str:
    """How far the constants exceed what the model needs."""
    needed = data["constants_needed_bytes"]
    over = data["constants_bytes"] / needed - 1 if needed else 0.0
    return f"needed: {needed:,} B, +{100 * over:.1f} %"


def _shares(data: dict[str, Any], library: str) -> str:
    layers = [layer for layer in data["layers"] if layer["kernels"]]
    own = [layer for layer in layers if layer["library"] == library]
    macs, total = (sum(layer["macs"] for layer in some) for some in (own, layers))
    return f"{len(own)} of {len(layers)} operators, {macs:,} of {total:,} MACs"
