# SPDX-License-Identifier: Apache-2.0
"""One scale and zero point for a state, wherever it is read and where it is written.

What one call writes is what the next one reads. With the same quantization at both ends the next call
reads the very codes that were written, and whoever runs the program may keep the codes instead of the
values. The quantizer cannot know that the two are one tensor; so after it has said how each
tensor is quantized, all that it said about a state is made to refer to the first of it. The observer
that they share sees the initial value, too, as calibration begins with it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..capture.state import State

Point = Any
"""Where a tensor is quantized: a node stands for its result, (source, node) for an operand."""


def share_ranges(quantizer: Any, states: tuple[State, ...]) -> None:
    """Make `quantizer` annotate graphs, which take and give `states`, in this way."""
    annotate = quantizer.annotate

    def annotate_and_share(model: GraphModule) -> GraphModule:
        annotated: GraphModule = annotate(model)
        _share(annotated, states)
        return annotated

    quantizer.annotate = annotate_and_share


def _share(model: GraphModule, states: tuple[State, ...]) -> None:
    graph, count = model.graph, len(states)
    placeholders = graph.find_nodes(op="placeholder")[-count:]
    output = graph.output_node()
    results: Any = output.args[0]
    positions = {node: number for number, node in enumerate(graph.nodes)}
    groups = [{number} for number in range(count)]
    for number, result in enumerate(results[:count]):
        if result in placeholders:  # what was read from one is written to the other
            joined = groups[number] | groups[placeholders.index(result)]
            for member in joined:
                groups[member] = joined
    for group in {min(group): group for group in groups}.values():
        roots: dict[Point, None] = {}
        for number in group:
            for point in _points(placeholders[number], results[number], output):
                roots[root_of(point)] = None
        initial = [states[number].initial for number in group]
        _unite(sorted(roots, key=lambda point: place_of(point, positions)), initial)


def place_of(point: Point, positions: dict[Node, int]) -> tuple[int, bool]:
    """A key that sorts points in the order in which their values are computed."""
    is_result = isinstance(point, Node)
    return positions[point if is_result else point[1]], is_result


def _points(placeholder: Node, result: Node, output: Node) -> list[Point]:
    points: list[Point] = [placeholder, *((placeholder, user) for user in placeholder.users)]
    points += [result, (result, output)]
    return [point for point in points if spec_at(point) is not None]


def spec_at(point: Point) -> Any:
    """How `point` is quantized; None if it is not."""
    node = point if isinstance(point, Node) else point[1]
    annotation = node.meta.get("quantization_annotation")
    if annotation is None:
        return None
    if node is point:
        return annotation.output_qspec
    return annotation.input_qspec_map.get(point[0])


def root_of(point: Point) -> Point:
    """The point whose quantization `point` has."""
    while hasattr(spec := spec_at(point), "edge_or_node"):
        point = spec.edge_or_node
    return point


def _unite(roots: list[Point], initial: list[torch.Tensor]) -> None:
    """Let all of `roots`, in the order of the graph, refer to the first, if they are of one kind.

    Where the results of an operator have a fixed quantization, all take that one.
    """
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    if len({_kind(spec_at(root)) for root in roots}) != 1:
        return
    fixed = [spec_at(root) for root in roots if hasattr(spec_at(root), "zero_point")]
    if len({(spec.scale, spec.zero_point) for spec in fixed}) > 1:
        return
    if fixed and not all(_in_range(value, fixed[0]) for value in initial):
        return
    for root in roots[1:]:
        set_spec(root, SharedQuantizationSpec(roots[0]))
    if fixed:
        set_spec(roots[0], fixed[0])


def _kind(spec: Any) -> tuple[Any, ...]:
    limits = torch.iinfo(spec.dtype)
    low = limits.min if spec.quant_min is None else spec.quant_min
    high = limits.max if spec.quant_max is None else spec.quant_max
    return spec.dtype, low, high, getattr(spec, "qscheme", None), spec.is_dynamic


def _in_range(value: torch.Tensor, spec: Any) -> bool:
    low = (spec.quant_min - spec.zero_point) * spec.scale
    high = (spec.quant_max - spec.zero_point) * spec.scale
    return bool((value >= low).all()) and bool((value <= high).all())


def set_spec(point: Point, spec: Any) -> None:
    if isinstance(point, Node):
        point.meta["quantization_annotation"].output_qspec = spec
    else:
        point[1].meta["quantization_annotation"].input_qspec_map[point[0]] = spec
