# SPDX-License-Identifier: Apache-2.0
"""Lower normalizations on codes: layer, group and RMS norms between dequantize and quantize become
``cortexm::layer_norm`` and ``cortexm::group_norm``.

On its way to the edge program a layer norm becomes ``native_layer_norm``, whose first result is the norm,
and an RMS norm would come apart: `keep_norms` puts an operator of these tools in its place before.
"""

from __future__ import annotations

import math
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from ...errors import CortexMError
from ...ir.norms import MOST_SIZE, RealNorm
from ..nodes import operator_name
from ..origin.layers import layer_of
from .spectrum import constant_values
from .wide import wide_operator

Tensor = torch.Tensor

_aten = torch.ops.aten


@torch.library.custom_op("cortexm_tools::rms_norm", mutates_args=())
def rms_norm(x: Tensor, normalized_shape: list[int], weight: Tensor | None, eps: float) -> Tensor:
    """As PyTorch computes it."""
    result: Tensor = _aten.rms_norm.default(x, normalized_shape, weight, eps).clone()
    return result


@rms_norm.register_fake
def _(x: Tensor, normalized_shape: list[int], weight: Tensor | None, eps: float) -> Tensor:
    return torch.empty_like(x)


def keep_norms(module: GraphModule) -> bool:
    """Put the operator above in the place of the RMS norms on codes; whether there were any."""
    changed = False
    for node in list(module.graph.nodes):
        if node.target is not _aten.rms_norm.default or not _on_codes(node, node):
            continue
        x, shape, weight, eps = (*node.args, None, None)[:4]
        eps = torch.finfo(torch.float32).eps if eps is None else eps
        with module.graph.inserting_before(node):
            kept = module.graph.call_function(
                torch.ops.cortexm_tools.rms_norm.default, (x, shape, weight, eps)
            )
        kept.meta = dict(node.meta)
        node.replace_all_uses_with(kept)
        module.graph.erase_node(node)
        changed = True
    if changed:
        module.recompile()
    return changed


def norm_pass() -> type[Any]:
    """The pass class."""
    from executorch.exir.pass_base import ExportPass

    class NormPass(ExportPass):  # type: ignore[misc]
        """Takes weights, scales and zero points into the operators' integers."""

        def __init__(self, exported_program: Any) -> None:
            super().__init__()
            self.exported_program = exported_program

        def call(self, graph_module: GraphModule) -> PassResult:
            changed = False
            for node in list(graph_module.graph.nodes):
                result = _result(node)
                if result is not None:
                    _dequantize_last(node)
                if result is not None and _on_codes(node, result):
                    changed |= _lower(node, result, self.exported_program)
            if changed:
                graph_module.graph.eliminate_dead_code()
                graph_module.recompile()
            return PassResult(graph_module, changed)

    return NormPass


def _result(node: Node) -> Node | None:
    """What gives the normalized values; None for what is no norm."""
    name = operator_name(node)
    if name == "cortexm_tools::rms_norm":
        return node
    if name not in ("aten::native_layer_norm", "aten::native_group_norm"):
        return None
    users = list(node.users)
    alone = len(users) == 1 and users[0].target is getitem and users[0].args[1] == 0
    return users[0] if alone else None


def _is(node: object, kind: str) -> bool:
    return operator_name(node) == f"quantized_decomposed::{kind}_per_tensor"


def _dequantize_last(norm: Node) -> None:
    """Copy codes, and not what they stand for, where a norm reads a copy in another order: a group norm does
    after a 1-D convolution, whose pixels lie together."""
    clone: Any = norm.args[0]
    if operator_name(clone) != "dim_order_ops::_clone_dim_order" or len(clone.users) != 1:
        return
    dequantize: Any = clone.args[0]
    if not _is(dequantize, "dequantize"):
        return
    codes, *rest = dequantize.args
    graph, value = norm.graph, clone.meta["val"]
    with graph.inserting_before(norm):
        copied = graph.call_function(clone.target, (codes,), clone.kwargs)
        real = graph.call_function(dequantize.target, (copied, *rest), dequantize.kwargs)
    copied.meta = {**clone.meta, "val": value.to(codes.meta["val"].dtype)}
    real.meta = {**dequantize.meta, "val": value}
    norm.replace_input_with(clone, real)
    graph.erase_node(clone)


def _on_codes(node: Node, result: Node) -> bool:
    """Whether it takes and gives codes of one type, on one way."""
    (*users,) = result.users
    source: Any = node.args[0]
    return (
        _is(source, "dequantize")
        and len(users) == 1
        and _is(users[0], "quantize")
        and source.args[5] == users[0].args[5]
    )


def _out_of_range(norm: Node, size: int, dequantize: Node, quantize: Node) -> CortexMError:
    """Of what integers do not hold (ir/norms.py)."""
    where = str(layer_of(norm, Path()))
    if size > MOST_SIZE:
        return CortexMError(
            f"this norm takes {size:,} elements together, and its sums have room for {MOST_SIZE:,}",
            where=where,
            hint="normalize fewer together: over groups of channels, or each pixel's alone",
        )
    before, behind = (_reach(node) for node in (dequantize, quantize))
    return CortexMError(
        f"calibration has seen about {before:.1g} before this norm and {behind:.1g} behind it: beside "
        "that, integers have no room for its epsilon and weights",
        where=where,
        hint="calibrate on typical inputs, with trained weights",
    )


def _reach(node: Node) -> float:
    """Half of the range that the codes of a quantize or dequantize operator have."""
    _, scale, _, low, high, _ = (float(a) if isinstance(a, int | float) else 0.0 for a in node.args)
    return scale * (high - low) / 2


def _lower(node: Node, result: Node, program: Any) -> bool:
    from executorch.backends.transforms.utils import create_constant_placeholder
    from torch.export.graph_signature import InputKind

    source: Any = node.args[0]
    (quantize,) = result.users
    out: Any = quantize.args
    shape = tuple(source.meta["val"].shape)
    args: Any = node.args
    name = operator_name(node)
    own: tuple[Any, ...]
    if name == "aten::native_group_norm":
        weight, bias, groups, epsilon = args[1], args[2], args[6], args[7]
        size, channels = math.prod(shape[1:]) // groups, shape[1]
        own = (groups,)
    else:
        weight, bias = args[2], args[3] if name == "aten::native_layer_norm" else None
        epsilon = args[-1]
        size = channels = math.prod(args[1])
        own = (size, name == "aten::native_layer_norm", int(source.args[2]))
    if size == 0:
        return False
    real = RealNorm(
        size,
        name != "cortexm_tools::rms_norm",
        float(epsilon),
        np.ones(channels) if weight is None else constant_values(program, weight).reshape(-1),
        np.zeros(channels) if bias is None else constant_values(program, bias).reshape(-1),
    )
    designed = real.on_codes(float(source.args[1]), float(out[1]), int(out[2]), 8 * out[5].itemsize)
    if designed is None:
        raise _out_of_range(node, size, source, quantize)
    integer, shift, *tables = designed
    graph = node.graph
    with graph.inserting_before(next(n for n in graph.nodes if n.op == "placeholder")):
        constants = [
            create_constant_placeholder(
                program, graph, f"{node.name}_{kind}", InputKind.PARAMETER, torch.from_numpy(table)
            )
            for kind, table in zip(("factor", "offset"), tables, strict=True)
        ]
    with graph.inserting_before(node):
        made = graph.call_function(
            wide_operator("group_norm" if name == "aten::native_group_norm" else "layer_norm"),
            (source.args[0], *constants, *own, integer, shift),
        )
    made.meta = {**node.meta, "val": quantize.meta["val"]}
    quantize.replace_all_uses_with(made)
    for old in dict.fromkeys((quantize, result, node)):
        graph.erase_node(old)
    return True
