# SPDX-License-Identifier: Apache-2.0
"""Loads an image for silicon, lets it run, and answers what it asks: the other side of
boards/common/rtt.c."""

from __future__ import annotations

import codecs
import re
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import CortexMError
from ...target import CORES, Core, Isa
from ..boards import BOARDS
from ..elf import Elf, load_segments, parse_elf
from ..result import failure_text
from . import rtt
from .rsp import GdbServer

_OPEN, _READ, _STORE, _CLOSE, _EXIT = range(1, 6)
_REQUEST = struct.Struct("<3I")  # what, argument, bytes behind it
_LONGEST = 1 << 26  # bytes of a request that can be meant
_MOST_FILES = 64  # that an image opens
_MOST_WRITTEN = 1 << 28  # bytes of all that it writes
_LAST_WORDS = 1 << 16  # characters of what it prints that are kept
_STOP, _SPIN, _COUNTER, _WRAPS = ("board_stop", "board_spin", "board_counter", "board_wraps")
COUNTERS = ("none", "SysTick", "DWT CYCCNT", "PMU CCNTR")
_COUNTER_AT = (0, 0xE000E018, 0xE0001004, 0xE000307C)
_CPUID, _CCR, _CLIDR = 0xE000ED00, 0xE000ED14, 0xE000ED78
_EXCEPTIONS = (
    "",
    "Reset",
    "NMI",
    "HardFault",
    "MemManage",
    "BusFault",
    "UsageFault",
    "SecureFault",
)
_SPIN_SECONDS = 0.4
_SOON, _LATER = 0.001, 0.02  # seconds from one look at the rings to the next
_LABEL = 16  # bytes behind a symbol without a size that are taken for its own


@dataclass
class Files:
    """The files of an image, here in memory."""

    inputs: Mapping[str, bytes]
    outputs: dict[str, bytearray] = field(default_factory=dict)
    _open: list[tuple[str, int]] = field(default_factory=list)

    def open(self, name: str, mode: int) -> int:
        """A handle, or -1."""
        if len(self._open) == _MOST_FILES:
            return -1
        if mode == 1:
            if name not in self.inputs:
                return -1
        else:
            self.outputs[name] = bytearray()
        self._open.append((name, 0))
        return len(self._open) - 1

    def read(self, handle: int, size: int) -> bytes:
        """The next bytes. Raises a LookupError for a handle that is none for this."""
        name, at = self._open[handle]
        data = self.inputs[name][at : at + size]
        self._open[handle] = (name, at + len(data))
        return data

    def append(self, handle: int, data: bytes) -> None:
        """Writes more. Raises a LookupError for a handle that is none for this."""
        self.outputs[self._open[handle][0]] += data

    @property
    def written(self) -> int:
        """Bytes."""
        return sum(map(len, self.outputs.values()))


@dataclass(frozen=True)
class Ran:
    """What a run showed.

    Attributes:
        files: what the image wrote, by name.
        console: what it printed.
        counter: the name of what counted cycles, of COUNTERS.
        is_emulator: whether the core is QEMU's.
        core: as CPUID tells; None if it is unknown.
        clock_hz: cycles counted while this machine's clock ran for `_SPIN_SECONDS`, by the second; None
            without a counter.
        caches: instruction and data cache; None where the core has none.
        registers: words at the addresses that the caller asked for.
    """

    files: Mapping[str, bytes]
    console: str
    counter: str
    is_emulator: bool
    core: Core | None
    clock_hz: float | None
    caches: tuple[bool, bool] | None
    registers: Mapping[int, int]


class Image:
    """A linked image with its symbols.

    Raises:
        CortexMError: it is not an image of the runner.
    """

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self.path = path
        self.segments = load_segments(data, where=str(path))
        self._elf: Elf = parse_elf(data, where=str(path))
        self.symbols = {symbol.name: symbol.address & ~1 for symbol in self._elf.symbols}
        missing = [name for name in (_STOP, _SPIN, rtt.SYMBOL) if name not in self.symbols]
        if missing:
            raise CortexMError(f"has no {missing[0]}: it is no image for a probe", where=str(path))
        vectors = next(s.address for s in self._elf.sections if s.name == ".vectors")
        self.vectors = vectors
        for segment in self.segments:
            if segment.address <= vectors < segment.address + len(segment.data):
                at = vectors - segment.address
                self.stack, self.entry = struct.unpack_from("<2I", segment.data, at)

    def place(self, address: int) -> str:
        """``function+offset`` for an address in code."""
        return place_of(self._elf, address)


def place_of(elf: Elf, address: int) -> str:
    """``function+offset`` for an address of an image."""
    best: tuple[int, str] | None = None
    for symbol in elf.symbols:
        start = symbol.address & ~1
        if not symbol.is_function or not start <= address < start + (symbol.size or _LABEL):
            continue
        if best is None or start > best[0]:
            best = start, symbol.name
    if best is None:
        return "outside of the image's functions"
    return f"{best[1]}+{address - best[0]:#x}"


def check_core(server: GdbServer, wanted: Core, where: str) -> Core | None:
    """The core as its CPUID tells.

    Raises:
        CortexMError: it cannot execute code for `wanted`.
    """
    part = server.word(_CPUID) >> 4 & 0xFFF
    core = next((core for core, info in CORES.items() if info.part == part), None)
    if core is None or wanted is Core.ANY:
        return core
    runs = {BOARDS[board].core for board in CORES[wanted].boards} | {wanted}
    alike = {c for c, info in CORES.items() if info.boards[:1] == CORES[wanted].boards[:1]}
    if core not in runs | alike:
        raise CortexMError(
            f"the core is a {core.value}, the image is for {wanted.value}",
            where=where,
            hint=f"--cpu {core.value}",
        )
    return core


def run_image_on(
    server: GdbServer,
    image: Image,
    inputs: Mapping[str, bytes],
    *,
    where: str,
    core: Core,
    resets: tuple[str, ...],
    in_flash: bool,
    timeout: float,
    registers: tuple[int, ...] = (),
    polled: bool = False,
) -> Ran:
    """Resets the core, loads the image, and serves it until it ends.

    Args:
        inputs: files that the image may read.
        resets: what the server may call the reset that stops before the first instruction.
        timeout: seconds from one request of the image to the next.
        registers: addresses of words to read at the end.
        polled: look at the rings while the image runs, stopping it for moments, instead of having it
            stop where it waits.

    Raises:
        CortexMError: the core is another one, the image does not arrive, fails, or is too slow.
    """
    is_emulator = server.is_emulator
    resets = ("system_reset",) if is_emulator else resets
    done = next((command for command in resets if server.monitor(command) is not None), None)
    found = check_core(server, core, where)
    server.load([(segment.address, segment.data) for segment in image.segments])
    if done is not None and not is_emulator:
        server.monitor(done)  # writing flash leaves the core as its loader wants it
    for segment in image.segments:
        _compare(server, segment.address, segment.data, where)
    server.set_register(13, image.stack)
    server.set_register(14, 0xFFFFFFFF)
    server.set_register(15, image.entry & ~1)
    server.set_status(1 << 24)  # Thumb
    if not polled:
        server.breakpoint(image.symbols[_STOP], in_flash=in_flash)
    files = Files(inputs)
    console, code = _serve(server, image, files, timeout, where, polled)
    if code != 0:
        raise _failure(console, code, image, where)
    counter = min(server.word(image.symbols[_COUNTER]), len(COUNTERS) - 1)
    return Ran(
        {name: bytes(data) for name, data in files.outputs.items()},
        console,
        COUNTERS[counter],
        is_emulator,
        found,
        _clock(server, image, counter),
        _caches(server, found),
        {address: server.word(address) for address in registers},
    )


def _compare(server: GdbServer, start: int, data: bytes, where: str) -> None:
    there = server.read(start, len(data))
    if there == data:
        return
    wrong = next(i for i, (a, b) in enumerate(zip(there, data, strict=True)) if a != b)
    raise CortexMError(
        f"the image is not in memory at {start + wrong:#010x} after it was loaded",
        where=where,
        hint="is this flash or RAM of the chip, is it protected, and is it not the stack of a "
        "loader? --board BOARD or --memory says where the image may lie",
    )


class Desk:
    """Reads an image's requests from its rings and writes the answers.

    Attributes:
        console: what the image printed.
        status: what it ended with; None while it runs.
    """

    def __init__(self, memory: rtt.Memory, block: int, files: Files, where: str) -> None:
        self.console = ""
        self.status: int | None = None
        self._memory, self._block, self._files, self._where = memory, block, files, where
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._asked = bytearray()
        self._answers = bytearray()

    def look(self) -> bool:
        """Serves what has arrived; whether there was anything but text."""
        up, down = rtt.rings(self._memory, self._block, self._where)
        if not up:
            return False
        text, asked = (ring.take(self._memory) for ring in up)
        self.console = (self.console + self._text.decode(text))[-_LAST_WORDS:]
        self._asked += asked
        while self.status is None and self._next():
            pass
        given = down[1].give(self._memory, bytes(self._answers))
        del self._answers[:given]
        return bool(asked or given)

    def _next(self) -> bool:
        """Serves one request; False if it is not there as a whole."""
        if len(self._asked) < _REQUEST.size:
            return False
        what, argument, size = _REQUEST.unpack_from(self._asked)
        if not _OPEN <= what <= _EXIT or size > _LONGEST:
            raise CortexMError(
                f"the image asked for something unknown ({what}, {size} bytes)", where=self._where
            )
        end = _REQUEST.size + size
        if len(self._asked) < end:
            return False
        data = bytes(self._asked[_REQUEST.size : end])
        del self._asked[:end]
        try:
            self._answer(what, argument, data)
        except LookupError:
            raise CortexMError(
                f"the image uses a file that it has not opened ({argument})", where=self._where
            ) from None
        return True

    def _answer(self, what: int, argument: int, data: bytes) -> None:
        if what == _EXIT:
            self.status = argument
        elif what == _OPEN:
            number = self._files.open(data.decode("utf-8", "replace"), argument)
            self._answers += struct.pack("<i", number)
        elif what == _READ:
            found = self._files.read(argument, int.from_bytes(data, "little"))
            self._answers += struct.pack("<I", len(found)) + found
        elif what == _STORE:
            if self._files.written + len(data) > _MOST_WRITTEN:
                raise CortexMError("the image writes without end", where=self._where)
            self._files.append(argument, data)


def _serve(
    server: GdbServer, image: Image, files: Files, timeout: float, where: str, polled: bool
) -> tuple[str, int]:
    """Lets the image run and answers it; its output and exit status."""
    desk = Desk(server, image.symbols[rtt.SYMBOL], files, where)
    passed_by = 0
    pause, last = _SOON, time.monotonic()
    while True:
        server.go()
        stop = server.wait(pause if polled else timeout)
        if stop is None:
            server.halt()
            if desk.look():
                pause, last = _SOON, time.monotonic()
            elif time.monotonic() - last >= timeout or not polled:
                raise _idle(server, image, timeout, where)
            else:
                pause = min(2 * pause, _LATER)
        elif stop.ended:
            raise CortexMError(
                "the GDB server says that the program has ended",
                where=where,
                hint="reset the board",
            )
        else:
            values = server.core_registers()
            if values[15] & ~1 != image.symbols[_STOP]:
                # Debuggers may stop at the vector of a fault; the image's own handler says more.
                passed_by += 1
                if server.status() & 0x1FF in range(3, 8) and passed_by == 1:
                    continue
                raise CortexMError(
                    f"the core stopped by itself: {_state(server, image)}",
                    where=where,
                    hint="another debugger, a watchdog, or a fault that the image could not handle",
                )
            if desk.look():
                last = time.monotonic()
            elif time.monotonic() - last >= timeout:
                raise _idle(server, image, timeout, where)
            if desk.status is None:
                server.set_register(15, values[14] & ~1)
        if desk.status is not None:
            return desk.console, desk.status


def _idle(server: GdbServer, image: Image, timeout: float, where: str) -> CortexMError:
    return CortexMError(
        f"the image did nothing for {timeout:g} s: {_state(server, image)}",
        where=where,
        hint="an inference may take that long: --timeout SECONDS waits longer",
    )


def _state(server: GdbServer, image: Image) -> str:
    """Where the core is."""
    at = server.core_registers()[15]
    exception = server.status() & 0x1FF
    mode = ""
    if exception:
        known = exception < len(_EXCEPTIONS)
        mode = f", in {_EXCEPTIONS[exception] if known else f'exception {exception}'}"
    return f"it is at {at:#010x} ({image.place(at)}){mode}"


def _failure(console: str, code: int, image: Image, where: str) -> CortexMError:
    """What the image said, with names for the addresses of faults."""
    said = failure_text(code, console.splitlines())
    fault = re.search(r" at 0x([0-9a-f]{8})", said)
    hint = ""
    if fault:
        address = int(fault[1], 16)
        said = said.replace(fault[0], f"{fault[0]} ({image.place(address)})")
        hint = f"arm-none-eabi-addr2line -fe {image.path.name} 0x{fault[1]}; --work keeps the image"
    return CortexMError(
        f"the image failed: {said} (status {code})",
        where=where,
        hint=hint or "--work keeps the image for a debugger",
    )


def _ticks(server: GdbServer, image: Image, counter: int) -> int:
    low = server.word(_COUNTER_AT[counter])
    if counter == 1:
        return (server.word(image.symbols[_WRAPS]) << 24) + 0xFFFFFF - (low & 0xFFFFFF)
    return low


def _clock(server: GdbServer, image: Image, counter: int) -> float | None:
    """The frequency of the counter, by this machine's clock."""
    if counter == 0:
        return None
    server.set_register(15, image.symbols[_SPIN])
    before = _ticks(server, image, counter)
    server.go()
    start = time.monotonic()
    server.wait(_SPIN_SECONDS)
    server.halt()
    elapsed = time.monotonic() - start
    modulus = 1 << 56 if counter == 1 else 1 << 32
    return ((_ticks(server, image, counter) - before) % modulus) / elapsed


def _caches(server: GdbServer, core: Core | None) -> tuple[bool, bool] | None:
    """Whether the caches are on, of cores that have some."""
    if core is None or CORES[core].base is not Isa.V7M or not server.word(_CLIDR):
        return None
    control = server.word(_CCR)
    return bool(control >> 17 & 1), bool(control >> 16 & 1)
