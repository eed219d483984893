# SPDX-License-Identifier: Apache-2.0
"""Whatever files and names a stranger brings, the command line answers with a sentence."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cortexm_tools import cli
from cortexm_tools.arrays import npz_names, read_npy, read_npz
from cortexm_tools.emit.files import write_files
from cortexm_tools.errors import CortexMError

from tests.support.golden import golden_case

CASE = golden_case("conv-conv2d")
QUICK = settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strangers")
    (path / "net.pte").write_bytes(CASE.pte)
    return path


def answers(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status and what was said; anything but a sentence is an exception."""
    try:
        status = cli.main(words)
    except SystemExit as stop:  # wrong usage
        status = int(str(stop.code))
    out, err = capsys.readouterr()
    assert status in (0, 1, 2) and "Traceback" not in out + err
    failed = any(line.startswith("error: ") for line in err.splitlines())
    assert status == 2 or failed == (status == 1)
    return status, err


NAMES = st.text(st.characters(), max_size=12) | st.sampled_from(
    [
        "\udcff",
        "a\0b",
        "case",
        "..",
        "a" * 300,
        "-",
        "--",
        "net",
        "\ud800.pte",
        "~",
        " ",
        "%s",
        "con",
    ]
)
CONTENTS = st.binary(max_size=40) | st.sampled_from(
    [
        CASE.pte,
        CASE.pte[:300],
        b"\xff\xfe",
        b"{}",
        b"[1]",
        b"{" * 5000,
        b'{"layers": [1]}',
        b"\ud8"[:0],
    ]
)


@settings(QUICK, max_examples=25)
@given(NAMES, st.sampled_from([".pte", ".bpte", ".py", ".json", ""]), CONTENTS)
def test_any_file_of_any_name(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, suffix: str, data: bytes
) -> None:
    (folder / "files").mkdir(exist_ok=True)
    path = f"{folder}/files/{name}{suffix}"
    try:
        Path(path).write_bytes(data)
    except (OSError, ValueError):
        pass  # such a file there cannot be, but such an argument
    commands = [["inspect", path], ["report", path]]
    if suffix != ".py":
        commands.append(["compile", path, "--out", f"{folder}/out"])
    for words in [
        *commands,
        ["compile", f"{folder}/net.pte", "--out", path + "/out", "--name", name],
    ]:
        answers(words, capsys)


@QUICK
@given(CONTENTS | st.text().map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_sidecar(folder: Path, capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    (folder / "net.layers.json").write_bytes(data)
    assert answers(["inspect", f"{folder}/net.pte"], capsys)[0] == 0


def npz(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text.encode()


BOMB = header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999, 99999, 99)}\n")
LIE = header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 1000, 100)}\n")


@QUICK
@given(st.binary(max_size=60) | st.sampled_from([BOMB, LIE, header("("), npy(np.zeros(2))]))
def test_any_array(folder: Path, data: bytes) -> None:
    for name, content in (("a.npz", npz(in_0=data)), ("b.npz", data)):
        (folder / name).write_bytes(content)
        try:
            read_npz(folder / name, ["in_0"])
        except CortexMError as error:
            assert error.where
    (folder / "c.npy").write_bytes(data)
    try:
        read_npy(folder / "c.npy")
    except CortexMError:
        pass


def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    arrays = {
        "in_0": np.arange(6, dtype=">f4").reshape(2, 3),
        "in_1": np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
        "labels": np.array(7),
        "in_2": np.zeros((0, 3), np.float32),
    }
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_npz(tmp_path / "a.npz", arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype.isnative and found[name].shape == array.shape
    # What is not asked for is not looked at.
    (tmp_path / "b.npz").write_bytes(npz(in_0=npy(arrays["in_0"]), other=BOMB))
    assert npz_names(tmp_path / "b.npz") == ("in_0", "other")
    assert set(read_npz(tmp_path / "b.npz", ["in_0"])) == {"in_0"}
    with pytest.raises(CortexMError, match="and no more than 2,147,483,648 are read"):
        read_npz(tmp_path / "b.npz", ["other"])
    (tmp_path / "b.npz").write_bytes(npz(in_0=LIE))
    with pytest.raises(CortexMError, match="is not a .npz of plain arrays"):
        read_npz(tmp_path / "b.npz", ["in_0"])


def test_a_data_set_that_does_not_fit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "set.npz"
    for inputs, labels in (
        (np.zeros((2, 3)), np.zeros(3, int)),
        (np.zeros((2, 3)), np.zeros(2)),
        (np.zeros((0, 3)), np.zeros(0, int)),
        (np.zeros(()), np.zeros((), int)),
    ):
        np.savez(path, in_0=inputs, labels=labels)
        words = ["run", f"{folder}/net.pte", "--host", "--dataset", str(path)]
        status, said = answers(words, capsys)
        assert status == 1 and ("has labels of" in said or "has no samples" in said)


def test_capitals_alone_do_not_tell_models_apart(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", f"{folder}/net.pte", "--out", str(tmp_path), "--name"]
    assert answers([*words, "kws"], capsys)[0] == 0
    status, said = answers([*words, "KWS"], capsys)
    assert status == 1 and "has a model called kws, whose macros KWS would have" in said
    assert not (tmp_path / "KWS.h").exists()


def test_a_name_that_is_not_the_files_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "case.pte").write_bytes(CASE.pte)
    assert cli.main(["compile", f"{tmp_path}/case.pte", "--out", f"{tmp_path}/out"]) == 0
    said = capsys.readouterr().err
    assert "the model in case.pte is called model_case, since 'case' is a word of C" in said
    assert (tmp_path / "out" / "model_case.h").is_file()


def test_what_a_killed_run_left_goes(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    for name in (f".cortexm-{dead.pid}-x", ".cortexm-old", f".cortexm-{os.getppid()}-y", "other"):
        (tmp_path / name).touch()
    write_files(tmp_path, {"a": "1"})
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a", "other", f".cortexm-{os.getppid()}-y"}


def test_an_interrupted_write_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"a": "1", "b": "1"})

    def interrupt(*words: object) -> None:
        raise KeyboardInterrupt

    for function in ("os.replace", "os.chmod"):
        with monkeypatch.context() as patch:
            patch.setattr(function, interrupt)
            with pytest.raises(KeyboardInterrupt):
                write_files(tmp_path, {"a": "2", "b": "2"})
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "1", "b": "1"}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_ends_its_children(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    """A program that runs for ever stands for the compiler, the build system and the emulator."""
    (tmp_path / "net.pte").write_bytes(CASE.pte)
    tools = tmp_path / "tools"
    tools.mkdir()
    slow = tools / "cmake"
    slow.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! $$ > {tmp_path}/started.new\n"
                    f"mv {tmp_path}/started.new {tmp_path}/started\nwait\n")  # fmt: skip
    slow.chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "cortexm_tools", "run", str(tmp_path / "net.pte"), "--host"]
    path = f"{tools}:{os.environ['PATH']}"
    package = str(Path(cli.__file__).parents[2])
    environment = os.environ | {"PATH": path, "TMPDIR": str(temporary), "PYTHONPATH": package}
    child = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # What runs in the background of a shell ignores the signal, and so would the child.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(number)
    said = child.communicate(timeout=60)[1]
    assert child.returncode == status and "Traceback" not in said
    assert not list(temporary.iterdir())
    for process in (tmp_path / "started").read_text().split():
        state = Path("/proc", process, "stat")  # without a reaper it stays, as a zombie
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
