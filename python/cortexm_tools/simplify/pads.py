# SPDX-License-Identifier: Apache-2.0
"""Removes pads of nothing, and folds pads of an image into the convolution or max pool that reads it.

A convolution treats what lies outside its image as in_zero_point. If a pad's value is that zero
point and it pads rows and columns only, the padded image and the image with more implicit padding
hold the same values everywhere, so every output is the same. All readers must fold (else the padded
tensor is needed anyway), and transposed convolutions are left alone: their padding cuts.

A max pool leaves out what lies outside its image and clamps the result from below at act_min. A pad
whose value is at most act_min, or at most every element of the image (the lower bound of what the
operator that computes it gives), is then no larger than the result of any window that has an element
of the image. Every window has one if on all sides the padding is smaller than the kernel and the image
is no smaller than the steps between a window's elements: the first of them then lies before the image's
end and the last one behind its beginning.

A pad of a signal that convolutions read as an image, which has one row more, is a pad of that image.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Op, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers


def fold_pads(graph: Graph) -> Graph:
    graph = _pad_images(graph)
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
        if pad is not None and _folds(pad, graph, read_by, made_by):
            build.add(_with_padding(op, pad))
        else:
            build.add(op)
    return build.finish()


def _pad_images(graph: Graph) -> Graph:
    """Pads behind the view what convolutions read as images, if they then fold it."""
    made_by, read_by = producers(graph), consumers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        pad = made_by.get(op.inputs[0])
        behind = None if pad is None else _behind(op, pad, graph, read_by)
        if pad is None or behind is None:
            build.add(op)
            continue
        out, x = graph.tensors[op.outputs[0]], graph.tensors[pad.inputs[0]]
        before, after = behind.before, behind.after
        padding = [a + b for a, b in zip(before, after, strict=True)]
        shape = tuple(n - p for n, p in zip(out.shape, padding, strict=True))
        image = build.add_tensor(replace(x, shape=shape, dim_order=contiguous(4), data=None))
        build.add(Op(ops.View(), pad.inputs, (image,), op.layer))
        build.add(Op(behind, (image,), op.outputs, pad.layer))
    return build.finish()


def _behind(view: Op, pad: Op, graph: Graph, read_by: dict[int, list[Op]]) -> ops.Pad | None:
    """The pad of the images, if a view of what another one gives only adds dimensions of one step, and
    convolutions that fold it are all that reads them."""
    image = view.outputs[0]
    if not isinstance(view.attrs, ops.View) or not isinstance(pad.attrs, ops.Pad):
        return None
    given, seen = graph.tensors[pad.outputs[0]].shape, graph.tensors[image].shape
    varying = [d for d, n in enumerate(given) if n != 1]
    places = [d for d, n in enumerate(seen) if n != 1]
    if (
        len(seen) != 4
        or image in graph.kept
        or [given[d] for d in varying] != [seen[d] for d in places]
    ):
        return None
    before, after = [0] * 4, [0] * 4
    for old, new in zip(varying, places, strict=True):
        before[new], after[new] = pad.attrs.before[old], pad.attrs.after[old]
    moved = replace(pad.attrs, before=tuple(before), after=tuple(after))
    if any((*before[:2], *after[:2])) or not any((*before, *after)):
        return None
    folds = all(
        isinstance(reader.attrs, ops.Conv2d | ops.DepthwiseConv2d)
        and reader.inputs.index(image) == 0
        and _takes(reader.attrs, moved, 0, seen[2:])
        for reader in read_by.get(image, [])
    )
    return moved if folds and image in read_by else None


def _folds(pad: Op, graph: Graph, read_by: dict[int, list[Op]], made_by: dict[int, Op]) -> bool:
    if not isinstance(pad.attrs, ops.Pad) or len(pad.attrs.before) != 4:
        return False
    attrs = pad.attrs
    if any(attrs.before[:2]) or any(attrs.after[:2]) or pad.outputs[0] in graph.kept:
        return False
    lowest = _lowest(made_by.get(pad.inputs[0]))
    return all(
        reader.inputs[0] == pad.outputs[0]
        and pad.outputs[0] not in reader.inputs[1:]
        and _takes(reader.attrs, attrs, lowest, graph.tensors[pad.inputs[0]].shape[2:])
        for reader in read_by[pad.outputs[0]]
    )


def _takes(reader: ops.Attrs, pad: ops.Pad, lowest: int, size: tuple[int, ...]) -> bool:
    """Whether `reader` gives the same with `pad` as padding of its own.

    Args:
        lowest: no element of the image is less.
        size: the image's height and width.
    """
    if isinstance(reader, ops.Conv2d | ops.DepthwiseConv2d):
        return reader.in_zero_point == pad.value
    if not isinstance(reader, ops.MaxPool2d) or pad.value > max(lowest, reader.act_min):
        return False
    window = reader.window
    if any(step > extent for step, extent in zip(window.dilation, size, strict=True)):
        return False
    padding = _sum(window.padding, pad)
    return all(n < window.kernel[side % 2] for side, n in enumerate(padding))


def _lowest(op: Op | None) -> int:
    """The least code that an operator gives, as far as its parameters say."""
    return -128 if op is None else int(getattr(op.attrs, "act_min", -128))


def _sum(padding: tuple[int, int, int, int], pad: ops.Pad) -> tuple[int, int, int, int]:
    """Padding (top, left, bottom, right) and that of a pad of an image."""
    top, left, bottom, right = padding
    before, after = pad.before, pad.after
    return top + before[2], left + before[3], bottom + after[2], right + after[3]


def _with_padding(op: Op, pad: Op) -> Op:
    assert isinstance(op.attrs, ops.ConvAttrs | ops.MaxPool2d) and isinstance(pad.attrs, ops.Pad)
    window = replace(op.attrs.window, padding=_sum(op.attrs.window.padding, pad.attrs))
    return replace(
        op, attrs=replace(op.attrs, window=window), inputs=(pad.inputs[0], *op.inputs[1:])
    )
