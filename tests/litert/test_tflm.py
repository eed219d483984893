# SPDX-License-Identifier: Apache-2.0
"""Every operator computes what TFLM's does: files of one operator, compared in every code."""

from __future__ import annotations

import re

import litert_schema
import numpy as np
import pytest

from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.litert import read_litert
from cortexm_tools.litert.ops import CONVERTERS
from cortexm_tools.run.tflm import is_installed, outputs_here
from cortexm_tools.simplify import simplify

from tests.cmake.projects import ROOT
from tests.litert.cases import CASES, made
from tests.litert.files import File
from tests.support.thorough import THOROUGH


@pytest.mark.skipif(not is_installed(), reason="tflite-micro is not installed")
@pytest.mark.parametrize("name", CASES)
def test_codes_equal_those_of_tflm(name: str) -> None:
    for seed in range(200 if THOROUGH else 8):
        draw = made(name, seed)
        data = draw.file.data(draw.inputs, draw.outputs)
        graph = read_litert(data, name="net")
        rows = [draw.row() for _ in range(2)]
        expected = outputs_here(data, rows, len(graph.outputs))
        for which in (graph, simplify(graph)):
            for want, got in zip(expected, run_sequence(which, rows), strict=True):
                for a, b in zip(want, got, strict=True):
                    assert a.shape == b.shape and a.dtype == b.dtype, seed
                    if a.dtype.kind == "f":
                        np.testing.assert_allclose(b, a, rtol=1e-4, atol=2e-5, err_msg=str(seed))
                    else:
                        np.testing.assert_array_equal(b, a, err_msg=str(seed))


@pytest.mark.skipif(not is_installed(), reason="tflite-micro is not installed")
def test_the_largest_difference_of_int16_has_17_bits() -> None:
    f = File()
    a, b = f.tensor((2,), "int16", scale=0.05), f.tensor((2,), "int16", scale=0.05)
    y = f.tensor((2,), "int16", scale=400.0)
    f.operator("SQUARED_DIFFERENCE", [a, b], [y], "SquaredDifferenceOptions")
    data, row = f.data([a, b], [y]), np.array([32767, -32768], np.int16)
    ((got,),) = run_sequence(read_litert(data, name="net"), [(row, row[::-1])])
    np.testing.assert_array_equal(got, outputs_here(data, [(row, row[::-1])], 1)[0][0])


@pytest.mark.skipif(not is_installed(), reason="tflite-micro is not installed")
def test_the_ledger_of_the_schema_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["litert_schema.py", "--check"])
    assert litert_schema.main() == 0


def test_the_document_lists_every_operator() -> None:
    text = (ROOT / "docs" / "litert.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", text)) >= set(CONVERTERS)
