# SPDX-License-Identifier: Apache-2.0
"""The rooms of plan/ import only what comes before them; check/ knows the types alone.

So what proves a plan shares no code with what made it.
"""

from __future__ import annotations

from tests.support.imports import rooms, wrong_imports

ORDER = ("kernels", "forms", "types", "budget", "lower", "memory", "choose", "search")
# What plan/ builds on.
OUTSIDE = {"advice", "errors", "ir", "kernels", "options", "paths", "progress", "target"}
MAY = {room: {*ORDER[: ORDER.index(room) + 1], *OUTSIDE} for room in ORDER}
MAY["search"].add("check")
MAY["check"] = {"check", "types", "errors", "ir"}
# The names of facts, and which instructions another library has.
KNOWN = {("plan.check.contracts", f"plan.kernels.{name}") for name in ("contract", "cmsis_nn")}


def test_rooms_import_only_what_comes_before_them() -> None:
    assert wrong_imports("plan", MAY) <= KNOWN


def test_every_module_has_a_room() -> None:
    assert rooms("plan").keys() == MAY.keys()
