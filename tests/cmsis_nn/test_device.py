# SPDX-License-Identifier: Apache-2.0
"""CMSIS-NN itself: its results are ours in every byte on five cores, and another version is found out.

Needs a checkout, named by CMSIS_NN_ROOT.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.emit.files import write_files
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.kernels import rows as kernel_rows
from cortexm_tools.paths import data_root
from cortexm_tools.plan import KernelChoice
from cortexm_tools.program import Program, load_program
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.target import Target

from tests.cmsis_nn.nn_layers import FAMILIES, layer_inputs, layer_program, random_layer
from tests.support.batches import Job, run_jobs
from tests.support.cores import cross_compiler, lowered_for
from tests.support.golden import GoldenCase, golden_cases, mismatch, output_step

CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55")
NN = KernelChoice.CMSIS_NN
LAYERS = 8  # of each family
MODELS = Path(__file__).parents[2] / "benchmarks" / "models"


def uses_cmsis_nn(program: Program, target: Target) -> bool:
    return (
        "cmsis-nn"
        in compile_program(program, CompileOptions(target, kernels=NN)).report["libraries"]
    )


def chosen_seeds(family: str, target: Target) -> list[int]:
    """The first layers of a family that CMSIS-NN computes."""
    found = (seed for seed in range(100) if uses_cmsis_nn(layer_program(family, seed), target))
    return list(itertools.islice(found, LAYERS))


def golden_programs(target: Target) -> list[tuple[GoldenCase, Program]]:
    """The golden cases with a layer that CMSIS-NN computes."""
    refused = ("conv-conv3d", "portable_int8-where_default")
    cases = [
        case for case in golden_cases(cpu=lowered_for(target.core)) if case.name not in refused
    ]
    pairs = [(case, Program("case", case.pte)) for case in cases]
    return [pair for pair in pairs if uses_cmsis_nn(pair[1], target)]


@pytest.mark.parametrize("cpu", CORES)
def test_layers_and_golden_cases(checkout: Path, cpu: str, tmp_path: Path) -> None:
    """In one image: random layers against the interpreter, golden cases against their outputs."""
    target = Target.parse(cpu)
    layers = [(family, seed) for family in FAMILIES for seed in chosen_seeds(family, target)]
    golden = golden_programs(target)
    assert len(golden) > 100
    jobs = [
        Job(
            layer_program(family, seed),
            [layer_inputs(random_layer(family, seed), k) for k in range(3)],
        )
        for family, seed in layers
    ]
    jobs += [Job(program, [case.inputs]) for case, program in golden]
    results = run_jobs(jobs, target, tmp_path, kernels=NN)
    for (family, seed), job, rows in zip(layers, jobs, results, strict=False):
        graph = random_layer(family, seed)
        for inputs, outputs in zip(job.invocations, rows, strict=True):
            (expected,) = run_graph(graph, inputs)
            np.testing.assert_array_equal(outputs[0], expected, err_msg=f"{family} {seed}")
    wrong = {
        case.name: found
        for (case, program), rows in zip(golden, results[len(layers) :], strict=True)
        if (found := mismatch(case, rows[0], output_step(program.graph())))
    }
    assert not wrong


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize(
    "name", ["ds_cnn", "resnet8", "mobilenet_v1_025", "deep_autoencoder", "mobilenet_v2"]
)
def test_models(checkout: Path, name: str, cpu: str, tmp_path: Path) -> None:
    pytest.importorskip("executorch", reason="lowering a model needs executorch")
    target = Target.parse(cpu)
    program = load_program(MODELS / f"{name}.py", name=name, target=target)
    compiled = compile_program(program, CompileOptions(target, kernels=NN))
    macs = {layer["library"]: 0 for layer in compiled.report["layers"]}
    for layer in compiled.report["layers"]:
        macs[layer["library"]] += layer["macs"]
    assert macs["cmsis-nn"] == compiled.report["macs"]
    report = run_program(compiled, RunRequest(work=tmp_path))
    assert report.matched and report.data["exact"]


def test_adapters_compile_without_warnings(checkout: Path, tmp_path: Path) -> None:
    kernels = data_root() / "kernels"
    sources = [
        str(file) for file in kernel_rows.sources(kernels, tmp_path / "stamps", "adapters").values()
    ]
    assert len(sources) > 20
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    includes = [f"-isystem{checkout / 'Include'}", f"-I{kernels / 'include'}"]
    includes += [f"-I{kernels / 'src'}", f"-I{kernels / 'src' / 'cmsis_nn'}"]
    for core in ("cortex-m0", "cortex-m55"):
        for more in ([], ["-DCORTEXM_DEBUG"]):
            done = subprocess.run(
                [*cross_compiler(core), "-std=c11", "-O2", *more, *warnings, *includes, "-c", *sources],
                cwd=tmp_path, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr


# -- Another version ---------------------------------------------------------------------------------


def check(folder: Path, name: str, root: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Compiles a model's check as the build does."""
    kernels = data_root() / "kernels"
    ours = [data_root() / "runtime" / "include", kernels / "include", kernels / "src" / "cmsis_nn"]
    options = [f"-I{path}" for path in [root / "Include", *ours]]
    source = str(folder / f"{name}_cmsis_nn.c")
    return subprocess.run(
        ["arm-none-eabi-gcc", *flags, *options, "-O2", "-w", "-c", source, "-o", "/dev/null"],
        capture_output=True,
        text=True,
    )


def test_another_version_is_found_out(checkout: Path, tmp_path: Path) -> None:
    target = Target.parse("cortex-m4")
    program = layer_program("conv2d", 3)
    compiled = compile_program(program, CompileOptions(target, kernels=NN))
    text = compiled.files["layer_cmsis_nn.c"]
    assert isinstance(text, str) and "_op0_refuse);" in text
    write_files(tmp_path, compiled.files)
    m4 = cross_compiler("cortex-m4")[1:]
    assert check(tmp_path, "layer", checkout, *m4).returncode == 0

    # The functions that tell sizes, of a version that wants four bytes more.
    other = tmp_path / "other"
    shutil.copytree(checkout / "Include", other / "Include")
    for file in (checkout / "Source").glob("*/*_get_buffer_sizes_s*.c"):
        copy = other / "Source" / file.parent.name / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        body = file.read_text().replace(
            "return (2 * aligned_rhs_cols) *", "return 4 + (2 * aligned_rhs_cols) *"
        )
        copy.write_text(body)
    said = check(tmp_path, "layer", other, *m4)
    assert said.returncode != 0
    assert "conv2d of layer0: this CMSIS-NN needs more scratch memory than the" in said.stderr

    # Compiled for other instructions than planned, or with other rounding; without its sources.
    said = check(tmp_path, "layer", checkout, *cross_compiler("cortex-m3")[1:])
    assert "planned for the DSP code of CMSIS-NN" in said.stderr
    said = check(tmp_path, "layer", checkout, *m4, "-DCMSIS_NN_USE_SINGLE_ROUNDING")
    assert "its results would not be the model's" in said.stderr
    shutil.rmtree(other / "Source")
    said = check(tmp_path, "layer", other, *m4)
    assert "the sources of CMSIS-NN are not beside its headers" in said.stderr
