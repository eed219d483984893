# SPDX-License-Identifier: Apache-2.0
"""Options of running and measuring a model, of reports, and those that the Zephyr module alone has."""

from __future__ import annotations

from pathlib import Path

from .numbers import megahertz, seconds
from .option import BENCH, COMPARE, EXPORT, QUALITY, REPORT, RUN, Option

IMAGES = (RUN, BENCH)

# What ExecuTorch's arm_executor_runner allows when it verifies a bundle, and one quantization step of
# the output besides: the bundle's values come from PyTorch, which rounds in float.
ATOL = 0.01
RTOL = 0.01
QTOL = 1

_OF_A_BOARD = "the one for the CPU"

RUNNING: tuple[Option, ...] = (
    # -- Running
    Option(
        flags=("--host",), commands=(RUN,), kind="flag", default="off",
        help="compile for this machine and run here",
    ),
    Option(
        flags=("--board",), commands=(*IMAGES, COMPARE, QUALITY), value="BOARD", default=_OF_A_BOARD,
        help="emulated board; default: the one for the CPU; with --probe a board with a chip",
        docs="the [emulated board](cmake.md#boards-and-toolchains); with `--probe` one of [those with "
        "chips](boards.md#boards)",
    ),
    Option(
        flags=("--inputs",), commands=(RUN, QUALITY), value="NPZ", parse=Path, default="those of the model",
        help="in_0, in_1, … in logical shape",
    ),
    Option(
        flags=("--outputs",), commands=(RUN,), value="NPZ", parse=Path, default="none",
        help="where to store out_0, out_1, …",
    ),
    Option(
        flags=("--dataset",), commands=(RUN, QUALITY), value="NPZ", parse=Path,
        default="none; of quality the model file's `EvaluationInputs`",
        help="stacked in_0 and labels",
    ),
    Option(
        flags=("--work",), commands=IMAGES, value="DIR", parse=Path, default="a temporary one",
        help="build folder to use again",
    ),
    Option(
        flags=("--poison",), commands=(RUN,), kind="flag", default="off",
        help="overwrite dead arena bytes between layers and within bands",
    ),
    Option(
        flags=("--probe",), commands=IMAGES, group="on a board", value="PROBE",
        range="`gdb:HOST:PORT`, `openocd[:CONFIG]`, `pyocd[:TARGET]`, `jlink[:DEVICE]`",
        default="none: the emulator",
        help="run on a chip, by gdb:HOST:PORT, openocd:CONFIG, pyocd:TARGET or jlink:DEVICE",
        docs="run on a [chip](boards.md) instead of the emulator",
    ),
    Option(
        flags=("--rtt",), commands=IMAGES, group="on a board", choices=("breakpoint", "poll"),
        default="`breakpoint`",
        help="when to look at the image's RTT buffers: where it waits, by a breakpoint, or while it runs",
        docs="when to look at the image's [RTT buffers](boards.md#rtt)",
    ),
    Option(
        flags=("--memory",), commands=IMAGES, group="on a board", value="NAME=ADDRESS:SIZE,…",
        range="`flash` or `code`, `ram`, `fast`, `weights`", default="the board's",
        help="the chip's memories: flash=0x08000000:512K,ram=0x20000000:128K",
        docs="the chip's [memories](boards.md#memories)",
    ),
    Option(
        flags=("--linker-script",), commands=IMAGES, group="on a board", value="FILE", parse=Path,
        default="written from the memories",
        help="one that includes sections.ld, or a vendor's, whose MEMORY is read",
    ),
    Option(
        flags=("--setup",), commands=IMAGES, group="on a board", value="FILE", parse=Path,
        default="the clock as reset leaves it",
        help="a C file with board_setup(), called before main(): clocks, wait states, caches",
    ),
    Option(
        flags=("--clock",), commands=IMAGES, group="on a board", value="MHZ", parse=megahertz,
        unit="MHz", range="above 0", default="the board's after reset",
        help="the core's clock, to say what cycles are in time",
    ),
    Option(
        flags=("--zephyr",), commands=IMAGES, group="on a board", value="BOARD",
        range="as `west build -b` has it", default="none",
        help="build a Zephyr application, flash it with west, and run it by its serial console",
        docs="run as a [Zephyr application](boards.md#zephyr), by its serial console",
    ),
    Option(
        flags=("--serial",), commands=IMAGES, group="on a board", value="DEV",
        range="a device, or a URL of pyserial", default="the only one that there is",
        help="serial port of the console: /dev/ttyACM0, COM3, socket://HOST:PORT",
    ),
    Option(
        flags=("--baud",), commands=IMAGES, group="on a board", value="N", parse=int,
        initial=115200, unit="baud", range="1 or more", default="115200",
        help="its speed; default: %(default)s", docs="its speed",
    ),
    Option(
        flags=("--timeout",), commands=IMAGES, group="on a board", value="SECONDS", parse=seconds,
        initial=60.0, unit="s", range="more than 0", default="60",
        help="the longest that one inference may take; default: %(default)s",
        docs="the longest that one inference may take",
    ),
    Option(
        flags=("--measurement",), commands=(BENCH,), group="on a board", value="FILE", parse=Path,
        default="none", help="where to store what was measured, for cortexm calibrate",
        docs="where to store [what was measured](boards.md#measurements), for `cortexm calibrate`",
    ),
    Option(
        flags=("--cycles",), commands=(BENCH,), value="FILE", parse=Path,
        default="those of cycles.md",
        help="costs for the estimate of cycles, of cortexm calibrate --out",
        docs="costs for the [estimate of cycles](cycles.md), of `cortexm calibrate --out`",
    ),
    Option(
        flags=("--atol",), commands=(RUN,), group="test vectors of a .bpte", value="NUMBER",
        parse=float, initial=ATOL, unit="the output's", range="0 or more", default="0.01",
        help="default: %(default)s", docs="absolute difference that is [allowed](#test-vectors)",
    ),
    Option(
        flags=("--rtol",), commands=(RUN,), group="test vectors of a .bpte", value="NUMBER",
        parse=float, initial=RTOL, unit="1", range="0 or more", default="0.01",
        help="default: %(default)s", docs="the same, as a share of the value",
    ),
    Option(
        flags=("--qtol",), commands=(RUN,), group="test vectors of a .bpte", value="NUMBER",
        parse=int, initial=QTOL, unit="quantization steps of the output", range="0 or more",
        default="1", help="default: %(default)s", docs="the same, on top of these",
    ),
    Option(
        flags=("--json",), commands=(*IMAGES, COMPARE, QUALITY), kind="flag", default="off",
        help="print the result as JSON",
    ),
    # -- Reports
    Option(
        cmake="REPORT", kconfig=("REPORT_HTML",), value="html", choices=("html",), initial="",
        default="none", kconfig_default="n",
        help="html: NAME.report.html beside NAME.report.json, after each build of the model",
        docs="`html`: the [report as a page](report.md), `NAME.report.html` beside "
        "`NAME.report.json`; the interpreter needs Jinja2",
        zephyr="each model's [report as a page](report.md), as `REPORT html`",
    ),
    Option(
        flags=("--html",), commands=(REPORT, COMPARE, QUALITY), kind="flag", default="off",
        help="write one HTML file that needs no network",
        docs="write it as [one HTML file](report.md) that needs no network",
    ),
    Option(
        flags=("--svg",), commands=(REPORT,), kind="flag", default="off",
        help="write the arena over time as an SVG picture",
    ),
    Option(
        flags=("--out", "-o"), commands=(REPORT,), value="FILE", parse=Path,
        default="NAME.report.html, NAME.arena.svg beside the report",
        help="the file to write; default: NAME.report.html or NAME.arena.svg beside the report",
        docs="the file that `--html` or `--svg` writes",
    ),
    Option(
        flags=("--out", "-o"), commands=(COMPARE,), value="FILE", parse=Path,
        default="compare.html", help="the file that --html writes; default: compare.html",
    ),
    Option(
        flags=("--out", "-o"), commands=(QUALITY,), value="FILE", parse=Path,
        default="NAME.report.html", help="the file that --html writes; default: NAME.report.html here",
        docs="the file that `--html` writes",
    ),
    Option(
        flags=("--fail-on",), commands=(COMPARE,), value="NAME+AMOUNT,…", initial="",
        default="none", range="ram, arena, state, stack, flash, code, constants, instructions, macs: "
        "`+` bytes, K, M, a number or %; sqnr: `-` dB",
        help="fail if a quantity of B is worse than that of A by more, as in "
        "ram+1%%,instructions+2%%,sqnr-0.5",
        docs="[fail](report.md#two-side-by-side) if B is worse than A by more, as in "
        "`ram+1%,instructions+2%,sqnr-0.5`",
    ),
    Option(
        flags=("--measure",), commands=(COMPARE, EXPORT, QUALITY), kind="flag", default="off",
        help="measure flash and stack with the Arm compiler that is here; compare also counts the "
        "instructions of models on the emulated core, quality runs the labelled inputs there",
    ),
    Option(
        flags=("--bench",), commands=(REPORT,), value="FILE", parse=Path,
        default="NAME.bench.json beside the report, if it counted the same plan",
        help="what 'cortexm bench --json' printed, for instructions and times",
    ),
    Option(
        flags=("--clock",), commands=(REPORT,), value="MHZ", parse=megahertz, initial=100.0,
        unit="MHz", range="above 0", default="100; the page has a field for it",
        help="the clock that a page's times are for; default: %(default)g MHz",
        docs="the clock that a page's times are for",
    ),
    # -- Of the Zephyr module alone
    Option(
        kconfig=("MODEL",), kconfig_default="n",
        help="enables the module; implies `FPU` and `FPU_SHARING`, and makes the main stack 2048 bytes",
    ),
    Option(
        kconfig=("CORE_SOC", "CORE_DSP", "CORE_MVE", "CORE_NO_MORE"), kconfig_default="`CORE_SOC`",
        help="what instructions an Armv8-M core has beyond what its SoC's Kconfig says; see "
        "[below](#cores-and-instruction-sets)",
    ),
    Option(kconfig=("ASSERT",), kconfig_default="n", help="kernels check their preconditions"),
    Option(
        kconfig=("STACK_CHECK",), kconfig_default="y",
        help="`cortexm_invoke()` refuses to run on less stack than the model may take "
        "(`CORTEXM_ERR_STACK`); see [below](#stacks)",
    ),
    Option(
        kconfig=("LOG_MEMORY",), kconfig_default="n",
        help="`cortexm_init()` logs addresses and sizes",
    ),
    Option(
        kconfig=("PROFILE",), kconfig_default="n",
        help="`cortexm_invoke()` reports its cycles to `cortexm_profile_hook()` "
        "(`<cortexm/zephyr.h>`), by default to the log, which it implies, or to the console if "
        "`LOG` is off",
    ),
    Option(
        kconfig=("KERNELS_ITCM",), kconfig_default="n",
        help="kernels run from the memory that is [chosen as `zephyr,itcm`](#kernels-in-itcm)",
    ),
    Option(
        kconfig=("LLEXT",), kconfig_default="n",
        help="enables `cortexm_add_llext()`: models in [loadable extensions](#loadable-extensions)",
    ),
    Option(
        kconfig=("SHELL",), kconfig_default="n",
        help="the [shell's commands](#shell) `cortexm list`, `info`, `run` and `bench`",
    ),
    Option(
        kconfig=("PROFILE_RUNS",), kconfig_default="8", unit="runs", range="1 to 64",
        help="most runs at a time that report their layers",
    ),
)  # fmt: skip
