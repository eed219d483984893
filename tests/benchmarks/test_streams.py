# SPDX-License-Identifier: Apache-2.0
"""What docs/streaming.md says of the cost of streams is what was recorded, and is worth it."""

from __future__ import annotations

import json

from benchmarks.streams import BLOCK, PAGE, RECORD, table


def test_the_table_is_the_recorded_one() -> None:
    results = json.loads(RECORD.read_text("utf-8"))
    found = BLOCK.search(PAGE.read_text("utf-8"))
    assert found and found[0] == found[1] + table(results) + found[2]


def test_a_call_takes_an_eighth_of_the_window_and_little_memory() -> None:
    rows = [
        row for cores in json.loads(RECORD.read_text("utf-8")).values() for row in cores.values()
    ]
    assert rows
    for row in rows:
        assert 8 * row["call"] <= row["window"]
        assert 2.6 * row["stream_ram"] <= row["window_ram"]
