# SPDX-License-Identifier: Apache-2.0
"""Refuse operators that no kernel computes, with the user's call and line.

A captured graph is looked through before anything is measured, for operators that PyTorch does not
divide into others; the lowered one, for what they were divided into.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch._decomp import core_aten_decompositions
from torch.fx import Graph

from ...advice import is_advised, no_kernel
from ...errors import CortexMError
from ...pte.ops import CONVERTERS
from ..nodes import operator_name
from ..origin.layers import layers_of_graph
from ..rewrites.places import gives_places


def _known() -> set[str]:
    """Names of operators that can be read from a program, without overloads."""
    return {name.partition(".")[0] for name in CONVERTERS}


def check_captured(graph: Graph, base: Path) -> None:
    """Raises a CortexMError for the first call that can only end in one.

    Args:
        base: the folder of the model file, for messages.
    """
    known, divided = _known(), core_aten_decompositions()
    for node in graph.nodes:
        if gives_places(node):
            layer = layers_of_graph(graph, base)[node]
            raise CortexMError(
                f"the places of the maxima that {layer.call} finds are not known",
                where=str(layer),
                hint="they are those of windows of one size, with padding or a dilation, not with both; else "
                "take argmax over the windows that torch.nn.functional.unfold gives",
            )
        target: Any = node.target
        if not isinstance(target, torch._ops.OpOverload) or not is_advised(operator_name(node)):
            continue
        plain = operator_name(node).removesuffix("_")
        if {plain, f"{plain}_copy"} & known or target in divided or target._can_decompose():
            continue
        layer = layers_of_graph(graph, base)[node]
        raise no_kernel(plain, layer, str(layer))


def check_lowered(graph: Graph, base: Path) -> None:
    """Raises a CortexMError for the first operator of a lowered graph that has no kernel.

    Args:
        base: the folder of the model file, for messages.
    """
    known = _known()
    for node, layer in layers_of_graph(graph, base).items():
        name = operator_name(node)
        if name and node.users and name not in known:
            raise no_kernel(name, layer, str(layer))
