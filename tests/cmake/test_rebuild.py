# SPDX-License-Identifier: Apache-2.0
"""What a build does again, and what not."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cmake.projects import MODEL, ROOT, Project, copied, run, succeed

MODEL_FILE = """
import numpy as np
import torch
from pathlib import Path
from blocks import Block
from shared.sizes import INPUTS

WEIGHTS = Path(__file__).with_name("weights.npy")


def ModelUnderTest():
    model = Block()
    with torch.no_grad():
        model.linear.weight.copy_(torch.from_numpy(np.load(WEIGHTS)))
    return model.eval()


ModelInputs = (torch.linspace(-1, 1, 8).reshape(1, INPUTS),)


def CalibrationInputs():
    return [(torch.randn(1, 8, generator=torch.Generator().manual_seed(0)),)]
"""
BLOCK_FILE = """
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, x):
        return torch.relu(self.linear(x))
"""


@pytest.fixture(autouse=True, scope="module")
def compiles_itself() -> Iterator[None]:
    """Builds that are looked at share no objects with others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CMAKE_C_COMPILER_LAUNCHER", raising=False)
        yield


def touch(path: Path) -> None:
    os.utime(path)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"rebuild-{name}"))
        for name in ("Ninja", "Unix Makefiles")
    ],
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a model of its own, up to date; each test leaves it so."""
    folder = tmp_path_factory.mktemp("rebuild")
    model = folder / "own.pte"
    shutil.copy(MODEL, model)
    app = copied(folder, "find_package", CortexMModel_DIR=str(ROOT / "cmake"), MODEL=str(model))
    app.generator = request.param
    # CMake 3.20 and later knows who is to be in it.
    succeed(app.configure(CMAKE_EXPORT_COMPILE_COMMANDS="ON"))
    succeed(app.make())
    return app


def test_nothing_touched_nothing_done(built: Project) -> None:
    said = succeed(built.make())
    assert "Compiling" not in said and "Building" not in said and "Linking" not in said
    if built.generator == "Ninja":
        assert "no work to do" in built.plan()
        # From 1.12 on it would begin again for prerequisites that a command writes itself.
        depends = run("ninja", "-C", str(built.build), "-t", "deps").stdout
        assert "kernels/include/cortexm/kernels.h" in depends and "/stamps/" not in depends


def test_touched_model_is_compiled_but_equal_output_stops_there(built: Project) -> None:
    touch(Path(built.definitions["MODEL"]))
    said = succeed(built.make())
    assert "Compiling own.pte" in said
    assert "Building C object" not in said
    said = succeed(built.make())
    assert "Compiling own.pte" not in said


def _kernel_objects(app: Project) -> dict[str, int]:
    """Time stamps of the compiled kernels, by symbol."""
    found = app.build.glob("CMakeFiles/cortexm_model_kernels.dir/**/kernels/*.o*")
    return {f"cortexm_{p.stem}": p.stat().st_mtime_ns for p in found if p.suffix in (".o", ".obj")}


def test_only_the_kernels_that_models_call_are_compiled(built: Project) -> None:
    report = json.loads((built.build / "cortexm/digits/digits.report.json").read_text())
    assert sorted(_kernel_objects(built)) == sorted(report["kernels"])
    objects = [p for p in built.build.rglob("*.o*") if p.suffix in (".o", ".obj")]
    assert len(objects) <= 30, objects
    if (known := built.build / "compile_commands.json").exists():  # Ninja's
        entries = json.loads(known.read_text())
        assert {built.build / entry["output"] for entry in entries} <= set(objects)


def test_a_kernel_is_compiled_again_when_its_sources_change(project, installed: Path) -> None:
    app = project("find_package", CMAKE_PREFIX_PATH=str(installed))
    succeed(app.configure())
    succeed(app.make("digits"))
    before = _kernel_objects(app)
    kernels = installed / "share/CortexMModel/kernels"
    touch(kernels / "src/activation/softmax_reciprocal.h")
    succeed(app.make("digits"))
    after = _kernel_objects(app)
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"cortexm_softmax_s8_scalar"}
    touch(kernels / "include/cortexm/kernels.h")  # which all of them include
    assert "no work to do" not in app.plan()
    succeed(app.make("digits"))
    assert all(stamp != after[name] for name, stamp in _kernel_objects(app).items())
    # A project's own flags reach the kernels; those that another model calls come beside the rest.
    succeed(app.configure(CMAKE_C_FLAGS="-DSOMETHING", OPTIONS="IO;int8"))
    succeed(app.make("digits"))
    fewer = json.loads((app.build / "cortexm/digits/digits.report.json").read_text())["kernels"]
    archive = run("ar", "t", str(app.build / "libcortexm_model_kernels.a")).stdout.split()
    assert {f"cortexm_{Path(name).name.partition('.')[0]}" for name in archive} == {
        *fewer,
        "cortexm_kernels",  # the list itself
    }
    assert len(fewer) < len(before)


def test_several_configurations_at_once_take_the_whole_library(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    app.generator = "Ninja Multi-Config"
    succeed(app.configure())
    release = ("-f", "build-Release.ninja")
    plan = run("ninja", "-C", str(app.build), *release, "-n", "digits").stdout
    assert "libcortexm_kernels.a" in plan and "libcortexm_model_kernels.a" not in plan


def test_another_version_below_the_tools_rebuilds(built: Project) -> None:
    versions = built.build / "cortexm" / "digits" / "environment.txt"
    assert "numpy" in versions.read_text()
    versions.write_text(versions.read_text().replace("numpy", "numpy 0.0 was"))
    touch(versions)
    assert "Compiling own.pte" in succeed(built.make())
    # Configuring states the true versions again.
    succeed(built.configure())
    assert "Compiling own.pte" in succeed(built.make())
    assert "Compiling own.pte" not in succeed(built.make())


def test_generated_file_deleted_comes_back(built: Project) -> None:
    if built.generator != "Ninja":
        return  # Make knows byproducts only as files to clean
    (built.build / "cortexm" / "digits" / "digits.c").unlink()
    assert "Compiling own.pte" in succeed(built.make())
    assert (built.build / "cortexm" / "digits" / "digits.c").is_file()


def test_model_file_with_import_weights_and_calibration(project, tmp_path: Path) -> None:
    import numpy as np

    folder = tmp_path / "model of mine"
    folder.mkdir()
    (folder / "net.py").write_text(MODEL_FILE)
    (folder / "blocks.py").write_text(BLOCK_FILE)
    np.save(folder / "weights.npy", np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8))
    app = project(
        "find_package", CortexMModel_DIR=str(ROOT / "cmake"), MODEL=str(folder / "net.py")
    )
    sizes = app.source / "shared" / "sizes.py"  # of the project, as on the command line there
    sizes.parent.mkdir()
    sizes.write_text("INPUTS = 8\n")
    succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
    said = succeed(app.make("digits"))
    assert "Lowering net.py for cortex-m55 (torch export, int8 quantization)" in said
    assert "no work to do" in run("ninja", "-C", str(app.build), "-n", "digits").stdout
    for file in (folder / "net.py", folder / "blocks.py", folder / "weights.npy", sizes):
        before = file.stat()
        touch(file)
        assert "Lowering net.py" in app.plan(), file
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "no work to do" in run("ninja", "-C", str(app.build), "-n", "digits").stdout
