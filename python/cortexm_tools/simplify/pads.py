# SPDX-License-Identifier: Apache-2.0
"""Removes pads of nothing, and folds pads of an image into the convolution that reads it.

A convolution treats what lies outside its image as in_zero_point. If a pad's value is that zero
point and it pads rows and columns only, the padded image and the image with more implicit padding
hold the same values everywhere, so every output is the same. All readers must be convolutions (else
the padded tensor is needed anyway), and transposed ones are left alone: their padding cuts.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Op, ops
from ..ir.edit import GraphBuilder, consumers, producers


def fold_pads(graph: Graph) -> Graph:
    made_by = producers(graph)
    read_by = consumers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        if isinstance(op.attrs, ops.Pad):
            nothing = not any(op.attrs.before) and not any(op.attrs.after)
            if nothing and op.outputs[0] not in graph.kept:
                build.alias(op.outputs[0], op.inputs[0])
                continue
        pad = made_by.get(op.inputs[0])
        if pad is not None and _folds(pad, graph, read_by):
            build.add(_with_padding(op, pad))
        else:
            build.add(op)
    return build.finish()


def _folds(pad: Op, graph: Graph, read_by: dict[int, list[Op]]) -> bool:
    if not isinstance(pad.attrs, ops.Pad) or len(pad.attrs.before) != 4:
        return False
    attrs = pad.attrs
    if any(attrs.before[:2]) or any(attrs.after[:2]) or pad.outputs[0] in graph.kept:
        return False
    return all(
        isinstance(reader.attrs, ops.Conv2d | ops.DepthwiseConv2d)
        and reader.attrs.in_zero_point == attrs.value
        and reader.inputs[0] == pad.outputs[0]
        and pad.outputs[0] not in reader.inputs[1:]
        for reader in read_by[pad.outputs[0]]
    )


def _with_padding(op: Op, pad: Op) -> Op:
    assert isinstance(op.attrs, ops.ConvAttrs) and isinstance(pad.attrs, ops.Pad)
    top, left, bottom, right = op.attrs.padding
    before, after = pad.attrs.before, pad.attrs.after
    padding = (top + before[2], left + before[3], bottom + after[2], right + after[3])
    return replace(
        op, attrs=replace(op.attrs, padding=padding), inputs=(pad.inputs[0], *op.inputs[1:])
    )
