# SPDX-License-Identifier: Apache-2.0
"""The host's side of SEGGER's Real Time Transfer: rings in the target's memory.

The layout, of the protocol's documentation (https://kb.segger.com/RTT): a block of 16 bytes
("SEGGER RTT" and zeros), the numbers of up and down rings, and 24 bytes for each of them: name, bytes,
size, offset of the writer, offset of the reader, flags. A ring is empty where its offsets are equal, so
that one of its bytes is never used.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...errors import CortexMError

SYMBOL = "_SEGGER_RTT"
ID = b"SEGGER RTT".ljust(16, b"\0")
CHANNELS = 2  # of either direction, as boards/common/rtt.c has them
_HEAD, _RING = 24, 24
_MOST = 1 << 20  # bytes of a ring
_WRITTEN, _READ = 12, 16  # where a ring's offsets lie in its description


class Memory(Protocol):
    """What a debugger can do with a target's memory."""

    def read(self, address: int, size: int) -> bytes: ...

    def write(self, address: int, data: bytes) -> None: ...


@dataclass(frozen=True)
class Ring:
    """A ring as it was found: where its description and its bytes lie, how many these are, and the
    offsets of writer and reader."""

    address: int
    bytes_at: int
    size: int
    written: int
    read: int

    def take(self, memory: Memory) -> bytes:
        """What the target wrote (an up ring)."""
        if self.written == self.read:
            return b""
        if self.written > self.read:
            data = memory.read(self.bytes_at + self.read, self.written - self.read)
        else:
            data = memory.read(self.bytes_at + self.read, self.size - self.read)
            data += memory.read(self.bytes_at, self.written) if self.written else b""
        memory.write(self.address + _READ, struct.pack("<I", self.written))
        return data

    def give(self, memory: Memory, data: bytes) -> int:
        """Writes as much as there is room for (a down ring), and says how many bytes that was."""
        count = min(len(data), (self.read - self.written - 1) % self.size)
        if not count:
            return 0
        first = min(count, self.size - self.written)
        memory.write(self.bytes_at + self.written, data[:first])
        if count > first:
            memory.write(self.bytes_at, data[first:count])
        end = (self.written + count) % self.size
        memory.write(self.address + _WRITTEN, struct.pack("<I", end))
        return count


def rings(memory: Memory, address: int, where: str) -> tuple[Sequence[Ring], Sequence[Ring]]:
    """The up and down rings of the block at an address; none before the image has made it.

    Raises:
        CortexMError: the block is not what the image makes.
    """
    data = memory.read(address, _HEAD + 2 * CHANNELS * _RING)
    if data[: len(ID)] != ID:
        return (), ()
    found = []
    for number in range(2 * CHANNELS):
        at = _HEAD + number * _RING
        ring = Ring(address + at, *struct.unpack_from("<4I", data, at + 4))
        if not (ring.written < ring.size <= _MOST and ring.read < ring.size):
            break
        found.append(ring)
    if (
        struct.unpack_from("<2I", data, len(ID)) != (CHANNELS, CHANNELS)
        or len(found) < 2 * CHANNELS
    ):
        raise CortexMError(
            f"the image has overwritten its RTT block at {address:#010x}",
            where=where,
            hint="a stack that is too small, or a store through a wrong pointer",
        )
    return found[:CHANNELS], found[CHANNELS:]
