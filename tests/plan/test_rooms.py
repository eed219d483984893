# SPDX-License-Identifier: Apache-2.0
"""The rooms of plan/ import only what comes before them; check/ knows the types alone.

So what proves a plan shares no code with what made it.
"""

from __future__ import annotations

from pathlib import Path

import cortexm_tools.plan

from tests.support.imports import imported_modules

PLAN = Path(cortexm_tools.plan.__file__).parent
ORDER = ("kernels", "types", "budget", "lower", "memory", "search")
# What plan/ builds on.
OUTSIDE = {"advice", "errors", "ir", "kernels", "options", "paths", "target"}
MAY = {room: {*ORDER[: ORDER.index(room) + 1], *OUTSIDE} for room in ORDER}
MAY["search"].add("check")
MAY["check"] = {"check", "types", "errors", "ir"}


def _room(path: Path) -> str:
    return path.relative_to(PLAN).parts[0].removesuffix(".py")


def test_rooms_import_only_what_comes_before_them() -> None:
    found = {
        (str(path.relative_to(PLAN)), module)
        for path in PLAN.rglob("*.py")
        if path != PLAN / "__init__.py"
        for module in imported_modules(path)
        if module.removeprefix("plan.").split(".")[0] not in MAY[_room(path)]
    }
    assert not found


def test_every_module_has_a_room() -> None:
    rooms = {_room(path) for path in PLAN.rglob("*.py")} - {"__init__"}
    assert rooms == MAY.keys()
