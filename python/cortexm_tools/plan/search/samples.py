# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions that see every n-th pixel alone, on an image of these pixels, where that has a
faster kernel.

Tap k of output o along an axis is at o * stride + k * dilation - padding. Where n divides stride and
dilation, all these places have one remainder modulo n, `first`, that of -padding. Places first + n * i are
pixels i of an image of their own, in which the tap is at

    i = o * (stride / n) + k * (dilation / n) - (padding + first) / n

with whole numbers. Places before the image are those with i < 0, and places behind it those behind its last
such pixel. So each tap meets the same code, or the same padding, and each sum has the same products.

Windows of 3x3 taps without gaps have a kernel with DSP instructions, others none. The copy is made where it
costs less than that kernel saves, and where the arena has room for it anyway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...ir import DType, Graph, Op, Tensor, ops
from ...ir.edit import GraphBuilder
from ...ir.geometry import Window
from ...target import Isa, Target
from ..kernels.planes import pixels_dsp, squares_dsp
from ..lower.boxes import strides
from ..lower.context import Lowerings
from ..lower.copies import copy_instructions
from ..types import Call
from .order import live_before, peak

_LEAST = 3200  # instructions at least: twice the bytes of a kernel that maybe no other layer has


def sample_images(graph: Graph, target: Target) -> Graph:
    """`graph`, whose layouts are assigned, with copies of the pixels that such layers see."""
    if target.isa is not Isa.DSP:
        return graph
    samples = {op.outputs[0]: found for op in graph.ops if (found := _sample(graph, op))}
    if not samples:
        return graph
    every = _sampled(graph, samples)
    ways = Lowerings(graph, target), Lowerings(every, target)
    others = {op.outputs[0]: op for op in every.ops}
    for position, op in enumerate(graph.ops):
        sample = samples.get(op.outputs[0])
        if sample is not None:
            old, new = ways[0].lower(op).calls, ways[1].lower(others[op.outputs[0]]).calls
            if not (_pays(graph, op, sample, old, new) and _has_room(graph, position, sample)):
                del samples[op.outputs[0]]
    return _sampled(graph, samples) if samples else graph


@dataclass(frozen=True)
class _Sample:
    """The pixels of an image that a layer sees.

    Attributes:
        image: those alone.
        begin, step: in the whole image, along rows and columns.
        window: of the layer on it.
    """

    image: Tensor
    begin: tuple[int, int]
    step: tuple[int, int]
    window: Window


def _sample(graph: Graph, op: Op) -> _Sample | None:
    """What a layer sees; None if that is every row and column, or none of some."""
    if not isinstance(op.attrs, ops.DepthwiseConv2d):
        return None
    x, window = graph.tensors[op.inputs[0]], op.attrs.window
    outs = graph.tensors[op.outputs[0]].shape[2:]
    axes = [_axis(window, axis, x.shape[2 + axis], outs[axis]) for axis in (0, 1)]
    begin, step, sides, stride, dilation, before, behind = zip(*axes, strict=True)
    if step == (1, 1) or 0 in sides:
        return None
    padding = *before, *behind
    image = replace(x, name=f"{x.name}_sample", shape=(*x.shape[:2], *sides))
    return _Sample(image, begin, step, Window(window.kernel, stride, padding, dilation))


def _axis(window: Window, axis: int, extent: int, count: int) -> tuple[int, ...]:
    """Along an axis: the first pixel, the step to the next one, and how many there are; stride and dilation
    there, and the padding before and behind them. A single tap has no dilation."""
    kernel, stride, dilation, padding = (
        pair[axis] for pair in (window.kernel, window.stride, window.dilation, window.padding)
    )
    step = math.gcd(stride, dilation if kernel > 1 else 0)
    begin = -padding % step
    pixels = len(range(begin, extent, step))
    stride, dilation = stride // step, dilation // step if kernel > 1 else 1
    before = (padding + begin) // step
    end = (count - 1) * stride + (kernel - 1) * dilation + 1
    return begin, step, pixels, stride, dilation, before, max(0, end - before - pixels)


def _pays(
    graph: Graph, op: Op, sample: _Sample, old: tuple[Call, ...], new: tuple[Call, ...]
) -> bool:
    """Whether the kernel of the copy, which has DSP instructions, saves more than that costs."""
    if old[0].kernel.isa is Isa.DSP or new[0].kernel.isa is not Isa.DSP:
        return False
    x = graph.tensors[op.inputs[0]]
    steps = (step * far for step, far in zip(strides(x), (1, 1, *sample.step), strict=True))
    box = list(zip(sample.image.shape, steps, strides(sample.image), strict=True))
    saved = pixels_dsp(old[0].int_fields) - squares_dsp(new[0].int_fields, x.dtype is DType.S16)
    return x.shape[0] * saved - copy_instructions(box, Isa.DSP, x.dtype.size) >= _LEAST


def _has_room(graph: Graph, position: int, sample: _Sample) -> bool:
    """Whether the operator of this number can have the copy where the arena is not larger for it."""
    most = peak(graph, range(len(graph.ops)))
    return live_before(graph, position) + sample.image.nbytes <= most


def _sampled(graph: Graph, samples: Mapping[int, _Sample]) -> Graph:
    """The graph with these layers, by their results, on the pixels that they see; equal copies are one."""
    build = GraphBuilder(graph)
    made: dict[tuple[int, tuple[int, int], tuple[int, int]], int] = {}
    for op in graph.ops:
        sample = samples.get(op.outputs[0])
        if sample is not None:
            assert isinstance(op.attrs, ops.DepthwiseConv2d)
            key = op.inputs[0], sample.begin, sample.step
            if key not in made:
                made[key] = build.add_tensor(sample.image)
                cut = ops.Slice((0, 0, *sample.begin), (1, 1, *sample.step))
                build.add(Op(cut, op.inputs[:1], (made[key],), op.layer))
            attrs = replace(op.attrs, window=sample.window)
            op = replace(op, attrs=attrs, inputs=(made[key], *op.inputs[1:]))
        build.add(op)
    return build.finish()
