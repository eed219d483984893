# SPDX-License-Identifier: Apache-2.0
"""The sample's model, whose last layer has ten outputs: no kernel's form of the weights may cost much."""

from __future__ import annotations

from pathlib import Path

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.program import load_program
from cortexm_tools.target import Optimize, Target

SAMPLE = Path(__file__).parents[2] / "samples" / "hello-executorch" / "model.py"


def test_constants_are_what_the_sample_needs() -> None:
    """At most 3 % more, with the kernels of every core and of OPTIMIZE size."""
    program = load_program(SAMPLE, name="hello", target=Target.parse("cortex-m55"))
    for cpu in ("cortex-m55", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0"):
        for optimize in (Optimize.BALANCED, Optimize.SIZE):
            options = CompileOptions(target=Target.parse(cpu), optimize=optimize)
            plan = compile_program(program, options).plan
            assert plan.needed_bytes <= plan.constant_bytes <= 1.03 * plan.needed_bytes, cpu
