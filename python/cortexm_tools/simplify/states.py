# SPDX-License-Identifier: Apache-2.0
"""Keeps float states as codes where they are quantized when they are read, or were codes when written.

Where all that reads a state quantizes it in one way, its new value is quantized when it is written: the
readers get the same codes. Where the new value is dequantized from codes, these are kept, and
dequantized when they are read: that gives the same float. It is done element by element, so the views and
transpositions behind it move the codes as well. For the first call there must be codes that dequantize
to the initial value, as the zero point does to zero; else the state stays a float.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..ir import Array, Attrs, DType, Graph, Op, QuantParams, State, Tensor, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers
from ..ir.interpreter import run_graph

_MOVES = (ops.View, ops.Transpose, ops.Clone)


def keep_codes(graph: Graph) -> Graph:
    made_by, read_by = producers(graph), consumers(graph)
    change = _Change(graph, GraphBuilder(graph))
    for state in graph.states:
        readers = [] if state.before in graph.kept else read_by.get(state.before, [])
        if graph.tensors[state.before].dtype is not DType.F32 or not (
            change.quantize(state, readers) or change.keep(state, made_by)
        ):
            change.states.append(state)
    for op in (*change.first, *graph.ops, *change.last):
        if op not in change.dropped:
            change.build.add(op)
    return change.build.finish(states=change.states)


@dataclass
class _Change:
    """The states and operators of a new graph."""

    graph: Graph
    build: GraphBuilder
    states: list[State] = field(default_factory=list)
    first: list[Op] = field(default_factory=list)
    last: list[Op] = field(default_factory=list)
    dropped: list[Op] = field(default_factory=list)

    def quantize(self, state: State, readers: Sequence[Op]) -> bool:
        """Quantizes a state when it is written instead of when it is read."""
        attrs = {reader.attrs for reader in readers}
        if len(attrs) != 1:
            return False
        (quantize,) = attrs
        if not isinstance(quantize, ops.Quantize):
            return False
        dtype = self.graph.tensors[readers[0].outputs[0]].dtype
        quant = QuantParams(quantize.scale, quantize.zero_point)
        before = self._coded(state.before, dtype, quant)
        after = self._coded(state.after, dtype, quant)
        for reader in readers:
            self.build.alias(reader.outputs[0], before)
        self.dropped += readers
        self.last.append(Op(quantize, (state.after,), (after,), readers[0].layer))
        initial = _apply(quantize, state.initial, dtype)
        self.states.append(State(state.name, before, after, initial))
        return True

    def keep(self, state: State, made_by: Mapping[int, Op]) -> bool:
        """Keeps the codes that a state is dequantized from."""
        maker, moves = made_by.get(state.after), list[Op]()
        while maker is not None and isinstance(maker.attrs, _MOVES):
            moves.insert(0, maker)
            maker = made_by.get(maker.inputs[0])
        if maker is None or not isinstance(maker.attrs, ops.Dequantize):
            return False
        value = maker.inputs[0]
        dtype, attrs = self.graph.tensors[value].dtype, maker.attrs
        quantize = ops.Quantize(attrs.scale, attrs.zero_point, *dtype.limits)
        initial = _apply(quantize, state.initial, dtype)
        if _apply(attrs, initial, DType.F32).tobytes() != state.initial.tobytes():
            return False
        quant = QuantParams(attrs.scale, attrs.zero_point)
        before = self._coded(state.before, dtype, quant)
        self.first.append(Op(attrs, (before,), (state.before,), maker.layer))
        for move in moves:
            moved = self._coded(move.outputs[0], dtype, quant)
            self.last.append(replace(move, inputs=(value,), outputs=(moved,)))
            value = moved
        self.states.append(State(state.name, before, value, initial))
        return True

    def _coded(self, index: int, dtype: DType, quant: QuantParams) -> int:
        tensor = self.graph.tensors[index]
        code = replace(tensor, name=f"{tensor.name}_code", dtype=dtype, quant=quant)
        return self.build.add_tensor(code)


def _apply(attrs: Attrs, value: Array, dtype: DType) -> Array:
    """One operator on one array."""
    order = contiguous(value.ndim)
    source = next(d for d in DType if d.numpy == value.dtype)
    tensors = (
        Tensor("x", source, value.shape, order),
        Tensor("y", dtype, value.shape, order),
    )
    return run_graph(Graph("alone", tensors, (Op(attrs, (0,), (1,)),), (0,), (1,)), [value])[0]
