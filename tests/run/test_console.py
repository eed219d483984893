# SPDX-License-Identifier: Apache-2.0
"""The console of boards with Zephyr: the image's side behind a serial port of QEMU, and what can be lost."""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.cli import main
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.paths import data_root
from cortexm_tools.program import Program
from cortexm_tools.run.console import lines, zephyr
from cortexm_tools.run.console.lines import Console, Fault, NoAnswer

PROJECT = Path(zephyr.__file__).parents[1] / "project"
DIGITS = Path(__file__).parents[1] / "data" / "digits" / "digits.pte"

LISTS = f'''
cmake_minimum_required(VERSION 3.20)
find_package(CortexMModel REQUIRED PATHS "{data_root() / "cmake"}" NO_DEFAULT_PATH)
project(console C)
cortexm_add_model("{DIGITS}")
add_executable(app main.c "{PROJECT / "console.c"}")
target_include_directories(app PRIVATE "{PROJECT}")
target_compile_options(app PRIVATE -Wall -Wextra -Werror)
target_link_libraries(app PRIVATE digits CortexMModel::board)
'''
# The UART of Arm's application note AN385.
MAIN = r"""
#include "console.h"
#include "cortexm_board.h"
#include "digits.h"

#define UART ((volatile uint32_t *)0x40004000)

static uint32_t cycles, layers[2] = {11, 22};

static int get(void)
{
    while ((UART[1] & 2u) == 0u) {
    }
    return (int)(UART[0] & 0xFFu);
}

static void put(char byte)
{
    while ((UART[1] & 1u) != 0u) {
    }
    UART[0] = (uint8_t)byte;
}

int main(void)
{
    const runner_console_t console = {&digits, get, put, layers, 2, &cycles, 25000000, "none"};

    UART[4] = 16;
    UART[2] = 3;
    for (const char *text = "*** Booting ***\n"; *text != '\0'; text++) {
        put(*text);
    }
    cycles = 4321;
    runner_console(&console);
    return 0;
}
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The terminal of a board that serves the digits model."""
    folder = tmp_path_factory.mktemp("console")
    (folder / "CMakeLists.txt").write_text(LISTS)
    (folder / "main.c").write_text(MAIN)
    for command in (
        ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCORTEXM_BOARD=mps2-an385"],
        ["cmake", "--build", "build", "--target", "app"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    with zephyr._emulator("mps2-an385", folder / "build" / "app.elf") as name:
        yield name


class Noise:
    """A port that damages what `damage` says of the n-th write or read."""

    def __init__(self, port: lines.Port, damage: Callable[[str, int, bytes], bytes]) -> None:
        self.port = port
        self.damage = damage
        self.count = {"in": 0, "out": 0}
        self.timeout: float | None = None

    @property
    def in_waiting(self) -> int:
        return 0

    def _damaged(self, way: str, data: bytes) -> bytes:
        self.count[way] += 1
        return self.damage(way, self.count[way], data)

    def read(self, size: int, /) -> bytes:
        self.port.timeout = self.timeout
        data = self.port.read(1) + self.port.read(self.port.in_waiting) if size else b""
        return self._damaged("in", data) if data else b""

    def write(self, data: bytes, /) -> int | None:
        return self.port.write(self._damaged("out", data))


def test_a_model_over_a_serial_port(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bits and bytes that are lost, and long lines cut off, and then without."""
    noise = True
    monkeypatch.setattr(Console._ask, "__kwdefaults__", {"seconds": 0.5, "tries": 8})

    def damage(way: str, number: int, data: bytes) -> bytes:
        # What arrives damaged at the board is answered at once; of what arrives damaged here the answer
        # is waited for in vain.
        if noise and number in ((4, 6) if way == "out" else (9, 60)):
            return data[:5] + data[6:] if number == 6 else data[:-3] + b"x" + data[-2:]
        if noise and way == "out":
            return data[:100]
        return data

    graph = Program("digits", DIGITS.read_bytes()).graph()
    value = np.random.default_rng(3).random((1, 1, 8, 8)).astype(np.float32)
    (expected,) = run_graph(graph, [value])
    with zephyr._opened(device, 115200) as port:
        console = Console(Noise(port, damage), device)
        found = console.greet(20)
        assert (found.name, found.status, found.inputs, found.outputs) == ("digits", 0, 1, 1)
        assert found.clock_hz == 25_000_000 and found.arena_bytes > 1000
        for again in (True, False):
            noise = again
            console.set_input(0, value.tobytes())
            assert console.invoke(20) == (0, 4321)
            assert console.output(0) == expected.tobytes()
        assert [console.layer(i) for i in range(3)] == [11, 22, 0]
        with pytest.raises(CortexMError, match="the board answers 'in' by 'wrong'"):
            console.set_input(1, b"abcd")
        with pytest.raises(CortexMError, match="'in' by 'wrong'"):
            console.set_input(0, bytes(300))


class Board:
    """A port whose other end says what a list holds, each after a request."""

    def __init__(self, *said: bytes) -> None:
        self.said = list(said)
        self.waiting = b""
        self.timeout: float | None = None

    @property
    def in_waiting(self) -> int:
        return len(self.waiting)

    def read(self, size: int, /) -> bytes:
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        return data

    def write(self, data: bytes, /) -> int | None:
        sequence = data.strip()[1:].split()[0]
        said = self.said.pop(0) if self.said else b""
        if said.startswith(b"="):
            body = sequence + b" " + said[1:]
            said = b"@%s*%08x\n" % (body, zlib.crc32(body))
        self.waiting += said
        return len(data)


FAULT = b"""[00:00:00.010,000] <err> os: ***** BUS FAULT *****
  Precise data bus error
r0/a1:  0x00000000  r1/a2:  0x00000000
Faulting instruction address (r15/pc): 0x00000f2c
>>> ZEPHYR FATAL ERROR 25: Unknown error on CPU 0
"""


def test_faults_silence_and_other_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Console._ask, "__kwdefaults__", {"seconds": 0.02, "tries": 2})
    with pytest.raises(Fault, match="reports a fault: BUS FAULT") as caught:
        Console(Board(FAULT), "COM3").invoke(1.0)
    assert caught.value.address == 0xF2C
    with pytest.raises(NoAnswer, match="does not answer; it last said 'hello world'"):
        Console(Board(b"hello world\n"), "COM3").invoke(0.05)
    with pytest.raises(CortexMError, match="does not answer within 0.1 s") as silent:
        Console(Board(), "COM3").greet(0.1)
    assert "--serial DEV" in silent.value.hint
    with pytest.raises(CortexMError, match="runs another image: shell 2"):
        Console(Board(b"=shell 2"), "COM3").greet(0.1)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--zephyr mps2/an385 --serial /dev/nowhere", "west was not found", "pip install west"),
        ("--zephyr mps2/an385 --memory ram=0:1K", "--memory is for --probe", ""),
        ("--serial /dev/x", "--serial is for boards with chips", "--zephyr"),
    ],
)
def test_one_error_and_a_hint(
    words: str,
    message: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(zephyr.shutil, "which", lambda name: None)
    assert main(["run", str(DIGITS), *words.split()]) == 1
    err = capsys.readouterr().err
    assert message in err and hint in err


def test_serial_ports_are_found_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from serial.tools import list_ports
    from serial.tools.list_ports_common import ListPortInfo

    def port(name: str) -> ListPortInfo:
        made = ListPortInfo(name)
        made.vid = 1
        return made

    for names, message in (([], "no serial port"), (["a", "b"], "there are 2 serial ports")):
        monkeypatch.setattr(list_ports, "comports", lambda names=names: [port(n) for n in names])
        with pytest.raises(CortexMError, match=message):
            zephyr._only_port()
    monkeypatch.setattr(list_ports, "comports", lambda: [port("a"), ListPortInfo("ttyS0")])
    assert zephyr._only_port() == "a"
    with pytest.raises(CortexMError, match="cannot open the serial port"):
        with zephyr._opened("/dev/nowhere", 115200):
            pass


def test_boards_of_zephyr_have_cores() -> None:
    assert zephyr.emulated_board("mps3/corstone300/an547") == "mps3-an547"
    assert zephyr.emulated_board("nrf52840dk/nrf52840") is None
    assert str(zephyr.core_of("nrf52840dk/nrf52840").value) == "cortex-m4"  # type: ignore
    assert zephyr.core_of("unheard/of") is None


# What bench --measurement writes for a chip; the numbers are made up.
MEASURED = {
    "format": "cortexm-measurement",
    "version": 1,
    "board": "nucleo-f446re",
    "cpu": "cortex-m4",
    "isa": "dsp",
    "emulated": False,
    "counter": "DWT CYCCNT",
    "matched": True,
    "cycles": 1500,
    "clock": {"hz": 16_000_000, "found_hz": None, "source": "HSI"},
    "model": {"name": "digits", "digest": "0"},
    "kernels": {"library": "builtin", "digest": "0"},
    "layers": [],
    "mix": {"alu": 500, "load": 400, "multiply": 100, "taken": 50, "fetched": 1000},
}


def test_calibrate_fits_the_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cortexm_tools.run.calibrate import calibrate, read_costs
    from cortexm_tools.run.cycles import estimate
    from cortexm_tools.target import Core

    core = Core("cortex-m4")
    today = estimate(core, MEASURED["mix"])  # type: ignore[arg-type]
    assert today is not None and today.low < 1500 < today.high
    files = []
    for number, cycles in enumerate((1500, 1600, 1700)):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps({**MEASURED, "cycles": cycles}))
    out = tmp_path / "costs.json"
    assert main(["calibrate", *map(str, files), "--out", str(out)]) == 0
    assert "cortex-m4, 3 measurements" in capsys.readouterr().out
    fitted = estimate(core, MEASURED["mix"], read_costs(out)[core])  # type: ignore[arg-type]
    assert fitted is not None
    assert today.low < fitted.low <= 1500 < 1700 <= fitted.high < today.high
    (fit,) = calibrate(files)
    assert abs(fit.points[0].position - (1500 - today.low) / (today.high - today.low)) < 1e-9
    # One alone leaves a wider interval.
    (alone,) = calibrate(files[:1])
    assert alone.high - alone.low > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "is not a measurement"),
        ({"version": 9}, "of version 9"),
        ({"matched": False}, "has wrong outputs"),
        ({"cycles": None}, "no counter"),
        ({"mix": None}, "which instructions were executed"),
        ({"cpu": "cortex-m99"}, "a core that is not known"),
        ({"cpu": "cortex-m23"}, "no costs for cortex-m23"),
        ({"layers": 1}, "has no 'layers'"),
        ({"cycles": 300}, "has 300 cycles where"),
    ],
)
def test_what_cannot_be_fitted_is_said(
    change: dict[str, object],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps({**MEASURED, **change}))
    assert main(["calibrate", str(file)]) == 1
    assert message in capsys.readouterr().err
    file.write_text("[")
    assert main(["calibrate", str(file)]) == 1
    assert "is not a measurement" in capsys.readouterr().err
