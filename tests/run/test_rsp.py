# SPDX-License-Identifier: Apache-2.0
"""The client of GDB servers against a server in Python, which has flash and what QEMU's has not."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.run.probe import rsp
from cortexm_tools.run.probe.rsp import GdbServer

START, BLOCK, RAM = 0x08000000, 256, 0x20000000
MAP = f"""<?xml version="1.0"?><memory-map>
<memory type="ram" start="{RAM:#x}" length="0x1000"/>
<memory type="flash" start="{START:#x}" length="0x800"><property name="blocksize">0x100</property></memory>
</memory-map>"""
REGISTERS = (
    '<target><reg name="r0" bitsize="32" regnum="0"/><reg name="xPSR" regnum="16"/></target>'
)


class Server(threading.Thread):
    """A server of one connection; `damage` changes what it sends, `answers` replaces answers."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.flash = bytearray(b"\x55" * 0x800)
        self.ram = bytearray(0x1000)
        self.asked: list[bytes] = []
        self.answers: dict[bytes, bytes] = {}
        self.damage: Callable[[bytes], bytes] = lambda packet: packet

    def run(self) -> None:
        link, _ = self.socket.accept()
        received = b""
        while data := link.recv(4096):
            received += data
            while match := re.search(rb"\$([^#]*)#(..)", received, re.DOTALL):
                received = received[match.end() :]
                assert sum(match[1]) & 0xFF == int(match[2], 16)
                self.asked.append(match[1])
                answer = self.answer(match[1])
                if answer == b"close":
                    link.close()
                    return
                packet = b"+$%s#%02x" % (answer, sum(answer) & 0xFF)
                link.sendall(self.damage(packet))
                if packet != self.damage(packet):
                    link.sendall(packet)

    def memory(self, address: int) -> tuple[bytearray, int]:
        return (
            (self.ram, address - RAM)
            if RAM <= address < RAM + 0x1000
            else (self.flash, address - START)
        )

    def answer(self, packet: bytes) -> bytes:
        for prefix, answer in self.answers.items():
            if packet.startswith(prefix):
                return answer
        if packet.startswith(b"qSupported"):
            return b"PacketSize=80;qXfer:memory-map:read+;qXfer:features:read+"
        if packet.startswith(b"qXfer"):
            text = MAP if b"memory-map" in packet else REGISTERS
            at, size = (int(word, 16) for word in packet.rpartition(b":")[2].split(b","))
            piece = text[at : at + size].encode().replace(b"}", b"}]")
            return (b"m" if at + size < len(text) else b"l") + piece
        if packet[:1] == b"m":
            at, size = (int(word, 16) for word in packet[1:].split(b","))
            memory, offset = self.memory(at)
            return memory[offset : offset + size].hex().encode()
        if packet[:1] == b"X":
            head, _, data = packet.partition(b":")
            at, size = (int(word, 16) for word in head[1:].split(b","))
            plain = re.sub(rb"}(.)", lambda m: bytes((m[1][0] ^ 0x20,)), data, flags=re.DOTALL)
            assert len(plain) == size
            memory, offset = self.memory(at or RAM)
            memory[offset : offset + size] = plain
            return b"OK"
        if packet.startswith(b"vFlashErase"):
            at, size = (int(word, 16) for word in packet.partition(b":")[2].split(b","))
            assert at % BLOCK == size % BLOCK == 0
            self.flash[at - START : at - START + size] = b"\xff" * size
            return b"OK"
        if packet.startswith(b"vFlashWrite"):
            _, at_text, data = packet.split(b":", 2)
            plain = re.sub(rb"}(.)", lambda m: bytes((m[1][0] ^ 0x20,)), data, flags=re.DOTALL)
            offset = int(at_text, 16) - START
            assert self.flash[offset : offset + len(plain)] == b"\xff" * len(plain)
            self.flash[offset : offset + len(plain)] = plain
            return b"OK"
        if packet[:1] == b"?":
            return b"T05"
        known = (b"vFlashDone", b"Hg", b"Z", b"D", b"P")
        return b"OK" if packet.startswith(known) else b""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    made.start()
    yield made
    made.socket.close()


def client(server: Server, said: list[str] | None = None) -> GdbServer:
    link = socket.create_connection(server.socket.getsockname())
    made = GdbServer(link, "probe", (said if said is not None else []).append)
    made.begin()
    return made


def test_flash_is_erased_by_block_and_ram_is_not(server: Server) -> None:
    data = bytes(range(256)) * 2  # with every byte that is escaped
    gdb = client(server)
    assert [(f.start, f.length, f.block) for f in gdb.flash] == [(START, 0x800, BLOCK)]
    gdb.load([(START + 0x180, data), (RAM, data)])
    assert gdb.read(START + 0x180, len(data)) == data == gdb.read(RAM, len(data))
    # Blocks 1 to 3 are erased; what lies around is not.
    assert server.flash[:0x100] == b"\x55" * 0x100 and server.flash[0x400:] == b"\x55" * 0x400
    assert server.flash[0x100:0x180] == b"\xff" * 0x80
    erased = [packet for packet in server.asked if packet.startswith(b"vFlashErase")]
    assert erased == [b"vFlashErase:8000100,300"]
    assert server.asked.count(b"vFlashDone") == 1
    gdb.close()


def test_damaged_packets_run_lengths_and_stale_stops(server: Server) -> None:
    gdb = client(server)
    server.damage = lambda packet: packet.replace(b"#", b"!#") if b"OK" not in packet else packet
    server.ram[:4] = b"\x78\x56\x34\x12"
    assert gdb.word(RAM) == 0x12345678  # the first copy has a wrong sum
    server.damage = lambda packet: packet
    server.answers = {b"m": b"0* "}  # 0 and three more
    assert gdb.read(RAM, 2) == b"\0\0"
    server.answers = {b"p10": b"00000001"}
    assert gdb.status() == 1 << 24
    gdb.set_status(1 << 24)
    assert server.asked[-1] == b"P10=00000001"


def test_monitor_knows_what_a_server_does_not_know(server: Server) -> None:
    said: list[str] = []
    gdb = client(server, said)
    assert gdb.monitor("reset halt") is None
    server.answers = {b"qRcmd": b"done".hex().encode()}
    assert gdb.monitor("reset halt") == "done"
    server.answers = {b"qRcmd": b"unknown command".hex().encode()}
    assert gdb.monitor("reset halt") is None
    assert not said


def test_what_a_server_refuses_is_a_sentence(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    gdb = client(server)
    for prefix, answer, call, words in (
        (b"m", b"E01", lambda: gdb.read(RAM, 4), "refused reading 4 bytes at 0x20000000"),
        (b"X", b"E02", lambda: gdb.write(RAM, bytes(40)), "refused writing"),
        (b"vFlashErase", b"", lambda: gdb.load([(START, b"1234")]), "refused erasing flash"),
        (b"Z", b"", lambda: gdb.breakpoint(START, in_flash=True), "refused a breakpoint"),
        (b"P", b"E03", lambda: gdb.set_register(15, 0), "refused writing register r15"),
        (b"g", b"00", lambda: gdb.core_registers(), "gives no registers"),
    ):
        server.answers = {prefix: answer}
        with pytest.raises(CortexMError, match=words):
            call()
    monkeypatch.setattr(rsp, "ANSWER", 0.2)
    assert gdb.wait(0.05) is None
    server.answers = {b"m": b"close"}
    with pytest.raises(CortexMError, match="closed the connection"):
        gdb.read(RAM, 4)


def test_what_is_no_gdb_server_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    link = socket.create_connection(silent.getsockname())
    monkeypatch.setattr(GdbServer._ask, "__defaults__", (0.2,))
    monkeypatch.setattr(GdbServer._ask, "__kwdefaults__", None)
    with pytest.raises(CortexMError, match="did not answer within 0.2 s"):
        GdbServer(link, "probe", print).begin()
    silent.close()
