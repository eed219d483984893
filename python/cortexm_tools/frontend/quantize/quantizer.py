# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Cortex-M quantizer, taught more operators, centered weights, precisions and states."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import fields, replace
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..capture.state import State
from ..rewrites.bytes import byte_chains
from ..rewrites.unary import STAND_IN
from .borders import (
    ChosenNodes,
    Widths,
    annotate_outputs,
    end_sharing_at_borders,
    find_widths,
    keep_float,
    stays_float,
)
from .bytes import annotate_bytes, read_as_bytes
from .choice import Choices, check_named
from .masks import give_masks_a_code
from .norms import annotate_norms
from .recurrent import annotate_recurrent, keep_from_inputs_to_outputs, show_results
from .scales import read_shares_as_they_are
from .sound import annotate_spectra, energies, sounds
from .state_ranges import share_ranges
from .tags import tag_of
from .wide import wide_quantizers

_aten = torch.ops.aten

EXTRA_UNARY = (
    _aten.leaky_relu.default,
    _aten.leaky_relu_.default,
    _aten.elu.default,
    _aten.elu_.default,
    _aten.hardsigmoid.default,
    _aten.hardsigmoid_.default,
    _aten.exp.default,
    _aten.neg.default,
    _aten.abs.default,
)
"""Functions of one tensor, in addition to ExecuTorch's patterns."""

# What moves values without changing them, or between them, in addition to ExecuTorch's list.
_EXTRA_SHARED = (
    _aten.argmax.default,
    _aten.argmin.default,
    _aten.topk.default,
    _aten.roll.default,
    _aten.narrow.default,
    _aten.movedim.int,
    _aten.swapaxes.default,
    _aten.channel_shuffle.default,
    _aten.expand_as.default,
    _aten.tensor_split.sections,
    _aten.unsafe_split.Tensor,
    _aten.upsample_bilinear2d.vec,
)


def make_quantizer(
    states: tuple[State, ...],
    largest: Callable[[Node], int] = lambda node: 127,
    choices: Choices | None = None,
    apart: Callable[[GraphModule, Widths], Container[Node]] = lambda model, widths: (),
) -> Any:
    """A quantizer for graphs that take and give `states`.

    Args:
        largest: the largest code of a layer's weights, 127, or 7 for weights of 4 bits.
        choices: the precisions of calls by their tags; None for int8 everywhere.
        apart: which calls of a graph, with its codes, join values that keep codes of their own (joined.py).
    """
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

    quantizer = CortexMQuantizer()
    _teach_operators(quantizer)
    _choose_weights(quantizer, largest)
    _teach_precisions(quantizer, choices or {}, len(states), apart)
    if states:
        share_ranges(quantizer, states)
    return quantizer


def _teach_operators(quantizer: Any) -> None:
    """Make `quantizer` annotate the operators above, and the stand-ins of rewrites/unary.py."""
    from executorch.backends.cortex_m.quantizer.pattern_checkers import CortexMActivationCheck

    extra = {(op,): CortexMActivationCheck for op in (*EXTRA_UNARY, STAND_IN)}
    for part in _sharing(quantizer):
        part.targets = [*part.targets, *_EXTRA_SHARED]
    for part in quantizer.quantizers:
        matcher = getattr(part, "pattern_matcher", None)
        if matcher is not None:
            matcher.support_dict = {**matcher.support_dict, **extra}


def _sharing(quantizer: Any) -> list[Any]:
    """Its parts that give operators in a row one quantization."""
    return [part for part in quantizer.quantizers if hasattr(part, "SHARED_QSPEC_OPS_DEFAULT")]


def _moved_by(parts: list[Any]) -> set[Any]:
    return {target for part in parts for target in part.targets}


def moving_operators() -> set[Any]:
    """The operators that have the codes of what they read."""
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

    quantizer = CortexMQuantizer()
    _teach_operators(quantizer)
    return _moved_by(_sharing(quantizer))


def _teach_precisions(
    quantizer: Any,
    choices: Choices,
    states: int,
    apart: Callable[[GraphModule, Widths], Container[Node]],
) -> None:
    """Make `quantizer` give every call the precision of `choices`; see borders.py."""
    widths: Widths = {}
    shared = _sharing(quantizer)
    narrow = [part for part in quantizer.quantizers if part not in shared]
    wide = wide_quantizers(narrow)
    for bits, parts in ((16, wide), (8, narrow)):
        for part in parts:
            part.node_finder = ChosenNodes(part.node_finder, partial(_has_width, widths, bits))
    configs = {16: wide[-1].quantization_config, 8: narrow[-1].quantization_config}

    def spec_of(bits: int) -> Any:
        return configs[bits].get_input_act_qspec()

    for part in shared:
        end_sharing_at_borders(part, widths, spec_of)
    quantizer.quantizers = [*wide, *quantizer.quantizers]
    moving = _moved_by(shared)
    annotate = quantizer.annotate

    def chosen(node: Node) -> int | None:
        choice = choices.get(tag_of(node))
        return None if choice is None else choice.bits

    def annotate_precisions(model: GraphModule) -> GraphModule:
        show_results(model)
        wide, chains = sounds(model) | energies(model), byte_chains(model)
        find = partial(find_widths, model, chosen, moving, states, wide, chains)
        widths.update(find(apart(model, find())))
        keep_float(model, widths)
        annotate_bytes(model, chains, widths, spec_of)
        annotate_spectra(model, widths, configs, moving)
        annotate_outputs(model, widths, spec_of)
        annotate_recurrent(model, widths, spec_of)
        annotate_norms(model, widths, spec_of)
        annotated: GraphModule = annotate(model)
        read_as_bytes(annotated, chains)
        read_shares_as_they_are(annotated, moving)
        give_masks_a_code(annotated)
        keep_from_inputs_to_outputs(annotated)
        check_named(choices, annotated.graph)
        return annotated

    quantizer.annotate = annotate_precisions


def _has_width(widths: Widths, bits: int, node: Node) -> bool:
    """Of what is not annotated yet, as the inputs that are sound are, and what ends a chain of bytes."""
    is_done = node.op == "placeholder" and "quantization_annotation" in node.meta
    is_done |= stays_float(node)
    return node.op != "output" and not is_done and widths[node] == bits


def _choose_weights(quantizer: Any, largest: Callable[[Node], int]) -> None:
    """Make `quantizer` quantize weights to [-127, 127], with the scale max|w| / 127.

    Its own range is [-128, 127] with the scale max|w| / 127.5, in which the largest weight is cut
    and weights that are codes times a scale already (a model that comes from an int8 one) are
    rounded to others. Weights of 4 bits are int8 codes in [-7, 7], with the scale max|w| / 7.

    Its own linear layers have one scale for the matrix; here every output has one, as every output
    channel of a convolution has.
    """
    from executorch.backends.cortex_m.quantizer.quantization_configs import (
        INT8_PER_CHANNEL_CONFIG as PER_CHANNEL,
    )
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    def chosen(config: Any) -> Any:
        class Chosen(type(config)):  # type: ignore[misc]
            """`config` with other weights; it asks for those of some operators by a method."""

            def get_bias_qspec(self, node: Node | None = None) -> Any:
                if node is not None and _is_linear(node):
                    return PER_CHANNEL.get_bias_qspec(node)
                return super().get_bias_qspec(node)

            def get_weight_qspec(self, node: Node | None = None) -> Any:
                spec = super().get_weight_qspec(node)
                if node is not None and _is_linear(node):
                    spec = PER_CHANNEL.get_weight_qspec(node)
                if not isinstance(spec, QuantizationSpec) or spec.dtype != torch.int8:
                    return spec
                most = 127 if node is None else largest(node)
                return replace(spec, quant_min=-most, quant_max=most)

        return Chosen(**{field.name: getattr(config, field.name) for field in fields(config)})

    for part in quantizer.quantizers:
        if getattr(part, "quantization_config", None) is not None:
            part.quantization_config = chosen(part.quantization_config)


def _is_linear(node: Node) -> bool:
    """Whether `node` is a linear layer with a matrix of its own."""
    matrix = node.args[1] if node.target is _aten.linear.default else None
    return isinstance(matrix, Node) and matrix.op == "get_attr"
