# SPDX-License-Identifier: Apache-2.0
"""NAME.report.json: its format, what it says of the arena, and what is read with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cortexm_tools import cli
from cortexm_tools.errors import CortexMError
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.pte import read_pte
from cortexm_tools.report import report_data
from cortexm_tools.report.reading import FORMAT, read_report
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.random_graphs import random_network

STATES = Path(__file__).resolve().parents[1] / "data" / "states"


def live_bytes(data: dict[str, Any], step: int) -> int:
    """Bytes of the arena in use in a step, counted one by one from the buffers."""
    taken: set[int] = set()
    for buffer in data["buffers"]:
        if buffer["first"] <= step <= buffer["last"]:
            taken |= set(range(buffer["offset"], buffer["offset"] + buffer["bytes"]))
    return len(taken)


def check_layout(plan: Plan) -> dict[str, Any]:
    data = report_data(plan, name="net", digest="0")
    json.dumps(data)
    end = sum(arena["bytes"] for arena in data["arenas"])
    assert end == data["arena_bytes"] + data["state_bytes"]
    last = len(data["layers"]) - 1
    for buffer in data["buffers"]:
        assert 0 <= buffer["first"] <= buffer["last"] <= last
        assert 0 <= buffer["offset"] <= buffer["offset"] + buffer["bytes"] <= end
        for tensor in buffer["tensors"]:
            maker = tensor["layer"]
            assert maker is None or buffer["first"] <= maker <= buffer["last"]
            assert tensor["at"] >= 0 and (
                buffer["kind"] == "band" or tensor["at"] + tensor["bytes"] <= buffer["bytes"]
                or len(buffer["tensors"]) > 1
            )  # fmt: skip
    kinds = {buffer["kind"] for buffer in data["buffers"]}
    assert kinds <= {"input", "output", "tensor", "band", "scratch", "state"}
    assert ("state" in kinds) == bool(data["state_bytes"])
    for number, layer in enumerate(data["layers"]):
        assert all(-len(data["inputs"]) <= read < number for read in layer["reads"])
        if not data["state_bytes"]:
            assert live_bytes(data, number) == layer["live_bytes"], number
    return data


@pytest.mark.parametrize("seed", range(6))
def test_buffers_are_those_of_the_layers(seed: int) -> None:
    optimize = Optimize.SIZE if seed % 2 else Optimize.BALANCED
    check_layout(
        make_plan(simplify(random_network(seed)), Target.parse("cortex-m4"), optimize=optimize)
    )


def test_a_state_has_a_place_of_its_own() -> None:
    graph = simplify(read_pte((STATES / "frames.pte").read_bytes(), name="frames"))
    data = check_layout(make_plan(graph, Target.parse("cortex-m4")))
    assert data["arenas"][-1]["kind"] == "state" and data["arenas"][-1]["bytes"] > 0


def test_everything_beside_a_report_is_read(digits: Path, tmp_path: Path) -> None:
    report = read_report(digits / "digits.report.json")
    assert report.data["format"] == FORMAT and report.is_plan
    assert report.data["limits"] == {"ram": 8192, "flash": 32768}
    assert report.data["command"].startswith("cortexm compile digits.pte ")
    assert report.bench["instructions"] == sum(
        row["instructions"] for row in report.bench["layers"]
    )
    # What counted another plan is not taken for this one's, and refused where it was asked for.
    other = json.loads((digits / "digits.bench.json").read_text()) | {"arena_bytes": 1}
    stem = tmp_path / "digits"
    stem.with_suffix(".report.json").write_bytes((digits / "digits.report.json").read_bytes())
    stem.with_suffix(".bench.json").write_text(json.dumps(other))
    assert read_report(tmp_path / "digits.report.json").bench == {}
    with pytest.raises(CortexMError, match="another plan"):
        read_report(tmp_path / "digits.report.json", tmp_path / "digits.bench.json")


def test_other_formats_end_in_a_sentence(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads((digits / "digits.report.json").read_text())
    path = tmp_path / "x.report.json"

    def said(content: Any, *words: str) -> str:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        assert cli.main(["report", str(path), *words]) == 1
        error = capsys.readouterr().err
        assert error.startswith("error: ") and "Traceback" not in error
        return error

    assert "reads format 1" in said(data | {"format": FORMAT + 1})
    assert "older cortexm" in said({k: v for k, v in data.items() if k != "format"})
    for content in ("[]", "{}", "", '{"format": 1}', "nul", '{"format": true}', "[" * 100000):
        assert "is not a report" in said(content)
    # Whatever is missing or of another kind: a page, a picture or a sentence, never half of one.
    for words in ((), ("--html",), ("--svg",)):
        for key in data:
            for wrong in (None, [7]):
                path.write_text(json.dumps(data | {key: wrong}))
                assert cli.main(["report", str(path), *words]) in (0, 1), (key, wrong)
                assert "Traceback" not in capsys.readouterr().err
    said(data, "--out", "x.html")
    said(data, "--html", "--bench", str(path))


def test_every_key_is_documented(digits: Path) -> None:
    """Those of the digits, and of a model with states and regions."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    graph = simplify(read_pte((STATES / "frames.pte").read_bytes(), name="frames"))
    data = report_data(make_plan(graph, Target.parse("cortex-m4")), name="frames", digest="0")
    stored = json.loads((digits / "digits.report.json").read_text())
    for one in (stored, data):
        groups = (one, *one["layers"], *one["buffers"], *one["arenas"])
        keys = {key for group in groups for key in group}
        keys |= {key for buffer in one["buffers"] for tensor in buffer["tensors"] for key in tensor}
        missing = sorted(key for key in keys if f"`{key}`" not in text)
        assert not missing, missing
