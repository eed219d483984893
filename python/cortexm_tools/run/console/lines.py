# SPDX-License-Identifier: Apache-2.0
"""The host's side of run/project/console.c: lines of text over a serial port.

A line is ``@SEQUENCE WORDS*CRC``: a number that is another one for each request, the request or its
answer, and the CRC-32 (of zlib) of everything between ``@`` and ``*``, in eight hexadecimal digits.
Whatever does not begin with ``@`` is what the board prints. Requests and their answers::

    hello                 cortexm 1 NAME STATUS INPUTS OUTPUTS ARENA CLOCK_HZ COUNTER
    in INDEX OFFSET HEX   ok
    run                   ran STATUS CYCLES
    size INDEX            size BYTES, of an output
    out INDEX OFFSET SIZE data HEX
    layer INDEX           cycles CYCLES

``again`` answers a line that arrived damaged. The board answers a sequence number that it has seen
last by the answer it gave then, so that a request can be repeated whichever way was lost.
"""

from __future__ import annotations

import re
import time
import zlib
from dataclasses import dataclass
from typing import Protocol

from ...errors import CortexMError, printable

_LINE = re.compile(rb"@(\d{1,9} [^*\r\n]*)\*([0-9a-f]{8})\s*$")
_TRIES = 8
_ANSWER = 2.0  # seconds
_PIECE = 64  # bytes of a tensor in a line
_LONGEST = 4096  # bytes of a line that can be meant
_MOST_TENSORS = 1 << 16
_MOST_BYTES = 1 << 26  # of a tensor
_FAULT = re.compile(
    r"FATAL ERROR|\*{3,} .*(FAULT|ERROR|PANIC)|Faulting instruction|ASSERTION FAIL", re.I
)
_ADDRESS = re.compile(r"Faulting instruction address[^:]*:\s*(0x[0-9a-fA-F]+)")


class Port(Protocol):
    """A serial port, as pyserial has them; `timeout` is that of `read`, in seconds."""

    timeout: float | None

    @property
    def in_waiting(self) -> int: ...

    def read(self, size: int, /) -> bytes: ...

    def write(self, data: bytes, /) -> int | None: ...


@dataclass(frozen=True)
class Greeting:
    """What a board says of itself."""

    name: str
    status: int
    inputs: int
    outputs: int
    arena_bytes: int
    clock_hz: int
    counter: str


class Fault(CortexMError):
    """The board reported a fault; `address` is that of the instruction, 0 if it is not known."""

    def __init__(self, text: str, address: int, where: str) -> None:
        super().__init__(f"the board reports a fault: {text}", where=where)
        self.address = address


class NoAnswer(CortexMError):
    """The board did not answer in time, however often it was asked."""


class Console:
    """The board at the other end of a port.

    Args:
        name: of the port, for messages.

    Every method raises a CortexMError if the board does not answer, or reports a fault.
    """

    def __init__(self, port: Port, name: str) -> None:
        self._port = port
        self._name = name
        self._sequence = int(time.monotonic() * 1000) % 900_000_000 + 1
        self._received = bytearray()
        self._piece = _PIECE
        self._said: list[str] = []

    @property
    def text(self) -> str:
        """What the board printed besides its answers."""
        return "\n".join(self._said)

    def greet(self, seconds: float) -> Greeting:
        """Waits for the board to answer, which may still be starting."""
        end = time.monotonic() + seconds
        answer: str | None = None
        while answer is None:
            try:
                answer = self._ask("hello", tries=1, seconds=0.7)
            except NoAnswer:
                if time.monotonic() > end:
                    raise CortexMError(
                        f"the board does not answer within {seconds:g} s{self._last_words()}",
                        where=self._name,
                        hint="is this the port of its console, at --baud? --serial DEV names another; "
                        "is the board flashed and out of reset?",
                    ) from None
        words = answer.split()
        if words[:2] != ["cortexm", "1"] or len(words) != 9:
            raise CortexMError(
                f"the board runs another image: {printable(' '.join(words)[:80])}", where=self._name
            )
        status, inputs, outputs, arena, clock = self._numbers("hello", words[3:8])
        if not (0 <= inputs <= _MOST_TENSORS and 0 <= outputs <= _MOST_TENSORS):
            raise self._wrong("hello", " ".join(words))
        return Greeting(words[2], -status, inputs, outputs, arena, clock, words[8])

    def set_input(self, index: int, data: bytes) -> None:
        """Writes an input."""
        at = 0
        while at < len(data):
            piece = data[at : at + self._piece]
            try:
                self._expect(f"in {index} {at} {piece.hex()}", "ok", tries=3)
            except NoAnswer:
                # A slow core without a buffer behind its port loses bytes of long lines.
                if self._piece <= 8:
                    raise
                self._piece //= 2
                continue
            at += len(piece)

    def invoke(self, seconds: float) -> tuple[int, int]:
        """Runs the model; its status, and its cycles or 0."""
        words = self._ask("run", seconds=seconds, tries=2).split()
        if len(words) != 3 or words[0] != "ran":
            raise self._wrong("run", " ".join(words))
        status, cycles = self._numbers("run", words[1:])
        return -status, cycles

    def output(self, index: int) -> bytes:
        """Reads an output."""
        data = b""
        (size,) = self._numbers("size", [self._expect(f"size {index}", "size")])
        if not 0 <= size <= _MOST_BYTES:
            raise self._wrong("size", str(size))
        while len(data) < size:
            count = min(self._piece, size - len(data))
            answer = self._expect(f"out {index} {len(data)} {count}", "data")
            if not re.fullmatch(f"[0-9a-fA-F]{{{2 * count}}}", answer):
                raise self._wrong("out", answer)
            data += bytes.fromhex(answer)
        return data

    def layer(self, index: int) -> int:
        """The cycles of a step in the last run."""
        (cycles,) = self._numbers("layer", [self._expect(f"layer {index}", "cycles")])
        return cycles

    def _expect(self, request: str, word: str, *, tries: int = _TRIES) -> str:
        answer = self._ask(request, tries=tries)
        first, _, rest = answer.partition(" ")
        if first != word:
            raise self._wrong(request.partition(" ")[0], answer)
        return rest

    def _numbers(self, request: str, words: list[str]) -> list[int]:
        if not all(re.fullmatch(r"-?[0-9]{1,10}", word) for word in words):
            raise self._wrong(request, " ".join(words))
        return [int(word) for word in words]

    def _wrong(self, request: str, answer: str) -> CortexMError:
        return CortexMError(
            f"the board answers {request!r} by {printable(answer[:60])!r}",
            where=self._name,
            hint="is another program connected to the port?",
        )

    def _ask(self, request: str, *, seconds: float = _ANSWER, tries: int = _TRIES) -> str:
        """The answer to a request, which is repeated if either is lost."""
        self._sequence += 1
        body = f"{self._sequence} {request}".encode()
        for _ in range(tries):
            self._write(b"\n@%s*%08x\n" % (body, zlib.crc32(body)))
            answer = self._answer(time.monotonic() + seconds)
            if answer is not None:
                return answer
        raise NoAnswer(
            f"the board does not answer{self._last_words()}",
            where=self._name,
            hint="the port loses bytes, the board was reset, or an inference takes longer than "
            "--timeout",
        )

    def _answer(self, end: float) -> str | None:
        """The answer to the last request; None if it is late, or the request arrived damaged."""
        while True:
            line = self._line(end)
            if line is None:
                return None
            match = _LINE.match(line)
            if match is None or zlib.crc32(match[1]) != int(match[2], 16):
                self._note(line)
                continue
            sequence, _, rest = match[1].decode("latin-1").partition(" ")
            if int(sequence) == self._sequence:
                return rest
            if int(sequence) == 0:
                return None

    def _note(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").strip()
        if not text or text.startswith("@"):
            return
        self._said = [*self._said[-200:], text]
        if _FAULT.search(text):
            self._fault()

    def _fault(self) -> None:
        """Raises what the board reports, after it has said all of it."""
        end = time.monotonic() + 0.5
        while (line := self._line(end)) is not None:
            self._said.append(line.decode("utf-8", "replace").strip())
        found = [line for line in self._said if re.search("FAULT|FATAL|PANIC|ASSERT", line, re.I)]
        address = _ADDRESS.search(self.text)
        shown = "; ".join(dict.fromkeys(re.sub(r"^.*?\*+ | \*+$", "", line) for line in found[:3]))
        raise Fault(printable(shown), int(address[1], 16) if address else 0, self._name)

    def _line(self, end: float) -> bytes | None:
        """The next line; None if there is none in time. Longer ones are noise."""
        while (left := end - time.monotonic()) > 0:
            size = self._received.find(b"\n") + 1
            if size or len(self._received) > _LONGEST:
                line = bytes(self._received[: size or None])
                del self._received[: size or None]
                if len(line) <= _LONGEST:
                    return line
                continue
            self._port.timeout = min(left, 0.05)
            try:
                self._received += self._port.read(1)
                self._received += self._port.read(self._port.in_waiting)
            except OSError as error:
                raise CortexMError(f"the serial port fails: {error}", where=self._name) from None
        return None

    def _write(self, data: bytes) -> None:
        try:
            self._port.write(data)
        except OSError as error:
            raise CortexMError(f"the serial port fails: {error}", where=self._name) from None

    def _last_words(self) -> str:
        said = [line for line in self._said if line.strip()]
        return f"; it last said {printable(said[-1][:120])!r}" if said else ""
