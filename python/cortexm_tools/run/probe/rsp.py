# SPDX-License-Identifier: Apache-2.0
"""A client of GDB servers: what loading an image and serving its requests needs of the remote serial
protocol.

The protocol: GDB manual, appendix "GDB Remote Serial Protocol". The servers this is written for are
those of OpenOCD, pyOCD, SEGGER and QEMU; what one of them does not have is asked for by another packet.
"""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...errors import CortexMError, printable
from .descriptions import Element, Flash, elements, flash_of, included, register_numbers

ANSWER = 10.0  # seconds for the answer to a packet
_FLASH = 120.0  # and for erasing and writing flash, or reading an image
_LONGEST = 1 << 20  # bytes of a packet, a description, or what a command prints
_SERVED = re.compile(rb"([^#]*)#([0-9a-fA-F]{2})", re.DOTALL)


@dataclass(frozen=True)
class Stop:
    """Why the core stopped: the signal's number, or that the server says it has ended."""

    signal: int
    ended: bool = False


class GdbServer:
    """A connection to a GDB server and the core that it debugs.

    Args:
        console: gets what the server prints for the user.

    Every method raises a CortexMError if the server refuses, disconnects or does not answer in time.
    """

    def __init__(self, link: socket.socket, name: str, console: Callable[[str], None]) -> None:
        self._link = link
        self._name = name
        self._console = console
        self._received = b""
        self._acknowledged = True
        self._registers: dict[str, int] = {}
        self.flash: tuple[Flash, ...] = ()
        self._binary = False
        self._packet = 256

    # -- Setting up

    def begin(self) -> None:
        """Agrees on what both sides know, and reads what the core is."""
        self._put(b"+")
        features = self._ask(b"qSupported:swbreak+;hwbreak+;xmlRegisters=arm").decode("latin-1")
        found = re.search(r"PacketSize=([0-9a-fA-F]+)", features)
        self._packet = max(64, min(int(found[1], 16) if found else 256, 1 << 16))
        if "QStartNoAckMode+" in features and self._ask(b"QStartNoAckMode") == b"OK":
            self._acknowledged = False
        # QEMU lets registers be written once its description of them has been read.
        if "qXfer:features:read+" in features:
            self._registers = register_numbers(self._description())
        if "qXfer:memory-map:read+" in features:
            self.flash = flash_of(elements(self._transfer("memory-map", "")))
        self._ask(b"?")  # stops the core where connecting has not
        self._ask(b"Hg0")
        # An empty write tells whether binary data is known.
        self._binary = self._ask(b"X0,0:") == b"OK"

    @property
    def is_emulator(self) -> bool:
        """Whether this is QEMU."""
        return self._ask(b"qqemu.PhyMemMode") in (b"0", b"1")

    def _description(self) -> list[Element]:
        """target.xml with the files that it includes."""
        found = elements(self._transfer("features", "target.xml"))
        for name in included(found)[:8]:
            found += elements(self._transfer("features", name))
        return found

    def _transfer(self, what: str, annex: str) -> bytes:
        """A document of the server's, as far as it arrives in the time of an answer."""
        data = b""
        size = max(16, self._packet // 2 - 16)
        end = time.monotonic() + ANSWER
        more = True
        while more and len(data) < _LONGEST and time.monotonic() < end:
            answer = self._ask(f"qXfer:{what}:read:{annex}:{len(data):x},{size:x}".encode())
            more = answer[:1] == b"m" and len(answer) > 1
            data += answer[1:] if answer[:1] in (b"m", b"l") else b""
        return data

    # -- Memory and registers

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory."""
        data = b""
        step = max(16, (self._packet - 16) // 2)
        end = time.monotonic() + _FLASH
        while len(data) < size:
            at, count = address + len(data), min(step, size - len(data))
            answer = self._ask(f"m{at:x},{count:x}".encode())
            piece = _bytes_of(answer)
            if not piece or len(piece) > count or time.monotonic() > end:
                raise self._refused(f"reading {count} bytes at {at:#010x}", answer)
            data += piece
        return data

    def word(self, address: int) -> int:
        """An aligned word of memory."""
        return int(struct.unpack("<I", self.read(address, 4))[0])

    def write(self, address: int, data: bytes) -> None:
        """Writes memory that needs no erasing."""
        step = max(8, (self._packet - 32) // 2)
        for start in range(0, len(data), step):
            piece, at = data[start : start + step], address + start
            if self._binary and len(piece) > 16:
                answer = self._ask(f"X{at:x},{len(piece):x}:".encode() + _escaped(piece), _FLASH)
            else:
                answer = self._ask(f"M{at:x},{len(piece):x}:{piece.hex()}".encode(), _FLASH)
            if answer != b"OK":
                raise self._refused(f"writing {len(piece)} bytes at {at:#010x}", answer)

    def load(self, segments: Sequence[tuple[int, bytes]]) -> None:
        """Writes an image: addresses with their bytes. What lies in flash is erased before."""
        erased: set[tuple[int, int]] = set()
        for start, data in segments:
            for flash in self.flash:
                if not flash.overlaps(start, start + len(data)):
                    continue
                first = (max(start, flash.start) - flash.start) // flash.block
                last = (min(start + len(data), flash.start + flash.length) - flash.start - 1) // (
                    flash.block
                )
                erased |= {
                    (flash.start + n * flash.block, flash.block) for n in range(first, last + 1)
                }
        for start, length in _joined(erased):
            self._expect(f"vFlashErase:{start:x},{length:x}".encode(), "erasing flash")
        step = max(8, (self._packet - 40) // 2)
        for start, data in segments:
            if not any(flash.overlaps(start, start + len(data)) for flash in self.flash):
                self.write(start, data)
                continue
            for offset in range(0, len(data), step):
                piece = data[offset : offset + step]
                packet = f"vFlashWrite:{start + offset:x}:".encode() + _escaped(piece)
                self._expect(packet, f"writing flash at {start + offset:#010x}")
        if erased:
            self._expect(b"vFlashDone", "writing flash")

    def core_registers(self) -> tuple[int, ...]:
        """r0 to r15."""
        data = _bytes_of(self._ask(b"g"))
        if len(data) < 64:
            raise CortexMError("the GDB server gives no registers", where=self._name)
        return struct.unpack("<16I", data[:64])

    def status(self) -> int:
        """xPSR; 0 if the server does not say where it is."""
        number = self._registers.get("xpsr")
        if number is None:
            return 0
        data = _bytes_of(self._ask(f"p{number:x}".encode()))
        return int(struct.unpack("<I", data[:4])[0]) if len(data) >= 4 else 0

    def set_register(self, number: int, value: int) -> None:
        """Writes r0 to r15."""
        answer = self._ask(f"P{number:x}=".encode() + struct.pack("<I", value).hex().encode())
        if answer == b"":  # only all of them at a time
            data = bytearray(_bytes_of(self._ask(b"g")))
            data[4 * number : 4 * number + 4] = struct.pack("<I", value)
            answer = self._ask(b"G" + bytes(data).hex().encode())
        if answer != b"OK":
            raise self._refused(f"writing register r{number}", answer)

    def set_status(self, value: int) -> None:
        """Writes xPSR, where the server says that there is one."""
        number = self._registers.get("xpsr")
        if number is not None:
            self._ask(f"P{number:x}=".encode() + struct.pack("<I", value).hex().encode())

    def breakpoint(self, address: int, *, in_flash: bool) -> None:
        """Sets a breakpoint: of the core in flash, of either kind elsewhere."""
        for kind in (b"Z1", b"Z0") if in_flash else (b"Z0", b"Z1"):
            answer = self._ask(kind + f",{address:x},2".encode())
            if answer == b"OK":
                return
        raise self._refused(f"a breakpoint at {address:#010x}", answer)

    def monitor(self, command: str) -> str | None:
        """A command of the server's own; what it printed, or None if it has no such command."""
        said: list[str] = []
        before, self._console = self._console, said.append
        try:
            answer = self._ask(b"qRcmd," + command.encode().hex().encode(), _FLASH)
        finally:
            self._console = before
        if answer not in (b"OK", b"") and not re.fullmatch(rb"E[0-9a-fA-F.].*", answer):
            said.append(_bytes_of(answer).decode("utf-8", "replace"))
            answer = b"OK"
        text = "".join(said)
        unknown = re.search(r"unknown|invalid command|not (a|recogni)", text, re.I)
        return text if answer == b"OK" and not unknown else None

    # -- Running

    def go(self) -> None:
        """Lets the core run."""
        self._send(b"c")

    def wait(self, seconds: float) -> Stop | None:
        """Waits until the core stops; None if it still runs then."""
        end = time.monotonic() + seconds
        while True:
            packet = self._packet_before(end)
            if packet is None:
                return None
            if packet[:1] == b"O" and packet != b"OK":
                self._console(_bytes_of(packet[1:]).decode("utf-8", "replace"))
            elif packet[:1] in (b"S", b"T", b"W", b"X"):
                if not re.match(rb"[0-9a-fA-F]{2}", packet[1:]):
                    raise self._nonsense(
                        f"says {printable(packet[:20].decode('latin-1'))!r} of a stop"
                    )
                return Stop(int(packet[1:3], 16), ended=packet[:1] in (b"W", b"X"))

    def halt(self) -> Stop:
        """Stops the core."""
        self._put(b"\x03")
        stop = self.wait(ANSWER)
        if stop is None:
            raise CortexMError(
                "the core cannot be stopped",
                where=self._name,
                hint="check the wiring and the power of the board; it may need a reset",
            )
        return stop

    def close(self, *, detach: bool = True) -> None:
        """Leaves; `detach` lets the core go on."""
        try:
            self._send(b"D" if detach else b"?")
        except (OSError, CortexMError):
            pass
        self._link.close()

    # -- Packets

    def _expect(self, packet: bytes, doing: str) -> None:
        answer = self._ask(packet, _FLASH)
        if answer != b"OK":
            raise self._refused(doing, answer)

    def _refused(self, doing: str, answer: bytes) -> CortexMError:
        said = printable(answer[:60].decode("latin-1")) or "it does not know the request"
        return CortexMError(
            f"the GDB server refused {doing} ({said})",
            where=self._name,
            hint="does the board have memory there? --board BOARD or --memory says where it is",
        )

    def _nonsense(self, what: str) -> CortexMError:
        return CortexMError(
            f"the GDB server {what}",
            where=self._name,
            hint="is it a GDB server, and of this board?",
        )

    def _ask(self, packet: bytes, seconds: float = ANSWER) -> bytes:
        self._send(packet)
        end = time.monotonic() + seconds
        told = 0
        while True:
            answer = self._packet_before(end)
            if answer is None:
                raise CortexMError(
                    f"the GDB server did not answer within {seconds:g} s",
                    where=self._name,
                    hint="is it a GDB server, and is its board connected?",
                )
            # What a command of the server printed may come after its answer.
            if re.fullmatch(rb"O([0-9a-fA-F]{2})+", answer):
                told += len(answer)
                if told > _LONGEST:
                    raise self._nonsense("prints without end")
                self._console(_bytes_of(answer[1:]).decode("utf-8", "replace"))
                continue
            # A core that runs is stopped by the connection, and this may be told in between.
            if packet != b"?" and re.match(rb"[ST][0-9a-fA-F]{2}", answer):
                continue
            return answer

    def _send(self, packet: bytes) -> None:
        self._put(b"$%s#%02x" % (packet, sum(packet) & 0xFF))

    def _put(self, data: bytes) -> None:
        try:
            self._link.sendall(data)
        except OSError as error:
            raise self._lost() from error

    def _packet_before(self, end: float) -> bytes | None:
        """The next packet; None if there is none in time."""
        while (left := end - time.monotonic()) > 0:
            start = self._received.find(b"$")
            match = _SERVED.match(self._received, start + 1) if start >= 0 else None
            if match is not None:
                self._received = self._received[match.end() :]
                body, is_right = match[1], sum(match[1]) & 0xFF == int(match[2], 16)
                if self._acknowledged:
                    self._put(b"+" if is_right else b"-")
                if is_right:
                    return _unpacked(body)
                continue
            self._received = self._received[start:] if start >= 0 else b""
            if len(self._received) > _LONGEST:
                raise self._nonsense("sends a packet without end")
            self._link.settimeout(left)
            try:
                data = self._link.recv(1 << 16)
            except TimeoutError:
                return None
            except OSError as error:
                raise self._lost() from error
            if not data:
                raise self._lost()
            self._received += data
        return None

    def _lost(self) -> CortexMError:
        return CortexMError(
            "the GDB server closed the connection",
            where=self._name,
            hint="its own messages say why; is another debugger connected?",
        )


def _escaped(data: bytes) -> bytes:
    return re.sub(rb"[#$}*]", lambda match: b"}" + bytes((match[0][0] ^ 0x20,)), data)


def _unpacked(body: bytes) -> bytes:
    """A packet without escapes and run lengths."""
    if b"}" not in body and b"*" not in body:
        return body
    result = bytearray()
    at = 0
    while at < len(body):
        byte = body[at]
        if byte == 0x7D and at + 1 < len(body):
            result.append(body[at + 1] ^ 0x20)
            at += 2
        elif byte == 0x2A and result and at + 1 < len(body):
            result.extend(result[-1:] * max(0, body[at + 1] - 29))
            at += 2
        else:
            result.append(byte)
            at += 1
    return bytes(result)


def _bytes_of(text: bytes) -> bytes:
    """What hexadecimal digits stand for; unavailable registers (xx) as zero, errors as nothing."""
    try:
        return bytes.fromhex(text.decode("latin-1").replace("x", "0"))
    except ValueError:
        return b""


def _joined(blocks: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Blocks that touch as one."""
    start = end = -1
    for at, length in sorted(blocks):
        if at != end:
            if end > start:
                yield start, end - start
            start = at
        end = at + length
    if end > start:
        yield start, end - start
