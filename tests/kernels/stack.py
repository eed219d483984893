# SPDX-License-Identifier: Apache-2.0
"""The stack of compiled kernels, from the compiler's figures and from their code."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from cortexm_tools.emit.header import STACK_MOST
from cortexm_tools.run.disassembly import disassemble, find_objdump
from cortexm_tools.run.elf import parse_elf
from cortexm_tools.run.stack import CallGraph, read_usage

PLAN_STACK = 64  # cortexm_invoke and the generated function above a kernel


def check_stack(
    compiler: list[str], names: Sequence[str], objects: list[str], usage: Path, folder: Path
) -> None:
    """Every kernel with all it calls, also in the C library, is within the budget.

    Args:
        compiler: with the options that select the core.
        names: of the kernels, as in the table.
        objects: what the linker is given, relative to `folder`.
        usage: the folder that has the compiler's figures.
    """
    image = folder / "stack.elf"
    link = [*compiler, "--specs=nano.specs", "-nostartfiles", "-Wl,-e,0", "-o", str(image)]
    done = subprocess.run([*link, *objects, "-lm"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = disassemble(find_objdump(compiler), image)
    said = {key: size for key, size in read_usage(usage).items() if "_ref" not in key[0]}
    graph = CallGraph(code, parse_elf(image.read_bytes()), {}, said)
    over = {}
    for name in names:
        bound = graph.bound(f"cortexm_{name}")
        if bound.bytes > STACK_MOST - PLAN_STACK:
            over[name] = bound.path
    assert not over
    # Two ways to the same number: the compiler's word, and its code. Of functions in assembler
    # (`naked`) the compiler says 0, and of a function and its clones it does not say which is which.
    clones = {name for _, name in said if name.endswith(".constprop")}
    once = [s for s in graph.functions if s.name.rpartition(".")[0] not in clones]
    figures = [(symbol, graph.compiler_figure(symbol)) for symbol in once]
    known = [(symbol, figure) for symbol, figure in figures if figure is not None]
    assert len(known) >= len(names)
    assert [s.name for s, figure in known if figure and graph.own_depth(s) != figure] == []
