# SPDX-License-Identifier: Apache-2.0
"""Measure the quantized model against the float model, by output and by layer.

Both run on the same calibration inputs, each with a state of its own. Outputs are compared with those
of the user's module; layers with the captured graph, which the quantized one was made from: every
result of a float operator with the dequantized result of the operator that has its tag.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves

from ...progress import track
from ...pte.noise import Noise
from ...pte.quality import FLOAT_MODEL, QUANTIZED_MODEL, LayerQuality, Quality
from ..capture.capture import Captured
from ..capture.runner import ModuleRunner
from ..load.model_file import LoadedModel
from ..load.samples import Sample
from ..nodes import operator_name, writes
from ..origin.layers import layer_of
from ..rewrites.recurrent_operators import recurrent_call
from ..rewrites.unary import STAND_IN
from .differences import OutputNoise, Sums
from .masks import masked_scores
from .recurrent import CODED
from .tags import tag_of
from .wider import find_wider

MAX_INPUTS = 64
_MIN_INPUTS = 4
# An input costs its graph's elements, and for every call as much as this number of elements. So
# many may all inputs cost: some seconds.
_CALL = 20_000
_BUDGET = 100_000_000

# They only move values: a part of a tensor may be noisier than the whole, but they did not do it. Nor
# did a mask, whose numbers for what is left out, as -1e9, no code need be near to.
_MOVING = {
    "alias", "as_strided", "cat", "chunk", "clone", "contiguous", "detach", "expand", "flatten",
    "getitem", "masked_fill", "movedim", "narrow", "pad", "permute", "reshape", "roll", "select",
    "slice", "split", "split_with_sizes", "squeeze", "squeeze_", "stack", "swapaxes", "t",
    "tensor_split", "to", "transpose", "unbind", "unflatten", "unsqueeze", "unsqueeze_", "view",
    "where",
}  # fmt: skip


def measure(
    loaded: LoadedModel,
    captured: Captured,
    quantized: GraphModule,
    float_module: ModuleRunner,
    *,
    came_quantized: bool = False,
) -> Quality:
    """The quality of `quantized`, which was made from `captured`.

    Args:
        came_quantized: `float_module` is the user's quantized module; `captured` has only its weights.
    """
    samples = loaded.calibration or (loaded.example_inputs,)
    source = "calibration" if loaded.calibration else "example"
    base = loaded.path.parent
    beside = QUANTIZED_MODEL if came_quantized else FLOAT_MODEL
    quality = compare(samples, source, captured, quantized, float_module, base, beside)
    if came_quantized:
        return quality
    chosen = choose_samples(samples, captured)
    wider = find_wider(quality, chosen, captured, quantized, float_module, base)
    return replace(quality, wider=wider)


def compare(
    samples: Sequence[Sample],
    source: str,
    captured: Captured,
    quantized: GraphModule,
    float_module: ModuleRunner,
    base: Path,
    beside: str = FLOAT_MODEL,
) -> Quality:
    """The quality on some of `samples`, which are inputs of the kind `source`.

    Args:
        base: the folder of the model file.
        beside: what `float_module` is; layers are those of the float model.
    """
    chosen = choose_samples(samples, captured)
    inputs = captured.graph.graph.find_nodes(op="placeholder")[: len(samples[0])]
    calls = [node for node in captured.graph.graph.nodes if node.op == "call_function"]
    masked = masked_scores(captured.graph)
    measured = [*inputs, *(node for node in calls if node not in masked)]
    counterparts = {} if beside != FLOAT_MODEL else _counterparts(measured, quantized.graph)
    plain = _Recorder(captured.graph, set(counterparts))
    coded = _Recorder(quantized, set(counterparts.values()))
    runs = [ModuleRunner(one.run, captured.which, captured.states) for one in (plain, coded)]
    sums = {node: Sums(_ends(other)) for node, other in counterparts.items()}
    outputs = [OutputNoise(_ends(each)) for each in _results(quantized, len(captured.states))]
    float_module.reset()
    for sample in track(chosen, "comparison with the float model"):
        wanted = float_module.step(sample)
        _, got = [run.step(sample) for run in runs]
        for output, want, value in zip(outputs, wanted, got, strict=True):
            output.add(want, value)
        for node, other in counterparts.items():
            if node in plain.values and other in coded.values:
                sums[node].add(plain.values[node], coded.values[other])
    float_module.reset()
    return Quality(
        inputs=len(chosen),
        available=len(samples),
        source=source,
        outputs=tuple(output.quality() for output in outputs),
        layers=tuple(_layers(captured.graph.graph, inputs, sums, base)),
        beside=beside,
    )


def choose_samples(samples: Sequence[Sample], captured: Captured) -> list[Sample]:
    """Inputs spread evenly over `samples`; of a model with state the first ones, in their order."""
    count = min(len(samples), MAX_INPUTS, max(_MIN_INPUTS, _BUDGET // cost_of(captured)))
    if captured.states:
        return list(samples[:count])
    return [samples[k * len(samples) // count] for k in range(count)]


def cost_of(captured: Captured) -> int:
    """What an input costs."""
    values = [node.meta.get("val") for node in captured.graph.graph.nodes]
    return sum(v.numel() for v in values if isinstance(v, torch.Tensor)) + _CALL * len(values)


class _Recorder(Interpreter):
    """Runs a graph and keeps the values of some nodes until the next run."""

    def __init__(self, module: GraphModule, wanted: set[Node]) -> None:
        super().__init__(module)
        self._wanted = wanted
        # Operators in place write over what they, or views of it, read.
        self._keep: Callable[[torch.Tensor], torch.Tensor] = (
            torch.clone if any(map(writes, module.graph.nodes)) else torch.Tensor.detach
        )
        self.values: dict[Node, torch.Tensor] = {}

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.values = {}
        return super().run(*args, **kwargs)

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if CODED in n.meta and n in self._wanted:
            scale, zero_point = n.meta[CODED][:2]
            self.values[n] = (value.float() - zero_point) * scale
        elif n in self._wanted and isinstance(value, torch.Tensor) and _is_measured(value):
            self.values[n] = self._keep(value)
        return value


def _is_measured(value: torch.Tensor) -> bool:
    """Truth values, too, are: what is compared may be rounded across a threshold."""
    return value.is_floating_point() or value.dtype is torch.bool


def operator_of(node: Node) -> str:
    """``conv2d``, also for one in place."""
    if node.target is STAND_IN:
        return "element-wise function"
    name = operator_name(node) or str(getattr(node.target, "__name__", ""))
    return name.rpartition("::")[2].rstrip("_")


def _counterparts(nodes: list[Node], quantized: Graph) -> dict[Node, Node]:
    """For a node of the captured graph the node of the quantized one that gives its value."""
    tagged: dict[int, Node] = {}
    by_name: dict[str, Node] = {}
    for node in quantized.nodes:
        if node.op == "placeholder":
            by_name[node.name] = node
        tag = tag_of(node)
        if node.op == "call_function" and tag is not None:
            if not operator_name(node).startswith("quantized_decomposed::"):
                tagged.setdefault(tag, node)
    found = {}
    for node in nodes:
        tag = tag_of(node)
        other = by_name.get(node.name) if node.op == "placeholder" else tagged.get(tag or 0)
        alike = node.op == "placeholder" or recurrent_call(node) is not None
        if other is not None and (alike or other.target is node.target):
            found[node] = _dequantized(other)
    return found


def _dequantized(node: Node) -> Node:
    """`node`'s value as codes give it, if it is quantized; else `node`."""
    for user in node.users:
        if operator_name(user).startswith("quantized_decomposed::quantize"):
            for result in user.users:
                if operator_name(result).startswith("quantized_decomposed::dequantize"):
                    return result
    return node


def _results(graph: GraphModule, states: int) -> list[Any]:
    """What the outputs are."""
    results: Any = graph.graph.output_node().args[0]
    return tree_leaves(results)[states:]


def _ends(result: Any) -> tuple[float, float]:
    """Beyond which a result's values are more than a step away from their codes."""
    if operator_name(result) != "quantized_decomposed::dequantize_per_tensor":
        return -math.inf, math.inf
    scale, zero_point, least, most = result.args[1:5]
    return (least - zero_point - 1) * scale, (most - zero_point + 1) * scale


def _reader(node: Node) -> Node:
    """The first call that computes with an input."""
    for reader in node.users:
        if reader.op == "call_function":
            return _reader(reader) if operator_of(reader) in _MOVING and reader.users else reader
    return node


def _layers(
    graph: Graph, inputs: list[Node], sums: dict[Node, Sums], base: Path
) -> list[LayerQuality]:
    """The layers in the order of the graph. What only moves values, or has no counterpart as another
    operator took it in, counts as what it reads."""
    totals = {node: each.noise() for node, each in sums.items()}
    found: dict[Node, tuple[Noise, str]] = {}  # with the path of the module that it is the noise of
    listed: set[Node] = set()
    layers = []
    for node in graph.nodes:
        sources = [found[n] for n in node.all_input_nodes if n in found]
        before, reads = max(sources, key=lambda each: each[0].share, default=(Noise(), ""))
        layer = recurrent_call(node)
        moves = node.op == "call_function" and operator_of(node) in _MOVING and layer is None
        if not moves and node in totals and totals[node] != Noise():
            is_input = node in inputs
            place = layer_of(_reader(node) if is_input else node, base)
            found[node] = totals[node], place.path
            if layer in listed:
                continue
            listed.add(layer or node)
            name = f"input {inputs.index(node)}" if is_input else operator_of(layer or node)
            where = "" if is_input else str(place)
            layers.append(
                LayerQuality(
                    name, where, totals[node], before, place.path, reads, sums[node].beyond
                )
            )
        elif sources:
            found[node] = before, reads
    return layers
