# SPDX-License-Identifier: Apache-2.0
"""What cortexm_add_model() asks Python while CMake configures, without CMake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cortexm_tools.cli.configure import Facts, Value, settle
from cortexm_tools.errors import CortexMError

ROOT = Path(__file__).resolve().parents[2]
PTE = ROOT / "tests" / "data" / "digits" / "digits.pte"
CROSS = ("another=1", "processor=arm", "pointer=4", "compiler=gcc")
ZEPHYR = (*CROSS, "platform=the board x", "platform_cpu=cortex-m55", "platform_isa=dsp")


def settled(*words: str) -> dict[str, Value]:
    return settle(Facts([f"model={PTE.name}", f"path={PTE}", "folder=/source", *words]))


@pytest.mark.parametrize(
    ("words", "cpu", "isa"),
    [
        (("processor=x86_64", "pointer=8"), "host", "scalar"),
        ((*CROSS, "CPU=Cortex-M4"), "cortex-m4", "dsp"),
        ((*CROSS, "CPU=cortex-m4", "ISA=SCALAR"), "cortex-m4", "scalar"),
        (("processor=cortex-m33", *CROSS), "cortex-m33", "dsp"),
        ((*CROSS, "toolchain_cpu=cortex-m55", "toolchain_isa=dsp"), "cortex-m55", "dsp"),
        ((*CROSS, "toolchain_cpu=cortex-m55", "CPU=any"), "any", "scalar"),
        (ZEPHYR, "cortex-m55", "dsp"),
        ((*ZEPHYR, "ISA=scalar"), "cortex-m55", "scalar"),
        ((*ZEPHYR, "CPU=any"), "any", "scalar"),
    ],
)
def test_the_core_is_of_the_call_the_platform_or_the_toolchain(
    words: tuple[str, ...], cpu: str, isa: str
) -> None:
    found = settled(*words)
    assert (found["cpu"], found["isa"]) == (cpu, isa)


def test_a_stream_is_passed_on() -> None:
    host = ("processor=x86_64", "pointer=8")
    assert "--stream" not in settled(*host)["options"]  # type: ignore[operator]
    options = settled(*host, "STREAM=2:1:causal")["options"]
    assert isinstance(options, list) and options[options.index("--stream") + 1] == "2:1:causal"
    with pytest.raises(CortexMError, match="STREAM cannot be '2'"):
        settled(*host, "STREAM=2")


def test_kernels_read_words_at_any_address() -> None:
    for cpu, warned in (("cortex-m4", True), ("any", False)):
        for words in ((), ("aligned=1",)):
            said = settled(*CROSS, f"CPU={cpu}", *words)["warning"]
            assert ("-mno-unaligned-access" in str(said)) == (warned and bool(words))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (CROSS, "the toolchain does not say which core"),
        (
            (*ZEPHYR, "CPU=cortex-m4"),
            "CPU cortex-m4 contradicts the board x, which is a cortex-m55",
        ),
        ((*ZEPHYR, "ISA=mve"), "the board x is configured without MVE"),
        ((*CROSS, "toolchain_cpu=cortex-m3", "CPU=cortex-m4"), "which builds for cortex-m3"),
        (("pointer=8", "CPU=cortex-m4", "compiler=cc", "processor=x86_64"), "cc builds for x86_64"),
        (("pointer=8", "REGIONS=a=1K", "REGIONS=A=2K"), "region 'a' is given twice"),
    ],
)
def test_contradictions(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(CortexMError) as caught:
        settled(*words)
    assert message in caught.value.message and caught.value.hint


def test_memories_and_products() -> None:
    regions = ("REGIONS=tcm=1K:fast", "REGIONS=sram=2M@.bss.x", "REGIONS=ext=8M:weights@.q")
    found = settled("CPU=host", "ARENA=shared:a", "EMBED_PTE=1", "RAM_LIMIT=2K", *regions)
    assert (found["group"], found["section"], found["other_memories"]) == ("a", ".bss.x", ["tcm"])
    assert found["section_tcm"] == ".cortexm.arena.tcm"
    assert found["measure"] == ["--ram-limit", "2048"]
    sources = ["digits.c", "digits_weights.c", "digits_pte.c"]
    assert found["sources"] == sources
    products = [*sources, "digits.h", "digits.pte", "digits.report.json"]
    assert found["products"] == products
    runtime = settled("CPU=host", "RUNTIME=executorch", "SECTION_ARENA=.y", *regions)
    assert runtime["section"] == ".y" and "--embed-pte" not in runtime["options"]
    assert runtime["sources"] == [
        "digits.c",
        "digits_operators.c",
        "digits_kernels.cpp",
        "digits_pte.c",
    ]


def test_a_page_is_asked_for() -> None:
    assert settled("CPU=host", "REPORT=html")["page"] is True
    assert settled("CPU=host")["page"] is False
    with pytest.raises(CortexMError, match="unknown REPORT 'htm'") as caught:
        settled("CPU=host", "REPORT=htm")
    assert "html" in caught.value.hint


def test_configuring_imports_nothing_heavy() -> None:
    """It runs for every model of every project, also where packages are missing."""
    code = (
        "import sys\n"
        "from cortexm_tools.cli import configure\n"
        "assert not {'numpy', 'torch', 'argparse'} & set(sys.modules), sys.modules\n"
    )
    path = {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=path, capture_output=True)
    assert done.returncode == 0, done.stderr
