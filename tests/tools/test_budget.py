# SPDX-License-Identifier: Apache-2.0
"""No room of the checkout has more lines than scripts/budget.json allows."""

from __future__ import annotations

import json
from collections import Counter

import sz


def test_every_room_is_within_its_budget() -> None:
    above = sz.excess(sz.sizes(), json.loads(sz.BUDGET.read_text(encoding="utf-8")))
    assert not above, "\n".join(above)


def test_a_room_above_its_budget_is_told_with_what_to_do() -> None:
    found = Counter({"docs": 1_250, "tests": 7, "new": 1})
    new, docs = sz.excess(found, {"docs": 1_200, "tests": 7})
    assert new.startswith("new has no limit in scripts/budget.json")
    assert docs.startswith("docs: 1,250 is 50 above the limit of 1,200: take out as much")


def test_a_file_counts_in_all_rooms_around_it() -> None:
    assert sz.rooms("kernels/src/conv/conv.inc") == ["kernels", "kernels/src", "kernels/src/conv"]
    assert sz.rooms("kernels/ref/conv.c") == ["kernels", "kernels/ref"]
    assert sz.rooms("python/cortexm_tools/plan/search/tiles.py") == [
        "python",
        "python/cortexm_tools/plan",
    ]
    assert sz.rooms("python/cortexm_tools/cli.py") == ["python"]
    assert sz.rooms("tests/data/x/y.py") == ["tests"] and sz.rooms("README.md") == ["root"]
    assert sz.rooms("tests/data/x/y.json") == ["tables"]
