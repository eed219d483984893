# SPDX-License-Identifier: Apache-2.0
"""A command's model, with what the user should hear meanwhile."""

from __future__ import annotations

import argparse

from ..options.precision import Quantization, parse_quantization
from ..program import Program, load_program
from ..target import Target
from ..terminal import show
from .settle import model_name


def say(text: str) -> None:
    """A line for the user, beside what the command prints."""
    show(text, error=True)


def load(args: argparse.Namespace, target: Target, *, quiet: bool) -> Program:
    """The program of the arguments, lowered if need be."""
    name, note = model_name(args)
    if note and not quiet:
        say(note)
    quantization = parse_quantization(args.quantize, args.calibrate)
    return load_as(args, name, target, quantization, quiet=quiet)


def load_as(
    args: argparse.Namespace,
    name: str,
    target: Target,
    quantization: Quantization | None,
    *,
    quiet: bool = False,
) -> Program:
    """The program of a model, its calibration and its example inputs, under a name."""
    program = load_program(
        args.model,
        name=name,
        target=target,
        calibration=args.calibration,
        model_input=args.model_input,
        quantization=quantization,
        progress=(lambda text: None) if quiet else lambda text: say(f"[{name}] {text}"),
    )
    for warning in program.warnings:
        say(f"warning: {warning}")
    return program
