# SPDX-License-Identifier: Apache-2.0
"""RAM_LIMIT and FLASH_LIMIT, as far as the plan alone can tell.

Code size is known only once the model is linked; the build checks the whole then.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import CortexMError
from ..ir import DType
from .tables import operator_text, table

_UNITS = {
    "": 1,
    "B": 1,
    "K": 1024,
    "KB": 1024,
    "KIB": 1024,
    "M": 1024**2,
    "MB": 1024**2,
    "MIB": 1024**2,
}


def parse_size(text: str, where: str = "") -> int:
    """``65536``, ``64K``, ``64KB`` or ``1M`` as bytes (K is 1024).

    Args:
        where: what the size is of, for the message.

    Raises:
        CortexMError: anything else.
    """
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if match is None or match[2].upper() not in _UNITS:
        hint = "write bytes, or a number with K or M: 64K"
        raise CortexMError(f"{text!r} is no size", where=where, hint=hint)
    return int(match[1]) * _UNITS[match[2].upper()]


def check_limits(data: dict[str, Any], ram_limit: int | None, flash_limit: int | None) -> None:
    """Raises a CortexMError with a table of what takes the space if a limit is exceeded."""
    needed = data["arena_bytes"] + data["state_bytes"]
    if ram_limit is not None and needed > ram_limit:
        rows = sorted(
            (
                (
                    layer["live_bytes"],
                    operator_text(layer),
                    layer["layer"] or "-",
                    layer["outputs"][0],
                )
                for layer in data["layers"]
            ),
            reverse=True,
        )[:10]
        raise CortexMError(
            f"the smallest plan found needs {needed:,} bytes of RAM, "
            + (f"of them {data['state_bytes']:,} for the state, " if data["state_bytes"] else "")
            + f"RAM_LIMIT is {ram_limit:,}\n"
            + table(("live bytes", "operator", "layer", "result"), rows),
            where=data["name"],
            hint=f"make the largest layers smaller, {_io_hint(data)}or raise RAM_LIMIT",
        )
    if flash_limit is not None and data["constants_bytes"] > flash_limit:
        largest = sorted(
            (
                (layer["constants_bytes"], layer["operator"], layer["layer"] or "-")
                for layer in data["layers"]
            ),
            reverse=True,
        )[:10]
        raise CortexMError(
            f"constants alone need {data['constants_bytes']:,} bytes of flash, "
            f"FLASH_LIMIT is {flash_limit:,}\n" + table(("bytes", "operator", "layer"), largest),
            where=data["name"],
            hint="use fewer channels in the largest layers, or raise FLASH_LIMIT",
        )


def _io_hint(data: dict[str, Any]) -> str:
    """What IO int8 would help; empty for a model whose inputs and outputs are in int8."""
    borders = (*data["inputs"], *data["outputs"])
    return "use IO int8, " if any(one["dtype"] == DType.F32.value for one in borders) else ""
