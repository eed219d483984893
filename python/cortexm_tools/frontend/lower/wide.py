# SPDX-License-Identifier: Apache-2.0
"""Lower layers with int16 activations.

ExecuTorch's passes give int8 operators. What its own substitutions make of a layer, multipliers and
shifts in particular, becomes an operator of dialect.py here. Padding, transposition, minimum,
maximum and all else that moves codes without knowing their scale stay PyTorch's operators, on codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ...ir.wide import ADD_RAISE
from .dialect import define


def is_wide(node: Node) -> bool:
    """Whether a node works on int16 codes."""
    qparams = [
        *node.meta.get("input_qparams", {}).values(),
        *node.meta.get("output_qparams", {}).values(),
    ]
    return any(each.dtype is torch.int16 for each in qparams)


def with_wide(substitution: Callable[[Node, Any], Any]) -> Callable[[Node, Any], Any]:
    """`substitution`, of ExecuTorch's AtenToCortexMPass, for int8 and for int16 activations."""

    def either(node: Node, lowering: Any) -> Any:
        if not is_wide(node):
            return substitution(node, lowering)
        name = node.target._schema.name  # type: ignore[union-attr]
        own = _OWN.get(name)
        if own is not None:
            return own(node, lowering)
        spec = substitution(node, lowering)
        return spec if spec is None else _widened(spec)

    return either


def wide_operator(name: str) -> Any:
    """An operator of dialect.py, as edge programs call it."""
    from executorch.exir.dialects._ops import ops

    define()
    return getattr(ops.edge.cortexm, name).default


def _widened(spec: Any) -> Any:
    """What ExecuTorch would put, as our operator of that name, which has no scratch buffers."""
    schema = spec.op._schema
    namespace, _, name = schema.name.partition("::")
    if namespace != "cortex_m" or name in _INT16_UPSTREAM:
        return spec
    args = tuple(
        value
        for argument, value in zip(schema.arguments, spec.args, strict=True)
        if not argument.name.endswith("scratch")
    )
    return replace(spec, op=wide_operator(name), args=args)


# ExecuTorch has these for int16 itself.
_INT16_UPSTREAM = ("quantized_div", "quantize_per_tensor", "dequantize_per_tensor")


def _add(node: Node, lowering: Any) -> Any:
    """Both operands in units of half the larger scale, their sum in units of the result's."""
    from executorch.backends.cortex_m.passes.passes_utils import quantize_multiplier_aot
    from executorch.backends.transforms.aten_to_dialect_pass import DialectNodeSpec

    a, b = (node.meta["input_qparams"][index] for index in range(2))
    out = node.meta["output_qparams"][0]
    factor: Any = node.kwargs.get("alpha", 1)
    if node.target._schema.name == "aten::sub":  # type: ignore[union-attr]
        factor = -factor
    b_scale = abs(factor) * b.scale
    unit = 2 * max(a.scale, b_scale)
    a_multiplier, a_shift = quantize_multiplier_aot(a.scale / unit)
    b_multiplier, b_shift = quantize_multiplier_aot(b_scale / unit)
    multiplier, shift = quantize_multiplier_aot(unit / (out.scale * (1 << ADD_RAISE)))
    return DialectNodeSpec(
        wide_operator("quantized_add"),
        (
            node.args[0],
            a.zp,
            a_multiplier,
            a_shift,
            node.args[1],
            b.zp,
            b_multiplier if factor >= 0 else -b_multiplier,
            b_shift,
            out.zp,
            multiplier,
            shift,
            out.qmin,
            out.qmax,
        ),
    )


def _linear(node: Node, lowering: Any) -> Any:
    """With a multiplier for each output, and a bias whatever the core is."""
    from executorch.backends.cortex_m.passes.passes_utils import quantize_multiplier_aot
    from executorch.backends.transforms.aten_to_dialect_pass import DialectNodeSpec

    x, weight = (node.meta["input_qparams"][index] for index in range(2))
    out = node.meta["output_qparams"][0]
    scales = weight.scale if isinstance(weight.scale, list) else [weight.scale]
    multipliers, shifts = zip(
        *(quantize_multiplier_aot(x.scale * scale / out.scale) for scale in scales), strict=True
    )
    operands = node.args[0], node.args[1], node.args[2] if len(node.args) > 2 else None
    args = (*operands, None, 0, 0, 0, list(multipliers), list(shifts), out.qmax, out.qmin)
    return DialectNodeSpec(wide_operator("quantized_linear"), args)


def _softmax(node: Node, lowering: Any) -> Any:
    from executorch.backends.transforms.aten_to_dialect_pass import DialectNodeSpec

    return DialectNodeSpec(
        wide_operator("softmax"),
        (node.args[0], node.args[1], float(node.meta["input_qparams"][0].scale)),
    )


def _clamp(node: Node, lowering: Any) -> Any:
    """A clamp on its own: codes of one scale become codes of another within bounds."""
    from executorch.backends.cortex_m.passes.passes_utils import quantize_multiplier_aot
    from executorch.backends.transforms.aten_to_dialect_pass import DialectNodeSpec

    source, out = node.meta["input_qparams"][0], node.meta["output_qparams"][0]
    low, high = _bounded(node, out)
    multiplier, shift = quantize_multiplier_aot(source.scale / out.scale)
    args = (node.args[0], source.zp, multiplier, shift, out.zp, low, high, out.dtype)
    return DialectNodeSpec(wide_operator("requantize"), args)


def _bounded(node: Node, qparams: Any) -> tuple[int, int]:
    """The codes between which the results of an activation lie."""
    from executorch.backends.cortex_m.passes.passes_utils import get_activation_bounds

    codes = []
    for value, end in zip(get_activation_bounds(node), (qparams.qmin, qparams.qmax), strict=True):
        code = end if value is None else round(value / qparams.scale) + qparams.zp
        codes.append(min(max(code, qparams.qmin), qparams.qmax))
    return codes[0], codes[1]


_OWN: dict[str, Callable[[Node, Any], Any]] = {
    "aten::linear": _linear,
    "aten::add": _add,
    "aten::sub": _add,
    "aten::_softmax": _softmax,
    "aten::relu": _clamp,
    "aten::hardtanh": _clamp,
    "aten::clamp": _clamp,
}


def fusion_pass() -> type[Any]:
    """The class of the pass that makes clamps part of the layer before them.

    ExecuTorch's own asks that the clamp's bounds are the ends of the codes, which they cannot be
    where the zero point is 0.
    """
    from executorch.backends.cortex_m.passes.activation_fusion_pass import ActivationFusionPass
    from executorch.exir.pass_base import ExportPass

    class WideFusionPass(ExportPass):  # type: ignore[misc]
        """Narrows the codes of the layer's result."""

        def call(self, graph_module: GraphModule) -> PassResult:
            changed = False
            for node in list(graph_module.graph.nodes):
                if not is_wide(node) or node.meta.get("input_qparams"):
                    continue
                source = node.all_input_nodes[0] if node.all_input_nodes else None
                if source is None or source.target not in ActivationFusionPass.FUSE_OPS:
                    continue
                if node.target not in ActivationFusionPass.TARGETS or len(source.users) != 1:
                    continue
                out = node.meta["output_qparams"][0]
                low, high = _bounded(node, out)
                source.meta["output_qparams"] = {0: out._replace(qmin=low, qmax=high)}
                node.replace_all_uses_with(source)
                graph_module.graph.erase_node(node)
                changed = True
            if changed:
                graph_module.recompile()
            return PassResult(graph_module, changed)

    return WideFusionPass


def boundary_pass() -> type[Any]:
    """The class of the pass that turns a change of codes, to or from int16, into one operator."""
    from executorch.backends.cortex_m.passes.passes_utils import quantize_multiplier_aot
    from executorch.exir.dialects._ops import ops
    from executorch.exir.pass_base import ExportPass

    decomposed = ops.edge.quantized_decomposed
    quantize = decomposed.quantize_per_tensor.default
    dequantize = decomposed.dequantize_per_tensor.default

    class BoundaryPass(ExportPass):  # type: ignore[misc]
        """Looks for dequantize, quantize."""

        def call(self, graph_module: GraphModule) -> PassResult:
            changed = False
            for node in list(graph_module.graph.nodes):
                source = node.args[0] if node.target is quantize else None
                if not isinstance(source, Node) or source.target is not dequantize:
                    continue
                codes, scale, zero_point, _, _, dtype = source.args[:6]
                _, out_scale, out_zero_point, low, high, out_dtype = node.args[:6]
                if torch.int16 not in (dtype, out_dtype):
                    continue
                multiplier, shift = quantize_multiplier_aot(scale / out_scale)
                node.target = wide_operator("requantize")
                node.args = (
                    codes, zero_point, multiplier, shift, out_zero_point, low, high, out_dtype
                )  # fmt: skip
                changed = True
            if changed:
                graph_module.graph.eliminate_dead_code()
                graph_module.recompile()
            return PassResult(graph_module, changed)

    return BoundaryPass
