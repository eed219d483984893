# SPDX-License-Identifier: Apache-2.0
"""What can be written on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import __version__
from .builtin import model_files
from .target import Optimize
from .vectors import ATOL, QTOL, RTOL

# `--samples all`.
_ALL = 2**31 - 1


def build_parser() -> argparse.ArgumentParser:
    """The commands with their options. `command` in the result is the command's name."""
    parser = argparse.ArgumentParser(
        prog="cortexm", description="PyTorch models as static C for Arm Cortex-M."
    )
    parser.add_argument("--version", action="version", version=f"cortexm {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    compile_ = commands.add_parser(
        "compile",
        usage="cortexm compile [options] MODEL",
        help="write a model's C sources, .pte and report",
        description="Writes a model's C sources, .pte and report. Takes the options that users of "
        "ExecuTorch's aot_arm_compiler know.",
        epilog=f"built-in models: {', '.join(sorted(model_files()))}, and those of "
        "executorch.examples.models whose packages are there (add, linear, lstm, ds_cnn, …)",
    )
    _model_arguments(compile_, optional=True)
    output = compile_.add_argument_group("output")
    memory = compile_.add_argument_group("memory")
    runtime = compile_.add_argument_group("another runtime")
    build = compile_.add_argument_group("for build systems")
    output.add_argument(
        "--out",
        "-o",
        "--output",
        type=Path,
        default=Path("."),
        metavar="DIR|FILE",
        help="folder for the files, or the .pte (.bpte) to write, with the files beside it",
    )
    build.add_argument("--depfile", type=Path, help="write a Make depfile for --stamp")
    build.add_argument("--stamp", type=Path, help="file to touch when done")
    memory.add_argument(
        "--arena",
        default="own",
        metavar="own|caller|shared[:GROUP]",
        help="whose the memory is: the model's, the caller's, or one of a group that never run at once",
    )
    memory.add_argument("--section-arena", default="", metavar="SECTION")
    memory.add_argument("--section-weights", default="", metavar="SECTION")
    memory.add_argument("--ram-limit", metavar="SIZE", help="most bytes of arena; K and M allowed")
    memory.add_argument("--flash-limit", metavar="SIZE", help="most bytes of constants")
    output.add_argument("--embed-pte", action="store_true", help="emit the .pte as C as well")
    output.add_argument(
        "--samples", type=_count, default=0, metavar="N|all", help="inputs for a self-check, as C"
    )
    output.add_argument(
        "--bundleio",
        action="store_true",
        help="write a .bpte as well: the .pte, the example inputs and what PyTorch gives for them",
    )
    output.add_argument(
        "-i",
        "--intermediates",
        type=Path,
        metavar="DIR",
        help="write the program as text after every stage",
    )
    runtime.add_argument(
        "--runtime",
        choices=("compiled", "executorch"),
        default="compiled",
        help="executorch: for ExecuTorch's own runtime, with the operators the program uses",
    )
    runtime.add_argument(
        "--executorch-sizes",
        type=Path,
        metavar="FILE",
        help="the object file of runtime/executorch/sizes.cpp, compiled for the image",
    )
    runtime.add_argument(
        "--external-operator",
        action="append",
        default=[],
        metavar="NAME",
        help="an operator that the application registers with ExecuTorch",
    )
    compile_.add_argument(
        "--profile", action="store_true", help="call cortexm_profile() around every layer"
    )
    output.add_argument("--quiet", action="store_true")
    for option in ("-d", "--delegate"), ("--non_strict_export",), ("--enable_qdq_fusion_pass",):
        compile_.add_argument(*option, action="store_true", help=argparse.SUPPRESS)
    compile_.set_defaults(command="compile", usage_error=compile_.error)

    run = commands.add_parser("run", help="build an image, run it, compare with the reference")
    _model_arguments(run)
    run.add_argument("--host", action="store_true", help="compile for this machine and run here")
    run.add_argument("--board", help="emulated board; default: the one for the CPU")
    run.add_argument("--inputs", type=Path, metavar="NPZ", help="in_0, in_1, … in logical shape")
    run.add_argument("--outputs", type=Path, metavar="NPZ", help="where to store out_0, out_1, …")
    run.add_argument("--dataset", type=Path, metavar="NPZ", help="stacked in_0 and labels")
    run.add_argument("--work", type=Path, metavar="DIR", help="build folder to use again")
    run.add_argument(
        "--poison",
        action="store_true",
        help="overwrite dead arena bytes between layers and within bands",
    )
    vectors = run.add_argument_group(
        "test vectors of a .bpte", "allowed: ATOL + RTOL of the value + QTOL quantization steps"
    )
    vectors.add_argument("--atol", type=float, default=ATOL, help="default: %(default)s")
    vectors.add_argument("--rtol", type=float, default=RTOL, help="default: %(default)s")
    vectors.add_argument("--qtol", type=int, default=QTOL, help="default: %(default)s")
    run.add_argument("--json", action="store_true")
    run.set_defaults(command="run")

    bench = commands.add_parser("bench", help="count instructions, flash and RAM, layer by layer")
    _model_arguments(bench)
    bench.add_argument("--board", help="emulated board; default: the one for the CPU")
    bench.add_argument("--work", type=Path, metavar="DIR", help="build folder to use again")
    bench.add_argument("--json", action="store_true")
    bench.set_defaults(command="bench")

    inspect = commands.add_parser("inspect", help="show what is in a .pte")
    inspect.add_argument("model", type=Path, help="a .pte or a .bpte")
    inspect.set_defaults(command="inspect")

    report = commands.add_parser("report", help="show a model's memory layer by layer")
    report.add_argument("report", type=Path, help="NAME.report.json of a build")
    report.set_defaults(command="report")

    doctor = commands.add_parser("doctor", help="check the environment")
    doctor.set_defaults(command="doctor")

    cmake_dir = commands.add_parser("cmake-dir", help="print the folder for CMAKE_PREFIX_PATH")
    cmake_dir.set_defaults(command="cmake-dir")
    return parser


def _model_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    what = "a model.py, a .pte or a .bpte, a saved module (.pt), or a built-in model's name"
    source = parser.add_argument_group("model")
    target = parser.add_argument_group("target")
    source.add_argument(
        "model", type=Path, metavar="MODEL", nargs="?" if optional else None, help=what
    )
    if optional:
        source.add_argument(
            "-m", "--model_name", type=Path, metavar="MODEL", help="the model, by option"
        )
    target.add_argument(
        "--cpu", "-t", "--target", default="cortex-m55", help="default: %(default)s"
    )
    target.add_argument("--isa", help="scalar, dsp or mve; default: the best the CPU has")
    source.add_argument("--name", help="C identifier of the model; default: from the file's name")
    target.add_argument(
        "--io",
        choices=("float", "int8"),
        default="float",
        help="int8: inputs and outputs of the image stay quantized",
    )
    target.add_argument(
        "--optimize", choices=[o.value for o in Optimize], default=Optimize.BALANCED.value
    )
    target.add_argument(
        "--region",
        action="append",
        default=[],
        metavar="NAME=SIZE[:ram|fast|weights][@SECTION]",
        help="a memory to use; may be repeated",
    )
    target.add_argument(
        "--kernels",
        help="builtin (default), cmsis-nn (of the checkout CMSIS_NN_ROOT), or auto: the faster ones; "
        "bench compares several, with commas between",
    )
    source.add_argument(
        "-q",
        "--quantize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="quantize the model to int8 (the default), or lower it as it is",
    )
    source.add_argument(
        "--calibration",
        "--calibration_data",
        type=Path,
        metavar="FILE|DIR",
        help="samples to take the quantization ranges from: .npz, .npy, .pt",
    )
    source.add_argument(
        "--model_input", type=Path, metavar="FILE", help="example inputs saved by torch.save"
    )
    target.add_argument("--require-int8", action="store_true", help="refuse operators in float32")


def _count(text: str) -> int:
    if text == "all":
        return _ALL
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'all'")
    return int(text)
