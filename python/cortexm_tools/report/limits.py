# SPDX-License-Identifier: Apache-2.0
"""RAM_LIMIT and FLASH_LIMIT, as far as the plan alone can tell.

Code size is known only once the model is linked; the build checks the whole then.
"""

from __future__ import annotations

from typing import Any

from ..errors import CortexMError
from ..ir import DType
from .tables import operator_text, table


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
            hint="make the largest layers smaller, "
            f"{_io_hint(data)}{_layout_hint(data, ram_limit)}or raise RAM_LIMIT",
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


def _layout_hint(data: dict[str, Any], ram_limit: int) -> str:
    """What INPUT_LAYOUT nhwc would help: where more is needed only while an image at an input is turned."""
    room = ram_limit - data["state_bytes"]
    exceeding = [layer for layer in data["layers"] if layer["live_bytes"] > room]
    images = {
        f"{one['dtype']} {'x'.join(map(str, one['shape']))}"
        for one in data["inputs"]
        if one["name"] in data["turned_inputs"]
    }
    turning = all(images & set(each["inputs"]) for each in exceeding)
    return "use INPUT_LAYOUT nhwc, " if images and exceeding and turning else ""
