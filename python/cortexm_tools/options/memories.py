# SPDX-License-Identifier: Apache-2.0
"""The memories of a target, as REGIONS describes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import CortexMError, printable
from .sizes import parse_size

_KINDS = ("ram", "fast", "weights")
_SPEC = re.compile(r"(?P<name>[^=]+)=(?P<size>[^:@]+)(:(?P<kind>[^@]*))?(?P<section>@.*)?")


@dataclass(frozen=True)
class Region:
    """A memory of the target.

    Attributes:
        size: bytes of it that the model may use.
        kind: ``ram`` for tensors, ``fast`` for the tensors used most, ``weights`` for constants.
        section: linker section of what is placed there; empty for the compiler's choice.
    """

    name: str
    size: int
    kind: str
    section: str


def parse_region(text: str) -> Region:
    """``name=size[:ram|fast|weights][@section]``; without a section, one named after the region.

    Raises:
        CortexMError: the text has another form.
    """
    match = _SPEC.fullmatch(text.strip())
    hint = "write name=size[:ram|fast|weights][@section], as in dtcm=128K:fast"
    if match is None:
        raise CortexMError(f"{text!r} describes no memory region", hint=hint)
    name, kind = match["name"], match["kind"] or "ram"
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise CortexMError(f"region name {name!r} is not a C identifier", where=text, hint=hint)
    if kind not in _KINDS:
        raise CortexMError(f"unknown kind of region {kind!r}", where=text, hint=hint)
    size = parse_size(match["size"], text)
    what = "weights" if kind == "weights" else "arena"
    section = match["section"][1:] if match["section"] else f".cortexm.{what}.{name}"
    return Region(name, size, kind, section_name(section, text))


def section_name(text: str, where: str = "") -> str:
    """`text`, which names a linker section, or is empty.

    Raises:
        CortexMError: it holds characters that assemblers and linker scripts take for something else.
    """
    if re.fullmatch(r"[A-Za-z0-9_.$]*", text):
        return text
    raise CortexMError(
        f"{printable(text)!r} cannot name a linker section",
        where=where,
        hint="use letters, digits, '_', '.' and '$'",
    )


def parse_regions(texts: Sequence[str]) -> tuple[Region, ...]:
    """All regions of a target; at least one of kind ram if any holds tensors.

    Raises:
        CortexMError: a bad description, a name given twice, or fast memory without any other.
    """
    regions = tuple(parse_region(text) for text in texts)
    # Their macros are in capitals.
    names = [region.name.lower() for region in regions]
    for name in names:
        if names.count(name) > 1:
            raise CortexMError(
                f"region {name!r} is given twice",
                hint="give each memory a name of its own, and not only in capitals",
            )
    kinds = {region.kind for region in regions}
    if "fast" in kinds and "ram" not in kinds:
        raise CortexMError(
            "all RAM regions are fast: one must hold the inputs and outputs",
            hint="drop ':fast' from the largest",
        )
    return regions
