# SPDX-License-Identifier: Apache-2.0
"""Which modules should have int16 codes, or compute in float: those without whose int8 codes the outputs
come nearer.

That a layer loses much says little about the outputs: means, norms and sums lose the noise again, and
layers behind may add more. So the quantized model runs again with the results of some modules rounded to
32767 steps on each side of zero, up to the end of the range that is farther away, as int16 codes are. That
is what a large range costs: where values stand close together far from zero, as those of a barometer whose
mean the model subtracts, 16 bits may not be enough. Then the same modules run without any rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves

from ...options.precision import Quantization, parse_patterns
from ...pte.quality import COSTLY_DB, Quality, Wider
from ..capture.capture import Captured
from ..capture.runner import ModuleRunner
from ..load.samples import Sample
from ..nodes import operator_name
from ..origin.layers import layers_of_graph
from ..rewrites.builder import Builder
from .borders import KEEP_CODES, find_widths
from .differences import OutputNoise
from .quantizer import moving_operators
from .tags import tag_of

ENOUGH_DB = 25.0
"""Above this ratio of the worst channel nothing is recommended."""

_MOST_DB = 90.0  # as much as 16 bits hold
_MOST_CODE = 32767
_FAR_DB = 5.0  # that are missing where the whole model comes into question
_FLOAT_DB = 10.0  # that float has to gain beyond 16 bits: it may cost much
_LEFT_DB = 1.0  # that may be lost for naming fewer modules
_TRIED = 5
_INPUTS = 16

Level = Callable[[Collection[str]], float]
"""The worst output's dB if the modules of these keys have finer codes, or none."""


def find_wider(
    quality: Quality,
    samples: Sequence[Sample],
    captured: Captured,
    quantized: GraphModule,
    float_module: ModuleRunner,
    base: Path,
    enough: float = ENOUGH_DB,
) -> Wider | None:
    """What to recommend for the model of `quality`; None if that gains little, or all is good.

    Args:
        samples: those that the quality was measured on.
        float_module: the user's; it is reset.
        base: the folder of the model file.
        enough: the ratio of the worst channel in dB above which all is good.
    """
    if not quality.losing or quality.level >= enough:
        return None
    layers = layers_of_graph(captured.graph.graph, base)
    calls = {n: layer.path for n, layer in layers.items() if n.op == "call_function"}
    keys = [key_of(path, calls.values()) for path in quality.losing]
    trials = Trials(samples, captured, quantized, float_module, calls)
    keys = keys[:_TRIED]
    wider = choose_keys(keys, partial(trials.level, 16), quality.level < enough - _FAR_DB)
    gain = 0.0 if wider is None else wider.gain
    if quality.level + gain < enough:
        exact = choose_keys(keys, partial(trials.level, 0), False, gain + _FLOAT_DB)
        if exact is not None:
            return replace(exact, precision="float")
    return wider


def key_of(path: str, paths: Iterable[str]) -> str:
    """What the model file's ``Quantization`` calls what a module computes itself; `paths` are all that
    compute."""
    inside = f"{path}." if path else ""
    return path if path and not any(each.startswith(inside) for each in paths) else f"{path}."


def choose_keys(
    keys: Sequence[str], level: Level, is_poor: bool, least: float = COSTLY_DB
) -> Wider | None:
    """The modules that gain enough by themselves; those of the last ones that gain little are left out.

    Args:
        keys: those that add most noise come first.
        is_poor: whether the whole model comes into question.
        least: what gains less is not worth it, in dB.
    """
    before = level(())
    if not math.isfinite(before):
        return None

    def gain(tried: Collection[str]) -> float:
        return min(level(tried) - before, _MOST_DB)

    kept, have = list(keys), gain(keys)
    if have <= least:
        whole = gain(("*",)) if is_poor else 0.0
        return Wider(("*",), whole) if whole > least else None
    least = max(least, have - _LEFT_DB)
    for key in reversed(keys):
        rest = [each for each in kept if each != key]
        if rest and (without := gain(rest)) > least:
            kept, have = rest, without
    return Wider(tuple(kept), have)


class Trials:
    """Runs of the quantized model beside the float model, on a part of the samples."""

    def __init__(
        self,
        samples: Sequence[Sample],
        captured: Captured,
        quantized: GraphModule,
        float_module: ModuleRunner,
        calls: dict[Node, str],
    ) -> None:
        count = min(len(samples), _INPUTS)
        # Those of a model with state follow one another.
        step = 1 if captured.states else len(samples) // count
        self._samples = samples[: count * step : step]
        self._captured, self._quantized = captured, quantized
        self._paths = {tag_of(node): path for node, path in calls.items()}
        names = {node: operator_name(node) for node in quantized.graph.nodes}
        between = {node.target for node, name in names.items() if name.startswith(_DOMAIN)}
        self._moving = moving_operators() | between
        self._constants = _constants(captured.graph, quantized)
        self.inputs = count
        float_module.reset()
        self._wanted = [float_module.step(sample) for sample in self._samples]
        float_module.reset()

    def level(self, finer: int, keys: Collection[str]) -> float:
        """See Level; `finer`: bits of their codes, 0 for float."""
        word = "a16w8" if finer else "float"
        quantization = Quantization(patterns=parse_patterns(dict.fromkeys(keys, word)))

        def bits(node: Node) -> int | None:
            path = self._paths.get(tag_of(node))
            if path is None:
                return None
            precision = quantization.precision_of(path)
            return 0 if precision is None else precision.activations

        states = self._captured.states
        widths = find_widths(self._quantized, bits, self._moving, len(states))
        nodes = {node for node, width in widths.items() if width == finer}
        return self._level_of(Finer(self._quantized, nodes, finer, self._constants))

    def layers(self) -> dict[Node, set[Node]]:
        """The nodes of the quantized model that each of its layers with codes consists of, by the first one.

        What moves or limits values, or reads some that no codes were made of, is part of the layers that
        they come from: so each rounding belongs to one layer, or to those that a concatenation joins.
        """
        parts: dict[Node, frozenset[Node]] = {}
        found: dict[Node, set[Node]] = {}
        rounded: set[Node] = set()
        passing = {*self._moving, *KEEP_CODES}
        for node in self._quantized.graph.nodes:
            read = [each for each in node.all_input_nodes if each in parts]
            name = operator_name(node)
            if node.op == "call_function" and node.target not in passing:
                read = [each for each in read if each.op == "call_function" and not _is_coded(each)]
            elif node.op != "placeholder" and not read:
                continue
            first = [parts[each] for each in read]
            parts[node] = frozenset[Node]().union(*first) or frozenset({node})
            is_rounding = name.startswith(_DOMAIN) and not _is_coded(node)
            if is_rounding or not self._constants.keys().isdisjoint(node.all_input_nodes):
                rounded |= parts[node]
            for each in parts[node]:
                found.setdefault(each, set()).add(node)
        return {first: nodes for first, nodes in found.items() if first in rounded}

    def level_without(self, nodes: Collection[Node]) -> float:
        """The worst output's dB if the results of `nodes` and the weights that they read are not rounded."""
        return self._level_of(_Unrounded(self._quantized, nodes, 0, self._constants))

    def _level_of(self, model: Finer) -> float:
        run = ModuleRunner(model.run, self._captured.which, self._captured.states)
        outputs = [OutputNoise() for _ in self._wanted[0]]
        for sample, wanted in zip(self._samples, self._wanted, strict=True):
            for output, want, got in zip(outputs, wanted, run.step(sample), strict=True):
                output.add(want, got)
        return min((output.quality().level for output in outputs), default=math.inf)


_DOMAIN = "quantized_decomposed::"


def _constants(captured: GraphModule, quantized: GraphModule) -> dict[Node, torch.Tensor]:
    """What calls read from constants in codes, before these were rounded."""
    tagged = {tag_of(node): node for node in captured.graph.nodes if node.op == "call_function"}
    found = {}
    for node in quantized.graph.nodes:
        plain = tagged.get(tag_of(node))
        if plain is None or plain.target is not node.target:
            continue
        for read, source in zip(tree_leaves(node.args), tree_leaves(plain.args), strict=False):
            value = Builder.value_in(captured, source) if _is_coded(read) else None
            if value is not None:
                found[read] = value
    return found


def _is_coded(node: Node) -> bool:
    """Whether it gives what codes say."""
    return operator_name(node).startswith(f"{_DOMAIN}dequantize")


def _is_per_tensor(node: Node) -> bool:
    """Whether it gives what int8 codes of one scale say, but those of weights, which have no -128."""
    is_value = operator_name(node) == f"{_DOMAIN}dequantize_per_tensor" and -128 in node.args[3:4]
    return is_value and torch.int8 in node.args


class Finer(Interpreter):
    """Runs a quantized graph; the results of some nodes are rounded to int16 codes where one of these nodes
    reads them, and to int8 codes where any other does. With `bits` of 0 they are not rounded."""

    def __init__(
        self,
        module: GraphModule,
        finer: Collection[Node],
        bits: int,
        constants: dict[Node, torch.Tensor],
    ) -> None:
        super().__init__(module)
        self._finer, self._bits = finer, bits
        self._sources: dict[Node, Any] = {}
        for result in module.graph.nodes:
            rounded: Any = result.args[0] if self._is_rounded(result) else None
            if operator_name(rounded).startswith(_DOMAIN) and rounded.args[0] in finer:
                self._sources[result] = rounded.args[0]
        self._results: dict[Node, Any] = dict.fromkeys(self._sources.values())
        self._ranges: dict[Node, tuple[float, float]] = {}
        self._values: dict[Node, torch.Tensor] = {
            node: self._rounded(node, value)
            for node, value in constants.items()
            if not bits or _is_per_tensor(node)
        }

    def _is_rounded(self, node: Node) -> bool:
        """Whether it gives what codes say that come into question."""
        return _is_per_tensor(node)

    def _rounded(self, dequantize: Node, value: torch.Tensor) -> torch.Tensor:
        if not self._bits:
            return value.clone()  # operators in place write over what they read
        codes: Any = dequantize.args[1:5]
        scale, zero_point, least, most = codes
        step: float = scale * max(zero_point - least, most - zero_point) / _MOST_CODE
        return torch.round(value / step) * step

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n in self._results:
            self._results[n] = value
        elif n in self._sources:
            exact = self._results[self._sources[n]]
            self._values[n] = self._rounded(n, exact)
            value = self._narrowed(n, exact, value)
        return value

    def _narrowed(self, n: Node, exact: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """What int8 codes say of a result: its own, but where they are as coarse as what it was computed from
        (small.py) those of the range that it had so far."""
        codes: Any = n.args[1:5]
        scale, _, least, most = codes
        if not exact.numel():
            return value
        low, high = self._ranges.get(n, (0.0, 0.0))
        low, high = min(low, float(exact.min())), max(high, float(exact.max()))
        self._ranges[n] = low, high
        step = (high - low) / (most - least)
        return torch.round(exact / step) * step if 0.0 < step < scale / 2.0 else value

    def fetch_args_kwargs_from_env(self, n: Node) -> Any:
        if n not in self._finer or self._values.keys().isdisjoint(n.all_input_nodes):
            return super().fetch_args_kwargs_from_env(n)
        env, self.env = self.env, {**self.env, **self._values}
        try:
            return super().fetch_args_kwargs_from_env(n)
        finally:
            self.env = env


class _Unrounded(Finer):
    """The results of some nodes, in codes of any size, are not rounded for any reader."""

    def _is_rounded(self, node: Node) -> bool:
        return operator_name(node) == f"{_DOMAIN}dequantize_per_tensor"

    def _narrowed(self, n: Node, exact: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return exact
