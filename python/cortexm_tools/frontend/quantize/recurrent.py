# SPDX-License-Identifier: Apache-2.0
"""Which codes the values of recurrent layers have.

What a layer reads and gives has the codes of its precision. What it keeps from step to step beside
that (an LSTM's cell state, the state of a GRU) has int16 codes whose scale is a power of two, in every
precision: a step changes it by a small part of itself, which 8 bits would lose. States that come
in have the codes of those that go out, so that the next step, or the next call, begins with the very
codes that this one ended with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from operator import getitem
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..rewrites.recurrent_operators import GRU, LSTM, OPERATORS, RNN, is_kept
from .simulate import grid_of, is_observer
from .state_ranges import Point, root_of, set_spec, spec_at

KEPT_BITS = 16

LEAST_EXPONENT = -15
"""Of the scale of what is kept: 16 bits of a number below 1."""

STATES: Mapping[Any, Mapping[int, int]] = {
    LSTM: {1: 0, 2: 1},
    GRU: {1: 1, 2: 0},
    RNN: {1: 0},
}
"""By operator: for the position of each initial state the number of the result that has its codes."""

CODED = "cortexm_coded"
"""Key in ``node.meta`` of what gives codes: scale, zero point, and so on, as in ``quantize_per_tensor``."""

UNREAD = "cortexm_unread"
"""Key in ``node.meta`` of the operators: the same of their results that nothing reads, by number."""

_KEPT = 1  # the number of the result that is kept


@cache
def kept_spec() -> Any:
    """The codes of what a layer keeps: the scale is the smallest power of two with which no value leaves
    them."""
    from torchao.quantization.pt2e import MinMaxObserver
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    class PowerOfTwoObserver(MinMaxObserver):  # type: ignore[misc]
        def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
            largest = max(abs(float(self.min_val)), abs(float(self.max_val)))
            exponent = LEAST_EXPONENT
            if math.isfinite(largest) and largest > 0:
                exponent = max(exponent, math.ceil(math.log2(largest / self.quant_max)))
            return torch.tensor([2.0**exponent]), torch.zeros(1, dtype=torch.int64)

    return QuantizationSpec(
        dtype=torch.int16,
        observer_or_fake_quant_ctr=PowerOfTwoObserver,
        qscheme=torch.per_tensor_symmetric,
        quant_min=-(2**15),
        quant_max=2**15 - 1,
    )


def width_given(node: Node, bits: int | None) -> int | None:
    """The bits of the codes of `node`, a result of an operator that computes with `bits`."""
    return KEPT_BITS if bits != 0 and is_kept(node) else bits


def width_read(source: Node, reader: Node, bits: int) -> int:
    """The bits of the codes in which `reader`, which computes with `bits`, reads `source`."""
    keeps = any(
        number == _KEPT and reader.args[position] is source
        for position, number in STATES.get(reader.target, {}).items()
    )
    return KEPT_BITS if bits and keeps else bits


def show_results(model: GraphModule) -> None:
    """Take all results of the recurrent layers of `model`: of those that nothing reads the range must be
    known, too."""
    for node in list(model.graph.nodes):
        if node.target not in (LSTM, GRU):
            continue
        missing = {0, 1} - {user.args[1] for user in node.users}
        for number in sorted(missing):
            with node.graph.inserting_after(node):
                part = node.graph.call_function(getitem, (node, number))
            part.meta = {**node.meta, "val": node.meta["val"][number], "custom": {}}


def annotate_recurrent(
    model: GraphModule, widths: Mapping[Node, int], spec_of: Callable[[int], Any]
) -> None:
    """Annotate the recurrent layers of `model` in codes.

    Args:
        widths: the bits with which calls compute.
        spec_of: a type of codes by its bits.
    """
    from executorch.backends.cortex_m.quantizer.quantizer import mark_node_as_annotated
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    for node in list(model.graph.nodes):
        if node.target not in OPERATORS or not widths[node]:
            continue
        codes = spec_of(widths[node])
        specs = [codes] if node.target is RNN else [codes, kept_spec()]
        operands = {node.args[0]: codes}
        # A state that comes in is seen before those that go out, which share its codes.
        for position, number in STATES[node.target].items():
            source = node.args[position]
            if isinstance(source, Node):
                operands[source] = specs[number]
                specs[number] = SharedQuantizationSpec((source, node))
        if node.target is RNN:
            mark_node_as_annotated(node, operands, specs[0], True)
            continue
        mark_node_as_annotated(node, operands, None, True)
        for part in node.users:
            mark_node_as_annotated(part, {}, specs[part.args[1]], True)


def keep_from_inputs_to_outputs(model: GraphModule) -> None:
    """Give inputs and outputs that are kept states their very codes, once all of `model` is annotated."""
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    for node in model.graph.find_nodes(op="placeholder"):
        edges = [(node, user) for user in node.users if _has_16_bits((node, user))]
        if _has_16_bits(node) and edges and all(map(_is_kept_at, edges)):
            set_spec(node, kept_spec())
    output = model.graph.output_node()
    for node in output.all_input_nodes:
        if spec_at((node, output)) is not None and _is_kept_at(node):
            set_spec((node, output), SharedQuantizationSpec(root_of(node)))


def _has_16_bits(point: Point) -> bool:
    return spec_at(point) is not None and spec_at(root_of(point)).dtype is torch.int16


def _is_kept_at(point: Point) -> bool:
    return spec_at(point) is not None and spec_at(root_of(point)) == kept_spec()


def note_codes(prepared: GraphModule) -> None:
    """Note the codes of those results that nothing reads, before the conversion drops their observers.

    Args:
        prepared: a model of prepare_pt2e after calibration.
    """
    for node in prepared.graph.nodes:
        if node.target not in OPERATORS:
            continue
        node.meta[UNREAD] = {}
        for part in [node] if node.target is RNN else node.users:
            for user in part.users:
                if is_observer(prepared, user) and not user.users:
                    grid = grid_of(prepared, user)
                    assert grid is not None
                    number = 0 if node.target is RNN else part.args[1]
                    node.meta[UNREAD][number] = grid.codes
