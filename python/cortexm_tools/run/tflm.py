# SPDX-License-Identifier: Apache-2.0
"""What TFLite Micro computes of a .tflite, where the Python package tflite-micro is installed.

It ends the process where it meets what its kernels do not take. So it has one of its own:
``python -m cortexm_tools.run.tflm MODEL INPUTS OUTPUTS``, whose inputs and outputs are .npz files.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..arrays import npz_bytes
from ..ir import Array

_ARENA = 2**20
"""Bytes for an interpreter's own structures; tensors come on top, all of them at once."""


def is_installed() -> bool:
    return importlib.util.find_spec("tflite_micro") is not None


def outputs_here(
    data: bytes, rows: Iterable[Sequence[Array]], count: int, arena: int = 0
) -> list[tuple[Array, ...]]:
    """The `count` outputs of calls in a row, with what the model keeps between them.

    Args:
        arena: bytes of the model's tensors.

    Raises:
        RuntimeError: TFLM does not take the model.
    """
    from tflite_micro.python.tflite_micro import runtime

    model = runtime.Interpreter.from_bytes(data, arena_size=_ARENA + 2 * arena)
    found = []
    for row in rows:
        for number, value in enumerate(row):
            model.set_input(np.asarray(value, order="C"), number)
        model.invoke()
        found.append(tuple(np.array(model.get_output(number)) for number in range(count)))
    return found


def outputs_apart(
    data: bytes, rows: Sequence[Sequence[Array]], count: int, arena: int
) -> list[tuple[Array, ...]]:
    """Like `outputs_here`, in another process.

    Raises:
        RuntimeError: the package is missing, or TFLM does not take the model.
    """
    if not is_installed():
        raise RuntimeError("it needs the Python package tflite-micro")
    given = {f"{n}_{k}": np.asarray(v) for n, row in enumerate(rows) for k, v in enumerate(row)}
    given["depth"] = np.array((len(rows), count, arena))
    with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
        model, inputs, results = (Path(folder, name) for name in ("model", "in.npz", "out.npz"))
        model.write_bytes(data)
        inputs.write_bytes(npz_bytes(given))
        words = (sys.executable, "-m", "cortexm_tools.run.tflm", model, inputs, results)
        done = subprocess.run(
            [*map(str, words)], capture_output=True, text=True, errors="replace", env=_here()
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"]
            raise RuntimeError(lines[-1].removeprefix("RuntimeError: "))
        with np.load(results) as found:
            return [tuple(found[f"{n}_{k}"] for k in range(count)) for n in range(len(rows))]


def _here() -> dict[str, str]:
    """The environment in which Python finds what it finds here."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def main(model: str, given: str, result: str) -> None:
    with np.load(given) as arrays:
        depth, count, arena = map(int, arrays["depth"])
        width = (len(arrays.files) - 1) // depth
        rows = [[arrays[f"{n}_{k}"] for k in range(width)] for n in range(depth)]
    found = outputs_here(Path(model).read_bytes(), rows, count, arena)
    np.savez(result, **{f"{n}_{k}": v for n, row in enumerate(found) for k, v in enumerate(row)})


if __name__ == "__main__":
    main(*sys.argv[1:])
