# SPDX-License-Identifier: Apache-2.0
"""What can be written on the command line, from the ledger of options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..frontend.load.builtin import model_files
from ..options import (
    BENCH,
    COMPARE,
    COMPILE,
    EXPORT,
    GROUPS,
    OPTIONS,
    QUALITY,
    REPORT,
    RUN,
    Option,
)
from ..version import __version__

# Options of aot_arm_compiler that change nothing here.
_IGNORED = (("-d", "--delegate"), ("--non_strict_export",), ("--enable_qdq_fusion_pass",))


def build_parser() -> argparse.ArgumentParser:
    """The commands with their options. `command` in the result is the command's name."""
    parser = argparse.ArgumentParser(
        prog="cortexm", description="PyTorch models as static C for Arm Cortex-M."
    )
    parser.add_argument("--version", action="version", version=f"cortexm {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    compile_ = commands.add_parser(
        COMPILE,
        usage="cortexm compile [options] MODEL",
        help="write a model's C sources, .pte and report",
        description="Writes a model's C sources, .pte and report. Takes the options that users of "
        "ExecuTorch's aot_arm_compiler know.",
        epilog=f"built-in models: {', '.join(sorted(model_files()))}, and those of "
        "executorch.examples.models whose packages are there (add, linear, lstm, ds_cnn, …)",
    )
    _add_options(compile_, COMPILE, optional=True)
    for flags in _IGNORED:
        compile_.add_argument(*flags, action="store_true", help=argparse.SUPPRESS)
    compile_.set_defaults(command=COMPILE, usage_error=compile_.error)

    run = commands.add_parser(RUN, help="build an image, run it, compare with the reference")
    _add_options(run, RUN)
    bench = commands.add_parser(BENCH, help="count instructions, flash and RAM, layer by layer")
    _add_options(bench, BENCH)

    export = commands.add_parser(
        EXPORT,
        help="write models with all that their build needs, for another tool",
        description="Writes one model or several with all that their build needs: C sources, kernels, "
        "headers, an example, the licence, and a manifest with digests. Building it takes no Python.",
    )
    _add_options(export, EXPORT, several=True)

    inspect = commands.add_parser("inspect", help="show what is in a .pte, a .tflite or an image")
    inspect.add_argument(
        "model", type=Path, help="a .pte, a .bpte, a .tflite or a NAME.weights.bin"
    )
    inspect.set_defaults(command="inspect")

    report = commands.add_parser(
        REPORT, help="show a model's memory and precision layer by layer, as text, page or picture"
    )
    report.add_argument("report", type=Path, help="NAME.report.json of a build")
    _add_options(report, REPORT, model=False)

    compare = commands.add_parser(
        COMPARE,
        help="show two reports or models side by side",
        usage="cortexm compare [options] A B",
        description="Shows two reports side by side: what the change from A to B came to. A and B are "
        "each a NAME.report.json, a build folder with one, or a model, with options of its own in the "
        "same word: cortexm compare net.pte 'net.pte --kernels cmsis-nn' --cpu cortex-m4 --measure. "
        "The exit status is 1 if a limit of --fail-on is exceeded.",
    )
    for name in ("a", "b"):
        compare.add_argument(
            name, metavar=name.upper(), help="a report, a build folder, or 'MODEL [options]'"
        )
    _add_options(compare, COMPARE, model=False)

    quality = commands.add_parser(
        QUALITY,
        help="say how good the quantized model is, where it loses, and what would be better at which cost",
        description="Compares the quantized model with the float model by output, channel and layer, puts "
        "layers into float one at a time, and lowers the model with what seems better.",
    )
    _add_options(quality, QUALITY)

    weights = commands.add_parser(
        "weights",
        help="make the weights of a retrained model for firmware that exists",
        description="Makes an image of weights from a model that was trained again, and says whether "
        "it fits firmware that was built with WEIGHTS partition.",
    )
    weights.add_argument(
        "model", type=Path, metavar="MODEL", help="a model.py, a .pt2, .pte, .bpte or .tflite"
    )
    weights.add_argument(
        "--for", dest="firmware", type=Path, required=True, metavar="FILE",
        help="NAME.weights.json of the firmware's build",
    )  # fmt: skip
    weights.add_argument(
        "--out", "-o", type=Path, metavar="FILE", help="the image; default: NAME.weights.bin here"
    )
    for option in OPTIONS:
        if option.dest in ("calibration", "model_input"):
            _add(weights, option)
    weights.set_defaults(command="weights")

    calibrate = commands.add_parser(
        "calibrate", help="fit the estimate of cycles to measurements of boards"
    )
    calibrate.add_argument(
        "measurements", type=Path, nargs="+", metavar="FILE", help="of cortexm bench --measurement"
    )
    calibrate.add_argument(
        "--out", type=Path, metavar="FILE", help="where to store the costs, for bench --cycles"
    )
    calibrate.add_argument("--json", action="store_true", help="print the costs as JSON")
    calibrate.set_defaults(command="calibrate")

    doctor = commands.add_parser("doctor", help="check the environment")
    doctor.set_defaults(command="doctor")

    cmake_dir = commands.add_parser("cmake-dir", help="print the folder for CMAKE_PREFIX_PATH")
    cmake_dir.set_defaults(command="cmake-dir")
    return parser


def spelled_out(words: Sequence[str]) -> list[str]:
    """`words` with the value of every switch that stands alone, as before the name of a model."""
    switches = {
        flag: option for option in OPTIONS if option.kind == "switch" for flag in option.flags
    }
    result = []
    for word, following in zip(words, [*words, ""][1:], strict=True):
        option = switches.get(word)
        if option is not None and not re.fullmatch(r"[a-z]+\d+(w\d+)?|none|float", following):
            word = f"--{option.dest}={option.initial}"
        result.append(word)
    return result


def _add_options(
    parser: argparse.ArgumentParser,
    command: str,
    *,
    optional: bool = False,
    model: bool = True,
    several: bool = False,
) -> None:
    """The model, if the command takes one, and all options of a command, under their titles."""
    options = [option for option in OPTIONS if option.flags and command in option.commands]
    titles: dict[str, Any] = {
        title: parser.add_argument_group(title, text or None)
        for title, text in GROUPS.items()
        if any(option.group == title for option in options)
    }
    if model:
        titles["model"].add_argument(
            "model",
            type=Path,
            metavar="MODEL",
            nargs="?" if optional else "+" if several else None,
            help="a model.py, a .pt2, .pte, .bpte or .tflite, a saved module (.pt), a built-in model's name",
        )
    if optional:
        titles["model"].add_argument(
            "-m", "--model_name", type=Path, metavar="MODEL", help="the model, by option"
        )
    for option in options:
        _add(titles.get(option.group, parser), option)
    parser.set_defaults(command=command)


def _add(parser: Any, option: Option) -> None:
    if option.kind == "flag":
        parser.add_argument(*option.flags, action="store_true", help=option.help)
    elif option.kind == "switch":
        # The flag alone is the default.
        parser.add_argument(
            *option.flags,
            nargs="?",
            const=option.initial,
            default=option.initial,
            choices=option.choices,
            help=option.help,
        )
        parser.add_argument(
            f"--no-{option.dest}",
            dest=option.dest,
            action="store_const",
            const="none",
            help=f"--{option.dest} none",
        )
    else:
        several = option.kind == "list"
        parser.add_argument(
            *option.flags,
            action="append" if several else "store",
            default=list(option.initial) if several else option.initial,
            type=_checked(option) if option.parse else None,
            choices=option.choices or None,
            metavar=None if option.choices else option.value,
            help=option.help,
        )


def _checked(option: Option) -> Any:
    """`option.parse`, whose sentence a usage error ends with."""
    assert option.parse is not None
    parse = option.parse
    if isinstance(parse, type):
        return parse

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert
