# SPDX-License-Identifier: Apache-2.0
"""One model on one core: what is measured, and what of it is recorded."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cortexm_tools.compile import CompileOptions, compile_program, write_compiled
from cortexm_tools.options.precision import INT8, Quantization
from cortexm_tools.program import Program, load_program
from cortexm_tools.run.bench import bench
from cortexm_tools.run.boards import boards_for
from cortexm_tools.run.image import COMPILER, build_image
from cortexm_tools.target import Optimize, Target

MODELS_FOLDER = Path(__file__).resolve().parents[1] / "models"

MODELS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "deep_autoencoder", "mobilenet_v2")
LARGE = "mobilenet_v2_224"  # too large for an emulator to run often: built, not run
CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")

# Which models are measured on which cores in each configuration.
CONFIGURATIONS: dict[str, dict[str, Sequence[str]]] = {
    "float": dict.fromkeys(CORES, MODELS),
    "int8": {
        "cortex-m55": (*MODELS, LARGE),
        "cortex-m4": ("ds_cnn", "resnet8", "deep_autoencoder"),
    },
}
ABOUT = {
    "float": "float inputs and outputs",
    "int8": "`IO int8`: inputs and outputs are the model's codes",
}

# Bytes but for `instructions`; a model that is not run has neither that nor `stack` nor `code_flash`.
#   code_flash         kernels, plan with its parameter blocks, runtime, start-up, runner, C library
#   constants          weights, biases, requantization parameters, tables
#   arena_lower_bound  no plan of this order and these kernels needs less
#   variables          .data and .bss but for the arena
#   stack, stack_bound what one inference touched; what none exceeds
Row = dict[str, int]


def lower(name: str, quantization: Quantization = INT8) -> Program:
    """A benchmark model lowered; its .pte serves every core."""
    print(f"lowering {name}", file=sys.stderr, flush=True)
    file = "mobilenet_v2" if name == LARGE else name
    os.environ["CORTEXM_IMAGE_SIZE"] = "224" if name == LARGE else "96"
    return load_program(
        MODELS_FOLDER / f"{file}.py",
        name=name,
        target=Target.parse("cortex-m55"),
        quantization=quantization,
    )


def digest(program: Program) -> str:
    """Names the bytes of a program."""
    return hashlib.sha256(program.pte).hexdigest()[:16]


def options_of(configuration: str, cpu: str) -> CompileOptions:
    optimize = Optimize.SIZE if configuration == "size" else Optimize.BALANCED
    target = Target.parse(cpu)
    return CompileOptions(target=target, io_int8=configuration == "int8", optimize=optimize)


def measure(program: Program, configuration: str, cpu: str, folder: Path) -> Row:
    """One row.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    print(f"measuring {program.name} ({configuration}) on {cpu}", file=sys.stderr, flush=True)
    options = options_of(configuration, cpu)
    if program.name == LARGE:
        return _sizes(program, options, folder)
    data = bench(program, options, work=folder)
    flash, ram = data["flash_by_part"], data["ram"]
    return {
        "instructions": data["instructions"],
        "code_flash": sum(flash.values()) - flash["constants"],
        "constants": flash["constants"],
        "arena": ram["arena"],
        "arena_lower_bound": data["arena_lower_bound"],
        "variables": ram["variables"],
        "stack": ram["stack"],
        "stack_bound": data["stack_bound"]["bytes"],
    }


def _sizes(program: Program, options: CompileOptions, folder: Path) -> Row:
    compiled = compile_program(program, options)
    write_compiled(compiled, folder / "model")
    board = boards_for(options.target.core)[-1]
    image = build_image(
        folder / "model", [program.name], folder / "large", board=board, core=options.target.core
    )
    size = image.footprint
    assert size is not None and size.stack is not None
    return {
        "constants": compiled.plan.constant_bytes,
        "arena": compiled.plan.arena_size,
        "arena_lower_bound": compiled.plan.lower_bound,
        "variables": size.data + size.bss,
        "stack_bound": size.stack,
    }


def ram_of(row: Row) -> int:
    """All RAM: arena, variables, and the most that the stack can take."""
    return row["arena"] + row["variables"] + row["stack_bound"]


def compiler_version() -> str:
    """The compiler that the sizes and counts depend on."""
    done = subprocess.run([COMPILER, "-dumpfullversion"], capture_output=True, text=True)
    return f"{COMPILER} {done.stdout.strip()}"
