# SPDX-License-Identifier: Apache-2.0
"""What each tool asks for beside the sources: build files, descriptions, an example, a manifest."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from ..compile import Compiled
from ..errors import CortexMError
from ..paths import PACKAGE, data_root
from ..target import Core
from ..version import __version__
from .sources import Source, Sources, collect
from .write import MANIFEST

Files = dict[str, str | bytes]

_VENDOR = "CortexMModel"
_SPDX = "SPDX-License-Identifier: Apache-2.0"


@dataclass(frozen=True)
class _Format:
    """How a format is made: `build` adds its files; `pragmas` whether options stand in the sources, as
    the tool has no place for them; `example` the path of the example."""

    build: Callable[[Sources], Files]
    example: str
    pragmas: bool = False


def export_files(compiled: Compiled, kind: str, url: str = "") -> Files:
    """The files of an export by path, equal for equal models.

    Args:
        url: where the library is published, for descriptions that have a place for it.

    Raises:
        CortexMError: the model cannot be exported.
    """
    sources = replace(collect(compiled), url=url)
    form = FORMATS[kind]
    files: Files = {**sources.files, **sources.image}
    if form.pragmas:
        for unit in sources.compiled:
            files[unit.path] = _pragmas(unit) + sources.files[unit.path]
    files[form.example] = _example(sources, arduino=kind == "arduino")
    files["LICENSE"] = _license()
    files["README.md"] = _readme(sources, kind, form.example)
    files |= form.build(sources)
    if kind == "cmsis-pack":
        files[f"{_pack_name(sources)}.{__version__}.pack"] = _pack(files)
    files[MANIFEST] = _manifest(compiled, kind, files)
    return dict(sorted(files.items()))


def _license() -> str:
    for place in (data_root() / "LICENSE", PACKAGE.parent / "LICENSE"):
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise CortexMError(
        "the licence is missing from this installation", hint="install the wheel again"
    )


def _manifest(compiled: Compiled, kind: str, files: Files) -> str:
    """Where the files come from, and the digest of each."""
    data = {
        "format": 1,
        "cortexm": __version__,
        "kind": kind,
        "model": compiled.program.name,
        "program_sha256": compiled.report["program_sha256"],
        "target": compiled.report["target"],
        "command": compiled.report["command"],
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


def _example(sources: Sources, *, arduino: bool) -> str:
    """A minimal application: one inference, whose status it hands on."""
    name = sources.name
    where, init = "", f"    cortexm_status_t status = cortexm_init(&{name}, NULL, 0);\n"
    if sources.image:
        where = f"""/* Where {name}.weights.bin lies, a multiple of 16. */
#ifndef WEIGHTS_ADDRESS
#error "say where the image of weights lies: define WEIGHTS_ADDRESS"
#endif

"""
        init = f"""    cortexm_status_t status = cortexm_load_weights(
        &{name}_weights, (const void *)(WEIGHTS_ADDRESS), {name}_weights.size);

    if (status == CORTEXM_OK) {{
        status = cortexm_init(&{name}, NULL, 0);
    }}
"""
    body = f"""{init}
    if (status == CORTEXM_OK) {{
        /* Fill the input: cortexm_input(&{name}, NULL, 0).data */
        status = cortexm_invoke(&{name}, NULL);
        /* Take the result from cortexm_output(&{name}, NULL, 0).data */
    }}
"""
    head = (
        f"/* {_SPDX} */\n/* One inference of the model {name}. */\n#include <{name}.h>\n\n{where}"
    )
    if not arduino:
        return f"{head}int main(void)\n{{\n{body}    return status == CORTEXM_OK ? 0 : 1;\n}}\n"
    return (
        f"{head}void setup()\n{{\n    Serial.begin(115200);\n{body}"
        "    Serial.println(cortexm_status_text(status));\n}\n\nvoid loop()\n{\n}\n"
    )


def _readme(sources: Sources, kind: str, example: str) -> str:
    name = sources.name
    core = "any Cortex-M" if sources.core is Core.ANY else f"{sources.core.value} ({sources.isa})"
    return f"""# {name}

A neural network as C11 for {core}, exported by cortexm {__version__}. No Python and no other library
is needed. `src/{name}.h` has its sizes, shapes and types, `src/cortexm/model.h` the functions,
`{example}` an example. `{MANIFEST}` says what it was made from, with the SHA-256 of every file.
{_APART.format(name=name) if sources.image else ""}
{_USE[kind].format(name=name, vendor=_VENDOR, version=__version__)}"""


_APART = """
The weights are not among the sources: they are the image `weights/{name}.weights.bin`, which the
build does not link. Write it to a place of its own in flash, at a multiple of 16, and tell the
program with `cortexm_load_weights()`, as the example does; `WEIGHTS_ADDRESS` is that place.
`cortexm weights MODEL --for weights/{name}.weights.json` makes another image that fits.
"""

_USE = {
    "folder": """Compile with GCC:

    arm-none-eabi-gcc @core.txt @sources.txt -c

or with clang and a C library for the core (headers by `-isystem`):

    clang --target=arm-none-eabi @core.txt @sources.txt -c

Other compilers: all of `src/**/*.c`, with `src` as the include path, and what `sources.txt` has in
other words: signed integers wrap, and no product and sum of floats become one operation.
""",
    "cmake": """    add_subdirectory({name})
    target_link_libraries(app PRIVATE {name})

The core is selected by the project's own compiler options; `core.txt` has those it was planned for.
""",
    "cmsis-pack": """`cpackget add {vendor}.{name}.{version}.pack`, then select the component
`Machine Learning:Model:{name}`. With clang or Arm Compiler 6 add `-fwrapv` to the options of the
component.
""",
    "arduino": """Put this folder into the sketchbook's `libraries`, or install it as a .zip
(Sketch, Include Library). The example is under File, Examples.
""",
    "platformio": """    lib_deps = file:///path/to/{name}

in platformio.ini, or put this folder into the project's `lib`.
""",
    "zephyr": """A Zephyr module: name this folder in `ZEPHYR_EXTRA_MODULES`, or in a west manifest,
and set `CONFIG_MODEL_{name}=y`. `west build -b BOARD example` builds the example with
`-DZEPHYR_EXTRA_MODULES=$PWD`.
""",
}


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
    words += ["-ffunction-sections", "-fdata-sections", "-Isrc"]
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
    text = f"""# {_SPDX}
# The model {name} as a static library of this name. Exported by cortexm {__version__}.
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
    return f"{_VENDOR}.{sources.name}"


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
    entries = [("src/", "include"), (f"src/{name}.h", "header"), *paths, ("README.md", "doc")]
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
    about = escape(f"The neural network {name} as C, by cortexm {__version__}")
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- {_SPDX} -->
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" \
xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>{_VENDOR}</vendor>
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
        "sentence": f"The neural network {name} as static C.",
        "paragraph": f"Planned for {core}, without an interpreter and without dynamic memory.",
        "category": "Data Processing",
        **({"url": sources.url} if sources.url else {}),
        "architectures": "*",
        "includes": f"{name}.h",
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
        "description": f"The neural network {name} as static C",
        "keywords": ["machine learning"],
        "license": "Apache-2.0",
        **({"homepage": sources.url} if sources.url else {}),
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{name}.h",
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
    cmake = f"""# {_SPDX}
# The model {name} as a library of Zephyr. Exported by cortexm {__version__}.
if(CONFIG_MODEL_{name})
  zephyr_include_directories("{root}src")
  zephyr_library_named(model_{name})
  zephyr_library_sources(
{listing})
  set_target_properties(model_{name} PROPERTIES UNITY_BUILD OFF)
{options}endif()
"""
    kconfig = f"""# {_SPDX}
config MODEL_{name}
\tbool "The neural network {name}"
\thelp
\t  Static C for one inference; see {name}.h.
"""
    module = f"""# {_SPDX}
name: {name}
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
"""
    example = f"""# {_SPDX}
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
