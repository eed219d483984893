# SPDX-License-Identifier: Apache-2.0
"""The codes of normalizations, which ExecuTorch's quantizer leaves in float: those of their precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx import GraphModule, Node

_aten = torch.ops.aten

NORMS = (_aten.layer_norm.default, _aten.group_norm.default, _aten.rms_norm.default)

_WEIGHTS = {_aten.group_norm.default: (2, 3), _aten.rms_norm.default: (2,)}


def annotate_norms(
    model: GraphModule, widths: Mapping[Node, int], spec_of: Callable[[int], Any]
) -> None:
    """Annotate normalizations in codes.

    Args:
        widths: the bits with which calls compute.
        spec_of: a type of codes by its bits.
    """
    from executorch.backends.cortex_m.quantizer.quantizer import mark_node_as_annotated

    for node in model.graph.nodes:
        if node.target not in NORMS or not widths[node]:
            continue
        weights = (node.args[at] for at in _WEIGHTS.get(node.target, (2, 3)) if at < len(node.args))
        if any(isinstance(each, Node) and each.op != "get_attr" for each in weights):
            continue
        spec = spec_of(widths[node])
        mark_node_as_annotated(node, {node.args[0]: spec}, spec, True)
