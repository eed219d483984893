# SPDX-License-Identifier: Apache-2.0
"""The sidecar ``NAME.layers.json``: which layer of the user's model each instruction came from.

A .pte carries no source positions. The frontend writes them beside it, one entry per kernel call in
program order, together with the .pte's SHA-256, so that a sidecar that belongs to another .pte is
recognised and ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from ..documents import DAMAGE, json_of
from ..errors import printable
from ..ir.types import Layer

FORMAT = 1

NamedLayer = tuple[str, Layer]
"""An operator's name as the .pte has it (``cortex_m::quantized_add``) and its layer."""


def layers_to_json(pte: bytes, layers: Sequence[NamedLayer]) -> str:
    """The text of the sidecar of `pte`; `layers` in the order of its kernel calls."""
    document = {
        "format": FORMAT,
        "pte_sha256": hashlib.sha256(pte).hexdigest(),
        "kernel_calls": [
            {"op": op, "path": layer.path, "source": layer.source, "call": layer.call}
            for op, layer in layers
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _layer(call: dict[str, object]) -> Layer:
    return Layer(_name(call["path"]), _name(call["source"]), _name(call.get("call", "")))


def layers_from_json(text: bytes | str, pte: bytes) -> tuple[NamedLayer, ...]:
    """The layers in the sidecar `text`, or () if it is damaged or belongs to another .pte.

    Layer names only make messages better, so nothing here is an error.
    """
    try:
        document = json_of(text)
        if document["format"] != FORMAT:
            return ()
        if document["pte_sha256"] != hashlib.sha256(pte).hexdigest():
            return ()
        return tuple((_name(call["op"]), _layer(call)) for call in document["kernel_calls"])
    except DAMAGE:
        return ()


def _name(value: object) -> str:
    return printable(str(value))
