#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/: the pipeline, and the arena of the sample's digits.pte over time as the
planner lays it out for the Cortex-M55. `--check` only says whether the pictures are up to date."""

from __future__ import annotations

import sys
from xml.sax.saxutils import escape

from checkout import ROOT

from cortexm_tools.plan import make_plan
from cortexm_tools.plan.types import Plan, Step
from cortexm_tools.pte import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

FOLDER = ROOT / "docs" / "pictures"
MODEL = ROOT / "tests" / "data" / "digits" / "digits.pte"

INK, QUIET, GRID = "#1f2933", "#616e7c", "#d5dbe1"
TORCH, HOST, DEVICE = "#fde8d7", "#dceafb", "#dff3e4"
SHARED, TENSOR, SCRATCH = "#b8c2cc", "#7fb2e5", "#f2b36f"

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


def _name(step: Step) -> str:
    return step.op.kind if not step.fused else f"{step.op.kind} +{len(step.fused)}"


def _span(first: int, last: int) -> str:
    return f"step {first + 1}" if first == last else f"steps {first + 1} to {last + 1}"


def arena(plan: Plan, name: str) -> str:
    """Steps from left to right, addresses upwards: a rectangle for each buffer of the plan."""
    left, top, column, tall = 74, 62, 54, 300
    steps, size = len(plan.steps), plan.arena_size
    bottom = top + tall
    svg = Svg(left + column * steps + 30, bottom + 120, f"The arena of {name} over time")
    cpu = plan.target.core.value
    title = f"{name} on {cpu}: an arena of {size:,} bytes"
    svg.text(left, 24, title, anchor="start", bold=True)
    at = left
    for colour, text in ((SHARED, "input, output"), (TENSOR, "between"), (SCRATCH, "scratch")):
        svg.box(at, 36, 12, 12, colour, stroke=QUIET)
        svg.text(at + 18, 46, text, QUIET, "start")
        at += 36 + 8 * len(text)
    every = 1024 if size < 8192 else 4096 if size < 65536 else 65536
    for address in range(0, size + 1, every):
        y = bottom - tall * address / size
        svg.line(left, y, left + column * steps, y, GRID)
        svg.text(left - 8, y + 4, f"{address:,}", QUIET, "end")
    border = {plan.buffer_of[plan.holder(index)] for index in
              (*plan.graph.inputs, *plan.graph.outputs) if plan.has_place(index)}  # fmt: skip
    scratch = set(plan.scratch_of.values())
    for index, buffer in enumerate(plan.buffers):
        fill = SCRATCH if index in scratch else SHARED if index in border else TENSOR
        first, last = max(buffer.first, 0), min(buffer.last, steps - 1)
        height = tall * buffer.nbytes / size
        svg.box(
            left + column * first + 2, bottom - tall * buffer.offset / size - height,
            column * (last - first + 1) - 4, height, fill,
            f"{buffer.nbytes:,} bytes at {buffer.offset:,}, {_span(first, last)}",
            fill_opacity="0.8", stroke=INK, stroke_width="0.7",
        )  # fmt: skip
    for number, step in enumerate(plan.steps):
        x = left + column * (number + 0.5)
        svg.text(x, bottom + 18, str(number + 1), QUIET)
        svg.text(x + 8, bottom + 34, _name(step), INK, "end", turned=True)
    svg.text(left - 8, bottom + 18, "step", QUIET, "end")
    svg.text(left - 8, top - 8, "bytes", QUIET, "end")
    return svg.finish()


def pictures() -> dict[str, str]:
    """File name to content."""
    plan = make_plan(
        simplify(read_pte(MODEL.read_bytes(), name=MODEL.stem)), Target.parse("cortex-m55")
    )
    return {"pipeline.svg": pipeline(), "arena.svg": arena(plan, MODEL.name)}


def main() -> int:
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
