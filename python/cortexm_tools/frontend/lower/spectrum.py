# SPDX-License-Identifier: Apache-2.0
"""Lower logarithms of spectra on codes: ``cortexm_tools::log_mel`` between dequantize and quantize becomes
``cortexm::log_mel``."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ...errors import CortexMError
from ...ir.log_mel import RealLogMel, Reals
from ..nodes import operator_name
from .wide import wide_operator

_LOW = 2**32


def spectrum_pass() -> type[Any]:
    """The pass class."""
    from executorch.exir.pass_base import ExportPass

    class SpectrumPass(ExportPass):  # type: ignore[misc]
        """Takes window, bands, scales and zero points into the operator's integers."""

        def __init__(self, exported_program: Any) -> None:
            super().__init__()
            self.exported_program = exported_program

        def call(self, graph_module: GraphModule) -> PassResult:
            nodes = [
                node
                for node in graph_module.graph.nodes
                if operator_name(node) == "cortexm_tools::log_mel" and _on_codes(node)
            ]
            for node in nodes:
                _lower(node, self.exported_program)
            if nodes:
                graph_module.graph.eliminate_dead_code()
                graph_module.recompile()
            return PassResult(graph_module, bool(nodes))

    return SpectrumPass


def _on_codes(node: Node) -> bool:
    users = list(node.users)
    return (
        operator_name(node.args[0]) == "quantized_decomposed::dequantize_per_tensor"
        and len(users) == 1
        and operator_name(users[0]) == "quantized_decomposed::quantize_per_tensor"
    )


def _lower(node: Node, program: Any) -> None:
    from executorch.backends.transforms.utils import create_constant_placeholder
    from torch.export.graph_signature import InputKind

    dequantize, (quantize,) = node.all_input_nodes[0], node.users
    taken: Any = dequantize.args
    given: Any = quantize.args
    arguments: Any = node.args
    _, out_scale, out_zero_point, low, high, dtype = given[:6]
    points, start, hop, frames, roots, least, adds, under = arguments[5:13]
    window, bank, factor, offset = (constant_values(program, each) for each in arguments[1:5])
    real = RealLogMel(points, start, hop, window, bank, roots, least, adds, factor, offset, under)
    designed = real.on_codes(taken[1], out_scale, out_zero_point, low, high)
    if designed is None:
        raise CortexMError(
            "the logarithm of a spectrum hardly changes in calibration",
            hint="calibrate with sound: with CalibrationInputs that are both loud and quiet",
        )
    attrs, *tables = designed
    graph = node.graph
    with graph.inserting_before(next(n for n in graph.nodes if n.op == "placeholder")):
        constants = [
            create_constant_placeholder(
                program, graph, f"{node.name}_{name}", InputKind.PARAMETER,
                torch.tensor(table, dtype=torch.int16),
            )
            for name, table in zip(("window", "weights"), tables, strict=True)
        ]  # fmt: skip
    with graph.inserting_before(node):
        made = graph.call_function(
            wide_operator("log_mel"),
            (
                dequantize.args[0], *constants, attrs.points, attrs.start, attrs.hop, frames,
                attrs.shift, attrs.roots, attrs.under_root, list(attrs.first), list(attrs.count),
                attrs.least // _LOW, attrs.least % _LOW, attrs.adds, list(attrs.gains),
                list(attrs.offsets), attrs.gain_shift, attrs.act_min, attrs.act_max, dtype,
            ),
        )  # fmt: skip
    made.meta = {**node.meta, "val": quantize.meta["val"]}
    quantize.replace_all_uses_with(made)
    for old in (quantize, node):
        graph.erase_node(old)


def constant_values(program: Any, node: Any) -> Reals:
    """The numbers of a constant of the program."""
    from torch._export.utils import get_buffer, get_lifted_tensor_constant, get_param

    for get in (get_param, get_buffer, get_lifted_tensor_constant):
        found = get(program, node)
        if found is not None:
            values: Reals = found.detach().to(torch.float64).numpy()
            return values
    raise CortexMError(f"{node} is no constant")
