# SPDX-License-Identifier: Apache-2.0
"""What a run gives back, and the two files between the runner image and this package.

The runner (run/project/main.c) reads ``inputs.bin`` and writes ``outputs.bin``, little-endian::

    inputs.bin   u32 magic "CXI1", u32 invocations, u32 poison (0 or 1)
                 then, for every invocation, the bytes of each input in memory order
    outputs.bin  u32 magic "CXO1", u32 arena bytes, u32 output count, u32 bytes of each output
                 then, for every invocation, u64 instructions (on silicon cycles), u32 stack bytes, outputs

Several models in one image read and write one such section each, one after another. If the runner cannot
go on it ends with a status, for which `failure_text` has the words.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import CortexMError
from .footprint import Footprint

INPUTS = "inputs.bin"
OUTPUTS = "outputs.bin"
_INPUT_MAGIC = 0x31495843
_OUTPUT_MAGIC = 0x314F5843

# The runner's exit statuses, such as no application has. 1 and 2 are those of board_fail() and faults,
# which say themselves what is wrong. What cortexm_init() and cortexm_invoke() return is subtracted from
# these numbers.
_INIT, _INVOKE = 210, 230
_FAILURES = {
    200: f"cannot open {INPUTS} or {OUTPUTS}",
    201: f"{INPUTS} is not a file of inputs",
    202: f"{INPUTS} is too short for the model's inputs",
    203: f"cannot write {OUTPUTS}",
    204: "the image of weights does not fit the model",
    _INIT + 2: "the model's arena does not fit this board's RAM",
    _INIT + 3: "the model's arena is misaligned",
    _INIT + 4: "the model was generated for another version of the library",
}


@dataclass(frozen=True)
class Measured:
    """What was found on silicon.

    Attributes:
        counter: what counted, as in ``DWT CYCCNT``; ``none`` if nothing does there.
        cycles: of each invocation; empty without a counter.
        layers: of each invocation, the cycles of each step of the plan; empty if they were not asked for.
        clock_hz: by this machine's clock, to about a percent; None if that is not known.
        declared_hz: as the ledger of boards, or the caller, says.
        clock_source: what makes the clock, in words.
        wait_states: of the flash, as its register says; None if it is not known.
        caches: instruction and data cache on; None if the core has none.
        emulated: it was no silicon.
        core: what the chip says it is.
        how: the probe or serial port.
    """

    counter: str
    cycles: tuple[int, ...]
    layers: tuple[tuple[int, ...], ...]
    clock_hz: float | None
    declared_hz: int | None
    clock_source: str
    wait_states: int | None
    caches: tuple[bool, bool] | None
    emulated: bool
    core: str
    how: str


@dataclass(frozen=True)
class RunResult:
    """Outputs and measurements of one or more invocations.

    Attributes:
        outputs: per invocation and output, raw bytes in memory order.
        instructions_each: executed by each invocation; zeros where they are not counted: on the host
            and on silicon.
        stack_bytes: the deepest stack of any invocation, without the caller's; 0 on the host.
        arena_bytes: what the plan needs, whoever provides it.
        footprint: exact sizes of the model with its kernels; None on the host.
        board: where it ran; ``host`` on this machine.
        console: what the image printed.
        measured: on silicon, or what stands for it.
    """

    outputs: list[list[bytes]]
    instructions_each: tuple[int, ...]
    stack_bytes: int
    arena_bytes: int
    footprint: Footprint | None
    board: str
    console: str = ""
    measured: Measured | None = None

    @property
    def instructions(self) -> int:
        """Instructions per inference: the mean over the invocations."""
        if not self.instructions_each:
            return 0
        return round(sum(self.instructions_each) / len(self.instructions_each))

    @property
    def flash_code_bytes(self) -> int:
        """Code of the model, its kernels, and what these need of the C library."""
        return self.footprint.code if self.footprint else 0

    @property
    def flash_constants_bytes(self) -> int:
        """Weights, tables and parameters, with initial values of variables."""
        return self.footprint.constants + self.footprint.data if self.footprint else 0

    @property
    def ram_bytes(self) -> int:
        """Arena, other variables, and stack."""
        if self.footprint is None:
            return self.arena_bytes
        own = self.footprint.data + self.footprint.bss
        # A model without an arena of its own is given one by its caller.
        arena = 0 if self.footprint.arena else self.arena_bytes
        return own + self.footprint.arena + arena + self.stack_bytes


def failure_text(status: int, said: Sequence[str]) -> str:
    """Why the runner ended with a status other than 0.

    Args:
        said: what it printed, in lines.
    """
    lines = [line for line in said if line.strip()]
    own = next((line for line in lines if line.startswith("error: ")), "")
    if own:
        return own.removeprefix("error: ")
    if status in _FAILURES:
        return _FAILURES[status]
    for name, first in (("cortexm_init()", _INIT), ("cortexm_invoke()", _INVOKE)):
        if first < status < first + 20:
            return f"{name} failed ({first - status})"
    return lines[-1] if lines else "no message"


def pack_inputs(inputs: Sequence[Sequence[bytes]], *, poison: bool = False) -> bytes:
    """The contents of ``inputs.bin``."""
    header = struct.pack("<3I", _INPUT_MAGIC, len(inputs), int(poison))
    return header + b"".join(data for invocation in inputs for data in invocation)


def unpack_outputs(
    data: bytes,
    invocations: Sequence[int],
    *,
    board: str,
    footprint: Footprint | None = None,
    console: str = "",
) -> list[RunResult]:
    """Reads ``outputs.bin``: one result per model, given how often each was invoked.

    Raises:
        CortexMError: it is not what the runner writes when it succeeds.
    """
    results = []
    position = 0
    try:
        for count in invocations:
            result, position = _unpack_section(data, position, count, board, footprint, console)
            results.append(result)
        if position != len(data):
            raise struct.error("length")
    except struct.error:
        raise CortexMError(
            "the image ended without writing all its outputs", where=board, hint=console.strip()
        ) from None
    return results


def invocations_done(path: Path, invocations: Sequence[int]) -> int:
    """How many of the invocations have written all their outputs, while the runner still runs."""
    done = position = 0
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            for count in invocations:
                file.seek(position)
                _, _, outputs = struct.unpack("<3I", file.read(12))
                each = 12 + sum(struct.unpack(f"<{outputs}I", file.read(4 * outputs)))
                begin = position + 12 + 4 * outputs
                done += min(count, max(0, size - begin) // each)
                position = begin + count * each
    except (OSError, struct.error):
        pass  # not written yet
    return done


def _unpack_section(
    data: bytes,
    position: int,
    invocations: int,
    board: str,
    footprint: Footprint | None,
    console: str,
) -> tuple[RunResult, int]:
    magic, arena, count = struct.unpack_from("<3I", data, position)
    if magic != _OUTPUT_MAGIC:
        raise struct.error("bad magic")
    sizes = struct.unpack_from(f"<{count}I", data, position + 12)
    position += 12 + 4 * count
    outputs: list[list[bytes]] = []
    instructions: list[int] = []
    stack = 0
    for _ in range(invocations):
        executed, used = struct.unpack_from("<QI", data, position)
        position += 12
        instructions.append(executed)
        stack = max(stack, used)
        row = []
        for size in sizes:
            row.append(data[position : position + size])
            position += size
        outputs.append(row)
    result = RunResult(outputs, tuple(instructions), stack, arena, footprint, board, console)
    return result, position
