# SPDX-License-Identifier: Apache-2.0
"""Builds the runner around a generated model, with CMake and the cross compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CortexMError
from ..paths import data_root
from ..progress import task
from ..target import Core, Isa, Optimize
from .boards import check_board
from .children import run_child
from .footprint import Footprint, measure

_PROJECT = Path(__file__).resolve().parent / "project"
COMPILER = "arm-none-eabi-gcc"
_SMALLEST = "cortexm_fill_x8_scalar"
# Debian's package for each program.
PACKAGES = {
    COMPILER: "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "cmake": "cmake",
    "ninja": "ninja-build",
    "make": "make",
    "cc": "gcc",
    "qemu-system-arm": "qemu-system-arm",
}


class DoesNotFit(CortexMError):
    """The image is larger than a memory of the board."""


@dataclass(frozen=True)
class Image:
    """A linked runner; `footprint` is the model's part, None for the host and several models."""

    path: Path
    footprint: Footprint | None


@dataclass(frozen=True)
class Chip:
    """What an image for silicon needs (run/probe).

    Attributes:
        linker_script: which includes sections.ld, as those of boards/ do.
        setup: a C file with board_setup().
        marks: steps of the plan and one, for the cycles of each layer; 0 records none.
    """

    linker_script: Path
    setup: Path | None = None
    marks: int = 0


def require_program(name: str) -> str:
    """The path of a program.

    Raises:
        CortexMError: it is not on PATH.
    """
    found = shutil.which(name)
    if found is None:
        package = PACKAGES.get(name, name)
        raise CortexMError(
            f"the program {name} was not found", hint=f"install it (Debian: apt install {package})"
        )
    return found


def compiler_version() -> str:
    """The Arm compiler's first line of ``--version``."""
    return run_child([require_program(COMPILER), "--version"]).stdout.partition("\n")[0].strip()


def build_image(
    model_dir: Path,
    names: Sequence[str],
    build_dir: Path,
    *,
    board: str | None,
    core: Core | None = None,
    isa: Isa | None = None,
    sanitize: bool = False,
    together: bool = False,
    chip: Chip | None = None,
) -> Image:
    """Builds the runner for a board or a chip, or for this machine if both are None.

    A build folder can be used again for another model: only that model's files are compiled then.

    Args:
        model_dir: the generated files of the model.
        names: the models' names, C identifiers.
        core: what to compile for; default: the board's core.
        isa: instruction set; default: the best of the core.
        sanitize: host only: with address and undefined behaviour sanitizers.
        together: compile the files of many models together, which is faster; their sizes cannot be
            measured then, as they share what they say.
        chip: what a debugger is going to load; needs `core`.

    Raises:
        CortexMError: a tool is missing, or the build fails.
        DoesNotFit: the image is too large for the board.
    """
    cmake = require_program("cmake")
    generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
    if generator != "Ninja":
        require_program("make")
    definitions = {
        "RUNNER_ROOT": str(data_root()),
        "RUNNER_MODEL": str(model_dir.resolve()),
        "RUNNER_NAMES": ";".join(names),
        "RUNNER_APART": ";".join(name for name in names if "weights" in _report(model_dir, name)),
        "CMAKE_BUILD_TYPE": "MinSizeRel",
        # What CMake would find out of the compiler is not asked for, and takes longer than the rest.
        "CMAKE_C_COMPILER_WORKS": "ON",
        "CMAKE_C_ABI_COMPILED": "ON",
        "RUNNER_SANITIZE": "ON" if sanitize else "OFF",
        "CORTEXM_KERNEL_OPTIMIZE": "-O1" if sanitize else "",
        "RUNNER_TOGETHER": "ON" if together else "OFF",
        "CORTEXM_KERNELS": ";".join(_kernels(model_dir, names)),
        "CMSIS_NN_ROOT": _cmsis_nn(model_dir, names),
        "RUNNER_KERNELS": kernel_library(model_dir, names),
    }
    if board is not None:
        require_program(COMPILER)
        own = check_board(board)
        chosen = core if core not in (None, Core.ANY) else own
        assert chosen is not None
        definitions |= {"CORTEXM_BOARD": board, "CORTEXM_CPU": chosen.value}
        definitions["CORTEXM_ISA"] = isa.value if isa is not None else ""
    elif chip is not None:
        require_program(COMPILER)
        assert core is not None
        definitions |= {"CORTEXM_CPU": core.value, "CORTEXM_ISA": isa.value if isa else ""}
        definitions |= {
            "RUNNER_LINKER_SCRIPT": str(chip.linker_script.resolve()),
            "RUNNER_SETUP": str(chip.setup.resolve()) if chip.setup else "",
            "RUNNER_MARKS": str(chip.marks),
        }
    else:
        require_program("cc")
    label = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    build_dir.mkdir(parents=True, exist_ok=True)
    _leave_no_cache_of_another_installation(build_dir)
    arguments = [f"-D{key}={value}" for key, value in definitions.items()]
    configure = [cmake, "-G", generator, "-S", str(_PROJECT), "-B", str(build_dir), *arguments]
    jobs = str(os.cpu_count() or 1)
    with task("building the image") as building:
        _run(configure, label, lambda: building.at(0))
        _run(
            [cmake, "--build", str(build_dir), "-j", jobs, "--target", "runner"],
            label,
            lambda: building.at(0),
        )
    if board is None and chip is None:
        return Image(build_dir / "runner", None)
    if len(names) != 1:
        return Image(build_dir / "runner.elf", None)
    compiler = (build_dir / "compiler.txt").read_text(encoding="utf-8").splitlines()
    archives = (build_dir / "archives.txt").read_text(encoding="utf-8").splitlines()
    return Image(
        build_dir / "runner.elf",
        measure(
            [word for word in compiler if word], [Path(path) for path in archives if path], names[0]
        ),
    )


def _leave_no_cache_of_another_installation(build_dir: Path) -> None:
    """CMake refuses a folder that was built in from other sources: those of this tool under another
    Python, or of a checkout that moved."""
    cache = build_dir / "CMakeCache.txt"
    if cache.is_file() and f"CMAKE_HOME_DIRECTORY:INTERNAL={_PROJECT}\n" not in cache.read_text(
        encoding="utf-8"
    ):
        cache.unlink()
        shutil.rmtree(build_dir / "CMakeFiles", ignore_errors=True)


def _kernels(model_dir: Path, names: Sequence[str]) -> list[str]:
    """The kernels that the models use, so that no others are compiled; none if that is not known."""
    used: set[str] = set()
    for name in names:
        report = _report(model_dir, name)
        if not report:
            return []
        used.update(report["kernels"])
    # Adapters are in a library of their own. One kernel of ours is built if none is used.
    return sorted(name for name in used if not name.endswith("_cmsis_nn")) or [_SMALLEST]


def cmsis_nn_root() -> str:
    """The checkout of CMSIS-NN that the environment names; empty if it names none."""
    return os.environ.get("CMSIS_NN_ROOT", "")


def _cmsis_nn(model_dir: Path, names: Sequence[str]) -> str:
    """The checkout for models that use CMSIS-NN; empty if none does.

    Raises:
        CortexMError: it is not known.
    """
    users = [name for name in names if (model_dir / f"{name}_cmsis_nn.c").is_file()]
    if users and not cmsis_nn_root():
        raise CortexMError(
            "KERNELS cmsis-nn, but there is no CMSIS-NN",
            where=users[0],
            hint="set CMSIS_NN_ROOT to a checkout of https://github.com/ARM-software/CMSIS-NN",
        )
    return os.path.abspath(cmsis_nn_root()) if users else ""


def kernel_library(model_dir: Path, names: Sequence[str]) -> str:
    """The library of the first model's OPTIMIZE."""
    level = _report(model_dir, names[0]).get("optimize", Optimize.BALANCED.value)
    return "kernels" if level == Optimize.BALANCED.value else f"kernels_{level}"


def _report(model_dir: Path, name: str) -> dict[str, Any]:
    """The report of a model; empty if there is none."""
    report = model_dir / f"{name}.report.json"
    if not report.is_file():
        return {}
    data: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return data


def _run(command: list[str], name: str, watch: Callable[[], None]) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("CFLAGS", "LDFLAGS", "CC")}
    done = run_child(command, env=environment, watch=watch)
    if done.returncode == 0:
        return
    output = done.stdout + done.stderr
    # The linker: region `FLASH' overflowed by 1234 bytes
    overflow = re.findall(r"region [`'](?:CHIP_)?(\w+)' overflowed by (\d+) bytes", output)
    if overflow:
        what = ", ".join(
            f"{int(count):,} bytes too many for {region}" for region, count in overflow
        )
        raise DoesNotFit(f"the image does not fit the board: {what}", where=name)
    lines = [
        line for line in output.splitlines() if re.search(r"error|undefined|fatal", line, re.I)
    ]
    raise CortexMError(
        "building the image failed:\n" + "\n".join(lines[:12] or output.splitlines()[-12:]),
        where=name,
        hint="cmake --build " + command[command.index("-B") + 1] + " -v"
        if "-B" in command
        else " ".join(command) + " -v",
    )
