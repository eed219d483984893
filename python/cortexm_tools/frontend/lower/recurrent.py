# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers on codes: the operators of lower/dialect_recurrent.py in the place of the float ones.

A layer in codes cannot be float operators between pairs of quantize and dequantize, as others are: every
step rounds its states. So the quantized graph has the operator of the dialect itself, on the codes of
its operands, and whoever runs the graph computes what the device does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import getitem
from typing import Any, cast

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from ...ir.recurrent import out_factor
from ...ir.types import DType
from ..nodes import operator_name
from ..quantize.recurrent import CODED, UNREAD
from ..quantize.recurrent_rounding import MOST, ROUNDED, float_weights, relu_unit
from ..quantize.recurrent_weights import coded, codes_of, parts_of, to_nearest
from ..quantize.tags import TAG, tag_of
from ..rewrites.recurrent_operators import GRU, LSTM, OPERATORS, RNN
from .dialect import define
from .dialect_recurrent import LAST

_ORIGIN = ("nn_module_stack", "stack_trace", "torch_fn", "source_fn_stack")

_KINDS = {LSTM: "lstm", GRU: "gru", RNN: "rnn"}


def to_codes(model: GraphModule) -> None:
    """Replace the float operators of `model`, which is from convert_pt2e, in place."""
    define()
    known: dict[Any, _Constants] = {}
    for node in list(model.graph.nodes):
        if node.target in OPERATORS and _is(node.args[0], "dequantize"):
            _Layer(model, node, known).replace()
    model.graph.eliminate_dead_code()
    model.recompile()


def _is(node: object, kind: str) -> bool:
    """Whether it is a call of ``quantize_per_tensor`` or ``dequantize_per_tensor``, `kind`."""
    return operator_name(node) == f"quantized_decomposed::{kind}_per_tensor"


@dataclass(frozen=True)
class _Constants:
    """Weights, biases and multipliers, with the shifts of sums."""

    nodes: tuple[Node, ...]
    h_shift: int
    gate_shift: int


@dataclass(frozen=True)
class _Result:
    """A result of a float operator.

    Attributes:
        codes: as the arguments of ``quantize_per_tensor`` have them: scale, zero point, smallest and
            largest code, type.
        quantize: what quantizes it; None if nobody reads it.
    """

    codes: tuple[Any, ...]
    quantize: Node | None = None

    @property
    def scale(self) -> float:
        return float(self.codes[0])

    @property
    def zero_point(self) -> int:
        return int(self.codes[1])

    @property
    def readers(self) -> list[Node]:
        """Who takes what it is dequantized to again."""
        if self.quantize is None:
            return []
        return [reader for dequantized in self.quantize.users for reader in dequantized.users]


class _Layer:
    """A float operator of a converted graph.

    Args:
        known: the constants that were made so far.
    """

    def __init__(self, model: GraphModule, node: Node, known: dict[Any, _Constants]) -> None:
        self._model, self._node, self._known = model, node, known
        self._target = target = cast(Any, node.target)
        names = [argument.name for argument in target._schema.arguments]
        self._args: dict[str, Any] = dict(zip(names, node.args, strict=True))
        parts = {0: node} if target is RNN else {part.args[1]: part for part in node.users}
        results = {number: _Result(codes) for number, codes in node.meta[UNREAD].items()}
        for number, part in parts.items():
            for quantize in part.users:
                results[number] = _Result(quantize.args[1:], quantize)
        self._shown, self._kept = results[0], results[max(results)]

    def replace(self) -> None:
        """Put the operator on codes in its place."""
        target, x = self._target, self._args["x"]
        whole = not all(map(self._is_last, self._shown.readers))
        first = self._kept if target is GRU else self._shown
        states = [self._coded("h0", first)]
        if target is LSTM:
            states.append(self._coded("c0", self._kept))
        constants = self._constants(float(x.args[1]))
        call = self._call(
            getattr(torch.ops.cortexm, _KINDS[target] + ("" if whole else LAST)).default,
            x.args[0],
            *states,
            *constants.nodes,
            self._args["batch_first"],
            self._args["reverse"],
            int(x.args[2]),
            self._shown.zero_point,
            constants.h_shift,
            constants.gate_shift,
            *self._numbers(),
        )
        count = int(whole) + len(states)
        results = [call] if count == 1 else [self._call(getitem, call, k) for k in range(count)]
        self._tag(results, whole)
        # After the last step an LSTM and an RNN have h as they show it, a GRU as it keeps it.
        for result, after in zip((first, self._kept), results[int(whole) :], strict=False):
            self._give_last(result, after, result)
        if whole and self._shown.quantize is not None:
            self._shown.quantize.replace_all_uses_with(results[0])
        elif target is GRU:
            self._give_last(self._shown, results[-1], self._kept)

    def _coded(self, name: str, like: _Result) -> Node | None:
        """An initial state in the codes of `like`."""
        state = self._args[name]
        if state is None:
            return None
        if state.args[1:] == like.codes:
            return cast(Node, state.args[0])
        quantize = torch.ops.quantized_decomposed.quantize_per_tensor.default
        return self._call(quantize, state, *like.codes)

    def _tag(self, results: list[Node], whole: bool) -> None:
        """Note with the results on codes what they replace, by its tag, and how they are coded."""
        kept = self._kept if self._target is GRU else self._shown
        after = [kept, self._kept] if self._target is LSTM else [kept]
        for node, result in zip(results, [*([self._shown] if whole else []), *after], strict=True):
            node.meta[CODED] = result.codes
        for node, result in zip(results[int(whole) :], after, strict=True):
            sources = [result, self._shown] if result is kept else [result]
            for reader in (r for source in sources for r in source.readers if self._is_last(r)):
                node.meta["custom"] = {TAG: tag_of(reader)}
        if whole and self._shown.quantize is not None:
            results[0].meta["custom"] = {TAG: tag_of(self._shown.quantize.all_input_nodes[0])}

    def _is_last(self, reader: Node) -> bool:
        """Whether `reader` takes the state after the last step out of a sequence."""
        if reader.target is not torch.ops.aten.select.int:
            return False
        dim, index = reader.args[1:]
        sequence = self._node.meta["val"]
        shape = (sequence if isinstance(sequence, Tensor) else sequence[0]).shape
        time = 1 if self._args["batch_first"] else 0
        last = 0 if self._args["reverse"] else shape[time] - 1
        return dim in (time, time - 3) and index in (last, last - shape[time])

    def _give_last(self, result: _Result, codes: Node, coded: _Result) -> None:
        """Let those who take the last step of `result` have `codes`, which are as those of `coded`."""
        for reader in filter(self._is_last, result.readers):
            dequantized = None
            for user in list(reader.users):
                if _is(user, "quantize") and user.args[1:] == coded.codes:
                    user.replace_all_uses_with(codes)
                    continue
                if dequantized is None:
                    dequantize = torch.ops.quantized_decomposed.dequantize_per_tensor.default
                    dequantized = self._call(dequantize, codes, *coded.codes)
                user.replace_input_with(reader, dequantized)

    def _numbers(self) -> list[Any]:
        """output_multiplier, output_shift, and the last one, which is the operator's own."""
        kept_bits = -round(math.log2(self._kept.scale))
        if self._target is LSTM:
            return [*out_factor(2.0**-14 / self._shown.scale), kept_bits]
        if self._target is GRU:
            return [*out_factor(self._kept.scale / self._shown.scale), kept_bits]
        unit = self._unit() or 1.0
        return [*out_factor(unit * 2.0**-15 / self._shown.scale), self._args["relu"]]

    def _unit(self) -> float | None:
        """The h that an RNN with ReLU calls 1."""
        codes: Any = self._shown.codes
        return relu_unit(self._node, codes[3], self._shown.zero_point, self._shown.scale)

    def _constants(self, x_scale: float) -> _Constants:
        names = [str(self._args[name]) for name in ("w_ih", "w_hh", "b_ih", "b_hh")]
        dtype = DType.S16 if self._shown.codes[4] is torch.int16 else DType.S8
        weights = float_weights(self._model, self._node)
        codes = codes_of(dtype, weights, x_scale, self._shown.scale, self._unit())
        most = self._node.meta[MOST]
        key = (self._target, *names, codes, most)
        if key not in self._known:
            parts = self._node.meta.get(ROUNDED)
            if parts is None:
                parts = to_nearest(parts_of(self._target, weights, codes), dtype, most)
            found = coded(self._target, weights.w_ih.shape[1], parts, codes)
            nodes = tuple(self._constant(each) for each in found.tensors)
            self._known[key] = _Constants(nodes, codes.h_shift, found.gate_shift)
        return self._known[key]

    def _constant(self, value: Tensor) -> Node:
        count = 0
        while hasattr(self._model, name := f"cortexm_codes_{count}"):
            count += 1
        self._model.register_buffer(name, value)
        with self._node.graph.inserting_before(self._node):
            return self._node.graph.get_attr(name)

    def _call(self, target: Any, *args: Any) -> Node:
        """A call in the place of the float operator, with its origin."""
        with self._node.graph.inserting_before(self._node):
            call = self._node.graph.call_function(target, args)
        call.meta = {k: v for k, v in self._node.meta.items() if k in _ORIGIN}
        call.meta["custom"] = {} if self._target is RNN else {TAG: tag_of(self._node)}
        return call
