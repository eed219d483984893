# SPDX-License-Identifier: Apache-2.0
"""Exports: complete, minimal, equal each time, and what they build gives the reference's bytes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import zipfile
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from cortexm_tools import compile_model
from cortexm_tools.cli import main
from cortexm_tools.errors import CortexMError
from cortexm_tools.export import FORMATS, export_files, write_export
from cortexm_tools.export.includes import Kernel
from cortexm_tools.export.sources import _add_headers
from cortexm_tools.kernels.rows import expand, source, written
from cortexm_tools.run.image import require_program
from cortexm_tools.target import CORES, Target
from cortexm_tools.version import __version__

from tests.cmake.projects import MODEL, ROOT, emulate
from tests.support.warnings import COMMON

GCC = "arm-none-eabi-gcc"
CXX = ("-Wall", "-Wextra", "-Werror")

M4 = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
OTHER = ROOT / "tests" / "data" / "states" / "frames.pte"

# Of an application of the test: one inference on zeros, the outputs' bytes in hexadecimal.
RUN = r"""
#include <stdio.h>
#include <string.h>
static int run(const cortexm_model_t *model)
{
    if (cortexm_init(model, NULL, 0) != CORTEXM_OK) { return 1; }
    const cortexm_tensor_t in = cortexm_input(model, NULL, 0);
    memset(in.data, 0, in.info->size);
    if (cortexm_invoke(model, NULL) != CORTEXM_OK) { return 2; }
    const cortexm_tensor_t out = cortexm_output(model, NULL, 0);
    for (size_t i = 0; i < out.info->size; i++) {
        printf("%02x", ((const unsigned char *)out.data)[i]);
    }
    printf("\n");
    return 0;
}
"""


def application(*names: str) -> str:
    """The test's application of these models."""
    headers = "".join(f"#include <{name}.h>\n" for name in names)
    calls = " + ".join(f"run(&{name})" for name in names)
    return f"{headers}{RUN}int main(void) {{ return {calls}; }}\n"


@cache
def model(cpu: str, weights: str = "linked", file: Path = MODEL):
    return compile_model(file, cpu=cpu, weights=weights)


@cache
def expected(cpu: str, file: Path = MODEL) -> str:
    """What the reference gives for zeros."""
    compiled = model(cpu, file=file)
    (index,) = compiled.compiled.plan.graph.inputs
    shape = compiled.compiled.plan.graph.tensors[index].shape
    (out,) = compiled(np.zeros(shape, np.float32))
    return out.tobytes().hex()


def exported(folder: Path, kind: str, cpu: str, *, url: str = "", weights: str = "linked") -> Path:
    """The folder of an export, with the test's application beside it."""
    write_export(folder / "digits", export_files([model(cpu, weights).compiled], kind, url))
    (folder / "check.c").write_text(application("digits"))
    return folder / "digits"


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def on_board(board: str, core: list[str], include: Path, objects: list[Path], work: Path) -> str:
    """Links objects with the test's application and a board's start-up code, and runs that."""
    boards = ROOT / "boards"
    start = [boards / "common" / f for f in ("startup.c", "semihosting.c", "board_measure.c")]
    clock = json.loads((boards / board / "board.json").read_text())["clock_hz"]
    run(
        GCC, *core, "--specs=nano.specs", "-Os", f"-DBOARD_CLOCK_HZ={clock}U",
        f"-I{boards / 'include'}", f"-I{include}", *start, work / "check.c", *objects,
        "-nostartfiles", "-Wl,--gc-sections", "-Wl,--no-enum-size-warning",
        f"-L{boards / 'common'}", f"-T{boards / board / 'memory.ld'}",
        "-lm", "-o", work / "check.elf",
    )  # fmt: skip
    return emulate(board, work / "check.elf").strip()


def load(image: Path) -> str:
    """The test's application for weights in an image of their own, which it reads from a file."""
    before, init, after = application("digits").partition("    if (cortexm_init(")
    return f"""{before}
    static uint8_t image[1 << 16] __attribute__((aligned(16)));
    FILE *file = fopen("{image}", "rb");
    if (cortexm_init(&digits, NULL, 0) != CORTEXM_ERR_NO_WEIGHTS || file == NULL) {{ return 4; }}
    size_t size = fread(image, 1, sizeof image, file);
    if (size != digits_weights.size) {{ return 5; }}
    if (cortexm_load_weights(&digits_weights, image, size) != CORTEXM_OK) {{ return 6; }}
{init}{after}"""


@pytest.mark.parametrize("compiler", ["gcc", "gcc -O0", "clang"])
def test_folder_compiles_with_one_command(compiler: str, tmp_path: Path) -> None:
    folder = exported(tmp_path, "folder", "cortex-m55")
    readme = (folder / "README.md").read_text()
    if compiler.startswith("gcc"):
        command = ["arm-none-eabi-gcc", "@core.txt", "@sources.txt", "-c"]
        more = compiler.split()[1:]  # what comes last counts
    else:
        command = ["clang", "--target=arm-none-eabi", "@core.txt", "@sources.txt", "-c"]
        more = ["-isystem", "/usr/include/newlib"]
    require_program(command[0])
    assert " ".join(command) + "\n" in readme
    assert run(*command, *more, *COMMON, cwd=folder) == ""
    core = (folder / "core.txt").read_text().split()
    objects = sorted(folder.glob("*.o"))
    assert on_board("mps3-an547", core, folder / "src", objects, tmp_path) == expected("cortex-m55")


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "any"])
def test_every_file_is_there_and_needed(cpu: str, tmp_path: Path) -> None:
    folder = exported(tmp_path, "folder", cpu)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == 2 and manifest["target"]["cpu"] == cpu
    report = model(cpu).report
    (sizes,) = manifest["models"]
    assert sizes["ram_bytes"] == report["arena_bytes"]
    assert sizes["constants_bytes"] == report["constants_bytes"] and sizes["stack_bytes"] == 1024
    paths = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert set(manifest["files"]) == paths - {"manifest.json"}
    for path, digest in manifest["files"].items():
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() == digest
    listed = {w for w in (folder / "sources.txt").read_text().split() if w.endswith(".c")}
    assert listed == {path for path in paths if path.startswith("src/") and path.endswith(".c")}
    # The compiler reads every header of the export for some file, and none from elsewhere.
    words = (folder / "sources.txt").read_text().split()
    text = run(GCC, "@core.txt", *words, "-MM", cwd=folder)
    read = {os.path.normpath(w) for w in text.replace("\\\n", " ").split() if w.startswith("src/")}
    assert {path for path in paths if path.startswith("src/")} == read
    kernels = {Path(path).stem for path in listed if path.startswith("src/kernels/")}
    assert {f"cortexm_{name}" for name in kernels} == set(report["kernels"])


@pytest.mark.parametrize(
    ("cpu", "isas"),
    [("cortex-m55", ("mve", "scalar")), ("cortex-m4", ("dsp", "v7m")), ("cortex-m0", ("v6m",))],
)
def test_what_kernels_include_is_found(cpu: str, isas: tuple[str, ...], tmp_path: Path) -> None:
    """Of a kernel of each template: an export has what the compiler reads."""
    kernels = ROOT / "kernels"
    table = json.loads((kernels / "kernels.json").read_text(encoding="utf-8"))
    target = Target.parse(cpu)
    rows = [row for row in expand(table["kernels"]) if row["isa"] in isas]
    chosen = {(row["isa"], written(row)): row for row in rows}
    places = [kernels / "src", kernels / "include"]
    includes = [f"-I{place}" for place in places]
    command = [GCC, *CORES[target.core].flags[target.isa], *includes, "-MM"]

    def missing(row: dict[str, Any]) -> set[str]:
        path = source(row, table, kernels, tmp_path)
        kernel, found = Kernel.of(row), dict[str, str]()
        _add_headers(found, [(file, kernel) for file in kernel.included(path.read_text())], places)
        read = run(*command, path).replace("\\\n", " ").split()[2:]
        ours = (Path(os.path.normpath(word)) for word in read if not word.startswith(str(tmp_path)))
        names = {
            str(path.relative_to(next(p for p in places if p in path.parents))) for path in ours
        }
        return {f"src/{name}" for name in names} - found.keys()

    assert len(chosen) > 20 and not {
        row["name"]: m for row in chosen.values() if (m := missing(row))
    }


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_export_twice(kind: str, tmp_path: Path) -> None:
    compiled = model("cortex-m55").compiled
    files = export_files([compiled], kind)
    assert list(files.items()) == list(export_files([compile_again().compiled], kind).items())
    text = "\n".join(text for text in files.values() if isinstance(text, str))
    assert str(ROOT) not in text and "/work" not in text
    # Over an export of another kind: what that had and this has not is removed.
    write_export(tmp_path, export_files([compiled], "zephyr"))
    write_export(tmp_path, files)
    assert {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()} == set(files)


@cache
def compile_again():
    return compile_model(MODEL, cpu="cortex-m55")


def test_cmake_and_zephyr_build(tmp_path: Path) -> None:
    """For CPU any, and so for this machine. Of Zephyr's functions there are stand-ins."""
    require_program("cmake")
    for kind, weights, listing in (
        ("cmake", "linked", "add_subdirectory(digits)\nset(library digits)\n"),
        ("cmake", "partition", "add_subdirectory(digits)\nset(library digits)\n"),
        (
            "zephyr",
            "linked",
            "set(CONFIG_MODEL_digits y)\n"
            "macro(zephyr_include_directories)\n  include_directories(${ARGN})\nendmacro()\n"
            "macro(zephyr_library_named name)\n  add_library(${name} STATIC)\n"
            "  set(library ${name})\nendmacro()\n"
            "macro(zephyr_library_sources)\n  target_sources(${library} PRIVATE ${ARGN})\nendmacro()\n"
            "include(digits/zephyr/CMakeLists.txt)\n",
        ),
    ):
        work = tmp_path / f"{kind}-{weights}"
        folder = exported(work, kind, "any", weights=weights)
        if weights == "partition":
            (work / "check.c").write_text(load(folder / "weights" / "digits.weights.bin"))
        (work / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(app C)\n"
            f"{listing}"
            "add_executable(app check.c)\ntarget_link_libraries(app PRIVATE ${library} m)\n"
        )
        run("cmake", "-G", "Ninja", "-S", work, "-B", work / "b", "-DCMAKE_C_FLAGS=-Wall -Wextra")
        said = run("cmake", "--build", work / "b", "-j", "2", "-v")
        assert "warning" not in said and "-ffp-contract=off" in said and "-fwrapv" in said
        assert run(work / "b" / "app").strip() == expected("any")
    module = yaml.safe_load((folder / "zephyr" / "module.yml").read_text())
    assert module["build"] == {"cmake": "zephyr", "kconfig": "zephyr/Kconfig"}
    assert "config MODEL_digits\n" in (folder / module["build"]["kconfig"]).read_text()
    assert (folder / "example" / "prj.conf").read_text() == "CONFIG_MODEL_digits=y\n"


def test_cmsis_pack(tmp_path: Path) -> None:
    """By the rules of the Pack Description format: its schema is in no package of PyPI or Debian."""
    folder = exported(tmp_path, "cmsis-pack", "cortex-m0plus")
    names = {path.name for path in folder.iterdir()}
    pack = f"CortexMModel.digits.{__version__}.pack"
    assert {"CortexMModel.digits.pdsc", pack, "LICENSE"} <= names
    with zipfile.ZipFile(io.BytesIO((folder / pack).read_bytes())) as archive:
        archive.extractall(tmp_path / "pack")
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    package = ElementTree.parse(tmp_path / "pack" / "CortexMModel.digits.pdsc").getroot()
    assert package.tag == "package" and re.fullmatch(r"\d+\.\d+\.\d+", package.get("schemaVersion"))
    # Obligatory, once each, vendor and name as in the names of the files.
    for tag in ("vendor", "name", "description", "url", "license", "releases", "components"):
        assert len(package.findall(tag)) == 1, tag
    assert (package.findtext("vendor"), package.findtext("name")) == ("CortexMModel", "digits")
    release = package.find("releases/release")
    assert release is not None and release.get("version") == __version__
    (component,) = package.findall("components/component")
    assert {"Cclass", "Cgroup", "Csub", "Cversion"} <= set(component.keys())
    for key in ("Cclass", "Cgroup", "Csub"):
        assert 3 <= len(component.get(key)) <= 32
    (condition,) = package.findall("conditions/condition")
    assert condition.get("id") == component.get("condition")
    assert condition.find("require").get("Dcore") == "Cortex-M0+"
    files = component.findall("files/file")
    places = {entry.get("name"): entry.get("category") for entry in files}
    assert set(places.values()) <= {"source", "header", "include", "doc", "other"}
    root = tmp_path / "pack"
    for name, category in places.items():
        assert (root / name).is_dir() if category == "include" else (root / name).is_file(), name
        assert (category == "include") == name.endswith("/")
    assert (root / package.findtext("license")).is_file()
    # It compiles without options of its own, and its pragmas count: nothing is fused.
    units = [root / name for name, category in places.items() if category == "source"]
    core = ["-mcpu=cortex-m0plus", "-mthumb"]
    (root / "o").mkdir()
    run(GCC, *core, "-std=gnu11", *COMMON, "-c", *units, cwd=root / "o")
    objects = sorted((root / "o").glob("*.o"))
    assert on_board("mps2-an385", core, root / "src", objects, tmp_path) == expected(
        "cortex-m0plus"
    )


def test_pack_descriptions_follow_the_schema(tmp_path: Path) -> None:
    schema = os.environ.get("PACK_XSD")
    if schema is None or shutil.which("xmllint") is None:
        pytest.skip("PACK_XSD does not name the schema of docs/export.md, or there is no xmllint")
    for cpu, more in (("cortex-m55", {}), ("any", {"url": "https://example.com/a?b&c"})):
        folder = exported(tmp_path / cpu, "cmsis-pack", cpu, **more)
        run("xmllint", "--noout", "--schema", schema, folder / "CortexMModel.digits.pdsc")


def test_arduino(tmp_path: Path) -> None:
    """By Arduino's library specification: library.properties, sources below src/, examples/."""
    folder = exported(tmp_path, "arduino", "cortex-m4", url="https://example.com/digits")
    lines = (folder / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    assert {
        "name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
        "architectures",
    } <= set(fields)  # fmt: skip
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", fields["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["version"]) and fields["sentence"].endswith(".")
    assert fields["category"] == "Data Processing"  # one of the nine there are
    assert fields["url"] == "https://example.com/digits"
    assert fields["includes"] == "digits.h" and (folder / "src/digits.h").is_file()
    # A sketch has the name of its folder; Arduino puts its header and prototypes in front.
    (sketch,) = folder.glob("examples/*/*.ino")
    assert sketch.stem == sketch.parent.name
    (tmp_path / "Arduino.h").write_text(
        "struct port { void begin(long); void println(const char *); };\nextern port Serial;\n"
    )
    run(
        "arm-none-eabi-g++", *M4, *CXX, "-fsyntax-only", "-x", "c++", f"-I{folder / 'src'}",
        f"-I{tmp_path}", "-include", "Arduino.h", sketch,
    )  # fmt: skip
    # As its builder does: every file below src/ by itself, -Os, no options of the library's.
    units = sorted((folder / "src").rglob("*.c"))
    work = tmp_path / "o"
    work.mkdir()
    run(GCC, *M4, "-std=gnu11", "-Os", *COMMON, "-c", *units, cwd=work)
    said = on_board("mps2-an386", M4, folder / "src", sorted(work.glob("*.o")), tmp_path)
    assert said == expected("cortex-m4")


def test_arduinos_builder_finds_and_builds_it(tmp_path: Path) -> None:
    """With a platform of the test's: the emulated board, with what stands in for Arduino's core."""
    if shutil.which("arduino-builder") is None:
        pytest.skip("Debian's package arduino-builder is not installed")
    folder = exported(tmp_path / "libraries", "arduino", "cortex-m4")
    assert "url=" not in (folder / "library.properties").read_text()
    platform = tmp_path / "hardware" / "boards" / "arm"
    core = platform / "cores" / "core"
    core.mkdir(parents=True)
    boards = ROOT / "boards"
    for file in ("startup.c", "semihosting.c", "board_measure.c", "board_internal.h"):
        shutil.copy(boards / "common" / file, core)
    shutil.copy(boards / "include" / "cortexm_board.h", core)
    (core / "Arduino.h").write_text("void setup(void);\nvoid loop(void);\n")
    (core / "main.cpp").write_text('#include "Arduino.h"\nint main(void) { setup(); }\n')
    (platform / "boards.txt").write_text(
        "an386.name=AN386\nan386.build.board=AN386\nan386.build.core=core\n"
    )
    clock = json.loads((boards / "mps2-an386" / "board.json").read_text())["clock_hz"]
    flags = " ".join(M4)
    compile_ = f"{flags} -Os {' '.join(CXX)} -DBOARD_CLOCK_HZ={clock}U {{includes}}"
    ends = '"{source_file}" -o "{object_file}"'
    script = f"-L{boards / 'common'} -T{boards / 'mps2-an386' / 'memory.ld'}"
    (platform / "platform.txt").write_text(
        f"""name=boards
version=1.0.0
recipe.c.o.pattern={GCC} -c -std=gnu11 {compile_} {ends}
recipe.cpp.o.pattern=arm-none-eabi-g++ -c {compile_} {ends}
recipe.ar.pattern=arm-none-eabi-ar rcs "{{archive_file_path}}" "{{object_file}}"
recipe.c.combine.pattern={GCC} {flags} -nostartfiles --specs=nano.specs -Wl,--gc-sections \
-Wl,--no-enum-size-warning {script} {{object_files}} "{{archive_file_path}}" -lm \
-o "{{build.path}}/{{build.project_name}}.elf"
recipe.preproc.macros=arm-none-eabi-g++ -w -x c++ -E -CC {flags} {{includes}} "{{source_file}}" \
-o "{{preprocessed_file_path}}"
tools.ctags.pattern=arduino-ctags -u --language-force=c++ -f - --c++-kinds=svpf --fields=KSTtzns \
--line-directives "{{source_file}}"
""".replace("\\\n", "")
    )
    sketch = tmp_path / "check" / "check.ino"
    sketch.parent.mkdir()
    # The builder writes the prototype of check(), and finds the library by its header.
    headers, code, main_ = application("digits").partition(RUN)
    check = main_.replace("int main(", "int check(")
    sketch.write_text(f"{headers}void setup() {{ check(); }}\nvoid loop() {{}}\n{code}{check}")
    for name in ("tools", "build"):
        (tmp_path / name).mkdir()
    run(
        "arduino-builder", "-compile", "-hardware", tmp_path / "hardware", "-tools",
        tmp_path / "tools", "-libraries", tmp_path / "libraries", "-fqbn", "boards:arm:an386",
        "-build-path", tmp_path / "build", sketch,
    )  # fmt: skip
    said = emulate("mps2-an386", tmp_path / "build" / "check.ino.elf")
    assert said.strip() == expected("cortex-m4")


def test_names_that_a_format_has_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, kind in (("loop", "arduino"), ("Serial", "platformio"), ("test", "cmake")):
        file = tmp_path / f"{name}.pte"
        file.write_bytes(MODEL.read_bytes())
        words = ["export", str(file), "--format", kind, "--out", str(tmp_path / name)]
        assert main([*words, "--name", name]) == 1
        assert f"use --name model_{name}" in capsys.readouterr().err
        assert main(words) == 0
        assert (tmp_path / name / "src" / f"model_{name}.c").is_file()


def test_platformio(tmp_path: Path) -> None:
    folder = exported(tmp_path, "platformio", "cortex-m4")
    data = json.loads((folder / "library.json").read_text())
    assert {"name", "version", "description", "keywords", "license"} <= set(data)
    assert all((folder / "src" / header).is_file() for header in data["headers"])
    for example in data["examples"]:
        assert all((folder / example["base"] / file).is_file() for file in example["files"])
    build = data["build"]
    assert {"-fwrapv", "-ffp-contract=off"} <= set(build["flags"])
    units = sorted((folder / build["srcDir"]).rglob("*.c"))
    run(GCC, *M4, "-Os", *build["flags"], *COMMON, "-fsyntax-only", *units)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", str(MODEL), "--cpu", "cortex-m4"]
    assert main([*words, "--out", str(tmp_path / "x"), "--format", "cmake"]) == 0
    assert f"files for cmake to {tmp_path / 'x'}" in capsys.readouterr().out
    assert (tmp_path / "x" / "CMakeLists.txt").is_file()
    # Again, over itself; but not over what somebody else has there.
    assert main([*words, "--out", str(tmp_path / "x"), "--quiet"]) == 0
    assert not (tmp_path / "x" / "CMakeLists.txt").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.c").write_text("")
    assert main([*words, "--out", str(tmp_path / "full")]) == 1
    assert "the folder is not empty, and not an export" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.c"]
    with pytest.raises(SystemExit):
        main([*words, "--url", "digits", "--out", str(tmp_path / "y")])
    assert "'digits' is no address" in capsys.readouterr().err
    assert main([*words[:2], "--cpu", "host", "--out", str(tmp_path / "y")]) == 1
    assert "an export is for a Cortex-M core" in capsys.readouterr().err
    assert not (tmp_path / "y").exists()


def test_long_names_are_refused_for_packs() -> None:
    compiled = compile_model(MODEL, cpu="any", name="n" * 33).compiled
    with pytest.raises(CortexMError, match="at most 32 characters"):
        export_files([compiled], "cmsis-pack")


def test_formats_are_those_of_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    said = capsys.readouterr().out
    assert "{" + ",".join(FORMATS) + "}" in said.replace("\n", "").replace(" ", "")


def test_what_an_old_manifest_names_elsewhere_stays(tmp_path: Path) -> None:
    folder, files = tmp_path / "out", {"src/a.c": "1", "b.c": "2"}
    (tmp_path / "far").mkdir()
    for name in ("far/x", "far/y", "x"):
        (tmp_path / name).touch()

    def manifest(named: object) -> dict[str, str]:
        return {**files, "manifest.json": json.dumps({"files": named})}

    write_export(folder, manifest([]))
    (folder / "link").symlink_to("../far")
    (folder / "file").symlink_to("../far/y")
    for name in ("old", "src/old"):
        (folder / name).touch()
    outside = ("../x", "../far/x", f"{tmp_path}/x", "link/../../x")
    names = ("old", "src/old", "link/x", "file", *outside)
    odd = (".", "..", "", "src", "link", "a\0b", "\ud800", "n" * 5000, "old/x", "src/../old")
    write_export(folder, manifest(dict.fromkeys([*names, *odd], "")))
    write_export(folder, manifest({}))
    assert {path.name for path in (tmp_path / "far").iterdir()} == {"x", "y"}
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert (tmp_path / "x").exists() and left == {*files, "manifest.json"}
    assert (folder / "link").is_symlink() and (folder / "src").is_dir()


@pytest.mark.parametrize("named", ["x", 1, None, [1], [[]], [["a"] * 40] * 40])
def test_a_folder_with_another_manifest_is_no_export(named: object, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"files": named}))
    with pytest.raises(CortexMError, match="is not empty, and not an export"):
        write_export(tmp_path, {"manifest.json": "{}"})
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "way").symlink_to("out")
    (tmp_path / "out" / "manifest.json").write_text('{"files": {}}')
    (tmp_path / "out" / "src").symlink_to("../far")
    with pytest.raises(CortexMError, match="'src' in it is a link"):
        write_export(tmp_path / "out", {"src/a.c": "", "b.c": ""})
    assert not list((tmp_path / "far").iterdir()) and not (tmp_path / "out" / "b.c").exists()
    (tmp_path / "out" / "src").unlink()
    assert write_export(tmp_path / "way", {"src/a.c": ""}) == 1  # the folder itself may be one


def compiled_objects(folder: Path, work: Path) -> list[Path]:
    """All sources of an export, which need no folder to look for includes in, by GCC."""
    work.mkdir()
    units = sorted((folder / "src").rglob("*.c"))
    options = ["-std=gnu11", "-Os", "-ffunction-sections", "-fwrapv", "-ffp-contract=off"]
    run(GCC, *M4, *options, *COMMON, "-c", *units, cwd=work)
    return sorted(work.glob("*.o"))


@pytest.mark.parametrize(
    ("kind", "versions"),
    [("folder", ("", "")), ("arduino", ("", "")), ("folder", ("", "0badc0de"))],
    ids=["folder", "arduino", "versions"],
)
def test_two_exports_are_parts_of_one_program(
    kind: str, versions: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one version of the tools, and of two: all objects are linked, as from files or whole archives."""
    objects: list[Path] = []
    for version, file in zip(versions, (MODEL, OTHER), strict=True):
        if version:
            monkeypatch.setattr(
                "cortexm_tools.export.sources.version_of", lambda folder: "0badc0de"
            )
        write_export(
            tmp_path / file.stem, export_files([model("cortex-m4", file=file).compiled], kind)
        )
        objects += compiled_objects(tmp_path / file.stem, tmp_path / f"{file.stem}-o")
    (tmp_path / "check.c").write_text(application("digits", "frames"))
    said = on_board(
        "mps2-an386",
        [*M4, f"-I{tmp_path / 'frames' / 'src'}"],
        tmp_path / "digits" / "src",
        objects,
        tmp_path,
    )
    assert said.splitlines() == [expected("cortex-m4", file) for file in (MODEL, OTHER)]
    # A kernel that both call is there once, or once for each version.
    listed = run("arm-none-eabi-nm", "--defined-only", tmp_path / "check.elf")
    kernels = re.findall(r" [TW] cortexm_[0-9a-f]{8}_(quantize\w+)$", listed, re.M)
    assert len(kernels) == len(set(versions)) and len(set(kernels)) == 1


def test_one_export_of_several_models(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    compiled = [model("cortex-m4", file=file).compiled for file in (MODEL, OTHER)]
    write_export(folder, export_files(compiled, "folder", name="both"))
    objects = compiled_objects(folder, tmp_path / "o")
    (tmp_path / "check.c").write_text(application("digits", "frames"))
    said = on_board("mps2-an386", M4, folder / "src", objects, tmp_path)
    assert said.splitlines() == [expected("cortex-m4", file) for file in (MODEL, OTHER)]
    models = json.loads((folder / "manifest.json").read_text())["models"]
    assert [entry["name"] for entry in models] == ["digits", "frames"]
    # What a tool is told names both, and the example runs both.
    for kind, told in (
        ("cmake", "CMakeLists.txt"),
        ("cmsis-pack", "CortexMModel.both.pdsc"),
        ("arduino", "library.properties"),
        ("platformio", "library.json"),
        ("zephyr", "zephyr/CMakeLists.txt"),
    ):
        files = export_files(compiled, kind, name="both")
        assert all(name in str(files[told]) for name in ("both", "digits", "frames")), kind
        (example,) = [files[p] for p in files if re.search(r"^example.*\.(c|ino)$", p)]
        assert str(example).count("cortexm_invoke") == 2


def test_command_line_of_several_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", str(MODEL), str(OTHER), "--cpu", "cortex-m4", "--out", str(tmp_path / "x")]
    assert main(words) == 1 and "add --name NAME" in capsys.readouterr().err
    assert main([*words, "--name", "both", "--format", "zephyr", "--measure"]) == 0
    assert "config MODEL_both\n" in (tmp_path / "x" / "zephyr" / "Kconfig").read_text()
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text())
    for entry in manifest["models"]:
        assert entry["code_bytes"] > 1000 and 100 < entry["stack_bytes"] < 1024
        header = (tmp_path / "x" / "src" / f"{entry['name']}_stack.h").read_text()
        assert f"_STACK_SIZE {entry['stack_bytes']}\n" in header
    twice = [str(MODEL), "--cpu", "any", "--name", "both", "--out", str(tmp_path / "y")]
    assert main(["export", str(MODEL), *twice]) == 1
    assert "two models are called digits" in capsys.readouterr().err
    assert main(["export", *twice, "--measure"]) == 1
    assert "needs a core to compile for" in capsys.readouterr().err
