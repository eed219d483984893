# SPDX-License-Identifier: Apache-2.0
"""benchmarks/fit.py: it finds coefficients, and counts calls as whole programs do."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from benchmarks import fit, measured_calls, sweep
from benchmarks.sweep import Layer


def test_coefficients_are_those_of_the_terms_that_help() -> None:
    random = np.random.default_rng(1)
    a = random.uniform(1, 100, (40, 6))
    counts = a @ np.array([0, 7.25, 0, 0, 0.5, 0])
    found = fit.fitted(a / counts[:, None])
    assert np.allclose(found, [0, 7.25, 0, 0, 0.5, 0])
    assert fit.rounded(found) == [0, 7.25, 0, 0, 0.5, 0]


def test_few_calls_have_few_terms() -> None:
    random = np.random.default_rng(2)
    a, counts = random.uniform(1, 100, (6, 12)), random.uniform(1, 100, 6)
    assert np.count_nonzero(fit.fitted(a / counts[:, None])) <= 3


def test_calls_are_counted_as_in_a_program(tmp_path: Path) -> None:
    """The kernel that a plan takes is among those that may take the layer, and costs as much."""
    layer, target = Layer("conv", 12, 10, kernel=(3, 3)), Target.parse("cortex-m4")
    made = sweep.Sweep()
    graph = made.net.finish(made.add(layer)[0])
    cases = {case.key: case for case in measured_calls._lowered(simplify(graph), target)}
    symbols = {case.call.kernel.symbol for case in cases.values()}
    assert symbols >= {"cortexm_conv2d_s8_dsp", "cortexm_conv2d_s8_v7m"}
    counts = measured_calls._run(
        *measured_calls._program(list(cases.values()), target, False), tmp_path
    )
    whole = sweep.costs([layer], "cortex-m4", tmp_path / "sweep")[layer].instructions
    assert min(abs(count - whole) for count in counts) < 16
