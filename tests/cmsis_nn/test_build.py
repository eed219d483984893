# SPDX-License-Identifier: Apache-2.0
"""KERNELS cmsis-nn in projects that have a checkout, or the target cmsis-nn itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cmake.projects import HERE, MODEL, ROOT, Project, emulate, succeed

OWN_TARGET = """
add_subdirectory("{checkout}" cmsis-nn)
cortexm_add_model("""


@pytest.mark.parametrize("way", ["CMSIS_NN_ROOT", "the project's own target"])
def test_projects(checkout: Path, way: str, tmp_path: Path) -> None:
    shutil.copytree(HERE / "find_package", tmp_path / "source")
    listing = tmp_path / "source" / "CMakeLists.txt"
    definitions = {
        "MODEL": str(MODEL),
        "CortexMModel_DIR": str(ROOT / "cmake"),
        "OPTIONS": "KERNELS;cmsis-nn",
        "CORTEXM_BOARD": "mps3-an547",
    }
    if way == "CMSIS_NN_ROOT":
        definitions["CMSIS_NN_ROOT"] = str(checkout)
    else:
        text = listing.read_text()
        own = OWN_TARGET.format(checkout=checkout)
        listing.write_text(text.replace("\ncortexm_add_model(", own, 1))
    app = Project(tmp_path / "source", tmp_path / "build", definitions)
    succeed(app.configure())
    said = succeed(app.make())
    assert "cmsis-nn computes" in said and "digits: flash" in said
    report = json.loads((app.build / "cortexm/digits/digits.report.json").read_text())
    assert report["libraries"] == ["builtin", "cmsis-nn"]
    assert all(
        layer["library"] == "cmsis-nn"
        for layer in report["layers"]
        if layer["operator"] == "conv2d"
    )
    ours = Project(tmp_path / "source", tmp_path / "ours", definitions | {"OPTIONS": ""})
    succeed(ours.configure())
    succeed(ours.make())
    images = [folder / "app.elf" for folder in (app.build, ours.build)]
    sums = [emulate("mps3-an547", image) for image in images]
    assert "ran, sum" in sums[0] and sums[0] == sums[1]
    assert "no work to do" in succeed(app.make())
