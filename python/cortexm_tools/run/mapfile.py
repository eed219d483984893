# SPDX-License-Identifier: Apache-2.0
"""Flash by part, from the linker's map file."""

from __future__ import annotations

import re
from pathlib import PurePath

# "<spaces>.section[.name]  0xaddress  0xsize  file": GNU ld breaks the line after long names.
_ENTRY = re.compile(
    r"^ (\.[\w.$+-]+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$", re.MULTILINE
)
_FLASH = (".text", ".rodata", ".data", ".vectors", ".init_array", ".ARM.ex", ".cortexm.weights")

PARTS = ("kernels", "plan", "constants", "runtime", "C library", "start-up and runner")


def flash_by_part(text: str, name: str) -> dict[str, int]:
    """Bytes of flash by part of the image around model `name`, in the order of PARTS.

    ``plan`` is the generated code with its parameter blocks, ``constants`` the generated weights.
    """
    body = text.partition("Linker script and memory map")[2]
    total = dict.fromkeys(PARTS, 0)
    for section, _, size, origin in _ENTRY.findall(body):
        if section.startswith(_FLASH):
            total[_part(origin, name)] += int(size, 16)
    return total


def runner_functions(text: str, name: str) -> set[str]:
    """The functions of start-up code and runner, which have a section each."""
    body = text.partition("Linker script and memory map")[2]
    return {
        section.rpartition(".text.")[2].removeprefix("startup.")
        for section, _, _, origin in _ENTRY.findall(body)
        if section.startswith(".text.") and _part(origin, name) == PARTS[-1]
    }


def _part(origin: str, name: str) -> str:
    archive, _, member = origin.rstrip(")").partition("(")
    file = PurePath(archive).name
    if re.fullmatch(
        r"lib(cortexm_(model_)?kernels(_size|_speed)?|cortexm_cmsis_nn|cmsis-nn)\.a", file
    ):
        return "kernels"
    if file == "libcortexm_runtime.a":
        return "runtime"
    if member.startswith(f"{name}_"):
        return "constants"
    if member.startswith(f"{name}."):
        return "plan"
    if re.match(r"lib(c|m|g|gcc|nosys|c_nano|g_nano)\.a$|crt\w+\.o$", file):
        return "C library"
    return "start-up and runner"
