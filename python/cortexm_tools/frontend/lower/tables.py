# SPDX-License-Identifier: Apache-2.0
"""Lower the functions of one int8 tensor for which ExecuTorch has no kernel to tables.

Such a function has 256 results, and ``cortex_m::quantized_activation`` looks them up; ExecuTorch
uses it for sigmoid and its kin. The ones here would otherwise stay behind: a ReLU or clamp that is
not fused into the operator before it, a hard-swish that follows neither convolution nor linear
(whose codes ExecuTorch takes for values), and functions its quantizer passes by. With the input's
scale and zero point (s, z) and the output's (t, y):

    table[q] = clamp(round(f((q - z) * s) / t) + y, -128, 127)

in float64, halves to even, as the quantizer rounds. The first pass looks for the chains dequantize,
f, quantize (the quantizer leaves no such chain inside what it wants fused) and puts a stand-in for
f that ExecuTorch's passes can trace with any type; the second turns the stand-ins into look-ups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ..rewrites.unary import STAND_IN
from .codes import bias_pass, code_pass
from .pads import lowering_without_pads, pad_pass

_aten = torch.ops.aten

# What the quantizer is taught in addition to ExecuTorch's patterns.
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

# What moves values without changing them, in addition to ExecuTorch's list.
EXTRA_SHARED = (
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

_TABLE = "cortexm_table"  # key in node.meta

# Names of the edge operators that become tables where they work on int8.
_TABLED = ("relu", "hardtanh", "clamp", "hardswish", *(op._opname for op in EXTRA_UNARY))


def table_of(
    function: Callable[[torch.Tensor], torch.Tensor], s: float, z: int, t: float, y: int
) -> torch.Tensor:
    """The 256 codes that `function` gives for the codes -128 … 127; see the module's formula."""
    values = function((torch.arange(-128, 128, dtype=torch.float64) - z) * s)
    return torch.clamp(torch.round(values / t) + y, -128, 127).to(torch.int8)


def teach_quantizer(quantizer: Any) -> None:
    """Make a CortexMQuantizer annotate EXTRA_UNARY, the stand-ins of unary.py and EXTRA_SHARED."""
    from executorch.backends.cortex_m.quantizer.pattern_checkers import CortexMActivationCheck

    extra = {(op,): CortexMActivationCheck for op in (*EXTRA_UNARY, STAND_IN)}
    for part in quantizer.quantizers:
        if hasattr(part, "SHARED_QSPEC_OPS_DEFAULT"):
            part.targets = [*part.targets, *EXTRA_SHARED]
        matcher = getattr(part, "pattern_matcher", None)
        if matcher is not None:
            matcher.support_dict = {**matcher.support_dict, **extra}


def pass_list() -> list[Any]:
    """ExecuTorch's Cortex-M passes, with those of codes.py and pads.py, and tables instead of its
    clamps."""
    from executorch.backends.arm._passes import FoldAndAnnotateQParamsPass
    from executorch.backends.cortex_m.passes.aten_to_cortex_m_pass import AtenToCortexMPass
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.backends.cortex_m.passes.quantized_clamp_activation_pass import (
        QuantizedClampActivationPass,
    )
    from executorch.exir.pass_base import ExportPass

    class MarkPass(ExportPass):  # type: ignore[misc]
        """Puts the stand-ins."""

        def call(self, graph_module: GraphModule) -> PassResult:
            nodes = [node for node in graph_module.graph.nodes if _is_tabled(node)]
            for node in nodes:
                _mark(node)
            return PassResult(graph_module, bool(nodes))

    class TablePass(ExportPass):  # type: ignore[misc]
        """Turns the stand-ins into ``cortex_m::quantized_activation``."""

        def __init__(self, exported_program: Any) -> None:
            super().__init__()
            self.exported_program = exported_program

        def call(self, graph_module: GraphModule) -> PassResult:
            nodes = [node for node in graph_module.graph.nodes if _TABLE in node.meta]
            for node in nodes:
                _to_table(node, self.exported_program)
            return PassResult(graph_module, bool(nodes))

    result: list[Any] = [MarkPass]
    for each in CortexMPassManager.pass_list:
        if each is AtenToCortexMPass:
            result += [TablePass, bias_pass(), lowering_without_pads(), pad_pass()]
        elif each is not QuantizedClampActivationPass:
            result.append(each)
        if each is FoldAndAnnotateQParamsPass:
            result.append(code_pass())
    return result


def _name(node: object) -> str:
    """``aten::clamp`` for a call of that operator; "" for what is not an operator call."""
    schema = getattr(getattr(node, "target", None), "_schema", None)
    return schema.name if schema is not None else ""


def _is_int8(node: object, kind: str) -> bool:
    return (
        isinstance(node, Node)
        and _name(node) == f"quantized_decomposed::{kind}_per_tensor"
        and node.args[5] == torch.int8
        and isinstance(node.args[1], float)
    )


def _is_tabled(node: Node) -> bool:
    namespace, _, name = _name(node).partition("::")
    stand_in = _name(node) == "cortexm_tools::unary"
    if not stand_in and (namespace != "aten" or name not in _TABLED):
        return False
    if len(node.all_input_nodes) != 1:
        return False
    if not _is_int8(node.args[0], "dequantize") or len(node.users) != 1:
        return False
    if not _is_int8(next(iter(node.users)), "quantize"):
        return False
    return name != "hardswish" or not _decomposes(node)


def _decomposes(hardswish: Node) -> bool:
    """Whether ExecuTorch will compute this hard-swish as minimum and multiplication.

    It does where the operator before is a convolution or linear, with the clamp to [-3, inf) that
    its quantizer has put in between.
    """
    node = hardswish
    for _ in range(2):  # dequantize, quantize
        node = node.all_input_nodes[0]
        if len(node.users) != 1:
            return False
        if not node.all_input_nodes:
            return False
    node = node.all_input_nodes[0]
    if _name(node) == "aten::clamp" and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return _name(node) in ("aten::convolution", "aten::linear") and len(node.users) == 1


def _mark(node: Node) -> None:
    from executorch.exir.dialects._ops import ops

    target: Any = node.target
    args, kwargs = node.args[1:], dict(node.kwargs)
    dequantize: Any = node.args[0]
    quantize: Any = next(iter(node.users))
    node.meta[_TABLE] = table_of(
        lambda x: target(x, *args, **kwargs),
        float(dequantize.args[1]),
        int(dequantize.args[2]),
        float(quantize.args[1]),
        int(quantize.args[2]),
    )
    node.target = ops.edge.aten.abs.default
    node.args, node.kwargs = (dequantize,), {}


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
    node.target = ops.edge.cortex_m.quantized_activation.default
    node.args = (node.args[0], constant)
    node.meta["val"] = node.meta["val"].to(torch.int8)
