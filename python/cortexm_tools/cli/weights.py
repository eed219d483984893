# SPDX-License-Identifier: Apache-2.0
"""`cortexm weights`: an image of weights from a model that was trained again, for firmware that exists."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..compile import compile_program
from ..documents import MOST_BYTES, read_file
from ..emit.apart import Apart, Header, difference, read_contract, read_header
from ..emit.files import write_files
from ..emit.model import image_of
from ..errors import CortexMError
from ..options.arena import parse_arena
from ..options.names import check_name
from ..options.precision import parse_quantization
from ..target import Target
from ..terminal import show
from .loading import load_as
from .parser import build_parser
from .settle import compile_options, limits


def run(args: argparse.Namespace) -> int:
    """Makes the image, or says why the model does not fit the firmware. The status to exit with."""
    where = str(args.firmware)
    contract = read_contract(read_file(args.firmware), where)
    name = check_name(contract["name"])
    settled = _settled(contract["command"], where)
    target = Target.parse(settled.cpu, settled.isa)
    quantization = parse_quantization(settled.quantize, settled.calibrate)
    program = load_as(args, name, target, quantization)
    options = compile_options(settled, target, arena=parse_arena(settled.arena), **limits(settled))
    compiled = compile_program(program, options)
    apart = image_of(compiled.plan)
    if apart.digest.hex() != contract["plan"]:
        raise CortexMError(
            f"does not fit the firmware: {_reason(contract, apart)}",
            where=str(args.model),
            hint="train the same network for the same inputs; if it must change, or a layer's range "
            "has moved so far that it takes another kernel, build the firmware anew",
        )
    image = apart.image(name)
    header = read_header(image)
    out = args.out if args.out is not None else Path(f"{name}.weights.bin")
    write_files(out.parent, {out.name: image})
    known = contract.get("weights_sha256")
    same = ", the same as in the firmware's build" if header.weights == known else ""
    show(f"{out}: {len(image):,} B for {header.target}, fits the firmware (plan {header.plan[:8]})")
    show(f"  weights sha256 {header.weights}{same}")
    return 0


def _settled(command: list[str], where: str) -> argparse.Namespace:
    """The options that the firmware's model was compiled with."""
    try:
        args = build_parser().parse_args([str(word) for word in command[1:]])
        if args.command == "export":  # as the command does
            args.runtime, args.profile = "compiled", False
        if args.command in ("compile", "export") and args.weights == "partition":
            return args
    except SystemExit:
        pass
    raise CortexMError(
        "was written by another version of this tool",
        where=where,
        hint="use the version that built the firmware",
    )


def _reason(contract: Mapping[str, Any], apart: Apart) -> str:
    return difference([str(line) for line in contract["agreed"]], apart) or "its plan is another"


def image_text(path: Path) -> str:
    """What `cortexm inspect` says of an image.

    Raises:
        CortexMError: it is none, or damaged.
    """
    header: Header = read_header(read_file(path, MOST_BYTES), str(path))
    return (
        f"{header.name}: {header.size:,} B of weights for {header.target}\n"
        f"  abi     {header.abi}\n"
        f"  plan    {header.plan}\n"
        f"  sha256  {header.weights}"
    )
