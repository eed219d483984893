# SPDX-License-Identifier: Apache-2.0
"""The graph of a call: new columns are computed, older ones are state.

Exact: an operator that works alike in every column computes the columns that it would compute in the
window, from the same columns, with the same arithmetic, which in these operators does not depend on the
place. A column of the state was such a column when it was new. What mixes columns gets the columns of
its window and computes what it did.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from ..ir import Array, Attrs, DType, Graph, Layer, Op, State, ops
from ..ir.edit import GraphBuilder
from ..ir.interpreter import run_all
from .columns import Fit, Span
from .trace import Trace


def build(found: Trace) -> Graph:
    """The stream's graph: its inputs are the new frames; its outputs the last columns, or what the window
    gives."""
    return _Builder(found).run()


@dataclass(frozen=True)
class _Held:
    """Columns of one tensor that are there in a call: new ones, and with those that were kept."""

    new: int
    new_span: Span
    all: int
    span: Span


def _pushed(found: Trace) -> frozenset[int]:
    """The tensors of which a state has all columns, and moves them up for the new ones.

    The others have a state of the older columns alone, and bring all together in the arena for a while.
    A state of all columns is larger by the new ones, and copies once instead of twice. The largest are
    those: as many as make states and the largest of what is brought together smallest.
    """
    sizes: dict[int, tuple[int, int]] = {}
    for index, need in found.needed.items():
        new = len(found.new(index))
        if len(need) > new:
            known, tensor = found.columns[index], found.graph.tensors[index]
            column = tensor.nbytes // known.length
            sizes[index] = (column * len(need), column * new)
    order = sorted(sizes, key=lambda index: (-sizes[index][0], index))
    together = [*(sizes[index][0] for index in order), 0]
    more = [0, *itertools.accumulate(sizes[index][1] for index in order)]
    best = min(range(len(order) + 1), key=lambda count: (together[count] + more[count], -count))
    return frozenset(order[:best])


class _Builder:
    def __init__(self, found: Trace) -> None:
        self._found = found
        self._graph = found.graph
        self._build = GraphBuilder(found.graph)
        self._pushed = _pushed(found)
        self._held: dict[int, _Held] = {}
        self._cuts: dict[tuple[int, Span, int], int] = {}
        self._states: list[State] = []

    def run(self) -> Graph:
        inputs = [self._input(index) for index in self._graph.inputs]
        for number, op in enumerate(self._graph.ops):
            if number not in self._found.forms:
                self._whole(op)
            elif any(index in self._found.needed for index in op.outputs):
                self._local(number, op)
        outputs = [
            self._cut(index, self._found.last(index), self._found.columns[index].spread, op)
            if index in self._found.columns
            else index
            for index, op in ((i, self._maker(i)) for i in self._graph.outputs)
        ]
        return self._build.finish(outputs, inputs, self._states)

    def _maker(self, index: int) -> Op | None:
        return next((op for op in self._graph.ops if index in op.outputs), None)

    # -- columns ----------------------------------------------------------------------------------

    def _tensor(self, like: int, count: int, name: str) -> int:
        """A tensor like this one, of another number of columns."""
        tensor, dim = self._graph.tensors[like], self._found.columns[like].dim
        shape = (*tensor.shape[:dim], count, *tensor.shape[dim + 1 :])
        return self._build.add_tensor(replace(tensor, shape=shape, name=name))

    def _input(self, index: int) -> int:
        """The new frames; the state goes back to the first that is needed."""
        known = self._found.columns[index]
        new = self._tensor(index, known.new, f"{self._graph.tensors[index].name}_new")
        need = self._found.needed[index]
        span = Span(known.length - known.new, known.length)
        self._hold(index, new, span, Span(min(need.begin, span.begin), span.end), None)
        return new

    def _hold(self, index: int, new: int, new_span: Span, span: Span, op: Op | None) -> None:
        """Joins the new columns with those kept from earlier calls, and keeps what the next one needs."""
        held = _Held(new, new_span, new, span)
        kept = len(span) - len(new_span)
        if kept:
            held = replace(held, all=self._keep(index, new, kept, op))
        self._held[index] = held

    def _keep(self, index: int, new: int, kept: int, op: Op | None) -> int:
        """All columns: from a state of the older ones; or the state itself, into which the new ones are
        pushed."""
        name, dim = self._graph.tensors[index].name, self._found.columns[index].dim
        layer = op.layer if op is not None else self._layer_of_readers(index)
        added = self._build.tensors[new].shape[dim]
        joined = self._tensor(index, kept + added, f"{name}_joined")
        if index in self._pushed:
            before = self._tensor(index, kept + added, f"{name}_before")
            self._build.add(Op(ops.Push(dim), (before, new), (joined,), layer))
            self._add_state(name, before, joined)
            return joined
        before = self._tensor(index, kept, f"{name}_before")
        after = self._tensor(index, kept, f"{name}_after")
        self._build.add(Op(ops.Concat(dim), (before, new), (joined,), layer))
        rank = len(self._build.tensors[joined].shape)
        begin = tuple(added if d == dim else 0 for d in range(rank))
        self._build.add(Op(ops.Slice(begin, (1,) * rank), (joined,), (after,), layer))
        self._add_state(name, before, after)
        return joined

    def _add_state(self, name: str, before: int, after: int) -> None:
        tensor = self._build.tensors[before]
        initial = np.zeros(tensor.shape, tensor.dtype.numpy)
        self._states.append(State(name, before, after, initial))

    def _layer_of_readers(self, index: int) -> Layer:
        return next((op.layer for op in self._graph.ops if index in op.inputs), Layer())

    def _cut(self, index: int, span: Span, step: int, op: Op | None) -> int:
        """A tensor of these columns, `step` apart."""
        held = self._held[index]
        from_new = held.new_span.contains(span)
        source, have = (held.new, held.new_span) if from_new else (held.all, held.span)
        assert have.contains(span), f"{self._graph.tensors[index].name}: {span} not in {have}"
        if have == span and (step == 1 or len(span) == 1):
            return source
        key = (source, span, step)
        if key not in self._cuts:
            count = (len(span) - 1) // step + 1
            dim = self._found.columns[index].dim
            result = self._tensor(index, count, f"{self._graph.tensors[index].name}_cut")
            rank = len(self._build.tensors[result].shape)
            begin = tuple(span.begin - have.begin if d == dim else 0 for d in range(rank))
            steps = tuple(step if d == dim else 1 for d in range(rank))
            layer = op.layer if op is not None else self._layer_of_readers(index)
            self._build.add(Op(ops.Slice(begin, steps), (source,), (result,), layer))
            self._cuts[key] = result
        return self._cuts[key]

    # -- operators --------------------------------------------------------------------------------

    def _whole(self, op: Op) -> None:
        """From all columns of the window."""
        inputs = tuple(
            self._cut(index, self._found.whole(index), self._found.columns[index].spread, op)
            if index in self._found.columns
            else index
            for index in op.inputs
        )
        self._build.add(replace(op, inputs=inputs))

    def _local(self, number: int, op: Op) -> None:
        """The new columns at once; one by one where the operator cannot take them so."""
        found = self._found
        form, made = found.forms[number], found.columns[op.outputs[0]]
        span = found.new(op.outputs[0])
        source = found.columns[next(i for i in op.inputs if i in found.columns)]
        stride, spread = made.grid // source.grid, source.spread
        one = len(span) == 1
        spreads = spread == 1 or form.spreads or form.reads_one
        if one or (spreads and (form.strides or stride == form.stride)):
            gather = one and spread > 1 and not form.reads_one
            new = self._compute(number, op, span, gather=gather)
        else:
            singles = [
                self._compute(number, op, Span(at, at + 1), gather=spread > 1)
                for at in range(span.begin, span.end)
            ]
            new = []
            for place, index in enumerate(op.outputs):
                joined = self._tensor(index, len(span), self._graph.tensors[index].name)
                parts = tuple(single[place] for single in singles)
                self._build.add(Op(ops.Concat(made.dim), parts, (joined,), op.layer))
                new.append(joined)
        for index, tensor in zip(op.outputs, new, strict=True):
            self._hold(index, tensor, span, found.needed[index], op)

    def _compute(self, number: int, op: Op, span: Span, *, gather: bool) -> list[int]:
        """The results of an operator for some columns.

        Args:
            gather: the columns that one result reads are brought together.
        """
        found = self._found
        form, made = found.forms[number], found.columns[op.outputs[0]]
        inputs, stride, spread = [], form.stride, 1
        for place, index in enumerate(op.inputs):
            if index in found.columns:
                source = found.columns[index]
                stride = made.grid // source.grid
                spread = 1 if gather else source.spread
                read = found.read(number, place, span)
                index = self._cut(index, read, source.spread if gather else 1, op)
            inputs.append(index)
        attrs = form.rebuild(Fit(len(span), stride, spread))
        if self._changes_nothing(attrs, inputs[0], op.outputs[0], len(span)):
            return inputs
        results = [
            self._tensor(index, len(span), self._graph.tensors[index].name) for index in op.outputs
        ]
        self._build.add(Op(attrs, tuple(inputs), tuple(results), op.layer))
        return results

    def _changes_nothing(self, attrs: Attrs, source: int, like: int, count: int) -> bool:
        """Whether padding pads nothing any more, or a slice leaves nothing out."""
        if isinstance(attrs, ops.Pad):
            return not any((*attrs.before, *attrs.after))
        dim = self._found.columns[like].dim
        shape = self._graph.tensors[like].shape
        same = self._build.tensors[source].shape == (*shape[:dim], count, *shape[dim + 1 :])
        return isinstance(attrs, ops.Slice) and same and min(attrs.step) > 0


def with_silence(graph: Graph, dims: dict[str, int]) -> Graph:
    """The graph whose states are what a stream of zeros leaves.

    Every column of such a stream is the same, so those that are kept are what the graph computes for the
    new ones.

    Args:
        dims: which dimension is time, by the names of the states.
    """
    kept = {state.before: state for state in graph.states}
    initial: dict[str, Array] = {}
    values: dict[int, Array] = {
        index: zeros_of(graph, index, graph.tensors[index].shape) for index in graph.inputs
    }
    for op in graph.ops:
        for index in op.inputs:
            if index in kept and index not in values:
                state = kept[index]
                dim = dims[state.name]
                newest = values[op.inputs[1]].take([-1], axis=dim)
                count = graph.tensors[index].shape[dim]
                values[index] = initial[state.name] = np.repeat(newest, count, axis=dim)
        given = tuple(dict.fromkeys(i for i in op.inputs if i in values))
        alone = Graph(graph.name, graph.tensors, (op,), given, ())
        results = run_all(alone, [values[i] for i in given])
        values.update({index: results[index] for index in op.outputs})
    states = tuple(replace(state, initial=initial[state.name]) for state in graph.states)
    return replace(graph, states=states)


def zeros_of(graph: Graph, index: int, shape: tuple[int, ...]) -> Array:
    """Zeros as an input has them: codes of 0.0 where it is quantized."""
    tensor = graph.tensors[index]
    codes = tensor.quant is not None and tensor.dtype in (DType.S8, DType.S16)
    zero = tensor.quant.zero_point if codes and tensor.quant is not None else 0
    return np.full(shape, zero, tensor.dtype.numpy)
