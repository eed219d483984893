# SPDX-License-Identifier: Apache-2.0
"""Whatever a GDB server, an image or a board with Zephyr says: a value or a sentence, in bounded time."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cortexm_tools.errors import CortexMError
from cortexm_tools.run.console.lines import Console
from cortexm_tools.run.probe import rsp, rtt
from cortexm_tools.run.probe.descriptions import elements, flash_of, included, register_numbers
from cortexm_tools.run.probe.memories import read_linker_script
from cortexm_tools.run.probe.rsp import GdbServer
from cortexm_tools.run.probe.session import Desk, Files

QUICK = settings(
    max_examples=100,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SOON = 0.05  # seconds for an answer in these tests


def framed(body: bytes) -> bytes:
    return b"$%s#%02x" % (body, sum(body) & 0xFF)


class Link:
    """A socket at whose other end `reply` says what comes after each packet, and when nothing is left."""

    def __init__(self, reply: Callable[[bytes], bytes]) -> None:
        self.reply = reply
        self.waiting = b""

    def sendall(self, data: bytes) -> None:
        if data[:1] == b"$":
            self.waiting += self.reply(data)

    def settimeout(self, seconds: float) -> None:
        pass

    def recv(self, size: int) -> bytes:
        self.waiting = self.waiting or self.reply(b"")
        if not self.waiting:
            raise TimeoutError
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        return data

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANSWER", "_FLASH"):
        monkeypatch.setattr(rsp, name, SOON)
    monkeypatch.setattr(GdbServer._ask, "__defaults__", (SOON,))
    monkeypatch.setattr(Console._ask, "__kwdefaults__", {"seconds": SOON, "tries": 2})


def served(reply: Callable[[bytes], bytes]) -> GdbServer:
    return GdbServer(Link(reply), "probe", lambda text: None)  # type: ignore[arg-type]


def asked(server: GdbServer) -> Iterator[Callable[[], object]]:
    """Everything that a run asks a server."""
    yield server.begin
    yield lambda: server.monitor("reset")
    yield lambda: server.read(0x20000000, 400)
    yield lambda: server.load([(0, bytes(300)), (0x20000000, bytes(300))])
    yield server.core_registers
    yield server.status
    yield lambda: server.set_register(15, 1)
    yield lambda: server.breakpoint(16, in_flash=True)
    yield lambda: (server.go(), server.wait(SOON))
    yield server.halt


FEATURES = b"PacketSize=400;qXfer:memory-map:read+;qXfer:features:read+;QStartNoAckMode+"
WORDS = st.sampled_from([
    b"", b"m", b"l", b"mx", b"OK", b"E01", b"Szz", b"S", b"T05", b"W00", b"X", b"O", b"Ozz", b"O41", FEATURES,
    b"00" * 64, b"xx" * 64, b"0*~" * 40, b"*", b"}", b'l<reg regnum="99999"/><xi:include href="a"/>',
    b'l<memory-map><memory type="flash" start="0" length="0x100"><property name="blocksize">1</property>',
    b"PacketSize=" + b"f" * 500, b"\xff\0$$##",
])  # fmt: skip
REPLIES = st.lists(st.one_of(WORDS.map(framed), WORDS, st.binary(max_size=8)), max_size=3)


@QUICK
@given(data=st.data())
def test_any_answer_is_a_value_or_a_sentence(data: st.DataObject) -> None:
    def reply(packet: bytes) -> bytes:
        return b"".join(data.draw(REPLIES)) if packet else b""

    for ask in asked(served(reply)):
        try:
            ask()
        except CortexMError as error:
            assert error.where == "probe"


ENDLESS = {
    "nothing of a document": framed(b"m"),
    "a document by bytes": framed(b"m<"),
    "text": framed(b"O41"),
    "stops": framed(b"S05"),
    "sums that are wrong": b"$x#00" * 50,
    "a packet without end": b"$" + b"x" * 5000,
    "no packet": b"+" * 5000,
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_server_without_end_is_left(what: str) -> None:
    """It goes on saying so after it was asked for its features, or when it is asked for anything."""
    for first in (FEATURES, b""):
        asks = iter([framed(first)])
        server = served(lambda packet, asks=asks: next(asks, ENDLESS[what]))  # type: ignore[misc]
        begin = time.monotonic()
        for ask in asked(server):
            try:
                ask()
            except CortexMError:
                pass
        assert time.monotonic() - begin < 10
        assert len(server._received) < 1 << 21


MANY = 1 << 15
DOCUMENTS = (
    b'<memory type="flash" >' * MANY,
    b'<memory type="flash" ' * MANY,
    b"<a>" * MANY,
    b'<m><memory type="flash" start="0" length="9"/>' + b'<property name="blocksize">1' * MANY,
    b"<reg " + b"name " * MANY,
    b'<m><reg name="' + b"a" * MANY + b'"/>' * MANY,
    b'<!DOCTYPE a [<!ENTITY b "%s">]><a>&b;</a>' % (b"c" * MANY),
    b"\xff" * MANY,
)


def test_descriptions_take_the_time_of_their_length() -> None:
    begin = time.monotonic()
    for document in DOCUMENTS:
        found = elements(document)
        assert not included(found) and len(flash_of(found)) <= 64
        register_numbers(found)
    assert time.monotonic() - begin < 10
    good = (
        b'<m><memory type="flash" start="0x10" length="32"><property name="blocksize">8</property>'
    )
    assert [(f.start, f.length, f.block) for f in flash_of(elements(good))] == [(16, 32, 8)]
    text = b'<a><xi:include href="core.xml"/><reg name="R0"/><reg name="xPSR" regnum="25"/>'
    assert included(elements(text)) == ["core.xml"]
    assert register_numbers(elements(text + b'<reg name="a"/>')) == {"r0": 0, "xpsr": 25, "a": 26}


@pytest.mark.parametrize("text", ["/*", "MEMORY{", "a", " ", "a (", "MEMORY{a(w):o=1,l=1", "1"])
def test_linker_scripts_take_the_time_of_their_length(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.ld"
    for before in ("", "MEMORY {", "MEMORY { a (rw) : ORIGIN = ", "MEMORY { a (rw) : o = 1, l = 1"):
        file.write_text(before + text * MANY)
        begin = time.monotonic()
        try:
            read_linker_script(file)
        except CortexMError as error:
            assert error.where == str(file)
        assert time.monotonic() - begin < 10


class Rings:
    """A memory with the rings of an image that asks what a list holds."""

    def __init__(self, text: bytes, requests: bytes) -> None:
        sizes = (len(text) + 1, len(requests) + 1, 16, 64)
        self.data = bytearray(rtt.ID + struct.pack("<2I", 2, 2))
        at = len(self.data) + 24 * 4
        for size, written in zip(sizes, (len(text), len(requests), 0, 0), strict=True):
            self.data += struct.pack("<6I", 0, at, size, written, 0, 2)
            at += size
        self.data += text + b"\0" + requests + bytes(81)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.data[address : address + len(data)] = data


REQUESTS = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.sampled_from([0, 1, 2, 5, 0xFFFFFFFF]),
        st.sampled_from([b"", b"in", b"out", b"\xff" * 8, struct.pack("<I", 4)]),
    ),
    max_size=8,
)


@QUICK
@given(REQUESTS, st.binary(max_size=30))
def test_any_request_of_an_image(requests: list[tuple[int, int, bytes]], rest: bytes) -> None:
    asked = b"".join(struct.pack("<3I", w, a, len(d)) + d for w, a, d in requests) + rest
    memory = Rings(b"hello \xff\n", asked)
    desk = Desk(memory, 0, Files({"in": b"12345678"}), "probe")
    try:
        while desk.look() and desk.status is None:
            pass
    except CortexMError as error:
        assert error.where == "probe"
    assert desk.console in ("hello \ufffd\n", "")


def test_what_an_image_says_is_bounded() -> None:
    many = b"".join(struct.pack("<3I", 1, 2, 3) + b"out" for _ in range(100))
    desk = Desk(memory := Rings(b"x" * 100_000, many), 0, files := Files({}), "probe")
    while desk.look():
        pass
    assert len(desk.console) == 1 << 16 and len(files._open) == 64
    struct.pack_into("<I", memory.data, 24 + 8, 1 << 31)  # the size of a ring
    with pytest.raises(CortexMError, match="overwritten its RTT block"):
        desk.look()


class Board:
    """A port at whose other end a board frames well whatever `answer` gives."""

    def __init__(self, answer: Callable[[], bytes], raw: bytes = b"") -> None:
        self.answer, self.raw = answer, raw
        self.waiting = b""
        self.timeout: float | None = None

    @property
    def in_waiting(self) -> int:
        return len(self.waiting)

    def read(self, size: int, /) -> bytes:
        self.waiting = self.waiting or self.raw
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        return data

    def write(self, data: bytes, /) -> int | None:
        body = data.strip()[1:].split()[0] + b" " + self.answer()
        self.waiting += b"@%s*%08x\n" % (body, zlib.crc32(body))
        return len(data)


SAYINGS = st.lists(
    st.sampled_from([
        *("cortexm", "1", "net", "0", "-1", "9" * 10, "9" * 400, "1e9", "1_0", "\u0663", "x", "", "0x1"),
        *("ok", "ran", "size", "data", "cycles", "00" * 64, "0 0", "zz", "4"),
    ]),
    max_size=9,
).map(" ".join)  # fmt: skip


@QUICK
@given(data=st.data())
def test_any_answer_of_a_board(data: st.DataObject) -> None:
    verb = data.draw(
        st.sampled_from(["cortexm 1 net ", "ran ", "size ", "data ", "cycles ", "ok", ""])
    )
    console = Console(
        Board(lambda: (verb + data.draw(SAYINGS)).encode("utf-8").replace(b"*", b"")), "COM3"
    )
    for ask in (
        lambda: console.greet(SOON),
        lambda: console.set_input(0, bytes(100)),
        lambda: console.invoke(SOON),
        lambda: console.output(0),
        lambda: console.layer(0),
    ):
        try:
            found = ask()
        except CortexMError as error:
            assert error.where == "COM3"
        else:
            assert not isinstance(found, bytes) or len(found) <= 1 << 26


@pytest.mark.parametrize(
    "raw", [b"x", b"x\n", b"*" * 4000 + b"\n", b"@0 x*0\n", b"\n", b"*** " * 999 + b"\n"]
)
def test_a_board_without_end_is_left(raw: bytes) -> None:
    console = Console(Board(lambda: b"", raw), "COM3")
    begin = time.monotonic()
    with pytest.raises(CortexMError):
        console.greet(SOON)
    with pytest.raises(CortexMError):
        console.layer(0)
    assert time.monotonic() - begin < 10 and len(console.text) < 1 << 20


def test_sizes_of_a_board_are_bounded() -> None:
    for answer in (b"size 99999999999", b"size 999999999", b"size -1"):
        with pytest.raises(CortexMError, match="the board answers 'size' by"):
            Console(Board(lambda answer=answer: answer), "COM3").output(0)
    with pytest.raises(CortexMError, match="answers 'hello' by 'cortexm 1 net 0 1 999999"):
        Console(Board(lambda: b"cortexm 1 net 0 1 999999 0 0 none"), "COM3").greet(SOON)
