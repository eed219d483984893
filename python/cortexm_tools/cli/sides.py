# SPDX-License-Identifier: Apache-2.0
"""What `cortexm compare` takes for A and B: a report, or a model with options."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path

from ..compile import compile_program
from ..errors import CortexMError, printable
from ..options import BENCH, COMPARE, OPTIONS
from ..program import Program
from ..report.reading import Report, read_report
from ..target import Target
from .parser import build_parser, spelled_out
from .settle import check_paths, compile_options, kernel_library

Load = Callable[[argparse.Namespace, Target], Program]


def pairs_of(a: str, b: str) -> tuple[list[tuple[str, str]], list[str]]:
    """What is compared with what: of two folders with several reports those of equal names. And a line
    for each report that only one folder has."""
    found = [
        {file.name: str(file) for file in sorted(Path(word).rglob("*.report.json"))}
        if Path(word).is_dir()
        else {}
        for word in (a, b)
    ]
    both = found[0].keys() & found[1].keys()
    if not both or max(map(len, found)) < 2:
        return [(a, b)], []
    alone = [
        f"{name.removesuffix('.report.json')} is in {word} alone"
        for word, names in zip((a, b), found, strict=True)
        for name in sorted(names.keys() - both)
    ]
    return [(found[0][name], found[1][name]) for name in sorted(both)], alone


def side_of(word: str, shared: list[str]) -> Report | argparse.Namespace:
    """A report that is there, or what `cortexm bench` would be told to make one.

    Args:
        word: as the user wrote it.
        shared: options for both sides, which come before those in `word`.

    Raises:
        CortexMError: it is neither.
    """
    if not word.strip():
        raise CortexMError("an empty word is neither a report nor a model")
    path = Path(word)
    if path.is_dir():
        found = sorted(path.rglob("*.report.json"))
        if len(found) != 1:
            names = ", ".join(str(one.relative_to(path)) for one in found[:6]) or "none"
            raise CortexMError(
                f"the folder has {len(found)} reports, one is needed",
                where=word,
                hint=f"name the NAME.report.json; there are: {names}",
            )
        return read_report(found[0])
    if path.suffix == ".json":
        return read_report(path)
    words = [word] if path.is_file() else _split(word)
    own = [BENCH, words[0], *spelled_out([*shared, *words[1:]])]
    try:
        args = build_parser().parse_args(own)
    except SystemExit:
        raise CortexMError(
            "these are no options of a model",
            where=word,
            hint="give what 'cortexm bench MODEL' takes; 'cortexm bench --help' lists it",
        ) from None
    check_paths(args)
    return args


def labels_of(a: str, b: str) -> tuple[str, str]:
    """What A and B are called where others read it: as written, but of absolute paths only as much of their
    ends as tells one from the other."""
    sides = [[word] if Path(word).exists() else _split(word) for word in (a, b)]
    models = [Path(words[0]) for words in sides]
    told = []
    for words, own, other in zip(sides, models, reversed(models), strict=True):
        count, most = 1, len(own.parts) - 1
        while count < most and own.parts[-count:] == other.parts[-count:] and own != other:
            count += 1
        model = str(Path(*own.parts[-count:])) if own.is_absolute() else words[0]
        told.append(" ".join([model, *map(_named, words[1:])]))
    return told[0], told[1]


def _named(word: str) -> str:
    """An option, without the folders of its value."""
    flag, equals, value = word.rpartition("=")
    return flag + equals + (Path(value).name if Path(value).is_absolute() else value)


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError as error:
        raise CortexMError(f"{printable(word)!r}: {error}", hint="close the quotes") from None


def shared_words(args: argparse.Namespace) -> list[str]:
    """The options of models that `cortexm compare` was given, as words for each of them."""
    words: list[str] = []
    for option in OPTIONS:
        if (
            not option.flags
            or not {BENCH, COMPARE} <= set(option.commands)
            or option.dest == "json"
        ):
            continue
        value = getattr(args, option.dest)
        if value == option.value_of(None):
            continue
        flag = next(flag for flag in option.flags if flag.startswith("--"))
        if option.kind == "flag":
            words.append(flag)
        else:
            words += [f"{flag}={one}" for one in (value if option.kind == "list" else [value])]
    return words


def report_of(args: argparse.Namespace, load: Load, *, measure: bool) -> Report:
    """Compiles a model, and counts what it takes on the emulated core if asked to.

    Raises:
        CortexMError: it cannot be compiled, built or run.
    """
    from ..run.bench import bench

    target = Target.parse(args.cpu, args.isa)
    args.kernels = kernel_library(args.kernels or "builtin", target, builds=measure).value
    options = compile_options(args, target)
    program = load(args, target)
    data = compile_program(program, options).report
    counted = bench(program, options, board=args.board, work=args.work) if measure else {}
    return Report(data, {}, counted, args.model)
