# SPDX-License-Identifier: Apache-2.0
"""What an export says to people: its README, and an example."""

from __future__ import annotations

from ..target import CORES, Core, Isa
from ..version import __version__
from .sources import Sources
from .write import MANIFEST

VENDOR = "CortexMModel"
SPDX = "SPDX-License-Identifier: Apache-2.0"


def example_text(sources: Sources, *, arduino: bool) -> str:
    """A minimal application: one inference of each model, whose status it hands on."""
    where, body = "", "    cortexm_status_t status = CORTEXM_OK;\n\n"
    for name in sources.models:
        steps = [f"cortexm_init(&{name}, NULL, 0)", f"cortexm_invoke(&{name}, NULL)"]
        if sources.image:
            place = (
                "WEIGHTS_ADDRESS" if len(sources.models) == 1 else f"{name.upper()}_WEIGHTS_ADDRESS"
            )
            where += f"""/* Where {name}.weights.bin lies, a multiple of 16. */
#ifndef {place}
#error "say where the image of weights lies: define {place}"
#endif

"""
            load = f"(const void *)({place}), {name}_weights.size"
            steps.insert(0, f"cortexm_load_weights(&{name}_weights, {load})")
        for step in steps:
            fill = f"        /* Fill the input: cortexm_input(&{name}, NULL, 0).data */\n"
            take = f"        /* Take the result from cortexm_output(&{name}, NULL, 0).data */\n"
            runs = step is steps[-1]
            body += (
                f"    if (status == CORTEXM_OK) {{\n{fill * runs}        status = {step};\n"
                f"{take * runs}    }}\n"
            )
    includes = "".join(f"#include <{name}.h>\n" for name in sources.models)
    of = " and ".join(sources.models)
    head = f"/* {SPDX} */\n/* One inference of {of}. */\n{includes}\n{where}"
    if not arduino:
        return f"{head}int main(void)\n{{\n{body}    return status == CORTEXM_OK ? 0 : 1;\n}}\n"
    return (
        f"{head}void setup()\n{{\n    Serial.begin(115200);\n{body}"
        "    Serial.println(cortexm_status_text(status));\n}\n\nvoid loop()\n{\n}\n"
    )


def readme_text(sources: Sources, kind: str, example: str, table: str) -> str:
    name = sources.name
    core = "any Cortex-M" if sources.core is Core.ANY else f"{sources.core.value} ({sources.isa})"
    headers = ", ".join(f"`src/{model}.h`" for model in sources.models)
    # Armv6-M and the Baseline read no word that is not aligned, nor need compilers of portable C.
    reads_any_word = sources.core is not Core.ANY and CORES[sources.core].base is Isa.V7M
    return f"""# {name}

{what_of(sources).capitalize()} as C11 for {core}, exported by cortexm {__version__}. No Python and no
other library is needed. {headers}: sizes, shapes and types; `src/cortexm/model.h`: the functions;
`{example}`: an example. `{MANIFEST}` says what it was made from, with the SHA-256 of every file.
Other exports can be part of the same program.

{table}
{_MEMORY if reads_any_word else ""}{_APART if sources.image else ""}
{_USE[kind].format(name=name, vendor=VENDOR, version=__version__)}"""


def what_of(sources: Sources) -> str:
    """What the export is, in words."""
    if len(sources.models) == 1:
        return f"the neural network {sources.models[0]}"
    return f"the neural networks {', '.join(sources.models[:-1])} and {sources.models[-1]}"


_MEMORY = """
Kernels read words at any address: `CCR.UNALIGN_TRP` stays off, and arena and constants lie in memory
of type Normal. External memory from 0xA0000000 on is Device until the MPU says otherwise.
"""

_APART = """
The weights are not among the sources: they are images in `weights/`, which the build does not link.
Write each to a place of its own in flash, at a multiple of 16, and tell the program with
`cortexm_load_weights()`, as the example does, where the place is a macro that you define.
`cortexm weights MODEL --for weights/NAME.weights.json` makes another image that fits.
"""

_USE = {
    "folder": """Compile with GCC:

    arm-none-eabi-gcc @core.txt @sources.txt -c

or with clang and a C library for the core (headers by `-isystem`):

    clang --target=arm-none-eabi @core.txt @sources.txt -c

Other compilers: all of `src/**/*.c`, and what `sources.txt` has in other words: signed integers wrap,
and no product and sum of floats become one operation. The application looks for includes in `src`.
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
