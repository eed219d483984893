# SPDX-License-Identifier: Apache-2.0
"""Rewrites of ATen operators that work on codes, once the codes' scales are known.

They run when ExecuTorch has folded the quantize and dequantize operators into their neighbours and
noted the scales (s) and zero points (z) in the nodes' metadata.

* A max pool that rounds its output size up becomes a padding with -128, which no maximum prefers
  to a value, and a max pool that rounds down; the dialect's max pool only does the latter.
* A linear layer's bias is set aside until the layer is lowered: PyTorch takes the result of int8
  weights and an int32 bias for int32, and refuses to batch-multiply that with int8.
* A function that ExecuTorch lowers to a table, and a division, are set aside, too: PyTorch takes what
  they give on int8 for float32, which it does not multiply with codes. So is a hard-swish of floats,
  which ExecuTorch would decompose by the scale of codes that it does not have.
* A comparison with a number c compares with a code instead. The codes q whose values
  f32((q - z) * s) satisfy it are a prefix or suffix of all codes, or only one, or all but one,
  and there is a comparison with a code that selects exactly them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ..nodes import operator_name, schema_of
from ..rewrites.pooling import rounded_up_padding

COMPARED = "cortexm_compared"
"""Key in ``node.meta`` of comparisons whose number was turned into a code."""

_BIAS = "cortexm_bias"  # key in node.meta: the name of the placeholder
_FUNCTION = (
    "cortexm_function"  # key in node.meta: operator, arguments behind the operands, and by name
)

# Names of edge operators that ExecuTorch lowers to tables.
_TABLED = (*("sigmoid", "tanh", "silu", "gelu", "log", "log2", "log10", "log1p", "sqrt", "rsqrt"),)

# What stands for an operator that is set aside: one of as many operands that PyTorch computes in any type.
_STAND_INS = {**dict.fromkeys(_TABLED, "abs"), "div": "maximum"}
_OPERANDS = {"abs": 1, "maximum": 2}

_COMPARISONS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
}


def code_comparison(
    comparison: str, number: float, scale: float, zero_point: int, dtype: torch.dtype = torch.int8
) -> tuple[str, int]:
    """The comparison of q with a code that is ``comparison((q - zero_point) * scale, number)``.

    Args:
        comparison: "eq", "ne", "lt", "le", "gt" or "ge".
        dtype: of the codes.
    """
    first, last = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    codes = torch.arange(first, last + 1, dtype=torch.float32)
    true = _COMPARISONS[comparison]((codes - zero_point) * scale, number)
    count = int(true.sum())
    if count in (0, len(codes)):
        return ("le", last) if count else ("lt", first)
    if comparison in ("eq", "ne"):
        chosen = codes[true if comparison == "eq" else ~true]
        return comparison, int(chosen[0])
    if comparison in ("lt", "le"):
        return "lt", first + count
    return "ge", last + 1 - count


def code_pass() -> type[Any]:
    """The pass class."""
    from executorch.exir.pass_base import ExportPass

    class CodePass(ExportPass):  # type: ignore[misc]
        """Applies the rewrites of this module."""

        def call(self, graph_module: GraphModule) -> PassResult:
            changed = False
            for node in list(graph_module.graph.nodes):
                namespace, _, name = operator_name(node).partition("::")
                if namespace != "aten":
                    continue
                if 0 not in node.meta.get("input_qparams", {}):
                    if name == "hardswish":
                        _set_function_aside(node, "abs")
                elif name == "max_pool2d":
                    changed |= _round_down(node)
                elif name == "linear":
                    changed |= _set_bias_aside(node)
                elif name in _STAND_INS and node.meta.get("output_qparams"):
                    _set_function_aside(node, _STAND_INS[name])
                elif name in _COMPARISONS and schema_of(node).overload_name == "Scalar":
                    _compare_codes(node, name)
                    changed = True
            if changed:
                graph_module.recompile()
                graph_module = super().call(graph_module).graph_module
            return PassResult(graph_module, changed)

    return CodePass


def restore_pass() -> type[Any]:
    """The class of the pass that brings back what was set aside."""
    from executorch.exir.pass_base import ExportPass

    class RestorePass(ExportPass):  # type: ignore[misc]
        """Undoes `_set_bias_aside` and `_set_function_aside`."""

        def call(self, graph_module: GraphModule) -> PassResult:
            placeholders = {n.name: n for n in graph_module.graph.nodes if n.op == "placeholder"}
            changed = False
            for node in graph_module.graph.nodes:
                bias = node.meta.pop(_BIAS, None)
                # Operators that a pass made after a linear layer may carry a copy of its meta.
                if bias is not None and operator_name(node) == "aten::linear":
                    node.args = (*node.args[:2], placeholders[bias])
                    changed = True
                function = node.meta.pop(_FUNCTION, None)
                count = _OPERANDS.get(operator_name(node).removeprefix("aten::"))
                if function is not None and count is not None:
                    node.target, args, node.kwargs = function
                    node.args = (*node.args[:count], *args)
                    changed = True
            return PassResult(graph_module, changed)

    return RestorePass


def _set_bias_aside(node: Node) -> bool:
    bias = node.args[2] if len(node.args) > 2 else None
    if not isinstance(bias, Node) or bias.op != "placeholder":
        return False
    node.meta[_BIAS] = bias.name
    node.args = node.args[:2]
    return True


def _set_function_aside(node: Node, stand_in: str) -> None:
    from executorch.exir.dialects._ops import ops

    count = _OPERANDS[stand_in]
    if not all(isinstance(arg, Node) for arg in node.args[:count]):
        return
    node.meta[_FUNCTION] = node.target, node.args[count:], dict(node.kwargs)
    node.target = getattr(ops.edge.aten, stand_in).default
    node.args, node.kwargs = node.args[:count], {}


def _compare_codes(node: Node, comparison: str) -> None:
    from executorch.exir.dialects._ops import ops

    qparams = node.meta["input_qparams"][0]
    number: Any = node.args[1]
    name, code = code_comparison(
        comparison, float(number), float(qparams.scale), int(qparams.zp), qparams.dtype
    )
    node.target = getattr(ops.edge.aten, name).Scalar
    node.args = (node.args[0], code)
    node.meta[COMPARED] = True


def _pair(value: Any, default: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(value, (list, tuple)):
        return default if value is None else (int(value), int(value))
    return (int(value[0]), int(value[-1])) if value else default


def _round_down(node: Node) -> bool:
    """Replace `node`'s ceil_mode; whether it had one that matters."""
    from executorch.exir.dialects._ops import ops

    source: Any = node.args[0]
    args = (*node.args, *(None,) * (6 - len(node.args)))
    kernel = _pair(args[1], (1, 1))
    stride, padding = _pair(args[2], kernel), _pair(args[3], (0, 0))
    if not args[5] or _pair(args[4], (1, 1)) != (1, 1):
        return False
    size = source.meta["val"].shape
    if len(size) != 4:
        return False
    bottom, right = (
        rounded_up_padding(size[2 + i], kernel[i], stride[i], padding[i]) for i in range(2)
    )
    if bottom or right:
        with node.graph.inserting_before(node):
            padded = node.graph.call_function(
                ops.edge.aten.constant_pad_nd.default,
                (source, [0, right, 0, bottom], float("-inf")),
            )
        padded.meta = {**node.meta, "custom": dict(node.meta.get("custom") or {})}
        qparams = node.meta["input_qparams"][0]
        padded.meta["input_qparams"] = {0: qparams}
        padded.meta["output_qparams"] = {0: qparams}
        source = padded
    node.args = (source, list(kernel), list(stride), list(padding))
    custom = node.meta.get("custom") or {}
    if "cortex_m" in custom:
        node.meta["custom"] = {k: v for k, v in custom.items() if k != "cortex_m"}
    return True
