# SPDX-License-Identifier: Apache-2.0
"""Lower the functions of one tensor of codes for which ExecuTorch has no kernel to tables.

Such a function of int8 has 256 results, and ``cortex_m::quantized_activation`` looks them up; ExecuTorch
uses it for sigmoid and its kin. The ones here would otherwise stay behind: a ReLU or clamp that is
not fused into the operator before it, a hard-swish that follows neither convolution nor linear
(whose codes ExecuTorch takes for values), and functions its quantizer passes by. With the input's
scale and zero point (s, z) and the output's (t, y):

    table[q] = clamp(round(f((q - z) * s) / t) + y, -128, 127)

in float64, halves to even, as the quantizer rounds; wide_tables.py is about int16. The first pass
looks for the chains dequantize, f, quantize (the quantizer leaves no such chain inside what it wants
fused) and puts a stand-in for f that ExecuTorch's passes can trace with any type; the second turns the
stand-ins into look-ups. Of int16 a multiplication by a positive number is no function but a change of
scale, which as a rule leaves the codes as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ..nodes import operator_name
from ..quantize.borders import stays_float
from ..quantize.quantizer import EXTRA_UNARY
from .wide import wide_operator
from .wide_tables import factor_of, wide_table

_TABLE = "cortexm_table"  # key in node.meta
_NO_CODE = 2.0**-16  # of 2^15 codes, what moves none of them by a half

# Names of the edge operators that become tables where they work on int8.
_TABLED = ("relu", "hardtanh", "clamp", "hardswish", *(op._opname for op in EXTRA_UNARY))

# The same for int16, where ExecuTorch has no table of any function, and clamps are none.
_WIDE_TABLED = (
    "hardswish", "sigmoid", "tanh", "silu", "gelu", "log", "log2", "log10", "log1p", "sqrt", "rsqrt",
    *(op._opname for op in EXTRA_UNARY),
)  # fmt: skip


def table_of(
    function: Callable[[torch.Tensor], torch.Tensor], s: float, z: int, t: float, y: int
) -> torch.Tensor:
    """The 256 codes that `function` gives for the codes -128 … 127; see the module's formula."""
    values = function((torch.arange(-128, 128, dtype=torch.float64) - z) * s)
    return torch.clamp(torch.round(values / t) + y, -128, 127).to(torch.int8)


def mark_pass() -> type[Any]:
    """The class of the pass that puts the stand-ins."""
    from executorch.exir.pass_base import ExportPass

    class MarkPass(ExportPass):  # type: ignore[misc]
        """Marks the functions between a dequantize and a quantize operator."""

        def call(self, graph_module: GraphModule) -> PassResult:
            nodes = [node for node in graph_module.graph.nodes if _is_tabled(node)]
            for node in nodes:
                _mark(node)
            return PassResult(graph_module, bool(nodes))

    return MarkPass


def table_pass() -> type[Any]:
    """The class of the pass that turns the stand-ins into ``cortex_m::quantized_activation``."""
    from executorch.exir.pass_base import ExportPass

    class TablePass(ExportPass):  # type: ignore[misc]
        """Gives each a table, which is a constant of the program."""

        def __init__(self, exported_program: Any) -> None:
            super().__init__()
            self.exported_program = exported_program

        def call(self, graph_module: GraphModule) -> PassResult:
            nodes = [node for node in graph_module.graph.nodes if _TABLE in node.meta]
            for node in nodes:
                _to_table(node, self.exported_program)
            return PassResult(graph_module, bool(nodes))

    return TablePass


def _codes(node: object, kind: str) -> torch.dtype | None:
    """The type of the codes that a call of ``quantize`` or ``dequantize``, `kind`, is about."""
    if (
        not isinstance(node, Node)
        or operator_name(node) != f"quantized_decomposed::{kind}_per_tensor"
    ):
        return None
    dtype: Any = node.args[5]
    per_tensor = isinstance(node.args[1], float)
    return dtype if per_tensor and dtype in (torch.int8, torch.int16) else None


def _is_tabled(node: Node) -> bool:
    if len(node.all_input_nodes) != 1 or len(node.users) != 1 or stays_float(node):
        return False
    dtype = _codes(node.args[0], "dequantize")
    if dtype is None or _codes(next(iter(node.users)), "quantize") is not dtype:
        return False
    namespace, _, name = operator_name(node).partition("::")
    if operator_name(node) == "cortexm_tools::unary":
        return True
    if dtype is torch.int16:
        return namespace == "aten" and name in _WIDE_TABLED
    return (
        namespace == "aten" and name in _TABLED and (name != "hardswish" or not _decomposes(node))
    )


def _decomposes(hardswish: Node) -> bool:
    """Whether ExecuTorch will compute this hard-swish as minimum and multiplication.

    It does where the operator before is a convolution or linear, with the clamp to [-3, inf) that
    its quantizer has put in between. The factor's zero point, 3 lower than the codes', has 16 bits.
    """
    dequantize: Any = hardswish.args[0]
    if float(dequantize.args[1]) < 3 / (2**15 - 2**8):
        return False
    node = hardswish
    for _ in range(2):  # dequantize, quantize
        node = node.all_input_nodes[0]
        if len(node.users) != 1:
            return False
        if not node.all_input_nodes:
            return False
    node = node.all_input_nodes[0]
    if operator_name(node) == "aten::clamp" and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return operator_name(node) in ("aten::convolution", "aten::linear") and len(node.users) == 1


def _mark(node: Node) -> None:
    from executorch.exir.dialects._ops import ops

    target: Any = node.target
    args, kwargs = node.args[1:], dict(node.kwargs)
    dequantize: Any = node.args[0]
    quantize: Any = next(iter(node.users))

    def function(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = target(x, *args, **kwargs)
        return result

    scale, out_scale = float(dequantize.args[1]), float(quantize.args[1])
    if dequantize.args[5] is torch.int16:
        factor = factor_of(function, scale)
        if factor is not None:
            _to_scale(node, factor)
            return
        node.meta[_TABLE] = wide_table(function, scale, out_scale)
    else:
        node.meta[_TABLE] = table_of(
            function, scale, int(dequantize.args[2]), out_scale, int(quantize.args[2])
        )
    node.target = ops.edge.aten.abs.default
    node.args, node.kwargs = (dequantize,), {}


def _to_scale(node: Node, factor: float) -> None:
    """Leaves a change of scale, dequantize and quantize, in the place of a multiplication; nothing where
    every code stays what it is, as the range of the product has grown by the factor, too."""
    dequantize: Any = node.all_input_nodes[0]
    quantize: Any = next(iter(node.users))
    scale = float(dequantize.args[1]) * factor
    if abs(scale / float(quantize.args[1]) - 1) < _NO_CODE:
        quantize.replace_all_uses_with(dequantize.args[0])
        for each in (quantize, node):
            node.graph.erase_node(each)
        return
    with node.graph.inserting_before(node):
        scaled = node.graph.node_copy(dequantize)
    scaled.args = (scaled.args[0], scale, *scaled.args[2:])
    for origin in ("nn_module_stack", "stack_trace"):
        quantize.meta[origin] = node.meta.get(origin)
    node.replace_all_uses_with(scaled)
    node.graph.erase_node(node)


def _to_table(node: Node, program: Any) -> None:
    from executorch.backends.transforms.utils import create_constant_placeholder
    from executorch.exir.dialects._ops import ops
    from torch.export.graph_signature import InputKind

    table = node.meta.pop(_TABLE)
    graph = node.graph
    with graph.inserting_before(next(n for n in graph.nodes if n.op == "placeholder")):
        constant = create_constant_placeholder(
            program, graph, f"{node.name}_table", InputKind.PARAMETER, table
        )
    wide = table.dtype is torch.int16
    narrow = ops.edge.cortex_m.quantized_activation.default
    node.target = wide_operator("quantized_activation") if wide else narrow
    node.args = (node.args[0], constant)
    node.meta["val"] = node.meta["val"].to(table.dtype)
