# SPDX-License-Identifier: Apache-2.0
"""Concatenation in place: what makes an operand writes it into the result, where it belongs.

Then the operand has no memory of its own and nothing is copied. An operand of which all bytes lie
beside each other in the result may have been computed by any kernel, and anything may read it. One
that lies there in pieces, as channels do in the pixels of an image, must come from kernels that can
leave gaps between its pixels (images, copies), and only the concatenation may read it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from ...ir import Graph, Tensor, ops
from ...target import Core
from ..budget import MOST_JOINED, within
from ..kernels.contract import Fields
from ..kernels.table import BUILTIN
from ..lower.boxes import MAX_RANK
from ..lower.copies import box_fields, cheapest_order
from ..types import Arg, Call, Field, Part, Step, TensorArg
from .sharing import last_uses

_ALIGN = 4  # bytes, as for every tensor
_PER_IMAGE = 512  # bytes that cost as much to look at as one more image of a batch


Joined = frozenset[tuple[int, int]]  # operands to compute in place: (operator, tensor)


def joinable(graph: Graph) -> Joined:
    """All operands of concatenations whose results are not too large in sum."""
    sizes = {
        number: result.nbytes + (result.shape[0] - 1) * _PER_IMAGE
        for number, op in enumerate(graph.ops)
        if isinstance(op.attrs, ops.Concat)
        for result in [graph.tensors[op.outputs[0]]]
    }
    return frozenset(
        (number, index)
        for number in within(sizes, MOST_JOINED)
        for index in graph.ops[number].inputs
        if not graph.tensors[index].is_constant
    )


def find_parts(
    graph: Graph,
    group: Mapping[int, int],
    calls: Sequence[tuple[Call, ...]],
    joined: Joined,
    banded: Set[int] = frozenset(),
) -> dict[int, Part]:
    """The tensors that lie in the result of a concatenation: those in `joined` that can, and what
    shares memory with them.

    Args:
        group: for every tensor in the arena the one whose memory it uses.
        calls: of each operator.
        banded: tensors that operators computed in bands of rows read, or make for each other.
    """
    last = last_uses(graph)
    maker = {index: number for number, op in enumerate(graph.ops) for index in op.outputs}
    members: dict[int, list[int]] = {}
    for index, root in group.items():
        members.setdefault(root, []).append(index)
    readers = Counter(index for op in graph.ops for index in {*op.inputs})
    parts: dict[int, Part] = {}
    outside = {*graph.given, *graph.kept, *banded}
    states = {state.after for state in graph.states}
    for number in sorted({number for number, _ in joined}):
        op = graph.ops[number]
        assert isinstance(op.attrs, ops.Concat)
        if op.outputs[0] in states:
            continue  # not written before the old one was read
        if len(calls[number]) < len(op.inputs):
            continue  # a kernel reads them together
        result = graph.tensors[op.outputs[0]]
        begin = 0
        for index in op.inputs:
            tensor = graph.tensors[index]
            part = _part(tensor, result, op.attrs.dim, begin, op.outputs[0])
            begin += tensor.shape[op.attrs.dim]
            if part is None or (number, index) not in joined or op.inputs.count(index) > 1:
                continue
            these = members[group[index]]
            if outside & set(these) or parts.keys() & set(these):
                continue
            if any(last[i] > number or graph.tensors[i].nbytes != tensor.nbytes for i in these):
                continue
            if any(_is_second_result(graph, i, maker, calls) for i in these if i in maker):
                continue
            if part.pitch and (
                len(these) > 1
                or any(inner.result == index for inner in parts.values())
                or readers[index] > 1
                or not _leaves_gaps(index, part, tensor.dtype.size, calls[maker[index]])
            ):
                continue
            parts |= {i: part for i in these}
    return parts


def _part(tensor: Tensor, result: Tensor, dim: int, begin: int, index: int) -> Part | None:
    """Where `tensor` lies in `result` if it begins at `begin` along `dim`; None if no kernel can put it
    there."""
    order = tensor.dim_order
    if order != result.dim_order or tensor.dtype is not result.dtype:
        return None
    place = order.index(dim)
    inner = math.prod(tensor.shape[d] for d in order[place + 1 :])
    offset = begin * inner * tensor.dtype.size
    if all(tensor.shape[d] == 1 for d in order[:place]) or tensor.shape == result.shape:
        return Part(index, offset) if offset % _ALIGN == 0 else None
    pixel, pitch = (each.shape[dim] * inner * tensor.dtype.size for each in (tensor, result))
    return Part(index, offset, pixel, pitch)


def _is_second_result(
    graph: Graph, index: int, maker: Mapping[int, int], calls: Sequence[Sequence[Call]]
) -> bool:
    """Whether calls make a tensor beside another one, which counts as their result."""
    made = {call.result.index for call in calls[maker[index]] if call.result is not None}
    return len(graph.ops[maker[index]].outputs) > 1 and index not in made


def _leaves_gaps(index: int, part: Part, size: int, calls: Sequence[Call]) -> bool:
    """Whether `calls`, which make a tensor with elements of `size` bytes, can leave gaps between its
    pixels."""
    for call in calls:
        made, unit = call.result, call.kernel.unit or size
        pixel, pitch = part.pixel // unit, part.pitch // unit
        if call.kernel.library != BUILTIN or made is None or made.index != index:
            return False
        if call.kernel.serves == "copy":
            if _spread_box(call, made.offset // unit, pixel, pitch) is None:
                return False
        elif not _takes_pitch(call, pixel, pitch):
            return False
    return bool(calls)


def _takes_pitch(call: Call, pixel: int, pitch: int) -> bool:
    """Whether the kernel of a call writes pixels so far apart, as far as it asks for no more than fields."""
    fields = Fields(call.fields)
    asked = [each for each in call.kernel.requires if "out_pixel_stride" in each.names]
    changed = Fields({**fields, "out_pixel_stride": pitch})
    return fields["out_pixel_stride"] == pixel and all(each(changed) for each in asked)


def into_result(graph: Graph, core: Core, step: Step, parts: Mapping[int, Part]) -> Step:
    """`step` with all arguments that are parts replaced by their places; a concatenation copies only
    the operands that are none."""
    made = step.op.outputs[0]
    if isinstance(step.op.attrs, ops.Concat):
        there = [index in parts and parts[index].result == made for index in step.op.inputs]
        if any(there):
            kept = tuple(c for c, done in zip(step.calls, there, strict=True) if not done)
            step = replace(step, calls=kept)
    calls = tuple(_call_into(graph, core, call, parts) for call in step.calls)
    return step if calls == step.calls else replace(step, calls=calls)


def _call_into(graph: Graph, core: Core, call: Call, parts: Mapping[int, Part]) -> Call:
    for position, arg in enumerate(call.args):
        while isinstance(arg, TensorArg) and arg.index in parts:
            part = parts[arg.index]
            size = call.kernel.unit or graph.tensors[arg.index].dtype.size
            moved = _arg_into(arg, part)
            fields = _spread(call, core, arg.offset, part, size) if part.pitch else call.fields
            args: tuple[Arg, ...] = (*call.args[:position], moved, *call.args[position + 1 :])
            call, arg = replace(call, fields=fields, args=args), moved
    return call


def _arg_into(arg: TensorArg, part: Part) -> TensorArg:
    if not part.pitch:
        return replace(arg, index=part.result, offset=part.offset + arg.offset)
    pixels, rest = divmod(arg.offset, part.pixel)
    offset = part.offset + pixels * part.pitch + rest
    return TensorArg(part.result, offset, arg.step // part.pixel * part.pitch)


def _spread(
    call: Call, core: Core, offset: int, part: Part, size: int
) -> tuple[tuple[str, Field], ...]:
    """The fields of a call whose result's pixels are so far apart, which count elements of `size` bytes."""
    fields = dict(call.fields)
    pixel, pitch = part.pixel // size, part.pitch // size
    if "out_pixel_stride" in fields:
        return tuple((fields | {"out_pixel_stride": pitch}).items())
    box = _spread_box(call, offset // size, pixel, pitch)
    assert box is not None
    return tuple((fields | box_fields(cheapest_order(box, call.kernel, core))).items())


def _spread_box(
    call: Call, offset: int, pixel: int, pitch: int
) -> list[tuple[int, int, int]] | None:
    """The box of a copy (extent, stride in the operand, in the result) whose result, with pixels of
    `pixel` elements, gets them `pitch` apart; None if a dimension does not end with a pixel."""
    fields = dict(call.fields)
    dims, inner, outer = fields["dims"], fields["in_stride"], fields["out_stride"]
    assert isinstance(dims, tuple) and isinstance(inner, tuple) and isinstance(outer, tuple)
    box: list[tuple[int, int, int]] = []
    first = last = offset % pixel  # elements of a pixel that the dimensions so far reach
    for extent, a, b in sorted(zip(dims, inner, outer, strict=True), key=lambda row: abs(row[2])):
        if b % pixel == 0:
            box.insert(0, (extent, a, b // pixel * pitch))
        elif last + (extent - 1) * b < pixel:
            box.insert(0, (extent, a, b))
            last += (extent - 1) * b
        elif first == 0 and last < b and pixel % b == 0 and extent * b % pixel == 0:
            each = pixel // b
            box.insert(0, (each, a, b))
            box.insert(0, (extent // each, a * each, pitch))
            last += (each - 1) * b
        else:
            return None
    return box if len(box) <= MAX_RANK else None
