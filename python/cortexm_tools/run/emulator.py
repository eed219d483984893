# SPDX-License-Identifier: Apache-2.0
"""Runs an image in QEMU."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import CortexMError
from ..progress import task
from ..target import Core, Isa
from .boards import BOARDS, boards_for, check_board
from .children import run_child
from .image import DoesNotFit, build_image, require_program
from .result import (
    INPUTS,
    OUTPUTS,
    RunResult,
    failure_text,
    invocations_done,
    pack_inputs,
    unpack_outputs,
)

EMULATOR = "qemu-system-arm"


def emulator_command(board: str, image: Path) -> list[str]:
    """How to start QEMU: no devices but the core, semihosting to our standard output, and one
    instruction per virtual nanosecond, which makes the board's clock an instruction counter."""
    return [
        require_program(EMULATOR),
        *(
            "-machine",
            BOARDS[board].machine,
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "none",
        ),
        *("-chardev", "stdio,id=console,signal=off"),
        *("-semihosting-config", "enable=on,target=native,chardev=console"),
        *("-icount", "shift=0", "-kernel", str(image)),
    ]


def run_image(
    board: str,
    image: Path,
    folder: Path,
    *,
    extra: Sequence[str] = (),
    timeout: float = 600.0,
    invocations: Sequence[int] = (1,),
) -> str:
    """Runs an image with `folder` as its file system; returns what it printed.

    `extra` are further options of the emulator; `invocations`, of each model in the image, tell how
    far it is.

    Raises:
        CortexMError: the emulator is missing, the image fails, or it takes too long.
    """
    check_board(board)
    try:
        command = [*emulator_command(board, image.resolve()), *extra]
        total = sum(invocations)
        with task(f"running on the emulated {board}", total if total > 1 else None) as running:
            done = run_child(
                command,
                cwd=folder,
                timeout=timeout,
                watch=lambda: running.at(invocations_done(folder / OUTPUTS, invocations)),
            )
    except subprocess.TimeoutExpired:
        raise CortexMError(
            f"the image did not end within {timeout:g} s on the emulated {board}", where=str(image)
        ) from None
    if done.returncode != 0:
        reason = failure_text(done.returncode, (done.stdout + done.stderr).splitlines())
        raise CortexMError(
            f"the image failed on the emulated {board}: {reason} (status {done.returncode})",
            where=str(image),
        )
    return done.stdout


def run_on_board(
    model_dir: Path,
    name: str,
    board: str,
    inputs: Sequence[Sequence[bytes]],
    work_dir: Path,
    poison: bool = False,
    *,
    core: Core | None = None,
    isa: Isa | None = None,
    timeout: float = 600.0,
) -> RunResult:
    """Builds the runner for a board and runs the model there.

    Args:
        model_dir: the generated files of the model.
        name: the model's name.
        inputs: per invocation and input, raw bytes in memory order.
        work_dir: for the build and the files; may be used again.
        poison: fill the arena with noise before each invocation.
        core, isa: what to compile for; default: the board's core and the best it has.
        timeout: seconds of emulation.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
        DoesNotFit: the image is too large for the board.
    """
    (result,) = run_batch_on_board(
        model_dir, {name: inputs}, board, work_dir, poison, core=core, isa=isa, timeout=timeout
    )
    return result


def run_batch_on_board(
    model_dir: Path,
    batch: Mapping[str, Sequence[Sequence[bytes]]],
    board: str,
    work_dir: Path,
    poison: bool = False,
    *,
    core: Core | None = None,
    isa: Isa | None = None,
    together: bool = False,
    timeout: float = 600.0,
) -> list[RunResult]:
    """`run_on_board` for several models in one image: `batch` maps each name to its inputs.

    Models without an arena of their own share one.
    """
    core = check_board(board) if core in (None, Core.ANY) else core
    assert core is not None
    folder = work_dir / f"{board}-{core.value}-{isa.value if isa else 'default'}"
    image = build_image(
        model_dir, list(batch), folder, board=board, core=core, isa=isa, together=together
    )
    (folder / OUTPUTS).unlink(missing_ok=True)
    sections = [pack_inputs(inputs, poison=poison) for inputs in batch.values()]
    (folder / INPUTS).write_bytes(b"".join(sections))
    counts = [len(inputs) for inputs in batch.values()]
    console = run_image(board, image.path, folder, timeout=timeout, invocations=counts)
    return unpack_outputs(
        (folder / OUTPUTS).read_bytes(),
        counts,
        board=board,
        footprint=image.footprint,
        console=console,
    )


def run_on_core(
    model_dir: Path,
    name: str,
    core: Core,
    inputs: Sequence[Sequence[bytes]],
    work_dir: Path,
    poison: bool = False,
    *,
    isa: Isa | None = None,
    timeout: float = 600.0,
) -> RunResult:
    """`run_on_board` on the first board for `core` that the image fits.

    Raises:
        CortexMError: as run_on_board; or no board executes this core's code.
    """
    boards = boards_for(core)
    if not boards:
        raise CortexMError(
            f"no emulated board runs {core.value}", hint=f"boards: {', '.join(BOARDS)}"
        )
    for board in boards[:-1]:
        try:
            return run_on_board(
                model_dir,
                name,
                board,
                inputs,
                work_dir,
                poison,
                core=core,
                isa=isa,
                timeout=timeout,
            )
        except DoesNotFit:
            continue
    return run_on_board(
        model_dir, name, boards[-1], inputs, work_dir, poison, core=core, isa=isa, timeout=timeout
    )
