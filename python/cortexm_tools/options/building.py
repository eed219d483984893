# SPDX-License-Identifier: Apache-2.0
"""Options of what is built: the model, the target, memory, files, runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..target import CORES, Isa, Optimize
from .numbers import count, web_address
from .option import BENCH, COMPARE, COMPILE, EXPORT, QUALITY, RUN, Option
from .precision import PRECISIONS

MODELS = (COMPILE, RUN, BENCH, COMPARE, EXPORT, QUALITY)
WRITERS = (COMPILE, EXPORT)


def _names(values: Any) -> tuple[str, ...]:
    return tuple(each.value for each in values)


BUILDING: tuple[Option, ...] = (
    # -- The model
    Option(
        cmake="TARGET", flags=("--name",), commands=MODELS, group="model", value="NAME",
        range="a C identifier", default="the file's name",
        help="C identifier of the model; default: from the file's name",
        docs="what the model is called in C; in CMake its target",
    ),
    Option(
        cmake="QUANTIZE", flags=("-q", "--quantize"), commands=MODELS, group="model", kind="switch",
        kconfig=tuple(f"QUANTIZE_{word.upper()}" for word in PRECISIONS),
        choices=tuple(PRECISIONS),
        initial="int8", default="`int8`", kconfig_default="`QUANTIZE_INT8`",
        help="bits of activations and weights; int8 (the default) is 8 of both; none: as it is",
        docs="the precision of a model.py, or of what its [`Quantization`]"
        "(pipeline.md#precisions-of-layers) leaves: `int8`; `a16w8`, [activations of 16 "
        "bits](numerics.md#activations-of-16-bits); `a8w4` and `a16w4`, [weights of 4 "
        "bits](numerics.md#weights-of-4-bits); `none`, as it is",
        zephyr="the default of `QUANTIZE`: `int8`, [activations of 16 "
        "bits](numerics.md#activations-of-16-bits), [weights of 4 "
        "bits](numerics.md#weights-of-4-bits), or models as they are",
    ),
    Option(
        cmake="CALIBRATE", flags=("--calibrate",), commands=MODELS, group="model",
        value="weights=gptq|nearest", kconfig=("CALIBRATE",), initial="",
        default="`weights=gptq` for weights of 4 bits, else `nearest`",
        kconfig_default="none",
        help="weights=gptq: round weights by what the layers read in calibration; weights=nearest",
        docs="how weights are rounded: to the nearest code, or so that errors cancel on the "
        "calibration samples, by [GPTQ](numerics.md#rounding-of-weights)",
        zephyr="the default of `CALIBRATE`, as in `\"weights=gptq\"`: how [weights are "
        "rounded](numerics.md#rounding-of-weights)",
    ),
    Option(
        cmake="CALIBRATION", flags=("--calibration", "--calibration_data"), commands=MODELS,
        group="model", value="FILE|DIR", parse=Path, range=".npz, .npy or .pt",
        default="the model file's `CalibrationInputs`",
        help="samples to take the quantization ranges from: .npz, .npy, .pt",
        docs="samples to take the quantization ranges of a model.py from",
    ),
    Option(
        flags=("--model_input",), commands=MODELS, group="model", value="FILE", parse=Path,
        range="of `torch.save`", default="the model file's `ModelInputs`",
        help="example inputs saved by torch.save",
    ),
    # -- The target
    Option(
        cmake="CPU", flags=("--cpu", "-t", "--target"), commands=MODELS, group="target",
        value="CPU", range=", ".join(f"`{core}`" for core in _names(CORES)),
        default="`cortex-m55`", cmake_default="what the toolchain builds for",
        initial="cortex-m55", help="default: %(default)s", docs="the core",
    ),
    Option(
        cmake="ISA", flags=("--isa",), commands=MODELS, group="target",
        value="|".join(isa.value for isa in reversed(Isa.MVE.runs)),
        range="what the CPU has", default="the best the CPU has",
        help="scalar, dsp or mve; default: the best the CPU has",
        docs="the best instruction set that kernels may use",
    ),
    Option(
        cmake="IO", flags=("--io",), commands=MODELS, group="target",
        kconfig=("IO_FLOAT", "IO_INT8", "IO_UINT8", "IO_INT16", "IO_CODES"),
        choices=("float", "int8", "uint8", "int16", "codes"),
        initial="float", default="`float`", kconfig_default="`IO_FLOAT`",
        help="int8, int16: inputs and outputs of the image stay quantized, in this type; uint8: inputs as "
        "bytes, code + 128; codes: each in its own",
        docs="`int8`, `int16`: inputs and outputs stay quantized at the border of the model, which "
        "has codes of this type there; `uint8`: inputs are [bytes](images.md#bytes), the int8 code and "
        "128, and outputs codes; `codes`: each has those that it has in the model, such as "
        "int16 for [sound](sound.md) and int8 for the scores, or none, as "
        "[boxes beside scores](numerics.md#between-precisions)",
        zephyr="the default of `IO`: what inputs and outputs are at the border of the model, float or "
        "codes; `uint8`: inputs are [bytes](images.md#bytes)",
    ),
    Option(
        cmake="INPUT_LAYOUT", flags=("--input-layout",), commands=MODELS, group="target",
        kconfig=("INPUT_LAYOUT_MODEL", "INPUT_LAYOUT_NHWC", "INPUT_LAYOUT_NCHW"),
        choices=("model", "nhwc", "nchw"),
        initial="model", default="`model`", kconfig_default="`INPUT_LAYOUT_MODEL`",
        help="how images at the inputs lie in memory: pixel by pixel (nhwc, as cameras give them) or "
        "channel by channel (nchw); default: as the model takes them",
        docs="how [images](images.md#layout) at the inputs lie in memory: `nhwc`, the channels of "
        "a pixel side by side, as cameras give them; `nchw`, one channel after the other; `model`, as "
        "the program takes them, which the header says",
        zephyr="the default of `INPUT_LAYOUT`: how [images](images.md#layout) at the inputs lie in "
        "memory",
    ),
    Option(
        cmake="OPTIMIZE", flags=("--optimize",), commands=MODELS, group="target",
        kconfig=("OPTIMIZE_BALANCED", "OPTIMIZE_SIZE", "OPTIMIZE_SPEED"),
        choices=_names(Optimize), initial=Optimize.BALANCED.value, default="`balanced`",
        kconfig_default="`OPTIMIZE_BALANCED`",
        help="fewer instructions, or less flash and RAM; default: %(default)s",
        docs="fewer instructions, or less flash and RAM: [OPTIMIZE](cmake.md#optimize)",
        zephyr="the default of [OPTIMIZE](cmake.md#optimize), whatever the application is built with",
    ),
    Option(
        cmake="REGIONS", flags=("--region",), commands=MODELS, group="target", kind="list",
        kconfig=("REGIONS",), value="NAME=SIZE[:ram|fast|weights][@SECTION]", initial=(),
        unit="bytes, or with K or M", range="names of C; in CMake also `board`: those of the "
        "emulated board", default="one memory without end", kconfig_default="none",
        help="a memory to use; may be repeated",
        docs="memories to spread the model over: [Memories](cmake.md#memories)",
        zephyr='memories to spread models over, as in `"ram=64K dtcm=32K:fast ddr4=8M:weights"`: '
        "regions of the devicetree by name, `ram` and `flash` for where variables and constants "
        "lie anyhow; see [cmake.md](cmake.md#memories)",
    ),
    Option(
        cmake="KERNELS", flags=("--kernels",), commands=MODELS, group="target", value="builtin|cmsis-nn|auto",
        kconfig=("KERNELS_BUILTIN", "KERNELS_CMSIS_NN", "KERNELS_AUTO"), default="`builtin`",
        range="bench compares several, with commas between",
        kconfig_default="`KERNELS_BUILTIN`",
        help="builtin (default), cmsis-nn (of the checkout CMSIS_NN_ROOT), or auto: those "
        "with which the model costs least; bench compares several, with commas between",
        docs="whose kernels: ours, [CMSIS-NN's](cmake.md#cmsis-nn-as-the-kernel-library), or those with "
        "which the model costs least",
        zephyr="whose kernels; CMSIS-NN needs the workspace's module cmsis-nn (without it Kconfig "
        "warns and `KERNELS_BUILTIN` stays), but neither `CONFIG_CMSIS_NN` nor CMSIS-DSP",
    ),
    Option(
        cmake="REQUIRE_INT8", flags=("--require-int8",), commands=MODELS, group="target",
        kind="flag", kconfig=("REQUIRE_INT8",), default="off", kconfig_default="n",
        help="refuse operators in float32", docs="an operator that computes in float is an error",
        zephyr="an operator that computes in float fails the build",
    ),
    Option(
        cmake="STREAM", flags=("--stream",), commands=MODELS, group="target",
        value="DIM:HOP[:causal]", initial="", unit="HOP: frames", range="DIM: a dimension of the "
        "inputs; HOP: 1 or more, less than the window", default="none",
        help="the model over a window takes HOP new frames a call; dimension DIM is time",
        docs="makes a [stream](streaming.md) of the model over a window: dimension DIM of its inputs "
        "is time, each call takes HOP new frames, and what is needed of older ones is kept as state",
    ),
    # -- Memory
    Option(
        cmake="ARENA", flags=("--arena",), commands=WRITERS, group="memory",
        value="own|caller|shared[:GROUP]",
        kconfig=("ARENA_RAM", "ARENA_CHOSEN", "ARENA_PARTITION", "ARENA_CALLER"),
        range="GROUP: a C identifier without `__`", initial="own", default="`own`",
        kconfig_default="`ARENA_RAM`",
        help="whose the memory is: the model's, the caller's, or one of a group that never run at "
        "once",
        docs="whose memory it computes in: a static arena of its own, one that the application "
        "passes, or [one for all models of a group](cmake.md#shared-arenas), which never run at "
        "once",
        zephyr="arenas in RAM, in a memory region, in a partition for "
        "[user threads](#threads-and-interrupts), or passed by the application",
    ),
    Option(
        cmake="SECTION_ARENA", flags=("--section-arena",), commands=WRITERS, group="memory", value="SECTION",
        initial="", range="letters, digits, `_`, `.`, `$`",
        default="the region's, else the compiler's choice",
        help="linker section of the arena",
    ),
    Option(
        cmake="SECTION_WEIGHTS", flags=("--section-weights",), commands=WRITERS, group="memory",
        value="SECTION", kconfig=("WEIGHTS_FLASH", "WEIGHTS_CHOSEN", "WEIGHTS_PARTITION"), initial="",
        range="letters, digits, `_`, `.`, `$`",
        default="the region's, else the compiler's choice",
        kconfig_default="`WEIGHTS_FLASH`", help="linker section of the constants",
        zephyr="weights beside the code, in a memory region, or "
        "[apart](#weights-in-a-partition), in an image that can be replaced without the firmware",
    ),
    Option(
        cmake="WEIGHTS", flags=("--weights",), commands=MODELS, group="memory",
        choices=("linked", "partition"), initial="linked", default="`linked`",
        help="partition: the constants are an image beside the firmware, which can be replaced alone",
        docs="`partition`: the constants are no part of the firmware but an image beside it, "
        "`NAME.weights.bin`, which can be [replaced alone](cmake.md#weights-apart)",
    ),
    Option(
        cmake="RAM_LIMIT", flags=("--ram-limit",), commands=WRITERS, group="memory", value="SIZE",
        kconfig=("RAM_LIMIT",), unit="bytes, or with K or M (1024 based)", default="none",
        kconfig_default="0, none", help="most bytes of arena; K and M allowed",
        docs="most RAM: what needs more fails [the build](cmake.md#limits)",
        zephyr="most bytes of RAM for a model; the build fails with a table of what takes the space",
    ),
    Option(
        cmake="FLASH_LIMIT", flags=("--flash-limit",), commands=WRITERS, group="memory", value="SIZE",
        kconfig=("FLASH_LIMIT",), unit="bytes, or with K or M (1024 based)", default="none",
        kconfig_default="0, none", help="most bytes of constants",
        docs="most flash, in CMake with the code: what needs more fails [the build](cmake.md#limits)",
        zephyr="most bytes of flash for a model, likewise",
    ),
    Option(
        cmake="MIN_SQNR", flags=("--min-sqnr",), commands=(*WRITERS, QUALITY), group="model",
        value="DECIBELS", kconfig=("MIN_SQNR",), unit="dB, as in `25dB`", range="above 0", default="none",
        kconfig_default="none",
        help="least ratio of signal to quantization noise, as in 25dB; for quality what advice should reach",
        docs="least dB of the worst channel of all outputs: a model whose quantization loses more fails "
        "[the build](cmake.md#limits)",
        zephyr="least dB of the worst channel of all outputs, as in `\"25dB\"`; the build fails with a table "
        "of the layers that lose most",
    ),
    Option(
        cmake="MIN_ACCURACY", flags=("--min-accuracy",), commands=WRITERS, group="model", value="LOSS",
        kconfig=("MIN_ACCURACY",), unit="percent points, as in `0.5%`", range="0 to 50", default="none",
        kconfig_default="none",
        help="greatest loss of accuracy on EvaluationInputs, in percent points, as in 0.5%%",
        docs="greatest loss of accuracy by quantization on the model file's `EvaluationInputs`, likewise",
        zephyr="greatest loss of accuracy by quantization, as in `\"0.5%\"`, likewise",
    ),
    # -- Output
    Option(
        flags=("--out", "-o", "--output"), group="output", value="DIR|FILE", parse=Path,
        initial=Path("."), default="the current folder",
        help="folder for the files, or the .pte (.bpte) to write, with the files beside it",
    ),
    Option(
        flags=("--format",), commands=(EXPORT,), group="output",
        choices=("folder", "cmake", "cmsis-pack", "arduino", "platformio", "zephyr"),
        initial="folder", default="`folder`", help="for which tool the files are",
        docs="for which tool the files are ([export.md](export.md))",
    ),
    Option(
        flags=("--url",), commands=(EXPORT,), group="output", value="URL", parse=web_address,
        default="none", help="where the library is published, for descriptions that have a place for it",
    ),
    Option(
        flags=("--out", "-o"), commands=(EXPORT,), group="output", value="DIR", parse=Path,
        default="a folder with the model's name", help="folder for the files, new or of an export",
    ),
    Option(
        cmake="EMBED_PTE", flags=("--embed-pte",), group="output", kind="flag", default="off",
        help="emit the .pte as C as well",
        docs="the .pte itself as C, `NAME_pte` and `NAME_pte_size`",
    ),
    Option(
        cmake="SAMPLES", flags=("--samples",), commands=WRITERS, group="output", value="N|all", parse=count,
        initial=0, unit="inputs", range="1 or more, or `all`", default="none; of a .bpte all",
        help="inputs for a self-check, as C",
        docs="`NAME_samples.h`: that many inputs with the outputs of the reference, for a "
        "[self-check](cmake.md#samples)",
    ),
    Option(
        cmake="PROFILE", flags=("--profile",), group="output", kind="flag", default="off",
        kconfig=("PROFILE_LAYERS",), kconfig_default="n",
        help="call cortexm_profile() around every layer",
        docs="calls `cortexm_profile()`, which you define, around every layer",
        zephyr="with `PROFILE`: each layer reports its cycles to `cortexm_profile_layer_hook()`, "
        "by default to the log",
    ),
    Option(
        flags=("--bundleio",), group="output", kind="flag", default="off",
        help="write a .bpte as well: the .pte, the example inputs and what PyTorch gives for them",
    ),
    Option(
        flags=("-i", "--intermediates"), group="output", value="DIR", parse=Path, default="none",
        help="write the program as text after every stage",
    ),
    Option(
        flags=("--quiet",), commands=WRITERS, group="output", kind="flag", default="off",
        help="say nothing but warnings and errors",
    ),
    # -- Another runtime
    Option(
        cmake="RUNTIME", flags=("--runtime",), group="another runtime",
        choices=("compiled", "executorch"), initial="compiled", default="`compiled`",
        help="executorch: for ExecuTorch's own runtime, with the operators the program uses",
        docs="`executorch`: the .pte on [ExecuTorch's own runtime](executorch.md)",
    ),
    Option(
        cmake="EXTERNAL_OPERATORS", flags=("--external-operator",), group="another runtime",
        kind="list", value="NAME", initial=(), default="none",
        help="an operator that the application registers with ExecuTorch",
        docs="with `RUNTIME executorch`: operators that the application registers",
    ),
    Option(
        flags=("--executorch-sizes",), group="another runtime", value="FILE", parse=Path,
        default="none; needed with `--runtime executorch`",
        help="the object file of runtime/executorch/sizes.cpp, compiled for the image",
    ),
    # -- For build systems
    Option(
        cmake="PYTHON", value="PATH", range="Python 3.10 or newer",
        default="[a search](cmake.md#interpreter)", help="the interpreter that runs these tools",
    ),
    Option(
        cmake="DEPENDS", kind="list", value="FILE", default="none",
        help="more files whose change rebuilds the model",
    ),
    Option(
        flags=("--depfile",), group="for build systems", value="FILE", parse=Path, default="none",
        help="write a Make depfile for --stamp",
    ),
    Option(
        flags=("--stamp",), group="for build systems", value="FILE", parse=Path, default="none",
        help="file to touch when done",
    ),
)  # fmt: skip
