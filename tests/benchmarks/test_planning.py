# SPDX-License-Identifier: Apache-2.0
"""benchmarks/planning.py: it plans what it is asked for; no time is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.plan import make_plan
from cortexm_tools.program import load_program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from benchmarks import planning

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "tests" / "data" / "digits" / "digits.pte"


def test_a_row_is_that_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    target = Target.parse("cortex-m4")
    graph = simplify(load_program(DIGITS, name="digits", target=target).graph(), io_int8=True)
    plan = make_plan(graph, target, optimize=Optimize.SIZE)
    options = ["--cpus", "cortex-m4", "--optimize", "size", "--int8"]
    assert planning.main([str(DIGITS), *options]) == 0
    model, core, seconds, beside, calls, *sizes = (
        capsys.readouterr().out.splitlines()[-1][2:-2].split(" | ")
    )
    assert (model, core) == ("digits", "cortex-m4")
    assert float(seconds) >= 0 and float(beside) >= 0 and int(calls.replace(",", "")) > 1000
    assert sizes == [f"{plan.arena_size:,}", f"{plan.lower_bound:,}"]


@pytest.mark.parametrize("option", [["--cpus", "cortex-m5"], ["--ram-limit", "much"]])
def test_bad_options_are_errors(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert planning.main([str(DIGITS), *option]) == 1
    assert "error: " in capsys.readouterr().err
