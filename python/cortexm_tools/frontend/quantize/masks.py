# SPDX-License-Identifier: Apache-2.0
"""The codes of scores of which a mask leaves some out of a softmax.

What a mask leaves out becomes minus infinity, or a number like -1e9, and that the lowest code, which
should be as good: no share of the softmax. So the codes do not reach from the least score to the largest,
but begin a distance below the least of all rows' maxima in which a share has become too small to count,
log(2^bits n) for rows of n. Scores that are lower still have the lowest code as well, as they have no share
either.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .state_ranges import Point, place_of, root_of, set_spec, spec_at

_aten = torch.ops.aten

_SHARES = (_aten.softmax.int, _aten._softmax.default)
_CHOICES = (_aten.where.self, _aten.where.ScalarOther, _aten.where.ScalarSelf)
_FILLS = (_aten.full.default, _aten.full_like.default)
_MASKS = (*_CHOICES, _aten.masked_fill.Scalar, _aten.masked_fill.Tensor)

_LOW = -1000.0  # what no score is


def give_masks_a_code(model: GraphModule) -> None:
    """Let the codes of masked scores have one that stands for no share.

    Args:
        model: is annotated.
    """
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    positions = {node: number for number, node in enumerate(model.graph.nodes)}
    for node in model.graph.nodes:
        scores = node.args[0] if node.target in _SHARES else None
        if not isinstance(scores, Node) or not _is_masked(model, scores):
            continue
        points: list[Point] = [(scores, node), scores, *_unmasked(scores)]
        roots = {root_of(point): None for point in points if spec_at(point) is not None}
        first, *others = sorted(roots, key=lambda point: place_of(point, positions))
        spec = spec_at(first)
        if any(getattr(spec_at(root), "dtype", None) is not spec.dtype for root in roots):
            continue
        if getattr(spec, "observer_or_fake_quant_ctr", None) is None:
            continue
        for root in others:
            set_spec(root, SharedQuantizationSpec(first))
        observer = observer_of(int(node.args[1]))
        set_spec(first, replace(spec, observer_or_fake_quant_ctr=observer))


def _unmasked(scores: Node) -> list[Point]:
    """Where the scores before the mask are given and taken, if nothing else reads them."""
    points: list[Point] = []
    for value in scores.all_input_nodes:
        points += [(value, scores)] if spec_at((value, scores)) is not None else []
        points += [value] if len(value.users) == 1 and spec_at(value) is not None else []
    return points


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
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            length, codes = x.shape[axis], self.quant_max - self.quant_min + 1
            largest = x.detach().amax(axis).flatten()
            largest = largest[largest > _LOW]  # of rows that are not left out altogether
            if len(largest):
                least = largest.min() - math.log(codes * length)
                super().forward(torch.stack((least, largest.max())))
            return x

    return ScoresObserver
