# SPDX-License-Identifier: Apache-2.0
"""The rooms of frontend/ import only what comes before them."""

from __future__ import annotations

from tests.support.imports import rooms, wrong_imports

ORDER = ("nodes", "origin", "quiet", "load", "rewrites", "capture", "quantize", "lower")
# What frontend/ builds on.
OUTSIDE = {
    *("advice", "arrays", "errors", "ir", "options"),
    *("packages", "paths", "progress", "pte", "runner", "target"),
}
MAY = {room: {*ORDER[: ORDER.index(room) + 1], *OUTSIDE} for room in ORDER}
# A rewrite takes a graph, wherever that comes from, and the precisions of its calls.
MAY["rewrites"] = {"nodes", "rewrites", "ir", "options"}


def test_rooms_import_only_what_comes_before_them() -> None:
    assert not wrong_imports("frontend", MAY)


def test_every_module_has_a_room() -> None:
    assert rooms("frontend").keys() == MAY.keys()
