# SPDX-License-Identifier: Apache-2.0
"""Quantize layers with int16 activations.

ExecuTorch's quantizer annotates int16 for division alone. Here its patterns are checked as if they
were of int8, and annotated with int16, symmetric, zero point 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import Node

SOFTMAX_SCALE = 1.0 / 32768


def wide_quantizers(quantizers: Iterable[Any]) -> list[Any]:
    """Quantizers that annotate what `quantizers`, PatternQuantizers, find, with int16 activations
    and int8 weights."""
    from executorch.backends.arm.quantizer.arm_quantizer_utils import PatternQuantizer
    from executorch.backends.cortex_m.quantizer.pattern_matcher import PatternMatcher

    result = []
    for part in quantizers:
        matcher = part.pattern_matcher
        checks = {key: _as_int8(check) for key, check in matcher.support_dict.items()}
        result.append(
            PatternQuantizer(
                _wide_config(part.quantization_config),
                node_finder=part.node_finder,
                pattern_matcher=PatternMatcher(checks, matcher.support_dict_name),
            )
        )
    return result


def _wide_config(config: Any) -> Any:
    """`config` with int16 in place of int8 activations; `narrow` is `config`."""
    from executorch.backends.cortex_m.quantizer.quantization_configs import (
        INT16_ACTIVATION_PER_TENSOR_QSPEC,
        SOFTMAX_TARGETS,
    )
    from torchao.quantization.pt2e.quantizer import FixedQParamsQuantizationSpec

    wide = INT16_ACTIVATION_PER_TENSOR_QSPEC

    class Wide(type(config)):  # type: ignore[misc]
        """Softmax gives numbers from 0 to 1, in units of 2^-15."""

        narrow = config

        def get_output_act_qspec(self, node: Node | None = None) -> Any:
            if node is not None and node.target in SOFTMAX_TARGETS:
                return FixedQParamsQuantizationSpec(
                    dtype=torch.int16,
                    scale=SOFTMAX_SCALE,
                    zero_point=0,
                    quant_min=-32768,
                    quant_max=32767,
                    qscheme=torch.per_tensor_symmetric,
                )
            return super().get_output_act_qspec(node)

    return Wide(wide, wide, config.weight, config.bias, config.label)


def _as_int8(check: Any) -> Any:
    """`check`, a PatternCheck, for the int8 twin of a wide configuration."""
    if check is None:
        return None

    class AsInt8(check):  # type: ignore[misc]
        @classmethod
        def check_quantization_config(cls, pattern: list[Node], config: Any) -> bool:
            return bool(check.check_quantization_config(pattern, config.narrow))

    return AsInt8
