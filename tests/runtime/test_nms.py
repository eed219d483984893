# SPDX-License-Identifier: Apache-2.0
"""cortexm_nms: what stays is what a plain one in Python keeps, on this machine and on M0 and M55."""

from __future__ import annotations

import ctypes
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from cortexm_tools.run.image import require_program

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "runtime" / "nms.c"
CHECKED = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")

Box = tuple[int, int, int, int, int, int]


class CBox(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int16) for name in ("x0", "y0", "x1", "y1", "score", "label")]


class Options(ctypes.Structure):
    _fields_ = [
        ("overlap", ctypes.c_uint16),
        ("is_agnostic", ctypes.c_uint8),
        ("least_score", ctypes.c_int16),
        ("most", ctypes.c_int32),
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("nms") / "nms.so"
    command = ["cc", *CHECKED, "-O1", "-ftrapv", "-shared", "-fPIC", str(SOURCE), "-o", str(path)]
    subprocess.run([*command, f"-I{ROOT}/runtime/include"], check=True)
    return ctypes.CDLL(str(path))


def run(library: ctypes.CDLL, options: Options, boxes: list[Box]) -> list[Box]:
    array = (CBox * len(boxes))(*boxes)
    kept = library.cortexm_nms(ctypes.byref(options), array, len(boxes))
    return [(b.x0, b.y0, b.x1, b.y1, b.score, b.label) for b in array[:kept]]


def ratio(a: Box, b: Box) -> Fraction:
    """Intersection over union."""
    sides = [max(0, min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1)]
    both = sides[0] * sides[1]
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return Fraction(both, sum(areas) - both)


def plain(options: Options, boxes: list[Box]) -> list[Box]:
    threshold = Fraction(options.overlap, 32768)
    rest = [b for b in boxes if b[4] >= options.least_score and b[2] > b[0] and b[3] > b[1]]
    rest.sort(key=lambda box: -box[4])  # stable: the first of equal scores comes first
    kept: list[Box] = []
    for box in rest:
        rivals = [k for k in kept if options.is_agnostic or k[5] == box[5]]
        if all(ratio(k, box) <= threshold for k in rivals):
            kept.append(box)
    return kept[: options.most]


def random_boxes(draw: random.Random) -> list[Box]:
    """Many that meet, of few scores and classes; some without an area, some as large as can be."""
    boxes: list[Box] = []
    for _ in range(draw.randint(0, 40)):
        if boxes and draw.random() < 0.2:
            boxes.append((*draw.choice(boxes)[:4], draw.randint(-3, 3), draw.randint(0, 2)))
            continue
        most = draw.choice((4, 30, 32767))
        corners = [draw.randint(-most - 1, most) for _ in range(4)]
        if draw.random() < 0.8:
            corners = [*map(min, corners[:2], corners[2:]), *map(max, corners[:2], corners[2:])]
        score = draw.choice((draw.randint(-3, 3), draw.randint(-32768, 32767)))
        boxes.append((*corners, score, draw.randint(0, 2)))  # type: ignore[arg-type]
    return boxes


def test_random_boxes(library: ctypes.CDLL) -> None:
    draw, most_kept = random.Random(0), 0
    for _ in range(1500):
        options = Options(
            draw.choice((0, 1, 8192, 14746, 16384, 32767, 32768)),
            draw.randint(0, 1),
            draw.choice((-32768, -1, 0, 32767)),
            draw.choice((0, 1, 5, 1000)),
        )
        boxes = random_boxes(draw)
        kept = run(library, options, boxes)
        assert kept == plain(options, boxes)
        most_kept = max(most_kept, len(kept))
    assert most_kept > 10


def test_ties_and_exact_thresholds(library: ctypes.CDLL) -> None:
    """Two halves of a box overlap it by exactly 1/2, which is not more than that."""
    whole, half = (0, 0, 10, 10, 7, 0), (0, 0, 10, 5, 7, 0)
    assert run(library, Options(16384, 0, -32768, 9), [whole, half]) == [whole, half]
    assert run(library, Options(16383, 0, -32768, 9), [half, whole]) == [half]
    other = (*half[:5], 1)
    assert run(library, Options(0, 0, -32768, 9), [whole, other]) == [whole, other]
    assert run(library, Options(0, 1, -32768, 9), [whole, other]) == [whole]
    assert run(library, Options(0, 0, -32768, 9), []) == []


def test_arguments(library: ctypes.CDLL) -> None:
    good, box = Options(0, 0, 0, 1), CBox(0, 0, 1, 1, 1, 0)
    nms = library.cortexm_nms
    assert nms(ctypes.byref(good), None, 0) == 0
    for options, boxes, count in (
        (None, ctypes.byref(box), 1),
        (ctypes.byref(good), None, 1),
        (ctypes.byref(good), ctypes.byref(box), -1),
        (ctypes.byref(Options(32769, 0, 0, 1)), ctypes.byref(box), 1),
        (ctypes.byref(Options(0, 0, 0, -1)), ctypes.byref(box), 1),
    ):
        assert nms(options, boxes, count) == -1


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m55"])
def test_it_needs_no_division_and_no_float(cpu: str, tmp_path: Path) -> None:
    """Of the compiler's library it calls a product of 64 bits at most."""
    compiler = require_program("arm-none-eabi-gcc")
    built = tmp_path / "nms.o"
    command = [compiler, *CHECKED, f"-mcpu={cpu}", "-mthumb", "-Os", "-c", str(SOURCE)]
    subprocess.run([*command, f"-I{ROOT}/runtime/include", "-o", str(built)], check=True)
    names = subprocess.run(
        ["arm-none-eabi-nm", "-u", str(built)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(names) <= {"U", "__aeabi_lmul", "memcpy", "memmove"}
