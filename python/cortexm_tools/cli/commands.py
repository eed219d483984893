# SPDX-License-Identifier: Apache-2.0
"""What each command does."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..compile import Compiled, CompileOptions, compile_program, write_compiled
from ..emit.files import write_files
from ..errors import CortexMError, printable
from ..options import MODELS
from ..options.arena import parse_arena
from ..options.memories import section_name
from ..options.names import name_of_file
from ..program import Program, load_program
from ..progress import Listener, listening
from ..pte.vectors import tolerance_text
from ..report import layer_table, quality_table, summary
from ..report.reading import Report
from ..run.children import ended_by_signals
from ..run.place import Place
from ..target import Target
from ..terminal import show
from .loading import load, say
from .parser import build_parser, spelled_out
from .quality import run as _quality
from .settle import (
    check_paths,
    command_line,
    compile_options,
    executorch_options,
    export_sides,
    kernel_library,
    limits,
    place_of,
    quality_limits,
    settle_names,
    work_folder,
)
from .stages import bundle_bytes, intermediates, nodes_line, nodes_text


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status: 0 done, 1 not matched or not possible, 2 usage."""
    try:
        with ended_by_signals():
            args = build_parser().parse_args(spelled_out(sys.argv[1:] if argv is None else argv))
            check_paths(args)
            with listening(_listener(args)):
                status = _COMMANDS[args.command](args)
    except CortexMError as error:
        show(f"error: {error}", error=True)
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        show(
            f"error: {printable(str(error.filename or 'the system'))}: {error.strerror}", error=True
        )
        return 1
    return int(status)


def _listener(args: argparse.Namespace) -> Listener | None:
    """Who shows how far long work is; nobody for what is short, or should say nothing."""
    model = getattr(args, "model", None) or getattr(args, "model_name", None)
    if model is None or isinstance(model, list) or args.command not in MODELS or _is_silent(args):
        return None
    from .bars import listener_for

    return listener_for(args.name or name_of_file(model.stem)[0])


def _is_silent(args: argparse.Namespace) -> bool:
    return bool(vars(args).get("quiet") or vars(args).get("json"))


def _compile(args: argparse.Namespace) -> int:
    for warning in settle_names(args):
        say(f"warning: {warning}")
    target = Target.parse(args.cpu, args.isa)
    # Whatever is wrong in the options is said before minutes of lowering.
    options = compile_options(
        args,
        target,
        embed_pte=args.embed_pte,
        profile=args.profile,
        command=command_line(args),
        executorch=executorch_options(args),
        **_written(args),
    )
    program = load(args, target, quiet=args.quiet)
    compiled = compile_program(program, options)
    _report_vectors(compiled)
    more: dict[str, str | bytes] = {}
    if args.bundleio:
        more[f"{program.name}.bpte"] = bundle_bytes(program)
    if args.program_file is not None and program.is_litert:
        raise CortexMError(
            f"--output {args.program_file}, and the model is a .tflite",
            hint="name a folder: --out build",
        )
    if args.program_file is not None:
        more[args.program_file] = more.get(f"{program.name}.bpte") or program.pte
    write_compiled(compiled, args.out)
    write_files(args.out, more)
    if args.intermediates is not None:
        write_files(args.intermediates, intermediates(compiled))
    _write_for_build_system(args, compiled)
    if not args.quiet:
        show(_summary(compiled.report))
        show(f"  nodes  {nodes_line(program)}")
        for name in more:
            show(f"  wrote  {args.out / name}")
        if args.model_name is not None or args.intermediates is not None:
            show(f"\n{nodes_text(program)}", end="")
    return 0


def _written(args: argparse.Namespace) -> dict[str, Any]:
    """The options that compile and export have in common."""
    return {
        "arena": parse_arena(args.arena),
        "section_arena": section_name(args.section_arena, "--section-arena"),
        "section_weights": section_name(args.section_weights, "--section-weights"),
        "samples": args.samples,
        "min_quality": quality_limits(args),
        **limits(args),
    }


def _summary(report: dict[str, Any]) -> str:
    from ..executorch.compile import summary as executorch_summary

    return executorch_summary(report) if "pools" in report else summary(report)


def _report_vectors(compiled: Compiled) -> None:
    """A warning if the reference misses what a .bpte expects; its results are what the device gets."""
    found = compiled.report.get("test_vectors")
    if found and found["passed"] < found["total"]:
        say(
            f"warning: {compiled.program.name}: {found['passed']} of {found['total']} test vectors "
            f"pass, the largest difference is {found['largest_difference']:g} "
            f"({tolerance_text(found)}); the firmware's self-check "
            "expects what this program computes"
        )


def _write_for_build_system(args: argparse.Namespace, compiled: Compiled) -> None:
    from .depfile import depfile_text, own_sources

    target = args.stamp or args.out / f"{compiled.program.name}.c"
    files = [*compiled.program.dependencies, *own_sources()]
    if args.depfile:
        text = depfile_text(str(target), files)
        write_files(args.depfile.parent, {args.depfile.name: text})
    if args.stamp:
        write_files(args.stamp.parent, {args.stamp.name: compiled.program.digest + "\n"})
        args.stamp.touch()  # newer than what it was made from, whether it changed or not


def _export(args: argparse.Namespace) -> int:
    from ..export import export_files, write_export

    args.runtime, args.profile = "compiled", False
    target = Target.parse(args.cpu, args.isa)
    options = compile_options(args, target, **_written(args))
    sides = export_sides(args)
    models = []
    for side in sides:
        with listening(_listener(side)):
            program = load(side, target, quiet=args.quiet)
            models.append(compile_program(program, replace(options, command=command_line(side))))
    name = args.name or models[0].program.name
    files = export_files(models, args.format, args.url or "", name, measure=args.measure)
    out = args.out or Path(name)
    count = write_export(out, files)
    if not args.quiet:
        for compiled in models:
            show(_summary(compiled.report))
        show(f"  wrote  {count} files for {args.format} to {out}")
    return 0


def _run(args: argparse.Namespace) -> int:
    from ..run.command import RunRequest, run_program, run_text

    place = place_of(args)
    target = Target.parse("host" if args.host else args.cpu, None if args.host else args.isa)
    options = compile_options(args, target, poison=args.poison)
    program = load(args, target, quiet=args.json)
    compiled = compile_program(program, options)
    request = RunRequest(
        board=args.board,
        place=place,
        inputs=args.inputs,
        outputs=args.outputs,
        dataset=args.dataset,
        work=args.work,
        atol=args.atol,
        rtol=args.rtol,
        qtol=args.qtol,
    )
    result = run_program(compiled, request)
    show(json.dumps(result.data, indent=1) if args.json else run_text(compiled, result))
    return 0 if result.passed else 1


def _bench(args: argparse.Namespace) -> int:
    from ..run.bench import bench, bench_text
    from ..run.calibrate import read_costs
    from ..run.libraries import compare, compare_text

    place = place_of(args)
    target = Target.parse(args.cpu, args.isa)
    names = (args.kernels or "builtin").split(",")
    choices = [kernel_library(name, target, builds=True) for name in names]
    args.kernels = choices[0].value
    options = compile_options(args, target)
    if place is not None and len(choices) > 1:
        raise CortexMError(
            "on a board, bench measures one kernel library at a time",
            hint=f"--kernels {choices[0].value}",
        )
    costs = read_costs(args.cycles) if args.cycles is not None else None
    program = load(args, target, quiet=args.json)
    if place is not None:
        return _measure(args, program, options, place)
    if len(choices) > 1:
        data = compare(program, options, choices, board=args.board, work=args.work)
        text = compare_text
    else:
        data = bench(program, options, board=args.board, work=args.work, costs=costs)
        text = bench_text
    show(json.dumps(data, indent=1) if args.json else text(data))
    return 0


def _measure(
    args: argparse.Namespace, program: Program, options: CompileOptions, place: Place
) -> int:
    from ..run.measured import measure, measurement_text

    with work_folder(args.work) as work:
        data = measure(program, options, place, work=work)
    stored = json.dumps(data, indent=1)
    if args.measurement is not None:
        write_files(args.measurement.parent, {args.measurement.name: stored + "\n"})
    show(stored if args.json else measurement_text(data))
    return 0 if data["matched"] else 1


def _calibrate(args: argparse.Namespace) -> int:
    from ..run.calibrate import calibrate, calibration_text, costs_data

    fits = calibrate(args.measurements)
    stored = json.dumps(costs_data(fits), indent=1)
    if args.out is not None:
        write_files(args.out.parent, {args.out.name: stored + "\n"})
    show(stored if args.json else calibration_text(fits))
    return 0


def _inspect(args: argparse.Namespace) -> int:
    from .inspect import inspect_text
    from .weights import image_text

    if args.model.suffix == ".bin":
        show(image_text(args.model))
        return 0
    program = load_program(
        args.model, name=name_of_file(args.model.stem)[0], target=Target.parse("any")
    )
    show(inspect_text(program))
    return 0


def _report(args: argparse.Namespace) -> int:
    from ..report.reading import damaged, read_report

    report = read_report(args.report, args.bench)
    if args.out and args.html == args.svg:
        raise CortexMError("--out is for --html or --svg", hint="give one of them with it")
    with damaged(args.report):
        written = _report_files(args, report)
        text = "" if written else _report_text(report)
    for path, content in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files(path.parent, {path.name: content})
        show(f"wrote {path}")
    if text:
        show(text)
    return 0


def _report_files(args: argparse.Namespace, report: Report) -> dict[Path, str]:
    """The page, the picture, or both, by their places."""
    if not (args.html or args.svg):
        return {}
    from ..report.page import arena_svg, report_html

    stem = args.report.name.removesuffix(".json").removesuffix(".report")
    files: dict[Path, str] = {}
    if args.html:
        place = args.out or args.report.with_name(f"{stem}.report.html")
        files[place] = report_html(report, args.clock)
    if args.svg:
        files[args.out or args.report.with_name(f"{stem}.arena.svg")] = arena_svg(report)
    return files


def _report_text(report: Report) -> str:
    text = f"{_summary(report.data)}{report.stack_line()}"
    if report.is_plan:
        text += f"\n\n{layer_table(report.data)}"
    if noise := quality_table(report.data):
        text += f"\n\nsignal-to-quantization-noise ratio (docs/numerics.md)\n{noise}"
    return text


def _compare(args: argparse.Namespace) -> int:
    from ..report.change import parse_allowed
    from ..report.compare import compare_text
    from .sides import pairs_of, shared_words, side_of

    # Whatever is wrong in the words is said before minutes of lowering.
    allowed = parse_allowed(args.fail_on)
    if args.out and not args.html:
        raise CortexMError("--out is for --html", hint="add --html")
    shared = shared_words(args)
    pairs, alone = pairs_of(args.a, args.b)
    found = []
    for words in pairs:
        sides = [side_of(word, shared) for word in words]
        a, b = (side if isinstance(side, Report) else _compiled_side(side, args) for side in sides)
        data, page = _compared(a, b, words, allowed, page=args.html)
        found.append(data)
        if args.html:
            place = args.out or Path("compare.html")
            if len(pairs) > 1:
                place = place.with_stem(f"{place.stem}-{b.data['name']}")
            write_files(place.parent, {place.name: page})
            say(f"wrote {place}")
    if args.json:
        show(json.dumps(found if len(pairs) > 1 else found[0], indent=1))
    else:
        show("\n\n".join([*map(compare_text, found), *alone]))
    worse = [
        f"{data['b']['name']}: {sentence}" if len(pairs) > 1 else sentence
        for data in found
        for sentence in data["exceeded"]
    ]
    for sentence in worse:
        say(f"error: {sentence}")
    return 1 if worse else 0


def _compared(
    a: Report, b: Report, names: tuple[str, str], allowed: Any, *, page: bool
) -> tuple[dict[str, Any], str]:
    """Two reports as data, and as a page if asked for."""
    from ..report.change import exceeded
    from ..report.compare import compare_reports, values
    from ..report.reading import damaged
    from .sides import labels_of

    with damaged(Path(", ".join(names))):
        data = compare_reports(a, b, labels_of(*names))
        data["exceeded"] = exceeded(allowed, values(data))
        if not page:
            return data, ""
        from ..report.page import compare_html

        return data, compare_html(a, b, data)


def _weights(args: argparse.Namespace) -> int:
    from .weights import run

    return run(args)


def _compiled_side(side: argparse.Namespace, args: argparse.Namespace) -> Report:
    from .sides import report_of

    side.json = args.json
    with listening(_listener(side)):
        return report_of(
            side, lambda one, target: load(one, target, quiet=args.json), measure=args.measure
        )


def _doctor(args: argparse.Namespace) -> int:
    from .doctor import examine, listing

    findings = examine()
    show(listing(findings))
    return 0 if all(finding.ok or finding.optional for finding in findings) else 1


def _cmake_dir(args: argparse.Namespace) -> int:
    from ..paths import cmake_dir

    show(str(cmake_dir()))
    return 0


_COMMANDS = {
    "compile": _compile,
    "run": _run,
    "bench": _bench,
    "export": _export,
    "calibrate": _calibrate,
    "inspect": _inspect,
    "report": _report,
    "compare": _compare,
    "quality": _quality,
    "weights": _weights,
    "doctor": _doctor,
    "cmake-dir": _cmake_dir,
}
