# SPDX-License-Identifier: Apache-2.0
"""The dialect's operators of recurrent layers: one layer, one direction, all steps, on codes.

Operands and numbers are those of the operators of the graph (ir/ops/recurrent.py), which say what they
compute; states that are not given are zeros. Each has a twin, ``…_last``, that does not give the
sequence of all h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...ir import ops
from ...ir.ops import RecurrentAttrs

LAST = "_last"

_WEIGHTS = "Tensor input_weights, Tensor hidden_weights, Tensor bias, Tensor gate_multipliers"
_NUMBERS = (
    "bool batch_first, bool reverse, int input_zero_point, int hidden_zero_point, int hidden_shift, "
    "int gate_shift, int output_multiplier, int output_shift"
)


@dataclass(frozen=True)
class Recurrent:
    """An operator.

    Attributes:
        states: the names of its states; the first one is h.
        own: its own last argument, with its type.
    """

    attrs: type[RecurrentAttrs]
    states: tuple[str, ...]
    own: str

    @property
    def arguments(self) -> str:
        states = ", ".join(f"Tensor? {name}" for name in self.states)
        return f"(Tensor input, {states}, {_WEIGHTS}, {_NUMBERS}, {self.own}"

    def results(self, sequence: bool) -> list[str]:
        """Their names."""
        return [*(["sequence"] if sequence else []), *(f"{name}_after" for name in self.states)]


RECURRENT: dict[str, Recurrent] = {
    "lstm": Recurrent(ops.Lstm, ("hidden", "cell"), "int cell_bits"),
    "gru": Recurrent(ops.Gru, ("hidden",), "int state_bits"),
    "rnn": Recurrent(ops.Rnn, ("hidden",), "bool relu"),
}
"""By their names in the library."""


def register(library: torch.library.Library, namespace: str) -> None:
    """Define all of them, and their twins, in `library`."""
    define: Any = library.define
    implement: Any = library.impl
    for kind, each in RECURRENT.items():
        for sequence in (True, False):
            name = kind if sequence else kind + LAST
            results = each.results(sequence)
            given = "Tensor" if len(results) == 1 else f"({', '.join(['Tensor'] * len(results))})"
            outs = [f"Tensor({chr(97 + k)}!)" for k in range(len(results))]
            written = ", ".join(
                f"{out} {result}" for out, result in zip(outs, results, strict=True)
            )
            returned = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
            define(f"{name}{each.arguments}) -> {given}")
            define(f"{name}.out{each.arguments}, *, {written}) -> {returned}")
            torch.library.register_fake(f"{namespace}::{name}", _meta(each, sequence), lib=library)
            implement(name, _reference(each, sequence), "CompositeExplicitAutograd")


def _meta(each: Recurrent, sequence: bool) -> Callable[..., Any]:
    def meta(x: Tensor, *rest: Any) -> Any:
        w_hh, batch_first = rest[len(each.states) + 1], rest[len(each.states) + 4]
        size, batch = w_hh.shape[1], x.shape[0 if batch_first else 1]
        results = [x.new_empty(*x.shape[:2], size)] if sequence else []
        results += [x.new_empty(batch, size, dtype=dtype) for dtype in _types(each, x)]
        return results[0] if len(results) == 1 else tuple(results)

    return meta


def _types(each: Recurrent, x: Tensor) -> list[torch.dtype]:
    """Of the states."""
    if each.attrs is ops.Lstm:
        return [x.dtype, torch.int16]
    return [torch.int16 if each.attrs is ops.Gru else x.dtype]


def _reference(each: Recurrent, sequence: bool) -> Callable[..., Any]:
    def compute(x: Tensor, *rest: Any) -> Any:
        count = len(each.states)
        before, (w_ih, w_hh, bias, multipliers) = rest[:count], rest[count : count + 4]
        batch_first, reverse, x_zero_point, h_zero_point, *shifts, multiplier, out_shift, own = (
            rest[count + 4 :]
        )
        attrs = each.attrs(  # type: ignore[call-arg]
            batch_first,
            reverse,
            sequence,
            x_zero_point,
            h_zero_point,
            *shifts,
            tuple(multipliers.tolist()),
            multiplier,
            out_shift,
            own,
        )
        shape = x.shape[0 if batch_first else 1], w_hh.shape[1]
        states = [
            _zeros(shape, dtype, h_zero_point) if state is None else state.numpy()
            for state, dtype in zip(before, _types(each, x), strict=True)
        ]
        weights = [each.numpy() for each in (w_ih, w_hh, bias)]
        found = attrs.compute((), x.contiguous().numpy(), *states, *weights)
        results = found if isinstance(found, list) else [found]
        tensors = [torch.from_numpy(np.ascontiguousarray(result)) for result in results]
        return tensors[0] if len(tensors) == 1 else tuple(tensors)

    return compute


def _zeros(shape: tuple[int, int], dtype: torch.dtype, zero_point: int) -> np.ndarray[Any, Any]:
    """The codes of zeros: what has 16 bits is symmetric."""
    if dtype is torch.int16:
        return np.zeros(shape, np.int16)
    return np.full(shape, zero_point, np.int8)
