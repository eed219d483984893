# SPDX-License-Identifier: Apache-2.0
"""What each tool asks for beside the sources: build files, descriptions, an example, a manifest."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from ..compile import Compiled
from ..errors import CortexMError
from ..paths import PACKAGE, data_root
from ..target import Core
from ..version import __version__
from .sizes import Measured, measured, sizes, sizes_table, stack_files
from .sources import Source, Sources, collect
from .texts import SPDX, VENDOR, example_text, readme_text, what_of
from .write import MANIFEST

Files = dict[str, str | bytes]


@dataclass(frozen=True)
class _Format:
    """How a format is made: `build` adds its files; `pragmas` whether options stand in the sources, as
    the tool has no place for them; `example` the path of the example."""

    build: Callable[[Sources], Files]
    example: str
    pragmas: bool = False


def export_files(
    models: Sequence[Compiled], kind: str, url: str = "", name: str = "", *, measure: bool = False
) -> Files:
    """The files of an export by path, equal for equal models.

    Args:
        models: compiled with the same options; together they have the runtime and each kernel once.
        url: where the library is published, for descriptions that have a place for it.
        name: of the export, a C identifier; default: the first model's.
        measure: flash and stack, with the compiler that is here, on which the files then depend.

    Raises:
        CortexMError: the models cannot be exported.
    """
    sources = replace(collect(models, name), url=url)
    found = measured(sources) if measure else {}
    sources.files.update(stack_files(found))
    form = FORMATS[kind]
    files: Files = {**sources.files, **sources.image}
    if form.pragmas:
        for unit in sources.compiled:
            files[unit.path] = _pragmas(unit) + sources.files[unit.path]
    files[form.example] = example_text(sources, arduino=kind == "arduino")
    files["LICENSE"] = _license()
    files["README.md"] = readme_text(sources, kind, form.example, sizes_table(models, found))
    files |= form.build(sources)
    if kind == "cmsis-pack":
        files[f"{_pack_name(sources)}.{__version__}.pack"] = _pack(files)
    files[MANIFEST] = _manifest(sources, models, kind, files, found)
    return dict(sorted(files.items()))


def _license() -> str:
    for place in (data_root() / "LICENSE", PACKAGE.parent / "LICENSE"):
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise CortexMError(
        "the licence is missing from this installation", hint="install the wheel again"
    )


def _manifest(
    sources: Sources, models: Sequence[Compiled], kind: str, files: Files, found: Measured
) -> str:
    """Where the files come from, and the digest of each."""
    data = {
        "format": 2,
        "cortexm": __version__,
        "kind": kind,
        "name": sources.name,
        "target": models[0].report["target"],
        "models": [
            {
                "name": compiled.program.name,
                "program_sha256": compiled.report["program_sha256"],
                "command": compiled.report["command"],
                **sizes(compiled, found),
            }
            for compiled in models
        ],
        "files": {path: hashlib.sha256(_bytes(files[path])).hexdigest() for path in sorted(files)},
    }
    return json.dumps(data, indent=1) + "\n"


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")


def _pragmas(unit: Source) -> str:
    """The options of a file, for compilers that take them there: clang has no other than those about
    floats, and the arithmetic of integers has to wrap by its options."""
    words = ", ".join(f'"{option.removeprefix("-f").removeprefix("-")}"' for option in unit.options)
    lines = ["#if defined(__GNUC__) && !defined(__clang__)", f"#pragma GCC optimize({words})"]
    if "-ffp-contract=off" in unit.options:
        lines += ["#elif defined(__clang__)", "#pragma STDC FP_CONTRACT OFF"]
    return "\n".join([*lines, "#endif", ""])


# -- folder, cmake


def _core_file(sources: Sources) -> Files:
    return {"core.txt": " ".join(sources.flags) + "\n"}


def _common_options(sources: Sources) -> list[str]:
    """The options of kernels that are not about optimization; they suit every file."""
    kernels = [unit for unit in sources.compiled if unit.path.startswith("src/kernels/")]
    return list(kernels[0].options[1:]) if kernels else []


def _folder(sources: Sources) -> Files:
    """Files with the words of a command, which GCC and clang read with @. All is compiled alike: what
    is not a kernel runs once per inference."""
    words = ["-std=gnu11", "-O2", *_common_options(sources)]
    words += ["-ffunction-sections", "-fdata-sections"]
    listing = "\n".join([*words, *(unit.path for unit in sources.compiled)]) + "\n"
    return _core_file(sources) | {"sources.txt": listing}


def _source_options(sources: Sources, prefix: str) -> str:
    """CMake code that gives each file its options."""
    by_options: dict[tuple[str, ...], list[str]] = {}
    for unit in sources.compiled:
        by_options.setdefault(unit.options, []).append(unit.path)
    lines = []
    for options, paths in by_options.items():
        lines += ["set_source_files_properties("]
        lines += [f'  "{prefix}{path}"' for path in paths]
        lines += [f'  PROPERTIES COMPILE_OPTIONS "{";".join(options)}")']
    return "\n".join(lines) + "\n"


def _cmake(sources: Sources) -> Files:
    name = sources.name
    listing = "\n".join(f'  "${{CMAKE_CURRENT_LIST_DIR}}/{unit.path}"' for unit in sources.compiled)
    text = f"""# {SPDX}
# {what_of(sources).capitalize()} as a static library. Exported by cortexm {__version__}.
cmake_minimum_required(VERSION 3.13...3.28)
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  project({name} C)
endif()
add_library({name} STATIC
{listing})
target_include_directories({name} PUBLIC "${{CMAKE_CURRENT_LIST_DIR}}/src")
set_target_properties({name} PROPERTIES
  C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS ON UNITY_BUILD OFF)
target_compile_options({name} PRIVATE -ffunction-sections -fdata-sections)
{_source_options(sources, "${CMAKE_CURRENT_LIST_DIR}/")}"""
    return _core_file(sources) | {"CMakeLists.txt": text}


# -- packages of other tools


def _pack_name(sources: Sources) -> str:
    return f"{VENDOR}.{sources.name}"


def _cmsis_pack(sources: Sources) -> Files:
    """The description of a software pack (Open-CMSIS-Pack, "Pack Description (*.pdsc) Format")."""
    name = sources.name
    if len(name) > 32:
        raise CortexMError(
            "a component of a CMSIS pack has a name of at most 32 characters",
            where=name,
            hint="choose a shorter one with --name",
        )
    paths = [(unit.path, "source") for unit in sources.compiled]
    # A folder of headers ends in a slash; everything in src/ is included from there.
    headers = [(f"src/{model}.h", "header") for model in sources.models]
    entries = [("src/", "include"), *headers, *paths, ("README.md", "doc")]
    entries += [("LICENSE", "other"), *((path, "other") for path in sorted(sources.image))]
    listed = "\n".join(
        f"        <file category={quoteattr(kind)} name={quoteattr(path)}/>"
        for path, kind in entries
    )
    condition = conditions = ""
    if sources.core is not Core.ANY:
        core = "Cortex-M" + sources.core.value.removeprefix("cortex-m").replace("plus", "+").upper()
        condition = f' condition="{core}"'
        conditions = f"""  <conditions>
    <condition id="{core}">
      <description>{core}</description>
      <require Dcore="{core}"/>
    </condition>
  </conditions>
"""
    about = escape(f"{what_of(sources).capitalize()} as C, by cortexm {__version__}")
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- {SPDX} -->
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" \
xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>{VENDOR}</vendor>
  <name>{name}</name>
  <description>{about}</description>
  <url>{escape(sources.url)}</url>
  <license>LICENSE</license>
  <releases>
    <release version="{__version__}">{about}</release>
  </releases>
  <keywords>
    <keyword>machine learning</keyword>
  </keywords>
{conditions}  <components>
    <component Cclass="Machine Learning" Cgroup="Model" Csub="{name}" \
Cversion="{__version__}"{condition}>
      <description>{about}</description>
      <files>
{listed}
      </files>
    </component>
  </components>
</package>
"""
    return {f"{_pack_name(sources)}.pdsc": text}


def _pack(files: Files) -> bytes:
    """A .pack: a zip of all files, with a fixed time stamp."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, _bytes(files[path]))
    return buffer.getvalue()


def _arduino(sources: Sources) -> Files:
    """Arduino's library specification, 1.5 format: library.properties, and sources below src/."""
    name = sources.name
    core = "any Cortex-M" if sources.core is Core.ANY else sources.core.value
    fields = {
        "name": name,
        "version": __version__,
        "author": "cortexm",
        "maintainer": "cortexm",
        "sentence": f"{what_of(sources).capitalize()} as static C.",
        "paragraph": f"Planned for {core}, without an interpreter and without dynamic memory.",
        "category": "Data Processing",
        **({"url": sources.url} if sources.url else {}),
        "architectures": "*",
        "includes": ",".join(f"{model}.h" for model in sources.models),
        "dot_a_linkage": "true",
    }
    return {"library.properties": "".join(f"{key}={value}\n" for key, value in fields.items())}


def _platformio(sources: Sources) -> Files:
    name = sources.name
    data = {
        "$schema": "https://raw.githubusercontent.com/platformio/platformio-core/develop/"
        "platformio/assets/schema/library.json",
        "name": name,
        "version": __version__,
        "description": f"{what_of(sources).capitalize()} as static C",
        "keywords": ["machine learning"],
        "license": "Apache-2.0",
        **({"homepage": sources.url} if sources.url else {}),
        "frameworks": "*",
        "platforms": "*",
        "headers": [f"{model}.h" for model in sources.models],
        "examples": [{"name": "inference", "base": "example", "files": ["main.c"]}],
        "build": {
            "srcDir": "src",
            "includeDir": "src",
            "flags": ["-O2", *_common_options(sources)],
            "unflags": ["-flto", "-ffast-math"],
        },
    }
    return {"library.json": json.dumps(data, indent=2) + "\n"}


def _zephyr(sources: Sources) -> Files:
    name = sources.name
    root = "${CMAKE_CURRENT_LIST_DIR}/../"
    listing = "\n".join(f'    "{root}{unit.path}"' for unit in sources.compiled)
    options = "".join(
        f"  {line}\n" if line else "\n" for line in _source_options(sources, root).splitlines()
    )
    cmake = f"""# {SPDX}
# {what_of(sources).capitalize()} as a library of Zephyr. Exported by cortexm {__version__}.
if(CONFIG_MODEL_{name})
  zephyr_include_directories("{root}src")
  zephyr_library_named(model_{name})
  zephyr_library_sources(
{listing})
  set_target_properties(model_{name} PROPERTIES UNITY_BUILD OFF)
{options}endif()
"""
    kconfig = f"""# {SPDX}
config MODEL_{name}
\tbool "{what_of(sources).capitalize()}"
\tdepends on !TRAP_UNALIGNED_ACCESS
\thelp
\t  Static C, without heap and threads.
"""
    module = f"""# {SPDX}
name: {name}
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
"""
    example = f"""# {SPDX}
cmake_minimum_required(VERSION 3.20)
find_package(Zephyr REQUIRED HINTS $ENV{{ZEPHYR_BASE}})
project({name}_example)
target_sources(app PRIVATE main.c)
"""
    return {
        "zephyr/module.yml": module,
        "zephyr/CMakeLists.txt": cmake,
        "zephyr/Kconfig": kconfig,
        "example/CMakeLists.txt": example,
        "example/prj.conf": f"CONFIG_MODEL_{name}=y\n",
    }


FORMATS = {
    "folder": _Format(_folder, "example/main.c"),
    "cmake": _Format(_cmake, "example/main.c"),
    "cmsis-pack": _Format(_cmsis_pack, "example/main.c", pragmas=True),
    "arduino": _Format(_arduino, "examples/inference/inference.ino", pragmas=True),
    "platformio": _Format(_platformio, "example/main.c"),
    "zephyr": _Format(_zephyr, "example/main.c"),
}
