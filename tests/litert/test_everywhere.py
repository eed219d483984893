# SPDX-License-Identifier: Apache-2.0
"""A .tflite where a .pte goes: on emulated cores, in CMake, on the command line, under another name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools import cli
from cortexm_tools.cli import configure
from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.litert import read_litert
from cortexm_tools.options.stream import Stream
from cortexm_tools.program import load_program
from cortexm_tools.run.command import RunRequest, run_program, run_text
from cortexm_tools.run.tflm import is_installed, outputs_here
from cortexm_tools.simplify import simplify
from cortexm_tools.stream import stream_graph
from cortexm_tools.target import Target

from tests.cmake.projects import ROOT, Project, refuse, succeed
from tests.cmake.projects import run as command
from tests.litert.networks import listener, net_bytes


@pytest.fixture
def tflite(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(net_bytes())
    return path


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_emulated_cores_compute_what_the_interpreter_and_tflm_do(cpu: str, tflite: Path) -> None:
    target = Target.parse(cpu)
    compiled = compile_program(
        load_program(tflite, name="net", target=target), CompileOptions(target)
    )
    report = run_program(compiled, RunRequest())
    assert report.matched
    text = run_text(compiled, report)
    if is_installed():
        assert report.data["tflm"] == {"values": 15, "differing": 0, "largest_difference": 0.0}
        assert "outputs equal to TFLM in every byte" in text
    else:
        assert "not compared with TFLite Micro: it needs the Python package" in text


PROJECT = f"""cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(CortexMModel REQUIRED PATHS "{ROOT / "cmake"}")
cortexm_add_model(net.tflite CPU host)
cortexm_add_model(other.pte CPU host IO int8 INPUT_LAYOUT nhwc RAM_LIMIT 64K)
add_executable(app main.c)
target_link_libraries(app PRIVATE net other)
"""
MAIN = """#include "net.h"
#include "other.h"
int main(void)
{
    return cortexm_init(&net, NULL, 0) || cortexm_init(&other, NULL, 0) || cortexm_invoke(&net, NULL)
        || cortexm_invoke(&other, NULL);
}
"""


def test_cmake_builds_it_under_either_name(tflite: Path) -> None:
    folder = tflite.parent
    (folder / "other.pte").write_bytes(net_bytes())
    (folder / "CMakeLists.txt").write_text(PROJECT)
    (folder / "main.c").write_text(MAIN)
    app = Project(folder, folder / "build")
    succeed(app.configure())
    succeed(app.make())
    succeed(command(str(app.build / "app")))
    assert "no work to do" in app.plan()
    tflite.write_bytes(net_bytes()[:2000])
    assert "the .tflite file is damaged" in refuse(app.make())


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["QUANTIZE=a8w4"], "net.tflite is quantized already", "leave them out"),
        (["CALIBRATE=weights=gptq"], "net.tflite is quantized already", "leave them out"),
        (["SAMPLES=2"], "net.tflite has no inputs", "leave SAMPLES out"),
        (["model=net.onnx", "path=net.onnx"], "'net.onnx' is no .py", "onnx2tf"),
        (["model=net.h5", "path=net.h5"], "'net.h5' is no .py", "TFLiteConverter"),
    ],
)
def test_words_that_do_not_go_with_it(
    words: list[str], message: str, hint: str, tflite: Path
) -> None:
    given = [f"path={tflite}", "model=net.tflite", "CPU=host"]
    kept = [word for word in given if word.split("=")[0] not in {w.split("=")[0] for w in words}]
    with pytest.raises(configure.CortexMError, match=message) as caught:
        configure.settle(configure.Facts([*kept, *words]))
    assert hint in caught.value.hint


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    status = cli.main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return status, out + err


def test_compile_inspect_and_export(
    tflite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    status, text = run(capsys, "compile", tflite, "--out", out)
    assert status == 0 and "11 operators" in text
    assert {path.name for path in out.iterdir()} == {
        "net.tflite", "net.c", "net.h", "net_weights.c", "net.report.json",
    }  # fmt: skip
    report = json.loads((out / "net.report.json").read_text())
    assert ("t1", "CONV_2D 0") in {(each["layer"], each["source"]) for each in report["layers"]}
    status, text = run(capsys, "inspect", tflite)
    assert status == 0 and "DEPTHWISE_CONV_2D      1  yes" in text and "state 0" in text
    status, text = run(capsys, "export", tflite, "--out", tmp_path / "e", "--format", "folder")
    assert status == 0, text


def test_a_stream_gives_the_bytes_of_the_window(
    tflite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = listener().data()
    tflite.write_bytes(data)
    status, text = run(capsys, "compile", tflite, "--stream", "1:2", "--out", tflite.parent / "out")
    assert status == 0 and "2 of 20 frames a call" in text
    assert "equals the model over the window in every byte" in text
    frames = np.random.default_rng(0).integers(-128, 128, (1, 28, 8)).astype(np.int8)
    graph = simplify(read_litert(data, name="net"))
    calls = [(frames[:, at : at + 2],) for at in range(0, 28, 2)]
    got = [*run_sequence(stream_graph(graph, Stream(1, 2)).graph, calls)][9:]
    windows = [(frames[:, at : at + 20],) for at in range(0, 9, 2)]
    expected = [[*run_sequence(graph, windows)]]
    if is_installed():
        expected.append(outputs_here(data, windows, 1))
    for each in expected:
        np.testing.assert_array_equal(np.array(got), np.array(each))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--quantize", "a8w4"], "a .tflite is quantized already"),
        (["--embed-pte"], "EMBED_PTE takes a program of ExecuTorch's"),
        (["--output", "x.pte"], "the model is a .tflite"),
        (["--samples", "2"], "a .pte or .tflite has no inputs to take"),
    ],
)
def test_options_that_do_not_go_with_it(
    words: list[str],
    said: str,
    tflite: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tflite.parent)
    status, text = run(capsys, "compile", tflite, *words)
    assert status and said in text
    assert [path.name for path in tflite.parent.iterdir()] == ["net.tflite"]


def test_damaged_files_write_nothing(
    tflite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for data, said in ((net_bytes()[:900], "is damaged"), (b"no model", "TFL3 is missing")):
        tflite.write_bytes(data)
        status, text = run(capsys, "compile", tflite, "--out", tmp_path / "out")
        assert status and said in text and str(tflite) in text
    assert not (tmp_path / "out").exists()
