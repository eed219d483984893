# SPDX-License-Identifier: Apache-2.0
"""``--probe``: a GDB server that runs, or one to start: OpenOCD, pyOCD, SEGGER's J-Link."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from ...errors import CortexMError, did_you_mean, printable
from .rsp import GdbServer

_START = 30.0  # seconds for a server to find its board
_CONNECT = 5.0

GDB, OPENOCD, PYOCD, JLINK = "gdb", "openocd", "pyocd", "jlink"
SPELLINGS = ("gdb:HOST:PORT", "openocd:CONFIG", "pyocd:TARGET", "jlink:DEVICE")
JLINK_SERVERS = ("JLinkGDBServerCLExe", "JLinkGDBServerCL", "JLinkGDBServer")
INSTALL = {
    OPENOCD: "apt install openocd, brew install open-ocd, or your vendor's build",
    PYOCD: "pip install pyocd; 'pyocd pack install TARGET' for what it does not know by itself",
    JLINK: "install the J-Link Software Pack from segger.com/downloads/jlink",
}
# What resets the core and stops it before its first instruction; a server that is only known by its
# address is asked in this order.
_RESET = {
    OPENOCD: ("reset halt",),
    PYOCD: ("reset halt",),
    JLINK: ("reset",),
    GDB: ("reset halt", "reset"),
}


@dataclass(frozen=True)
class Probe:
    """How to reach a board: the kind, and what follows it."""

    kind: str
    rest: str

    @classmethod
    def parse(cls, text: str, names: Mapping[str, str] | None = None) -> Probe:
        """Reads ``gdb:HOST:PORT``, ``openocd:CONFIG``, ``pyocd:TARGET`` or ``jlink:DEVICE``.

        Args:
            names: what follows the colon for a board that is known, by kind.

        Raises:
            CortexMError: it is none of them.
        """
        kind, colon, rest = text.partition(":")
        ways = f"write {', '.join(SPELLINGS)}"
        if kind.lower() not in _RESET:
            hint = did_you_mean(kind, _RESET)
            raise CortexMError(
                f"{text!r} names no probe", hint=f"{hint}; {ways}" if "mean" in hint else ways
            )
        if not colon:
            rest = (names or {}).get(kind.lower(), "")
        if not rest.strip():
            raise CortexMError(f"{text!r} says too little", where="--probe", hint=ways)
        probe = cls(kind.lower(), rest.strip())
        if probe.kind == GDB:
            _address(probe.rest)
        return probe

    @property
    def resets(self) -> tuple[str, ...]:
        return _RESET[self.kind]

    def __str__(self) -> str:
        return f"{self.kind}:{self.rest}"


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise CortexMError(
            f"{text!r} is not HOST:PORT", where="--probe", hint="for example gdb:localhost:3333"
        )
    return host.strip("[]") or "localhost", int(port)


@contextmanager
def connected(probe: Probe, console: Callable[[str], None]) -> Iterator[GdbServer]:
    """A connection to the probe's GDB server, which is started for the time if need be.

    Raises:
        CortexMError: it is not there, is not installed, or does not find its board.
    """
    if probe.kind == GDB:
        host, port = _address(probe.rest)
        link = None
        for turn in range(3):  # a server that has just lost another client may need a moment
            time.sleep(0.2 * turn)
            if (link := _connect(host, port)) is not None:
                break
        if link is None:
            raise CortexMError(
                f"no GDB server answers at {host}:{port}",
                where="--probe",
                hint="start it first (openocd, pyocd gdbserver, JLinkGDBServer, qemu -gdb), and "
                "check host and port",
            )
        yield from _session(link, f"gdb:{host}:{port}", console)
        return
    with tempfile.TemporaryFile() as said:
        port = _free_port()
        process = _start(probe, port, said)
        try:
            yield from _session(_first_answer(probe, process, port, said), str(probe), console)
        finally:
            _end(process)


def _session(link: socket.socket, name: str, console: Callable[[str], None]) -> Iterator[GdbServer]:
    server = GdbServer(link, name, console)
    try:
        server.begin()
        yield server
    finally:
        server.close()


def server_command(probe: Probe, port: int) -> list[str]:
    """How to start the probe's server on a port.

    Raises:
        CortexMError: it is not installed.
    """
    names = JLINK_SERVERS if probe.kind == JLINK else (probe.kind,)
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        raise CortexMError(
            f"the program {names[0]} was not found", where="--probe", hint=INSTALL[probe.kind]
        )
    if probe.kind == OPENOCD:
        files = [word for name in probe.rest.split(",") for word in ("-f", name.strip())]
        ports = f"gdb_port {port}; tcl_port disabled; telnet_port disabled"
        return [program, "-c", ports, *files]
    if probe.kind == PYOCD:
        telnet = str(_free_port())
        return [program, "gdbserver", "--no-wait", "-t", probe.rest, "-p", str(port), "-T", telnet]
    spare = [str(_free_port()), str(_free_port())]
    return [
        program,
        *("-device", probe.rest, "-if", "SWD", "-speed", "4000", "-nogui", "-singlerun"),
        *("-port", str(port), "-swoport", spare[0], "-telnetport", spare[1]),
    ]


def _start(probe: Probe, port: int, said: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        server_command(probe, port),
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        start_new_session=True,
    )


def _first_answer(
    probe: Probe, process: subprocess.Popen[bytes], port: int, said: IO[bytes]
) -> socket.socket:
    end = time.monotonic() + _START
    while time.monotonic() < end:
        if process.poll() is not None:
            raise CortexMError(
                f"{probe.kind} ended with status {process.returncode}: {_last_words(said)}",
                where=str(probe),
                hint="is the board connected, and is this its name there?",
            )
        link = _connect("127.0.0.1", port, 0.5)
        if link is not None:
            return link
        time.sleep(0.05)
    raise CortexMError(
        f"{probe.kind} does not serve within {_START:g} s: {_last_words(said)}", where=str(probe)
    )


def _last_words(said: IO[bytes]) -> str:
    said.seek(max(0, said.seek(0, os.SEEK_END) - 4000))
    lines = said.read().decode("utf-8", "replace").splitlines()
    lines = [line.strip() for line in lines if line.strip()]
    wrong = [line for line in lines if "rror" in line]
    return printable("; ".join((wrong or lines)[-3:])) or "it said nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a server with whatever it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(3.0)
        except (ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
            continue
        return


def _connect(host: str, port: int, seconds: float = _CONNECT) -> socket.socket | None:
    try:
        link = socket.create_connection((host, port), timeout=seconds)
    except OSError:
        return None
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
