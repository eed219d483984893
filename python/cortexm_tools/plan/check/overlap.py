# SPDX-License-Identifier: Apache-2.0
"""Whether a step overwrites bytes of its operand that it has yet to read.

Independent of memory/overlap.py: that one finds the first byte still needed at every write; here a byte
of the operand has the time of its last reader and a byte of the result the time of its first writer, and
the times are compared where both lie in one place. Times change from pixel to pixel, or from element to
element, so they are compared at the first byte of each, a block of memory after the other.

A time is the number of the call in the step, with loops unrolled, and within the call a number of
pixels, rows or elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...ir import Graph
from ..types import Call, Step, TensorArg

Ints = npt.NDArray[np.int64]

_CALL = 1 << 31  # later than anything in one call
_NEVER = -1
_AFTER_ALL = 1 << 62
_BLOCK = 1 << 16  # places to look at together, of each of what changes the times


@dataclass(frozen=True)
class _Use:
    """An argument by which a call, in all turns of its loop, reads a tensor or writes it.

    Attributes:
        offset: the first byte that it may use in the first turn; `step` is the way to the next one's.
        extent: bytes that it may use in one turn.
        time: when it uses bytes, counted from the first one of a turn; _NEVER for those that it does not.
        period: bytes after which the time changes, at `marks` in them.
        first: number of the call in the first turn; `every` calls later it is called again.
    """

    offset: int
    step: int
    extent: int
    time: Callable[[Ints], Ints]
    period: int
    marks: tuple[int, ...]
    turns: int
    first: int
    every: int

    def times(self, places: Ints, *, last: bool) -> Ints:
        """When bytes are used for the last, or for the first, time."""
        inside = places - self.offset
        turn = np.full(len(places), self.turns - 1 if last else 0, np.int64)
        tries = 1
        if self.step:
            reached = inside if last else inside - self.extent + self.step
            turn = np.clip(reached // self.step, 0, self.turns - 1)
            tries = min(self.turns, -(-self.extent // self.step))
        found = np.full(len(places), _NEVER, np.int64)
        for _ in range(tries):
            place = inside - turn * self.step
            here = (place >= 0) & (place < self.extent) & (turn >= 0) & (turn < self.turns)
            when = np.where(here, self.time(np.where(here, place, 0)), _NEVER)
            now = (self.first + turn * self.every) * _CALL + when
            found = np.where((found == _NEVER) & (when != _NEVER), now, found)
            if not (found == _NEVER).any():
                break
            turn = turn - 1 if last else turn + 1
        return found

    def changes(self, low: int, high: int) -> Iterator[Ints]:
        """The places from `low` to `high` where the time may change."""
        for mark in self.marks:
            begin = low + (self.offset + mark - low) % self.period
            yield np.arange(begin, high, self.period, dtype=np.int64)


def overwrites_unread(graph: Graph, step: Step, operand: int, result: int, gap: int) -> bool:
    """Whether, with `result` beginning `gap` bytes below `operand`, some byte is lost."""
    reads, writes = list[_Use](), list[_Use]()
    number = 0
    for body, turns in step.loops():
        for position, call in enumerate(body):
            for arg in call.tensors:
                if arg.index == operand:
                    reads.append(
                        _use(_reader(graph, call, arg), arg, turns, number, position, body)
                    )
                if arg.index == result:
                    writes.append(
                        _use(_writer(graph, call, arg), arg, turns, number, position, body)
                    )
        number += turns * len(body)
    # byte i of the operand is byte i + gap of the result
    low = max(0, -gap)
    high = min(graph.tensors[operand].nbytes, graph.tensors[result].nbytes - gap)
    period = min((use.period for use in (*reads, *writes)), default=high)
    for begin in range(low, high, _BLOCK * period):
        end = min(high, begin + _BLOCK * period)
        marks = [places for use in reads for places in use.changes(begin, end)]
        marks += [at - gap for use in writes for at in use.changes(begin + gap, end + gap)]
        places = np.concatenate([np.array([begin], np.int64), *marks])
        if _is_late(reads, writes, places, gap):
            return True
    return False


def _is_late(reads: list[_Use], writes: list[_Use], places: Ints, gap: int) -> bool:
    read = np.full(len(places), _NEVER, np.int64)
    for use in reads:
        read = np.maximum(read, use.times(places, last=True))
    written = np.full(len(places), _AFTER_ALL, np.int64)
    for use in writes:
        times = use.times(places + gap, last=False)
        written = np.minimum(written, np.where(times == _NEVER, _AFTER_ALL, times))
    return bool((read >= written).any())


@dataclass(frozen=True)
class _Pattern:
    """What an argument uses in one turn, see _Use; `whole` if that is all of the tensor, in any order."""

    extent: int
    time: Callable[[Ints], Ints]
    period: int
    marks: tuple[int, ...] = (0,)
    whole: bool = False


def _use(
    pattern: _Pattern,
    arg: TensorArg,
    turns: int,
    number: int,
    position: int,
    body: tuple[Call, ...],
) -> _Use:
    offset, step = (0, 0) if pattern.whole else (arg.offset, arg.step)
    return _Use(
        offset,
        step,
        pattern.extent,
        pattern.time,
        math.gcd(pattern.period, step),
        pattern.marks,
        turns,
        number + position,
        len(body),
    )


def _whole(graph: Graph, arg: TensorArg, time: int) -> _Pattern:
    """All of a tensor at one time."""
    nbytes = graph.tensors[arg.index].nbytes
    return _Pattern(nbytes, lambda places: np.full_like(places, time), nbytes, whole=True)


def _kind(call: Call) -> tuple[str, int]:
    name, *numbers = call.kernel.order.split(":")
    return name, int(numbers[0]) if numbers else 1


def _reads_first(call: Call, fields: Mapping[str, object]) -> bool:
    """Whether channels of ``planes:K:N`` are read as a whole: windows reach over N rows, or the image is
    turned."""
    places = int(call.kernel.order.split(":")[2])
    rows, kernel, stride = _ints(fields, "out_h", "kernel_h", "stride_h")
    columns, across, stride_w = _ints(fields, "out_w", "kernel_w", "stride_w")
    turned = (
        stride_w * (columns - 1) + across <= places
        and stride <= stride_w
        and 4 * columns <= 3 * rows
        and stride * rows <= 30
    )
    return turned or stride * (rows - 1) + kernel <= places


def _writer(graph: Graph, call: Call, arg: TensorArg) -> _Pattern:
    kind, together = _kind(call)
    f = dict(call.fields)
    if kind in ("pixels", "planes") and arg.step >= 0:
        height, width, step = _ints(f, "out_h", "out_w", "out_pixel_stride")
        (channels,) = _ints(f, "out_c" if "out_c" in f else "channels")
        size = graph.tensors[arg.index].dtype.size

        def when(places: Ints) -> Ints:
            pixel, channel = np.divmod(places // size, step)
            time = pixel
            if kind == "planes":
                time = 1 + pixel // width + channel // together * height
            return np.where(channel < channels, time, _NEVER)

        extent = ((height * width - 1) * step + channels) * size
        if kind == "planes":
            return _Pattern(extent, when, math.gcd(together, step, channels) * size)
        return _Pattern(extent, when, step * size, (0, channels * size))
    if (kind == "elements" or call.kernel.op == "move") and arg.step >= 0:
        return _elements(graph, call, arg, kind, 0)
    if call.kernel.serves == "batch_matmul" and arg.step >= 0:
        return _matrices(graph, call, arg, "out", 0)
    return _whole(graph, arg, 0)  # from the beginning


def _reader(graph: Graph, call: Call, arg: TensorArg) -> _Pattern:
    """The time of a byte's last reader is that of the last pixel or element that needs it, and as many
    more as are in work at once."""
    kind, together = _kind(call)
    f = dict(call.fields)
    reads_first = kind == "planes" and call.kernel.order.count(":") == 2 and _reads_first(call, f)
    images = kind in ("pixels", "planes") and f.get("batches", 1) == f.get("groups", 1) == 1
    if images and arg.step >= 0:
        out_h, out_w, in_h, in_w, row = _ints(f, "out_h", "out_w", "in_h", "in_w", "in_row_stride")
        channels, size = row // in_w, graph.tensors[arg.index].dtype.size

        def when(places: Ints) -> Ints:
            y, rest = np.divmod(places // size, row)
            line = _last_window(y, out_h, *_ints(f, "in_y0", "kernel_h", "stride_h", "dilation_h"))
            if kind == "planes":
                group = rest % channels // together * out_h
                # Before the first row of these channels is written, and not before the last of others.
                return np.where(line < 0, _NEVER, group if reads_first else 1 + line + group)
            column = _last_window(
                rest // channels,
                out_w,
                *_ints(f, "in_x0", "kernel_w", "stride_w", "dilation_w"),
            )
            time = line * out_w + column + together - 1
            return np.where((line < 0) | (column < 0), _NEVER, time)

        unit = math.gcd(together, channels) if kind == "planes" else channels
        return _Pattern(in_h * row * size, when, unit * size)
    once = (kind == "elements" and _ranges_once(call, arg)) or call.kernel.op == "move"
    if once and arg.step >= 0:
        return _elements(graph, call, arg, kind, together - 1)
    if call.kernel.serves == "batch_matmul" and arg.step >= 0:
        return _matrices(graph, call, arg, "lhs" if call.args[0] == arg else "rhs", _CALL - 1)
    return _whole(graph, arg, _CALL - 1)  # to the end


def _elements(graph: Graph, call: Call, arg: TensorArg, kind: str, later: int) -> _Pattern:
    size = graph.tensors[arg.index].dtype.size if kind else 1
    (count,) = _ints(dict(call.fields), "count")
    return _Pattern(count * size, lambda places: places // size + later, size)


def _matrices(graph: Graph, call: Call, arg: TensorArg, which: str, time: int) -> _Pattern:
    """All of some matrices, and what lies between them, at one time."""
    size, fields = graph.tensors[arg.index].dtype.size, dict(call.fields)
    groups, batches, rows, cols, inner = _ints(fields, "groups", "batches", "rows", "cols", "inner")
    first, second = {"lhs": (rows, inner), "rhs": (cols, inner), "out": (rows, cols)}[which]
    steps = fields[f"{which}_strides"]
    assert isinstance(steps, tuple)
    last = np.array([groups, batches, first, second]) - 1
    extent = (int(last @ np.array((*steps, 1)[:4])) + 1) * size
    return _Pattern(extent, lambda places: np.full_like(places, time), extent)


def _ints(fields: Mapping[str, object], *names: str) -> list[int]:
    values = [fields[name] for name in names]
    assert all(isinstance(value, int) for value in values)
    return [value for value in values if isinstance(value, int)]


def _last_window(
    places: Ints, count: int, first: int, kernel: int, stride: int, dilation: int
) -> Ints:
    """For positions along an axis the last of `count` windows that reaches over it, or -1. Positions
    between the taps of a dilated window count as read."""
    window = np.minimum((places - first) // stride, count - 1)
    reach = (kernel - 1) * dilation + 1
    return np.where((window >= 0) & (places - first - window * stride < reach), window, -1)


def _ranges_once(call: Call, arg: TensorArg) -> bool:
    """Whether element i of the operand serves element i of the result, and no other."""
    fields = dict(call.fields)
    sides = [
        name
        for name, other in zip(("a_period", "b_period"), call.args, strict=False)
        if other == arg
    ]
    return all(fields.get(name, fields["count"]) == fields["count"] for name in sides)
