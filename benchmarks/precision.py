# SPDX-License-Identifier: Apache-2.0
"""Measures what a layer costs in each precision: the tables of docs/precision.md.

    python -m benchmarks.precision                          # measure, and print them
    python -m benchmarks.precision --record                 # write precision.json and the page
    python -m benchmarks.precision --cpus cortex-m4 --precisions a16w8 --record    # of these only
    python -m benchmarks.precision --quality --record       # decibels only: lowers in each precision
    python -m benchmarks.precision --tables --record        # measure nothing; write the page anew

The layers are those of CMSIS-NN's figures in precision.json. For a8w4 and a16w4 the models' weights are
rounded to 4 bits and their multipliers to 16, and made larger accordingly, which is enough to count
instructions and bytes: how close such a model is to the float one depends on how it was quantized. For
a16w8 the models are lowered anew.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cortexm_tools.compile import CompileOptions
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Rescale, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.wide import narrowed
from cortexm_tools.options.precision import INT8, parse_quantization
from cortexm_tools.plan import make_plan
from cortexm_tools.program import load_program
from cortexm_tools.run.bench import bench
from cortexm_tools.target import Target

from benchmarks.libraries import Layers, add_convolution
from benchmarks.suite.measure import lower
from tests.support.graphs import GraphProgram

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "benchmarks" / "precision.json"
PAGE = ROOT / "docs" / "precision.md"
MODELS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "deep_autoencoder")
CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")
PRECISIONS = ("int8", "a8w4", "a16w8", "a16w4")
QUANTIZED = ("int8", "a16w8", "a8w4", "a16w4")
SAMPLE = ROOT / "samples" / "keypad-tones" / "keypad.py"
THEIRS = {"a8w4": "s4", "a16w8": "s16"}  # what CMSIS-NN calls its functions

WEIGHTED = ("conv2d", "depthwise_conv2d", "transpose_conv2d", "linear")  # operators

Measured = dict[str, dict[str, dict[str, Any]]]  # by core, model or "layers", precision


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
    """With a multiplier as lowering rounds it."""
    return Rescale(narrowed(rescale.multiplier), rescale.shift + 4)


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


def sixteen_bits(graph: Graph) -> Graph:
    """The graph of `layers` with activations of int16."""
    tensors = [
        replace(tensor, dtype=DType.S16) if tensor.data is None else tensor
        for tensor in graph.tensors
    ]
    wide = {"in_zero_point": 0, "out_zero_point": 0, "act_min": -(2**15), "act_max": 2**15 - 1}
    made = [replace(op, attrs=replace(op.attrs, **wide)) for op in graph.ops]  # type: ignore[arg-type]
    return replace(graph, tensors=tuple(tensors), ops=tuple(made))


def graph_of(name: str, precision: str) -> Graph:
    """A model, or "layers", in a precision."""
    is_wide = precision.startswith("a16")
    if name == "layers":
        graph = sixteen_bits(layers()) if is_wide else layers()
    else:
        graph = lower(name, parse_quantization("a16w8" if is_wide else "int8") or INT8).graph()
    return four_bits(graph) if precision.endswith("w4") else graph


def measure(name: str, graph: Graph, precision: str, cpu: str, folder: Path) -> dict[str, Any]:
    """A graph on one core: instructions, bytes, and instructions of its layers by operator; those of
    `layers` by their names, which begin with it."""
    print(f"measuring {name} on {cpu}, {precision}", file=sys.stderr, flush=True)
    target = Target.parse(cpu)
    program = GraphProgram(name, f"{name} {precision}".encode(), made=graph)
    data = bench(program, CompileOptions(target=target), work=folder)
    names = [layer["operator"].split(" ")[0] for layer in data["layers"]]
    if name == "layers":
        names = [step.op.layer.path for step in make_plan(graph, target).steps]
    counts = [layer["instructions"] for layer in data["layers"]]
    flash = data["flash_by_part"]
    return {
        "instructions": data["instructions"],
        "kernels": flash["kernels"],
        "constants": flash["constants"],
        "ram": data["ram"]["total"],
        "layers": [list(pair) for pair in zip(names, counts, strict=True)],
    }


def quality(name: str, precision: str) -> dict[str, float]:
    """Of a model, or the sample by its path: the decibels of its output against the float model, and of
    the sample the share of evaluation inputs that it gets right."""
    print(f"lowering {name}, {precision}", file=sys.stderr, flush=True)
    quantization = parse_quantization(precision) or INT8
    if name in MODELS:
        program = lower(name, quantization)
    else:
        target = Target.parse(CORES[0])
        program = load_program(ROOT / name, name="keypad", target=target, quantization=quantization)
    assert program.quality is not None
    found = {"sqnr_db": program.quality["outputs"][0]["sqnr_db"]}
    if program.evaluation is not None:
        graph, (inputs, labels) = (
            program.graph(),
            (program.evaluation.inputs, program.evaluation.labels),
        )
        outputs = [run_graph(graph, [each]) for each in inputs]
        right = sum(np.argmax(row[0]) == label for row, label in zip(outputs, labels, strict=True))
        found["right"] = float(right) / len(labels)
    return found


def mean(values: Iterable[float]) -> float:
    """Geometric."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def ratio(
    rows: dict[str, dict[str, Any]],
    precision: str,
    kinds: tuple[str, ...],
    int8: dict[str, list[Any]] | None = None,
) -> float:
    """Instructions of the layers of these kinds over those of int8: the geometric mean. Those of a model
    that is divided into bands of rows in another way count as one.

    Args:
        int8: the layers of each model in int8; default: those of `rows`.
    """
    found: list[float] = []
    for name, model in rows.items():
        ours, whole = (
            [count for kind, count in layers if kind.split(" ")[0] in kinds]
            for layers in (
                model[precision]["layers"],
                int8[name] if int8 else model["int8"]["layers"],
            )
        )
        if len(ours) != len(whole):
            ours, whole = [sum(ours)], [sum(whole)]
        found += [mine / other for mine, other in zip(ours, whole, strict=True)]
    return mean(found)


def of_theirs(data: dict[str, Any], cpu: str, precision: str) -> float | None:
    """Instructions over those of CMSIS-NN's functions: the geometric mean; None where there are none."""
    theirs = data["cmsis_nn"].get(THEIRS.get(precision, ""), {}).get(cpu)
    ours = dict(data["measured"][cpu]["layers"][precision]["layers"])
    return mean(ours[name] / count for name, count in theirs.items()) if theirs else None


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by benchmarks/precision.py --record. -->
# Precision, measured

What a layer costs in each precision, in instructions of the emulator and in bytes.
`python -m benchmarks.precision` measures it; [numerics.md](numerics.md#shortcuts-of-the-kernels)
says why the bytes are those that the formulas give.

`a8w4` is int8 with weights that all fit into 4 bits, which the plan packs two to a byte, and
[multipliers](numerics.md#weights-of-4-bits) that fit into 16. The program
is an ordinary int8 program, and the models here are the int8 ones with both rounded so:
that is enough to count, and says nothing about how good they are. `a16w8` has activations of int16,
and sums of 32 bits wherever the weights prove that they suffice; `a16w4` is the same with weights
rounded to 4 bits. In both, tables of embeddings are codes of 4 bits, too. Recurrent layers in these
precisions are in [recurrent.md](recurrent.md).

## Layers

CMSIS-NN's figures are for its s4 functions beside a8w4 and its s16 functions beside a16w8
({source}). It has none for a16w4.
"""


def page(data: dict[str, Any]) -> str:
    """docs/precision.md."""
    measured: Measured = data["measured"]
    lines = [HEAD.format(source=data["cmsis_nn"]["source"])]
    lines += ["| core | layer | precision | instructions | of int8 | CMSIS-NN | of CMSIS-NN |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for cpu, rows in measured.items():
        base = dict(rows["layers"]["int8"]["layers"])
        for name, count in base.items():
            lines.append(f"| {cpu} | {name} | int8 | {count:,} | 1.00 | | |")
            for precision in PRECISIONS[1:]:
                if precision not in rows["layers"]:
                    continue
                ours = dict(rows["layers"][precision]["layers"])[name]
                other = data["cmsis_nn"].get(THEIRS.get(precision, ""), {}).get(cpu, {}).get(name)
                cells = f"{other:,} | {ours / other:.2f}" if other else "|"
                lines.append(
                    f"| {cpu} | {name} | {precision} | {ours:,} | {ours / count:.2f} | {cells} |"
                )
    lines += [
        "",
        "Geometric means over int8, of these layers and all of the models below, and over CMSIS-NN, of",
        "these layers:",
        "",
    ]
    lines += ["| core | precision | convolution | depthwise | linear | all | of CMSIS-NN |"]
    lines += ["|---|---|---|---|---|---|---|"]
    single = [kind for kind in WEIGHTED if "transpose" not in kind]
    for cpu, rows in measured.items():
        for precision in PRECISIONS[1:]:
            if any(precision not in model for model in rows.values()):
                continue
            kinds = [*((kind,) for kind in single), WEIGHTED]
            cells = " | ".join(f"{ratio(rows, precision, each):.2f}" for each in kinds)
            share = of_theirs(data, cpu, precision)
            lines.append(
                f"| {cpu} | {precision} | {cells} | {'' if share is None else f'{share:.2f}'} |"
            )
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
    lines += ["", *quality_lines(data.get("quality", {}))]
    return "\n".join(lines) + "\n"


def quality_lines(found: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """How close models are to their float ones."""
    lines = [
        "## Where 8 bits are enough, and where not",
        "",
        "The signal-to-quantization-noise ratio of the output against the float model, in dB, on the",
        "calibration inputs. The benchmark models' weights are random; weights of 4 bits are rounded as",
        "`QUANTIZE` does by default (`CALIBRATE weights=gptq`).",
        "",
        f"| model | {' | '.join(QUANTIZED)} |",
        f"|---|{'---|' * len(QUANTIZED)}",
    ]
    for name, rows in found.items():
        cells = [f"{rows[precision]['sqnr_db']:.1f}" for precision in QUANTIZED]
        title = name if name in MODELS else "keypad-tones"
        lines.append(f"| {title} | {' | '.join(cells)} |")
    for rows in found.values():
        if "right" in rows["int8"]:
            shares = ", ".join(f"{rows[each]['right']:.1%} in {each}" for each in QUANTIZED)
            lines += [
                "",
                "[samples/keypad-tones](../samples/keypad-tones) names the key of a telephone that is",
                "pressed, from sound whose levels are up to 60 dB apart, more than 8 bits hold. Of 1,000",
                f"calls it gets right: {shares}.",
            ]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cpus", default=",".join(CORES))
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--quality", action="store_true", help="measure decibels, no instructions")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument("--record", action="store_true", help="write precision.json and the page")
    args = parser.parse_args()
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    try:
        if args.quality:
            data["quality"] = {
                name: {each: quality(name, each) for each in QUANTIZED}
                for name in (*MODELS, SAMPLE.relative_to(ROOT).as_posix())
            }
        names = (
            [] if args.tables or args.quality else ["layers", *filter(None, args.models.split(","))]
        )
        for name in names:
            for precision in args.precisions.split(","):
                graph = graph_of(name, precision)
                for cpu in args.cpus.split(","):
                    row = data["measured"].setdefault(cpu, {}).setdefault(name, {})
                    with tempfile.TemporaryDirectory() as folder:
                        row[precision] = measure(name, graph, precision, cpu, Path(folder))
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.record:
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(data), encoding="utf-8")
    print(page(data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
