# SPDX-License-Identifier: Apache-2.0
"""How far below its input the result of a step may begin, so that nothing is lost.

A kernel whose row in kernels.json has an `order` promises how it walks its operands:

* ``pixels:K``: output pixels row by row, left to right. While it writes pixel q, it may still read what
  pixels q - K + 1 and later need, and nothing that only earlier ones do.
* ``elements:K``: the same for elements; an operand has one element for each of the result.
* ``planes:K``: whole channels one after the other, K at a time, each row by row. Writing a row, it may
  still read the input rows that this row and later ones need, of those channels and of later ones.
  ``planes:K:N``: where windows reach over N rows at most, or over columns of an image that is turned
  (band_turned in kernels.json), channels are read before they are written.

So the output may lie over the input if it begins `distance` bytes below it: every byte is then written
after its last reader ("diagonal memory optimisation"). Kernels without an order promise nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ...ir import Graph
from ..kernels.contract import named
from ..types import Call, Field, Step, TensorArg

# Element by element, whether or not their kernels promise an order.
ELEMENTS = frozenset({"activation", "add", "mul", "requantize"})


@dataclass(frozen=True)
class Distance:
    """The result may begin this many bytes below the operand, or more; the difference of their
    offsets is a multiple of `modulus`."""

    nbytes: int
    modulus: int = 1


def order_of(call: Call) -> tuple[str, int]:
    """The order that a kernel promises, and how many pixels, elements or channels it has in work at once."""
    name, ahead, _ = _order(call.kernel.order)
    return name, ahead


@cache
def _order(text: str) -> tuple[str, int, int]:
    name, ahead, rows = (text + "::").split(":")[:3]
    return name, int(ahead or 1), int(rows or 0)


def distance(graph: Graph, step: Step, operand: int, result: int) -> Distance | None:
    """How far below `operand` the `result` of `step` may begin; None if they must lie apart."""
    calls = list(_outermost(step, operand, result))
    later = math.inf  # the lowest byte of the operand that calls after this one read
    least, modulus = -math.inf, 1
    for call in reversed(calls):
        read = [arg for arg in call.tensors if arg.index == operand]
        target = call.result
        if target is not None and target.index == result:
            for arg in read:
                within = _within(graph, call, arg, target)
                if within is None:
                    return None
                least = max(least, within.nbytes + target.offset - arg.offset)
                modulus = math.lcm(modulus, within.modulus)
            if later < math.inf:
                least = max(least, write_range(graph, call, target)[1] - later)
        for arg in read:
            later = min(later, read_range(graph, call, arg)[0])
    if least == -math.inf:
        return None
    return Distance(-(-int(least) // modulus) * modulus, modulus)


def _outermost(step: Step, *tensors: int) -> Iterator[Call]:
    """The calls with one of these tensors in order of execution, of each loop the first two and the last
    two turns: offsets grow with the turns, so what is needed of the others lies between."""
    for body, turns in step.loops():
        for turn in sorted({0, min(1, turns - 1), max(0, turns - 2), turns - 1}):
            for call in body:
                if any(arg.index in tensors for arg in call.tensors):
                    yield call.turn(turn)


def read_range(graph: Graph, call: Call, arg: TensorArg) -> tuple[int, int]:
    """The bytes of a tensor between which a call reads it through one argument."""
    order, _ = order_of(call)
    fields = call.int_fields
    if order in ("pixels", "planes"):
        first = max(0, fields["in_y0"])
        reach = (fields["out_h"] - 1) * fields["stride_h"]
        reach += (fields["kernel_h"] - 1) * fields["dilation_h"] + 1
        end = min(fields["in_h"], fields["in_y0"] + reach)
        row = fields["in_row_stride"] * graph.tensors[arg.index].dtype.size
        return arg.offset + first * row, arg.offset + end * row
    if order == "elements" or call.kernel.op == "move":
        size = graph.tensors[arg.index].dtype.size if order else 1
        return arg.offset, arg.offset + fields["count"] * size
    if call.kernel.serves == "batch_matmul":
        rows, name = ("rows", "lhs") if call.args[0] == arg else ("cols", "rhs")
        elements = _reach(call, rows, "inner", f"{name}_strides")
        return arg.offset, arg.offset + elements * graph.tensors[arg.index].dtype.size
    return 0, graph.tensors[arg.index].nbytes


def write_range(graph: Graph, call: Call, arg: TensorArg) -> tuple[int, int]:
    """The bytes of its result, `arg`, between which a call writes."""
    order, _ = order_of(call)
    fields = call.int_fields
    if order in ("pixels", "planes"):
        pixels, size = fields["out_h"] * fields["out_w"], graph.tensors[arg.index].dtype.size
        elements = (pixels - 1) * fields["out_pixel_stride"] + _made(fields)
        return arg.offset, arg.offset + elements * size
    if order == "elements" or call.kernel.op == "move":
        size = graph.tensors[arg.index].dtype.size if order else 1
        return arg.offset, arg.offset + fields["count"] * size
    elements = _dense(call)
    if elements:
        return arg.offset, arg.offset + elements * graph.tensors[arg.index].dtype.size
    return 0, graph.tensors[arg.index].nbytes


def _dense(call: Call) -> int:
    """Elements from the first to the last of a result that rows of matrices are made of; 0 of other
    kernels."""
    fields = call.int_fields
    if call.kernel.serves == "batch_matmul":
        return _reach(call, "rows", "cols", "out_strides")
    if call.kernel.serves == "softmax":
        return fields["outer"] * fields["size"] * fields["inner"]
    if call.kernel.serves == "where":
        return math.prod(dict(call.fields)["dims"])  # type: ignore[arg-type]
    if call.kernel.serves in ELEMENTS:
        return fields["count"]
    return 0


def _reach(call: Call, rows: str, cols: str, name: str) -> int:
    """Elements from the first to the last one of matrices."""
    fields = call.int_fields
    strides: tuple[int, ...] = (*dict(call.fields)[name], 1)  # type: ignore[misc]
    extents = (fields["groups"], fields["batches"], fields[rows], fields[cols])
    return 1 + sum((n - 1) * step for n, step in zip(extents, strides, strict=False))


def _made(fields: Mapping[str, int]) -> int:
    """Channels that a call of an image kernel makes."""
    return fields.get("out_c", fields.get("channels", 0))


def _within(graph: Graph, call: Call, arg: TensorArg, target: TensorArg) -> Distance | None:
    """The distance between the operand and the result of one call, from where their pointers point."""
    order, ahead = order_of(call)
    fields = call.int_fields
    if order in ("pixels", "planes"):
        if fields.get("batches", 1) != 1 or fields.get("groups", 1) != 1:
            return None
        # Operand and result have one type.
        size, planes = graph.tensors[target.index].dtype.size, order == "planes"
        if planes and fields["in_c"] != _made(fields):
            return None  # the outputs of a channel lie where others have their inputs
        rows = _order(call.kernel.order)[2]
        found = _image_distance(call.fields, 1 if planes else ahead, planes, rows)
        return Distance(found.nbytes * size, found.modulus * size if planes else 1)
    if order == "elements":
        if not _element_for_element(call, arg):
            return None
        from_size = graph.tensors[arg.index].dtype.size
        to_size = graph.tensors[target.index].dtype.size
        last = fields["count"] - 1
        points = {min(ahead - 1, last), last}
        return Distance(max((q + 1) * to_size - max(0, q - ahead + 1) * from_size for q in points))
    return None


def _element_for_element(call: Call, arg: TensorArg) -> bool:
    """Whether operand `arg` has one element for each of the result."""
    fields = call.int_fields
    if "a_period" not in fields:
        return call.args[0] == arg
    periods = (fields["a_period"], fields["b_period"])
    return all(
        period == fields["count"]
        for operand, period in zip(call.args[:2], periods, strict=True)
        if operand == arg
    )


@lru_cache(maxsize=1024)  # the bands of an operator differ in few fields, and most in none
def _image_distance(
    all_fields: tuple[tuple[str, Field], ...], ahead: int, planes: bool, rows_at_once: int = 0
) -> Distance:
    """In elements, of all pixels q: the end of pixel q, less the first one that pixels from q - ahead + 1
    need.

    That is the first element of the window of pixel q - ahead + 1, or of the first one in the row
    below. Along rows and columns the difference is concave, as windows begin at 0 until they leave the
    padding: so it is largest at the ends, or where they leave it.
    """
    fields = {name: value for name, value in all_fields if isinstance(value, int)}
    in_c = fields.get("in_c", fields.get("channels", 0))
    out_c, step = _made(fields), fields["out_pixel_stride"]
    height, width, row = fields["out_h"], fields["out_w"], fields["in_row_stride"]

    def first_row(y: int) -> int:
        return max(0, fields["in_y0"] + y * fields["stride_h"]) * row

    def first_column(x: int) -> int:
        return max(0, fields["in_x0"] + x * fields["stride_w"]) * in_c

    rows = _corners(height - 1, -(fields["in_y0"] // fields["stride_h"]))
    if planes:
        if rows_at_once and _at_once(fields, rows_at_once) and step % out_c == 0:
            # No channel is overwritten by another one, and its own elements are read already.
            return Distance(-fields["in_h"] * row, out_c)
        ends = (((y + 1) * width - 1) * step + out_c - first_row(y) for y in rows)
        return Distance(max(ends), out_c)
    pixels = height * width
    last = max(
        0, pixels - ahead
    )  # the last pixel of whose window something is needed after a write
    columns = _corners(width - 1, -(fields["in_x0"] // fields["stride_w"]))
    starts = {y * width + x for y in rows for x in columns}
    starts |= {last // width * width + x for x in (*columns, last % width)}
    starts |= {(last // width - 1) * width + x for x in columns}
    least = -math.inf
    for start in starts:
        if 0 <= start <= last:
            y, x = divmod(start, width)
            needed = first_row(y) + first_column(x)
            if y + 1 < height:
                needed = min(needed, first_row(y + 1) + first_column(0))
            end = min(start + ahead, pixels) - 1
            least = max(least, end * step + out_c - needed)
    return Distance(int(least))


def _at_once(fields: Mapping[str, int], rows: int) -> bool:
    reach = (fields["out_h"] - 1) * fields["stride_h"] + fields["kernel_h"]
    return reach <= rows or bool(named()["band_turned"](fields))


def _corners(last: int, leaves: int) -> set[int]:
    """The ends of 0 … `last`, and what is around the place where windows leave the padding."""
    near = (0, *range(leaves - 2, leaves + 2), last - 1, last)
    return {place for place in near if 0 <= place <= last}
