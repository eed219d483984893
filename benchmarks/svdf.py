# SPDX-License-Identifier: Apache-2.0
"""SVDF layers: instructions of a call, for each of its products (benchmarks/recurrent.py prints them)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from cortexm_tools.compile import CompileOptions
from cortexm_tools.ir import DType, Graph, Layer, Op, Rescale, State, Tensor, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.geometry import Window
from cortexm_tools.run.bench import bench
from cortexm_tools.target import Target

from benchmarks import ROOT
from tests.support.graphs import GraphProgram

RECORD = ROOT / "benchmarks" / "svdf.json"

SHAPES = ((40, 64, 2, 10), (40, 64, 1, 32))
"""Inputs, units, ranks, steps."""

Row = dict[str, Any]

TEXT = """## SVDF

The first call of a layer of int8 codes: features of a frame, a memory that is a ring, and the sums over its
steps and ranks, from the codes of the input to those of the output. Products are those of the features and
those over time.

On M4 the features take 1.6 instructions for a product, as one row uses a weight only once that is widened,
and the sums over time 2.1 and 90 for four channels: two LDRD, two PKH, eight SXTB16 and four SMLAD are
eight products. Weights that are stored widened would save four SXTB16 and cost as much flash again; a row of
the ring next to another of the same channel would save both PKH, but with each call every other pair would
begin with the other row, so that the weights would be there twice.

"""


def layer(inputs: int, units: int, ranks: int, steps: int) -> Graph:
    """A layer alone, of random weights."""
    random = np.random.default_rng(0)
    tensors: list[Tensor] = []
    made: list[Op] = []

    def tensor(*shape: int, data: np.ndarray | None = None, dtype: DType = DType.S8) -> int:
        name = f"t{len(tensors)}"
        tensors.append(Tensor(name, dtype, shape, contiguous(len(shape)), data=data))
        return len(tensors) - 1

    def weights(*shape: int) -> int:
        return tensor(*shape, data=random.integers(-127, 128, shape).astype(np.int8))

    def add(attrs: ops.Attrs, operands: list[int], *shape: int) -> int:
        result = tensor(*shape)
        made.append(Op(attrs, tuple(operands), (result,), Layer("svdf")))
        return result

    def scales(count: int) -> tuple[Rescale, ...]:
        return (Rescale(1 << 30, -8),) * count

    x, memory = tensor(1, inputs), tensor(1, units, ranks, steps)
    features = ops.Linear(0, 0, 0, scales(units * ranks), -128, 127)
    row = add(features, [x, weights(units * ranks, inputs)], 1, units * ranks)
    new = add(ops.View(), [row], 1, units, ranks, 1)
    after = add(ops.Push(3), [memory, new], 1, units, ranks, steps)
    window = Window((ranks, steps), (1, 1), (0, 0, 0, 0))
    sums = ops.DepthwiseConv2d(window, 0, 0, scales(units), -128, 127)
    bias = random.integers(-2000, 2000, units).astype(np.int32)
    operands = [after, weights(1, ranks, steps, units), tensor(units, data=bias, dtype=DType.S32)]
    out = add(ops.View(), [add(sums, operands, 1, units, 1, 1)], 1, units)
    state = State("memory", memory, after, np.zeros((1, units, ranks, steps), np.int8))
    name = f"svdf-{inputs}-{units}-{ranks}-{steps}"
    return check_graph(Graph(name, tuple(tensors), tuple(made), (x,), (out,), (state,)))


def rows(cpus: list[str], work: Path) -> list[Row]:
    """A row for every core and shape."""
    found = []
    for cpu in cpus:
        for shape in SHAPES:
            program = GraphProgram("svdf", json.dumps(shape).encode(), made=layer(*shape))
            options = CompileOptions(target=Target.parse(cpu))
            data = bench(program, options, board=None, work=work)
            _, units, ranks, steps = shape
            found.append(
                {
                    "cpu": cpu,
                    "shape": list(shape),
                    "instructions": sum(int(row["instructions"]) for row in data["layers"]),
                    "macs": units * ranks * (shape[0] + steps),
                }
            )
    return found


def table(found: list[Row]) -> str:
    """A row for each core and shape."""
    lines = [
        "| core | inputs, units, ranks, steps | instructions | products | instructions for each |",
        "|---|---|---|---|---|",
    ]
    for row in found:
        shape = ", ".join(map(str, row["shape"]))
        each = row["instructions"] / row["macs"]
        counts = f"{row['instructions']:,} | {row['macs']:,} | {each:.2f}"
        lines.append(f"| {row['cpu']} | {shape} | {counts} |")
    return "\n".join(lines) + "\n"
