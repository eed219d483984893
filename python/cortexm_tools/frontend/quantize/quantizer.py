# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Cortex-M quantizer, taught more operators, centered weights, and states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import torch
from torch.fx import Node

from ..capture.state import State
from ..rewrites.unary import STAND_IN
from .state_ranges import share_ranges
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

# What moves values without changing them, in addition to ExecuTorch's list.
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
)


def make_quantizer(
    states: tuple[State, ...],
    largest: Callable[[Node], int] = lambda node: 127,
    wide: Callable[[Node], bool] = lambda node: False,
) -> Any:
    """A quantizer for graphs that take and give `states`.

    Args:
        largest: the largest code of a layer's weights, 127, or 7 for weights of 4 bits.
        wide: whether a node has int16 activations.
    """
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

    quantizer = CortexMQuantizer()
    _teach_operators(quantizer)
    _center_weights(quantizer, largest)
    quantizer.quantizers = [*wide_quantizers(quantizer, wide), *quantizer.quantizers]
    if states:
        share_ranges(quantizer, states)
    return quantizer


def _teach_operators(quantizer: Any) -> None:
    """Make `quantizer` annotate the operators above, and the stand-ins of rewrites/unary.py."""
    from executorch.backends.cortex_m.quantizer.pattern_checkers import CortexMActivationCheck

    extra = {(op,): CortexMActivationCheck for op in (*EXTRA_UNARY, STAND_IN)}
    for part in quantizer.quantizers:
        if hasattr(part, "SHARED_QSPEC_OPS_DEFAULT"):
            part.targets = [*part.targets, *_EXTRA_SHARED]
        matcher = getattr(part, "pattern_matcher", None)
        if matcher is not None:
            matcher.support_dict = {**matcher.support_dict, **extra}


def _center_weights(quantizer: Any, largest: Callable[[Node], int]) -> None:
    """Make `quantizer` quantize weights to [-127, 127], with the scale max|w| / 127.

    Its own range is [-128, 127] with the scale max|w| / 127.5, in which the largest weight is cut
    and weights that are codes times a scale already (a model that comes from an int8 one) are
    rounded to others. Weights of 4 bits are int8 codes in [-7, 7], with the scale max|w| / 7.
    """
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    def centered(config: Any) -> Any:
        class Centered(type(config)):  # type: ignore[misc]
            """`config` with other weights; it asks for those of some operators by a method."""

            def get_weight_qspec(self, node: Node | None = None) -> Any:
                spec = super().get_weight_qspec(node)
                if not isinstance(spec, QuantizationSpec) or spec.dtype != torch.int8:
                    return spec
                most = 127 if node is None else largest(node)
                return replace(spec, quant_min=-most, quant_max=most)

        return Centered(**{field.name: getattr(config, field.name) for field in fields(config)})

    for part in quantizer.quantizers:
        if getattr(part, "quantization_config", None) is not None:
            part.quantization_config = centered(part.quantization_config)
