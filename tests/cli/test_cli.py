# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: exit status, messages, files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools import cli, packages
from cortexm_tools.cli import doctor
from cortexm_tools.plan.search.alternatives import Alternative
from cortexm_tools.target import Optimize

from tests.support.golden import golden_cases

DIGITS = Path(__file__).resolve().parents[1] / "data" / "digits" / "digits.pte"


@pytest.fixture(scope="session")
def pte(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small program with a convolution."""
    case = next(c for c in golden_cases(cpu="cortex-m55") if c.name == "conv-conv2d")
    path = tmp_path_factory.mktemp("pte") / "net.pte"
    path.write_bytes(case.pte)
    return path


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    status = cli.main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return status, out, err


def test_compile_writes_all_files(
    pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    status, text, _ = run(
        capsys,
        "compile",
        pte,
        "--out",
        out,
        "--embed-pte",
        "--depfile",
        out / "d",
        "--stamp",
        out / "s",
    )
    assert status == 0 and "B arena" in text
    names = {
        "net.pte", "net.layers.json", "net.c", "net.h", "net_weights.c", "net_pte.c",
        "net.report.json", "d", "s",
    }  # fmt: skip
    assert {path.name for path in out.iterdir()} == names
    report = json.loads((out / "net.report.json").read_text())
    assert report["arena_bytes"] >= report["arena_lower_bound_bytes"] > 0
    depfile = (out / "d").read_text()
    assert str(pte) in depfile and "cortexm_tools/emit/model.py" in depfile
    for name in ("net.c", "net.h", "net_weights.c", "net_pte.c", "net.report.json"):
        assert str(tmp_path) not in (out / name).read_text()
    before = {path: path.stat().st_mtime_ns for path in out.iterdir() if path.name not in "ds"}
    assert run(capsys, "compile", pte, "--out", out, "--embed-pte")[0] == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--cpu", "cortex-m56"], "unknown CPU 'cortex-m56'\nhint: did you mean 'cortex-m55'?"),
        (["--cpu", "cortex-m0", "--isa", "mve"], "cortex-m0 supports: scalar"),
        (["--isa", "sve"], "unknown ISA 'sve'"),
        (["--ram-limit", "7"], "RAM_LIMIT is 7"),
        (["--flash-limit", "7"], "FLASH_LIMIT is 7"),
        (["--ram-limit", "lots"], "--ram-limit: 'lots' is not a size"),
        (["--region", "dtcm=1Q"], "dtcm=1Q: '1Q' is not a size"),
        (["--name", "9net"], "begins with a digit\nhint: use --name model_9net"),
        (["--name", "int"], "is a word of C or its libraries\nhint: use --name model_int"),
        (["--arena", "callers"], "own, caller or shared"),
        (["--arena", "own:a"], "own, caller or shared"),
        (["--arena", "shared:a-b"], "use shared:a_b"),
        (["--samples", "1"], "SAMPLES needs a model file"),
        (["--calibration", "x.npz"], "it takes no calibration data"),
    ],
)
def test_bad_choices_are_named_and_leave_nothing(
    args: list[str], message: str, pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "compile", pte, "--out", tmp_path / "out", *args)
    assert status == 1 and message in err
    assert not (tmp_path / "out").exists()


def test_options_are_judged_before_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lowering takes minutes; a model file that does not exist shows whether it was looked at."""
    for command, *words in (
        ("compile", "--region", "dtcm=128K:fast"),
        ("compile", "--kernels", "none"),
        ("compile", "--ram-limit", "x"),
        ("run", "--region", "a=1K", "--region", "a=2K"),
        ("bench", "--region", "a=1K:quick"),
    ):
        status, _, err = run(capsys, command, tmp_path / "net.py", *words)
        assert status == 1 and "no such file" not in err and "hint: " in err


def test_unknown_words_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["compile"],
        ["compil", "x"],
        ["compile", "x.pte", "--io", "int4"],
        ["compile", "-m", "mv2", "mv3"],
        ["compile", "x.pte", "--samples", "x"],
        ["compile", "x.pte", "--samples", "-1"],
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(words)
        assert stop.value.code == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said and "_count" not in said


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.pte", "a.pte: no such file"),
        ("b.txt", "b.txt: is neither"),
        ("", ": is a folder"),
        ("cut.pte", "cut.pte: the .pte file is damaged"),
        ("words.pte", "words.pte: this is not an ExecuTorch program"),
        ("words.bpte", "words.bpte: this is not a BundledProgram"),
    ],
)
def test_missing_and_foreign_files(
    name: str, message: str, pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in ("b.txt", "words.pte", "words.bpte"):
        (tmp_path / file).write_text("hello")
    (tmp_path / "cut.pte").write_bytes(pte.read_bytes()[:900])
    status, _, err = run(capsys, "compile", tmp_path / name, "--out", tmp_path / "out")
    assert status == 1 and message in err and "hint: " in err
    assert not (tmp_path / "out").exists()


def test_read_only_folder(pte: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One in which not even root may make a file."""
    status, _, err = run(capsys, "compile", pte, "--out", "/proc/self")
    assert status == 1 and "cannot write" in err


@pytest.mark.parametrize("option", ["--stamp", "--depfile"])
def test_unwritable_file_for_the_build_system(
    option: str, pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", pte, "--out", tmp_path, option, "/proc/self/file"]
    status, _, err = run(capsys, *words)
    assert status == 1 and "cannot write" in err


def test_folder_that_is_a_file(
    pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("")
    status, _, err = run(capsys, "compile", pte, "--out", tmp_path / "out")
    assert status == 1 and "cannot write" in err


def test_inspect_and_report(pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "inspect", pte)
    assert status == 0 and "cortex_m::quantized_conv2d.out" in out and "input 0" in out
    assert run(capsys, "compile", pte, "--out", tmp_path)[0] == 0
    status, out, _ = run(capsys, "report", tmp_path / "net.report.json")
    assert status == 0 and "conv2d" in out and "live RAM" in out and "stack" not in out
    # A build leaves its memory summary beside the report.
    (tmp_path / "net.footprint.json").write_text('{"stack": 1234, "stack_note": "a 1200 > b 34"}')
    out = run(capsys, "report", tmp_path / "net.report.json")[1]
    assert "1,234 B at most: a 1200 > b 34" in out
    (tmp_path / "net.footprint.json").write_text('{"stack": null, "stack_note": "recursion"}')
    assert "not known: recursion" in run(capsys, "report", tmp_path / "net.report.json")[1]
    (tmp_path / "no.json").write_text("[]")
    status, _, err = run(capsys, "report", tmp_path / "no.json")
    assert status == 1 and "is not a report" in err


def test_inspect_names_operators_without_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(c for c in golden_cases(cpu="cortex-m55") if c.name == "conv-conv2d")
    renamed = case.pte.replace(b"quantized_conv2d", b"quantized_conv9d")
    (tmp_path / "odd.pte").write_bytes(renamed)
    status, out, _ = run(capsys, "inspect", tmp_path / "odd.pte")
    assert status == 0 and "without a kernel" in out and "quantized_conv9d" in out
    status, _, err = run(capsys, "compile", tmp_path / "odd.pte", "--out", tmp_path / "out")
    assert status == 1 and "quantized_conv9d" in err and "hint:" in err


def test_run_on_this_machine(pte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = next(c for c in golden_cases(cpu="cortex-m55") if c.name == "conv-conv2d")
    np.savez(tmp_path / "in.npz", **{f"in_{i}": x for i, x in enumerate(case.inputs)})
    status, out, _ = run(
        capsys, "run", pte, "--host", "--inputs", tmp_path / "in.npz",
        "--outputs", tmp_path / "out.npz", "--json",
    )  # fmt: skip
    data = json.loads(out)
    assert status == 0 and data["matched"] and data["invocations"] == 1
    with np.load(tmp_path / "out.npz") as stored:
        for number, expected in enumerate(case.expected):
            np.testing.assert_array_equal(stored[f"out_{number}"], expected)


def test_run_names_floats_and_other_plans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (case,) = (c for c in golden_cases(cpu="cortex-m55") if c.name == "add-alpha")
    (tmp_path / "net.pte").write_bytes(case.pte)
    other = Alternative(Optimize.SIZE, 8, 2.0)
    monkeypatch.setattr("cortexm_tools.compile.other_plans", lambda *given: [other])
    status, out, _ = run(capsys, "run", tmp_path / "net.pte", "--host")
    assert status == 0
    assert re.search(
        r"^  float  2 of 2 operators that compute in float32: binary, binary$", out, re.M
    )
    assert re.search(
        r"^  8 B RAM instead of [\d,]+ with OPTIMIZE size, about 100 % more", out, re.M
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "has no entry 'in_0'"),
        ({"in_0": np.zeros((1, 2), np.float32)}, "the model takes float32"),
        ({"in_0": np.zeros((1, 2), "U4")}, "the model takes float32"),
    ],
)
def test_run_with_wrong_inputs(
    arrays: dict[str, np.ndarray],
    message: str,
    pte: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.savez(tmp_path / "in.npz", **arrays)
    status, _, err = run(capsys, "run", pte, "--host", "--inputs", tmp_path / "in.npz")
    assert status == 1 and message in err
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04nonsense")
    status, _, err = run(capsys, "run", pte, "--host", "--inputs", tmp_path / "bad.npz")
    assert status == 1 and "is not a .npz" in err


@pytest.mark.parametrize("missing", ["arm-none-eabi-gcc", "qemu-system-arm", "cmake"])
def test_missing_tools_are_named_with_their_package(
    missing: str,
    pte: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from cortexm_tools.run import image

    real = image.shutil.which
    monkeypatch.setattr(image.shutil, "which", lambda name: None if name == missing else real(name))
    status, _, err = run(capsys, "run", pte, "--work", tmp_path / "w")
    assert status == 1 and missing in err and "apt install" in err


def test_doctor_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    status, out, _ = run(capsys, "doctor")
    assert status == 1 and "MISSING" in out and "apt install qemu-system-arm" in out
    for name, remedy in (("openocd", "apt install"), ("pyocd", "pip install"), ("west", "pip")):
        assert re.search(rf"^absent +{name} +{remedy}", out, re.M)


def test_doctor_is_content_without_probes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = ("cmake", "ninja", "arm-none-eabi-gcc", "qemu-system-arm", "cc", "JLinkGDBServer")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: name if name in found else None)
    monkeypatch.setattr(doctor, "_program_version", lambda name: "1.0" if name in found else "")
    status, out, _ = run(capsys, "doctor")
    assert status == 0 and "MISSING" not in out
    assert re.search(r"^ok +JLinkGDBServerCLExe +found", out, re.M)


NEWER = {"torch": "2.15.0+cpu", "torchao": "0.18.1", "executorch": "1.6.0"}


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that this version was not made for, and that fail as they may."""
    real = packages.importlib.metadata.version
    monkeypatch.setattr(
        packages.importlib.metadata, "version", lambda name: NEWER.get(name) or real(name)
    )

    def fails(*given: object, **named: object) -> None:
        raise AttributeError("module 'executorch.exir' has no attribute 'to_edge'")

    monkeypatch.setattr("cortexm_tools.frontend.lower.lower.lower", fails)


def test_other_versions_are_named_with_those_that_work(
    newer: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "doctor")
    assert status == 1 and re.search(
        r"^OTHER +torch +2\.15\.0\+cpu: pip install torch==2\.13", out, re.M
    )
    assert re.search(
        r"^OTHER +executorch +1\.6\.0: pip install 'executorch\[ethos-u\]==1\.5", out, re.M
    )
    assert re.search(r"^ok +torchao +0\.18\.1 ", out, re.M)
    (tmp_path / "net.py").write_text(
        "import torch\nModelUnderTest = torch.nn.Linear(3, 2)\nModelInputs = (torch.ones(1, 3),)\n"
    )
    status, _, err = run(capsys, "compile", tmp_path / "net.py", "--cpu", "cortex-m4")
    assert status == 1 and "lowering with torch 2.15.0+cpu, executorch 1.6.0 failed" in err
    assert "hint: lowering works with torch 2.13.0, torchao 0.18.0, executorch 1.5.1" in err


def test_without_numpy_there_is_a_sentence() -> None:
    """As a small launcher in another interpreter sees it: -S hides what is installed."""
    launch = Path(cli.__file__).parents[3] / "cmake" / "launch.py"
    for words in (["doctor"], ["inspect", "a.pte"]):
        done = subprocess.run(
            [sys.executable, "-S", str(launch), str(Path(cli.__file__).parents[1]), "cortexm_tools"]
            + words,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1 and "Traceback" not in done.stderr
        if words == ["doctor"]:
            assert re.search(r"^MISSING +numpy +pip install numpy", done.stdout, re.M)
        else:
            assert "lacks numpy" in done.stderr and "CORTEXM_PYTHON" in done.stderr


@pytest.mark.parametrize("words", [["doctor"], ["inspect", str(DIGITS)], ["--help"]])
def test_who_reads_what_is_printed_may_stop(words: list[str]) -> None:
    command = [sys.executable, "-m", "cortexm_tools", *words]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert child.stdout is not None
    child.stdout.close()
    assert child.communicate(timeout=60)[1] == b"" and child.returncode == 1


def test_doctor_reads_what_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "ninja"
    tool.write_bytes(b"#!/bin/sh\nprintf 'ninja \\377\\376 1.2.3'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert doctor._program_version("ninja") == "1.2.3"


def test_an_interrupt_while_importing_is_a_word() -> None:
    """Also in a package that makes another error of it, as numpy does."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # also below a job of '&'\n"
        "class Late:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'cortexm_tools.compile':\n"
        "            try: os.kill(os.getpid(), signal.SIGINT)\n"
        "            except KeyboardInterrupt: raise ImportError('numpy is broken')\n"
        "sys.meta_path.insert(0, Late())\n"
        "from cortexm_tools.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_module_and_cmake_dir() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cortexm_tools", "cmake-dir"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert (Path(done.stdout.strip()) / "CortexMModelConfig.cmake").is_file()
