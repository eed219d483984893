# SPDX-License-Identifier: Apache-2.0
"""Our kernels and CMSIS-NN's side by side: the same layers, with instructions counted by the emulator.

    CMSIS_NN_ROOT=/path/to/CMSIS-NN python -m benchmarks.libraries [--cpu CPU]... [--record] [model.pte]...

Prints a table of every core, and with --record writes kernels/cmsis_nn.json, from which docs/kernels.md
(scripts/kernel_files.py) takes it. Models are compared as wholes, besides.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cortexm_tools.compile import CompileOptions
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import (
    Attrs,
    DType,
    Graph,
    Layer,
    Op,
    Rescale,
    Tensor,
    channels_last,
    contiguous,
    ops,
)
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.geometry import Window
from cortexm_tools.plan import KernelChoice
from cortexm_tools.program import load_program
from cortexm_tools.run.image import cmsis_nn_root
from cortexm_tools.run.libraries import compare, compare_text
from cortexm_tools.target import Target

from benchmarks import ROOT
from tests.support.graphs import GraphProgram

CPUS = ("cortex-m55", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0")
RECORD = ROOT / "kernels" / "cmsis_nn.json"
CHOICES = (KernelChoice.BUILTIN, KernelChoice.CMSIS_NN)


class Layers:
    """Layers that do not depend on each other, each with inputs of its own."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.ops: list[Op] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.random = np.random.default_rng(0)

    def _tensor(self, shape: tuple[int, ...], constant: bool = False) -> int:
        order = channels_last(4) if len(shape) == 4 and not constant else contiguous(len(shape))
        data = self.random.integers(-127, 128, shape).astype(np.int8) if constant else None
        self.tensors.append(Tensor(f"t{len(self.tensors)}", DType.S8, shape, order, data=data))
        return len(self.tensors) - 1

    def add(
        self, attrs: Attrs, ins: list[tuple[int, ...]], out: tuple[int, ...], *weights: Any
    ) -> None:
        """A layer of operands, constant weights, and a result of these shapes."""
        operands = [self._tensor(shape) for shape in ins]
        self.inputs += operands
        operands += [self._tensor(shape, constant=True) for shape in weights]
        self.outputs.append(self._tensor(out))
        name = f"{attrs.kind} {'x'.join(map(str, ins[0]))}"
        self.ops.append(Op(attrs, tuple(operands), (self.outputs[-1],), Layer(name)))

    def graph(self) -> Graph:
        graph = Graph(
            "layers", tuple(self.tensors), tuple(self.ops), tuple(self.inputs), tuple(self.outputs)
        )
        return check_graph(graph)


def add_convolution(layers: Layers, kind: Any, shape: tuple[int, ...], out_c: int, kernel: int, stride: int,
          pad: int, columns: int = 0) -> None:  # fmt: skip
    _, in_c, h, w = shape
    kernel_w = columns or kernel
    transposed = kind is ops.TransposeConv2d

    def extent(size: int, taps: int) -> int:
        if transposed:
            return (size - 1) * stride + taps - 2 * pad
        return (size + 2 * pad - taps) // stride + 1

    window = Window((kernel, kernel_w), (stride, stride), (pad,) * 4)
    attrs = kind(window, 5, -3, (Rescale(1518500250, -9),) * out_c, -128, 127)
    depthwise = kind is ops.DepthwiseConv2d
    weight = (1, kernel, kernel_w, out_c) if depthwise else (out_c, kernel, kernel_w, in_c)
    layers.add(attrs, [shape], (1, out_c, extent(h, kernel), extent(w, kernel_w)), weight)


def layers() -> Graph:
    """What takes the time in small networks, and every other operator that CMSIS-NN has."""
    net = Layers()
    add_convolution(net, ops.Conv2d, (1, 3, 24, 24), 8, 3, 2, 1)
    add_convolution(net, ops.Conv2d, (1, 16, 16, 16), 16, 3, 1, 1)
    add_convolution(net, ops.Conv2d, (1, 32, 8, 8), 64, 1, 1, 0)
    add_convolution(net, ops.Conv2d, (1, 64, 5, 5), 64, 1, 1, 0)
    add_convolution(net, ops.DepthwiseConv2d, (1, 64, 12, 5), 64, 3, 1, 1)
    add_convolution(net, ops.DepthwiseConv2d, (1, 16, 16, 16), 16, 3, 2, 1)
    add_convolution(net, ops.DepthwiseConv2d, (1, 32, 8, 8), 32, 5, 1, 2)
    add_convolution(net, ops.TransposeConv2d, (1, 16, 8, 8), 8, 2, 2, 0)
    add_convolution(net, ops.TransposeConv2d, (1, 32, 5, 5), 16, 3, 2, 0)
    linear = ops.Linear(7, 0, -4, (Rescale(1518500250, -9),), -128, 127)
    net.add(linear, [(1, 640)], (1, 64), (64, 640))
    net.add(linear, [(8, 64)], (8, 64), (64, 64))
    product = ops.BatchMatmul(3, -5, 7, Rescale(1518500250, -9))
    net.add(product, [(2, 16, 32), (2, 16, 32)], (2, 16, 16))
    for size, shape in ((5, (1, 64, 5, 5)), (2, (1, 16, 12, 12))):
        average = ops.AvgPool2d(Window((size, size), (size, size), (0,) * 4))
        net.add(average, [shape], (*shape[:2], shape[2] // size, shape[3] // size))
    for size, pad in ((2, 0), (3, 1)):
        pool = ops.MaxPool2d(Window((size, size), (2, 2), (pad,) * 4), -128, 127)
        net.add(pool, [(1, 16, 12, 12)], (1, 16, 6, 6))
    shape = (1, 16, 12, 12)
    added = ops.Add(
        *(3, Rescale(1518500250, -1)),
        *(-9, Rescale(1073741824, 0)),
        *(5, Rescale(1610612736, -19)),
        *(-128, 127),
    )
    net.add(added, [shape, shape], shape)
    net.add(ops.Mul(3, -9, 5, Rescale(1610612736, -6)), [shape, shape], shape)
    net.add(ops.Minimum(), [shape, shape], shape)
    net.add(ops.Maximum(), [shape, shape], shape)
    softmax = ops.Softmax(1, Rescale(1717986918, 22), -248)
    net.add(softmax, [(4, 12)], (4, 12))
    net.add(softmax, [(1, 200)], (1, 200))
    return net.graph()


def revision() -> str:
    """What the header of the checkout calls its version."""
    header = Path(cmsis_nn_root()) / "Include" / "arm_nnfunctions.h"
    found = re.search(r"\$Revision:\s*(\S+)", header.read_text(encoding="utf-8"))
    return found[1] if found else "unknown"


def lines_of(data: dict[str, Any]) -> str:
    """As JSON, a line for each row."""
    return re.sub(r", (?=\{\"cpu)", ",\n", json.dumps(data)) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--cpu", action="append")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    if not cmsis_nn_root():
        print("error: set CMSIS_NN_ROOT to a checkout of CMSIS-NN", file=sys.stderr)
        return 1
    data: dict[str, Any] = {"cmsis_nn": revision(), "operators": [], "models": []}
    try:
        for cpu in args.cpu or CPUS:
            target = Target.parse(cpu)
            options = CompileOptions(target)
            with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
                for path in (None, *args.models):
                    program = (
                        GraphProgram("layers", b"layers", made=layers())
                        if path is None
                        else load_program(path, name=path.stem, target=target)
                    )
                    found = compare(program, options, CHOICES, work=Path(folder))
                    print(compare_text(found), flush=True)
                    row = {key: found[key] for key in ("cpu", "isa")}
                    if path is None:
                        data["operators"] += [row | entry for entry in found["operators"]]
                    else:
                        row |= {key: found[key] for key in ("name", "macs", "instructions")}
                        data["models"].append(row)
            if args.record:
                RECORD.write_text(lines_of(data), encoding="utf-8")
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
