# SPDX-License-Identifier: Apache-2.0
"""A model on a chip behind a debug probe."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import CortexMError
from ...target import Core, Isa, Target
from ..image import Chip as BuildChip
from ..image import build_image
from ..result import INPUTS, OUTPUTS, Measured, RunResult, pack_inputs, unpack_outputs
from .servers import Probe, connected
from .session import Image, Ran, run_image_on
from .silicon import Chip

MARKS = "marks.bin"


@dataclass(frozen=True)
class ProbeRequest:
    """Where and how to run.

    Attributes:
        probe: the debugger.
        chip: memories and board.
        clock_hz: the core's clock, where the user knows it.
        setup: a C file with board_setup().
        timeout: seconds that one inference may take.
        polled: no breakpoint; the image's rings are looked at while it runs.
        console: gets what the GDB server prints.
    """

    probe: Probe
    chip: Chip
    clock_hz: int | None = None
    setup: Path | None = None
    timeout: float = 60.0
    polled: bool = False
    console: Callable[[str], None] = lambda text: None

    @property
    def name(self) -> str:
        """Of the board."""
        return self.chip.name

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
        """`run_on_probe`; see place.py."""
        return run_on_probe(
            model_dir, name, self, inputs, work_dir, core=target.core, isa=target.isa, steps=steps
        )


def run_on_probe(
    model_dir: Path,
    name: str,
    request: ProbeRequest,
    inputs: Sequence[Sequence[bytes]],
    work_dir: Path,
    *,
    core: Core,
    isa: Isa | None = None,
    steps: int = 0,
) -> RunResult:
    """`run_on_board` on a chip.

    Args:
        steps: of the plan, whose cycles are wanted layer by layer: the model is compiled with profile
            marks then; 0 measures inferences alone.

    Raises:
        CortexMError: a tool is missing, the build fails, the probe does not answer, or the run fails.
        DoesNotFit: the image is too large for the chip.
    """
    chip = request.chip
    folder = work_dir / f"probe-{core.value}-{isa.value if isa else 'default'}"
    if request.setup is not None and not request.setup.is_file():
        raise CortexMError("there is no such file", where=str(request.setup))
    build = BuildChip(chip.write_script(folder), request.setup, steps + 1 if steps else 0)
    built = build_image(model_dir, [name], folder, board=None, core=core, isa=isa, chip=build)
    image = Image(built.path)
    flash = chip.board.wait_states if chip.board else None
    with connected(request.probe, request.console) as server:
        ran = run_image_on(
            server,
            image,
            {INPUTS: pack_inputs(inputs)},
            where=str(request.probe),
            core=core,
            resets=request.probe.resets,
            in_flash=chip.in_flash(image.entry),
            timeout=request.timeout,
            registers=(flash[0],) if flash else (),
            polled=request.polled,
        )
    (result,) = unpack_outputs(
        ran.files.get(OUTPUTS, b""),
        [len(inputs)],
        board=chip.name,
        footprint=built.footprint,
        console=ran.console,
    )
    return replace(
        result,
        instructions_each=(0,) * len(inputs),
        measured=_measured(request, ran, result.instructions_each, len(inputs), steps),
    )


def _measured(
    request: ProbeRequest, ran: Ran, cycles: tuple[int, ...], count: int, steps: int
) -> Measured:
    board = request.chip.board
    counted = ran.counter != "none"
    each, layers = _layers(ran.files.get(MARKS, b""), count, steps) if steps else (0, ())
    wait_states = None
    if board is not None and board.wait_states is not None:
        address, mask = board.wait_states
        wait_states = ran.registers[address] & mask
    return Measured(
        counter=ran.counter,
        cycles=tuple(max(0, n - each * (steps + 1)) for n in cycles) if counted else (),
        layers=layers if counted else (),
        clock_hz=ran.clock_hz,
        declared_hz=request.clock_hz or (board.clock_hz if board and not request.setup else None),
        clock_source="--clock"
        if request.clock_hz
        else "board_setup()"
        if request.setup
        else board.clock_source
        if board
        else "",
        wait_states=wait_states,
        caches=ran.caches,
        emulated=ran.is_emulator,
        core=ran.core.value if ran.core else "unknown",
        how=str(request.probe),
    )


def _layers(data: bytes, count: int, steps: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
    """What a mark takes, and the cycles of each step of each invocation, without it."""
    if len(data) != 8 + 8 * count * (steps + 1):
        raise CortexMError("the image ended without the marks of its layers", where=MARKS)
    (each,) = struct.unpack_from("<Q", data)
    found = []
    for number in range(count):
        marks = struct.unpack_from(f"<{steps + 1}Q", data, 8 + 8 * number * (steps + 1))
        pairs = zip(marks, marks[1:], strict=False)
        found.append(tuple(max(0, after - before - each) for before, after in pairs))
    return each, tuple(found)
