# SPDX-License-Identifier: Apache-2.0
"""Row bands: neighbouring operators computed a few rows at a time.

A band of the last result needs some rows of the result before it, these some rows of the one before,
and so on. So only a few rows of every result between exist at one time. They lie in a buffer whose first
row is the first one that is still needed; after a band, the rows that the next one needs again are moved
to the front. No row is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from ...ir import Graph, Op, same_layout
from ..budget import MOST_ROWS
from ..kernels.table import Kernel
from ..memory.overlap import order_of
from ..types import Arg, Call, ConstantArg, Field, ScratchArg, Step, TensorArg

_NHWC = (0, 2, 3, 1)
_NEVER = 1 << 30  # a row


@dataclass(frozen=True, order=True)
class Chain:
    """The operators first … last of a graph, computed together, `rows` rows of the last result a band."""

    first: int
    last: int
    rows: int


@dataclass(frozen=True)
class Rows:
    """The rows begin … end - 1 of a tensor."""

    begin: int
    end: int


def is_chain(graph: Graph, calls: Sequence[tuple[Call, ...]], first: int, last: int) -> bool:
    """Whether the operators first … last can be computed in bands of rows.

    Every one is a kernel call on one image whose kernel promises an order; all results but the last
    are read by later ones of them and by nothing else.
    """
    ops = graph.ops[first : last + 1]
    made = [op.outputs[0] for op in ops]
    inside = set(made[:-1])
    if last <= first or inside & set(graph.kept):
        return False
    read = {i for op in ops for i in op.inputs}
    if any(state.after == made[-1] and state.before in read for state in graph.states):
        return False
    for position in range(first, last + 1):
        if not _is_member(graph, graph.ops[position], calls[position]):
            return False
    for number, op in enumerate(graph.ops):
        if not first < number <= last and inside & set(op.inputs):
            return False
    return inside <= read and graph.tensors[made[-1]].shape[2] > 1


def _is_member(graph: Graph, op: Op, calls: tuple[Call, ...]) -> bool:
    if len(calls) != 1 or len(op.outputs) != 1:
        return False
    call = calls[0]
    order, _ = order_of(call)
    tensors = call.tensors
    if not order or call.int_fields.get("groups", 1) != 1 or any(arg.offset for arg in tensors):
        return False
    if not all(_has_rows(graph, arg.index) for arg in tensors):
        return False
    height = graph.tensors[op.outputs[0]].shape[2]
    if call.int_fields.get("out_h", height) != height:
        return False  # rows are a single pixel
    if call.int_fields.get("out_h", 0) * call.int_fields.get("kernel_h", 0) > MOST_ROWS:
        return False
    shapes = {graph.tensors[arg.index].shape for arg in tensors}
    if order == "elements":
        fields = call.int_fields
        if "a_period" in fields and any(isinstance(arg, ConstantArg) for arg in call.args):
            return False  # a band would need rows of its own; constants are read from the first
        whole = {fields.get(name, fields["count"]) for name in ("a_period", "b_period")}
        # Channels of a lookup must begin anew with each row.
        row = math.prod(graph.tensors[tensors[0].index].memory_shape[2:])
        period = fields.get("channels", 1) * fields.get("inner", 1)
        return len(shapes) == 1 and whole == {fields["count"]} and row % period == 0
    return len(tensors) == 2


def _has_rows(graph: Graph, index: int) -> bool:
    """Whether a tensor is one image whose rows lie in one piece, one after the other."""
    tensor = graph.tensors[index]
    return (
        len(tensor.shape) == 4
        and tensor.shape[0] == 1
        and same_layout(tensor.shape, tensor.dim_order, _NHWC)
    )


def band_step(graph: Graph, calls: Sequence[tuple[Call, ...]], chain: Chain, move: Kernel) -> Step:
    """One step that computes a chain.

    Args:
        calls: of each operator of the graph, on whole tensors.
        move: the kernel that moves bytes to a lower address.
    """
    ops = graph.ops[chain.first : chain.last + 1]
    members = [calls[number][0] for number in range(chain.first, chain.last + 1)]
    bands = _schedule(graph, ops, members, chain.rows)
    first_needed = _first_needed(bands)
    base = {op.outputs[0]: 0 for op in ops[:-1]}  # the first row in each buffer
    lists: list[list[Placed]] = []
    alike: dict[tuple[int, _Changes], Call] = {}
    for number, band in enumerate(bands):
        result: list[Placed] = []
        for op, call in zip(ops, members, strict=True):
            out = op.outputs[0]
            if out in base:
                keep = min(first_needed[number].get(out, _NEVER), band.new[out].begin)
                result += _moved(graph, out, base[out], keep, band.new[out].begin, move)
                base[out] = keep
            if band.new[out].end > band.new[out].begin:
                changes = _changes(graph, out, call, band, base)
                if (out, changes) not in alike:
                    alike[out, changes] = _with_fields(graph, out, call, dict(changes))
                offsets = tuple(_offset(graph, out, call, arg, band, base) for arg in call.args)
                result.append((alike[out, changes], offsets))
        lists.append(result)
    return Step(ops[-1], with_loops(lists, 0), tuple(ops[:-1]))


Placed = tuple[Call, tuple[int, ...]]  # a call, and the offset of each argument


@dataclass(frozen=True)
class _Band:
    """What a band computes of each result, and what it reads for that, by tensor and result."""

    new: dict[int, Rows]
    need: dict[tuple[int, int], Rows]


def _schedule(graph: Graph, ops: Sequence[Op], members: Sequence[Call], rows: int) -> list[_Band]:
    last = ops[-1].outputs[0]
    height = graph.tensors[last].shape[2]
    done = {op.outputs[0]: 0 for op in ops}
    bands: list[_Band] = []
    for begin in range(0, height, rows):
        band = _Band({last: Rows(begin, min(height, begin + rows))}, {})
        for op, call in reversed(list(zip(ops, members, strict=True))):
            out = op.outputs[0]
            if out != last:
                ends = [need.end for (index, _), need in band.need.items() if index == out]
                band.new[out] = Rows(done[out], max([done[out], *ends]))
            new = band.new[out]
            for arg in _operands(call) if new.end > new.begin else ():
                band.need[arg.index, out] = _needed(call, new, graph.tensors[arg.index].shape[2])
        done = {index: new.end for index, new in band.new.items()}
        bands.append(band)
    return bands


def _operands(call: Call) -> tuple[TensorArg, ...]:
    return call.tensors[:-1]


def _needed(call: Call, new: Rows, height: int) -> Rows:
    """The rows of an operand that the rows `new` of the result are computed from."""
    if order_of(call)[0] == "elements":
        return new
    f = call.int_fields
    begin = min(height - 1, max(0, f["in_y0"] + new.begin * f["stride_h"]))
    reach = (f["kernel_h"] - 1) * f["dilation_h"] + 1
    end = min(height, f["in_y0"] + (new.end - 1) * f["stride_h"] + reach)
    return Rows(begin, max(begin, end))


def _first_needed(bands: Sequence[_Band]) -> list[dict[int, int]]:
    """By band, the first row of each tensor that it or a later one reads."""
    result: list[dict[int, int]] = []
    first: dict[int, int] = {}
    for band in reversed(bands):
        for (index, _), need in band.need.items():
            first[index] = min(need.begin, first.get(index, need.begin))
        result.append(dict(first))
    return result[::-1]


def _moved(graph: Graph, tensor: int, base: int, keep: int, end: int, move: Kernel) -> list[Placed]:
    """Moves the rows keep … end - 1 to the front of a buffer that begins with row `base`."""
    if keep == base or keep == end:
        return []
    row = _row_bytes(graph, tensor)
    call = Call(move, (("count", (end - keep) * row),), (TensorArg(tensor), TensorArg(tensor)))
    return [(call, ((keep - base) * row, 0))]


def _row_bytes(graph: Graph, index: int) -> int:
    tensor = graph.tensors[index]
    return tensor.nbytes // tensor.shape[2]


_Changes = tuple[tuple[str, int], ...]  # of fields


def _first_row(out: int, call: Call, index: int, band: _Band, base: dict[int, int]) -> int:
    """The row of a tensor to which its argument points."""
    if index == out:
        return band.new[out].begin
    if index in base and order_of(call)[0] != "elements":
        return base[index]  # rows before the first needed one may lie there; in_y0 skips them
    return band.need[index, out].begin


def _changes(graph: Graph, out: int, call: Call, band: _Band, base: dict[int, int]) -> _Changes:
    """The fields in which the call that computes the new rows of a band differs from the call on whole
    tensors."""
    new = band.new[out]
    count = new.end - new.begin
    f = call.int_fields
    if order_of(call)[0] == "elements":
        height = graph.tensors[out].shape[2]
        names = [name for name in ("count", "a_period", "b_period") if name in f]
        return tuple((name, f[name] // height * count) for name in names)
    (source,) = _operands(call)
    first = _first_row(out, call, source.index, band, base)
    return (
        ("in_y0", f["in_y0"] + new.begin * f["stride_h"] - first),
        ("in_h", band.need[source.index, out].end - first),
        ("out_h", count),
    )


def _with_fields(graph: Graph, out: int, call: Call, changes: dict[str, int]) -> Call:
    """A call with other fields, and what follows from them."""
    fields: dict[str, Field] = dict(call.fields) | changes
    scratch = call.kernel.scratch_bytes(fields)
    args = tuple(ScratchArg(scratch) if isinstance(arg, ScratchArg) else arg for arg in call.args)
    rows = "count" if "count" in changes else "out_h"
    macs = call.macs * changes[rows] // call.int_fields[rows]
    return replace(call, fields=tuple(fields.items()), args=args, macs=macs)


def _offset(graph: Graph, out: int, call: Call, arg: Arg, band: _Band, base: dict[int, int]) -> int:
    """Where the rows of a band lie that an argument points to."""
    if not isinstance(arg, TensorArg):
        return 0
    row = _first_row(out, call, arg.index, band, base) - base.get(arg.index, 0)
    return row * _row_bytes(graph, arg.index)


def with_loops(lists: list[list[Placed]], loop: int) -> tuple[Call, ...]:
    """The calls of all bands; the longest run of bands that are alike becomes a loop, with this number."""
    steps = [_step_between(a, b) for a, b in pairwise(lists)]
    best = (0, 0)
    begin = 0
    for step, alike in groupby(steps):
        count = len(list(alike))
        if step is not None:
            best = max(best, (count + 1, -begin))
        begin += count
    length, begin = best[0], -best[1]
    if length < 2:
        return tuple(_at(*placed) for band in lists for placed in band)
    step = steps[begin]
    assert step is not None
    before = [_at(*placed) for band in lists[:begin] for placed in band]
    body = [_at(*placed, s, length, loop) for placed, s in zip(lists[begin], step, strict=True)]
    return (*before, *body, *(_at(*placed) for band in lists[begin + length :] for placed in band))


def _at(
    call: Call,
    offsets: tuple[int, ...],
    steps: tuple[int, ...] = (),
    turns: int = 1,
    loop: int = 0,
) -> Call:
    """A call with its operands at these offsets, and by `steps` further each turn."""
    steps = steps or (0,) * len(offsets)
    args = tuple(
        arg if isinstance(arg, ScratchArg) else replace(arg, offset=offset, step=step)
        for arg, offset, step in zip(call.args, offsets, steps, strict=True)
    )
    return replace(call, args=args, macs=call.macs * turns, turns=turns, loop=loop)


def _step_between(a: list[Placed], b: list[Placed]) -> tuple[tuple[int, ...], ...] | None:
    """By how many bytes the arguments of two bands differ; None if anything else differs."""
    if [call for call, _ in a] != [call for call, _ in b]:
        return None
    return tuple(
        tuple(y - x for x, y in zip(one, other, strict=True))
        for (_, one), (_, other) in zip(a, b, strict=True)
    )
