# SPDX-License-Identifier: Apache-2.0
"""Files of different compilations, and arenas for other models, do not become an image."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.emit import EmitOptions, Sample, emit
from cortexm_tools.emit.files import write_files
from cortexm_tools.errors import CortexMError
from cortexm_tools.options.arena import SharedArena
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.cores import cross_compiler
from tests.support.graphs import Net

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = [Sample(bytes(64), bytes(64), 1)]


def plan_of(channels: int, seed: int = 5) -> Plan:
    net = Net("net", seed=seed)
    y = net.conv(net.input((1, 2, 8, 8)), channels)
    return make_plan(simplify(net.finish(y)), Target.parse("cortex-m3"))


def files_of(plan: Plan, name: str = "net", **options: object) -> dict[str, str]:
    chosen = EmitOptions(name, "test", "0" * 64, **options)  # type: ignore[arg-type]
    return emit(plan, chosen, pte=b"1234", samples=SAMPLES)


def compiled(folder: Path, *sources: str) -> str:
    """What the compiler says; each source becomes an object."""
    include = ["-I.", f"-I{ROOT}/runtime/include", f"-I{ROOT}/kernels/include"]
    include += ["-std=c11", "-Wall", "-Wextra", "-Os"]
    command = [*cross_compiler("cortex-m3"), *include, "-c", *sources]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr


def undefined(folder: Path, *sources: str) -> set[str]:
    """The symbols that the linked objects of `sources` lack, without the functions of libraries."""
    objects = [str(Path(source).with_suffix(".o")) for source in sources]
    subprocess.run(["arm-none-eabi-ld", "-r", "-o", "all.o", *objects], cwd=folder, check=True)
    command = ["arm-none-eabi-nm", "-u", "-f", "posix", "all.o"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found = {line.split()[0] for line in done.stdout.splitlines()}
    return {name for name in found if not re.fullmatch(r"cortexm_\w+_(scalar|v7m)|mem\w+", name)}


def test_constants_of_another_build_do_not_link(tmp_path: Path) -> None:
    plan, new = plan_of(3), files_of(plan_of(3))
    write_files(tmp_path, new)
    assert not compiled(tmp_path, "net.c", "net_weights.c")
    assert undefined(tmp_path, "net.c", "net_weights.c") == set()
    # The name costs nothing: the object holds the constants and no more.
    command = ["arm-none-eabi-size", "net_weights.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    sizes = [int(word) for word in done.stdout.splitlines()[1].split()[:3]]
    aligned = sum(-(-constant.nbytes // 4) * 4 for constant in plan.constants)
    assert sum(sizes) <= aligned and sum(sizes) >= plan.constant_bytes
    # The same program and interface; one seed more.
    write_files(tmp_path, {"net_weights.c": files_of(plan_of(3, seed=6))["net_weights.c"]})
    assert not compiled(tmp_path, "net_weights.c")
    (missing,) = undefined(tmp_path, "net.c", "net_weights.c")
    assert missing.startswith("net_weights_are_of_build_")


@pytest.mark.parametrize("stale", ["net.h", "net.c", "net_pte.c", "net_samples.c", "net_samples.h"])
def test_files_of_another_build_do_not_compile(stale: str, tmp_path: Path) -> None:
    """As a compilation that was killed leaves them."""
    write_files(tmp_path, files_of(plan_of(3)))
    sources = sorted(path.name for path in tmp_path.glob("*.c"))
    assert not compiled(tmp_path, *sources)
    write_files(tmp_path, {stale: files_of(plan_of(4))[stale]})
    said = compiled(tmp_path, *sources)
    assert "come from different compilations of the model: compile it again" in said


def test_equal_runs_are_one_build() -> None:
    assert files_of(plan_of(3)) == files_of(plan_of(3))


def test_shared_arena_is_as_large_as_each_model_needs(tmp_path: Path) -> None:
    shared = {"arena": SharedArena("all")}
    small, large = plan_of(3), plan_of(9)
    write_files(tmp_path, files_of(small, "kws", **shared) | files_of(large, "vad", **shared))
    arena = (
        '#include "kws.h"\n#include "vad.h"\n'
        "_Alignas(16) uint8_t cortexm_arena_all[{}];\nKWS_SHARED_ARENA\nVAD_SHARED_ARENA\n"
    )
    models = ("kws.c", "kws_weights.c", "vad.c", "vad_weights.c", "arena.c")
    write_files(tmp_path, {"arena.c": arena.format("VAD_ARENA_SIZE")})
    assert not compiled(tmp_path, *models)
    assert undefined(tmp_path, *models) == set()
    write_files(tmp_path, {"arena.c": arena.format("VAD_ARENA_SIZE - 1")})
    assert "is smaller than one of its models needs" in compiled(tmp_path, "arena.c")
    # Compiled for an earlier, smaller model of that name.
    write_files(tmp_path, files_of(plan_of(8), "vad", **shared))
    write_files(tmp_path, {"arena.c": arena.format("VAD_ARENA_SIZE")})
    assert not compiled(tmp_path, "arena.c")
    write_files(tmp_path, files_of(large, "vad", **shared))
    assert not compiled(tmp_path, *models[:-1])
    assert undefined(tmp_path, *models) == {
        f"cortexm_arena_all_has_{large.main_size}_bytes_for_vad"
    }


def test_names_that_differ_only_in_capitals_do_not_compile(tmp_path: Path) -> None:
    plan = plan_of(3)
    write_files(tmp_path, files_of(plan, "kws") | files_of(plan, "KWS"))
    write_files(tmp_path, {"both.c": '#include "kws.h"\n#include "KWS.h"\n'})
    assert "differ only in capitals" in compiled(tmp_path, "both.c")


def test_more_tensors_than_a_byte_counts(tmp_path: Path) -> None:
    plan = plan_of(3)

    def repeated(count: int) -> Plan:
        return replace(plan, graph=replace(plan.graph, outputs=plan.graph.outputs * count))

    write_files(tmp_path, files_of(repeated(300)))
    assert not compiled(tmp_path, "net.c")  # the compiler warns where a number is cut
    assert "#define NET_OUTPUT_COUNT 300\n" in (tmp_path / "net.h").read_text()
    with pytest.raises(CortexMError, match="65,536 outputs, and no more than 65,535"):
        files_of(repeated(65536))
