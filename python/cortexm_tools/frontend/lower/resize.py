# SPDX-License-Identifier: Apache-2.0
"""Lower bilinear interpolation of codes to an operator that says how it rounds.

PyTorch interpolates no int8, and ExecuTorch's portable kernel cuts off where it should round.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from ..nodes import operator_name
from .wide import wide_operator

_CODES = (torch.int8, torch.int16)


def resize_pass() -> type[Any]:
    """The pass class."""
    from executorch.exir.pass_base import ExportPass

    class ResizePass(ExportPass):  # type: ignore[misc]
        """Runs when scales and zero points are in the nodes' metadata."""

        def call(self, graph_module: GraphModule) -> PassResult:
            changed = False
            for node in graph_module.graph.nodes:
                known = node.meta.get("input_qparams", {}).get(0)
                if operator_name(node) != "aten::upsample_bilinear2d" or known is None:
                    continue
                if known.dtype not in _CODES:
                    continue
                size = list(node.meta["val"].shape[2:])
                align, factors = node.args[2], node.args[3] if len(node.args) > 3 else None
                scales = (None, None) if factors is None else tuple(factors)
                node.args = (node.args[0], size, bool(align), *scales, int(known.zp))
                node.target = wide_operator("upsample_bilinear2d")
                changed = True
            if changed:
                graph_module.recompile()
                graph_module = super().call(graph_module).graph_module
            return PassResult(graph_module, changed)

    return ResizePass
