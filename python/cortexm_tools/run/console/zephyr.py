# SPDX-License-Identifier: Apache-2.0
"""``--zephyr BOARD``: an application around a model, built and flashed by west, asked over its console."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import CortexMError, printable
from ...paths import data_root
from ...target import CORES, Core, Isa, Target
from ..boards import BOARDS
from ..children import run_child
from ..elf import parse_elf
from ..emulator import EMULATOR
from ..image import kernel_library, require_program
from ..probe.session import place_of
from ..probe.silicon import Silicon, silicon
from ..result import Measured, RunResult
from .lines import Console, Fault, Port

_APPLICATION = Path(__file__).resolve().parents[1] / "project" / "zephyr"
_START = 15.0  # seconds from reset to the first answer
_WEST = "pip install west, and a workspace: docs.zephyrproject.org, Getting Started"
_SERIAL = "pip install pyserial"


def emulated_board(board: str) -> str | None:
    """Our name of the machine that Zephyr's board is, if QEMU emulates it; None otherwise."""
    name = board.replace("corstone300/", "").replace("/", "-")
    return name if name in BOARDS else None


def silicon_of(board: str) -> Silicon | None:
    """The ledger's entry for Zephyr's board."""
    return next((row for row in silicon().values() if row.names["zephyr"] == board), None)


def core_of(board: str) -> Core | None:
    """The core of Zephyr's board, where a ledger knows it."""
    machine = emulated_board(board)
    if machine is not None:
        return BOARDS[machine].core
    row = silicon_of(board)
    return row.core if row else None


@dataclass(frozen=True)
class ZephyrRequest:
    """A board that runs Zephyr.

    Attributes:
        board: as ``west build -b`` has it.
        serial: device or URL of its console; None takes the only one that there is, or QEMU's.
        baud: of that port.
        clock_hz: the core's clock, where the user knows it.
        timeout: seconds that one inference may take.
    """

    board: str
    serial: str | None = None
    baud: int = 115200
    clock_hz: int | None = None
    timeout: float = 60.0

    @property
    def name(self) -> str:
        """Of the board."""
        return self.board

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
        """See place.py."""
        _serial()  # whatever is missing is said before minutes of building
        machine = emulated_board(self.board)
        is_emulated = self.serial is None and machine is not None
        build = work_dir / "zephyr"
        _build(self, model_dir, name, build, target, steps, is_emulated)
        image = build / "zephyr" / "zephyr.elf"
        if is_emulated:
            assert machine is not None
            with _emulator(machine, image) as device, _opened(device, self.baud) as port:
                return self._ask(port, device, image, inputs, steps, True)
        device = self.serial or _only_port()
        with _opened(device, self.baud) as port:
            _west(["flash", "-d", str(build)], self.board, "flashing")
            return self._ask(port, device, image, inputs, steps, False)

    def _ask(
        self,
        port: Port,
        device: str,
        image: Path,
        inputs: Sequence[Sequence[bytes]],
        steps: int,
        emulated: bool,
    ) -> RunResult:
        console = Console(port, device)
        try:
            found = console.greet(_START)
            if found.status != 0:
                raise CortexMError(
                    f"cortexm_init() failed on the board ({found.status})", where=self.board
                )
            outputs, cycles, layers = [], [], []
            for row in inputs:
                for index, data in enumerate(row):
                    console.set_input(index, data)
                status, count = console.invoke(self.timeout)
                if status != 0:
                    raise CortexMError(
                        f"cortexm_invoke() failed on the board ({status})", where=self.board
                    )
                outputs.append([console.output(index) for index in range(found.outputs)])
                cycles.append(count)
                layers.append(tuple(console.layer(i) for i in range(steps)))
        except Fault as fault:
            place = ""
            if fault.address:
                place = f" at {fault.address:#010x} ({place_of(_elf(image), fault.address)})"
            raise CortexMError(
                f"{fault.message}{place}", where=device, hint="--work keeps the image"
            ) from None
        known = silicon_of(self.board)
        counted = any(cycles)
        return RunResult(
            outputs,
            (0,) * len(inputs),
            0,
            found.arena_bytes,
            None,
            self.board,
            console.text,
            Measured(
                counter=_counter(found.counter) if counted else "none",
                cycles=tuple(cycles) if counted else (),
                layers=tuple(layers) if steps and counted else (),
                clock_hz=None,
                declared_hz=self.clock_hz or found.clock_hz or (known.clock_hz if known else None),
                clock_source="--clock" if self.clock_hz else "as Zephyr says",
                wait_states=None,
                caches=None,
                emulated=emulated,
                core="unknown",
                how=device if not emulated else "QEMU's serial port",
            ),
        )


def _counter(word: str) -> str:
    return {"timing": "Zephyr's timing functions"}.get(word, word)


def _elf(image: Path) -> Any:
    return parse_elf(image.read_bytes(), where=str(image))


def _build(
    request: ZephyrRequest,
    model_dir: Path,
    name: str,
    build: Path,
    target: Target,
    steps: int,
    is_emulated: bool,
) -> None:
    root = data_root()
    module = root / "zephyr" / "module.yml"
    if not module.is_file():
        raise CortexMError(
            "the Zephyr module is not part of this installation",
            where=str(root),
            hint="use the cortexm of a checkout, or of the workspace's module: west cortexm",
        )
    if (model_dir / f"{name}_cmsis_nn.c").is_file():
        raise CortexMError(
            "with --zephyr only our own kernels are built",
            where=name,
            hint="--kernels builtin; an application of yours takes CONFIG_CORTEXM_KERNELS_CMSIS_NN",
        )
    given = [
        f"-DRUNNER_MODEL={model_dir.resolve()}",
        f"-DRUNNER_NAME={name}",
        f"-DRUNNER_CPU={target.core.value}",
        f"-DRUNNER_ISA={target.isa.value}",
        f"-DRUNNER_STEPS={steps}",
        f"-DRUNNER_KERNELS={kernel_library(model_dir, [name])}",
        f"-DCONFIG_CORTEXM_PROFILE_LAYERS={'y' if steps else 'n'}",
    ]
    # DWT, where SysTick may be a slow timer of the chip's; QEMU has none.
    if not is_emulated and CORES[target.core].base is Isa.V7M:
        given.append("-DCONFIG_TIMING_FUNCTIONS=y")
    modules = (
        os.environ.get("ZEPHYR_MODULES", "") + ";" + os.environ.get("EXTRA_ZEPHYR_MODULES", "")
    )
    if str(root) not in modules.split(";"):
        given.append(f"-DEXTRA_ZEPHYR_MODULES={root}")
    build.parent.mkdir(parents=True, exist_ok=True)
    words = ["build", "-d", str(build), "-b", request.board, str(_APPLICATION), "--", *given]
    _west(words, request.board, "building")


def _west(words: list[str], board: str, doing: str) -> None:
    """Runs west in the workspace.

    Raises:
        CortexMError: there is none, or it fails.
    """
    west = shutil.which("west")
    if west is None:
        raise CortexMError("the program west was not found", where="--zephyr", hint=_WEST)
    base = os.environ.get("ZEPHYR_BASE")
    if base is None and not any((p / ".west").is_dir() for p in (Path.cwd(), *Path.cwd().parents)):
        raise CortexMError(
            "this is no Zephyr workspace",
            where="--zephyr",
            hint="set ZEPHYR_BASE, or call from inside of the workspace",
        )
    done = run_child([west, *words], cwd=Path(base) if base else None)
    if done.returncode == 0:
        return
    output = done.stdout + done.stderr
    text = " ".join(output.split())
    if other := re.search(r"cortexm: (\S+ is configured for .*?); (--cpu \S+ --isa \S+)", text):
        raise CortexMError(other[1], where=board, hint=f"add {other[2]}")
    if re.search(r"No board named|Invalid BOARD|Board qualifiers .{1,80} not found", text):
        raise CortexMError(
            f"Zephyr knows no board {board!r}",
            where="--zephyr",
            hint="west boards lists all; most names go on behind a slash, as in nrf5340dk/nrf5340/cpuapp",
        )
    overflow = re.findall(r"region [`'](\w+)' overflowed by (\d+) bytes", output)
    if overflow:
        what = ", ".join(f"{int(n):,} bytes too many for {region}" for region, n in overflow)
        raise CortexMError(f"the image does not fit {board}: {what}", where="--zephyr")
    lines = [
        line
        for line in output.splitlines()
        if re.search(r"error|undefined|fatal|FAILED", line, re.I)
    ]
    raise CortexMError(
        f"{doing} for {board} failed:\n"
        + printable("\n".join((lines or output.splitlines())[-12:]), keep="\n"),
        where="--zephyr",
        hint="--work DIR keeps the build for west build -d DIR/zephyr",
    )


def _serial() -> Any:
    try:
        import serial
        import serial.tools.list_ports
    except ImportError:
        raise CortexMError(
            "the Python package pyserial was not found", where="--zephyr", hint=_SERIAL
        ) from None
    return serial


def _only_port() -> str:
    """The only serial port of a board.

    Raises:
        CortexMError: there is none, or there are several.
    """
    ports = sorted(
        str(port.device) for port in _serial().tools.list_ports.comports() if port.vid is not None
    )
    if len(ports) != 1:
        raise CortexMError(
            "no serial port was found" if not ports else f"there are {len(ports)} serial ports",
            where="--serial",
            hint=f"one of {', '.join(ports)}" if ports else "connect the board, or name its port",
        )
    return ports[0]


@contextmanager
def _opened(device: str, baud: int) -> Iterator[Port]:
    try:
        port = _serial().serial_for_url(device, baudrate=baud, timeout=0.05, write_timeout=5.0)
    except (OSError, ValueError) as error:  # SerialException is an OSError
        raise CortexMError(
            f"cannot open the serial port: {printable(str(error))}",
            where=device,
            hint="is it this device, does another program have it, and may this user open it (on "
            "Debian: group dialout)?",
        ) from None
    try:
        yield port
    finally:
        port.close()


@contextmanager
def _emulator(machine: str, image: Path) -> Iterator[str]:
    """QEMU with the board's first serial port as a terminal; the name of that."""
    command = [
        require_program(EMULATOR),
        *("-machine", BOARDS[machine].machine, "-display", "none", "-monitor", "none"),
        *("-serial", "pty", "-icount", "shift=0", "-kernel", str(image)),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r"redirected to (\S+)", line)
        if match is None:
            raise CortexMError(f"QEMU does not start: {printable(line.strip())}", where=machine)
        time.sleep(0.1)
        yield match[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
