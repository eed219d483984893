# SPDX-License-Identifier: Apache-2.0
"""What a product of floats and an element of a softmax or a norm may cost, and what it does.

    python -m benchmarks.limits                           # M55 and M4
    python -m benchmarks.limits --cpus cortex-m7 --kinds softmax,norm
    python -m benchmarks.limits --marked                  # only what costs more than it may

Instructions of single operators for each of their products or elements, counted by the emulator as
`benchmarks.sweep` does; `**` marks what exceeds the limit of its kind. Names give shapes: of convolutions
the channels, window and image; of products rows x inner x columns; of the others outer x elements x inner,
along the middle, and scales of int8 softmaxes other than 0.05. `alone` says that nothing else is in the
program, as a classifier's softmax is, with which it would share tables or code.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Rescale, channels_last, contiguous, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.norms import RealNorm

from benchmarks.sweep import ALL_CPUS, counted, kinds_in
from tests.support.graphs import Net

# Instructions for a product or an element. A core without an FPU or MVE has the M4's.
LIMITS = {"floats": (0.6, 2.0), "softmax": (12.0, 25.0), "norm": (6.0, 25.0)}
CPUS = ("cortex-m55", "cortex-m4")
_TOGETHER = 40  # operators of a program
_SCALE = 0.05  # of the int8 codes of a softmax

F32, S8, S16 = DType.F32, DType.S8, DType.S16


@dataclass(frozen=True)
class Item:
    """One operator.

    Attributes:
        add: adds it to a net; its result.
        per: products or elements.
        is_alone: whether its program has no other operator, with which it would share tables and code.
    """

    kind: str
    name: str
    add: Callable[[Net], int]
    per: int
    is_alone: bool = False


def conv(
    in_c: int,
    out_c: int,
    kernel: tuple[int, int] = (3, 3),
    size: tuple[int, int] = (16, 16),
    groups: int = 1,
    stride: int | tuple[int, int] = 1,
    rows_first: bool = False,
    dilation: int = 1,
) -> Item:
    """Of an image whose channels lie together, or whose planes do."""
    strides = (stride, stride) if isinstance(stride, int) else stride
    beside = [side // 2 * dilation for side in kernel]
    window = Window(kernel, strides, (beside[0], beside[1]) * 2, (dilation, dilation))
    sides = [
        (extent + 2 * pad - (side - 1) * dilation - 1) // step + 1
        for extent, side, step, pad in zip(size, kernel, strides, beside, strict=True)
    ]
    order = contiguous(4) if rows_first else channels_last(4)

    def add(net: Net) -> int:
        x = net.input((1, in_c, *size), F32, order)
        weights = [_floats(net, out_c, in_c // groups, *kernel), _floats(net, out_c)]
        attrs = ops.FloatConv2d(window, groups)
        return net.add(attrs, [x, *weights], (1, out_c, *sides), F32, order)

    parts = [f"conv {in_c}->{out_c}", "x".join(map(str, kernel)), "on " + "x".join(map(str, size))]
    parts += [f"groups {groups}"] * (groups > 1)
    same = strides[0] == strides[1]
    name = str(strides[0]) if same else "x".join(map(str, strides))
    parts += [f"stride {name}"] * (strides != (1, 1))
    parts += [f"dilation {dilation}"] * (dilation > 1)
    per = math.prod((out_c, in_c // groups, *sides, *kernel))
    return Item("floats", " ".join(parts) + " planes" * rows_first, add, per)


def linear(rows: int, inner: int, columns: int) -> Item:
    def add(net: Net) -> int:
        operands = [net.input((rows, inner), F32)]
        operands += [_floats(net, columns, inner), _floats(net, columns)]
        return net.add(ops.FloatLinear(), operands, (rows, columns), F32)

    return Item("floats", f"linear {rows}x{inner}x{columns}", add, rows * inner * columns)


def matmul(rows: int, inner: int, columns: int, batches: int = 1, turned: bool = False) -> Item:
    """Of so many matrices; turned, the elements of a column lie side by side, as keys do in attention."""
    many = (batches,) if batches > 1 else ()
    order = (*range(len(many)), len(many) + 1, len(many)) if turned else None

    def add(net: Net) -> int:
        operands = [net.input((*many, rows, inner), F32)]
        operands.append(net.input((*many, inner, columns), F32, order))
        return net.add(ops.FloatMatmul(), operands, (*many, rows, columns), F32)

    name = f"matmul {rows}x{inner}x{columns}" + f" of {batches}" * (batches > 1)
    name += " turned" * turned
    return Item("floats", name, add, batches * rows * inner * columns)


def _floats(net: Net, *shape: int) -> int:
    return net.constant(net.random.normal(0, 1, shape), F32)


def softmax(
    outer: int,
    elements: int,
    inner: int,
    of: DType,
    multiplier: int = 1 << 22,
    scale: float = _SCALE,
) -> Item:
    """Of int8 codes with a scale, of int16 ones with a multiplier."""

    def add(net: Net) -> int:
        shape = (outer, elements, inner)
        mantissa, exponent = math.frexp(scale * 2**26)  # as quantizers say it
        lowest = -31 * 2**26 // 2**exponent
        attrs = ops.Softmax(1, Rescale(int(mantissa * 2**31), exponent), lowest)
        wide = ops.WideSoftmax(1, multiplier)
        return net.add(wide if of is S16 else attrs, [net.input(shape, of)], shape, of)

    name = f"softmax {outer}x{elements}x{inner} {of.value}"
    name += " steep" * (multiplier >= 1 << 24) + f" {scale}" * (scale != _SCALE)
    return Item("softmax", name, add, outer * elements * inner)


def norm(
    outer: int, elements: int, inner: int, of: DType, centred: bool = True, are_beside: bool = False
) -> Item:
    """Of rows of `elements`, or of groups of as many channels, which may lie side by side."""
    channels = elements if inner == 1 else outer * elements
    order = channels_last(3) if are_beside else None

    def add(net: Net) -> int:
        gains = net.random.uniform(0.5, 2, channels), net.random.normal(0, 1, channels)
        real = RealNorm(elements * inner, centred, 1e-5, *gains)
        designed = real.on_codes(4 / of.limits[1], 6 / of.limits[1], 0, 8 * of.size)
        assert designed is not None
        epsilon, shift, *tables = designed
        shape = (outer, elements) if inner == 1 else (1, channels, inner)
        constants = [net.constant(np.asarray(table), DType.S32) for table in tables]
        attrs = (
            ops.LayerNorm(elements, centred, 0, epsilon, shift)
            if inner == 1
            else ops.GroupNorm(outer, epsilon, shift)
        )
        x = net.input(shape, of, order)
        return net.add(attrs, [x, *constants], shape, of, order)

    kind = "group norm" if inner > 1 else "layer norm" if centred else "rms norm"
    name = f"{kind} {outer}x{elements}x{inner} {of.value}" + " beside" * are_beside
    return Item("norm", name, add, outer * elements * inner)


def _float_items() -> Iterator[Item]:
    for in_c, out_c in ((8, 8), (16, 16), (32, 32), (8, 16), (13, 7), (3, 16), (3, 8), (1, 8)):
        yield conv(in_c, out_c)
        yield conv(in_c, out_c, rows_first=True)
    for in_c, out_c in ((16, 32), (8, 16), (4, 16), (3, 16), (2, 8), (1, 8), (16, 3), (16, 1)):
        yield conv(in_c, out_c, (1, 1))
    yield conv(3, 16, size=(32, 32), stride=2)
    yield conv(3, 8, size=(32, 32), stride=2, rows_first=True)
    yield conv(1, 8, (10, 4), (49, 10), stride=2)
    for channels in (8, 16, 5):
        yield conv(channels, channels, groups=channels)
        yield conv(channels, channels, groups=channels, rows_first=True)
    for channels in (2, 3, 6, 10):
        yield conv(channels, channels, groups=channels)
    for rows_first in (False, True):
        for window, size in (
            ((5, 5), (16, 16)),
            ((7, 7), (16, 16)),
            ((1, 5), (1, 64)),
            ((1, 9), (1, 64)),
        ):
            yield conv(16, 16, window, size, groups=16, rows_first=rows_first)
        for window in ((3, 3), (5, 5)):
            yield conv(16, 16, window, groups=16, stride=2, rows_first=rows_first)
    for side in (8, 16):
        yield conv(16, 16, size=(side, side), groups=16, dilation=2)
    yield conv(8, 16, (1, 5), (1, 64))
    yield conv(8, 16, (3, 1), (64, 8))
    yield conv(8, 8, groups=2)
    for rows, inner, columns in ((1, 64, 64), (1, 256, 10), (8, 64, 64), (8, 64, 10), (16, 13, 7)):
        yield linear(rows, inner, columns)
    for columns in (1, 2, 3):
        yield linear(1, 64, columns)
        yield linear(16, 64, columns)
        yield matmul(16, 32, columns)
    for rows, inner, columns in ((16, 16, 16), (1, 64, 64), (64, 16, 64), (9, 17, 7)):
        yield matmul(rows, inner, columns)
    yield matmul(49, 16, 49, batches=2)


def _alone(item: Item) -> Item:
    return replace(item, name=f"{item.name} alone", is_alone=True)


def _softmax_items() -> Iterator[Item]:
    for of in (S8, S16):
        for elements in (2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 64, 100):
            for rows in (8, 11, 22, 64):
                yield softmax(rows, elements, 1, of)
            yield softmax(1, elements, 8, of)
            yield softmax(5, elements, 5, of)
        yield softmax(2, 3, 4, of)
        yield softmax(4, 10, 49, of)
    for elements in (2, 4, 6, 7, 8, 9, 16, 64):
        yield softmax(8, elements, 1, S16, 1 << 24)
        yield softmax(5, elements, 5, S16, 1 << 24)
    for of in (S8, S16):
        for rows, elements in ((1, 2), (1, 10), (1, 12), (2, 10), (4, 4), (3, 5)):
            yield _alone(softmax(rows, elements, 1, of))
    for scale in (0.02, 0.04, 0.1):
        for rows, elements in ((1, 5), (1, 10), (4, 4)):
            yield _alone(softmax(rows, elements, 1, S8, scale=scale))


def _norm_items() -> Iterator[Item]:
    for of in (S8, S16):
        for rows, elements in (
            (64, 64),
            (16, 96),
            (49, 33),
            (4, 128),
            (1, 64),
            (64, 16),
            (16, 24),
            (16, 16),
            (16, 12),
            (16, 8),
        ):
            yield norm(rows, elements, 1, of)
            yield norm(rows, elements, 1, of, centred=False)
        for groups, channels, pixels in ((4, 4, 64), (8, 1, 49), (1, 16, 16)):
            yield norm(groups, channels, pixels, of)
        yield norm(4, 4, 64, of, are_beside=True)
    for of, pixels in ((S8, 25), (S8, 49), (S16, 49)):
        item = norm(8, 1, pixels, of, are_beside=True)
        yield replace(item, name=f"{item.name} alone", is_alone=True)


def items() -> list[Item]:
    return [*_float_items(), *_softmax_items(), *_norm_items()]


def measure(some: Sequence[Item], cpu: str) -> list[float]:
    """Instructions for each product or element.

    Raises:
        CortexMError: a tool is missing, the build or the run fails.
    """
    kinds: dict[str, list[int]] = {}  # which share programs
    for place, item in enumerate(some):
        if not item.is_alone:
            kinds.setdefault(item.kind, []).append(place)
    programs = [[place] for place, item in enumerate(some) if item.is_alone]
    for shared in kinds.values():
        programs += [
            shared[first : first + _TOGETHER] for first in range(0, len(shared), _TOGETHER)
        ]
    found = [0.0] * len(some)
    with tempfile.TemporaryDirectory() as folder:
        for places in programs:
            net = Net("limits", 1)
            outs = {place: some[place].add(net) for place in places}
            for place, count in counted(net, outs, (), cpu, Path(folder)).items():
                found[place] = count / some[place].per
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cpus", nargs="+", default=CPUS, choices=ALL_CPUS)
    parser.add_argument("--kinds", help="some of floats, softmax and norm, separated by commas")
    parser.add_argument("--marked", action="store_true", help="only what exceeds its limit")
    args = parser.parse_args(arguments)
    some = items()
    try:
        if args.kinds:
            wanted = kinds_in(args.kinds, list(LIMITS))
            some = [item for item in some if item.kind in wanted]
        for cpu in args.cpus:
            table = list(zip(some, measure(some, cpu), strict=True))
            limits = {kind: pair[cpu != "cortex-m55"] for kind, pair in LIMITS.items()}
            beyond = [item for item, each in table if each > limits[item.kind]]
            print(f"{cpu}: {len(some)} operators, {len(beyond)} cost more than they may")
            for item, each in table:
                if item in beyond or not args.marked:
                    mark = "**" if item in beyond else "  "
                    print(f"{mark} {item.name:44} {each:8.2f} {limits[item.kind]:6.1f}")
            sys.stdout.flush()
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
