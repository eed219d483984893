# SPDX-License-Identifier: Apache-2.0
"""The estimate of cycles: classes of instructions, costs, and published latencies."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cortexm_tools.run.classes import CLASSES, EVENTS, class_of, mix_of, register_count
from cortexm_tools.run.counts import Executed, read_counts
from cortexm_tools.run.cycles import Estimate, estimate
from cortexm_tools.run.disassembly import disassemble, find_objdump
from cortexm_tools.target import CORES, Core

from benchmarks import cycles
from tests.support.cores import cross_compiler

ROOT = Path(__file__).parents[2]
DATA = json.loads(cycles.DATA.read_text())
M55 = cross_compiler("cortex-m55")
KINDS = """
alu: adds r0, r1 | mov r8, r0 | sxtb16 r0, r1 | ssat r0, #8, r1 | lsls r0, r1, #3 | csel r0, r1, r2, eq
multiply: muls r0, r1, r0 | mla r0, r1, r2, r3 | smlad r0, r1, r2, r3 | smmulr r0, r1, r2
multiply_long: smull r0, r1, r2, r3 | smlald r0, r1, r2, r3
divide: sdiv r0, r1, r2
load: ldr r0, [r1] | ldrsb r0, [r1, r2] | ldr r0, [r1], #4
load_double: ldrd r0, r1, [r2]
load_multiple: ldm r0!, {r1, r2, r3} | pop {r4}
store: strb r0, [r1]
store_double: strd r0, r1, [r2]
store_multiple: push {r4, r5}
loop: dls lr, r0 | lctp
branch: bx lr
float: vadd.f32 s0, s1, s2 | vmov s0, r0 | vcvt.s32.f32 s0, s1
float_multiply_add: vfma.f32 s0, s1, s2
float_divide: vdiv.f32 s0, s1, s2 | vsqrt.f32 s0, s1
float_load: vldr s0, [r0]
vector: vadd.i32 q0, q1, q2 | vaddva.s32 r0, q0 | vrshl.s32 q0, q1 | vdup.8 q0, r0 | vqmovnb.s32 q0, q1
vector_multiply: vmladava.s8 r0, q0, q1 | vmlas.s32 q0, q1, r0 | vqrdmulh.s32 q0, q1, r2 | vmul.i16 q0, q1, q2
vector_load: vldrb.u8 q0, [r0], #16 | vldrw.u32 q0, [r0] | vld20.8 {q0, q1}, [r0]
vector_store: vstrb.32 q0, [r0], #4
vector_gather: vldrb.s32 q0, [r0, q1] | vldrw.u32 q0, [q1, #4]
vector_scatter: vstrb.32 q0, [r0, q1]
predicate: vctp.8 r0 | vmsr p0, r0
"""


def test_classes_of_instructions(tmp_path: Path) -> None:
    expected: list[str] = []
    lines = [".syntax unified", ".thumb", ".type f, %function", ".thumb_func", "f:"]
    for row in KINDS.strip().splitlines():
        kind, _, words = row.partition(":")
        for word in words.split("|"):
            lines.append(word.strip())
            expected.append(kind)
    (tmp_path / "a.s").write_text("\n".join(lines) + "\n")
    command = [*M55, "-nostdlib", "-Wl,-e,0", "-o", "a.elf", "a.s"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = disassemble(find_objdump(M55), tmp_path / "a.elf").instructions
    found = [code[address] for address in sorted(code)]
    assert [(class_of(i), i.mnemonic) for i in found] == [
        (kind, i.mnemonic) for kind, i in zip(expected, found, strict=True)
    ]
    assert set(expected) <= set(CLASSES)
    assert register_count("{r4-r7, lr}") == 5 and register_count("sp!, {d8-d11}") == 4

    # The classes add up; events come on top.
    executed = {address: Executed(10, 7, 0) for address in code}
    mix = mix_of(code, executed)
    assert sum(n for kind, n in mix.items() if kind not in EVENTS) == 7 * len(code)
    assert mix["fetched"] == 7 * len(code)
    assert mix["registers"] == 7 * (3 + 1 + 2) and mix["elements"] == 7 * (4 + 4 + 4)


def test_plugin_file() -> None:
    counts = read_counts("mark 100\nmark 250\ninsn 1f4 30 20 5\n")
    assert counts.marks == (100, 250)
    assert counts.instructions == {0x1F4: Executed(30, 20, 5)}


def test_sums_of_costs() -> None:
    mix = {"alu": 100, "load": 10, "branch": 5, "taken": 4, "fetched": 115, "vector_gather": 0}
    assert estimate(Core.M0PLUS, mix) == Estimate(100 + 20 + 5 + 4, round(100 + 30 + 5 + 8 + 11.5))
    assert estimate(Core.M23, mix) is None
    # Without a line of its own an instruction costs as `alu`; an event without one costs nothing.
    assert estimate(Core.M4, {"predicate": 10, "elements": 10}) == Estimate(10, 10)


@pytest.mark.parametrize("core", [core for core in CORES if CORES[core].cycles])
def test_tables_are_intervals_of_known_classes(core: Core) -> None:
    table = CORES[core].cycles
    assert set(table) <= {*CLASSES, *EVENTS} and "alu" in table
    assert all(0 <= low <= high for low, high in table.values())


def test_published_latencies_lie_in_their_intervals() -> None:
    rows = cycles.comparisons(DATA)
    assert {row.core for row in rows} == {"cortex-m4", "cortex-m33", "cortex-m85"}
    assert [row for row in rows if not row.inside] == []
    # An interval that holds everything would say nothing.
    assert all(row.interval.high < 3.2 * row.interval.low for row in rows)
    for software, core, model, published, low, high in cycles.ratios(DATA):
        if core == "cortex-m7":
            assert low <= published <= high, (software, model)


def test_operators_on_the_m55_lie_in_their_intervals() -> None:
    lines = cycles.operator_table(DATA)
    assert len(lines) == 2 + 9 and not any("OUTSIDE" in line for line in lines)


def test_our_mixes_promise_no_more_than_is_recorded() -> None:
    """A mix that is older than the kernels may have more instructions than they execute, not fewer."""
    recorded = json.loads((ROOT / "benchmarks" / "recorded.json").read_text())["tables"]["float"]
    for model in cycles.MODELS:
        for cpu in ("cortex-m55", "cortex-m4"):
            mix = DATA["own_mixes"][cpu][model]
            assert mix["fetched"] >= 0.999 * recorded[cpu][model]["instructions"], (model, cpu)


def test_page_has_the_tables() -> None:
    page = cycles.PAGE.read_text()
    assert cycles.with_tables(page, DATA) == page


def test_contributed_measurements_lie_in_their_intervals(tmp_path: Path) -> None:
    """Those of benchmarks/boards; and one outside is seen."""
    assert not any("OUTSIDE" in line for line in cycles.board_table())
    measured = {
        **{"format": "cortexm-measurement", "version": 1, "board": "b", "cpu": "cortex-m4"},
        **{"isa": "dsp", "emulated": False, "counter": "DWT CYCCNT", "matched": True},
        **{"clock": {}, "kernels": {}, "layers": [], "model": {"name": "m"}},
        "mix": {"alu": 1000, "load": 500, "fetched": 1500},
    }
    for name, count in (("a", 2000), ("b", 5000)):
        (tmp_path / f"{name}.json").write_text(json.dumps({**measured, "cycles": count}))
    inside, outside = cycles.board_table(tmp_path)[2:]
    assert inside.endswith("| inside |") and "| b | cortex-m4 | m | 5,000 |" in outside
    assert outside.endswith("| OUTSIDE |")
