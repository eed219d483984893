# SPDX-License-Identifier: Apache-2.0
"""A model on every emulated board and on this machine, and what is measured there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.options.arena import CallerArena
from cortexm_tools.run import BOARDS, boards_for, run_on_board, run_on_core, run_on_host
from cortexm_tools.run.image import DoesNotFit
from cortexm_tools.target import CORES, Core, Isa


@pytest.mark.parametrize("board", BOARDS)
def test_outputs_equal_the_interpreter(digits, board: str, tmp_path: Path) -> None:
    result = run_on_board(digits.folder, "digits", board, digits.inputs, tmp_path, poison=True)
    assert result.outputs == digits.expected
    assert result.arena_bytes == digits.arena_bytes
    assert 100_000 < result.instructions < 10_000_000
    assert 100 <= result.stack_bytes < 1024
    assert result.flash_code_bytes > 3000
    assert result.flash_constants_bytes > 8000
    assert result.footprint is not None and result.footprint.arena == digits.arena_bytes
    assert result.ram_bytes == digits.arena_bytes + result.stack_bytes + (
        result.footprint.data + result.footprint.bss
    )


@pytest.mark.parametrize("isa", Isa.MVE.runs)
def test_m55_built_for_less_than_it_has(digits, isa: Isa, tmp_path: Path) -> None:
    result = run_on_board(digits.folder, "digits", "mps3-an547", digits.inputs, tmp_path, isa=isa)
    assert result.outputs == digits.expected


@pytest.mark.parametrize("core", [Core.M0PLUS, Core.M23, Core.M35P, Core.M52, Core.M85])
def test_cores_without_a_board_run_on_the_nearest(digits, core: Core, tmp_path: Path) -> None:
    result = run_on_core(digits.folder, "digits", core, digits.inputs[:1], tmp_path)
    assert result.outputs == digits.expected[:1]
    assert result.board == boards_for(core)[0]


@pytest.mark.parametrize("sanitize", [False, True])
def test_host(digits, sanitize: bool, tmp_path: Path) -> None:
    result = run_on_host(
        digits.folder, "digits", digits.inputs, tmp_path, poison=True, sanitize=sanitize
    )
    assert result.outputs == digits.expected
    assert (result.instructions, result.flash_code_bytes) == (0, 0)


def test_measurements_are_reproducible(digits, tmp_path: Path) -> None:
    """The same image counts the same; a build folder serves again."""
    first, second = (
        run_on_board(digits.folder, "digits", "mps3-an547", digits.inputs, tmp_path)
        for _ in range(2)
    )
    assert first == second
    assert len(set(first.instructions_each)) > 1  # clamping depends on the data


def test_folder_of_another_installation_is_begun_anew(digits, tmp_path: Path) -> None:
    """CMake refuses a cache of other sources, as of a Python that was replaced."""
    cache = tmp_path / "host" / "CMakeCache.txt"
    cache.parent.mkdir()
    cache.write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere/project\n")
    result = run_on_host(digits.folder, "digits", digits.inputs[:1], tmp_path)
    assert result.outputs == digits.expected[:1]


def test_caller_gives_the_arena(generate, tmp_path: Path) -> None:
    model = generate("cortex-m0", arena=CallerArena())
    result = run_on_board(model.folder, "digits", "microbit", model.inputs, tmp_path)
    assert result.outputs == model.expected
    assert result.footprint is not None and result.footprint.arena == 0
    assert result.ram_bytes >= model.arena_bytes + result.stack_bytes


def test_image_too_large_for_the_microbit_runs_on_the_m3_board(generate, tmp_path: Path) -> None:
    model = generate("cortex-m0")
    source = model.folder / "digits.c"
    # 16 KB of variables more than the model has: the whole of that board's RAM.
    invoke = "static void digits_invoke(void *memory)\n{\n"
    assert invoke in source.read_text()
    ballast = f"static volatile char ballast[16384];\n{invoke}    ballast[0] = 1;\n"
    source.write_text(source.read_text().replace(invoke, ballast))
    with pytest.raises(DoesNotFit, match="does not fit the board: .* bytes too many for RAM"):
        run_on_board(model.folder, "digits", "microbit", model.inputs, tmp_path)
    result = run_on_core(model.folder, "digits", Core.M0, model.inputs, tmp_path)
    assert (result.board, result.outputs) == ("mps2-an385", model.expected)


def test_short_inputs_end_in_words(digits, tmp_path: Path) -> None:
    with pytest.raises(CortexMError, match="inputs.bin is too short"):
        run_on_board(digits.folder, "digits", "mps2-an385", [[b"\0" * 8]], tmp_path)
    with pytest.raises(CortexMError, match="inputs.bin is too short"):
        run_on_host(digits.folder, "digits", [[b"\0" * 8]], tmp_path)


def test_unknown_board(digits, tmp_path: Path) -> None:
    with pytest.raises(CortexMError, match="unknown board") as caught:
        run_on_board(digits.folder, "digits", "mps3-an574", digits.inputs, tmp_path)
    assert "mps3-an547" in caught.value.hint


def test_host_has_no_board(digits, tmp_path: Path) -> None:
    with pytest.raises(CortexMError, match="no emulated board runs host"):
        run_on_core(digits.folder, "digits", Core.HOST, digits.inputs, tmp_path)


@pytest.mark.parametrize(
    ("missing", "package"),
    [
        ("qemu-system-arm", "qemu-system-arm"),
        ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
        ("cmake", "cmake"),
    ],
)
def test_missing_program_is_named_with_its_package(
    digits, missing: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    find = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else find(name))
    with pytest.raises(CortexMError, match=f"the program {missing} was not found") as caught:
        run_on_board(digits.folder, "digits", "mps2-an385", digits.inputs, tmp_path)
    assert f"apt install {package}" in caught.value.hint


def test_image_that_does_not_end(digits, tmp_path: Path) -> None:
    with pytest.raises(CortexMError, match="did not end within 0.2 s"):
        run_on_board(
            digits.folder, "digits", "mps2-an385", digits.inputs * 200, tmp_path, timeout=0.2
        )


def test_every_core_is_mapped() -> None:
    for core in CORES:
        assert bool(boards_for(core)) == (core is not Core.HOST)
