# SPDX-License-Identifier: Apache-2.0
"""Runs a model on this machine, compiled with its own C compiler."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import CortexMError
from .children import run_child
from .image import build_image
from .result import INPUTS, OUTPUTS, RunResult, failure_text, pack_inputs, unpack_outputs


def run_on_host(
    model_dir: Path,
    name: str,
    inputs: Sequence[Sequence[bytes]],
    work_dir: Path,
    poison: bool = False,
    *,
    sanitize: bool = False,
    timeout: float = 600.0,
) -> RunResult:
    """Builds the runner natively and runs the model; arguments as `run_on_board`.

    The plan must not need a kernel of another instruction set: compile it for CPU host or any.

    Raises:
        CortexMError: the compiler is missing, the build or the run fails.
    """
    (result,) = run_batch_on_host(
        model_dir, {name: inputs}, work_dir, poison, sanitize=sanitize, timeout=timeout
    )
    return result


def run_batch_on_host(
    model_dir: Path,
    batch: Mapping[str, Sequence[Sequence[bytes]]],
    work_dir: Path,
    poison: bool = False,
    *,
    sanitize: bool = False,
    together: bool = False,
    timeout: float = 600.0,
) -> list[RunResult]:
    """`run_on_host` for several models in one program: `batch` maps each name to its inputs;
    `together` as in `build_image`."""
    folder = work_dir / ("host-sanitized" if sanitize else "host")
    image = build_image(
        model_dir, list(batch), folder, board=None, sanitize=sanitize, together=together
    )
    name = image.path.name
    (folder / OUTPUTS).unlink(missing_ok=True)
    sections = [pack_inputs(inputs, poison=poison) for inputs in batch.values()]
    (folder / INPUTS).write_bytes(b"".join(sections))
    try:
        done = run_child([str(image.path.resolve())], cwd=folder, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise CortexMError(f"the program did not end within {timeout:g} s", where=name) from None
    if done.returncode != 0:
        # Sanitizers print many lines, the first of which say what is wrong.
        said = (done.stdout + done.stderr).strip().splitlines()
        raise CortexMError(
            f"the program failed with status {done.returncode}: "
            + ("\n".join(said[:20]) or failure_text(done.returncode, [])),
            where=name,
        )
    counts = [len(inputs) for inputs in batch.values()]
    data = (folder / OUTPUTS).read_bytes()
    return unpack_outputs(data, counts, board="host", console=done.stdout)
