# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of two or three channels as one of twice as many, those of the upper and of the
lower half of the image: the kernel of 3x3 windows takes four channels at a time.

Of the windows that are one row apart, h - 2 lie inside an image of h rows. Each half has as many rows as half
of them, and two more; both together have all. Both have the padding of the image. Windows that reach into it
are the model's at the top of the upper half and at the bottom of the lower one, and what they give at the
other ends is left out. All others meet the same codes as in the image.

The halves are copied beside each other, and their outputs below each other, where that costs less than the
kernel saves, and where the arena has room for both anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ...ir import DType, Graph, Op, Tensor, ops
from ...ir.edit import GraphBuilder
from ...target import Isa, Target
from ..kernels.planes import pixels_dsp, squares_dsp
from ..lower.context import Lowerings
from ..lower.copies import copy_instructions
from ..types import Call, ScratchArg
from .order import live_before, peak

_LEAST = 3200  # instructions at least: twice the bytes of a kernel that maybe no other layer has
_PER_COPY = 60  # instructions of its call


def halve_images(graph: Graph, target: Target) -> Graph:
    """`graph`, whose layouts are assigned, with such layers on the halves of their images."""
    if target.isa is not Isa.DSP:
        return graph
    plain = Lowerings(graph, target)
    taken = []
    for position, op in enumerate(graph.ops):
        halves = _halves(graph, op)
        if halves is None:
            continue
        (old,) = plain.lower(op).calls
        halved = _halved(graph, [op])
        layer = next(each for each in halved.ops if each.outputs[0] == len(graph.tensors))
        (new,) = Lowerings(halved, target).lower(layer).calls
        if _pays(halves, old, new) and _has_room(graph, position, halves, new):
            taken.append(op)
    return _halved(graph, taken) if taken else graph


@dataclass(frozen=True)
class _Halves:
    """A layer on both halves of its image.

    Attributes:
        image: of the channels of both, and `outputs` what the layer makes of it.
        begin: the row where the lower one begins.
        rows: of the result that are the upper one's, and `left` the lower one's.
    """

    image: Tensor
    outputs: Tensor
    begin: int
    rows: int
    left: int


def _halves(graph: Graph, op: Op) -> _Halves | None:
    """Those of a layer, if it is one that may be computed so."""
    if not isinstance(op.attrs, ops.DepthwiseConv2d):
        return None
    window, x, out = op.attrs.window, graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    batches, channels, height, width = x.shape
    is_square = (window.kernel, window.stride[0], window.dilation) == ((3, 3), 1, (1, 1))
    if not is_square or batches > 1 or channels not in (2, 3) or channels != out.shape[1]:
        return None
    if height < 4:
        return None
    share = (height - 1) // 2  # of the windows inside
    above, _, below, _ = window.padding
    image = 1, 2 * channels, share + 2, width
    outputs = 1, 2 * channels, above + share + below, out.shape[3]
    return _Halves(
        replace(x, name=f"{x.name}_halves", shape=image),
        replace(out, name=f"{out.name}_halves", shape=outputs),
        height - 2 - share,
        above + share,
        out.shape[2] - above - share,
    )


def _pays(halves: _Halves, old: Call, new: Call) -> bool:
    """Whether the kernel of 3x3 windows, if it is that, saves more than the copies cost."""
    if new.kernel.scratch != "band":
        return False
    image, columns = halves.image, halves.outputs.shape[3]
    _, both, height, width = image.shape
    codes = both // 2, 1, 1
    boxes = [[(height * width, both // 2, both), codes]] * 2
    boxes += [[(rows * columns, both, both // 2), codes] for rows in (halves.rows, halves.left)]
    copies = sum(_PER_COPY + copy_instructions(box, Isa.DSP, image.dtype.size) for box in boxes)
    mine = squares_dsp(new.int_fields, image.dtype is DType.S16) + copies
    return pixels_dsp(old.int_fields) - mine >= _LEAST


def _has_room(graph: Graph, position: int, halves: _Halves, call: Call) -> bool:
    """Whether the operator of this number can be computed so where the arena is not larger for it."""
    made = halves.image.nbytes + halves.outputs.nbytes
    scratch = sum(arg.nbytes for arg in call.args if isinstance(arg, ScratchArg))
    result = graph.tensors[graph.ops[position].outputs[0]].nbytes
    most = peak(graph, range(len(graph.ops)))
    return live_before(graph, position) + made + max(scratch, result) <= most


def _halved(graph: Graph, layers: Iterable[Op]) -> Graph:
    """The graph with these layers on the halves of their images."""
    build, made = GraphBuilder(graph), {op.outputs[0] for op in layers}
    for op in graph.ops:
        halves = _halves(graph, op)
        if halves is None or op.outputs[0] not in made:
            build.add(op)
        else:
            _add(build, op, halves)
    return build.finish()


def _add(build: GraphBuilder, op: Op, halves: _Halves) -> None:
    """The halves beside each other, the layer on them, and what it makes of them below each other."""
    assert isinstance(op.attrs, ops.DepthwiseConv2d)
    outputs, image = build.add_tensor(halves.outputs), build.add_tensor(halves.image)
    x, *constants = op.inputs
    channels, height = halves.image.shape[1] // 2, halves.image.shape[2]

    def part(of: int, channel: int, row: int, rows: int) -> int:
        whole = build.tensors[of]
        shape = 1, channels, rows, whole.shape[3]
        index = build.add_tensor(replace(whole, name=f"{whole.name}_part", shape=shape))
        build.add(Op(ops.Slice((0, channel, row, 0), (1, 1, 1, 1)), (of,), (index,), op.layer))
        return index

    both = part(x, 0, 0, height), part(x, 0, halves.begin, height)
    build.add(Op(ops.Concat(1), both, (image,), op.layer))
    twice = (build.add_tensor(_twice(build.tensors[index])) for index in constants)
    attrs = replace(op.attrs, rescales=op.attrs.rescales * 2)
    build.add(replace(op, attrs=attrs, inputs=(image, *twice), outputs=(outputs,)))
    upper = part(outputs, 0, 0, halves.rows)
    lower = part(outputs, channels, halves.rows - halves.begin, halves.left)
    build.add(Op(ops.Concat(2), (upper, lower), op.outputs, op.layer))


def _twice(constant: Tensor) -> Tensor:
    """Weights or biases of the channels of both halves."""
    assert constant.data is not None
    data = np.tile(constant.data, 2)
    return replace(constant, name=f"{constant.name}_twice", shape=data.shape, data=data)
