# SPDX-License-Identifier: Apache-2.0
"""The report as a page: in a browser, on a narrow screen, by keyboard, in the dark; and its picture."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cortexm_tools import cli
from cortexm_tools.report import page as page_module
from cortexm_tools.report.page import arena_svg, report_html
from cortexm_tools.report.reading import Report, read_report

from tests.support.browser import Browser, Tab, tab

EVIL = "</script><script>hit=1</script><img src=x onerror=hit=1>\"'&{{7*7}}\u202e\x1b"


@pytest.fixture(scope="session")
def page(digits: Path) -> Path:
    assert cli.main(["report", str(digits / "digits.report.json"), "--html", "--svg"]) == 0
    return digits / "digits.report.html"


def text_of(one: Tab, selector: str) -> str:
    return str(one.run(f"document.querySelector({json.dumps(selector)}).textContent"))


def place_of(one: Tab, number: int) -> tuple[float, float]:
    """The middle of a rectangle of the arena, scrolled to."""
    script = (
        f"(() => {{ const box = document.querySelectorAll('.arena .box rect')[{number}];"
        "box.scrollIntoView({block: 'center', inline: 'center'});"
        "const r = box.getBoundingClientRect();"
        "return [r.x + r.width / 2, r.y + r.height / 2] })()"
    )
    x, y = one.run(script)
    return x, y


def test_the_page_says_what_the_report_has(page: Path, browser: Browser) -> None:
    report = read_report(page.with_suffix(".json"))
    data = report.data
    with tab(browser, page) as one:
        assert one.requests() == [] and one.errors() == []
        assert text_of(one, "h1").split() == ["digits", "on", "cortex-m55", "(mve)"]
        count = "document.querySelectorAll('.arena .box').length"
        assert one.run(count) == len(data["buffers"])
        busiest = max(data["layers"], key=lambda layer: layer["live_bytes"])
        assert f"{busiest['live_bytes']:,} in step {busiest['index'] + 1}" in text_of(one, ".about")
        shown = [row.split("\t") for row in one.run(
            "[...document.querySelectorAll('.layers tbody tr')].map(row =>"
            "[...row.cells].map(cell => cell.textContent).join('\\t')).join('\\n')"
        ).split("\n")]  # fmt: skip
        titles = one.run(
            "[...document.querySelectorAll('.layers th')].map(th => th.textContent).join('\\t')"
        ).split("\t")
        for row, layer, counted in zip(shown, data["layers"], report.bench["layers"], strict=True):
            cells = dict(zip(titles, row, strict=True))
            assert cells["operator"] == layer["operator"]
            assert cells["instructions"] == f"{counted['instructions']:,}"
            assert cells["live RAM"] == f"{layer['live_bytes']:,}"
        parts = text_of(one, "#memory")
        for part, size in report.bench["flash_by_part"].items():
            assert re.search(rf"{re.escape(part)}\s*{size:,} B", parts), part
        assert "8,192" in parts and "32,768" in parts
        # Pointing at a rectangle names its tensor, with layer and shape.
        one.point(*place_of(one, 0))
        largest = max(data["buffers"], key=lambda b: b["bytes"] * (b["last"] - b["first"] + 1))
        about = text_of(one, ".about")
        assert largest["tensors"][0]["type"] in about and f"{largest['bytes']:,} bytes" in about
        assert f"step {largest['tensors'][0]['layer'] + 1}, " in about


def test_the_keyboard_goes_through_the_arena_and_the_table_is_sorted(
    page: Path, browser: Browser
) -> None:
    with tab(browser, page) as one:
        one.run("document.querySelector('#clock').focus()")
        one.press("Tab")
        first = text_of(one, ".about")
        assert "input" in first, "the first rectangle is the input"
        one.press("ArrowRight")
        second = text_of(one, ".about")
        one.press("ArrowLeft")
        assert second != first
        one.press("Tab")  # one stop only: the next one is behind the picture
        assert one.run("document.activeElement.closest('.arena') === null")
        order = (
            "[...document.querySelectorAll('.layers tbody tr')].map(r => r.cells[0].textContent)"
        )
        assert one.run(order) == [str(n + 1) for n in range(14)]
        column = one.run(
            "[...document.querySelectorAll('.layers th')].findIndex(h => h.textContent == 'MACs')"
        )
        button = (
            f"document.querySelectorAll('.layers th')[{column}].querySelector('button').click()"
        )
        values = (
            "[...document.querySelectorAll('.layers tbody tr')]"
            f".map(r => Number(r.cells[{column}].dataset.value))"
        )
        one.run(button)
        assert one.run(values) == sorted(one.run(values), reverse=True)
        one.run(button)
        assert one.run(values) == sorted(one.run(values))
        # Half the clock is twice the time.
        times = "document.querySelector('.figures [data-cycles]')"
        before = one.run(f"{times}.textContent")
        low, high = map(float, before.split()[0].split("–"))
        set_to = "clock.value = '{}', clock.dispatchEvent(new Event('input'))"
        one.run(set_to.format(50))
        slow = one.run(f"{times}.textContent").split()[0].split("–")
        assert [float(x) for x in slow] == pytest.approx([2 * low, 2 * high], abs=0.011)
        one.run(set_to.format(100))
        assert one.run(f"{times}.textContent") == before, "layers.py and page.js write times alike"
        assert one.errors() == []


def test_it_fits_a_phone_and_is_dark_where_the_system_is(page: Path, browser: Browser) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with tab(browser, page, width=390, height=844, dark=True) as one:
        assert one.run("document.documentElement.scrollWidth") == 390
        small = one.run(
            "[...document.querySelectorAll('p, td, li, dd')].filter(e => e.offsetWidth && "
            "parseFloat(getComputedStyle(e).fontSize) < 12).length"
        )
        assert small == 0
        assert one.run(colour) == "rgb(20, 25, 30)"
        one.point(*place_of(one, 1), touch=True)
        assert " bytes at " in text_of(one, ".about")
        one.run("document.querySelector('#theme').click()")
        assert one.run(colour) == "rgb(255, 255, 255)"
    with tab(browser, page) as one:
        assert one.run(colour) == "rgb(255, 255, 255)"
        one.run("document.querySelector('#theme').click()")
        assert one.run(colour) == "rgb(20, 25, 30)"


def named(digits: Path) -> Report:
    """The digits as a model of a user's: with names, lines and a view behind every layer that computes."""
    report = read_report(digits / "digits.report.json")
    layers, counted = [], []
    for layer, count in zip(report.data["layers"], report.bench["layers"], strict=True):
        name, number = f"blocks.{layer['index']}.body.0", len(layers)
        reads = [2 * read + 1 if read >= 0 else read for read in layer["reads"]]
        own = layer | {"index": number, "layer": name, "source": f"keyword_spotting.py:{number}"}
        idle = {
            "operator": "view",
            "kernels": [],
            "macs": 0,
            "index": number + 1,
            "reads": [number],
        }
        layers += [own | {"reads": reads}, own | idle]
        counted += [count, count | {"instructions": 4}]
    buffers = [
        buffer | {"first": 2 * buffer["first"], "last": 2 * buffer["last"] + 1}
        for buffer in json.loads(json.dumps(report.data["buffers"]))
    ]
    for tensor in (tensor for buffer in buffers for tensor in buffer["tensors"]):
        if tensor["layer"] is not None:
            tensor["layer"] = 2 * tensor["layer"] + 1
    data = report.data | {"layers": layers, "buffers": buffers}
    return Report(data, {}, report.bench | {"layers": counted})


SEEN = "[...document.querySelectorAll('.layers tbody tr')].filter(row => row.offsetHeight).length"
CUT = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth)"


def test_steps_that_do_nothing_are_folded(digits: Path, browser: Browser, tmp_path: Path) -> None:
    report = named(digits)
    idle = [not layer["kernels"] for layer in report.data["layers"]]
    path = tmp_path / "views.html"
    path.write_text(report_html(report), encoding="utf-8")
    with tab(browser, path) as one:
        assert one.run(SEEN) == idle.count(False)
        for section in ("#layers", "#graph"):
            assert f"do nothing on the device ({idle.count(True)})" in text_of(one, section)
        one.run("document.querySelector('.unfold').click()")
        assert one.run(SEEN) == len(idle)
        numbers = one.run(
            "[...document.querySelectorAll('.graph b')].map(b => parseInt(b.textContent))"
        )
        assert [n for n in numbers if n is not None] == [
            n + 1 for n, nothing in enumerate(idle) if not nothing
        ]
        # A chain stays one: a line from each row to the next.
        lines = one.run("document.querySelectorAll('.graph path').length")
        assert lines == one.run("document.querySelectorAll('.graph li').length") - 1


def test_all_columns_fit_and_what_does_not_says_so(
    digits: Path, browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "columns.html"
    path.write_text(report_html(named(digits)), encoding="utf-8")
    with tab(browser, path, width=1280) as one:
        assert one.run("document.querySelectorAll('.layers th').length") == 13
        assert one.run(f"{CUT}.length") == 0
        assert not one.run("document.querySelectorAll('.wide.more').length")
    with tab(browser, path, width=390, height=844) as one:
        assert one.run(f"{CUT}.length") == 2, "picture and table"
        assert one.run(
            f"{CUT}.every(e => e.matches('.more') && e.previousElementSibling.offsetHeight)"
        )
        assert "scroll it sideways" in text_of(one, "#layers")
        one.run(f"{CUT}.forEach(e => ((e.scrollLeft = 1e6), e.dispatchEvent(new Event('scroll'))))")
        assert not one.run("document.querySelectorAll('.wide.more').length")


def test_two_thousand_tensors_stay_readable(digits: Path, browser: Browser, tmp_path: Path) -> None:
    """A model of many layers, on a phone: every tensor is a rectangle that a finger finds, and the picture
    scrolls in its own frame."""
    data = json.loads((digits / "digits.report.json").read_text())
    steps, layers, buffers = len(data["layers"]), [], []
    for shift in range(0, 2000, steps):
        for layer in json.loads(json.dumps(data["layers"])):
            reads = [one if one < 0 else one + shift for one in layer["reads"]]
            layers.append(layer | {"index": layer["index"] + shift, "reads": reads})
        for buffer in json.loads(json.dumps(data["buffers"])):
            for tensor in buffer["tensors"]:
                if tensor["layer"] is not None:
                    tensor["layer"] += shift
            ends = {end: buffer[end] + shift for end in ("first", "last")}
            buffers.append(buffer | ends)
    path = tmp_path / "large.html"
    large = Report(data | {"layers": layers, "buffers": buffers})
    path.write_text(report_html(large), encoding="utf-8")
    assert len(buffers) > 2000 and path.stat().st_size < 3_000_000
    with tab(browser, path, width=390, height=844, dark=True) as one:
        assert one.run("document.documentElement.scrollWidth") == 390 and one.errors() == []
        assert one.run("document.querySelectorAll('.arena .box').length") == len(buffers)
        assert (
            one.run(
                "Math.min(...[...document.querySelectorAll('.arena .box rect')]"
                ".map(r => r.getBoundingClientRect().width))"
            )
            >= 4
        )
        one.point(*place_of(one, len(buffers) - 1), touch=True)
        assert " bytes at " in text_of(one, ".about")


def spoiled(value: Any) -> Any:
    """A report in which every name that comes from a model or a file is EVIL."""
    if isinstance(value, list):
        return [spoiled(one) for one in value]
    if not isinstance(value, dict):
        return value
    names = ("name", "layer", "source", "operator", "outputs", "type", "command", "kernels")
    return {
        key: spoiled(one)
        if isinstance(one, dict | list) and key not in names
        else [EVIL for _ in one] if isinstance(one, list) and key in names and one
        and isinstance(one[0], str)
        else EVIL if key in names and isinstance(one, str)
        else spoiled(one)
        for key, one in value.items()
    }  # fmt: skip


def test_names_of_a_model_are_text(digits: Path, browser: Browser, tmp_path: Path) -> None:
    clean = read_report(digits / "digits.report.json")
    quality = {
        "inputs": 1, "available": 1, "source": EVIL,
        "outputs": [{"output": 0, "sqnr_db": 30.0}], "worst_layer": None,
        "layers": [{"operator": EVIL, "layer": EVIL, "before_sqnr_db": None,
                    "before_without": "noise", "sqnr_db": 31.0}],
    }  # fmt: skip
    data = spoiled(clean.data) | {"quality": quality}
    footprint = {
        "code": 1, "constants": 2, "data": 3, "bss": 4, "stack": 5, "stack_note": EVIL,
        "flash": 6, "ram": 7, "largest": [{"symbol": EVIL, "kind": EVIL, "bytes": 1}],
    }  # fmt: skip
    report = Report(data, footprint, clean.bench)
    html = report_html(report)
    path = tmp_path / "evil.html"
    path.write_text(html, encoding="utf-8")
    assert html.count("<script>") == 1 and "<img" not in html and "\x1b" not in html
    with tab(browser, path) as one:
        assert one.run("typeof hit") == "undefined" and one.errors() == []
        assert one.requests() == []
        shown = EVIL.replace("\u202e", "\\u202e").replace("\x1b", "\\x1b")
        assert shown in one.run("document.body.textContent")
        assert shown in one.run("document.title")
    ElementTree.fromstring(arena_svg(report))


def test_the_picture_is_well_formed(page: Path) -> None:
    data = json.loads(page.with_suffix(".json").read_text())
    root = ElementTree.parse(page.with_name("digits.arena.svg")).getroot()
    name = "{http://www.w3.org/2000/svg}"
    boxes = [g for g in root.iter(f"{name}g") if (g.get("class") or "").startswith("box ")]
    assert len(boxes) == len(data["buffers"])
    heights = sorted(float(g[1].get("height") or 0) for g in boxes)
    assert heights[-1] == pytest.approx(
        320 * max(b["bytes"] for b in data["buffers"]) / data["arena_bytes"], abs=0.1
    )
    # Of each pair that overlaps the shared bytes are hatched.
    hatched = [r for r in root.iter(f"{name}rect") if r.get("class") == "shared"]
    assert len(hatched) > 1
    html = page.read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)=\"(?!data:)", html)
    assert set(re.findall(r"https?://[^\"']*", html)) == {"http://www.w3.org/2000/svg"}


def test_without_jinja2_there_is_a_sentence(
    digits: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page_module._environment.cache_clear()
    assert cli.main(["report", str(digits / "digits.report.json"), "--html"]) == 1
    error = capsys.readouterr().err
    assert "'jinja2' is missing" in error and "hint: pip install jinja2" in error
    assert cli.main(["report", str(digits / "digits.report.json")]) == 0
