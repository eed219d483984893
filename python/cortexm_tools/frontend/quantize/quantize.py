# SPDX-License-Identifier: Apache-2.0
"""Post-training quantization with ExecuTorch's Cortex-M quantizer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ...advice import advice_on
from ...errors import CortexMError
from ...ir.types import Layer
from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.samples import Sample
from ..lower.tables import teach_quantizer
from ..origin.blame import layer_of_error
from ..origin.places import first_line
from ..quiet import quiet
from .state_ranges import share_ranges

_aten = torch.ops.aten

TAG = "cortexm_node"
"""Key in ``node.meta["custom"]`` with a number by which a lowered node is traced back to here."""

_ACTIVATIONS = {
    _aten.relu.default,
    _aten.relu_.default,
    _aten.hardtanh.default,
    _aten.hardtanh_.default,
    _aten.hardsigmoid.default,
    _aten.hardsigmoid_.default,
    _aten.clamp.default,
    _aten.clamp_.default,
}


def tag_nodes(graph: GraphModule) -> None:
    """Number the calls of `graph`; export and the passes keep the numbers."""
    for number, node in enumerate(graph.graph.nodes):
        if node.op == "call_function":
            node.meta["custom"] = {**(node.meta.get("custom") or {}), TAG: number}


def split_activations(graph: GraphModule, numbers: Iterable[int]) -> None:
    """Keep the quantizer from fusing activations into the calls with these tags.

    A clone in between makes the quantizer treat both separately: the call gets quantization
    parameters of its own for its output, and the activation works on codes.
    """
    wanted = set(numbers)
    for node in list(graph.graph.nodes):
        if (node.meta.get("custom") or {}).get(TAG) not in wanted:
            continue
        for user in list(node.users):
            if user.target in _ACTIVATIONS:
                with graph.graph.inserting_after(node):
                    clone = graph.graph.call_function(_aten.clone.default, (node,))
                clone.meta = {**node.meta, "custom": {}}
                user.replace_input_with(node, clone)
    graph.recompile()


def center_weights(quantizer: Any) -> None:
    """Make a CortexMQuantizer quantize weights to [-127, 127], with the scale max|w| / 127.

    Its own range is [-128, 127] with the scale max|w| / 127.5, in which the largest weight is cut
    and weights that are codes times a scale already (a model that comes from an int8 one) are
    rounded to others.
    """
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    def centered(config: Any) -> Any:
        class Centered(type(config)):  # type: ignore[misc]
            """`config` with other weights; it asks for those of some operators by a method."""

            def get_weight_qspec(self, node: Node | None = None) -> Any:
                spec = super().get_weight_qspec(node)
                if not isinstance(spec, QuantizationSpec) or spec.dtype != torch.int8:
                    return spec
                return replace(spec, quant_min=-127, quant_max=127)

        return Centered(**{field.name: getattr(config, field.name) for field in fields(config)})

    for part in quantizer.quantizers:
        if getattr(part, "quantization_config", None) is not None:
            part.quantization_config = centered(part.quantization_config)


def quantize(
    graph: GraphModule,
    samples: Iterable[Sample],
    which: tuple[bool, ...],
    states: tuple[State, ...] = (),
    *,
    base: Path,
) -> GraphModule:
    """`graph` with quantize-dequantize pairs, ranges measured on `samples`. Changes `graph`.

    Args:
        samples: they are one sequence of calls.
        which: which of its inputs and states the graph takes in channels_last order.
        states: what comes in behind the inputs, and goes out before the outputs.
        base: the folder of the model file, for messages.

    Raises:
        CortexMError: the quantizer fails.
    """
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    try:
        with quiet(), torch.no_grad():
            quantizer = CortexMQuantizer()
            teach_quantizer(quantizer)
            center_weights(quantizer)
            if states:
                share_ranges(quantizer, states)
            prepared = prepare_pt2e(graph, quantizer)
            run = ModuleRunner(prepared, which, states)
            for sample in samples:
                run.step(sample)
            converted = convert_pt2e(prepared)
    except Exception as error:
        layer = layer_of_error(error, graph.graph, base)
        raise CortexMError(
            f"ExecuTorch cannot quantize {layer.call or 'the model'}: {first_line(error)}",
            where=str(layer) if layer != Layer() else "",
            hint=advice_on(layer.call),
        ) from error
    assert isinstance(converted, GraphModule)
    return converted


def tag_of(node: Node) -> int | None:
    """The number `tag_nodes` gave the call that `node` came from."""
    number = (node.meta.get("custom") or {}).get(TAG)
    return number if isinstance(number, int) else None
