# SPDX-License-Identifier: Apache-2.0
"""Measures what a layer costs in each precision: the tables of docs/precision.md.

    python -m benchmarks.precision                          # measure, and print them
    python -m benchmarks.precision --record                 # write precision.json and the page
    python -m benchmarks.precision --tables --record        # measure nothing; write the page anew

The layers are those of CMSIS-NN's figures in precision.json. The models' weights are rounded to 4 bits
and their multipliers made larger accordingly, which is enough to count instructions and bytes: how
close such a model is to the float one depends on how it was quantized.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cortexm_tools.compile import CompileOptions
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph, Rescale, ops
from cortexm_tools.plan import make_plan
from cortexm_tools.program import Program
from cortexm_tools.run.bench import bench
from cortexm_tools.target import Target

from benchmarks.libraries import Layers, add_convolution
from benchmarks.suite.measure import lower

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "benchmarks" / "precision.json"
PAGE = ROOT / "docs" / "precision.md"
MODELS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "deep_autoencoder")
CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")
PRECISIONS = ("int8", "a8w4")

WEIGHTED = ("conv2d", "depthwise_conv2d", "transpose_conv2d", "linear")  # operators

Measured = dict[str, dict[str, dict[str, Any]]]  # by core, model or "layers", precision


@dataclass(frozen=True)
class GraphProgram(Program):
    """A program whose graph was never a .pte."""

    made: Graph | None = None

    def graph(self) -> Graph:
        assert self.made is not None
        return self.made


def layers() -> Graph:
    """The layers of CMSIS-NN's figures."""
    net = Layers()
    add_convolution(net, ops.Conv2d, (1, 64, 25, 5), 64, 1, 1, 0)
    add_convolution(net, ops.Conv2d, (1, 16, 25, 5), 32, 3, 1, 1)
    add_convolution(net, ops.DepthwiseConv2d, (1, 64, 25, 5), 64, 3, 1, 1)
    linear = ops.Linear(7, 0, -4, (Rescale(1518500250, -9),), -128, 127)
    net.add(linear, [(1, 640)], (1, 128), (128, 640))
    return net.graph()


def _sixteenfold(rescale: Rescale) -> Rescale:
    return replace(rescale, shift=rescale.shift + 4)


def four_bits(graph: Graph) -> Graph:
    """A graph with all weights rounded to 4 bits: divided by 16, with shifts larger by 4."""
    tensors = list(graph.tensors)
    made = []
    for op in graph.ops:
        attrs: Any = op.attrs
        if op.kind in WEIGHTED:
            weight = tensors[op.inputs[1]]
            assert weight.data is not None
            if np.abs(weight.data.astype(np.int32)).max() > 8:
                data = np.clip(np.rint(weight.data / 16), -8, 7).astype(np.int8)
                tensors[op.inputs[1]] = replace(weight, data=data)
            attrs = replace(attrs, rescales=tuple(map(_sixteenfold, attrs.rescales)))
        made.append(replace(op, attrs=attrs))
    return replace(graph, tensors=tuple(tensors), ops=tuple(made))


def in_precision(graph: Graph, precision: str) -> Graph:
    return four_bits(graph) if precision == "a8w4" else graph


def measure(name: str, graph: Graph, cpu: str, folder: Path) -> dict[str, Any]:
    """A graph in each precision on one core: instructions, bytes, and instructions of its layers."""
    found: dict[str, Any] = {}
    for precision in PRECISIONS:
        print(f"measuring {name} on {cpu}, {precision}", file=sys.stderr, flush=True)
        program = GraphProgram(name, name.encode(), made=in_precision(graph, precision))
        options = CompileOptions(target=Target.parse(cpu))
        data = bench(program, options, work=folder / precision)
        flash = data["flash_by_part"]
        found[precision] = {
            "instructions": data["instructions"],
            "kernels": flash["kernels"],
            "constants": flash["constants"],
            "ram": data["ram"]["total"],
            "layers": [
                [layer["operator"].split(" ")[0], layer["instructions"]] for layer in data["layers"]
            ],
        }
    return found


def mean(values: Iterable[float]) -> float:
    """Geometric."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def ratios(rows: dict[str, dict[str, Any]], kinds: tuple[str, ...]) -> Iterator[float]:
    """Instructions of 4-bit layers of these kinds over those of int8."""
    for model in rows.values():
        pairs = zip(model["a8w4"]["layers"], model["int8"]["layers"], strict=True)
        yield from (mine / whole for (kind, mine), (_, whole) in pairs if kind in kinds)


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by benchmarks/precision.py --record. -->
# Precision, measured

What a layer costs in each precision, in instructions of the emulator and in bytes.
`python -m benchmarks.precision` measures it; [numerics.md](numerics.md#shortcuts-of-the-kernels)
says why the bytes are those of int8.

`a8w4` is int8 with weights that all fit into 4 bits, which the plan packs two to a byte. The program
is an ordinary int8 program, and the models here are the int8 ones with weights rounded to 4 bits:
that is enough to count, and says nothing about how good they are.

## Layers

CMSIS-NN's figures are for its s4 functions ({source}).
"""


def page(data: dict[str, Any]) -> str:
    """docs/precision.md."""
    measured: Measured = data["measured"]
    lines = [HEAD.format(source=data["cmsis_nn"]["source"])]
    lines += ["| core | layer | int8 | a8w4 | of int8 | CMSIS-NN s4 | of CMSIS-NN |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for cpu, rows in measured.items():
        theirs = data["cmsis_nn"]["instructions"].get(cpu, {})
        whole, half = rows["layers"]["int8"]["layers"], rows["layers"]["a8w4"]["layers"]
        for name, (_, a), (_, b) in zip(data["layers"][cpu], whole, half, strict=True):
            other = f"{theirs[name]:,} | {b / theirs[name]:.2f}" if theirs else "|"
            lines.append(f"| {cpu} | {name} | {a:,} | {b:,} | {b / a:.2f} | {other} |")
    lines += [
        "",
        "Geometric means of a8w4 over int8, of these layers and all of the models below:",
        "",
    ]
    lines += ["| core | convolution | depthwise | linear |", "|---|---|---|---|"]
    for cpu, rows in measured.items():
        cells = [
            f"{mean(ratios(rows, (kind,))):.2f}" for kind in WEIGHTED if "transpose" not in kind
        ]
        lines.append(f"| {cpu} | {' | '.join(cells)} |")
    lines += ["", "## Models", ""]
    lines += [
        "Constants are weights, biases, multipliers and shifts, as far as they lie in flash.",
        "",
    ]
    lines += [
        "| core | model | precision | instructions | of int8 | constants | of int8 | kernels | RAM |"
    ]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    for cpu, rows in measured.items():
        for model in (name for name in rows if name != "layers"):
            base = rows[model]["int8"]
            for precision, row in rows[model].items():
                lines.append(
                    f"| {cpu} | {model} | {precision} | {row['instructions']:,} "
                    f"| {row['instructions'] / base['instructions']:.2f} | {row['constants']:,} "
                    f"| {row['constants'] / base['constants']:.2f} | {row['kernels']:,} "
                    f"| {row['ram']:,} |"
                )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cpus", default=",".join(CORES))
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument("--record", action="store_true", help="write precision.json and the page")
    args = parser.parse_args()
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    try:
        if not args.tables:
            graphs = {"layers": layers()}
            graphs |= {name: lower(name).graph() for name in args.models.split(",")}
            data["layers"], data["measured"] = {}, {}
            for cpu in args.cpus.split(","):
                plan = make_plan(graphs["layers"], Target.parse(cpu))
                data["layers"][cpu] = [step.op.layer.path for step in plan.steps]
                with tempfile.TemporaryDirectory() as folder:
                    data["measured"][cpu] = {
                        name: measure(name, graph, cpu, Path(folder) / name)
                        for name, graph in graphs.items()
                    }
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(page(data))
    if args.record:
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
