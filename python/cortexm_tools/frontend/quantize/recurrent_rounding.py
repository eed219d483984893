# SPDX-License-Identifier: Apache-2.0
"""Rounds the weights of recurrent layers by what their steps read on the calibration samples.

A step multiplies its weights with the codes of its inputs and of the h of the step before
(recurrent_weights.py), so its sums are those of a linear layer that reads both, in the order of the steps,
and are rounded as those are (rounding.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, cast

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from ...ir.types import DType
from ...pte.rounded import RoundedLayer
from ..rewrites.recurrent_operators import GRU, OPERATORS, RNN
from .columns import argument, spread_evenly
from .gptq import Chosen, Moments, choose_codes
from .recurrent_weights import (
    Codes,
    FloatWeights,
    Part,
    RoundedPart,
    as_floats,
    codes_of,
    parts_of,
    scales_of,
    to_nearest,
)
from .simulate import COMPUTED_WITH, Grid, grid_of, is_observer

MOST = "cortexm_most_weight"
"""Key in ``node.meta`` of the float operators: the largest code of a weight, 127 or 7."""

ROUNDED = "cortexm_rounded_weights"
"""The same: the parts of a layer whose weights were rounded by its inputs; else they become the nearest
codes."""


def float_weights(module: GraphModule, call: Node) -> FloatWeights:
    """The weights of a float operator; biases that it does not have are zeros."""

    def value(name: str) -> Tensor:
        node = argument(call, name)
        if node is None:
            return torch.zeros(len(value("w_hh")), dtype=torch.float64)
        return cast(Tensor, attrgetter(node.target)(module)).detach().double()

    return FloatWeights(value("w_ih"), value("w_hh"), value("b_ih"), value("b_hh"))


def relu_unit(call: Node, most: int, zero_point: int, scale: float) -> float | None:
    """The h that an RNN's 1 means where nothing else limits it: the largest one; None of others.

    Args:
        most, zero_point, scale: of the codes of h.
    """
    is_relu = call.target is RNN and argument(call, "relu")
    return float(most - zero_point) * scale if is_relu else None


@dataclass
class RecurrentLayer:
    """Calls with the same weights and the same codes of what they read.

    Attributes:
        reads: the observers of x, of h after every step, and of h before the first, of each call.
        h_step: of the codes of h; x_step: of x.
    """

    calls: list[Node]
    codes: Codes
    most: int
    weights: FloatWeights
    reads: list[tuple[Node, Node, Node | None]] = field(default_factory=list)
    chosen_by: Moments = field(init=False)
    held_back: Moments = field(init=False)

    def __post_init__(self) -> None:
        size = self.weights.w_ih.shape[1] + self.weights.w_hh.shape[1]
        self.chosen_by, self.held_back = Moments.none(1, size), Moments.none(1, size)

    @property
    def first(self) -> Node:
        return self.calls[0]

    @property
    def parts(self) -> list[Part]:
        return parts_of(self.first.target, self.weights, self.codes)

    def take(self, parts: list[RoundedPart]) -> None:
        """Have the calls compute with these weights, and become operators on them."""
        floats = as_floats(parts, self.weights.w_ih.shape[1], self.codes)
        for call in self.calls:
            call.meta[ROUNDED] = parts
            names = ("w_ih", "w_hh", "b_ih", "b_hh")
            call.meta[COMPUTED_WITH] = {name: getattr(floats, name).float() for name in names}

    def take_nearest(self) -> None:
        self.take(to_nearest(self.parts, self.codes.dtype, self.most))


def find_recurrent(prepared: GraphModule, largest_size: int) -> list[RecurrentLayer]:
    """The recurrent layers on codes, in the order of their first calls.

    Args:
        largest_size: of the inputs of a sum.
    """
    found: dict[Any, RecurrentLayer] = {}
    for call in prepared.graph.nodes:
        if call.target not in OPERATORS or not is_observer(prepared, call.args[0]):
            continue
        result = call if call.target is RNN else next(u for u in call.users if u.args[1] == 0)
        shown = next(user for user in result.users if is_observer(prepared, user))
        x, h = grid_of(prepared, call.args[0]), grid_of(prepared, shown)
        if x is None or h is None:
            continue
        weights = float_weights(prepared, call)
        if weights.w_ih.shape[1] + weights.w_hh.shape[1] > largest_size:
            continue
        codes = _codes(call, x, h, weights)
        names = [str(argument(call, name)) for name in ("w_ih", "w_hh", "b_ih", "b_hh")]
        layer = found.setdefault(
            (call.target, *names, codes), RecurrentLayer([], codes, call.meta[MOST], weights)
        )
        before = argument(call, "shown" if call.target is GRU else "h0")
        layer.calls.append(call)
        layer.reads.append((call.args[0], shown, before))
    return list(found.values())


def _codes(call: Node, x: Grid, h: Grid, weights: FloatWeights) -> Codes:
    unit = relu_unit(call, h.most, int(h.zero_point), float(h.step))
    dtype = DType.S16 if h.dtype is torch.int16 else DType.S8
    return codes_of(dtype, weights, float(x.step), float(h.step), unit)


def watch(
    layers: Iterable[RecurrentLayer], is_held: Callable[[], bool], most: Callable[[int], int]
) -> list[tuple[Node, Callable[[Tensor], None]]]:
    """What observers have to call so that every layer's moments are counted.

    Args:
        is_held: whether the sample that runs is held back.
        most: how many positions of a sample count, by the inputs of a sum.
    """
    watched: list[tuple[Node, Callable[[Tensor], None]]] = []
    for layer in layers:
        for call, (x, h, before) in zip(layer.calls, layer.reads, strict=True):
            seen: dict[str, Tensor] = {}
            watched.append((x, partial(seen.__setitem__, "x")))
            if before is not None:
                watched.append((before, partial(seen.__setitem__, "before")))

            def add(
                value: Tensor,
                layer: RecurrentLayer = layer,
                call: Node = call,
                seen: dict[str, Tensor] = seen,
            ) -> None:
                size = layer.chosen_by.total.shape[-1]
                read = _columns(call, seen["x"], value, seen.get("before"), layer.codes, most(size))
                (layer.held_back if is_held() else layer.chosen_by).add(read)

            watched.append((h, add))
    return watched


def _columns(
    call: Node, x: Tensor, h: Tensor, before: Tensor | None, codes: Codes, most: int
) -> Tensor:
    """The codes, less their zero points, of x and of the h before it at most `most` steps, [1, N, P]."""
    if argument(call, "batch_first"):
        x, h = x.transpose(0, 1), h.transpose(0, 1)
    if argument(call, "reverse"):
        x, h = x.flip(0), h.flip(0)
    first = torch.zeros_like(h[0]) if before is None else before
    earlier = torch.cat([first[None], h[:-1]])
    read = torch.cat([x / codes.x_scale, earlier / codes.h_scale], -1)
    vectors = torch.round(read.reshape(-1, read.shape[-1]))
    return vectors[spread_evenly(len(vectors), most)].T[None]


@dataclass
class RecurrentChoice:
    """New codes for a layer; the report says whether to take them."""

    report: RoundedLayer
    parts: list[RoundedPart]


def round_recurrent(
    layer: RecurrentLayer,
    has_held_back: bool,
    report: Callable[[Node, int, list[Chosen], bool], RoundedLayer],
) -> RecurrentChoice:
    """Codes for a layer by its moments; they are to be taken if they are better.

    Args:
        report: from the call, the largest code, what was chosen, and whether it is to be taken.
    """
    parts = layer.parts
    found = []
    for part, scales in zip(parts, scales_of(parts, layer.codes.dtype, layer.most), strict=True):
        chosen_by = layer.chosen_by.of(part.inputs).scaled(part.counts)
        judged_by = (
            layer.held_back.of(part.inputs).scaled(part.counts) if has_held_back else chosen_by
        )
        step = scales[None, :, None]
        chosen = choose_codes(
            part.matrix[None], step, layer.most, chosen_by, judged_by, has_bias=True
        )
        bias = part.bias + chosen.shift[0]
        rounded = RoundedPart(chosen.codes[0], part.counts, scales * chosen.shrunk[0, :, 0], bias)
        found.append((chosen, rounded))
    chosen_parts = [chosen for chosen, _ in found]
    taken = all(each.fits for each in chosen_parts) and sum(
        each.noise for each in chosen_parts
    ) < sum(each.nearest for each in chosen_parts)
    return RecurrentChoice(
        report(layer.first, layer.most, chosen_parts, taken), [rounded for _, rounded in found]
    )
