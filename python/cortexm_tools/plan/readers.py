# SPDX-License-Identifier: Apache-2.0
"""Whether a step overwrites bytes of its operand that it has yet to read.

Independent of access.py: that one finds the first byte still needed at every write; here every byte of
the operand gets the time of its last reader and every byte of the result the time of its writer, and
the times are compared byte by byte where both lie in one place.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..ir import Graph
from .types import Call, Step, TensorArg

Times = npt.NDArray[np.int64]

_CALL = 1 << 40  # later than anything in one call
_NEVER = -1


def overwrites_unread(graph: Graph, step: Step, operand: int, result: int, gap: int) -> bool:
    """Whether, with `result` beginning `gap` bytes below `operand`, some byte is lost."""
    read = np.full(graph.tensors[operand].nbytes, _NEVER, np.int64)
    written = np.full(graph.tensors[result].nbytes, 2 * _CALL * 2**20, np.int64)
    for number, call in enumerate(step.trace(operand, result)):
        start = number * _CALL
        for arg in call.tensors:
            if arg.index != result:
                continue
            begin, times = _write_times(graph, call, arg)
            there = written[begin : begin + len(times)]
            np.minimum(there, np.where(times < 0, there, start + times), out=there)
        for arg in call.tensors:
            if arg.index == operand:
                begin, times = _read_times(graph, call, arg)
                there = read[begin : begin + len(times)]
                np.maximum(there, np.where(times < 0, there, start + times), out=there)
    # byte i of the operand is byte i + gap of the result
    low, high = max(0, -gap), min(len(read), len(written) - gap)
    if low >= high:
        return False
    return bool((read[low:high] >= written[low + gap : high + gap]).any())


def _whole(nbytes: int, time: int) -> Times:
    return np.full(nbytes, time, np.int64)


def _kind(call: Call) -> tuple[str, int]:
    name, _, count = call.kernel.order.partition(":")
    return name, int(count) if count else 1


def _write_times(graph: Graph, call: Call, arg: TensorArg) -> tuple[int, Times]:
    """The first byte that may be written, and when it and those after it are."""
    tensor = graph.tensors[arg.index]
    kind, _ = _kind(call)
    f = dict(call.fields)
    if kind in ("pixels", "planes"):
        height, width, step = _ints(f, "out_h", "out_w", "out_pixel_stride")
        channels = np.arange(_ints(f, "out_c" if "out_c" in f else "channels")[0])
        pixels = np.arange(height * width)[:, None]
        when = pixels // width + channels // 4 * height if kind == "planes" else pixels
        times = _whole((height * width - 1) * step + len(channels), _NEVER)
        times[pixels * step + channels] = when
        return arg.offset, times
    if kind == "elements" or call.kernel.op == "move":
        size = tensor.dtype.size if kind else 1
        (count,) = _ints(f, "count")
        return arg.offset, np.repeat(np.arange(count), size)
    return 0, _whole(tensor.nbytes, 0)  # from the beginning


def _read_times(graph: Graph, call: Call, arg: TensorArg) -> tuple[int, Times]:
    """The first byte that may be read, and when it and those after it are for the last time, in numbers
    of pixels or elements: the last one that needs it, and as many more as are in work at once."""
    tensor = graph.tensors[arg.index]
    kind, together = _kind(call)
    f = dict(call.fields)
    if kind in ("pixels", "planes") and f.get("batches", 1) == f.get("groups", 1) == 1:
        out_h, out_w, in_h, in_w = _ints(f, "out_h", "out_w", "in_h", "in_w")
        row = _ints(f, "in_row_stride")[0]
        channels = row // in_w
        last_y = _last_window(f, in_h, out_h, "in_y0", "kernel_h", "stride_h", "dilation_h")
        last_x = _last_window(f, in_w, out_w, "in_x0", "kernel_w", "stride_w", "dilation_w")
        lines = last_y[:, None]
        if kind == "planes":
            times = lines + np.tile(np.arange(channels) // 4, in_w) * out_h
        else:
            pixels = lines * out_w + last_x + together - 1
            times = np.repeat(np.where(last_x < 0, _NEVER, pixels), channels, axis=1)
        return arg.offset, np.where(lines < 0, _NEVER, times).reshape(-1)
    if (kind == "elements" and _ranges_once(call, arg)) or call.kernel.op == "move":
        size = tensor.dtype.size if kind else 1
        (count,) = _ints(f, "count")
        return arg.offset, np.repeat(np.arange(count), size) + together - 1
    return 0, _whole(tensor.nbytes, _CALL - 1)  # to the end


def _ints(fields: Mapping[str, object], *names: str) -> list[int]:
    values = [fields[name] for name in names]
    assert all(isinstance(value, int) for value in values)
    return [value for value in values if isinstance(value, int)]


def _last_window(
    fields: Mapping[str, object], extent: int, count: int, *names: str
) -> npt.NDArray[np.int64]:
    """For each input position along an axis the last of `count` windows with a tap there, or -1."""
    first, kernel, stride, dilation = _ints(fields, *names)
    last = np.full(max(0, extent), -1, np.int64)
    windows = np.arange(count)[:, None]
    taps = first + windows * stride + dilation * np.arange(kernel)
    there = (taps >= 0) & (taps < extent)
    np.maximum.at(last, taps[there], np.broadcast_to(windows, taps.shape)[there])
    return last


def _ranges_once(call: Call, arg: TensorArg) -> bool:
    """Whether element i of the operand serves element i of the result, and no other."""
    fields = dict(call.fields)
    sides = [
        name
        for name, other in zip(("a_period", "b_period"), call.args, strict=False)
        if other == arg
    ]
    return all(fields.get(name, fields["count"]) == fields["count"] for name in sides)
