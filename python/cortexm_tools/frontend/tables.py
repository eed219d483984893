# SPDX-License-Identifier: Apache-2.0
"""Lower the functions of one int8 tensor for which ExecuTorch has no kernel to tables.

Such a function has 256 results, and ``cortex_m::quantized_activation`` looks them up; ExecuTorch uses
it for sigmoid and its kin. The ones here would otherwise stay behind: a ReLU or clamp that could not
be fused into the operator before it, a hard-swish that follows neither convolution nor linear
(whose codes ExecuTorch takes for values), and functions its quantizer passes by. With the input's
scale and zero point (s, z) and the output's (t, y):

    table[q] = clamp(round(f((q - z) * s) / t) + y, -128, 127)

in float64, halves to even, as the quantizer rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

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

# Names of the edge operators that become tables where they work on int8.
_TABLED = ("relu", "hardtanh", "clamp", "hardswish", *(op._opname for op in EXTRA_UNARY))


def table_of(
    function: Callable[[torch.Tensor], torch.Tensor], s: float, z: int, t: float, y: int
) -> torch.Tensor:
    """The 256 codes that `function` gives for the codes -128 … 127; see the module's formula."""
    values = function((torch.arange(-128, 128, dtype=torch.float64) - z) * s)
    return torch.clamp(torch.round(values / t) + y, -128, 127).to(torch.int8)


def teach_quantizer(quantizer: Any) -> None:
    """Make a CortexMQuantizer annotate EXTRA_UNARY."""
    from executorch.backends.cortex_m.quantizer.pattern_checkers import CortexMActivationCheck

    extra = {(op,): CortexMActivationCheck for op in EXTRA_UNARY}
    for part in quantizer.quantizers:
        matcher = getattr(part, "pattern_matcher", None)
        if matcher is not None:
            matcher.support_dict = {**matcher.support_dict, **extra}


def pass_list() -> list[Any]:
    """ExecuTorch's Cortex-M passes, with tables instead of its clamps on codes."""
    from executorch.backends.cortex_m.passes.aten_to_cortex_m_pass import AtenToCortexMPass
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.backends.cortex_m.passes.quantized_clamp_activation_pass import (
        QuantizedClampActivationPass,
    )
    from executorch.exir.pass_base import ExportPass
    from torch.fx.passes.infra.pass_manager import PassResult

    class TablePass(ExportPass):  # type: ignore[misc]
        """Replaces what `_is_tabled` says by ``cortex_m::quantized_activation``."""

        def __init__(self, exported_program: Any) -> None:
            super().__init__()
            self.exported_program = exported_program

        def call(self, graph_module: GraphModule) -> PassResult:
            nodes = [node for node in graph_module.graph.nodes if _is_tabled(node)]
            for node in nodes:
                _to_table(node, self.exported_program)
            if nodes:
                graph_module.recompile()
                graph_module = super().call(graph_module).graph_module
            return PassResult(graph_module, bool(nodes))

    result: list[Any] = []
    for each in CortexMPassManager.pass_list:
        if each is AtenToCortexMPass:
            result.append(TablePass)
        if each is not QuantizedClampActivationPass:
            result.append(each)
    return result


def _is_tabled(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return False
    namespace, _, name = schema.name.partition("::")
    if namespace != "aten" or name not in _TABLED or len(node.all_input_nodes) != 1:
        return False
    # Not the fake tensor's type: it is stale until a pass has traced the graph anew.
    params = [node.meta.get("input_qparams") or {}, node.meta.get("output_qparams") or {}]
    return all(
        0 in p and p[0].dtype == torch.int8 and not isinstance(p[0].scale, list) for p in params
    )


def _to_table(node: Node, program: Any) -> None:
    from executorch.backends.transforms.utils import create_constant_placeholder
    from executorch.exir.dialects._ops import ops
    from torch.export.graph_signature import InputKind

    target: Any = node.target
    before, after = node.meta["input_qparams"][0], node.meta["output_qparams"][0]
    table = table_of(
        lambda x: target(x, *node.args[1:], **node.kwargs),
        float(before.scale),
        int(before.zp),
        float(after.scale),
        int(after.zp),
    )
    graph = node.graph
    with graph.inserting_before(next(n for n in graph.nodes if n.op == "placeholder")):
        constant = create_constant_placeholder(
            program, graph, f"{node.name}_table", InputKind.PARAMETER, table
        )
    with graph.inserting_before(node):
        call = graph.call_function(
            ops.edge.cortex_m.quantized_activation.default, (node.args[0], constant)
        )
    call.meta = {**node.meta, "val": node.meta["val"].to(torch.int8)}
    node.replace_all_uses_with(call)
    graph.erase_node(node)
