# SPDX-License-Identifier: Apache-2.0
"""cortexm_add_model(... RUNTIME executorch): the application, the pools, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cortexm_tools.cli import main
from cortexm_tools.compile import CompileOptions, ExecutorchOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.executorch.compile import prepare
from cortexm_tools.executorch.operators import find_operators
from cortexm_tools.executorch.sizes import read_sizes
from cortexm_tools.plan import KernelChoice
from cortexm_tools.program import Program
from cortexm_tools.pte.values import (
    InstructionKind,
    PteInstruction,
    PteProgram,
    PteTensor,
    ScalarType,
)

from tests.executorch_runtime.executorch_host import HOST, ROOT, Host, Job, cmake, executorch_dir
from tests.support.golden import golden_case

pytestmark = pytest.mark.xdist_group("executorch")

MIXED = golden_case("nn_functional-conv_relu6_avgpool")
LINEAR = "cortex_m::quantized_linear.out"


def test_an_application_switches_by_one_word(host: Host, tmp_path: Path) -> None:
    (tmp_path / "mixed.pte").write_bytes(MIXED.pte)
    program, build, said = host.application([tmp_path / "mixed.pte"])
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "same by one word: yes" in done.stdout
    assert "same by ExecuTorch's API: yes" in done.stdout
    assert "on ExecuTorch's runtime" in said
    folder = build / "cortexm" / "mixed"
    report = json.loads((folder / "mixed.report.json").read_text())
    assert report["runtime"] == "executorch"
    assert report["compiled_calls"] == ["aten::hardtanh.out"]
    # Only what the program uses is registered, and linked.
    kernels = (folder / "mixed_kernels.cpp").read_text()
    assert "quantized_conv2d_out" in kernels and "quantized_linear_out" not in kernels
    names = subprocess.run(["nm", "-C", str(program)], capture_output=True, text=True).stdout
    assert "cortexm_et::quantized_conv2d_out" in names
    assert "cortexm_et::quantized_linear_out" not in names
    assert main(["report", str(folder / "mixed.report.json")]) == 0
    assert main(["report", str(folder / "mixed.report.json"), "--html"]) == 0
    page = (folder / "mixed.report.html").read_text(encoding="utf-8")
    assert all(f"{size:,} B" in page for size in report["pools"].values())
    assert main(["report", str(folder / "mixed.report.json"), "--svg"]) == 1
    # Nothing to do when nothing changed.
    again = subprocess.run(
        [cmake(), "--build", str(build), "-t", "application"], capture_output=True, text=True
    )
    assert "no work to do" in again.stdout


def test_pools_are_exact(host: Host, tmp_path: Path) -> None:
    """One byte less and ExecuTorch cannot load the program (0x21: no memory)."""
    program = Program("mixed", MIXED.pte)
    jobs = [
        Job(program, [MIXED.inputs]),
        Job(program, [MIXED.inputs], method_less=1),
        Job(program, [MIXED.inputs], temp_less=1),
    ]
    right, small_method, small_temp = host.run("mixed", jobs, tmp_path)
    assert right.error == 0 and right.used == right.planned
    assert small_method.error == 0x21
    # The runtime falls back to the method pool, which has no room for that either.
    assert small_temp.error == 0x21


def test_a_limit_below_the_pools_is_an_error(host: Host) -> None:
    program = Program("mixed", MIXED.pte)
    runtime = ExecutorchOptions(host.sizes())
    compiled = compile_program(program, CompileOptions(target=HOST, executorch=runtime))
    need = compiled.report["arena_bytes"]
    fits = CompileOptions(target=HOST, executorch=runtime, ram_limit=need)
    assert compile_program(program, fits).report == compiled.report
    with pytest.raises(CortexMError, match=f"need {need:,} bytes of RAM.*RAM_LIMIT") as caught:
        compile_program(
            program, CompileOptions(target=HOST, executorch=runtime, ram_limit=need - 1)
        )
    assert all(pool in caught.value.message for pool in compiled.report["pools"])
    with pytest.raises(CortexMError, match="FLASH_LIMIT"):
        compile_program(program, CompileOptions(target=HOST, executorch=runtime, flash_limit=1000))
    with pytest.raises(CortexMError, match="IO int8 is for compiled plans"):
        compile_program(program, CompileOptions(target=HOST, executorch=runtime, io_int8=True))
    library = KernelChoice.CMSIS_NN
    with pytest.raises(CortexMError, match="KERNELS cmsis-nn is for compiled plans"):
        compile_program(program, CompileOptions(target=HOST, executorch=runtime, kernels=library))


def test_operators_of_the_application(host: Host) -> None:
    case = golden_case("portable_int8-where_default")
    program = Program("case", case.pte)
    loaded = prepare(program, HOST, host.sizes(), ["aten::nonzero.out"])
    assert loaded.operators.external == ("aten::nonzero.out",)
    assert "aten::nonzero.out" not in {v.operator for v in loaded.operators.variants}
    with pytest.raises(CortexMError, match="does not use"):
        prepare(program, HOST, host.sizes(), ["aten::nonzero.out", "aten::mm.out"])


@pytest.mark.parametrize("cpu, form", [("cortex-m4", "without MVE"), ("cortex-m55", "with MVE")])
def test_executorchs_linear_is_refused(host: Host, cpu: str, form: str) -> None:
    """Ours reads both forms (see the golden cases); ExecuTorch's gives garbage on the other core."""
    program = Program("case", golden_case("linear-linear_rank1", cpu).pte)
    assert LINEAR in prepare(program, HOST, host.sizes()).operators.wrapped
    with pytest.raises(CortexMError, match=f"lowered for a core {form}") as caught:
        prepare(program, HOST, host.sizes(), [LINEAR])
    assert "EXTERNAL_OPERATORS" in caught.value.hint


def _flattened(order: tuple[int, ...], shape: tuple[int, ...]) -> PteProgram:
    """quantize to an image in `order`, and dequantize of what lies there, seen as `shape`."""
    image, f32, s8 = (1, 4, 2, 2), ScalarType.F32, ScalarType.S8
    values = (
        PteTensor(f32, image, order, mutable=True, place=(1, 0)),
        PteTensor(s8, image, order, mutable=True, place=(1, 64)),
        PteTensor(s8, shape, tuple(range(len(shape))), mutable=True, place=(1, 64)),
        PteTensor(f32, shape, tuple(range(len(shape))), mutable=True, place=(1, 0)),
        *(0.5, 3, -128, 127, int(s8)),
    )
    instructions = (
        PteInstruction(
            InstructionKind.KERNEL, "cortex_m::quantize_per_tensor.out", (0, 4, 5, 6, 7, 8, 1, 1)
        ),
        PteInstruction(
            InstructionKind.KERNEL, "cortex_m::dequantize_per_tensor.out", (2, 4, 5, 6, 7, 8, 3, 3)
        ),
    )
    return PteProgram("forward", values, (0,), (3,), instructions, (), (), 1000, (128,))


def test_views_that_executorch_would_get_wrong() -> None:
    """The frontend makes copies of them (shufflenet in test_whole_models.py); others may not."""
    with pytest.raises(CortexMError, match="view of a channels_last tensor") as caught:
        find_operators(_flattened((0, 2, 3, 1), (1, 16)), (), HOST)
    assert "remove_view_copy" in caught.value.hint
    assert len(find_operators(_flattened((0, 1, 2, 3), (1, 16)), (), HOST).wrapped) == 2


def test_other_formats_are_refused(host: Host) -> None:
    data = bytearray(MIXED.pte)
    data[4:8] = b"ET13"
    with pytest.raises(CortexMError, match="identifier ET12"):
        prepare(Program("case", bytes(data)), HOST, host.sizes())
    with pytest.raises(CortexMError, match="no table of ExecuTorch's sizes"):
        read_sizes(b"an object file of something else")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mixed.pte").write_bytes(MIXED.pte)
    arguments = ["compile", str(tmp_path / "mixed.pte"), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--runtime", "executorch"]) == 1
    assert "--executorch-sizes" in capsys.readouterr().err
    assert main([*arguments, "--external-operator", "aten::mm.out"]) == 1


def test_cmake_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "mixed.pte").write_bytes(MIXED.pte)

    def configure(languages: str, find: str, words: str = "RUNTIME executorch") -> str:
        (tmp_path / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.28)\nproject(app {languages})\n{find}\n"
            f"find_package(CortexMModel REQUIRED PATHS {ROOT}/cmake NO_DEFAULT_PATH)\n"
            f"cortexm_add_model(mixed.pte {words})\n"
        )
        done = subprocess.run(
            [
                *(
                    cmake(),
                    "--fresh",
                    "-G",
                    "Ninja",
                    "-S",
                    str(tmp_path),
                    "-B",
                    str(tmp_path / "b"),
                ),
                f"-DCORTEXM_PYTHON={sys.executable}",
                f"-Dexecutorch_DIR={executorch_dir()}",
            ],
            capture_output=True,
            text=True,
        )
        assert done.returncode != 0
        return " ".join(done.stderr.split())

    assert "find_package(executorch REQUIRED)" in configure("C CXX", "")
    assert "needs the language C++" in configure("C", "")
    assert "EXTERNAL_OPERATORS is for" in configure("C", "", "EXTERNAL_OPERATORS aten::mm.out")
    assert "unknown RUNTIME" in configure("C", "", "RUNTIME executorh")
