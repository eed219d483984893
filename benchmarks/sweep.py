# SPDX-License-Identifier: Apache-2.0
"""Layers of odd sizes beside the same layers with usual ones: those that cost more than twice as much.

    python -m benchmarks.sweep                            # M55 and M4
    python -m benchmarks.sweep --cpus cortex-m3 --kinds conv,linear
    python -m benchmarks.sweep --marked                   # only the layers that are marked

Instructions of each layer for each of its products (for each element that it reads, where it has none),
counted by the emulator, and those of its neighbour: the same layer with channels in eights, at least eight
of them in a group, a square window, and no dilation. Then how many times its neighbour's cost it has, where
an output that is rounded to a code whatever its window is, as an average is too, counts as sixteen products;
`**` marks what is beyond two. Many layers are one program, which is built and started once; one
layer more takes most memory, so that the others have room for scratch.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from cortexm_tools.compile import CompileOptions, compile_program, write_compiled
from cortexm_tools.errors import CortexMError, did_you_mean
from cortexm_tools.ir import Array, DType, Rescale, Tensor, ops
from cortexm_tools.ir.edit import consumers
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.memory import memory_bytes
from cortexm_tools.run.profile import profile_model
from cortexm_tools.target import Target

from tests.support.graphs import GraphProgram, Net

T = TypeVar("T", bound=Hashable)

CPUS = ("cortex-m55", "cortex-m4")
ALL_CPUS = (*CPUS, "cortex-m7", "cortex-m33", "cortex-m3", "cortex-m0")
MOST = 2.0  # times its neighbour's cost, from where a layer is marked
OUTPUT = 16  # products that an output counts as
_TOGETHER = 40  # layers of a program
_PEAK = (511, 255)  # rows and columns of the tensor at which a program takes most memory, less one

ROUNDED = ("conv", "depthwise", "transposed", "linear", "matmul", "avg_pool")
WINDOWS = ("conv", "depthwise", "transposed", "max_pool", "avg_pool")


@dataclass(frozen=True)
class Layer:
    """One operator on an image of `size` rows and columns, or on as many rows of `in_c` values.

    Attributes:
        of: the type of its codes.
    """

    kind: str
    in_c: int
    out_c: int = 0
    size: tuple[int, int] = (8, 8)
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    of: DType = DType.S8

    def __str__(self) -> str:
        parts = [self.kind, f"{self.in_c}" + (f"->{self.out_c}" if self.out_c else "")]
        if self.kind in WINDOWS:
            parts.append("x".join(map(str, self.kernel)))
        parts.append("on " + "x".join(map(str, self.size)))
        for name in ("stride", "dilation", "groups"):
            if getattr(self, name) != 1:
                parts.append(f"{name} {getattr(self, name)}")
        return " ".join(parts) + ("" if self.of is DType.S8 else f" {self.of.value}")

    @property
    def neighbour(self) -> Layer:
        """The same layer with usual sizes."""
        side = min(max(self.kernel), 3) if self.kind == "depthwise" else max(self.kernel)
        in_c, out_c = (in_eights(c, self.groups) for c in (self.in_c, self.out_c))
        if self.kind == "depthwise":
            out_c = in_c * max(1, self.out_c // self.in_c)
        return replace(self, in_c=in_c, out_c=out_c, kernel=(side, side), dilation=1)


def in_eights(channels: int, groups: int) -> int:
    """The nearest number of channels whose groups are of eights."""
    return 8 * groups * max(1, round(channels / groups / 8)) if channels else 0


def depthwise(channels: int, kernel: tuple[int, int], multiple: int = 1, **fields: object) -> Layer:
    return Layer("depthwise", channels, channels * multiple, kernel=kernel, **fields)  # type: ignore[arg-type]


def layers() -> list[Layer]:
    """Those of odd sizes."""
    found: list[Layer] = []
    wide = DType.S16
    pairs = ((1, 1), (3, 3), (3, 7), (5, 5), (7, 9), (9, 17), (10, 10), (13, 31), (33, 34))
    heads = ((8, 1), (8, 2), (16, 3), (32, 2), (64, 3), (24, 5), (2, 16), (3, 16))
    for in_c, out_c in (*pairs, *heads):
        found += [Layer("conv", in_c, out_c, kernel=side) for side in ((1, 1), (3, 3))]
    for in_c, out_c in (pairs[3], pairs[5], heads[1], heads[4], heads[7]):
        found += [Layer("conv", in_c, out_c, kernel=side, of=wide) for side in ((1, 1), (3, 3))]
    for kernel in ((3, 1), (1, 3), (1, 5), (5, 1), (10, 4), (2, 2), (7, 7), (1, 9)):
        found += [
            Layer("conv", in_c, out_c, (12, 12), kernel)
            for in_c, out_c in ((8, 16), (3, 8), (13, 13), (1, 5))
        ]
    for groups in (2, 3, 4, 8):
        for in_c, out_c in ((8, 8), (5, 5), (1, 2), (2, 2), (4, 4), (4, 1), (1, 4)):
            found.append(Layer("conv", groups * in_c, groups * out_c, kernel=(3, 3), groups=groups))
        found.append(Layer("conv", groups * 4, groups * 4, groups=groups))
        found.append(Layer("conv", groups * 3, groups * 5, groups=groups))
    for in_c, out_c in ((4, 24), (6, 36), (12, 48), (24, 1), (64, 1), (96, 1)):
        found.append(Layer("conv", in_c, out_c, (16, 16)))
    for groups, in_c, out_c in ((2, 6, 36), (3, 8, 20), (4, 6, 17), (5, 4, 8)):
        found.append(Layer("conv", groups * in_c, groups * out_c, groups=groups))
    for channels in (8, 24):
        for kernel in ((5, 5), (7, 7)):
            found.append(depthwise(channels, kernel, size=(16, 16), stride=2))
        for kernel in ((1, 7), (7, 1)):
            found.append(depthwise(channels, kernel, size=(16, 16)))
        found += [depthwise(channels, (3, 3), size=(16, 16), dilation=each) for each in (2, 4)]
    for stride, dilation in ((2, 1), (3, 1), (1, 2), (1, 3), (2, 2)):
        for in_c, out_c in ((5, 7), (17, 9), (1, 8)):
            found.append(
                Layer("conv", in_c, out_c, (15, 13), (3, 3), stride=stride, dilation=dilation)
            )
        for channels in (5, 8, 20):
            found.append(
                depthwise(channels, (3, 3), size=(15, 13), stride=stride, dilation=dilation)
            )
    for channels in (1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 15, 17, 18, 20, 31, 33, 34):
        found.append(depthwise(channels, (3, 3)))
    found += [depthwise(channels, (3, 3), of=wide) for channels in (2, 5, 9, 12, 17, 33)]
    for kernel in ((7, 7), (5, 5), (3, 1), (1, 5), (2, 2), (9, 1), (1, 1), (11, 11)):
        found += [depthwise(channels, kernel, size=(12, 12)) for channels in (3, 8, 12, 13, 17)]
    found += [depthwise(12, kernel, size=(12, 12), of=wide) for kernel in ((7, 7), (3, 1), (2, 2))]
    for channels, multiple in ((2, 2), (4, 2), (8, 2), (3, 3), (5, 4), (1, 8), (16, 2)):
        found.append(depthwise(channels, (3, 3), multiple))
    for in_c, out_c in (
        (31, 33),
        (63, 5),
        (65, 3),
        (100, 10),
        (127, 127),
        (255, 1),
        (257, 6),
        (640, 3),
        (3, 640),
    ):
        found += [Layer("linear", in_c, out_c, (1, rows)) for rows in (1, 7)]
    found += [Layer("linear", in_c, 6, (1, 1), of=wide) for in_c in (63, 257)]
    for kernel, stride in (
        ((2, 2), 2),
        ((3, 3), 2),
        ((4, 4), 2),
        ((3, 3), 1),
        ((5, 5), 3),
        ((2, 3), 3),
    ):
        for in_c, out_c in ((3, 5), (13, 2), (17, 9)):
            found.append(Layer("transposed", in_c, out_c, (6, 6), kernel, stride=stride))
    for kind in ("max_pool", "avg_pool"):
        for kernel, stride in (((2, 2), 2), ((3, 3), 2), ((3, 1), 1), ((8, 8), 8)):
            found += [
                Layer(kind, channels, 0, (16, 16), kernel, stride) for channels in (1, 3, 5, 12, 17)
            ]
            found.append(Layer(kind, 7, 0, (16, 16), kernel, stride, of=wide))
    for kind in (
        "add",
        "add_channel",
        "mul",
        "mul_channel",
        "softmax",
        "concat",
        "pad",
        "transpose",
    ):
        found += [Layer(kind, channels, 0, (12, 12)) for channels in (1, 3, 5, 13, 33)]
    for rows, inner, cols in (
        (3, 5, 7),
        (9, 17, 3),
        (13, 2, 2),
        (16, 3, 16),
        (16, 16, 2),
        (17, 33, 9),
    ):
        found.append(Layer("matmul", inner, cols, (1, rows)))
    return list(dict.fromkeys(found))


class _Net(Net):
    """Of int16 codes, no layer whose sums need 64 bits. All additions have the scales and the clamp that
    quantizers give them: neighbours are the same layer."""

    def sum(self, a: int, b: int) -> int:
        attrs = ops.Add(
            *(0, Rescale(1518500250, -1)),
            *(0, Rescale(1 << 30, 0)),
            *(0, Rescale(1610612736, -14 if self.is_wide(a) else -19)),
            *self.tensors[a].dtype.limits,
        )
        return self.add(attrs, [a, b], np.broadcast_shapes(self.shape(a), self.shape(b)))

    def biases(self, x: int, count: int) -> int:
        return self.constant(self.random.integers(-9999, 9999, count), DType.S32)


@dataclass(frozen=True)
class Work:
    """What a layer does.

    Attributes:
        per: products, or elements that it reads.
        outputs: of a layer that multiplies, or divides.
    """

    per: int
    outputs: int = 0

    @property
    def weighed(self) -> int:
        return self.per + OUTPUT * self.outputs


class Sweep:
    """Layers side by side in one graph, which share inputs of the same shape."""

    def __init__(self) -> None:
        self.net = _Net("sweep", 1)
        self._inputs: dict[tuple[tuple[int, ...], DType, int], int] = {}

    def input(self, shape: tuple[int, ...], of: DType, number: int = 0) -> int:
        key = shape, of, number
        if key not in self._inputs:
            self._inputs[key] = self.net.input(shape, of)
        return self._inputs[key]

    def peak(self) -> int:
        """A layer that takes more memory than the others, as networks have one: at all others there is room.
        In no network are all results kept to the end, which would leave scratch memory to none."""
        padding = (0, 0, *_PEAK)
        large = self.net.pad(self.input((1, 1, 1, 1), DType.S8), (0,) * 4, padding, 3)
        sides = self.net.shape(large)[2:]
        window = Window(sides, (1, 1), (0,) * 4)
        return self.net.add(ops.MaxPool2d(window, *DType.S8.limits), [large], (1, 1, 1, 1))

    def image(self, layer: Layer, number: int = 0) -> int:
        return self.input((1, layer.in_c, *layer.size), layer.of, number)

    def add(self, layer: Layer) -> tuple[int, Work]:
        """Its result, and what it takes to compute that."""
        out, per = getattr(self, "_" + layer.kind)(layer)
        is_rounded = layer.kind in ROUNDED
        return out, Work(per, math.prod(self.net.shape(out)) if is_rounded else 0)

    def _window(self, layer: Layer) -> Window:
        reach = [(side - 1) * layer.dilation for side in layer.kernel]
        before = [side // 2 for side in reach]
        after = [side - first for side, first in zip(reach, before, strict=True)]
        padding = (before[0], before[1], after[0], after[1])
        return Window(layer.kernel, (layer.stride,) * 2, padding, (layer.dilation,) * 2)

    def _conv(self, layer: Layer) -> tuple[int, int]:
        window = self._window(layer)
        out = self.net.conv(
            self.image(layer),
            layer.out_c,
            window.kernel,
            window.stride,
            window.padding,
            depthwise=layer.kind == "depthwise",
            groups=layer.groups,
            dilation=window.dilation,
        )
        depth = 1 if layer.kind == "depthwise" else layer.in_c // layer.groups
        return out, math.prod((*self.net.shape(out), *layer.kernel, depth))

    _depthwise = _conv

    def _transposed(self, layer: Layer) -> tuple[int, int]:
        out = self.net.transpose_conv(self.image(layer), layer.out_c, layer.kernel, layer.stride)
        return out, math.prod((*layer.size, *layer.kernel, layer.in_c, layer.out_c))

    def _linear(self, layer: Layer) -> tuple[int, int]:
        rows = layer.size[1]
        out = self.net.linear(self.input((rows, layer.in_c), layer.of), layer.out_c)
        return out, rows * layer.in_c * layer.out_c

    def _max_pool(self, layer: Layer) -> tuple[int, int]:
        window = Window(layer.kernel, (layer.stride,) * 2, (0, 0, 0, 0))
        x = self.image(layer)
        attrs = (
            ops.MaxPool2d(window, *layer.of.limits)
            if layer.kind == "max_pool"
            else ops.AvgPool2d(window)
        )
        sides = [
            (size - side) // layer.stride + 1
            for size, side in zip(layer.size, layer.kernel, strict=True)
        ]
        shape = (1, layer.in_c, *sides)
        return self.net.add(attrs, [x], shape), math.prod((*shape, *layer.kernel))

    _avg_pool = _max_pool

    def _elements(self, layer: Layer) -> int:
        return layer.in_c * math.prod(layer.size)

    def _add(self, layer: Layer) -> tuple[int, int]:
        out = self.net.sum(self.image(layer), self.image(layer, 1))
        return out, self._elements(layer)

    def _mul(self, layer: Layer) -> tuple[int, int]:
        out = self.net.mul(self.image(layer), self.image(layer, 1))
        return out, self._elements(layer)

    def _add_channel(self, layer: Layer) -> tuple[int, int]:
        one = self.input((1, layer.in_c, 1, 1), layer.of)
        return self.net.sum(self.image(layer), one), self._elements(layer)

    def _mul_channel(self, layer: Layer) -> tuple[int, int]:
        one = self.input((1, layer.in_c, 1, 1), layer.of)
        return self.net.mul(self.image(layer), one), self._elements(layer)

    def _softmax(self, layer: Layer) -> tuple[int, int]:
        x = self.input((math.prod(layer.size), layer.in_c), layer.of)
        return self.net.softmax(x, 1), self._elements(layer)

    def _concat(self, layer: Layer) -> tuple[int, int]:
        x, y = self.image(layer), self.image(layer, 1)
        return self.net.concat([x, y], 1), 2 * self._elements(layer)

    def _pad(self, layer: Layer) -> tuple[int, int]:
        out = self.net.pad(self.image(layer), (0, 0, 1, 1), (0, 0, 1, 1), 3)
        return out, math.prod(self.net.shape(out))

    def _transpose(self, layer: Layer) -> tuple[int, int]:
        x = self.input((math.prod(layer.size), layer.in_c), layer.of)
        return self.net.transpose(x, (1, 0)), self._elements(layer)

    def _matmul(self, layer: Layer) -> tuple[int, int]:
        batches, rows, inner, cols = 2, layer.size[1], layer.in_c, layer.out_c
        x = self.input((batches, rows, inner), layer.of)
        out = self.net.batch_matmul(x, self.input((batches, cols, inner), layer.of, 1))
        return out, batches * rows * cols * inner


@dataclass(frozen=True)
class Cost:
    """Instructions of a layer."""

    instructions: int
    work: Work

    @property
    def each(self) -> float:
        return self.instructions / self.work.per

    def times(self, other: Cost) -> float:
        mine, its = (cost.instructions / cost.work.weighed for cost in (self, other))
        return mine / its if its else 0.0


def costs(some: Sequence[Layer], cpu: str, work: Path) -> dict[Layer, Cost]:
    """What layers cost, together in one program.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    sweep = Sweep()
    made = {layer: sweep.add(layer) for layer in some}
    outs = {layer: out for layer, (out, _) in made.items()}
    count = counted(sweep.net, outs, (sweep.peak(),), cpu, work)
    return {layer: Cost(count[layer], of) for layer, (_, of) in made.items()}


def counted(
    net: Net, outs: Mapping[T, int], others: Sequence[int], cpu: str, work: Path
) -> dict[T, int]:
    """The instructions of the operators whose results are given, together in one program.

    Args:
        outs: their results, all of them outputs of the program.
        others: more outputs.
    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    graph = net.finish(*outs.values(), *others)
    options = CompileOptions(target=Target.parse(cpu), profile=True)
    compiled = compile_program(GraphProgram("sweep", b"", made=graph), options)
    write_compiled(compiled, work / "model")
    plan = compiled.plan
    packed = [
        memory_bytes(_random(net, tensor), tensor.dim_order)
        for tensor in (plan.graph.tensors[index] for index in plan.graph.inputs)
    ]
    target = options.target
    profile = profile_model(
        work / "model",
        "sweep",
        packed,
        work,
        core=target.core,
        isa=target.isa,
        step_count=len(plan.steps),
    )
    names = {graph.tensors[out].name: key for key, out in outs.items()}
    read_by = consumers(plan.graph)
    count = dict.fromkeys(outs, 0)
    for step, instructions in zip(plan.steps, profile.steps, strict=True):
        for op in step.ops:
            # What a plan adds, as copies of its operand, belongs to the layer that reads it in the end.
            ends = [op]
            while ends:
                end = ends.pop()
                key = names.get(plan.graph.tensors[end.outputs[0]].name)
                if key is not None:
                    count[key] += instructions
                    break
                ends += read_by.get(end.outputs[0], ())
    return count


def _random(net: Net, tensor: Tensor) -> Array:
    """Values of an input."""
    if tensor.dtype is DType.F32:
        return net.random.normal(0, 1, tensor.shape).astype(np.float32)
    low, high = tensor.dtype.limits
    return net.random.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy)


def sweep_all(some: Sequence[Layer], cpu: str) -> dict[Layer, Cost]:
    """The costs of layers and their neighbours."""
    every = list(dict.fromkeys([*some, *(layer.neighbour for layer in some)]))
    found: dict[Layer, Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(every), _TOGETHER):
            found |= costs(every[first : first + _TOGETHER], cpu, Path(folder))
    return found


def rows(found: dict[Layer, Cost], some: Sequence[Layer]) -> list[tuple[str, float]]:
    """A line for each layer, and how many times its neighbour's cost it has."""
    lines = []
    for layer in some:
        cost, beside = found[layer], found[layer.neighbour]
        times = cost.times(beside)
        mark = "**" if times > MOST else "  "
        numbers = f"{cost.each:8.2f} {beside.each:8.2f} {times:6.2f}"
        lines.append((f"{mark} {layer!s:44} {numbers}  {layer.neighbour}", times))
    return lines


def kinds_in(words: str, kinds: Sequence[str]) -> list[str]:
    """Those that `words` names, separated by commas.

    Raises:
        CortexMError: it names another one.
    """
    wanted = words.split(",")
    for word in wanted:
        if word not in kinds:
            hint = did_you_mean(word, kinds)
            raise CortexMError(f"{word!r} is not a kind of operator", hint=hint)
    return wanted


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cpus", nargs="+", default=CPUS, choices=ALL_CPUS)
    parser.add_argument("--kinds", help="some kinds of layers, separated by commas")
    parser.add_argument("--marked", action="store_true", help="only layers that are marked")
    args = parser.parse_args(arguments)
    some = layers()
    try:
        if args.kinds:
            wanted = kinds_in(args.kinds, sorted({layer.kind for layer in some}))
            some = [layer for layer in some if layer.kind in wanted]
        for cpu in args.cpus:
            table = rows(sweep_all(some, cpu), some)
            marked = [line for line, times in table if times > MOST]
            print(f"{cpu}: {len(some)} layers, {len(marked)} cost more than twice their neighbour")
            print(f"   {'layer':44} {'cost':>8} {'beside':>8} {'times':>6}  neighbour")
            print("\n".join(marked if args.marked else [line for line, _ in table]), flush=True)
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
