# SPDX-License-Identifier: Apache-2.0
"""What the words of a command line come to: from parsed arguments to names and options."""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..compile import CompileOptions, ExecutorchOptions, kernel_choice
from ..documents import read_file
from ..errors import CortexMError, printable
from ..options.memories import parse_regions
from ..options.names import check_name, name_of_file
from ..options.quality import parse_decibels, parse_loss
from ..options.sizes import parse_size
from ..options.stream import parse_stream
from ..plan import KernelChoice
from ..quality import QualityLimits
from ..run.place import Place
from ..target import Core, Optimize, Target
from ..terminal import show

_DEFAULT_CPU = "cortex-m55"  # of the table


# What else a model in an export of these formats cannot be called.
_EXPORT_WORDS = {
    "arduino": ("words_of_arduino.txt",),
    "platformio": ("words_of_arduino.txt",),
    "cmake": ("words_of_cmake.txt",),
}


def model_name(args: argparse.Namespace) -> tuple[str, str]:
    """What the model is called in C, and a line for the user if that is not the file's name.

    Raises:
        CortexMError: the name that was given cannot name anything in C.
    """
    more = _EXPORT_WORDS.get(getattr(args, "format", ""), ())
    if args.name:
        return check_name(args.name, *more), ""
    stem = args.model.stem
    name, reason = name_of_file(stem, *more)
    note = f"the model in {args.model.name} is called {name}, since {printable(stem)!r} {reason}"
    return name, note if reason else ""


def export_sides(args: argparse.Namespace) -> list[argparse.Namespace]:
    """The arguments of each model of an export; with several the name is the export's.

    Raises:
        CortexMError: several models have no name together.
    """
    several = len(args.model) > 1
    if several and not args.name:
        raise CortexMError("an export of several models needs a name", hint="add --name NAME")
    if several:
        check_name(args.name, *_EXPORT_WORDS.get(args.format, ()))
    own = {"name": None} if several else {}
    return [argparse.Namespace(**{**vars(args), "model": model, **own}) for model in args.model]


def check_paths(args: argparse.Namespace) -> None:
    """Raises a CortexMError for an argument with a character that no path and no name can have."""
    for value in vars(args).values():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, (str, Path)) and "\0" in str(word):
                raise CortexMError("a NUL character is in no name", where=str(word))


def kernel_library(name: str, target: Target, *, builds: bool) -> KernelChoice:
    """The kernel library. `auto` without CMSIS-NN, for a command that `builds` an image, is ours."""
    from ..run.image import cmsis_nn_root

    choice = kernel_choice(name)
    absent = target.core is Core.ANY or (builds and not cmsis_nn_root())
    return KernelChoice.BUILTIN if choice is KernelChoice.AUTO and absent else choice


def compile_options(args: argparse.Namespace, target: Target, **more: Any) -> CompileOptions:
    """The options that compile, run and bench have in common, and `more`.

    Raises:
        CortexMError: one has no such value.
    """
    return CompileOptions(
        target=target,
        kernels=kernel_library(
            args.kernels or "builtin", target, builds=args.command in ("run", "bench")
        ),
        io_int8=args.io == "int8",
        io_int16=args.io == "int16",
        io_uint8=args.io == "uint8",
        io_codes=args.io == "codes",
        input_layout=args.input_layout,
        optimize=Optimize(args.optimize),
        require_int8=args.require_int8,
        stream=parse_stream(args.stream),
        weights_apart=args.weights == "partition",
        regions=parse_regions(args.region),
        **more,
    )


def place_of(args: argparse.Namespace) -> Place | None:
    """The board with a chip that ``--probe`` or ``--zephyr`` asks for; None is the emulator. Settles
    ``args.cpu`` where the board says which it is.

    Raises:
        CortexMError: options contradict each other, or name nothing.
    """
    given = [
        "--" + name.replace("_", "-")
        for name in ("memory", "linker_script", "setup", "clock", "rtt", "serial", "measurement")
        if getattr(args, name, None)
    ]
    if args.probe is None and args.zephyr is None:
        if given:
            raise CortexMError(
                f"{given[0]} is for boards with chips", hint="add --probe or --zephyr"
            )
        return None
    if args.probe is not None and args.zephyr is not None:
        raise CortexMError("--probe and --zephyr are two ways to one board; give one of them")
    if getattr(args, "host", False):
        raise CortexMError("--host runs here, --probe and --zephyr elsewhere; give one of them")
    if args.zephyr is not None:
        return _zephyr_place(args, given)
    return _probe_place(args, given)


def _probe_place(args: argparse.Namespace, given: list[str]) -> Place:
    from ..run.probe.command import ProbeRequest
    from ..run.probe.servers import GDB, Probe, server_command
    from ..run.probe.silicon import find_chip

    if "--serial" in given:
        raise CortexMError("--serial is for --zephyr; a probe needs no serial port")
    if args.memory and args.linker_script:
        raise CortexMError("--memory and --linker-script are two answers to one question")
    # A misspelt probe is said before a board that is not there.
    Probe.parse(args.probe, {"openocd": "?", "pyocd": "?", "jlink": "?"})
    chip = find_chip(args.board, args.memory, args.linker_script)
    probe = Probe.parse(args.probe, chip.board.names if chip.board else None)
    if probe.kind != GDB:
        server_command(probe, 0)  # a program that is missing is said before minutes of lowering
    if chip.core is not None:
        if args.cpu not in (_DEFAULT_CPU, chip.core.value):
            raise CortexMError(
                f"{chip.name} has a {chip.core.value}, not a {args.cpu}", hint="leave out --cpu"
            )
        args.cpu = chip.core.value
        if args.isa is None and chip.board is not None:
            args.isa = chip.board.isa.value
    return ProbeRequest(
        probe,
        chip,
        clock_hz=round(args.clock * 1e6) if args.clock else None,
        setup=args.setup,
        timeout=args.timeout,
        polled=args.rtt == "poll",
        console=lambda text: show(text, error=True, end=""),
    )


def _zephyr_place(args: argparse.Namespace, given: list[str]) -> Place:
    from ..run.console.zephyr import ZephyrRequest, core_of

    for word in ("--memory", "--linker-script", "--setup", "--rtt"):
        if word in given:
            raise CortexMError(f"{word} is for --probe, not for --zephyr")
    core = core_of(args.zephyr)
    if core is not None and args.cpu == _DEFAULT_CPU:
        args.cpu = core.value
    return ZephyrRequest(
        args.zephyr,
        args.serial,
        args.baud,
        clock_hz=round(args.clock * 1e6) if args.clock else None,
        timeout=args.timeout,
    )


@contextmanager
def work_folder(path: Path | None) -> Iterator[Path]:
    """The folder of ``--work``, or one for the time."""
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
        yield Path(folder)


def quality_limits(args: argparse.Namespace) -> QualityLimits:
    """How near the quantized model must be to the float one."""
    sqnr, loss = args.min_sqnr, args.min_accuracy
    return QualityLimits(
        None if sqnr is None else parse_decibels(sqnr, "--min-sqnr"),
        None if loss is None else parse_loss(loss, "--min-accuracy"),
    )


def limits(args: argparse.Namespace) -> dict[str, int | None]:
    """RAM and flash limits in bytes."""
    given = {"ram_limit": args.ram_limit, "flash_limit": args.flash_limit}
    return {
        name: parse_size(text, "--" + name.replace("_", "-")) if text else None
        for name, text in given.items()
    }


def executorch_options(args: argparse.Namespace) -> ExecutorchOptions | None:
    """What --runtime executorch needs; None without it.

    Raises:
        CortexMError: an option is missing, or given without it.
    """
    from ..executorch.sizes import read_sizes

    if args.runtime != "executorch":
        if args.executorch_sizes or args.external_operator:
            raise CortexMError(
                "--executorch-sizes and --external-operator are for --runtime executorch"
            )
        return None
    if args.executorch_sizes is None:
        raise CortexMError(
            "--runtime executorch needs --executorch-sizes FILE: the pools depend on how the image "
            "is compiled",
            hint="cortexm_add_model(… RUNTIME executorch) does it; see docs/executorch.md",
        )
    sizes = args.executorch_sizes
    return ExecutorchOptions(
        read_sizes(read_file(sizes), str(sizes)), tuple(args.external_operator)
    )


def settle_names(args: argparse.Namespace) -> tuple[str, ...]:
    """Makes of aot_arm_compiler's ways to say something ours; returns warnings.

    Raises:
        CortexMError: options contradict each other.
        SystemExit: the model is missing or given twice.
    """
    if (args.model is None) == (args.model_name is None):
        args.usage_error("give one model, as an argument or by -m")
    args.model = args.model or args.model_name
    # Its older versions wrote cortex-m55+int8.
    args.cpu = args.cpu.removesuffix("+int8")
    if args.cpu.startswith(("ethos-u", "TOSA", "vgf")):
        raise CortexMError(
            f"{args.cpu} is not a Cortex-M core: delegates are not compiled",
            hint="name the core that runs the rest, for example -t cortex-m55",
        )
    warnings = ("--delegate is ignored: Cortex-M targets do not delegate",) if args.delegate else ()
    args.program_file = None
    if args.out.suffix in (".pte", ".bpte"):
        if (args.out.suffix == ".bpte") != args.bundleio:
            raise CortexMError(
                f"--output {args.out.name} contradicts "
                + ("--bundleio" if args.bundleio else "the lack of --bundleio"),
                hint="a .bpte needs --bundleio, a .pte goes without it",
            )
        args.program_file, args.out = args.out.name, args.out.parent
    return warnings


def command_line(args: argparse.Namespace) -> str:
    """The choices that shape the output, with the model's bare name: no path of any machine."""
    words = ["cortexm", "compile", args.model.name, "--cpu", args.cpu]
    if args.quantize == "none":
        words.append("--no-quantize")
    elif args.quantize != "int8":
        words += ["--quantize", args.quantize]
    if args.calibrate:
        words += ["--calibrate", args.calibrate]
    for flag in ("isa", "kernels", "io", "arena", "section_arena", "section_weights", "stream"):
        value = getattr(args, flag)
        if value:
            words += ["--" + flag.replace("_", "-"), value]
    if args.input_layout != "model":
        words += ["--input-layout", args.input_layout]
    if args.optimize != Optimize.BALANCED.value:
        words += ["--optimize", args.optimize]
    for region in args.region:
        words += ["--region", region]
    if args.runtime != "compiled":
        words += ["--runtime", args.runtime]
    if args.profile:
        words.append("--profile")
    if args.weights != "linked":
        # For `cortexm weights`, which has to make the same plan.
        words += ["--weights", args.weights]
        words += ["--ram-limit", args.ram_limit] if args.ram_limit else []
    return shlex.join(words)
