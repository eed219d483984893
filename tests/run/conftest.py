# SPDX-License-Identifier: Apache-2.0
"""A generated model and what its outputs must be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.compile import CompileOptions, compile_program, write_compiled
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.memory import memory_bytes
from cortexm_tools.options.arena import Arena, OwnArena
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

PTE = Path(__file__).parent.parent / "data" / "digits" / "digits.pte"

OWN = OwnArena()


@dataclass(frozen=True)
class Generated:
    """A folder of generated files, with inputs and expected outputs as bytes."""

    folder: Path
    inputs: list[list[bytes]]
    expected: list[list[bytes]]
    arena_bytes: int


@pytest.fixture(scope="session")
def generate(tmp_path_factory: pytest.TempPathFactory):
    """Compiles the digits model for a target."""

    def make(cpu: str = "any", *, arena: Arena = OWN, count: int = 3) -> Generated:
        target = Target.parse(cpu)
        program = load_program(PTE, name="digits", target=target)
        compiled = compile_program(program, CompileOptions(target, arena=arena))
        folder = tmp_path_factory.mktemp("model")
        write_compiled(compiled, folder)
        graph = compiled.plan.graph
        (entry,) = (graph.tensors[i] for i in graph.inputs)
        (result,) = (graph.tensors[i] for i in graph.outputs)
        random = np.random.default_rng(1)
        values = [random.random(entry.shape).astype(np.float32) for _ in range(count)]
        return Generated(
            folder,
            [[memory_bytes(value, entry.dim_order)] for value in values],
            [[memory_bytes(run_graph(graph, [v])[0], result.dim_order)] for v in values],
            compiled.plan.arena_size,
        )

    return make


@pytest.fixture(scope="session")
def digits(generate) -> Generated:
    return generate()
