# SPDX-License-Identifier: Apache-2.0
"""What the arguments of one cortexm_add_model() come to, while CMake configures.

CMake says what it knows in words ``KEY=VALUE``: the keywords of the call in capitals, and what it has
found out itself (`Facts`). It gets back CMake code that sets a variable ``SETTLED_<key>`` for every
value it goes on with. Nothing here imports numpy: configuring takes no longer for it, and works where
packages are missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..documents import opened
from ..errors import CortexMError, did_you_mean
from ..options import OPTIONS, keywords
from ..options.arena import SharedArena, parse_arena
from ..options.files import OTHERS, PROGRAMS, PYTORCH, kind_of
from ..options.memories import parse_regions, section_name
from ..options.names import check_target, clash, name_of_target
from ..options.precision import parse_quantization
from ..options.quality import parse_decibels, parse_loss
from ..options.sizes import parse_size
from ..options.stream import parse_stream
from ..target import CORES, Core, Isa, Target

Value = str | bool | list[str]

_NO_VALUE = "give one, or leave the word out"


class Facts:
    """The words of CMake.

    Besides keywords: ``model`` as written, its ``path``, the ``folder`` that paths are relative to,
    ``generated`` where another rule makes it, ``calibration`` and ``calibration_generated`` likewise;
    ``unknown`` and ``missing`` words of the call; ``taken`` names of other models; the toolchain's
    ``toolchain_cpu`` and ``toolchain_isa``, its ``processor``, ``pointer`` size in bytes, ``compiler``,
    the ``compiler_isa`` that its options allow, whether its words are to be ``aligned`` though the core
    reads any, and whether it builds for ``another`` machine; the
    ``platform`` with ``platform_cpu`` and ``platform_isa``.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._values: dict[str, list[str]] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                continue
            self._values.setdefault(key, []).append(value)

    def __getitem__(self, key: str) -> str:
        """The value; empty where there is none."""
        return self._values.get(key, [""])[0]

    def all(self, key: str) -> list[str]:
        """All values of the key."""
        return self._values.get(key, [])


def settle(facts: Facts) -> dict[str, Value]:
    """The values that CMake goes on with.

    Raises:
        CortexMError: the call says something that cannot be.
    """
    _check_words(facts)
    suffix = _check_model(facts)
    name, settled = _names(facts)
    target = _target(facts)
    executorch = _choice(facts, "RUNTIME") == "executorch"
    if facts.all("EXTERNAL_OPERATORS") and not executorch:
        raise CortexMError(
            "EXTERNAL_OPERATORS is for RUNTIME executorch",
            hint="leave it out, or add RUNTIME executorch",
        )
    arena = parse_arena(facts["ARENA"] or "own")
    options = [
        *("--name", name, "--cpu", target.core.value, "--isa", target.isa.value),
        *("--io", _choice(facts, "IO"), "--arena", facts["ARENA"] or "own"),
        *("--optimize", _choice(facts, "OPTIMIZE")),
    ]
    if (layout := _choice(facts, "INPUT_LAYOUT")) != "model":
        options += ["--input-layout", layout]
    options += _precision(facts, suffix)
    if stream := parse_stream(facts["STREAM"]):
        options += ["--stream", str(stream)]
    limits: list[str] = []
    for keyword in ("RAM_LIMIT", "FLASH_LIMIT"):
        if facts.all(keyword):
            size = parse_size(facts[keyword], keyword)
            limits += ["--" + keyword.lower().replace("_", "-"), str(size)]
    for keyword, parse in (("MIN_SQNR", parse_decibels), ("MIN_ACCURACY", parse_loss)):
        if facts.all(keyword):
            parse(facts[keyword], keyword)
            options += ["--" + keyword.lower().replace("_", "-"), facts[keyword].replace(" ", "")]
    sections = [section_name(facts[key], key) for key in ("SECTION_ARENA", "SECTION_WEIGHTS")]
    options += limits
    for flag, section in zip(("--section-arena", "--section-weights"), sections, strict=True):
        options += [flag, section] if section else []
    options += [word for region in facts.all("REGIONS") for word in ("--region", region)]
    options += _calibration(facts, suffix)
    options += [
        flag
        for keyword, flag in (("REQUIRE_INT8", "--require-int8"), ("PROFILE", "--profile"))
        if facts[keyword]
    ]
    apart = _choice(facts, "WEIGHTS") == "partition"
    options += ["--weights", "partition"] if apart else []
    embeds = executorch or bool(facts["EMBED_PTE"])
    options += ["--embed-pte"] if embeds and not executorch else []
    samples, *warnings = _samples(facts, suffix)
    if facts["aligned"] and target.core is not Core.ANY:
        warnings.append(
            f"the compiler is called with -mno-unaligned-access, but kernels for {target.core.value} "
            "read words at any address\nhint: where CCR.UNALIGN_TRP is set, or memory is of type "
            "Device, say CPU any: it takes portable C"
        )
    options += ["--samples", samples] if samples else []
    settled |= {
        "warning": "\n".join(filter(None, warnings)),
        "is_pytorch": suffix in PYTORCH,
        "cpu": target.core.value,
        "isa": target.isa.value,
        "optimize": _choice(facts, "OPTIMIZE"),
        "executorch": executorch,
        "page": _choice(facts, "REPORT") == "html",
        "group": arena.group if isinstance(arena, SharedArena) else "",
        "options": options,
        "measure": limits,
        **_memories(facts, sections[0]),
    }
    file = name + (".tflite" if suffix == ".tflite" else ".pte")
    return settled | _products(name, file, executorch, embeds, bool(samples), apart=apart)


def _check_words(facts: Facts) -> None:
    known = {kind: keywords(kind) for kind in ("flag", "value", "list")}
    if unknown := facts["unknown"]:
        words = [word for each in known.values() for word in each]
        raise CortexMError(f"unknown argument {unknown!r}", hint=did_you_mean(unknown, words))
    missing = facts.all("missing")
    missing += [word for word in known["value"] if facts[word] in known["flag"]]
    if missing:
        raise CortexMError(f"no value after {', '.join(missing)}", hint=_NO_VALUE)


def _check_model(facts: Facts) -> str:
    """The suffix that is right for the model's file."""
    path = Path(facts["path"])
    for file in (facts["path"], facts["calibration"]):
        if found := re.search(r";|\$<", file):
            raise CortexMError(
                f"CMake cannot name a file with {found[0]!r} in its path: {file}",
                hint="give the file, or its folder, another name",
            )
    if path.suffix not in (*PYTORCH, *PROGRAMS):
        raise CortexMError(
            f"'{facts['model']}' is no .py, .pt2, .pte, .bpte or .tflite file",
            hint=OTHERS.get(
                path.suffix,
                "give a PyTorch model file, a program that ExecuTorch exported, or a .tflite",
            ),
        )
    # A .pte may be made by another rule of the build; then it need not exist yet.
    if not facts["generated"] and not path.exists():
        hint = f"paths are relative to {facts['folder']}"
        if siblings := [
            file.name for kind in (*PYTORCH, *PROGRAMS) for file in path.parent.glob(f"*{kind}")
        ]:
            hint = did_you_mean(path.name, siblings)
        raise CortexMError(f"{path} does not exist", hint=hint)
    if path.suffix in PYTORCH or not path.is_file():
        return path.suffix
    with opened(path) as program:
        return kind_of(path, program.read(8))


def _names(facts: Facts) -> tuple[str, dict[str, Value]]:
    """The model's name in C; its target in CMake, and a line for the user if they are not the file's."""
    path = Path(facts["path"])
    if facts["TARGET"]:
        target, note = facts["TARGET"], ""
        name = check_target(target)
    else:
        target, name, reason = name_of_target(path.stem)
        said = f"the model in {path.name} is called {name}, since '{path.stem}' {reason}"
        note = said if reason else ""
    for other in facts.all("taken"):
        if reason := clash(name, other):
            raise CortexMError(reason, hint="add TARGET <another name> to one of the two")
    return name, {"name": name, "target": target, "note": note}


def _target(facts: Facts) -> Target:
    """The core and the instruction set: of the call, the platform, or the toolchain."""
    cpu, isa, given = facts["CPU"].lower(), facts["ISA"].lower(), facts["CPU"]
    platform, core = facts["platform"], facts["platform_cpu"]
    toolchain = facts["toolchain_cpu"]
    if core:
        if cpu not in ("", "any", core):
            Target.parse(cpu)
            raise CortexMError(
                f"CPU {cpu} contradicts {platform}, which is a {core}",
                hint="leave CPU out, or choose another board",
            )
        may = [each.value for each in CORES[Target.parse(core).core].isas]
        if isa == "mve" and isa in may and facts["platform_isa"] != "mve":
            raise CortexMError(
                f"ISA mve, but {platform} is configured without MVE", hint="set CONFIG_FPU=y"
            )
        cpu = cpu or core
        if cpu == core:
            isa = isa or facts["platform_isa"]
    elif not cpu:
        if toolchain:
            cpu, isa = toolchain, isa or facts["toolchain_isa"]
        elif facts["processor"].startswith("cortex-m"):
            cpu = facts["processor"]
        elif not facts["another"]:
            cpu = "host"
        else:
            raise CortexMError(
                "the toolchain does not say which core it builds for",
                hint="add CPU <core>, or set CORTEXM_CPU",
            )
    Target.parse(cpu, isa or None)
    if given and toolchain and cpu not in ("any", toolchain):
        raise CortexMError(
            f"CPU {cpu} contradicts the toolchain, which builds for {toolchain}",
            hint="leave CPU out, or set CORTEXM_CPU or CORTEXM_BOARD accordingly",
        )
    if cpu.startswith("cortex-m") and not core and facts["pointer"] == "8":
        raise CortexMError(
            f"CPU {cpu}, but {facts['compiler']} builds for {facts['processor']}",
            hint=f"configure an empty build folder with -DCORTEXM_CPU={cpu}, which selects "
            "arm-none-eabi-gcc, with -DCORTEXM_BOARD=<board>, or with a toolchain file of your own; "
            "see docs/cmake.md",
        )
    if not isa and cpu == toolchain:
        isa = facts["toolchain_isa"]
    target = Target.parse(cpu, isa or None)
    if not isa and not core and facts["compiler_isa"]:
        # Less than the core has, as with -mfloat-abi=soft, for which there is no MVE.
        allowed = Isa(facts["compiler_isa"])
        if allowed in target.isa.runs and allowed in CORES[target.core].isas:
            target = Target(target.core, allowed)
    return target


def _choice(facts: Facts, keyword: str) -> str:
    """A keyword's value, one of its choices."""
    (option,) = (option for option in OPTIONS if option.cmake == keyword)
    value = facts[keyword] or str(option.initial)
    if value not in option.choices and (value or option.initial):
        raise CortexMError(f"unknown {keyword} {value!r}", hint=did_you_mean(value, option.choices))
    return value


def _precision(facts: Facts, suffix: str) -> list[str]:
    """How the model is quantized, as far as that is not the default."""
    precision, calibrate = _choice(facts, "QUANTIZE"), facts["CALIBRATE"]
    parse_quantization(precision, calibrate)
    words = ["--quantize", precision] if precision != "int8" else []
    words += ["--calibrate", calibrate] if calibrate else []
    if words and suffix not in PYTORCH:
        raise CortexMError(
            f"QUANTIZE and CALIBRATE are for a model.py or .pt2; {Path(facts['path']).name} is quantized "
            "already",
            hint="leave them out, or say QUANTIZE int8 where another one is the default",
        )
    return words


def _memories(facts: Facts, section: str) -> dict[str, list[str] | str]:
    """Where arenas lie: the main one, and one in each other memory."""
    given = facts.all("REGIONS")
    if given == ["board"]:
        raise CortexMError(
            "REGIONS board, but no board says what memories it has",
            hint="set CORTEXM_BOARD, or list them: REGIONS dtcm=128K:fast sram=2M",
        )
    regions = [region for region in parse_regions(given) if region.kind != "weights"]
    main = next((region for region in regions if region.kind == "ram"), None)
    others = [region for region in regions if region is not main]
    return {
        "section": section or (main.section if main else ""),
        "other_memories": [region.name for region in others],
        **{f"section_{region.name}": region.section for region in others},
    }


def _calibration(facts: Facts, suffix: str) -> list[str]:
    path = facts["calibration"]
    if not path:
        return []
    if not facts["calibration_generated"] and not Path(path).exists():
        raise CortexMError(
            f"CALIBRATION {path} does not exist", hint=f"paths are relative to {facts['folder']}"
        )
    if suffix not in PYTORCH:
        raise CortexMError(
            f"CALIBRATION is for a model.py or .pt2; {Path(facts['path']).name} is already quantized",
            hint="leave CALIBRATION out",
        )
    return ["--calibration", path]


def _samples(facts: Facts, suffix: str) -> tuple[str, str]:
    """How many samples; and a warning if there will be fewer."""
    path = Path(facts["path"])
    if not facts.all("SAMPLES"):
        # The test vectors of a bundled program are there to be run.
        return "all" if suffix == ".bpte" else "", ""
    count = facts["SAMPLES"]
    if not re.fullmatch("[1-9][0-9]*|all", count):
        raise CortexMError(
            f"SAMPLES {count!r} is not a positive number", hint="write how many samples, or all"
        )
    if suffix in (".pte", ".tflite"):
        raise CortexMError(
            f"SAMPLES, but {path.name} has no inputs to take samples from",
            hint="leave SAMPLES out, or give the model file, or a .bpte with test vectors",
        )
    if suffix == ".pt2" and count != "1":
        return count, (
            f"SAMPLES {count}, but {path.name} holds one: the inputs that it was exported with\n"
            "hint: write SAMPLES 1"
        )
    if suffix == ".py" and count != "1" and path.is_file():
        # It may come from elsewhere under this name only by a star.
        text = path.read_text(encoding="utf-8", errors="replace")
        if not re.search("EvaluationInputs|import +[*]", text):
            return count, (
                f"SAMPLES {count}, but {path.name} defines no EvaluationInputs: there will be one "
                "sample, of its ModelInputs\nhint: define EvaluationInputs (docs/pipeline.md), or "
                "write SAMPLES 1"
            )
    return count, ""


def _products(
    name: str, file: str, executorch: bool, embeds: bool, samples: bool, *, apart: bool
) -> dict[str, Value]:
    """The generated files: sources to compile, and all."""
    kinds = ["_operators.c", "_kernels.cpp"] if executorch else [] if apart else ["_weights.c"]
    kinds += ["_pte.c"] if embeds else []
    kinds += ["_samples.c"] if samples else []
    sources = [f"{name}.c", *(name + kind for kind in kinds)]
    others = [f"{name}.h", file, f"{name}.report.json"]
    others += [f"{name}_samples.h"] if samples else []
    others += [f"{name}.weights.bin", f"{name}.weights.json"] if apart else []
    return {"sources": sources, "products": [*sources, *others]}


def cmake_code(settled: Mapping[str, Value]) -> str:
    """Code that sets the variables."""
    lines = []
    for key, value in settled.items():
        if isinstance(value, bool):
            value = "TRUE" if value else "FALSE"
        text = ";".join(value) if isinstance(value, list) else value
        fence = "=" * next(n for n in range(1, 99) if f"]{'=' * n}]" not in text)
        lines.append(f"set(SETTLED_{key} [{fence}[{text}]{fence}])")
    return "\n".join(lines) + "\n"
