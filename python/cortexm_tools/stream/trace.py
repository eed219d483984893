# SPDX-License-Identifier: Apache-2.0
"""Follows time through a graph: which tensors are rows of columns, and which columns are needed.

Forwards, an operator that works alike in every column makes columns of columns. Any other one, and any
one that reads what such a one made, is computed from all columns of its window in every call. Backwards,
each reader says which columns it needs: an operator of columns needs what its new ones read, and the
rest of a window is kept from earlier calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import CortexMError
from ..ir import Graph, Op
from ..options.stream import CAUSAL, Stream
from .columns import Columns, Local, Span, columns
from .rules import local_form, multiplies_columns

_NAMED = 5  # layers that an error lists


@dataclass
class Trace:
    """What is known of a graph.

    Attributes:
        columns: of every tensor with time in it.
        forms: how operators, by their number, work in every column.
        needed: columns of the stream that a call needs of each tensor.
        delay: frames that come before a result is complete.
    """

    graph: Graph
    stream: Stream
    columns: dict[int, Columns] = field(default_factory=dict)
    forms: dict[int, Local] = field(default_factory=dict)
    needed: dict[int, Span] = field(default_factory=dict)
    delay: int = 0

    @property
    def window(self) -> int:
        """Frames of the window: of the first input."""
        return self.columns[self.graph.inputs[0]].length

    def whole(self, index: int) -> Span:
        """The columns of a window on the stream."""
        return self.behind(index, self.columns[index].window)

    def last(self, index: int) -> Span:
        """Those of the results of a call: as many windowed columns as a hop has, at most all."""
        known = self.columns[index]
        count = min(known.length, -(-self.stream.hop // known.rate))
        begin = (known.length - count) * known.spread
        return self.behind(index, Span(begin, known.window.end))

    def behind(self, index: int, span: Span) -> Span:
        return span.shifted(-self.delay // self.columns[index].grid)

    def new(self, index: int) -> Span:
        """The needed columns that a call computes; all before are kept."""
        need = self.needed[index]
        return Span(max(need.begin, need.end - self.columns[index].new), need.end)

    def read(self, number: int, place: int, result: Span) -> Span:
        """The columns of an operand that an operator reads for these of its result."""
        op, form = self.graph.ops[number], self.forms[number]
        source, made = self.columns[op.inputs[place]], self.columns[op.outputs[0]]
        reach, stride = form.reaches[place], made.grid // source.grid
        assert reach is not None
        return Span(
            result.begin * stride + reach.first * source.spread,
            (result.end - 1) * stride + reach.last * source.spread + 1,
        )


def trace(graph: Graph, stream: Stream) -> Trace:
    """Follows time from the inputs to the outputs and back.

    Raises:
        CortexMError: the graph cannot be streamed so: names the input, or the layers.
    """
    found = follow(graph, stream)
    if not stream.causal:
        _check_padding(found)
    found.delay = _delay(found)
    _backwards(found)
    return found


def follow(graph: Graph, stream: Stream) -> Trace:
    """The forward half of `trace`: columns and forms.

    Raises:
        CortexMError: an input has no such time, or a layer multiplies every column with every other.
    """
    found = Trace(graph, stream)
    _inputs(found)
    _forwards(found)
    return found


def _inputs(found: Trace) -> None:
    graph, stream = found.graph, found.stream
    if graph.states:
        raise CortexMError(
            "the model keeps state between calls already",
            where=graph.states[0].name,
            hint="leave out STREAM",
        )
    if not graph.inputs:
        raise CortexMError("a model without inputs has no stream", where=graph.name)
    for index in graph.inputs:
        tensor = graph.tensors[index]
        if stream.dim >= len(tensor.shape):
            last = len(tensor.shape) - 1
            raise CortexMError(
                f"dimension {stream.dim} of input {tensor.name!r} cannot be time: its shape is "
                f"{tensor.shape}",
                hint=f"write STREAM DIM:{stream.hop} with DIM from 0 to {last}"
                if last >= 0
                else "leave out STREAM",
            )
        length = tensor.shape[stream.dim]
        if stream.hop >= length:
            raise CortexMError(
                f"a hop of {stream.hop} frame{'s' * (stream.hop != 1)} does not fit: dimension "
                f"{stream.dim} of input {tensor.name!r}, of shape {tensor.shape}, has {length}",
                hint=f"windows of a stream overlap: give a hop below {length}"
                if length > 1
                else "choose the dimension that is time",
            )
        found.columns[index] = columns(stream.dim, length, 1, stream.hop)


def _forwards(found: Trace) -> None:
    graph = found.graph
    mixed: set[int] = set()
    for number, op in enumerate(graph.ops):
        known = tuple(found.columns.get(index) for index in op.inputs)
        if mixed.intersection(op.inputs):
            mixed.update(op.outputs)
        elif any(known):
            rank = len(graph.tensors[op.inputs[0]].shape)
            if multiplies_columns(op, rank, known):
                raise CortexMError(
                    f"{op.kind} multiplies every column of the window with every other one, as in "
                    "attention: nothing of it can be kept from call to call",
                    where=str(op.layer),
                    hint="leave out STREAM; see docs/streaming.md",
                )
            form = local_form(op, graph.tensors, known)
            if form is None:
                mixed.update(op.outputs)
            else:
                _enter(found, number, form, known)


def _enter(found: Trace, number: int, form: Local, known: tuple[Columns | None, ...]) -> None:
    op, graph = found.graph.ops[number], found.graph
    rate = next(each.rate for each in known if each is not None) * form.stride
    length = graph.tensors[op.outputs[0]].shape[form.dim]
    late = max(
        each.late + each.rate * ((length - 1) * form.stride + reach.last - (each.length - 1))
        for each, reach in zip(known, form.reaches, strict=True)
        if each is not None and reach is not None
    )
    found.forms[number] = form
    for index in op.outputs:
        found.columns[index] = columns(form.dim, length, rate, found.stream.hop, max(0, late))


def _sinks(found: Trace) -> list[int]:
    """The tensors of columns that are read as a window, or returned."""
    sinks = [index for index in found.graph.outputs if index in found.columns]
    for number, op in enumerate(found.graph.ops):
        if number not in found.forms:
            sinks += [index for index in op.inputs if index in found.columns]
    return sinks


def _delay(found: Trace) -> int:
    """How far results lie behind the newest frame: until all that they need is known, and so many
    frames that every stream has columns there."""
    known = [found.columns[index] for index in _sinks(found)]
    late = max((each.late for each in known), default=0)
    unit = math.lcm(*(each.grid for each in known)) if known else 1
    return -(-late // unit) * unit


def _check_padding(found: Trace) -> None:
    """No column that counts depends on what lies around the window.

    Raises:
        CortexMError: names the layers that pad.
    """
    graph = found.graph
    used: dict[int, Span] = {}

    def use(index: int, span: Span) -> None:
        used[index] = used[index] | span if index in used else span

    for index in graph.outputs:
        if index in found.columns:
            use(index, found.last(index))
    padding: list[Op] = []
    for number, op in reversed(list(enumerate(graph.ops))):
        form = found.forms.get(number)
        for place, index in enumerate(op.inputs):
            known = found.columns.get(index)
            if known is None:
                continue
            if form is None:
                use(index, known.window)
                continue
            results = [used[result] for result in op.outputs if result in used]
            for result in results:
                read = found.read(number, place, result)
                if not known.window.contains(read):
                    padding.append(op)
                    begin = max(read.begin, 0)
                    read = Span(begin, max(begin + 1, min(read.end, known.window.end)))
                use(index, read)
    if padding:
        _refuse_padding(found, padding)


def _refuse_padding(found: Trace, padding: list[Op]) -> None:
    names = list(dict.fromkeys(f"{op.kind} of {op.layer}" for op in reversed(padding)))
    listed = "\n".join(f"  {name}" for name in names[:_NAMED])
    more = f"\n  and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    raise CortexMError(
        f"{len(names)} operator{'s pad' if len(names) != 1 else ' pads'} along time inside the "
        f"window of {found.window} frames, where a stream has other frames: it cannot have "
        f"the window's bytes\n{listed}{more}",
        where=found.graph.name,
        hint=f"pad nothing along time, or read the last column of a longer window; or "
        f"STREAM {found.stream}:{CAUSAL}, which reads the stream's frames in place of the padding",
    )


def _backwards(found: Trace) -> None:
    graph = found.graph

    def need(index: int, span: Span) -> None:
        have = found.needed.get(index)
        found.needed[index] = span if have is None else have | span

    for index in graph.outputs:
        if index in found.columns:
            need(index, found.last(index))
    for number, op in reversed(list(enumerate(graph.ops))):
        if number not in found.forms:
            for index in op.inputs:
                if index in found.columns:
                    need(index, found.whole(index))
            continue
        wanted = [found.needed[index] for index in op.outputs if index in found.needed]
        if not wanted:
            continue
        for index in op.outputs:  # all results come from one call
            found.needed[index] = Span(
                min(span.begin for span in wanted), max(span.end for span in wanted)
            )
        for place, index in enumerate(op.inputs):
            if index in found.columns:
                need(index, found.read(number, place, found.new(op.outputs[0])))
    for index in graph.inputs:
        known = found.columns[index]
        newest = Span(known.length - 1, known.length)
        need(index, newest)
