# SPDX-License-Identifier: Apache-2.0
"""Lower a linear layer with a scale for each output to a convolution of single pixels.

``cortex_m::quantized_linear`` has one multiplier for all outputs, ``cortex_m::quantized_conv2d`` one
for each. A row of K inputs is an image of K channels and one pixel, the matrix a kernel of 1x1; the
views around change no byte, and are gone when the program is serialized. Behind the .pte
simplify/linear.py makes a linear layer of it again. ``cortexm::quantized_linear``, on int16 codes,
takes a multiplier for each output itself (wide.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ..nodes import operator_name
from .wide import is_wide


def linear_pass() -> type[Any]:
    """The pass class."""
    from executorch.exir.pass_base import ExportPass

    class LinearPass(ExportPass):  # type: ignore[misc]
        """Turns ``aten::linear`` into ``aten::convolution``, which a later pass lowers."""

        def __init__(self, exported_program: Any) -> None:
            super().__init__()
            self._program = exported_program

        def call(self, graph_module: GraphModule) -> PassResult:
            kernels: dict[Node, Node] = {}
            for node in list(graph_module.graph.nodes):
                if _has_scale_per_output(node):
                    self._replace(node, kernels)
            if kernels:
                graph_module.recompile()
            return PassResult(graph_module, bool(kernels))

        def _replace(self, node: Node, kernels: dict[Node, Node]) -> None:
            """Args:
            kernels: by the layers' weights, those that calls share once.
            """
            from executorch.exir.dialects._ops import ops

            operands: Any = node.args
            x, weight, bias = (*operands, None)[:3]
            if weight not in kernels:
                kernels[weight] = self._kernel(weight)
            before, after = x.meta["val"].shape, node.meta["val"].shape
            pixels = _pixels(before)
            source = _call(node, ops.edge.aten.view_copy.default, (x, pixels), pixels)
            result = _call(
                node,
                ops.edge.aten.convolution.default,
                (source, kernels[weight], bias, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
                _pixels(after),
            )
            for name in ("input_qparams", "output_qparams"):
                result.meta[name] = node.meta[name]
            shape = list(after)
            view = _call(node, ops.edge.aten.view_copy.default, (result, shape), shape)
            node.replace_all_uses_with(view)
            node.graph.erase_node(node)

        def _kernel(self, weight: Node) -> Node:
            """The matrix [O, K] as [O, K, 1, 1]."""
            from executorch.backends.transforms.utils import (
                create_constant_placeholder,
                get_param_tensor,
            )

            matrix = get_param_tensor(self._program, weight)
            assert matrix is not None
            with weight.graph.inserting_after(weight):
                kernel: Node = create_constant_placeholder(
                    self._program,
                    weight.graph,
                    weight.name + "_pixel",
                    InputKind.PARAMETER,
                    matrix[:, :, None, None],
                )
            return kernel

    return LinearPass


def _has_scale_per_output(node: Node) -> bool:
    if operator_name(node) != "aten::linear" or is_wide(node):
        return False
    weight = node.meta.get("input_qparams", {}).get(1)
    return weight is not None and isinstance(weight.scale, list)


def _pixels(shape: Sequence[int]) -> list[int]:
    """A shape [..., C] as images of one pixel."""
    return [math.prod(shape[:-1]), shape[-1], 1, 1]


def _call(node: Node, target: Any, args: tuple[Any, ...], shape: Sequence[int]) -> Node:
    """A call before `node`, of its layer, that gives the shape."""
    with node.graph.inserting_before(node):
        call = node.graph.call_function(target, args)
    call.meta = {k: v for k, v in node.meta.items() if not k.endswith("_qparams")}
    call.meta["val"] = node.meta["val"].new_empty(shape)
    return call
