# SPDX-License-Identifier: Apache-2.0
"""Layers of several precisions in one graph: which codes every tensor has, and where they change.

A call that computes has the precision that was chosen for it, and its operands come to it: an operand
with other codes is requantized on its way, for this reader alone. What only moves, compares or limits
values has the codes of what it reads, and of several kinds the wider one, so that no view, pool
or concatenation changes codes; ExecuTorch gives one quantization to all such operators in a row, which
here ends at a border. An input has the widest codes of its readers, and stays in float if one of
them computes in float. An output has the codes of what computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..rewrites.bytes import NO_CHAINS, Chains
from .recurrent import kept_spec, width_given, width_read

_aten = torch.ops.aten

KEEP_CODES = {
    _aten.max_pool2d.default,
    _aten.max_pool2d_with_indices.default,
    _aten.relu.default,
    _aten.relu_.default,
    _aten.hardtanh.default,
    _aten.hardtanh_.default,
    _aten.clamp.default,
    _aten.clamp_.default,
}
"""In addition to what shares its quantization with its neighbours by ExecuTorch's list."""

Widths = dict[Node, int]
"""Bits of the codes of a node's result; 0 for float."""

_DTYPES = {8: torch.int8, 16: torch.int16}


class ChosenNodes:
    """A NodeFinder: what `finder` finds, if it is chosen."""

    def __init__(self, finder: Any, chosen: Callable[[Node], bool]) -> None:
        self.finder, self.chosen = finder, chosen

    def find_nodes(self, model: GraphModule) -> Iterator[Node]:
        return (node for node in self.finder.find_nodes(model) if self.chosen(node))


def find_widths(
    model: GraphModule,
    chosen: Callable[[Node], int | None],
    moving: Container[Any],
    states: int,
    wide: Container[Node] = (),
    chains: Chains = NO_CHAINS,
    apart: Container[Node] = (),
) -> Widths:
    """The codes of every tensor of `model`.

    Args:
        chosen: the bits of a call that computes; None where they are not known.
        moving: operators that have the codes of what they read.
        states: how many of its last inputs are states, the new values of which are its first
            outputs.
        wide: what has 16 bits, if it is not in float.
        chains: what is computed from bytes, in float up to its ends.
        apart: what joins values that keep codes of their own (joined.py).
    """
    found: dict[Node, int | None] = {}
    nodes = list(model.graph.nodes)
    for node in nodes:
        width = None
        if node in chains.inside or node in apart:
            found[node] = 0
            continue
        if node in chains.ends:
            found[node] = chosen(node)
            continue
        if node.op == "call_function" and node.target not in moving:
            width = None if node.target in KEEP_CODES else chosen(node)
        if width is None:
            read = [w for each in node.all_input_nodes if (w := found[each]) is not None]
            width = max(read, default=None)
        found[node] = 16 if node in wide and width != 0 else width_given(node, width)
    for node in reversed(nodes):
        if found[node] is None:
            readers = [
                width_read(node, each, w) for each in node.users if (w := found[each]) is not None
            ]
            is_float = node.op == "placeholder" and 0 in readers
            found[node] = 0 if is_float else max(readers, default=None)
    if states:
        (output,) = model.graph.find_nodes(op="output")
        results: Any = output.args[0]
        inputs = model.graph.find_nodes(op="placeholder")[-states:]
        for before, after in zip(inputs, results[:states], strict=True):
            found[before] = found[after]
    return {node: 8 if width is None else width for node, width in found.items()}


def keep_float(model: GraphModule, widths: Widths) -> None:
    """Say of the calls in float that they are not quantized, so that no neighbour shares its codes,
    and that they stay between dequantize and quantize operators."""
    from executorch.backends.cortex_m.quantizer.quantizer import mark_node_as_annotated

    for node in model.graph.nodes:
        if node.op == "call_function" and widths[node] == 0:
            mark_node_as_annotated(node, {}, None, False)


def stays_float(node: Node) -> bool:
    """Whether `keep_float` was said of the call that `node` came from."""
    from executorch.backends.arm.common.annotation_meta import ArmAnnotationInfo

    said = (node.meta.get("custom") or {}).get(ArmAnnotationInfo.CUSTOM_META_KEY)
    return said is not None and not ArmAnnotationInfo(said).quantized


def annotate_outputs(model: GraphModule, widths: Widths, spec_of: Callable[[int], Any]) -> None:
    """Give every output the codes of what computes it; `spec_of` is a type of codes by its bits."""
    from executorch.backends.arm.quantizer.arm_quantizer_utils import has_float_output
    from executorch.backends.cortex_m.quantizer.quantizer import mark_node_as_annotated

    (output,) = model.graph.find_nodes(op="output")
    specs = {
        node: spec_of(widths[node])
        for node in output.all_input_nodes
        if has_float_output(node) and widths[node]
    }
    mark_node_as_annotated(output, specs, None, True)


def end_sharing_at_borders(part: Any, widths: Widths, spec_of: Callable[[int], Any]) -> None:
    """Make `part`, a SharedQspecQuantizer, give operators in a row the codes of `widths`.

    It takes a choice and the comparison that decides it for such ones; but what goes from one to the
    other are truth values, and what is compared need not have the codes of what is chosen from.

    Args:
        spec_of: a type of codes by its bits.
    """
    enqueue, clique_of = part._maybe_enqueue_shared_node, part._get_shared_clique

    def enqueue_alike(neighbor: Node, shared_nodes: set[Node], queue: list[Node]) -> None:
        values = (
            each if each in neighbor.all_input_nodes else neighbor
            for each in shared_nodes
            if each in neighbor.all_input_nodes or neighbor in each.all_input_nodes
        )
        if widths[neighbor] == widths[next(iter(shared_nodes))] and any(map(_has_codes, values)):
            enqueue(neighbor, shared_nodes, queue)

    def clique(root: Node) -> tuple[set[Node], list[Any], bool, bool]:
        nodes, specs, *touches = clique_of(root)
        width = widths[root]
        fitting = [spec for spec in specs if _dtype(spec) is _DTYPES[width]]
        fitting.sort(key=lambda spec: spec != kept_spec())
        if specs and not fitting:
            fitting = [spec_of(width)]
        return nodes, fitting, *touches

    part._maybe_enqueue_shared_node, part._get_shared_clique = enqueue_alike, clique


def _has_codes(node: Node) -> bool:
    """Whether what `node` gives can have codes: it may be truth values or indices, or several tensors."""
    value = node.meta.get("val")
    return not isinstance(value, torch.Tensor) or value.is_floating_point()


def _dtype(spec: Any) -> torch.dtype | None:
    """The type of codes that `spec` says itself, or by the node or edge that it refers to."""
    while (place := getattr(spec, "edge_or_node", None)) is not None:
        if isinstance(place, Node):
            annotation = place.meta.get("quantization_annotation")
            spec = getattr(annotation, "output_qspec", None)
        else:
            annotation = place[1].meta.get("quantization_annotation")
            spec = annotation.input_qspec_map.get(place[0]) if annotation is not None else None
    dtype: torch.dtype | None = getattr(spec, "dtype", None)
    return dtype
