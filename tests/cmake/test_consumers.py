# SPDX-License-Identifier: Apache-2.0
"""One mini-project per way of using the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cmake.projects import MODEL, ROOT, emulate, environment, refuse, run, succeed
from tests.support.warnings import GCC


def test_installed_tree_for_a_board_in_a_path_with_spaces(project, installed: Path) -> None:
    options = {"CMAKE_PREFIX_PATH": str(installed), "OPTIONS": "REGIONS;board;REPORT;html"}
    app = project("find_package", "a project", **options)
    succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
    said = succeed(app.make())
    assert "Compiling digits.pte for cortex-m55" in said
    assert "digits: flash" in said and "digits: RAM" in said
    assert not set("\r\x1b") & set(said), "a log has plain lines alone"
    assert "in dtcm (fast)" in said and "in ddr4 (weights)" in said
    assert "ran, sum" in emulate("mps3-an547", app.build / "app.elf")
    # The page has what the trial link measured, and is not written again in vain.
    page = (app.build / "cortexm/digits/digits.report.html").read_text(encoding="utf-8")
    stack = json.loads((app.build / "cortexm/digits/digits.footprint.json").read_text())["stack"]
    assert f"{stack:,} B" in page and "memory for fast" in page
    assert "no work to do" in app.plan()
    # The tools came from the installed tree, not from the checkout.
    assert str(installed) in (app.build / "build.ninja").read_text().replace("$ ", " ")
    assert str(ROOT / "python") not in (app.build / "build.ninja").read_text()


def test_installed_tree_in_a_folder_whose_name_is_a_pattern(
    project, installed: Path, tmp_path: Path
) -> None:
    prefix = tmp_path / "in[s]" / "prefix"
    shutil.copytree(installed, prefix)
    app = project("find_package", CMAKE_PREFIX_PATH=str(prefix))
    app.generator = "Unix Makefiles"
    succeed(app.configure(CORTEXM_BOARD="mps2-an386"))
    (rules,) = app.build.rglob("digits-sources.dir/build.make")
    assert f"{prefix}/share/CortexMModel/python/cortexm_tools/compile.py" in rules.read_text()
    succeed(app.make("digits"))


# What people set for all their targets, with every CMAKE_BUILD_TYPE.
FLAGS = {
    "microbit": {"CMAKE_BUILD_TYPE": "MinSizeRel"},
    "mps2-an385": {"CMAKE_C_FLAGS": f"-flto {' '.join(GCC)}"},
    "mps2-an386": {"CMAKE_BUILD_TYPE": "Debug", "CMAKE_C_FLAGS": "-mfloat-abi=softfp"},
    "mps2-an500": {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_UNITY_BUILD": "ON",
        "CMAKE_INTERPROCEDURAL_OPTIMIZATION": "ON",
    },
    "mps2-an505": {"CMAKE_BUILD_TYPE": "Sanitized", "CMAKE_C_FLAGS": "-fstack-protector-all"},
    "mps3-an547": {"CMAKE_BUILD_TYPE": "Release", "CORTEXM_FLOAT_ABI": "soft"},
}


@pytest.mark.parametrize("board", FLAGS)
def test_every_board_with_flags(project, board: str) -> None:
    options = "OPTIMIZE;size" if board == "microbit" else ""
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), OPTIONS=options)
    succeed(app.configure(CORTEXM_BOARD=board, **FLAGS[board]))
    succeed(app.make("app"))
    report = json.loads((app.build / "cortexm/digits/digits.report.json").read_text())
    assert report["optimize"] == ("size" if options else "balanced")
    library = "cortexm_model_kernels_size" if options else "cortexm_model_kernels"
    assert (app.build / f"lib{library}.a").is_file()
    if board == "mps3-an547":  # no MVE without registers for floats
        assert report["target"]["isa"] == "dsp", report["target"]
    # The model is measured as ever: with its arena, and with a bound on its stack.
    sizes = json.loads((app.build / "cortexm/digits/digits.footprint.json").read_text())
    assert sizes["arena"] == report["arena_bytes"] and 10_000 < sizes["flash"] < 30_000
    assert 100 < sizes["stack"] <= 1024, sizes["stack_note"]
    # What a project says about its targets reaches the application, and the core stays selected.
    commands = (app.build / "build.ninja").read_text()
    for flag in ("-flto", "-mfloat-abi=softfp", "-fstack-protector-all"):
        assert (flag in commands) == (flag in str(FLAGS[board])) or board == "mps2-an500"
    assert f"-mcpu={report['target']['cpu']}" in commands
    assert "ran, sum" in emulate(board, app.build / "app.elf")


def test_a_core_is_selected_once(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    app.source.joinpath("CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\n"
        "find_package(CortexMModel REQUIRED)\n"
        "project(consumer C)\n"
        'set(CMAKE_C_FLAGS "-mfloat-abi=soft")\n'
        "cortexm_add_model(${MODEL} TARGET digits)\n"
    )
    said = refuse(app.configure(CORTEXM_BOARD="mps2-an386"))
    assert "is called with -mfloat-abi=hard and -mfloat-abi=soft" in said
    assert "hint: give CORTEXM_CPU, CORTEXM_ISA and CORTEXM_FLOAT_ABI" in said


@pytest.mark.parametrize("board", ["", "mps2-an386"])
def test_application_in_cxx_alone(project, board: str) -> None:
    app = project("cxx", CortexMModel_DIR=str(ROOT / "cmake"))
    flags = {"CORTEXM_BOARD": board, "CMAKE_CXX_FLAGS": "-flto", "CMAKE_UNITY_BUILD": "ON"}
    succeed(app.configure(**(flags if board else {})))
    succeed(app.make("app"))
    if board:
        assert "ran, sum" in emulate(board, app.build / "app.elf")
    else:
        assert "ran, sum" in succeed(run(str(app.build / "app")))


def test_add_subdirectory_with_makefiles(project) -> None:
    app = project("add_subdirectory", ROOT=str(ROOT))
    project("find_package")  # its main.c
    app.generator = "Unix Makefiles"
    succeed(app.configure())
    succeed(app.make())
    assert "ran, sum" in succeed(run(str(app.build / "app" / "app")))


@pytest.mark.xdist_group("wheel")
def test_wheel_through_cmake_dir(project, wheel: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cortexm_tools", "cmake-dir"],
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=str(wheel)),
    )
    folder = succeed(done).strip()
    assert Path(folder).is_relative_to(wheel)
    assert (wheel / "cortexm_tools/report/templates/page.html").is_file()
    # Either way the same package is found, and so the same is built.
    plans = []
    for variable in ("CortexMModel_DIR", "CMAKE_PREFIX_PATH"):
        app = project("find_package", variable, **{variable: folder})
        succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
        commands = run("ninja", "-C", str(app.build), "-t", "commands", "app").stdout
        assert str(wheel) in commands
        commands = commands.replace(str(app.source.parent), "project")
        plans.append(re.sub(r"\b[0-9a-f]{64}\.d\b", "path.d", commands))
    assert plans[0] == plans[1]
    succeed(app.make("app"))
    assert "ran, sum" in emulate("mps3-an547", app.build / "app.elf")


@pytest.mark.xdist_group("wheel")
def test_wheel_through_scikit_build_core(project, wheel: Path) -> None:
    consumer = project("scikit_build")
    for source, name in (
        (MODEL, "digits.pte"),
        (ROOT / "tests/cmake/find_package/main.c", "main.c"),
    ):
        (consumer.source / name).write_bytes(source.read_bytes())
    out = consumer.source / "out"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(out)]
        + ["--disable-pip-version-check", str(consumer.source)],
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=str(wheel), CMAKE_ARGS=f"-DCORTEXM_PYTHON={sys.executable}"),
    )
    succeed(done)
    (built,) = out.glob("consumer-*.whl")
    with zipfile.ZipFile(built) as archive:
        app = Path(archive.extract("consumer/app", out))
    app.chmod(0o755)
    assert "ran, sum" in succeed(run(str(app)))


@pytest.mark.xdist_group("wheel")
def test_wheel_is_complete_and_holds_no_caches(wheel: Path) -> None:
    share = wheel / "cortexm_tools" / "share" / "CortexMModel"
    for original, copy, pattern in (
        (ROOT / "python" / "cortexm_tools", wheel / "cortexm_tools", "*.py"),
        (ROOT / "kernels", share / "kernels", "*.[chj]*"),
        (ROOT / "runtime", share / "runtime", "*.c"),
        (ROOT / "boards", share / "boards", "*.ld"),
        (ROOT / "cmake", share / "cmake", "*.*"),
    ):
        wanted = {
            p.relative_to(original) for p in original.rglob(pattern) if "__" not in p.parent.name
        }
        assert wanted <= {p.relative_to(copy) for p in copy.rglob(pattern)}, original
    assert not [path for path in share.rglob("*") if path.name.startswith(".")]


@pytest.mark.parametrize("board", ["", "mps3-an547", "mps2-an385"])
def test_two_models_share_an_arena(project, board: str) -> None:
    app = project("two_models", CortexMModel_DIR=str(ROOT / "cmake"))
    succeed(app.configure(**({"CORTEXM_BOARD": board} if board else {})))
    succeed(app.make())
    # The common arena is that of the larger of the two: the one with float inputs and outputs.
    sizes = [json.loads(path.read_text()) for path in app.build.rglob("*.footprint.json")]
    third, fourth = (
        json.loads((app.build / f"cortexm/{name}/{name}.report.json").read_text())["arena_bytes"]
        for name in ("third", "fourth")
    )
    assert fourth < third or not board
    used = {(entry["arena"], entry["shared_arena"]) for entry in sizes}
    if not board:
        assert used == {(0, 0), (third, third)}
    else:  # in each of two memories
        whole = max(shared for _, shared in used)
        assert used == {(0, 0), (third, whole), (fourth, whole)}
        assert third <= whole < third + fourth and fourth <= 3400
        names = succeed(run("arm-none-eabi-nm", str(app.build / "app.elf")))
        assert "cortexm_arena_shared__dtcm" in names and "own_arena" not in names
    # The header has the bound before the application is compiled, and the description has it.
    first = json.loads((app.build / "cortexm/first/first.footprint.json").read_text())["stack"]
    header = (app.build / "cortexm/first/measured/first_stack.h").read_text()
    assert (f"#define FIRST_STACK_SIZE {first}\n" in header) == bool(board)
    if board:
        assert all(0 < entry["stack"] <= 1024 for entry in sizes), sizes
        assert f"both ran, stack {first}\n" in emulate(board, app.build / "app.elf")
    else:
        assert "both ran, stack 1024\n" in succeed(run(str(app.build / "app")))
    assert "no work to do" in app.plan()


def test_any_file_name(project) -> None:
    """The target and the name in C follow from it; what is not simply the file's is said."""
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    files = {
        "case": "model_case",
        "my-net": "my-net",
        "our net": "our_net",
        "3d": "model_3d",
        "test": "model_test",
        "m": "model_m",
    }
    listing = app.source / "CMakeLists.txt"
    text = listing.read_text() + "enable_testing()\n"
    for stem in files:
        shutil.copy(MODEL, app.source / f"{stem}.pte")
        text += f"cortexm_add_model([[{stem}.pte]])\n"
    listing.write_text(text)
    said = succeed(app.configure())
    assert "the model in case.pte is called model_case, since 'case' is a word of C or its" in said
    assert "the model in m.pte is called model_m, since 'm' is a word of CMake" in said
    assert "my-net.pte" not in said and "our net.pte" not in said
    said = succeed(app.make(*files.values()))
    assert "model_case: flash" in said and "our_net: flash" in said


def test_own_toolchain_without_a_board(project, tmp_path: Path) -> None:
    """A project with flags of its own names the core in the call; only the library is built."""
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text(
        "set(CMAKE_SYSTEM_NAME Generic)\n"
        "set(CMAKE_SYSTEM_PROCESSOR arm)\n"
        "set(CMAKE_C_COMPILER arm-none-eabi-gcc)\n"
        "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n"
        'set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")\n'
    )
    app = project(
        "find_package",
        CortexMModel_DIR=str(ROOT / "cmake"),
        CMAKE_TOOLCHAIN_FILE=str(toolchain),
        OPTIONS="CPU;cortex-m4",
    )
    succeed(app.configure())
    assert "digits: flash" in succeed(app.make("digits"))


def test_the_readmes_own_project(tmp_path: Path) -> None:
    """As it is typed, but with a program in place of model.py, which takes PyTorch a while."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Use it\n")[2]
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", section.partition("\n## ")[0], re.M | re.S))
    shutil.copy(MODEL, tmp_path / "model.pte")
    (tmp_path / "CMakeLists.txt").write_text(blocks["cmake"].replace("model.py", "model.pte"))
    (tmp_path / "main.c").write_text(blocks["c"])
    (typed,) = re.findall(r"^```\n(cmake -B .*?)^```$", section, re.M | re.S)
    tools = {
        "PYTHONPATH": str(ROOT / "python"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    script = ["bash", "-e", "-c", f"cd '{tmp_path}'\n{typed}"]
    done = subprocess.run(script, capture_output=True, text=True, env=environment(**tools))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model: flash" in done.stdout and "warning" not in done.stderr
