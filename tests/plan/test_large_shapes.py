# SPDX-License-Identifier: Apache-2.0
"""Whatever shapes a program states, planning costs little: it ends in a plan or in an error that names
the layer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, ops
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net

ROOT = Path(__file__).parents[2]

SECONDS = 5.0  # of CPU time, for each program
PEAK = 1 << 30  # bytes, of all programs in one process
CODE = 20_000  # bytes of C


def test_large_shapes_are_planned_or_refused() -> None:
    command = [sys.executable, "-m", "tests.plan.large_shapes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["peak"] < PEAK
    planned = refused = 0
    for row in result["rows"]:
        assert row["seconds"] < SECONDS, row
        assert row["code"] < CODE, row
        planned += not row["error"]
        refused += bool(row["error"])
        assert not row["error"] or re.search(r"layer\d|\bt\d", row["error"]), row
    assert planned > 100 and refused > 100


def test_tables_of_indices_have_a_limit() -> None:
    net = Net()
    x = net.input((8, 8), order=(0, 1))
    rows = net.constant(net.random.integers(0, 8, (4096, 1)), DType.S64)
    cols = net.constant(net.random.integers(0, 8, (1, 4096)), DType.S64)
    picked = net.add(ops.Index((0, 1)), [x, rows, cols], (4096, 4096), order=(0, 1))
    with pytest.raises(CortexMError, match="layer0: index: the offsets of its constant indices"):
        make_plan(simplify(net.finish(picked)), Target.parse("cortex-m55"))
