# SPDX-License-Identifier: Apache-2.0
"""The command line. The only module that prints or exits."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import __version__
from .builtin import model_files
from .compile import (
    Compiled,
    CompileOptions,
    ExecutorchOptions,
    compile_program,
    kernel_choice,
    write_compiled,
)
from .emit.files import write_files
from .errors import CortexMError
from .plan import KernelChoice
from .plan.regions import parse_regions
from .plan.select import identifier
from .program import Program, load_program
from .report import layer_table, summary
from .report.limits import parse_size
from .stages import bundle_bytes, intermediates, nodes_line, nodes_text
from .target import Core, Optimize, Target
from .vectors import ATOL, QTOL, RTOL, tolerance_text

# `--samples all`.
_ALL = 2**31 - 1


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status: 0 done, 1 not matched or not possible, 2 usage."""
    args = _parser().parse_args(argv)
    try:
        status = args.command(args)
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return int(status)


def _parser() -> argparse.ArgumentParser:
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
    compile_.set_defaults(command=_compile, usage_error=compile_.error)

    run = commands.add_parser("run", help="build an image, run it, compare with the reference")
    _model_arguments(run)
    run.add_argument("--host", action="store_true", help="compile for this machine and run here")
    run.add_argument("--board", help="emulated board; default: the one for the CPU")
    run.add_argument("--inputs", type=Path, metavar="NPZ", help="in_0, in_1, … in logical shape")
    run.add_argument("--outputs", type=Path, metavar="NPZ", help="where to store out_0, out_1, …")
    run.add_argument("--dataset", type=Path, metavar="NPZ", help="stacked in_0 and labels")
    run.add_argument("--work", type=Path, metavar="DIR", help="build folder to use again")
    run.add_argument(
        "--poison", action="store_true", help="overwrite dead arena bytes between layers"
    )
    vectors = run.add_argument_group(
        "test vectors of a .bpte", "allowed: ATOL + RTOL of the value + QTOL quantization steps"
    )
    vectors.add_argument("--atol", type=float, default=ATOL, help="default: %(default)s")
    vectors.add_argument("--rtol", type=float, default=RTOL, help="default: %(default)s")
    vectors.add_argument("--qtol", type=int, default=QTOL, help="default: %(default)s")
    run.add_argument("--json", action="store_true")
    run.set_defaults(command=_run)

    bench = commands.add_parser("bench", help="count instructions, flash and RAM, layer by layer")
    _model_arguments(bench)
    bench.add_argument("--board", help="emulated board; default: the one for the CPU")
    bench.add_argument("--work", type=Path, metavar="DIR", help="build folder to use again")
    bench.add_argument("--json", action="store_true")
    bench.set_defaults(command=_bench)

    inspect = commands.add_parser("inspect", help="show what is in a .pte")
    inspect.add_argument("model", type=Path, help="a .pte or a .bpte")
    inspect.set_defaults(command=_inspect)

    report = commands.add_parser("report", help="show a model's memory layer by layer")
    report.add_argument("report", type=Path, help="NAME.report.json of a build")
    report.set_defaults(command=_report)

    doctor = commands.add_parser("doctor", help="check the environment")
    doctor.set_defaults(command=_doctor)

    cmake_dir = commands.add_parser("cmake-dir", help="print the folder for CMAKE_PREFIX_PATH")
    cmake_dir.set_defaults(command=_cmake_dir)
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
    return _ALL if text == "all" else int(text)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _load(args: argparse.Namespace, target: Target, *, quiet: bool) -> Program:
    name = identifier(args.name or args.model.stem)
    if args.name and name != args.name or name[0].isdigit():
        raise CortexMError(
            f"{args.name or args.model.stem!r} is no C identifier", hint=f"use --name m_{name}"
        )
    program = load_program(
        args.model,
        name=name,
        target=target,
        calibration=args.calibration,
        model_input=args.model_input,
        quantize=args.quantize,
        progress=(lambda text: None) if quiet else lambda text: _say(f"[{name}] {text}"),
    )
    for warning in program.warnings:
        _say(f"warning: {warning}")
    return program


def _kernels(name: str, target: Target, *, builds: bool) -> KernelChoice:
    """The kernel library. `auto` without CMSIS-NN, for a command that `builds` an image, is ours."""
    from .run.image import cmsis_nn_root

    choice = kernel_choice(name)
    absent = target.core is Core.ANY or (builds and not cmsis_nn_root())
    return KernelChoice.BUILTIN if choice is KernelChoice.AUTO and absent else choice


def _options(args: argparse.Namespace, target: Target, **more: Any) -> CompileOptions:
    return CompileOptions(
        target=target,
        kernels=_kernels(args.kernels or "builtin", target, builds=args.command in (_run, _bench)),
        io_int8=args.io == "int8",
        optimize=Optimize(args.optimize),
        require_int8=args.require_int8,
        regions=parse_regions(args.region),
        **more,
    )


def _compile(args: argparse.Namespace) -> int:
    _settle_names(args)
    target = Target.parse(args.cpu, args.isa)
    if args.samples < 0:
        raise CortexMError("--samples must not be negative")
    limits = {
        "ram_limit": parse_size(args.ram_limit, "--ram-limit") if args.ram_limit else None,
        "flash_limit": parse_size(args.flash_limit, "--flash-limit") if args.flash_limit else None,
    }
    program = _load(args, target, quiet=args.quiet)
    options = _options(
        args,
        target,
        own_arena=args.arena == "own",
        shared_arena=_arena_group(args.arena),
        section_arena=args.section_arena,
        section_weights=args.section_weights,
        embed_pte=args.embed_pte,
        samples=args.samples,
        profile=args.profile,
        command=_command_line(args),
        executorch=_executorch(args),
        **limits,
    )
    compiled = compile_program(program, options)
    _report_vectors(compiled)
    more: dict[str, str | bytes] = {}
    if args.bundleio:
        more[f"{program.name}.bpte"] = bundle_bytes(program)
    if args.program_file is not None:
        more[args.program_file] = more.get(f"{program.name}.bpte") or program.pte
    write_compiled(compiled, args.out)
    write_files(args.out, more)
    if args.intermediates is not None:
        write_files(args.intermediates, intermediates(compiled))
    if args.depfile:
        _write_depfile(args, compiled)
    if args.stamp:
        args.stamp.write_text(compiled.program.digest + "\n", encoding="utf-8")
    if not args.quiet:
        print(_summary(compiled.report))
        print(f"  nodes  {nodes_line(program)}")
        for name in more:
            print(f"  wrote  {args.out / name}")
        if args.model_name is not None or args.intermediates is not None:
            print(f"\n{nodes_text(program)}", end="")
    return 0


def _summary(report: dict[str, Any]) -> str:
    from .executorch.compile import summary as executorch_summary

    return executorch_summary(report) if "pools" in report else summary(report)


def _executorch(args: argparse.Namespace) -> ExecutorchOptions | None:
    from .executorch.sizes import read_sizes

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
    try:
        data = args.executorch_sizes.read_bytes()
    except OSError as error:
        raise CortexMError(
            f"cannot read: {error.strerror}", where=str(args.executorch_sizes)
        ) from None
    return ExecutorchOptions(
        read_sizes(data, str(args.executorch_sizes)), tuple(args.external_operator)
    )


def _settle_names(args: argparse.Namespace) -> None:
    """Makes of aot_arm_compiler's ways to say something ours.

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
            f"{args.cpu} is no Cortex-M core: delegates are not compiled",
            hint="name the core that runs the rest, for example -t cortex-m55",
        )
    if args.delegate:
        _say("warning: --delegate is ignored: Cortex-M targets do not delegate")
    args.program_file = None
    if args.out.suffix in (".pte", ".bpte"):
        if (args.out.suffix == ".bpte") != args.bundleio:
            raise CortexMError(
                f"--output {args.out.name} contradicts "
                + ("--bundleio" if args.bundleio else "the lack of --bundleio"),
                hint="a .bpte needs --bundleio, a .pte goes without it",
            )
        args.program_file, args.out = args.out.name, args.out.parent


def _arena_group(arena: str) -> str:
    """The group in ``shared[:GROUP]``; empty for the other kinds."""
    kind, _, group = arena.partition(":")
    if kind not in ("own", "caller", "shared") or (group and kind != "shared"):
        raise CortexMError(f"unknown arena {arena!r}", hint="own, caller or shared[:GROUP]")
    if kind != "shared":
        return ""
    group = group or "shared"
    if identifier(group) != group:
        raise CortexMError(
            f"arena group {group!r} is no C identifier", hint=f"use {identifier(group)}"
        )
    return group


def _report_vectors(compiled: Compiled) -> None:
    """A warning if the reference misses what a .bpte expects; its results are what the device gets."""
    found = compiled.report.get("test_vectors")
    if found and found["passed"] < found["total"]:
        _say(
            f"warning: {compiled.program.name}: {found['passed']} of {found['total']} test vectors "
            f"pass, the largest difference is {found['largest_difference']:g} "
            f"({tolerance_text(found)}); the firmware's self-check "
            "expects what this program computes"
        )


def _command_line(args: argparse.Namespace) -> str:
    """The choices that shape the output, with the model's bare name: no path of any machine."""
    words = ["cortexm", "compile", args.model.name, "--cpu", args.cpu]
    if not args.quantize:
        words.append("--no-quantize")
    for flag in ("isa", "kernels", "io", "arena", "section_arena", "section_weights"):
        value = getattr(args, flag)
        if value:
            words += ["--" + flag.replace("_", "-"), value]
    if args.optimize != Optimize.BALANCED.value:
        words += ["--optimize", args.optimize]
    for region in args.region:
        words += ["--region", region]
    if args.runtime != "compiled":
        words += ["--runtime", args.runtime]
    if args.profile:
        words.append("--profile")
    return shlex.join(words)


def _write_depfile(args: argparse.Namespace, compiled: Compiled) -> None:
    from .depfile import depfile_text, own_sources

    target = args.stamp or args.out / f"{compiled.program.name}.c"
    files = [*compiled.program.dependencies, *own_sources()]
    args.depfile.write_text(depfile_text(str(target), files), encoding="utf-8")


def _run(args: argparse.Namespace) -> int:
    from .run.command import RunRequest, run_program, run_text

    target = Target.parse("host" if args.host else args.cpu, None if args.host else args.isa)
    program = _load(args, target, quiet=args.json)
    compiled = compile_program(program, _options(args, target, poison=args.poison))
    request = RunRequest(
        board=args.board,
        inputs=args.inputs,
        outputs=args.outputs,
        dataset=args.dataset,
        work=args.work,
        atol=args.atol,
        rtol=args.rtol,
        qtol=args.qtol,
    )
    result = run_program(compiled, request)
    print(json.dumps(result.data, indent=1) if args.json else run_text(compiled, result))
    return 0 if result.passed else 1


def _bench(args: argparse.Namespace) -> int:
    from .run.bench import bench, bench_text
    from .run.libraries import compare, compare_text

    target = Target.parse(args.cpu, args.isa)
    program = _load(args, target, quiet=args.json)
    names = (args.kernels or "builtin").split(",")
    choices = [_kernels(name, target, builds=True) for name in names]
    args.kernels = choices[0].value
    options = _options(args, target)
    if len(choices) > 1:
        data = compare(program, options, choices, board=args.board, work=args.work)
        text = compare_text
    else:
        data = bench(program, options, board=args.board, work=args.work)
        text = bench_text
    print(json.dumps(data, indent=1) if args.json else text(data))
    return 0


def _inspect(args: argparse.Namespace) -> int:
    from .listing import inspect_text

    program = load_program(args.model, name=identifier(args.model.stem), target=Target.parse("any"))
    print(inspect_text(program))
    return 0


def _report(args: argparse.Namespace) -> int:
    try:
        data = json.loads(args.report.read_text(encoding="utf-8"))
        text = f"{_summary(data)}{_stack_line(args.report)}"
        if "pools" not in data:
            text += f"\n\n{layer_table(data)}"
    except OSError as error:
        raise CortexMError(f"cannot read: {error.strerror}", where=str(args.report)) from None
    except (ValueError, KeyError, TypeError):
        raise CortexMError(
            "is no report of this tool", where=str(args.report), hint="give a NAME.report.json"
        ) from None
    print(text)
    return 0


def _stack_line(report: Path) -> str:
    """The stack's bound, where the build has left its summary beside the report."""
    stem = report.name.removesuffix(".report.json")
    summary_file = report.with_name(f"{stem}.footprint.json")
    if not summary_file.is_file():
        return ""
    data = json.loads(summary_file.read_text(encoding="utf-8"))
    bound, note = data.get("stack"), data.get("stack_note", "")
    if bound is None:
        return f"\n  stack  not known: {note}" if note else ""
    return f"\n  stack  {bound:>10,} B at most: {note}"


def _doctor(args: argparse.Namespace) -> int:
    from .doctor import examine, listing

    findings = examine()
    print(listing(findings))
    return 0 if all(finding.ok for finding in findings) else 1


def _cmake_dir(args: argparse.Namespace) -> int:
    from .paths import cmake_dir

    print(cmake_dir())
    return 0
