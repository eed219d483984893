#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/: the pipeline, and the arena of the sample's digits.pte over time as the
planner lays it out for the Cortex-M55. `--check` only says whether the pictures are up to date.
`--screenshots` takes those of the sample's report, with PyTorch, the emulator and Chromium."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from xml.sax.saxutils import escape

from checkout import ROOT

from cortexm_tools.plan import make_plan
from cortexm_tools.pte import read_pte
from cortexm_tools.report import report_data
from cortexm_tools.report.page import arena_svg
from cortexm_tools.report.reading import Report
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

FOLDER = ROOT / "docs" / "pictures"
SAMPLE = ROOT / "samples" / "hello-executorch" / "model.py"
MODEL = ROOT / "tests" / "data" / "digits" / "digits.pte"

INK, QUIET, GRID = "#1f2933", "#616e7c", "#d5dbe1"
TORCH, HOST, DEVICE = "#fde8d7", "#dceafb", "#dff3e4"

# Each stage: what goes in, what it does, the folder that does it; and the colour of its side.
STAGES = (
    ("model.py", "lower", "frontend/", TORCH),
    ("NAME.pte", "read", "pte/", HOST),
    ("Graph", "simplify", "simplify/", HOST),
    ("Graph", "plan", "plan/", HOST),
    ("Plan", "emit", "emit/", HOST),
    ("NAME.c, NAME.h", "compile, link", "cmake/, kernels/", DEVICE),
)
SIDES = ((0, 1, "PyTorch, seconds"), (1, 5, "no torch, milliseconds"), (5, 6, "C"))


class Svg:
    """A drawing on white; lengths in pixels."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.lines = [
            "<!-- SPDX-License-Identifier: Apache-2.0 -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
            f"<title>{escape(title)}</title>",
        ]
        self.box(0, 0, width, height, "#ffffff")

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, note: str = "",
        **more: str,
    ) -> None:  # fmt: skip
        style = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
        inside = f"<title>{escape(note)}</title>" if note else ""
        self.lines.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}"{style}>{inside}</rect>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> None:
        self.lines.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>'
        )

    def text(
        self, x: float, y: float, text: str, colour: str = INK, anchor: str = "middle",
        turned: bool = False, bold: bool = False,
    ) -> None:  # fmt: skip
        more = f' transform="rotate(-40 {x:.1f} {y:.1f})"' if turned else ""
        more += ' font-weight="bold"' if bold else ""
        self.lines.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>'
            f"{escape(text)}</text>"
        )

    def finish(self) -> str:
        return "\n".join((*self.lines, "</svg>")) + "\n"


def pipeline() -> str:
    """The stages from left to right, and what passes between them."""
    column, left, top = 150, 12, 64
    svg = Svg(left * 2 + column * len(STAGES) + 60, 178, "From model.py to firmware")
    for first, last, text in SIDES:
        x, width = left + first * column + 6, (last - first) * column - 12
        svg.text(x + width / 2, 28, text, QUIET)
        svg.line(x, 38, x + width, 38, GRID, 2)
    for number, (given, does, folder, colour) in enumerate(STAGES):
        x = left + number * column
        svg.box(x + 6, top, column - 30, 62, colour, rx="8", stroke=QUIET)
        svg.text(x + 6 + (column - 30) / 2, top + 27, does, bold=True)
        svg.text(x + 6 + (column - 30) / 2, top + 46, folder, QUIET)
        svg.text(x + 6 + (column - 30) / 2, top + 84, given)
        svg.line(x + column - 24, top + 31, x + column + 2, top + 31, INK)
        svg.line(x + column - 5, top + 26, x + column + 2, top + 31, INK)
        svg.line(x + column - 5, top + 36, x + column + 2, top + 31, INK)
    svg.text(left + column * len(STAGES) + 8, top + 35, "firmware", anchor="start", bold=True)
    svg.text(left + 6, 172, "Below each box: what it is given. Each stage ends with a check.", QUIET,
             "start")  # fmt: skip
    return svg.finish()


def pictures() -> dict[str, str]:
    """File name to content."""
    pte = MODEL.read_bytes()
    plan = make_plan(simplify(read_pte(pte, name=MODEL.stem)), Target.parse("cortex-m55"))
    data = report_data(plan, name=MODEL.stem, digest=sha256(pte).hexdigest())
    return {"pipeline.svg": pipeline(), "arena.svg": arena_svg(Report(data))}


def screenshots() -> None:
    """Pictures of the sample's report as a browser shows it: light, dark, and on a phone."""
    sys.path.insert(0, str(ROOT))
    from tests.support.browser import Browser, find_browser, tab

    program = find_browser()
    if program is None:
        sys.exit("error: no Chromium\nhint: apt install chromium-headless-shell")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [SAMPLE, "--cpu", "cortex-m55"]
        cortexm("compile", *words, "--out", folder, "--ram-limit", "8K", "--flash-limit", "32K")
        bench = cortexm("bench", folder / "model.pte", "--json")
        (folder / "model.bench.json").write_bytes(bench)
        cortexm("report", folder / "model.report.json", "--html")
        browser = Browser(program, folder / "browser")
        page = folder / "model.report.html"
        with tab(browser, page, width=1280, height=1000) as one:
            one.picture(FOLDER / "report.png")
        with tab(browser, page, width=1280, height=1000, dark=True) as one:
            one.run("document.getElementById('memory').scrollIntoView()")
            one.picture(FOLDER / "report-dark.png")
        with tab(browser, page, width=390, height=844) as one:
            one.run("document.getElementById('arena').scrollIntoView()")
            one.picture(FOLDER / "report-phone.png")
        browser.close()


def cortexm(*words: object) -> bytes:
    """What a command of the tool prints."""
    command = [sys.executable, "-m", "cortexm_tools", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def main() -> int:
    if "--screenshots" in sys.argv[1:]:
        screenshots()
        return 0
    for name, text in pictures().items():
        path = FOLDER / name
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"docs/pictures/{name} is out of date: run scripts/pictures.py", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
