# SPDX-License-Identifier: Apache-2.0
"""Plans over several memories: what goes where, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cortexm_tools.emit import EmitOptions, emit
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.options.arena import SharedArena
from cortexm_tools.options.memories import parse_region, parse_regions
from cortexm_tools.plan import Plan, SearchSpace, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.memory.regions import NoRoom
from cortexm_tools.plan.search.choose_bands import choose_chains
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.random_graphs import random_network, random_tower

M55 = Target.parse("cortex-m55")


def plan_of(seed: int, *regions: str) -> Plan:
    return make_plan(simplify(random_network(seed)), M55, parse_regions(regions))


def bytes_by_kind(plan: Plan) -> dict[str, int]:
    return {arena.region.kind: arena.size for arena in plan.arenas}


def test_forms_of_a_region() -> None:
    dtcm = parse_region("dtcm=128K:fast")
    assert (dtcm.size, dtcm.kind, dtcm.section) == (131072, "fast", ".cortexm.arena.dtcm")
    assert parse_region("qspi=8M:weights").section == ".cortexm.weights.qspi"
    assert parse_region("sram=100@.bss.x") == replace(
        parse_region("sram=100:ram"), section=".bss.x"
    )
    assert parse_region("sram=100@").section == ""


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["dtcm"], "describes no memory region"),
        (["dtcm=lots"], "is not a size"),
        (["dtcm=1K:quick"], "unknown kind of region 'quick'"),
        (["2nd=1K"], "is not a C identifier"),
        (["a=1K", "a=2K"], "given twice"),
        (["a=1K:fast"], "all RAM regions are fast"),
    ],
)
def test_bad_regions(texts: list[str], message: str) -> None:
    with pytest.raises(CortexMError, match=message):
        parse_regions(texts)


def test_distances_of_any_number_are_kept_in_each_region(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 bytes, in a region that begins at no multiple of them: parts of pixels of a concatenation."""
    monkeypatch.setattr("cortexm_tools.simplify.multiples._CHANNELS", 4)
    plan = plan_of(25, "sram=1M", "dtcm=512:fast")
    odd = [buffer for buffer in plan.buffers if buffer.align & (buffer.align - 1)]
    assert any(
        (b.offset - plan.arenas[b.region].base) % b.align == 0 < b.offset % b.align for b in odd
    )


@pytest.mark.parametrize("seed", range(30))
def test_fast_memory_is_used_and_never_overfilled(seed: int) -> None:
    whole = plan_of(seed)
    for size in (0, 64, 512, 4096, 1 << 20):
        plan = plan_of(seed, "sram=1M", f"dtcm={size}:fast")
        main, fast = plan.arenas
        assert fast.size <= size and plan.arena_size == main.size + fast.size
        inside = [b for b in plan.buffers if b.region == 1]
        assert all(fast.base <= b.offset <= plan.arena_size - b.nbytes for b in inside)
        outside = {plan.buffer_of[i] for i in (*plan.graph.inputs, *plan.graph.outputs)}
        assert all(plan.buffers[i].region == 0 for i in outside)
        if size >= 2 * whole.arena_size:
            # There is room for everything that may go there.
            assert {i for i, b in enumerate(plan.buffers) if b.region == 0} == outside
    # Without fast memory, and with room, the first region takes all.
    plan = plan_of(seed, "sram=1M", "other=1M")
    assert [arena.size for arena in plan.arenas] == [whole.arena_size, 0]


@pytest.mark.parametrize("seed", range(12))
def test_a_region_of_just_the_size_is_enough(seed: int) -> None:
    """Buffers that overlap count once; with less room, operators are computed in bands of rows."""
    whole = plan_of(seed)
    assert plan_of(seed, f"sram={whole.arena_size}").arena_size <= whole.arena_size
    graph = simplify(random_tower(seed))
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    limit = candidates.smallest(choose_chains(candidates, Optimize.SIZE, None))
    regions = parse_regions([f"sram={max(limit, 256)}"])
    assert make_plan(graph, M55, regions).arena_size <= max(limit, 256)


@pytest.mark.parametrize("make", [random_network, random_tower])
def test_more_memory_never_hurts(make: Callable[[int], Graph]) -> None:
    """What fits into one memory also does if there is a small fast one beside it."""
    for seed in range(10):
        graph = simplify(make(seed))
        smallest = make_plan(graph, M55, ram_limit=1).arena_size
        for more in (["tcm=64:fast"], ["tcm=256:fast"], ["tcm=64:fast", "other=128"]):
            regions = parse_regions([f"sram={smallest}", *more])
            plan = make_plan(graph, M55, regions)
            assert plan.arenas[0].size <= smallest
        with pytest.raises(NoRoom, match="in one memory the model takes"):
            make_plan(graph, M55, parse_regions(["sram=16", "tcm=16:fast"]))


def test_a_limit_counts_all_memories() -> None:
    graph = simplify(random_tower(1))
    free = make_plan(graph, M55).arena_size
    smallest = make_plan(graph, M55, ram_limit=1).arena_size
    assert smallest < free
    for size in (96, 1024, 1 << 20):
        regions = parse_regions(["sram=1M", f"tcm={size}:fast"])
        assert make_plan(graph, M55, regions, ram_limit=smallest).arena_size <= smallest
        plan = make_plan(graph, M55, regions, ram_limit=2 * free)
        assert plan.arenas[1].size > 0


def test_tensors_spill_into_the_next_region() -> None:
    whole = plan_of(11)
    need = max(whole.graph.tensors[i].nbytes for i in (*whole.graph.inputs, *whole.graph.outputs))
    plan = plan_of(11, f"small={need + 16}", "large=1M")
    assert plan.arenas[1].size > 0
    with pytest.raises(CortexMError, match="fits into no memory region"):
        plan_of(11, f"small={need + 16}", "large=16")


def test_constants_fill_the_regions_in_their_order() -> None:
    whole = plan_of(5)
    half = whole.constant_bytes // 2
    plan = plan_of(5, "sram=1M", f"flash={half}:weights", "qspi=1M:weights")
    sections = {constant.section for constant in plan.constants}
    assert sections == {".cortexm.weights.flash", ".cortexm.weights.qspi"}
    inside = sum(c.nbytes for c in plan.constants if c.section.endswith("flash"))
    assert inside <= half
    with pytest.raises(CortexMError, match="fits into no region for weights"):
        plan_of(5, f"flash={half}:weights")


def test_plans_that_break_a_region_are_refused() -> None:
    plan = plan_of(5, "sram=1M", "dtcm=4K:fast")
    main, fast = plan.arenas
    small = replace(fast, region=replace(fast.region, size=fast.size - 1))
    with pytest.raises(CortexMError, match="larger than its region"):
        check_plan(replace(plan, arenas=(main, small)))
    with pytest.raises(CortexMError, match="do not follow each other"):
        check_plan(replace(plan, arenas=(main, replace(fast, base=fast.base + 16))))
    index = next(i for i, b in enumerate(plan.buffers) if b.region == 1)
    moved = replace(plan.buffers[index], region=0)
    buffers = (*plan.buffers[:index], moved, *plan.buffers[index + 1 :])
    with pytest.raises(CortexMError, match="outside the arena"):
        check_plan(replace(plan, buffers=buffers))


def test_generated_code_names_the_memories() -> None:
    plan = plan_of(5, "sram=1M", "dtcm=4K:fast", "qspi=1M:weights")
    files = emit(plan, EmitOptions("net", "test", "0" * 64))
    source, weights = str(files["net.c"]), str(files["net_weights.c"])
    assert 'CORTEXM_NOBITS(".cortexm.arena.sram", static _Alignas' in source
    named = str(emit(plan, EmitOptions("net", "test", "0" * 64, section_arena=".here"))["net.c"])
    assert 'CORTEXM_NOBITS(".here", static _Alignas' in named and ".cortexm.arena.sram" not in named
    shared = EmitOptions("net", "test", "0" * 64, arena=SharedArena("all"))
    text = str(emit(plan, shared)["net.c"])
    size = plan.arenas[1].size
    array = f"cortexm_arena_all__dtcm_has_{size}_bytes_for_net"
    assert f"static uint8_t *const net_own_arena_dtcm = {array};" in text
    assert "_Alignas" not in text
    assert f"#define NET_ARENA_DTCM_SIZE {plan.arenas[1].size}\n" in str(files["net.h"])
    array = f"static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t net_own_arena_dtcm[{size}]"
    assert f'CORTEXM_NOBITS(".cortexm.arena.dtcm", {array})' in source
    assert "net_own_arena_dtcm + " in source and "@dtcm+" in source
    assert f"#define NET_ARENA_SIZE {plan.main_size}\n" in str(files["net.h"])
    assert weights.count('section(".cortexm.weights.qspi")') == len(plan.constants)
