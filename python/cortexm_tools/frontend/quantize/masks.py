# SPDX-License-Identifier: Apache-2.0
"""The codes of scores of which a mask leaves some out of a softmax.

What a mask leaves out becomes minus infinity, or a number like -1e9, and that the lowest code, which
should be as good: no share of the softmax. So the codes do not reach from the least score to the largest,
but begin below the least of all rows' maxima, at most by the distance at which a share has become too small
to count, log(2^bits n) for rows of n; of several such ranges that one is taken with which the shares of the
calibration inputs are nearest. Scores that are lower still have the lowest code as well, as they have no
share either.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..rewrites.unary import STAND_IN
from .state_ranges import Point, place_of, root_of, set_spec, spec_at

_aten = torch.ops.aten

_SHARES = (_aten.softmax.int, _aten._softmax.default)
_CHOICES = (_aten.where.self, _aten.where.ScalarOther, _aten.where.ScalarSelf)
_FILLS = (_aten.full.default, _aten.full_like.default)
_SHAPES = (_aten.view.default, _aten.reshape.default)
_MOVES = (*_SHAPES, _aten.permute.default, _aten.index_select.default)
_MASKS = (*_CHOICES, _aten.masked_fill.Scalar, _aten.masked_fill.Tensor)

_SCALINGS = (STAND_IN, _aten.mul.Tensor, _aten.div.Tensor, _aten.add.Tensor)

_LOW = -1000.0  # what no score is
_ROWS = 4096  # to look at, of a call and of all
_TRIES = 16


def give_masks_a_code(model: GraphModule) -> None:
    """Let the codes of masked scores have one that stands for no share.

    Args:
        model: is annotated.
    """
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    positions = {node: number for number, node in enumerate(model.graph.nodes)}
    for node in model.graph.nodes:
        scores = node.args[0] if node.target in _SHARES else None
        if not isinstance(scores, Node) or not _is_masked(model, _with_rows(scores, node)):
            continue
        points: list[Point] = [(scores, node), *_before(scores)]
        roots = {root_of(point): None for point in points if spec_at(point) is not None}
        first, *others = sorted(roots, key=lambda point: place_of(point, positions))
        spec = spec_at(first)
        if any(getattr(spec_at(root), "dtype", None) is not spec.dtype for root in roots):
            continue
        if getattr(spec, "observer_or_fake_quant_ctr", None) is None:
            continue
        for root in others:
            set_spec(root, SharedQuantizationSpec(first))
        axis = int(node.args[1])
        observer = observer_of(-1 if axis == scores.meta["val"].dim() - 1 else axis)
        set_spec(first, replace(spec, observer_or_fake_quant_ctr=observer))


def _before(scores: Node) -> list[Point]:
    """Where `scores` are given and taken, up to what computes them before the mask, if nothing else reads
    them."""
    points: list[Point] = [] if spec_at(scores) is None else [scores]
    for value in scores.all_input_nodes if scores.target in (*_MASKS, *_MOVES) else ():
        points += [(value, scores)] if spec_at((value, scores)) is not None else []
        points += _before(value) if len(value.users) == 1 else []
    return points


def masked_scores(model: GraphModule) -> set[Node]:
    """What gives scores of which a mask leaves some out: their codes are far from them on purpose."""
    found: set[Node] = set()
    for node in model.graph.nodes:
        scores = node.args[0] if node.target in _SHARES else None
        if isinstance(scores, Node) and _is_masked(model, _with_rows(scores, node)):
            found |= _sources(scores)
    return found


def _sources(scores: Node) -> set[Node]:
    if scores.target not in (*_MASKS, *_SHAPES, *_SCALINGS):
        return set()
    own = {value for value in scores.all_input_nodes if len(value.users) == 1}
    return own.union(*map(_sources, own))


def _with_rows(scores: Node, reader: Node) -> Node:
    """What has the rows of `scores` in another shape."""
    axis: Any = reader.args[1]
    length = scores.meta["val"].shape[axis]
    while scores.target in _SHAPES and axis in (-1, scores.meta["val"].dim() - 1):
        before: Any = scores.args[0]
        if len(scores.users) > 1 or before.meta["val"].shape[-1] != length:
            break
        scores, axis = before, -1
    return scores


def _is_masked(model: GraphModule, scores: Node) -> bool:
    """Whether some of `scores` are left out, whatever the others are."""
    if scores.target not in _MASKS:
        return False
    return any(_is_lowest(model, value) for value in scores.args[1:])


def _is_lowest(model: GraphModule, value: Any) -> bool:
    while isinstance(value, Node) and value.op == "call_function" and value.args:
        value = value.args[-1] if value.target in _FILLS else value.args[0]
    if isinstance(value, Node) and value.op == "get_attr":
        value = attrgetter(str(value.target))(model)
    if isinstance(value, torch.Tensor):
        return value.is_floating_point() and bool((value <= _LOW).all())
    return isinstance(value, int | float) and value <= _LOW


@cache
def observer_of(axis: int) -> Any:
    """The class of observers of scores, whose rows lie along `axis`."""
    from torchao.quantization.pt2e import MinMaxObserver

    class ScoresObserver(MinMaxObserver):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.rows: list[torch.Tensor] = []
            self.has_masked = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rows = x.detach().movedim(axis, -1)
            rows = rows.reshape(-1, rows.shape[-1])
            is_masked = bool((rows <= _LOW).any())
            rows = rows[rows.amax(-1) > _LOW]  # others are left out altogether
            if is_masked and not self.has_masked:
                self.rows, self.has_masked = [], True
            if is_masked == self.has_masked and len(rows):
                self.rows.append(rows[:: -(-len(rows) // _ROWS)])
            return x

        def calculate_qparams(self) -> Any:
            if self.rows:
                by_length: dict[int, list[torch.Tensor]] = {}
                for rows in self.rows:
                    by_length.setdefault(rows.shape[-1], []).append(rows)
                self.rows = []
                every = [torch.cat(group) for group in by_length.values()]
                super().forward(
                    _range_of([rows[:: -(-len(rows) // _ROWS)] for rows in every], self)
                )
            return super().calculate_qparams()

    return ScoresObserver


def _range_of(every: list[torch.Tensor], observer: Any) -> torch.Tensor:
    """The least and the largest value with codes with which the shares of all rows are nearest.

    Args:
        every: rows of one length each, [count, length]; several where softmaxes along several axes read the
            same scores.
    """
    largest = max(rows.max() for rows in every)
    codes = observer.quant_max - observer.quant_min
    lowest = min(rows.amax(-1).min() - math.log((codes + 1) * rows.shape[-1]) for rows in every)
    shares = [rows.softmax(-1) for rows in every]
    best = math.inf, lowest
    for part in range(_TRIES):
        least = largest - (largest - lowest) * (1 - part / _TRIES)
        step = (largest - least) / codes
        noise = 0.0
        for rows, exact in zip(every, shares, strict=True):
            coded = ((rows.clamp(least, largest) - least) / step).round() * step
            noise += float((coded.softmax(-1) - exact).square().sum())
        best = min(best, (noise, least), key=lambda each: each[0])
    return torch.stack((best[1], largest))
