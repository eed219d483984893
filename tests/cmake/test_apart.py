# SPDX-License-Identifier: Apache-2.0
"""WEIGHTS partition: firmware runs on weights that were written beside it, and refuses all others."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np

from cortexm_tools.cli import main
from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program
from cortexm_tools.run.emulator import run_image
from cortexm_tools.target import Target

from tests.cmake.projects import MODEL, ROOT, succeed
from tests.support.apart import FIRST, SECOND

BASE, SIZE = 0x62000000, 0x10000  # slots in the board's DDR4


def _image(file: Path, cpu: str) -> bytes:
    options = CompileOptions(target=Target.parse(cpu), weights_apart=True)
    compiled = compile_program(Program("small", file.read_bytes()), options)
    image = compiled.files["small.weights.bin"]
    assert isinstance(image, bytes)
    return image


def _outputs(file: Path) -> str:
    values = (((5 * np.arange(64)) % 17).astype(np.float32) - 8) * np.float32(0.125)
    (out,) = run_graph(Program("small", file.read_bytes()).graph(), [values.reshape(1, 1, 8, 8)])
    return out.tobytes().hex()


def _of_version(image: bytes, abi: int) -> bytes:
    """The image as a generator with another CORTEXM_ABI writes it."""
    changed = bytearray(image)
    struct.pack_into("<I", changed, 8, abi)
    struct.pack_into("<I", changed, 16, zlib.crc32(changed[20:]))
    return bytes(changed)


def test_updated_weights_and_refusals_on_the_emulator(project, tmp_path: Path) -> None:
    app = project("apart", CortexMModel_DIR=str(ROOT / "cmake"), PROGRAM=str(FIRST))
    slots = ["first", "second", "cut", "flipped", "target", "model", "version", "empty"]
    definitions = {
        "SLOTS": f"{BASE:#x}u",
        "SLOT_SIZE": f"{SIZE:#x}u",
        "SLOT_COUNT": str(len(slots)),
    }
    succeed(app.configure(CORTEXM_BOARD="mps3-an547", **definitions))
    said = succeed(app.make())
    folder = app.build / "cortexm" / "small"
    first = (folder / "small.weights.bin").read_bytes()
    contract = folder / "small.weights.json"
    report = json.loads((folder / "small.report.json").read_text())
    assert report["weights"]["image_bytes"] == len(first)
    assert "small: flash" in said and not (folder / "small_weights.c").exists()
    # The weights that the update brings are made as the README of an update says.
    second = tmp_path / "second.bin"
    assert main(["weights", str(SECOND), "--for", str(contract), "-o", str(second)]) == 0
    image = app.build / "app.elf"
    assert first[128:192] not in image.read_bytes()
    flipped = bytearray(second.read_bytes())
    flipped[len(flipped) // 2] ^= 0x10
    contents = {
        "first": first,
        "second": second.read_bytes(),
        "cut": second.read_bytes()[:-200],
        "flipped": bytes(flipped),
        "target": _image(FIRST, "cortex-m4"),
        "model": _image(MODEL, "cortex-m55"),
        "version": _of_version(first, 1),
    }
    extra: list[str] = []
    for number, name in enumerate(slots[:-1]):
        file = tmp_path / f"{name}.image"
        file.write_bytes(contents[name])
        extra += ["-device", f"loader,file={file},addr={BASE + number * SIZE:#x},force-raw=on"]
    printed = run_image("mps3-an547", image, image.parent, extra=extra, timeout=60)
    lines = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    nothing = "there are no weights: none were loaded, or there is no image"
    assert lines["init"] == lines["invoke 99"] == lines["taken away"] == nothing
    damaged = "the image of weights is damaged"
    assert [lines[f"slot {number}"] for number in range(len(slots))] == [
        "no error",
        "no error",
        damaged,
        damaged,
        "the image of weights is for another core or instruction set",
        "the image of weights is for another model, or another plan of it",
        "the model, its weights and the runtime library come from different versions",
        nothing,
    ]
    assert lines["no room"] == damaged
    assert lines["askew"].startswith("the model is NULL")
    wanted = [_outputs(FIRST), *[_outputs(SECOND)] * (len(slots) - 1)]
    assert wanted[0] != wanted[1]
    assert [lines[f"output {number}"] for number in range(len(slots))] == wanted
