# SPDX-License-Identifier: Apache-2.0
"""BundledProgram files: what is read, that damage ends in CortexMError, and the commands on them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools import cli
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import load_program
from cortexm_tools.pte.bundle import TestVector, parse_bundle, vectors_of
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.pte.vectors import check_vectors, vector_inputs
from cortexm_tools.target import Target

from tests.support.golden import golden_case

# See data/bundle/README.md: a golden case, the same with other inputs, and once with an output that
# is off by eight.
BUNDLE = Path(__file__).parents[1] / "data" / "bundle" / "net.bpte"
DATA = BUNDLE.read_bytes()


def test_program_and_vectors_are_those_of_the_case() -> None:
    case = golden_case("conv-conv2d")
    bundle = parse_bundle(DATA)
    assert bundle.pte == case.pte and list(bundle.suites) == ["forward"]
    first, other, off = bundle.suites["forward"]
    np.testing.assert_array_equal(first.inputs[0], case.inputs[0])
    np.testing.assert_array_equal(first.expected[0], case.expected[0])
    np.testing.assert_array_equal(other.inputs[0], np.flip(case.inputs[0]))
    np.testing.assert_array_equal(off.expected[0], case.expected[0] + np.float32(8.0))
    with pytest.raises(CortexMError, match="no test vectors for method 'backward'"):
        vectors_of(bundle, "backward")


def test_check_counts_and_measures() -> None:
    bundle = parse_bundle(DATA)
    graph = read_pte(bundle.pte, name="net")
    vectors = bundle.suites["forward"]
    outputs = [tuple(run_graph(graph, row)) for row in vector_inputs(graph, vectors)]
    found = check_vectors(graph, vectors, outputs)
    assert (found.passed, found.total, found.failed) == (2, 3, 1)
    assert found.largest == pytest.approx(8.0)
    assert check_vectors(graph, vectors, outputs, atol=8.1).failed == 0
    exact = check_vectors(graph, vectors[:2], outputs[:2], atol=0.0, rtol=0.0)
    assert (exact.passed, exact.largest) == (2, 0.0)
    silent = [TestVector(vector.inputs, ()) for vector in vectors]
    assert check_vectors(graph, silent, outputs).total == 0


def test_vectors_that_do_not_fit_are_named() -> None:
    bundle = parse_bundle(DATA)
    graph = read_pte(bundle.pte, name="net")
    (vector, *_) = bundle.suites["forward"]
    with pytest.raises(CortexMError, match="test vector 0 has 2 inputs"):
        vector_inputs(graph, [TestVector(vector.inputs * 2, ())])
    with pytest.raises(CortexMError, match="test vector 0, input 0 is float32"):
        vector_inputs(graph, [TestVector((vector.inputs[0][..., :1],), ())])
    outputs = [tuple(run_graph(graph, vector.inputs))]
    with pytest.raises(CortexMError, match="test vector 0 expects outputs"):
        check_vectors(graph, [TestVector(vector.inputs, vector.expected * 2)], outputs)


def survives(data: bytes) -> None:
    """Reads `data`; only CortexMError may come out."""
    try:
        bundle = parse_bundle(data)
        graph = read_pte(bundle.pte, name="net")
        vector_inputs(graph, vectors_of(bundle, "forward"))
    except CortexMError as error:
        assert error.message


def test_truncated_at_every_length() -> None:
    for length in range(len(DATA)):
        survives(DATA[:length])
    for length in (0, 7, 8, 100, len(DATA) // 2):
        with pytest.raises(CortexMError):
            parse_bundle(DATA[:length])


def test_bytes_and_words_changed() -> None:
    generator = random.Random(0)
    for _ in range(1000):
        damaged = bytearray(DATA)
        damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        survives(bytes(damaged))
    for word in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0"):
        for position in range(0, len(DATA) - 3, 4):
            survives(DATA[:position] + word + DATA[position + 4 :])


@pytest.mark.parametrize("name", ["net.bpte", "net.pte"])
def test_loaded_by_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(DATA)
    program = load_program(path, name="net", target=Target.parse("any"))
    assert program.pte == golden_case("conv-conv2d").pte and len(program.vectors) == 3


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--host", str(BUNDLE), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["matched"] and data["test_vectors"]["passed"] == 2
    assert cli.main(["run", "--host", str(BUNDLE), "--atol", "8.1"]) == 0
    assert "test vectors: 3 of 3 passed" in capsys.readouterr().out
    words = ["compile", str(BUNDLE), "--samples", "all", "--out", str(tmp_path), "--io"]
    for io in ("float", "int8"):
        assert cli.main([*words, io]) == 0
        assert "2 of 3 test vectors pass" in capsys.readouterr().err
        report = json.loads((tmp_path / "net.report.json").read_text())
        assert report["test_vectors"]["total"] == 3
        assert "NET_SAMPLE_COUNT 3" in (tmp_path / "net_samples.h").read_text()
    assert cli.main(["inspect", str(BUNDLE)]) == 0
    assert "test vectors 3" in capsys.readouterr().out
    (tmp_path / "plain.bpte").write_bytes(golden_case("conv-conv2d").pte)
    assert cli.main(["compile", str(tmp_path / "plain.bpte")]) == 1
    assert "identifier BP08 is missing" in capsys.readouterr().err
