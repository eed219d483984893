# SPDX-License-Identifier: Apache-2.0
"""Moves the pixels of a shuffled image once.

Pixel and channel shuffles split the dimensions of an image by a view, permute them, and join them by another
view. Views are of elements in C order, while images lie in channels_last: that would be a copy before and
another one behind. The same elements come to the same places if the image is first seen as [N, H, W, C],
split and permuted as that, joined to [N, H, W, C] and seen as an image again: with each dimension split
into the same parts, and each joined from the same ones, only the order in which dimensions are named
differs. Then both ends are where the elements lie, and the permutation in between is the one copy.

So are pixels repeated, as by nearest upsampling: dimensions of one are split off, and widened in place of
being permuted.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..ir import Graph, Layout, Op, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers

_TO_LAST, _TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)

# Operators whose result lies as their operand does.
_FOLLOWING = (Layout.SAME, Layout.FOLLOW, Layout.REPEATED)


def shuffle_once(graph: Graph) -> Graph:
    made_by = producers(graph)
    readers = consumers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        if not _rewritten(graph, build, made_by, readers, op):
            build.add(op)
    return build.finish()


def _rewritten(
    graph: Graph,
    build: GraphBuilder,
    made_by: dict[int, Op],
    readers: dict[int, list[Op]],
    joining: Op,
) -> bool:
    """Adds what takes the place of the view that joins, if it ends a shuffle of an image."""
    permuting = made_by.get(joining.inputs[0])
    if permuting is None or not isinstance(joining.attrs, ops.View):
        return False
    splitting = made_by.get(permuting.inputs[0])
    if splitting is None or not isinstance(permuting.attrs, ops.Transpose | ops.Expand):
        return False
    source, result = splitting.inputs[0], joining.outputs[0]
    if not isinstance(splitting.attrs, ops.View) or not _is_image(graph, made_by, source):
        return False
    shape, out = graph.tensors[source].shape, graph.tensors[result].shape
    split, permuted = (graph.tensors[op.outputs[0]].shape for op in (splitting, permuting))
    before, behind = _parts(shape, split), _parts(out, permuted)
    if before is None or behind is None or len(shape) != 4:
        return False

    # The dimensions of the split image, in the order of [N, H, W, C].
    named = [d for whole in _TO_LAST for d in before[whole]]
    back = (
        len(out) == 4
        and result not in graph.kept
        and _is_read_as_image(graph, made_by, readers, result)
    )
    order = [d for whole in _TO_LAST for d in behind[whole]] if back else list(range(len(permuted)))
    moving: ops.Attrs = permuting.attrs
    if isinstance(moving, ops.Transpose):
        moving = ops.Transpose(tuple(named.index(moving.perm[d]) for d in order))
    elif order != named:
        return False

    def added(attrs: ops.Attrs, index: int, shape: tuple[int, ...]) -> int:
        order = contiguous(len(shape))
        like = replace(graph.tensors[source], shape=shape, dim_order=order, data=None)
        made = build.add_tensor(like)
        build.add(Op(attrs, (index,), (made,), permuting.layer))
        return made

    seen = added(ops.Transpose(_TO_LAST), source, tuple(shape[d] for d in _TO_LAST))
    seen = added(ops.View(), seen, tuple(split[d] for d in named))
    moved = added(moving, seen, tuple(permuted[d] for d in order))
    if back:
        moved = added(ops.View(), moved, tuple(out[d] for d in _TO_LAST))
        build.add(Op(ops.Transpose(_TO_FIRST), (moved,), (result,), joining.layer))
    else:
        build.add(Op(ops.View(), (moved,), (result,), joining.layer))
    return True


def _is_image(graph: Graph, made_by: dict[int, Op], index: int) -> bool:
    """Whether a tensor lies in channels_last for the operator that makes it."""
    waiting, seen = [index], {index}
    while waiting:
        op = made_by.get(waiting.pop())
        if op is None:
            continue
        if op.attrs.traits.layout is Layout.IMAGE:
            return True
        if op.attrs.traits.layout in _FOLLOWING:
            waiting += (more := set(op.inputs) - seen)
            seen |= more
    return False


def _is_read_as_image(
    graph: Graph, made_by: dict[int, Op], readers: dict[int, list[Op]], index: int
) -> bool:
    """Whether an operator wants it in channels_last, or has it so with another operand."""
    waiting, seen = [index], {index}
    while waiting:
        read = waiting.pop()
        for op in readers.get(read, []):
            if op.attrs.traits.layout is Layout.IMAGE:
                return True
            if op.attrs.traits.layout not in _FOLLOWING:
                continue
            if any(_is_image(graph, made_by, other) for other in op.inputs if other != read):
                return True
            waiting += (more := set(op.outputs) - seen)
            seen |= more
    return False


def _parts(whole: tuple[int, ...], split: tuple[int, ...]) -> list[list[int]] | None:
    """Into which dimensions of `split` each one of `whole` is divided; None if they are not so."""
    found: list[list[int]] = []
    at = 0
    for extent in whole:
        part: list[int] = []
        while at < len(split) and (not part or math.prod(split[d] for d in part) < extent):
            part.append(at)
            at += 1
        if math.prod(split[d] for d in part) != extent:
            return None
        found.append(part)
    while at < len(split) and split[at] == 1 and found:
        found[-1].append(at)
        at += 1
    return found if at == len(split) else None
