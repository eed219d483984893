# SPDX-License-Identifier: Apache-2.0
"""The start-up code of the boards: variables, console, files, faults, instruction counter."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.paths import data_root
from cortexm_tools.run.boards import BOARDS
from cortexm_tools.run.emulator import run_image

BOARD_LIST = f'''
cmake_minimum_required(VERSION 3.20)
find_package(CortexMModel REQUIRED PATHS "{data_root() / "cmake"}" NO_DEFAULT_PATH)
project(startup C)
cortexm_require_libraries()
add_executable(app main.c)
target_compile_definitions(app PRIVATE ${{DEFINE}})
target_link_libraries(app PRIVATE CortexMModel::board)
'''
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "cortexm_board.h"

static int initialised = 42;
static unsigned char cleared[1000];
static float real = 1.5f;

/* Three instructions a turn, whatever the compiler. */
static int spin(void *context)
{
    int turns = *(int *)context;

    __asm volatile(".syntax unified\n1: subs %0, #1\n nop\n bne 1b\n" : "+l"(turns) : : "cc");
    return 7;
}

static int deep(void *context)
{
    volatile char room[600];

    memset((void *)room, 1, sizeof room);
    return room[*(int *)context];
}

int main(void)
{
    char text[4] = "";
    size_t spare;

    for (size_t i = 0; i < sizeof cleared; i++) {
        if (cleared[i] != 0) {
            return 10;
        }
    }
    real *= 2.0f;
    if (initialised != 42 || real != 3.0f) {
        return 11;
    }
    for (int turns = 1000; turns <= 1000000; turns *= 10) {
        const board_measurement_t m = board_measure(spin, &turns);
        printf("turns %d instructions %ld result %d\n", turns, (long)m.count, m.result);
    }
    int index = 3;
    const board_measurement_t m = board_measure(deep, &index);
    printf("stack %d of %d\n", (int)m.stack_bytes, (int)board_stack_size());
    if (board_stack_high_water() < 600 || board_stack_high_water() > board_stack_size()) {
        return 12;
    }
    const int out = board_file_open("file.bin", BOARD_FILE_WRITE);
    if (board_file_write(out, "abc", 3) != 3) {
        return 13;
    }
    board_file_close(out);
    const int in = board_file_open("file.bin", BOARD_FILE_READ);
    if (board_file_read(in, text, 4) != 3 || strcmp(text, "abc") != 0) {
        return 14;
    }
    unsigned char *const block = board_spare_ram(&spare);
    memset(block, 0xA5, spare);
    printf("spare %d\n", (int)spare);
#ifdef BAD_ACCESS
    *(volatile int *)0xF0000000u = 1;
#endif
#ifdef OVERFLOW
    volatile char large[100000];
    for (int i = (int)sizeof large - 1; i >= 0; i--) {
        large[i] = 1;
    }
#endif
#ifdef STATUS
    return STATUS;
#endif
    return 0;
}
"""


def build(folder: Path, board: str, define: str = "") -> Path:
    (folder / "CMakeLists.txt").write_text(BOARD_LIST)
    (folder / "main.c").write_text(PROGRAM)
    options = ["-G", "Ninja", f"-DCORTEXM_BOARD={board}", f"-DDEFINE={define}"]
    for command in (
        ["cmake", "-S", str(folder), "-B", str(folder / "build"), *options],
        ["cmake", "--build", str(folder / "build"), "--target", "app"],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "app.elf"


@pytest.mark.parametrize("board", BOARDS)
def test_board(board: str, tmp_path: Path) -> None:
    said = run_image(board, build(tmp_path, board), tmp_path, timeout=60)
    counts = re.findall(r"turns (\d+) instructions (\d+) result 7", said)
    assert [int(turns) for turns, _ in counts] == [1000, 10000, 100000, 1000000]
    for turns, instructions in counts:
        # 3 a turn; the call, the load and the return are a handful more.
        assert abs(int(instructions) - 3 * int(turns) - 6) <= 12, said
    used, size = map(int, re.search(r"stack (\d+) of (\d+)", said).groups())  # type: ignore
    assert 600 <= used < 800 <= size
    assert (tmp_path / "file.bin").read_bytes() == b"abc"


@pytest.mark.parametrize("board", ["microbit", "mps2-an385", "mps2-an505", "mps3-an547"])
def test_stack_overflow_is_reported(board: str, tmp_path: Path) -> None:
    image = build(tmp_path, board, "OVERFLOW")
    with pytest.raises(CortexMError, match=r"the stack has overflowed.* \(status 2\)"):
        run_image(board, image, tmp_path, timeout=60)


@pytest.mark.parametrize("board", ["mps2-an385", "mps2-an500", "mps3-an547"])
def test_bad_access_is_reported(board: str, tmp_path: Path) -> None:
    image = build(tmp_path, board, "BAD_ACCESS")
    with pytest.raises(CortexMError, match=r"Fault at 0x[0-9a-f]{8}, CFSR .* \(status 2\)"):
        run_image(board, image, tmp_path, timeout=60)


def test_exit_status_of_main(tmp_path: Path) -> None:
    image = build(tmp_path, "mps3-an547", "STATUS=9")
    with pytest.raises(CortexMError, match=r"\(status 9\)"):
        run_image("mps3-an547", image, tmp_path, timeout=60)
