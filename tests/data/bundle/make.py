# SPDX-License-Identifier: Apache-2.0
"""Writes net.bpte; see README.md."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import (
    MethodTestCase,
    MethodTestSuite,
)
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)

from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import read_pte

from tests.support.golden import golden_case

HERE = Path(__file__).parent


def main() -> None:
    case = golden_case("conv-conv2d")
    graph = read_pte(case.pte, name="net")
    other = tuple(np.flip(value).copy() for value in case.inputs)
    rows = [
        (case.inputs, case.expected),
        (other, tuple(run_graph(graph, other))),
        (case.inputs, tuple(value + value.dtype.type(8.0) for value in case.expected)),
    ]
    cases = [
        MethodTestCase(
            tuple(torch.from_numpy(value.copy()) for value in inputs),
            tuple(torch.from_numpy(value.copy()) for value in outputs),
        )
        for inputs, outputs in rows
    ]
    with tempfile.NamedTemporaryFile(suffix=".pte") as file:
        file.write(case.pte)
        file.flush()
        bundle = BundledProgram(None, [MethodTestSuite("forward", cases)], file.name)
        data = serialize_from_bundled_program_to_flatbuffer(bundle)
    (HERE / "net.bpte").write_bytes(data)


main()
