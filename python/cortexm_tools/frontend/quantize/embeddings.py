# SPDX-License-Identifier: Apache-2.0
"""Tables of embeddings as codes with a scale for each row, where that is what is stored.

A table that is also the matrix of a layer gets the values of this layer's codes: so both are one constant
on the device (simplify/embeddings.py). One with weights of 4 bits gets codes from -7 to 7, each row with
the scale that leaves the smallest error. All others stay as they are: they are looked up as codes of the
result's scale.

A row's scale is so many parts of the result's step that its codes, multiplied by an integer and shifted,
are the result's: no value lies halfway between two of them, where floats round to even codes.
"""

from __future__ import annotations

import math
from collections.abc import Container
from operator import attrgetter

import torch
from torch.fx import GraphModule, Node

from .columns import WEIGHTED
from .simulate import Grid, grid_of, is_observer
from .tags import tag_of

EMBEDDING = torch.ops.aten.embedding.default

_SHRUNK = tuple(1 - k / 50 for k in range(16))  # scales to try, of the one that cuts nothing off
_AXIS = 0
_SHIFT = 14  # a row's scale is a number of 2^-14 of the result's step
_MULTIPLIERS = 1 << 22  # above all of these numbers: see cortexm_embedding_t


def round_tables(prepared: GraphModule, four_bits: Container[int]) -> None:
    """Gives the embeddings of `prepared` tables that are codes, where they are to be.

    Args:
        prepared: a model of prepare_pt2e after calibration.
        four_bits: the tags of calls with weights of 4 bits.
    """
    matrices = _matrices(prepared)
    made: dict[tuple[int, int, float], str] = {}
    for node in list(prepared.graph.nodes):
        table = table_of(prepared, node)
        grid = _result(prepared, node)
        if table is None or grid is None:
            continue
        weights = matrices.get(table.data_ptr())
        if weights is not None and weights.step.numel() in (1, len(table)):
            scales, most = weights.step.expand(len(table)), weights.most
        elif tag_of(node) in four_bits:
            scales, most = _scales(table), 7
        else:
            continue
        step = float(grid.step)
        key = table.data_ptr(), most, step
        if key not in made:
            made[key] = f"_cortexm_table_{len(made)}"
            codes = _codes(table, scales, most)
            prepared.register_buffer(made[key], _values(codes, scales, step))
        with prepared.graph.inserting_before(node):
            source = prepared.graph.get_attr(made[key])
        source.meta = dict(node.args[0].meta)
        node.replace_input_with(node.args[0], source)
    if made:
        prepared.recompile()


def table_of(module: GraphModule, node: Node) -> torch.Tensor | None:
    """The matrix that an embedding looks rows up in; None if it is none, or computed."""
    if node.target is not EMBEDDING:
        return None
    source = node.args[0]
    if not isinstance(source, Node) or source.op != "get_attr":
        return None
    value = attrgetter(str(source.target))(module)
    return value if isinstance(value, torch.Tensor) else None


def _matrices(prepared: GraphModule) -> dict[int, Grid]:
    """The grids of the weights of linear layers, by the place of the weights in memory."""
    found = {}
    for node in prepared.graph.nodes:
        observer = node.args[1] if node.target in WEIGHTED else None
        if not isinstance(observer, Node) or not is_observer(prepared, observer):
            continue
        source = observer.all_input_nodes[0]
        if source.op == "get_attr":
            weight = attrgetter(str(source.target))(prepared)
            grid = Grid(prepared.get_submodule(str(observer.target)))
            if grid.axis == _AXIS and not grid.zero_point.any():
                found[weight.data_ptr()] = grid
    return found


def _result(prepared: GraphModule, node: Node) -> Grid | None:
    """The grid of what is looked up; None if it is no codes."""
    for user in node.users:
        if is_observer(prepared, user):
            grid = grid_of(prepared, user)
            return grid if grid is not None and grid.step.numel() == 1 else None
    return None


def _scales(table: torch.Tensor) -> torch.Tensor:
    """For each row the scale with the smallest squared error of codes from -7 to 7."""
    widest = table.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny * 8) / 7
    tries = torch.stack([widest * factor for factor in _SHRUNK])
    errors = [
        (_codes(table, scales, 7) * scales[:, None] - table).square().sum(1) for scales in tries
    ]
    best = torch.stack(errors).argmin(0)
    return tries.gather(0, best[None])[0]


def _codes(table: torch.Tensor, scales: torch.Tensor, most: int) -> torch.Tensor:
    """The codes nearest to a table, as ExecuTorch rounds weights."""
    zeros = torch.zeros_like(scales, dtype=torch.int64)
    shape = scales.double(), zeros, _AXIS, -most, most, torch.int8
    codes: torch.Tensor = torch.ops.quantized_decomposed.quantize_per_channel.default(
        table.float(), *shape
    )
    return codes


def _values(codes: torch.Tensor, scales: torch.Tensor, step: float) -> torch.Tensor:
    """What rows of codes stand for, where the result has such a step."""
    ratios = scales.double() / step
    shift = min(_SHIFT, math.floor(math.log2(_MULTIPLIERS / float(ratios.max()))))
    if shift < 1:  # a result without range
        return codes * scales.float()[:, None]
    one = 1 << shift
    factors = torch.round(ratios * one).long()
    for distance in range(1, 9):
        halfway = (codes.long() * factors[:, None] % one == one // 2).any(1)
        step_aside = distance if distance % 2 else -distance
        factors = (factors + halfway * step_aside).clamp(min=0)
    return (codes.double() * factors[:, None] * (step / one)).float()
