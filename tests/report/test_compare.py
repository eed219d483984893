# SPDX-License-Identifier: Apache-2.0
"""`cortexm compare`: what it compares, what it refuses, and when it fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cortexm_tools import cli
from cortexm_tools.cli.sides import labels_of
from cortexm_tools.errors import CortexMError
from cortexm_tools.report.change import QUANTITIES, exceeded, parse_allowed
from cortexm_tools.report.compare import compare_reports
from cortexm_tools.report.reading import read_report

from tests.report.conftest import DIGITS
from tests.support.browser import Browser, tab


@pytest.fixture
def pair(digits: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two folders: the digits as they are, and worse in everything."""
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
        for kind in ("report", "bench"):
            shutil.copy(digits / f"digits.{kind}.json", folder)
        footprint = {"stack": 400, "flash": 18000, "code": 7000, "ram": 3536}
        (folder / "digits.footprint.json").write_text(json.dumps(footprint))

    def change(kind: str, **values: Any) -> None:
        path = b / f"digits.{kind}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    report = json.loads((b / "digits.report.json").read_text())
    bench = json.loads((b / "digits.bench.json").read_text())
    bench["layers"][1]["instructions"] += 1000
    layers = report["layers"]
    layers[1]["live_bytes"] += 16
    layers[2]["operator"] = "another"
    change("report", arena_bytes=report["arena_bytes"] + 160, layers=layers, optimize="size")
    change(
        "bench",
        arena_bytes=report["arena_bytes"] + 160,
        instructions=bench["instructions"] + 1000,
        layers=bench["layers"],
    )
    change("footprint", stack=440, flash=18100)
    return a, b


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = cli.main(["compare", *map(str, words)])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return status, out, err


def test_what_differs_is_said(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], browser: Browser, tmp_path: Path
) -> None:
    a, b = pair
    page = tmp_path / "compare.html"
    status, out, _ = said(capsys, a / "digits.report.json", b, "--html", "--out", page)
    assert status == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert rows["ram"] == ["3,536", "B", "3,696", "B", "+4.5", "%"]
    assert rows["flash"] == ["18,000", "B", "18,100", "B", "+0.6", "%"]
    assert rows["stack"] == ["400", "B", "440", "B", "+10.0", "%"]
    assert rows["optimize"] == ["speed", "size"]
    assert "another" in rows and "12 of 15 layers are the same" in out
    data = json.loads(said(capsys, a, b, "--json")[1])
    (row,) = [row for row in data["quantities"] if row["name"] == "instructions"]
    assert row["b"] - row["a"] == 1000 and data["same_program"] and data["counted"]
    alone = [row for row in data["layers"] if None in (row["a"], row["b"])]
    assert [row["operator"] for row in alone] == ["depthwise_conv2d", "another"]
    assert str(tmp_path) not in page.read_text(encoding="utf-8")
    with tab(browser, page, width=390) as one:
        assert one.errors() == [] and one.requests() == []
        assert one.run("document.documentElement.scrollWidth") == 390
        assert one.run("document.querySelectorAll('svg.arena').length") == 2
        shown = one.run("document.querySelector('#quantities').textContent")
        assert "3,696 B" in shown and "+10.0 %" in shown
        assert one.run("document.querySelectorAll('.layers tbody tr').length") == 3
    # Nothing differs from itself.
    same = said(capsys, a, a, "--fail-on", ",".join(q.name for q in QUANTITIES if q.name != "sqnr"))
    assert same[0] == 0 and "14 of 14 layers are the same" in same[1]


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("/x/y/one.json", "/x/y/two.json", ("one.json", "two.json")),
        ("/x/before/net.json", "/y/after/net.json", ("before/net.json", "after/net.json")),
        ("/x/net.json", "/x/net.json", ("net.json", "net.json")),
        ("a/net.json", "/x/net.json", ("a/net.json", "x/net.json")),
        ("/net.pte", "/net.pte --io int8", ("net.pte", "net.pte --io int8")),
        (
            "'/x/a net.pte' --calibration=/data/c.npz",
            "../net.pte --input in.npz",
            ("a net.pte --calibration=c.npz", "../net.pte --input in.npz"),
        ),
    ],
)
def test_sides_are_called_by_what_tells_them_apart(a: str, b: str, told: tuple[str, str]) -> None:
    assert labels_of(a, b) == told
    assert labels_of(b, a) == told[::-1]


def test_models_and_their_options_are_compared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    spaced = tmp_path / "a model.pte"
    shutil.copy(DIGITS, spaced)
    words = (spaced, f"'{spaced}' --optimize size", "--cpu", "cortex-m4", "--json")
    data = json.loads(said(capsys, *words)[1])
    assert data["a"]["target"] == data["b"]["target"] == {"cpu": "cortex-m4", "isa": "dsp"}
    assert (data["a"]["optimize"], data["b"]["optimize"]) == ("balanced", "size")
    ram = data["quantities"][0]
    assert ram["name"] == "ram" and ram["b"] < ram["a"]
    # Its own options come after those for both.
    words = (DIGITS, f"{DIGITS} --cpu cortex-m0", "--cpu", "cortex-m3", "--require-int8", "--json")
    data = json.loads(said(capsys, *words)[1])
    assert [data[side]["target"]["cpu"] for side in "ab"] == ["cortex-m3", "cortex-m0"]


def test_builds_with_several_models_are_compared_model_by_model(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sides = [tmp_path / "before", tmp_path / "after"]
    for side, folder in zip(sides, pair, strict=True):
        for name in ("one", "two", *(["new"] if side.name == "after" else [])):
            report = json.loads((folder / "digits.report.json").read_text())
            (side / name).mkdir(parents=True)
            (side / name / f"{name}.report.json").write_text(json.dumps(report | {"name": name}))
    status, out, err = said(capsys, *sides, "--fail-on", "ram+4%")
    assert status == 1 and "error: one: ram went" in err and "error: two: ram went" in err
    assert out.count("3,696 B") >= 2 and out.rstrip().endswith(f"new is in {sides[1]} alone")
    data = json.loads(said(capsys, *sides, "--json")[1])
    assert [each["b"]["name"] for each in data] == ["one", "two"]
    status, *_ = said(capsys, *sides, "--html", "--out", tmp_path / "page.html")
    assert status == 0 and {p.name for p in tmp_path.glob("*.html")} == {
        "page-one.html",
        "page-two.html",
    }


def test_it_fails_where_a_limit_is_exceeded(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = pair
    for limits, message in (
        ("ram+4%", "ram went from 3,536 B to 3,696 B (+4.5 %), --fail-on ram+4% allows less"),
        ("ram+159", "ram went"),
        ("flash", "flash went"),
        ("ram+5%,stack+9.9%", "stack went"),
        ("instructions+999", "instructions went"),
    ):
        status, out, err = said(capsys, a, b, "--fail-on", limits)
        assert status == 1 and f"error: {message}" in err and out, limits
    for limits in ("ram+5%", "ram+160", "flash+1K,code", "stack+10%", "instructions+1000", "macs"):
        assert said(capsys, a, b, "--fail-on", limits)[0] == 0, limits
        assert said(capsys, b, a, "--fail-on", limits.split("+")[0].split(",")[0])[0] == 0, limits


def test_fewer_decibels_are_worse(pair: tuple[Path, Path]) -> None:
    reports = [read_report(folder / "digits.report.json") for folder in pair]
    for report, decibels in zip(reports, (30.0, 29.0), strict=True):
        report.data["quality"] = {"outputs": [{"sqnr_db": 50.0}, {"sqnr_db": decibels}]}
    data = compare_reports(*reports, ("a", "b"))
    values = {row["name"]: (row["a"], row["b"]) for row in data["quantities"]}
    assert values["sqnr"] == (30.0, 29.0)
    assert exceeded(parse_allowed("sqnr-1"), values) == []
    assert len(exceeded(parse_allowed("sqnr-0.9"), values)) == 1
    assert exceeded(parse_allowed("sqnr"), {"sqnr": (29.0, 30.0)}) == []
    assert len(exceeded(parse_allowed("state+5%"), {"state": (0, 1)})) == 1


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("rem+1%", "unknown quantity 'rem'", "'ram'"),
        ("ram-1%", "less ram is better", "ram+1%"),
        ("sqnr+1", "more sqnr is better", "sqnr-1"),
        ("sqnr-1%", "decibels are a ratio", "sqnr-1"),
        ("ram+1%,ram+2", "given twice", "ram+1%"),
        ("instructions+1K", "not in bytes", "ram+1%"),
        ("ram+1.5K", "is not a size", "K or M"),
        ("ram+1.5.2", "is no number", "ram+1%"),
        ("ram=1%", "is no limit", "ram+1%"),
        ("ram,", "is no limit", "ram+1%"),
    ],
)
def test_limits_that_mean_nothing(text: str, message: str, hint: str) -> None:
    with pytest.raises(CortexMError) as caught:
        parse_allowed(text)
    assert message in caught.value.message and hint in caught.value.hint


def test_what_cannot_be_compared(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    a, b = pair
    for side in pair:
        (side / "digits.bench.json").unlink()
    (b / "digits.footprint.json").unlink()
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, message, hint in (
        ((a, b, "--fail-on", "flash+1%"), "flash is not known of B", "NAME.footprint.json"),
        ((a, b, "--fail-on", "instructions"), "not known of A and B", "--measure"),
        ((a, b, "--fail-on", "sqnr"), "sqnr is not known of A and B", "model.py"),
        ((a, empty), "the folder has 0 reports", "there are: none"),
        ((a, f"{DIGITS} --cpu"), "these are no options of a model", "bench --help"),
        ((a, f"{DIGITS} '"), "No closing quotation", "quotes"),
        ((a, ""), "an empty word", ""),
        ((a, tmp_path / "no.pte"), "no such file", "model.py"),
        ((a, tmp_path / "no.json"), "cannot read", ""),
        ((a, b, "--out", "x.html"), "--out is for --html", "--html"),
    ):
        status, _, err = said(capsys, *words)
        assert status == 1 and message in err and hint in err, words
