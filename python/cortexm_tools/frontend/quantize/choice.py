# SPDX-License-Identifier: Apache-2.0
"""Which precision each call of the captured graph has, by the path of the module that makes it.

What is called between modules belongs to the module in whose code the call stands.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.fx import Graph, Node

from ...errors import CortexMError, did_you_mean, printable
from ...ir.types import Layer
from ...options.precision import Precision, Quantization, precision_word
from ..capture.capture import Captured
from ..origin.layers import layers_of_graph
from ..rewrites.recurrent_operators import OPERATORS
from .columns import WEIGHTED
from .embeddings import EMBEDDING
from .tags import tag_of

_LISTED = 8


@dataclass(frozen=True)
class Choice:
    """The precision of a call.

    Attributes:
        precision: None for float.
        layer: the call's place.
        named: whether a pattern names the layer itself.
    """

    precision: Precision | None
    layer: Layer = Layer()
    named: bool = False

    @property
    def bits(self) -> int:
        """Of its activations; 0 for float."""
        return self.precision.activations if self.precision is not None else 0

    @property
    def weights(self) -> int:
        """Bits of its weights; 0 for float."""
        return self.precision.weights if self.precision is not None else 0


Choices = dict[int | None, Choice]
"""By the tags of calls; none for None."""


def choose(captured: Captured, quantization: Quantization, base: Path) -> Choices:
    """The precision of every call.

    Args:
        base: the folder of the model file, for places.
    """
    choices: Choices = {}
    for node, layer in layers_of_graph(captured.graph.graph, base).items():
        tag = tag_of(node)
        if tag is None:
            continue
        pattern = quantization.pattern_of(layer.path)
        named = pattern is not None and pattern.names(layer.path)
        choices[tag] = Choice(quantization.precision_of(layer.path), layer, named)
    return choices


def check_patterns(
    quantization: Quantization, captured: Captured, modules: Collection[str], base: Path, where: str
) -> None:
    """Raises a CortexMError if a pattern matches nothing, or asks for weights where there are none.

    Args:
        modules: the paths of the model's modules.
        where: the place of the patterns, for messages.
    """
    calls = layers_of_graph(captured.graph.graph, base).items()
    paths = {*modules, *(layer.path for _, layer in calls)}
    for pattern in quantization.patterns:
        if not any(map(pattern.matches, paths)):
            raise CortexMError(
                f"Quantization: no module matches {printable(pattern.glob)!r}",
                where=where,
                hint=_near(pattern.glob, paths),
            )
        if not pattern.is_name or pattern.precision is None or pattern.precision.weights == 8:
            continue
        inside = [node for node, layer in calls if pattern.matches(layer.path)]
        if inside and not any(node.target in (*WEIGHTED, *OPERATORS, EMBEDDING) for node in inside):
            raise CortexMError(
                f"Quantization: {printable(pattern.glob)!r} cannot be "
                f"{precision_word(pattern.precision)}: it has no weights to quantize",
                where=where,
                hint=f"it can be {'int8' if pattern.precision.activations == 8 else 'a16w8'}",
            )


def patterns_choose_all(quantization: Quantization, captured: Captured, base: Path) -> bool:
    """Whether no call has the precision that QUANTIZE says."""
    layers = layers_of_graph(captured.graph.graph, base)
    paths = {layer.path for node, layer in layers.items() if node.op == "call_function"}
    return bool(paths) and all(quantization.pattern_of(path) is not None for path in paths)


def _near(glob: str, paths: Collection[str]) -> str:
    """Module paths like `glob`, or the first ones that there are."""
    known = sorted(printable(path) for path in paths if path)
    guess = did_you_mean(glob.rstrip(".*") or glob, known)
    if not guess.startswith("known"):
        return guess
    outer = sorted({path.partition(".")[0] for path in known})
    more = f" and {len(outer) - _LISTED} more" if len(outer) > _LISTED else ""
    if not outer:
        return "the model has no modules in it: choose its precision by '*', or by QUANTIZE"
    return f"there are {', '.join(outer[:_LISTED])}{more}, with what is in them"


def check_named(choices: Choices, graph: Graph) -> None:
    """Raises a CortexMError if a layer that a pattern names is not quantized at all.

    Args:
        graph: with the quantizer's annotations.
    """
    in_float: dict[str, Node] = {}
    on_codes: set[str] = set()
    for node in graph.nodes:
        choice = choices.get(tag_of(node))
        if choice is None or not choice.named or choice.precision is None:
            continue
        value = node.meta.get("val")
        if "quantization_annotation" in node.meta or _is_looked_up_as_codes(node):
            on_codes.add(choice.layer.path)
        elif isinstance(value, torch.Tensor) and value.is_floating_point():
            in_float.setdefault(choice.layer.path, node)
    for path, node in in_float.items():
        if path not in on_codes:
            choice = choices[tag_of(node)]
            raise CortexMError(
                f"{choice.layer.call or path} cannot be {precision_word(choice.precision)}: nothing "
                "computes it on codes",
                where=str(choice.layer),
                hint="it can be float",
            )


def _is_looked_up_as_codes(node: Node) -> bool:
    """Whether a node is an embedding whose readers take codes, so that its table becomes codes."""
    if node.target is not EMBEDDING:
        return False
    found = (user.meta.get("quantization_annotation") for user in node.users)
    return any(node in annotation.input_qspec_map for annotation in found if annotation)
