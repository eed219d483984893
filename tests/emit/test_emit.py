# SPDX-License-Identifier: Apache-2.0
"""The generated C: its text for a small plan, its literals, and how files are written."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortexm_tools.emit import EmitOptions, Sample, cwriter, emit, emit_samples
from cortexm_tools.emit.cwriter import c_float, c_int, c_string
from cortexm_tools.emit.files import write_files
from cortexm_tools.emit.weights import blob_text
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.options.arena import CallerArena, SharedArena
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.types import ScratchArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.cores import cross_compiler
from tests.support.graphs import Net
from tests.support.random_graphs import random_tower

GOLDEN = Path(__file__).parent / "golden"


def tiny_files(**options: object) -> dict[str, str]:
    net = Net("tiny", seed=5)
    x = net.input((1, 2, 4, 4))
    y = net.conv(x, 3, (2, 2), padding=(0, 0, 1, 1))
    z = net.pool(net.activation(y), (4, 4), largest=False)
    return _files(net.finish(net.linear(net.view(z, (1, 3)), 2)), options)


def _files(graph: Graph, options: dict[str, object]) -> dict[str, str]:
    plan = make_plan(simplify(graph), Target.parse("cortex-m3"))
    fields = {
        "name": graph.name,
        "command": f"cortexm compile {graph.name}.pte --cpu cortex-m3",
        "digest": "0" * 64,
    }
    return emit(plan, EmitOptions(**(fields | options)))  # type: ignore[arg-type]


def stateful_files(**options: object) -> dict[str, str]:
    """A hidden state with an initial value, and a counter that begins at zero."""
    net = Net("stateful", seed=6)
    x, hidden, count = net.input((1, 4)), net.tensor((1, 6)), net.tensor((1,), DType.S32)
    total = net.sum(net.linear(x, 6), net.linear(hidden, 6))
    net.keep(hidden, net.activation(total), np.arange(6, dtype=np.int8).reshape(1, 6))
    one = net.constant(np.ones(1), DType.S32)
    more_calls = net.add(ops.Binary("add"), [count, one], (1,), DType.S32)
    net.keep(count, more_calls, np.zeros(1, np.int32))
    return _files(net.finish(net.linear(net.states[0].after, 2), more_calls), options)


@pytest.mark.parametrize("name", ["tiny.c", "tiny.h", "tiny_weights.c", "stateful.c", "stateful.h"])
def test_text_of_a_small_plan(name: str) -> None:
    """Refresh with UPDATE_GOLDEN=1 and read the difference."""
    text = (tiny_files() | stateful_files())[name]
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_equal_parameter_blocks_are_one() -> None:
    net = Net()
    x = net.input((1, 4, 8, 8))
    graph = net.finish(net.pool(x, (2, 2), largest=True), net.pool(x, (2, 2), largest=True))
    plan = make_plan(simplify(graph), Target.parse("cortex-m4"))
    text = emit(plan, EmitOptions("net", "", ""))["net.c"]
    assert text.count("static const cortexm_pool_s8_t ") == 1
    assert text.count("&net_op0_params") == 2


def test_sections_and_arena() -> None:
    files = tiny_files(section_arena=".dtcm", section_weights=".ext")
    assert 'CORTEXM_NOBITS(".dtcm", static _Alignas' in files["tiny.c"]
    assert files["tiny_weights.c"].count('section(".ext")') == files["tiny_weights.c"].count("= {")
    assert ".arena = NULL," in tiny_files(arena=CallerArena())["tiny.c"]
    shared = tiny_files(arena=SharedArena("pool"))["tiny.c"]
    assert "extern uint8_t cortexm_arena_pool_has_208_bytes_for_tiny[];" in shared
    assert ".arena = cortexm_arena_pool_has_208_bytes_for_tiny," in shared
    assert "own_arena" not in shared


def test_state_stays_outside_a_shared_arena() -> None:
    text = stateful_files(arena=SharedArena("pool"), section_arena=".dtcm")["stateful.c"]
    assert "extern uint8_t cortexm_arena_pool_has_16_bytes_for_stateful[];" in text
    state = "_Alignas(CORTEXM_ARENA_ALIGN) uint8_t stateful_state[STATEFUL_STATE_SIZE]"
    assert f'CORTEXM_NOBITS(".dtcm", {state})' in text


def test_poison_leaves_state_alone() -> None:
    text = stateful_files(poison=True)["stateful.c"]
    assert "memset(arena + " in text
    spans = re.findall(r"memset\(stateful_state \+ (\d+), 0xA5, (\d+)\)", text)
    assert set(spans) == {("6", "2"), ("12", "4")}  # between the states, and behind them


def test_poison_in_bands() -> None:
    """Behind the rows that a band keeps for the next one, and in scratch, after every call."""
    target = Target.parse("cortex-m55")
    plan = make_plan(simplify(random_tower(1)), target, optimize=Optimize.SIZE)
    moves = [call for step in plan.steps for call in step.calls if call.kernel.op == "move"]
    assert moves and any(call.turns > 1 for call in moves)
    lines = str(emit(plan, EmitOptions("net", "", "", poison=True))["net.c"]).splitlines()
    ends = [n for n, line in enumerate(lines) if line.endswith(");") and "memset" not in line]
    kept = [n for n, line in enumerate(lines) if "    cortexm_move_x8" in line]
    assert len(kept) == len(moves)
    for number in kept:
        assert "memset(" in lines[next(end for end in ends if end >= number) + 1]
    calls = [(n, call) for n, step in enumerate(plan.steps) for call in step.calls]
    scratch = [
        plan.buffers[plan.scratch_of[n]]
        for n, call in calls
        if any(isinstance(arg, ScratchArg) and arg.nbytes for arg in call.args)
    ]
    text = "\n".join(lines)
    for buffer in scratch:
        assert f"memset(arena + {buffer.offset}, 0xA5, {buffer.nbytes});" in text
    assert scratch and text.count("memset(") >= len(kept) + len(scratch)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_read_back(value: float) -> None:
    assert np.float32(float.fromhex(c_float(value).removesuffix("f"))) == np.float32(value)


@pytest.mark.parametrize("dtype", ["bool", "u1", "i1", "i2", "i4", "i8", "f4"])
def test_lines_are_the_same_in_blocks_of_any_size(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).integers(0, 256, 2400, np.uint8).view(dtype)
    values = values[: len(values) - 1]
    with np.errstate(invalid="ignore"):
        lines = cwriter.array_lines(values)
    words = " ".join(lines).replace(",", " , ").split(" , ")
    assert [word.strip() for word in words if word.strip()] == cwriter._words(values)
    assert all(line.startswith("    ") and line.endswith(",") for line in lines)
    assert max(map(len, lines)) <= 100 and len(lines[0]) + len(lines[1].split(",")[0]) > 98
    for size in (1, 2, 63, 1000, len(values)):
        monkeypatch.setattr(cwriter, "_BLOCK", size)
        assert cwriter.array_lines(values) == lines


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_])
def test_many_bytes_are_a_string(dtype: type, tmp_path: Path) -> None:
    """Which compilers read ten times as fast as numbers; the same bytes, without a zero behind them."""
    values = np.random.default_rng(0).integers(0, 256, 1 << 16).astype(np.uint8)
    values[: 3 * 256] = np.concatenate([np.arange(256), np.full(512, ord("?"))])
    values = values.astype(dtype) if dtype is np.bool_ else values.view(dtype)
    lines = cwriter.array_lines(values)
    assert all(len(line) <= 100 for line in lines) and lines[0].startswith('    "')

    source = tmp_path / "bytes.c"
    text = [
        "#include <stdint.h>",
        *cwriter.string_pragmas([values.nbytes]),
        f"const {cwriter.c_type(values)} bytes[{values.size}] = {{",
        *lines,
        "};",
    ]
    source.write_text("\n".join([*text, ""]))
    options = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"]
    subprocess.run(["gcc", *options, str(source)], check=True, cwd=tmp_path)
    subprocess.run(
        ["objcopy", "-O", "binary", "-j", ".rodata", "bytes.o", "raw"], check=True, cwd=tmp_path
    )
    assert (tmp_path / "raw").read_bytes() == values.tobytes()


def test_what_is_too_large_for_a_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cwriter, "MOST_WRITTEN", 8)
    with pytest.raises(
        CortexMError, match="table of constants has 580 bytes, .* at most 8"
    ) as error:
        tiny_files()
    assert "WEIGHTS partition" in error.value.hint and error.value.where == "tiny"
    assert "tiny_weights.c" not in tiny_files(weights_apart=True)
    with pytest.raises(CortexMError, match="set of samples has 9 bytes"):
        emit_samples(EmitOptions("net", "", ""), [Sample(b"12345", b"6789", 1)])
    with pytest.raises(CortexMError, match="program has 9 bytes"):
        blob_text(EmitOptions("net", "", ""), "net_pte", bytes(9))


def test_integer_limits_are_legal_c() -> None:
    assert c_int(-(2**31)) == "(-2147483647 - 1)"
    assert c_int(2**31) == "INT64_C(2147483648)"
    assert c_int(-5) == "-5"


def test_strings_are_escaped() -> None:
    assert c_string('a"b\\c?\n\u00e9') == '"a\\042b\\134c\\077\\012\\303\\251"'


def test_files_are_written_only_when_they_change(tmp_path: Path) -> None:
    assert write_files(tmp_path, {"a": "1", "b": b"2"}) == ["a", "b"]
    before = (tmp_path / "a").stat().st_mtime_ns
    assert write_files(tmp_path, {"a": "1", "b": b"3"}) == ["b"]
    assert (tmp_path / "a").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_failed_write_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every point of failure: each file is the old or the new one, and nothing else is left."""
    old, new = {"a": "old", "b": "old", "c": "old"}, {"a": "new", "b": "new", "c": "new"}
    for fail_at in range(6):
        folder = tmp_path / str(fail_at)
        write_files(folder, old)
        steps = 0

        def failing(function: object, limit: int = fail_at) -> object:
            def call(*args: object, **kwargs: object) -> object:
                nonlocal steps
                steps += 1
                if steps > limit:
                    raise OSError(28, "No space left on device")
                return function(*args, **kwargs)  # type: ignore[operator]

            return call

        with monkeypatch.context() as patch:
            patch.setattr("os.fdopen", failing(os.fdopen))
            patch.setattr("os.replace", failing(os.replace))
            with pytest.raises(CortexMError, match="cannot write: No space left"):
                write_files(folder, new)
        left = {path.name: path.read_text() for path in folder.iterdir()}
        assert set(left) == set(old) and set(left.values()) <= {"old", "new"}
        assert fail_at >= 4 or set(left.values()) == {"old"}


def test_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CortexMError, match="cannot write"):
        write_files(tmp_path / "file", {"a": "1"})


@pytest.mark.parametrize(
    ("planned", "built", "fits"),
    [
        ("cortex-m4", ["cortex-m4"], True),
        ("cortex-m4", ["cortex-m3"], False),
        ("cortex-m55", ["cortex-m55"], True),
        ("cortex-m55", ["cortex-m55", "dsp"], False),
        ("any", ["cortex-m0"], True),
        ("any", ["cortex-m55"], True),
    ],
)
def test_a_plan_for_another_instruction_set_does_not_compile(
    planned: str, built: list[str], fits: bool, tmp_path: Path
) -> None:
    net = Net("net", seed=5)
    x = net.conv(net.input((1, 8, 6, 6)), 8)
    plan = make_plan(simplify(net.finish(x)), Target.parse(planned))
    write_files(tmp_path, emit(plan, EmitOptions("net", "test", "0" * 64)))
    root = Path(__file__).parents[2]
    include = [f"-I{root}/{folder}/include" for folder in ("runtime", "kernels")]
    command = [*cross_compiler(*built), "-std=c11", *include, "-c", "net.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode == 0) == fits
    assert fits or "planned for a core with" in done.stderr
