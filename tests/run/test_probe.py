# SPDX-License-Identifier: Apache-2.0
"""`--probe`: images loaded, fed, read and measured through QEMU's GDB server, and what can go wrong."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cortexm_tools.cli import main
from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.paths import data_root
from cortexm_tools.program import load_program
from cortexm_tools.run.boards import BOARDS
from cortexm_tools.run.circumstances import measured_data, measured_lines, tried_line
from cortexm_tools.run.command import RunRequest, run_program, run_text
from cortexm_tools.run.emulator import EMULATOR
from cortexm_tools.run.image import COMPILER
from cortexm_tools.run.probe import session
from cortexm_tools.run.probe.command import ProbeRequest
from cortexm_tools.run.probe.memories import linker_script, parse_memory, read_linker_script
from cortexm_tools.run.probe.servers import Probe, connected, server_command
from cortexm_tools.run.probe.session import Image, check_core, run_image_on
from cortexm_tools.run.probe.silicon import find_chip, silicon
from cortexm_tools.run.result import Measured, RunResult
from cortexm_tools.target import CORES, Core, Target

from tests.support.cores import cross_compiler

DIGITS = Path(__file__).parents[1] / "data" / "digits" / "digits.pte"
# What an emulated chip holds before anything is loaded, as real ones do: a stack's end, and a loop. A
# core that is let go, as after a refusal, would lock up without, and QEMU end.
WAITING = ("addr=0,data=0x0000000920010000,data-len=8", "addr=8,data=0xe7fe,data-len=2")
COMMON = data_root() / "boards" / "common"


@contextmanager
def emulated(board: str, *options: str) -> Iterator[str]:
    """QEMU with a GDB server and a core that waits; what --probe calls it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = ("-display", "none", "-monitor", "none", "-serial", "none", "-S")
    words = ["-machine", BOARDS[board].machine, *quiet, "-gdb", f"tcp:127.0.0.1:{port}"]
    words += [word for data in WAITING for word in ("-device", f"loader,{data}")]
    process = subprocess.Popen([EMULATOR, *words, *options])
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 0.1).close()
                break
            except OSError:
                process.poll()
                assert process.returncode is None
                os.sched_yield()
        yield f"gdb:127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(autouse=True)
def short_spin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frequency of an emulated clock is looked at once."""
    if "clock_as_found" not in request.node.name:
        monkeypatch.setattr(session, "_SPIN_SECONDS", 0.02)


COUNTED = ("-icount", "shift=0")  # SysTick then counts instructions, by 40 on boards of 25 MHz


@pytest.fixture(scope="module")
def m4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """An emulated M4 behind a probe, and a build folder."""
    with emulated("mps2-an386", *COUNTED) as probe:
        yield probe, tmp_path_factory.mktemp("m4")


def test_run_and_bench_on_an_m4(
    m4: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    probe, work = m4
    words = ["--probe", probe, "--memory", "flash=0x0:256K,ram=0x20000000:64K"]
    words += ["--cpu", "cortex-m4", "--work", str(work)]
    assert main(["run", str(DIGITS), *words]) == 0
    said = capsys.readouterr().out
    assert "outputs equal the reference interpreter in every byte" in said
    assert "cycles per inference (SysTick; median of 3" in said
    assert "no silicon" in said and "bytes of code" in said

    file = tmp_path / "m.json"
    bench = ["bench", str(DIGITS), *words, "--clock", "25", "--measurement", str(file)]
    assert main(bench) == 0
    said = capsys.readouterr().out
    assert "clock 25.00 MHz as declared (--clock)" in said and "depthwise_conv2d" in said
    data = json.loads(file.read_text())
    assert data["emulated"] and data["matched"] and data["counter"] == "SysTick"
    assert (data["core"], data["board"], data["version"]) == ("cortex-m4", "a chip", 1)
    # 40 instructions are a tick; a mark rounds to one.
    assert abs(data["cycles"] * 40 / data["instructions"] - 1) < 0.01
    for layer in data["layers"]:
        assert abs(layer["cycles"] * 40 - layer["instructions"]) <= 120
    total = sum(layer["cycles"] for layer in data["layers"])
    assert abs(total - data["cycles"]) <= len(data["layers"])
    # An emulator calibrates nothing.
    assert main(["calibrate", str(file)]) == 1
    assert "was measured on an emulator" in capsys.readouterr().err


def test_a_started_server_and_the_boards_own_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """openocd, where QEMU stands for it: an M0, which has neither DWT nor PMU."""
    fake = tmp_path / "bin" / "openocd"
    fake.parent.mkdir()
    quiet = "-display none -monitor none -serial none -S -icount shift=0"
    fake.write_text(
        "#!/bin/sh\n"
        'port=$(echo "$2" | sed "s/gdb_port \\([0-9]*\\);.*/\\1/")\n'
        '[ "$4" = there.cfg ] || { echo "Error: cannot find $4" >&2; exit 1; }\n'
        f"exec {shutil.which(EMULATOR)} -machine microbit {quiet} -gdb tcp:127.0.0.1:$port\n"
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    words = ["run", str(DIGITS), "--board", "microbit", "--work", str(tmp_path / "w"), "--json"]
    assert main([*words, "--probe", "openocd:there.cfg"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["cpu"], data["measured"]["core"]) == ("cortex-m0", "cortex-m0")
    assert data["measured"]["counter"] == "SysTick" and data["measured"]["cycles"] > 10_000
    assert data["instructions"] is None and data["matched"]
    assert main([*words, "--probe", "openocd:elsewhere.cfg"]) == 1
    assert "openocd ended with status 1: Error: cannot find elsewhere" in capsys.readouterr().err


def test_from_ram_alone_on_an_m55_with_the_clock_as_found(tmp_path: Path) -> None:
    """Code, constants and variables in one RAM; QEMU's clock goes by ours without -icount."""
    target = Target.parse("cortex-m55")
    compiled = compile_program(
        load_program(DIGITS, name="digits", target=target), CompileOptions(target)
    )
    with emulated("mps3-an547") as probe:
        chip = find_chip(None, "ram=0x21000000:256K", None)
        request = ProbeRequest(Probe.parse(probe), chip)
        report = run_program(compiled, RunRequest(place=request, work=tmp_path))
    # Outputs that differ are counted.
    wrong = run_program(compiled, RunRequest(place=Flipped(report.result), work=tmp_path))
    assert report.passed and report.result.measured is not None
    found = report.result.measured.clock_hz
    assert found is not None and 0.8 < found / 32e6 < 1.2
    assert not wrong.passed and wrong.data["differing_values"] == 1
    assert "WRONG: 1 output values differ" in run_text(compiled, wrong)


@dataclass(frozen=True)
class Flipped:
    """A board whose first output has a wrong bit."""

    result: RunResult
    name: str = "flipped"

    def run(
        self,
        model_dir: Path,
        name: str,
        inputs: Sequence[Sequence[bytes]],
        work_dir: Path,
        *,
        target: Target,
        steps: int = 0,
    ) -> RunResult:
        first = bytearray(self.result.outputs[0][0])
        first[0] ^= 1
        return replace(self.result, outputs=[[bytes(first)], *self.result.outputs[1:]])


@pytest.mark.parametrize(
    ("setup", "options", "message"),
    [
        (
            "*(volatile unsigned *)0x90000000u = 1;",
            (),
            r"the image failed: (BusFault|HardFault) at 0x[0-9a-f]{8} \(board_setup\+0x[0-9a-f]+\)",
        ),
        ("for (;;) {}", ("--timeout", "0.3"), r"did nothing for 0.3 s: it is at .*\(board_setup\+"),
        ("#error no clock", (), r"building the image failed:\n.*no clock"),
    ],
)
def test_faults_and_loops_say_where(
    m4: tuple[str, Path],
    setup: str,
    options: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import re

    probe, work = m4
    file = tmp_path / "setup.c"
    file.write_text(f"void board_setup(void);\nvoid board_setup(void)\n{{\n{setup}\n}}\n")
    words = ["--probe", probe, "--memory", "flash=0x0:256K,ram=0x20000000:64K", *options]
    words += ["--cpu", "cortex-m4", "--work", str(work), "--setup", str(file)]
    assert main(["run", str(DIGITS), *words]) == 1
    err = capsys.readouterr().err
    assert re.search(message, err, re.DOTALL), err
    assert "hint: " in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--memory", "ram=0x20000000:16K"], "does not fit the board: .* too many for RAM", ""),
        (["--memory", "ram=0x60000000:64K"], "refused reading .* 0x60000000", "--memory says"),
    ],
)
def test_what_does_not_fit_the_chip(
    m4: tuple[str, Path],
    words: list[str],
    message: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import re

    probe, work = m4
    given = ["--probe", probe, "--work", str(work), "--cpu", "cortex-m4", *words]
    assert main(["run", str(DIGITS), *given]) == 1
    err = capsys.readouterr().err
    assert re.search(message, err, re.DOTALL) and hint in err


def test_another_core_is_named(m4: tuple[str, Path]) -> None:
    with connected(Probe.parse(m4[0]), print) as server:
        assert check_core(server, Core("cortex-m4"), "x") is Core("cortex-m4")
        with pytest.raises(
            CortexMError, match="is a cortex-m4, the image is for cortex-m7"
        ) as error:
            check_core(server, Core("cortex-m7"), "x")
    assert error.value.hint == "--cpu cortex-m4"


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("--probe gdb:127.0.0.1:9 --board nucleo-f446re", "no GDB server answers", "start it"),
        ("--probe opnocd:x --board nucleo-f446re", "names no probe", "did you mean 'openocd'?"),
        ("--probe gdb:localhost --board nucleo-f446re", "is not HOST:PORT", "localhost:3333"),
        ("--probe gdb:h:1 --board nucleo-f446", "unknown board", "did you mean 'nucleo-f446re'?"),
        ("--probe gdb:h:1", "where is the chip's memory?", "--memory"),
        ("--probe openocd --memory ram=0:64K", "says too little", "openocd:CONFIG"),
        ("--probe gdb:h:1 --memory rom=0:64K", "unknown memory 'rom'", "did you mean 'ram'?"),
        ("--probe gdb:h:1 --memory flash=0:64K", "no memory 'ram'", "for example"),
        ("--probe gdb:h:1 --memory flash=0:1M,ram=0x1000:1K", "overlap", ""),
        ("--probe gdb:h:1 --memory ram=xyz:1K", "is not an address", "0x08000000"),
        ("--probe gdb:h:1 --memory ram=0xFFFFF000:64K", "32 bits of addresses", ""),
        ("--probe gdb:h:1 --board nrf52840dk --cpu cortex-m0", "has a cortex-m4", "leave out"),
        ("--probe gdb:h:1 --board nrf52840dk --setup /no", "no such file", ""),
        ("--probe gdb:h:1 --zephyr b", "two ways to one board", ""),
        ("--probe jlink --board nrf52840dk", "JLinkGDBServerCLExe was not found", "segger.com"),
        ("--memory ram=0:64K", "is for boards with chips", "--probe"),
        ("--rtt poll --zephyr b", "--rtt is for --probe", ""),
        ("--host --probe gdb:h:1", "--host runs here", ""),
    ],
)
def test_one_error_and_a_hint(
    words: str, message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(DIGITS), *words.split()]) == 1
    err = capsys.readouterr().err
    assert message in err and hint in err and err.startswith("error: ")
    assert err.count("\n") <= 2


def test_how_servers_are_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("openocd", "pyocd", "JLinkGDBServerCLExe"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    commands = {
        kind: " ".join(server_command(Probe.parse(f"{kind}:a,b"), 5))
        for kind in ("openocd", "pyocd", "jlink")
    }
    assert "gdb_port 5; tcl_port disabled" in commands["openocd"]
    assert commands["openocd"].endswith("-f a -f b")
    assert "gdbserver --no-wait -t a,b -p 5 -T" in commands["pyocd"]
    assert "-device a,b -if SWD" in commands["jlink"] and "-port 5 " in commands["jlink"]


# Registers of counters that QEMU lacks, in memory: a read of one that is enabled advances it.
COUNTERS = r"""
#include <stdint.h>
#define REG(address) (*fake_register(address))
static volatile uint32_t file[3][0x1000];
static volatile uint32_t *fake_register(uint32_t address)
{
    volatile uint32_t *const found = address >= 0xE000E000u ? &file[2][(address & 0xFFFu) / 4u]
                                   : address >= 0xE0003000u ? &file[1][(address & 0xFFFu) / 4u]
                                                            : &file[0][(address & 0xFFFu) / 4u];
    const uint32_t traced = file[2][0xDFC / 4] & (1u << 24);
    if (address == 0xE000ED00u) {
        *found = *(volatile uint32_t *)0xE000ED00u;
    }
    if (address == 0xE0001004u && traced && (file[0][0] & 1u)) {
        *found += HAS_DWT * 0x30000000u;
    }
    if (address == 0xE000307Cu && traced && (file[1][0xE04 / 4] & 1u) && file[1][0xC00 / 4] >> 31) {
        *found += HAS_PMU * 0x30000000u;
    }
    if (address == 0xE000E018u && file[2][0x10 / 4] == 7u) {
        *found = (*found - HAS_SYSTICK * 100u) & 0xFFFFFFu;
    }
    return found;
}
#include "cycles.c"
#include "startup.c"
#include "rtt.c"
void board_measure_init(void) { board_clock_init(); }
int main(void)
{
    uint64_t before = board_ticks(), after = before;
    for (int i = 0; i < 20; i++) {
        after = board_ticks();
    }
    const int out = board_file_open("elapsed", BOARD_FILE_WRITE);
    after -= before;
    board_file_write(out, &after, sizeof after);
    /* More than the rings hold, in pieces that go round their end. */
    static uint8_t data[700];
    const int in = board_file_open("numbers", BOARD_FILE_READ);
    const int echo = board_file_open("echo", BOARD_FILE_WRITE);
    for (size_t size = 700, found; (found = board_file_read(in, data, size)) != 0; size -= 97) {
        board_file_write(echo, data, found);
        board_write("piece by piece, more than sixteen words of text, until the ring is full\n");
    }
    return board_file_open("nothing", BOARD_FILE_READ) == -1 ? 0 : 3;
}
"""


@pytest.mark.parametrize(
    ("board", "has", "counter", "elapsed", "polled"),
    [
        ("mps2-an386", "001", "SysTick", 20 * 100, True),
        ("mps2-an386", "011", "DWT CYCCNT", 20 * 0x30000000, False),
        ("mps3-an547", "111", "PMU CCNTR", 20 * 0x30000000, True),
        ("mps2-an386", "000", "none", 0, False),
    ],
)
def test_the_best_counter_that_counts_is_taken(
    m4: tuple[str, Path],
    board: str,
    has: str,
    counter: str,
    elapsed: int,
    polled: bool,
    tmp_path: Path,
) -> None:
    """And one of 32 bits is counted beyond them; files and text come by RTT, looked at either way."""
    numbers = random.Random(17).randbytes(2000)
    cpu = BOARDS[board].core
    (tmp_path / "all.c").write_text(COUNTERS)
    memory = "ram=0x20000000:128K"
    chip = find_chip(None, memory, None)
    script = chip.write_script(tmp_path)
    command = [*cross_compiler(cpu.value), "-Os", "-DBOARD_CYCLES", f"-I{COMMON}"]
    command += [f"-DHAS_{n}={v}u" for n, v in zip(("PMU", "DWT", "SYSTICK"), has, strict=True)]
    command += [f"-I{data_root() / 'boards' / 'include'}", "-nostartfiles", "--specs=nano.specs"]
    command += [f"-L{COMMON}", f"-T{script}", "-o", str(tmp_path / "app.elf"), "all.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with emulated(board, *COUNTED) if board != "mps2-an386" else _there(m4[0]) as probe:
        with connected(Probe.parse(probe), print) as server:
            ran = run_image_on(
                server,
                Image(tmp_path / "app.elf"),
                {"numbers": numbers},
                where=probe,
                core=cpu,
                resets=(),
                in_flash=False,
                timeout=20.0,
                polled=polled,
            )
            ram = server.read(0x20000000, 1 << 14)
    assert ran.files["echo"] == numbers
    assert ran.console == 4 * (
        "piece by piece, more than sixteen words of text, until the ring is full\n"
    )
    check_block(ram)
    assert ran.counter == counter
    assert int.from_bytes(ran.files["elapsed"], "little") == elapsed


def check_block(ram: bytes) -> None:
    """As viewers find and read it that know nothing of the image: by its id, in RAM from 0x20000000,
    which is there once; what is named Terminal is text."""
    assert ram.count(b"SEGGER RTT") == 1
    at = ram.index(b"SEGGER RTT\0\0\0\0\0\0")
    assert at % 4 == 0 and struct.unpack_from("<2I", ram, at + 16) == (2, 2)
    for number, name in enumerate((b"Terminal", b"cortexm") * 2):
        described = struct.unpack_from("<6I", ram, at + 24 + 24 * number)
        label, data, size, written, read, flags = described
        assert ram[label - 0x20000000 :].startswith(name + b"\0")
        assert 0x20000000 <= data < data + size <= 0x20000000 + len(ram)
        assert written == read < size and flags == 2  # all was read; a full ring blocks
    text = ram[struct.unpack_from("<I", ram, at + 28)[0] - 0x20000000 :][:128]
    assert b"ring is full\npiece by piece" in text


@contextmanager
def _there(probe: str) -> Iterator[str]:
    yield probe


def test_the_ledger_of_boards(tmp_path: Path) -> None:
    """Every board's script links, and its words name cores, memories and probes."""
    compile_ = [COMPILER, "-mcpu=cortex-m0", "-c", "-x", "c", "-", "-o", str(tmp_path / "o.o")]
    source = b'void board_reset(void) {} int weights[9] __attribute__((section(".data"))) = {1};'
    subprocess.run(compile_, input=source, check=True)
    linker = shutil.which(COMPILER.replace("gcc", "ld"))
    assert linker is not None
    names = {row.names["zephyr"] for row in silicon().values() if row.names["zephyr"]}
    assert len(silicon()) >= 15 and len(names) >= 12
    for row in silicon().values():
        assert row.isa in CORES[row.core].isas
        chip = find_chip(row.name, None, None)
        script = chip.write_script(tmp_path / row.name)
        command = [linker, f"-L{COMMON}", f"-T{script}", "o.o", "-o", "out.elf"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for kind in ("openocd", "pyocd", "jlink"):
            if row.names[kind]:
                assert Probe.parse(kind, row.names).rest == row.names[kind]


def test_a_vendors_linker_script_says_where_memory_is(tmp_path: Path) -> None:
    file = tmp_path / "STM32F446RETX_FLASH.ld"
    file.write_text(
        "/* RAM (xrw) : ORIGIN = 0x1, LENGTH = 9M */\nMEMORY\n{\n"
        "  RAM    (xrw)    : ORIGIN = 0x20000000,   LENGTH = 128K\n"
        "  FLASH    (rx)    : ORIGIN = 0x8000000,   LENGTH = 512K\n}\nSECTIONS { }\n"
    )
    assert read_linker_script(file) == parse_memory("flash=0x08000000:512K,ram=0x20000000:128K")
    assert read_linker_script(data_root() / "boards" / "mps2-an386" / "memory.ld") is None
    file.write_text("SECTIONS { }")
    with pytest.raises(CortexMError, match="has no MEMORY block"):
        read_linker_script(file)
    text = linker_script(parse_memory("code=0x0:64K,ram=0x20000000:8K,fast=0x30000000:4K"))
    assert 'REGION_ALIAS("FAST", CHIP_FAST)' in text and 'REGION_ALIAS("TEXT", CHIP_CODE)' in text
    assert "BOARD_STACK_SIZE = 1024;" in text


def test_what_the_circumstances_are_said_to_be() -> None:
    found = Measured(
        counter="DWT CYCCNT",
        cycles=(2_000_000, 1_600_000, 1_600_010),
        layers=(),
        clock_hz=16_020_000.0,
        declared_hz=16_000_000,
        clock_source="HSI",
        wait_states=5,
        caches=(True, False),
        emulated=False,
        core="cortex-m7",
        how="openocd:x",
    )
    text = "\n".join(measured_lines(measured_data(found)))
    assert "1,600,010 cycles per inference (DWT CYCCNT; median of 3" in text
    assert "100.001 ms" in text and "16.00 MHz as declared (HSI), 16.02 MHz as found" in text
    assert "wait states 5 as found" in text and "instruction on, data off" in text
    assert "DIFFER" not in text and "no silicon" not in text
    other = measured_lines(measured_data(replace(found, clock_hz=64e6)))
    assert any("THESE DIFFER" in line for line in other)
    without = replace(found, counter="none", cycles=(), clock_hz=None, caches=None)
    data = measured_data(without)
    assert data["cycles"] is None and measured_lines(data)[0].startswith("no cycle counter here")
    assert "nobody has told" in tried_line("nucleo-f446re", emulated=False)
