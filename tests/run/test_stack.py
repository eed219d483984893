# SPDX-License-Identifier: Apache-2.0
"""The bound on the stack: small programs in assembler and C, and whole models on every core."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cortexm_tools.compile import CompileOptions, compile_program, write_compiled
from cortexm_tools.emit.header import STACK_MOST
from cortexm_tools.errors import CortexMError
from cortexm_tools.program import load_program
from cortexm_tools.run.bench import bench, bench_text
from cortexm_tools.run.boards import BOARDS
from cortexm_tools.run.disassembly import split_mnemonic
from cortexm_tools.run.footprint import measure, summary_text, to_json
from cortexm_tools.run.stack import image_bounds, read_usage
from cortexm_tools.target import Target

from tests.support.cores import cross_compiler

PTE = Path(__file__).parents[1] / "data" / "digits" / "digits.pte"
THUMB1 = cross_compiler("cortex-m0")
THUMB2 = cross_compiler("cortex-m4")


def link(folder: Path, text: str, compiler: list[str], *options: str) -> Path:
    """An image of one source file; assembler if it begins with a directive."""
    source = folder / ("a.s" if text.lstrip().startswith(".") else "a.c")
    source.write_text(text)
    image = folder / "a.elf"
    for command in (
        [*compiler, *options, "-fstack-usage", "-c", source.name, "-o", "a.o"],
        [*compiler, "-nostdlib", "-Wl,-e,0", "-o", image.name, "a.o", "-lgcc"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return image


def assembler(**functions: str) -> str:
    """Functions in Thumb, one instruction a line."""
    text = ".syntax unified\n.thumb\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n"
    for name, body in functions.items():
        text += f".global {name}\n.type {name}, %function\n.thumb_func\n{name}:\n{body}\n"
        text += f".size {name}, . - {name}\n"
    return text


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ("push {r4-r7, lr}\nsub sp, #20\nadd sp, #20\npop {r4-r7, pc}", 40),
        ("stmdb sp!, {r4-r11, lr}\nvpush {d8-d11}\nvpop {d8-d11}\nldmia sp!, {r4-r11, pc}", 68),
        ("str lr, [sp, #-8]!\nldr pc, [sp], #8", 8),
        ("sub sp, #16\nstr r0, [sp, #12]\nldr pc, [sp, #12]", 16),
        ("strd r4, r5, [sp, #-16]!\nldrd r4, r5, [sp], #16\nbx lr", 16),
        ("sub sp, #12\nstm sp, {r0-r2}\nldm sp, {r0-r2}\nadd sp, #12\nbx lr", 12),
        ("sub.w sp, sp, #600\naddw sp, sp, #600\nbx lr", 600),
        # An address on the stack is stored elsewhere.
        ("push {r4, lr}\nsub sp, #8\nstr sp, [r0, #4]\nadd sp, #8\npop {r4, pc}", 16),
        # Only one of two paths pushes, and the deeper one counts.
        ("cbz r0, 1f\npush {r4, lr}\nbl leaf\npop {r4, pc}\n1: push {lr}\npop {pc}", 32),
        # A tail call leaves the frame first; the callee counts alone.
        ("push {r4, lr}\npop {r4, lr}\nb leaf", 24),
        # A conditional return leaves the depth of the way on.
        ("push {r4, lr}\ncmp r0, #0\nit eq\npopeq {r4, pc}\nbl leaf\npop {r4, pc}", 32),
        # A table of jumps; only the third way goes deeper.
        (
            "tbb [pc, r0]\n1: .byte (2f-1b)/2, (2f-1b)/2, (3f-1b)/2, 0\n2: bx lr\n"
            "3: push {r0-r7}\nadd sp, #32\nbx lr",
            32,
        ),
        # A loop does not grow.
        ("push {r4, lr}\n1: bl leaf\nsubs r0, #1\nbne 1b\npop {r4, pc}", 32),
    ],
)
def test_depth_of_machine_code(tmp_path: Path, body: str, depth: int) -> None:
    leaf = "sub sp, #24\nadd sp, #24\nbx lr"
    image = link(tmp_path, assembler(root=body, leaf=leaf), THUMB2)
    assert image_bounds(image, THUMB2, ["root"])["root"].bytes == depth


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (
            {"root": "push {lr}\nbl b\npop {pc}", "b": "push {lr}\nbl root\npop {pc}"},
            "root → b → root",
        ),
        ({"root": "push {lr}\nblx r3\npop {pc}"}, "root calls a function through a pointer"),
        (
            {"root": "push {lr}\nbl b\npop {pc}", "b": "bx r3"},
            "b calls a function through a pointer",
        ),
        ({"root": "sub sp, r0\nbx lr"}, "stack of root is not known: sub"),
        ({"root": "mov sp, r7\nbx lr"}, "stack of root is not known: mov"),
        ({"root": "1: push {r0}\nb 1b"}, "stack of root is not known: a loop"),
        ({"root": "add pc, r0"}, "stack of root is not known: add"),
    ],
)
def test_no_bound_names_the_function(
    tmp_path: Path, functions: dict[str, str], message: str
) -> None:
    image = link(tmp_path, assembler(**functions), THUMB2)
    with pytest.raises(CortexMError, match=message):
        image_bounds(image, THUMB2, ["root"])


def test_compiler_and_machine_code(tmp_path: Path) -> None:
    text = """
extern void sink(volatile int *);
void __attribute__((noinline)) sink(volatile int *x) { x[0] = 1; }
int leaf(int n) { volatile int room[25]; sink(room); return room[n]; }
int tables(int n) {
    switch (n) { case 0: return 5; case 1: return leaf(3); case 2: return leaf(n) + 1;
                 case 3: return leaf(n) * 7; case 4: return 9; case 5: return leaf(n) / 3; }
    return n;
}
int unbounded(int n) { volatile int room[n]; sink(room); return room[0]; }
"""
    for compiler in (THUMB1, THUMB2):
        for level in ("-O0", "-Os", "-O2"):
            image = link(tmp_path, text, compiler, level, "-fomit-frame-pointer")
            usage = read_usage(tmp_path)
            assert usage["a.c", "unbounded"] is None
            if level == "-O0":  # frames by register: refused, not guessed
                continue
            bounds = image_bounds(image, compiler, ["tables", "leaf"], usage=usage)
            leaf, tables = usage["a.c", "leaf"], usage["a.c", "tables"]
            assert leaf is not None and tables is not None
            assert bounds["leaf"].bytes == leaf
            assert leaf <= bounds["tables"].bytes <= leaf + tables
            with pytest.raises(CortexMError, match="unbounded"):
                image_bounds(image, compiler, ["unbounded"], usage=usage)


def test_mnemonics() -> None:
    assert [split_mnemonic(word) for word in ("bls.n", "blx", "bleq", "popne", "bics", "ldmia.w")] == [
        ("b", "ls"), ("blx", ""), ("bl", "eq"), ("pop", "ne"), ("bics", ""), ("ldmia", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("board", BOARDS)
def test_bound_holds_on_every_core(board: str, tmp_path: Path) -> None:
    """The painted stack never exceeds the bound, and comes close to it."""
    target = Target.parse(BOARDS[board].core.value)
    program = load_program(PTE, name="digits", target=target)
    data = bench(program, CompileOptions(target), board=board, work=tmp_path)
    bound, measured = data["stack_bound"]["bytes"], data["ram"]["stack"]
    assert measured <= bound <= 1.2 * measured + 64
    assert bound <= STACK_MOST
    assert data["stack_bound"]["path"][0]["name"] == "cortexm_invoke"
    assert f"at most {bound:,} B" in bench_text(data)

    # The build's summary comes to the same without an image to run.
    folder = next(tmp_path.glob("profile-*"))
    compiler = (folder / "compiler.txt").read_text().split()
    archives = [Path(line) for line in (folder / "archives.txt").read_text().split()]
    size = measure(compiler, archives, "digits")
    assert size.stack == bound
    assert f"stack {bound:,} B at most" in summary_text("digits", size)
    assert json.loads(to_json(size))["stack"] == bound


def test_host_has_no_bound(tmp_path: Path) -> None:
    program = load_program(PTE, name="digits", target=Target.parse("host"))
    write_compiled(compile_program(program, CompileOptions(Target.parse("host"))), tmp_path)
    (tmp_path / "m.c").write_text("int digits; int cortexm_invoke(void) { return digits; }\n")
    subprocess.run(["cc", "-c", "m.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "libm1.a", "m.o"], cwd=tmp_path, check=True)
    size = measure(["cc", "-no-pie"], [tmp_path / "libm1.a"], "digits")
    assert size.stack is None and size.stack_note == ""
    assert "stack " not in summary_text("digits", size).replace("without stack", "")
