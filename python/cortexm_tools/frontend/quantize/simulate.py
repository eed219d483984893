# SPDX-License-Identifier: Apache-2.0
"""Running a prepared model, whose observers know all ranges, as it will be once it is converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.nn import Module

COMPUTED_WITH = "cortexm_computed_with"
"""Key in ``node.meta`` of the arguments, by their names, with which a call computes once it is on codes."""


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside the block: sums of floats depend on how work is split among several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Simulation(Interpreter):
    """`prepared` with the values of its observers quantized.

    Args:
        prepared: a model of prepare_pt2e after calibration.
        activations, weights: whether these are quantized; biases are not, as 32 bits change little.
        grids: of activations by their observers' names, as far as they are known: an observer takes
            long to say its own.
        watched: observers, each with a function that gets its values as they are computed.
    """

    def __init__(
        self,
        prepared: GraphModule,
        *,
        activations: bool = True,
        weights: bool = True,
        grids: dict[str, Grid | None] | None = None,
        watched: Mapping[Node, Callable[[torch.Tensor], None]] | None = None,
    ) -> None:
        super().__init__(prepared)
        self._quantized = {True: weights, False: activations}
        self._watched = watched or {}
        self._grids = {} if grids is None else grids
        self._constants: dict[Node, torch.Tensor] = {}

    def run_node(self, n: Node) -> Any:
        if COMPUTED_WITH in n.meta and self._quantized[True]:
            return self._run_with(n, n.meta[COMPUTED_WITH])
        if not is_observer(self.module, n):
            return super().run_node(n)
        assert isinstance(n.target, str)
        value = self.env[n.all_input_nodes[0]]
        constant = n.all_input_nodes[0].op == "get_attr"
        if self._quantized[constant] and isinstance(value, torch.Tensor):
            if not constant:
                if n.target not in self._grids:
                    self._grids[n.target] = grid_of(self.module, n)
                grid = self._grids[n.target]
                value = value if grid is None else grid.rounded(value)
            else:
                if n not in self._constants:
                    grid = grid_of(self.module, n)
                    self._constants[n] = value if grid is None else grid.rounded(value)
                value = self._constants[n]
        if n in self._watched:
            self._watched[n](value)
        return value

    def _run_with(self, n: Node, given: Mapping[str, torch.Tensor]) -> Any:
        args, _ = self.fetch_args_kwargs_from_env(n)
        target: Any = n.target
        names = (argument.name for argument in target._schema.arguments)
        return target(*(given.get(name, each) for name, each in zip(names, args, strict=True)))


class Grid:
    """The values that an observer's tensor can have: (q - z) s for codes q.

    Attributes:
        step: s, float32; a scalar, or one for each channel.
        zero_point: z, likewise.
        least, most: of the codes.
        axis: of the channels.
    """

    def __init__(self, observer: Any) -> None:
        scale, zero_point = observer.calculate_qparams()
        self.step = scale.detach().float()
        self.zero_point = zero_point.detach().float()
        kind = torch.iinfo(observer.dtype)
        self.least = kind.min if observer.quant_min is None else int(observer.quant_min)
        self.most = kind.max if observer.quant_max is None else int(observer.quant_max)
        self.axis = getattr(observer, "ch_axis", 0) if self.step.numel() > 1 else 0
        self.dtype: torch.dtype = observer.dtype

    @property
    def codes(self) -> tuple[float, int, int, int, torch.dtype]:
        """The arguments of ``quantize_per_tensor`` behind the first."""
        return float(self.step), int(self.zero_point), self.least, self.most, self.dtype

    def rounded(self, x: torch.Tensor) -> torch.Tensor:
        """`x` with every element as its code gives it."""
        shape = [1] * x.dim()
        if self.step.numel() > 1:
            shape[self.axis] = -1
        step, zero_point = self.step.reshape(shape), self.zero_point.reshape(shape)
        codes = torch.clamp(torch.round(x / step) + zero_point, self.least, self.most)
        rounded: torch.Tensor = (codes - zero_point) * step
        return rounded


def is_observer(module: Module, node: Node) -> bool:
    """Whether `node` is a call of an observer."""
    if node.op != "call_module":
        return False
    assert isinstance(node.target, str)
    return hasattr(module.get_submodule(node.target), "calculate_qparams")


def grid_of(module: Module, node: Node) -> Grid | None:
    """The grid of an observer; None of one for biases or without a range."""
    assert isinstance(node.target, str)
    observer: Any = module.get_submodule(node.target)
    if observer.dtype in (torch.int8, torch.uint8, torch.int16):
        return Grid(observer)
    return None
