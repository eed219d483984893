# SPDX-License-Identifier: Apache-2.0
"""samples/tiny-language-model: its layers compute on codes, with caches in place, and what the firmware
continues is the reference's in every byte.

One layer of it and 12 characters; with CORTEXM_TESTS=thorough the whole sample as it is, on two cores.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import Array, DType
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.program import Program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.cmake.projects import Project, emulate, succeed
from tests.support.batches import Job, run_jobs
from tests.support.thorough import THOROUGH

SAMPLE = Path(__file__).parents[2] / "samples" / "tiny-language-model"
NAME = "tiny_language_model"
CALLS = 12
M55 = Target.parse("cortex-m55")

pytestmark = pytest.mark.xdist_group("language-model")


def _sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location(NAME, SAMPLE / f"{NAME}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCE = _sample()


@pytest.fixture(scope="module")
def one_layer() -> Program:
    import_executorch()
    model = SOURCE.ModelUnderTest()
    model.layers = model.layers[:1]
    samples = tuple(SOURCE.CalibrationInputs()[:CALLS])
    loaded = LoadedModel(SAMPLE / f"{NAME}.py", model, samples[0], samples, None)
    return Program(NAME, lower(loaded, target=M55, name=NAME).pte)


def _calls(text: str) -> list[tuple[Array, ...]]:
    numbers = SOURCE.encode(text).numpy()
    return [(numbers[at : at + 1], np.array([at])) for at in range(len(text))]


def test_all_of_it_is_codes_and_caches_stay_where_they_are(
    one_layer: Program, tmp_path: Path
) -> None:
    graph = simplify(one_layer.graph(), io_codes=True)
    floats = [t.name for t in graph.tensors if t.dtype is DType.F32]
    assert not floats
    assert "transpose" not in [op.kind for op in graph.ops]
    assert sorted(state.initial.nbytes for state in graph.states) == [128 * 96, 128 * 96]
    (lookup,) = (op for op in graph.ops if op.kind == "embedding")
    assert lookup.inputs[0] == graph.ops[-1].inputs[1]  # one table, and the scores' matrix
    compiled = compile_program(one_layer, CompileOptions(target=M55, io_codes=True))
    arena = compiled.plan.arena_size - compiled.plan.state_size
    assert arena < 128 * 32  # not even one head of a cache
    # What is masked has no share: the first character sees 127 positions that are not written.
    rows = _calls(SOURCE.TEXT.read_text(encoding="ascii")[:CALLS])
    model = SOURCE.ModelUnderTest()
    model.layers = model.layers[:1]
    with torch.no_grad():
        real = [model(*map(torch.from_numpy, row)).numpy() for row in rows]
    for (got, *_), want in zip(run_sequence(one_layer.graph(), rows), real, strict=True):
        assert (want**2).sum() > 300 * ((got - want) ** 2).sum()  # 25 dB
    # The position is whatever the application says.
    rows = [
        *_calls("def f(x):"),
        (np.array([-5]), np.array([1000])),
        (np.array([99]), np.array([-1])),
    ]
    job = Job(one_layer, rows)
    (got,) = run_jobs([job], Target.parse("cortex-m4"), tmp_path, poison=True)
    for outputs, wanted in zip(got, run_sequence(one_layer.graph(), rows), strict=True):
        np.testing.assert_array_equal(outputs[0], wanted[0])


def _digest(program: Program, text: str) -> str:
    """FNV-1a of all scores, as main.c has it."""
    value = 2166136261
    graph = simplify(program.graph(), io_codes=True)
    for (codes,) in run_sequence(graph, _calls(text)):
        for byte in codes.tobytes():
            value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return f"{value:08x}"


def _continued(board: str, folder: Path, program: Program | None, length: int) -> str:
    """What the firmware prints, after it was compared with the reference; None lowers the sample."""
    source = folder / board
    shutil.copytree(SAMPLE, source)
    if program is not None:
        (source / f"{NAME}.pte").write_bytes(program.pte)
        listing = source / "CMakeLists.txt"
        text = listing.read_text(encoding="utf-8")
        listing.write_text(text.replace(f"{NAME}.py", f"{NAME}.pte"), encoding="utf-8")
    app = Project(source, folder / f"{board}-build")
    options = {"CORTEXM_BOARD": board, "CortexMModel_DIR": str(SAMPLE.parents[1] / "cmake")}
    succeed(app.configure(**options, PROMPT="def f", LENGTH=str(length)))
    succeed(app.make())
    printed = emulate(board, app.build / "tiny-language-model.elf")
    found = re.search(r"\A(.*)\n(\d+) calls, scores ([0-9a-f]{8})\n", printed, re.DOTALL)
    assert found is not None, printed
    text, calls, scores = found.groups()
    assert int(calls) == len(text) == length and text.startswith("def f"), printed
    if program is None:
        pte = app.build / "cortexm" / NAME / f"{NAME}.pte"
        program = Program(NAME, pte.read_bytes())
        shutil.copy(pte, folder)
    assert scores == _digest(program, text)
    return text


@pytest.mark.skipif(THOROUGH, reason="the whole sample does so in thorough runs")
def test_the_firmware_continues_a_text(one_layer: Program, tmp_path: Path) -> None:
    _continued("mps3-an547", tmp_path, one_layer, CALLS)


@pytest.mark.skipif(not THOROUGH, reason="lowering the whole sample is part of thorough runs")
def test_the_whole_sample(tmp_path: Path) -> None:
    text = _continued("mps3-an547", tmp_path, None, SOURCE.CONTEXT)
    program = Program(NAME, (tmp_path / f"{NAME}.pte").read_bytes())
    assert _continued("mps2-an386", tmp_path, program, SOURCE.CONTEXT) == text


def test_the_sample_is_small() -> None:
    assert len((SAMPLE / "main.c").read_text(encoding="utf-8").splitlines()) < 120
    assert (SAMPLE / f"{NAME}.safetensors").stat().st_size < 400_000
