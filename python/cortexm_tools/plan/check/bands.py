# SPDX-License-Identifier: Apache-2.0
"""Proves on a step that works in bands of rows that every call finds the rows it needs.

It keeps book of the row that lies in each place of a band's buffer. Which rows a call needs follows from
the operator; where it looks for them, from its arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CortexMError
from ...ir import Graph, Op, ops
from ..types import Call, Plan, Step, TensorArg

Rows = npt.NDArray[np.int64]

_PADDING, _EMPTY = -1, -2  # instead of a row: above or below the image, and none yet


@dataclass
class _Book:
    """The row in each place of every buffer, and how many rows of every result are computed."""

    lies_in: dict[int, Rows] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)


def check_bands(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of `step` reads a row that is not there, writes outside of its
    buffer, or if not all rows are computed. It is a bug in the planner."""
    if not step.fused:
        return
    graph = plan.graph
    makers = {op.outputs[0]: op for op in step.ops}
    book = _Book(
        {index: _empty(plan, index) for index in step.inside}, {index: 0 for index in makers}
    )
    for call in step.trace():
        *sources, target = call.tensors
        if call.kernel.op == "move":
            _move(graph, call, sources[0], target, book, step)
            continue
        _check_whole_rows(graph, call, sources, target, step)
        target = _in_own(plan, target, step)
        op = makers[target.index]
        rows = _rows_written(graph, call, target)
        for source in sources:
            wanted, places = _rows_read(graph, op, call, source, rows, book)
            missing = wanted != _rows_at(source.index, places, book)
            if missing.any():
                row = wanted[missing][0]
                raise _error(step, f"row {row} of {_name(graph, source)} is not there")
        first = _in_rows(graph, target.index, target.offset, step)
        if target.index in book.lies_in:
            end = (first + rows) * _row_bytes(graph, target.index)
            if end > plan.buffers[plan.buffer_of[target.index]].nbytes:
                raise _error(step, f"{_name(graph, target)} is larger than its buffer")
            computed = book.done[target.index] + np.arange(rows)
            book.lies_in[target.index][first : first + rows] = computed
        elif rows and first != book.done[target.index]:
            raise _error(step, f"a band of {_name(graph, target)} lies in the wrong place")
        book.done[target.index] += rows
    if book.done[step.op.outputs[0]] != graph.tensors[step.op.outputs[0]].shape[2]:
        raise _error(step, "some rows are never computed")


def _check_whole_rows(
    graph: Graph, call: Call, sources: list[TensorArg], target: TensorArg, step: Step
) -> None:
    """Whether a call reads images in rows as long as those of its operand, and writes rows of pixels that
    lie side by side: all of one, unless it is a part of another tensor's (concat.py)."""
    fields: dict[str, Any] = dict(call.fields)
    if "out_h" not in fields:
        return
    for source in sources:
        size = graph.tensors[source.index].dtype.size
        if fields["in_row_stride"] * size != _row_bytes(graph, source.index):
            raise _error(step, f"rows of {_name(graph, source)} are not as long as a call says")
    made = graph.tensors[target.index]
    row = fields["out_w"], fields["out_pixel_stride"]
    whole = made.shape[3], made.shape[1]
    if fields.get("channels") == made.shape[3] * made.shape[1]:  # a pool's rows are single pixels
        whole = 1, fields["channels"]
    if call.kernel.serves == "conv2d":  # neighbouring pixels may be one of more channels
        joined = max(1, fields["out_c"] // made.shape[1])
        whole = made.shape[3] // joined, made.shape[1] * joined
    if target.index in (*step.inside, *step.op.outputs) and row != whole:
        raise _error(step, f"a band of {_name(graph, target)} is not made of whole rows")


def _in_own(plan: Plan, target: TensorArg, step: Step) -> TensorArg:
    """A target in the result of a concatenation, as if the step's own result had a buffer."""
    own = step.op.outputs[0]
    part = plan.parts.get(own)
    if part is None or target.index != plan.holder(own):
        return target
    offset = target.offset - (plan.offset(own) - plan.offset(target.index))
    return TensorArg(own, offset // part.pitch * part.pixel if part.pitch else offset)


def _rows_written(graph: Graph, call: Call, target: TensorArg) -> int:
    fields: dict[str, Any] = dict(call.fields)
    if "out_h" in fields:
        return int(fields["out_h"])
    size = graph.tensors[target.index].dtype.size
    return int(fields["count"]) * size // _row_bytes(graph, target.index)


def _empty(plan: Plan, index: int) -> Rows:
    """The places of a band's buffer."""
    nbytes = plan.buffers[plan.buffer_of[index]].nbytes
    return np.full(nbytes // _row_bytes(plan.graph, index), _EMPTY, np.int64)


def _rows_read(
    graph: Graph, op: Op, call: Call, source: TensorArg, rows: int, book: _Book
) -> tuple[Rows, Rows]:
    """The rows that a call needs, and the place where it looks for each: _PADDING outside of the image."""
    f: dict[str, Any] = dict(call.fields)
    first = source.offset // _row_bytes(graph, source.index)
    made = np.arange(rows, dtype=np.int64)
    done = book.done[op.outputs[0]]
    if "out_h" not in f:
        return done + made, first + made
    window = op.attrs.window  # type: ignore[attr-defined]
    height = graph.tensors[source.index].shape[2]
    tap = np.arange(f["kernel_h"], dtype=np.int64)
    above, dilation = window.padding[0], window.dilation[0]
    if isinstance(op.attrs, ops.TransposeConv2d):  # of stride 1: a convolution, its taps in reverse
        above = (window.kernel[0] - 1) * dilation - above
    row = (done + made)[:, None] * window.stride[0] - above + tap * dilation
    here = f["in_y0"] + made[:, None] * f["stride_h"] + tap * f["dilation_h"]
    wanted = np.where((row >= 0) & (row < height), row, _PADDING)
    return wanted, np.where((here >= 0) & (here < f["in_h"]), first + here, _PADDING)


def _rows_at(index: int, places: Rows, book: _Book) -> Rows:
    """The rows that lie in places."""
    if index not in book.lies_in:
        return places
    lies = book.lies_in[index]
    there = (places >= 0) & (places < len(lies))
    rows = np.where(there, lies[np.where(there, places, 0)], _EMPTY)
    return np.where(places == _PADDING, _PADDING, rows)


def _move(
    graph: Graph, call: Call, source: TensorArg, target: TensorArg, book: _Book, step: Step
) -> None:
    (count,) = (value for name, value in call.fields if name == "count")
    assert isinstance(count, int) and source.index == target.index
    rows = _in_rows(graph, source.index, count, step)
    begin = _in_rows(graph, source.index, source.offset, step)
    to = _in_rows(graph, target.index, target.offset, step)
    if to >= begin:
        raise _error(step, f"{_name(graph, source)} is not moved down")
    old = book.lies_in[source.index]
    if begin + rows > len(old):
        raise _error(step, f"{_name(graph, source)} is moved from outside of its buffer")
    book.lies_in[source.index] = np.full_like(old, _EMPTY)
    book.lies_in[source.index][to : to + rows] = old[begin : begin + rows]


def _in_rows(graph: Graph, index: int, nbytes: int, step: Step) -> int:
    rows, rest = divmod(nbytes, _row_bytes(graph, index))
    if rest:
        raise _error(step, f"a band of {graph.tensors[index].name!r} begins within a row")
    return rows


def _row_bytes(graph: Graph, index: int) -> int:
    tensor = graph.tensors[index]
    return tensor.nbytes // tensor.shape[2]


def _name(graph: Graph, arg: TensorArg) -> str:
    return repr(graph.tensors[arg.index].name)


def _error(step: Step, message: str) -> CortexMError:
    return CortexMError(message, where=str(step.op.layer))
