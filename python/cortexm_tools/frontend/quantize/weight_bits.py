# SPDX-License-Identifier: Apache-2.0
"""Which layers of a model have weights of 4 bits.

Some layers bear it badly, and hold few weights: the first one, whose few inputs carry all that the model
knows; the last one, whose errors nothing evens out; and depthwise convolutions, whose results are
sums of a handful of products, so that there is little for errors to cancel in. They stay at 8 bits,
unless one of them alone holds more than a quarter of the model's weights: then it is what 4 bits are for.
Both matrices of a recurrent layer are one layer's weights, and so are a table of an embedding and the matrix
that it is as well.
A layer that the user names has the bits that the user says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import torch
from torch.fx import GraphModule, Node

from ..capture.capture import Captured
from ..rewrites.recurrent_operators import OPERATORS
from .choice import Choices
from .columns import WEIGHTED, argument, groups_of
from .embeddings import EMBEDDING, table_of
from .tags import tag_of

LARGE = 0.25
"""The share of a model's weights above which a layer has 4 bits wherever it stands."""


@dataclass(frozen=True)
class WeightedLayer:
    """A layer with weights of its own.

    Attributes:
        tags: of its calls in the captured graph; several where calls share the weights.
        weights: how many.
        first: whether it reads the model's inputs, with no other such layer in between.
        last: whether an output comes from it, with no other such layer in between.
        depthwise: whether it is a convolution of every channel by itself.
    """

    tags: frozenset[int]
    weights: int
    first: bool = False
    last: bool = False
    depthwise: bool = False


def layers_with_weights(captured: Captured) -> list[WeightedLayer]:
    """The layers that the quantizer gives weights, in the order of the graph."""
    graph, states = captured.graph, len(captured.states)
    nodes = list(graph.graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder"]
    (output,) = graph.graph.find_nodes(op="output")
    calls = {node: weight for node in nodes if (weight := _weight(graph, node)) is not None}
    fed = _reached(nodes, inputs[: len(inputs) - states])
    behind = _reached(nodes, calls)
    shown = output.all_input_nodes if not states else output.args[0][states:]
    leading = _reached(list(reversed(nodes)), _nodes(shown), stop=calls)
    found: dict[int, WeightedLayer] = {}
    for node, weight in calls.items():
        source = _read_by(node)
        before = found.get(weight.data_ptr(), WeightedLayer(frozenset(), _size(graph, node)))
        found[weight.data_ptr()] = WeightedLayer(
            tags=before.tags | {tag for tag in [tag_of(node)] if tag is not None},
            weights=before.weights,
            first=before.first or (source in fed and source not in behind),
            last=before.last or node in leading,
            depthwise=before.depthwise or _is_depthwise(node, source),
        )
    return list(found.values())


def stay_at_8_bits(layers: Sequence[WeightedLayer]) -> list[WeightedLayer]:
    """Those of `layers` that are better kept at 8 bits, by the rule above."""
    total = sum(layer.weights for layer in layers)
    return [
        layer
        for layer in layers
        if (layer.first or layer.last or layer.depthwise) and layer.weights <= LARGE * total
    ]


def four_bits(captured: Captured, choices: Choices) -> frozenset[int]:
    """The tags of the calls whose weights have 4 bits."""
    chosen = {tag for tag, choice in choices.items() if choice.weights == 4}
    if not chosen:
        return frozenset()
    layers = layers_with_weights(captured)
    kept = stay_at_8_bits(layers)
    return frozenset(
        tag
        for layer in layers
        if layer.tags <= chosen
        if layer not in kept or any(choices[tag].named for tag in layer.tags)
        for tag in layer.tags
    )


def _read_by(node: Node) -> Node:
    """What a layer reads; of an embedding the numbers of rows."""
    read = node.args[1] if node.target is EMBEDDING else node.all_input_nodes[0]
    assert isinstance(read, Node)
    return read


def _weight(graph: GraphModule, node: Node) -> torch.Tensor | None:
    """What tells a layer's weights from those of others: of a recurrent one those of its inputs."""
    if node.target is EMBEDDING:
        return table_of(graph, node)
    if node.target in OPERATORS:
        return _attribute(graph, argument(node, "w_ih"))
    return _attribute(graph, node.args[1]) if node.target in WEIGHTED else None


def _size(graph: GraphModule, node: Node) -> int:
    """How many weights a call has."""
    weights = [_weight(graph, node)]
    if node.target in OPERATORS:
        weights.append(_attribute(graph, argument(node, "w_hh")))
    return sum(each.numel() for each in weights if each is not None)


def _attribute(graph: GraphModule, source: object) -> torch.Tensor | None:
    if not isinstance(source, Node) or source.op != "get_attr":
        return None
    value = attrgetter(str(source.target))(graph)
    return value if isinstance(value, torch.Tensor) else None


def _is_depthwise(node: Node, source: Node) -> bool:
    return node.target in WEIGHTED and 1 < groups_of(node) == int(source.meta["val"].shape[1])


def _nodes(values: object) -> list[Node]:
    items = values if isinstance(values, (list, tuple)) else [values]
    return [item for item in items if isinstance(item, Node)]


def _reached(
    ordered: Sequence[Node], starts: Iterable[Node], stop: Iterable[Node] = ()
) -> set[Node]:
    """`starts` and what follows them, in the direction of `ordered`, but nothing beyond `stop`."""
    reached, ends = set(starts), set(stop)
    forward = not ordered or ordered[0].op != "output"
    for node in ordered:
        sources = node.all_input_nodes if forward else list(node.users)
        if any(source in reached and source not in ends for source in sources):
            reached.add(node)
    return reached
