# SPDX-License-Identifier: Apache-2.0
"""Files of .tflite beside TFLite Micro: what is recorded, and what a measurement of others gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import litert
from benchmarks.litert import measured
from benchmarks.suite.litert import RECORD, means, pairs
from tests.litert.networks import net_bytes

DATA = json.loads(RECORD.read_text("utf-8"))


def test_every_file_is_measured_on_both_sides() -> None:
    names = {file["name"] for file in DATA["files"].values()}
    assert len(names) == len(DATA["files"])
    for cpu, rows in DATA["tflm"].items():
        assert set(rows) == set(DATA["ours"][cpu]) == set(DATA["size"][cpu]) == names


def test_means_leave_out_what_tflm_has_no_figure_of() -> None:
    theirs = {"arena": 60, "variables": 30, "stack": 10, "instructions": 8, "code_flash": 9}
    row = {"arena": 20, "variables": 0, "stack_bound": 5, "instructions": 2, "code_flash": 9}
    ours = {"cpu": dict.fromkeys(("a", "other.tflite"), row | {"constants": 1})}
    rows = pairs(ours, {"cpu": {"a": theirs | {"constants": 2}}}, "cpu")
    assert rows == {
        "a": [(2, 8), (9, 9), (1, 2), (25, 100)],
        "other.tflite": [(2, None), (9, None), (1, None), (25, None)],
    }
    assert means(rows) == [0.25, 1.0, 0.5, 0.25]


def test_files_are_known_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litert, "measure", lambda *given: {"instructions": 1})
    file = tmp_path / "kws_ref_model.tflite"
    file.write_bytes(net_bytes())
    rows = measured([file], ["cortex-m55"], DATA["files"], "ours")
    assert rows == {"cortex-m55": {"kws_ref_model.tflite": {"instructions": 1}}}
