# SPDX-License-Identifier: Apache-2.0
"""Which modules should have int16 codes: those without whose int8 codes the outputs come nearer.

That a layer loses much says little about the outputs: means, norms and sums lose the noise again, and
layers behind may add more. So the quantized model runs again with the results of some modules rounded to
32767 steps on each side of zero, up to the end of the range that is farther away, as int16 codes are. That
is what a large range costs: where values stand close together far from zero, 16 bits may gain little, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from ...options.precision import Quantization, parse_patterns
from ...pte.quality import COSTLY_DB, Quality, Wider
from ..capture.capture import Captured
from ..capture.runner import ModuleRunner
from ..load.samples import Sample
from ..nodes import operator_name
from ..origin.layers import layers_of_graph
from .borders import find_widths
from .differences import OutputNoise
from .quantizer import moving_operators
from .tags import tag_of

ENOUGH_DB = 25.0
"""Above this ratio of the worst channel nothing is recommended."""

POOR_DB = 20.0
"""Below this ratio the whole model may be."""

_MOST_DB = 90.0  # as much as 16 bits hold
_MOST_CODE = 32767
_LEFT_DB = 1.0  # that may be lost for naming fewer modules
_TRIED = 8
_INPUTS = 16

Level = Callable[[Collection[str]], float]
"""The worst output's dB if the modules of these keys have int16 codes."""


def find_wider(
    quality: Quality,
    samples: Sequence[Sample],
    captured: Captured,
    quantized: GraphModule,
    float_module: ModuleRunner,
    base: Path,
) -> Wider | None:
    """What to recommend for the model of `quality`; None if int16 codes gain little, or all is good.

    Args:
        samples: those that the quality was measured on.
        float_module: the user's; it is reset.
        base: the folder of the model file.
    """
    if not quality.losing or quality.level >= ENOUGH_DB:
        return None
    layers = layers_of_graph(captured.graph.graph, base)
    calls = {n: layer.path for n, layer in layers.items() if n.op == "call_function"}
    keys = [key_of(path, calls.values()) for path in quality.losing]
    trials = _Trials(samples, captured, quantized, float_module, calls)
    return choose_keys(keys[:_TRIED], trials.level, quality.level < POOR_DB)


def key_of(path: str, paths: Iterable[str]) -> str:
    """What the model file's ``Quantization`` calls what a module computes itself; `paths` are all that
    compute."""
    inside = f"{path}." if path else ""
    return path if path and not any(each.startswith(inside) for each in paths) else f"{path}."


def choose_keys(keys: Sequence[str], level: Level, is_poor: bool) -> Wider | None:
    """The modules that gain enough by themselves; those of the last ones that gain little are left out.

    Args:
        keys: those that add most noise come first.
        is_poor: whether the whole model comes into question.
    """
    before = level(())
    if not math.isfinite(before):
        return None

    def gain(tried: Collection[str]) -> float:
        return min(level(tried) - before, _MOST_DB)

    kept, have = list(keys), gain(keys)
    if have <= COSTLY_DB:
        whole = gain(("*",)) if is_poor else 0.0
        return Wider(("*",), whole) if whole > COSTLY_DB else None
    least = max(COSTLY_DB, have - _LEFT_DB)
    for key in reversed(keys):
        rest = [each for each in kept if each != key]
        if rest and (without := gain(rest)) > least:
            kept, have = rest, without
    return Wider(tuple(kept), have)


class _Trials:
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
        float_module.reset()
        self._wanted = [float_module.step(sample) for sample in self._samples]
        float_module.reset()

    def level(self, keys: Collection[str]) -> float:
        """See Level."""
        quantization = Quantization(patterns=parse_patterns(dict.fromkeys(keys, "a16w8")))

        def bits(node: Node) -> int | None:
            path = self._paths.get(tag_of(node))
            precision = quantization.precision_of(path) if path is not None else None
            return precision.activations if precision is not None else None

        states = self._captured.states
        widths = find_widths(self._quantized, bits, self._moving, len(states))
        finer = _Finer(self._quantized, {n for n, width in widths.items() if width == 16})
        run = ModuleRunner(finer.run, self._captured.which, states)
        outputs = [OutputNoise() for _ in self._wanted[0]]
        for sample, wanted in zip(self._samples, self._wanted, strict=True):
            for output, want, got in zip(outputs, wanted, run.step(sample), strict=True):
                output.add(want, got)
        return min((output.quality().level for output in outputs), default=math.inf)


_DOMAIN = "quantized_decomposed::"


class _Finer(Interpreter):
    """Runs a quantized graph; the results of some nodes are rounded to int16 codes where one of these nodes
    reads them, and to int8 codes where any other does."""

    def __init__(self, module: GraphModule, finer: Collection[Node]) -> None:
        super().__init__(module)
        self._finer = finer
        self._sources = {
            result: rounded.args[0]
            for result in module.graph.nodes
            if operator_name(result) == f"{_DOMAIN}dequantize_per_tensor"
            and operator_name(rounded := result.args[0]) == f"{_DOMAIN}quantize_per_tensor"
            and rounded.args[0] in finer
            and torch.int8 in rounded.args
        }
        self._results: dict[Node, Any] = dict.fromkeys(self._sources.values())
        self._values: dict[Node, Any] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n in self._results:
            self._results[n] = value
        elif n in self._sources:
            codes: Any = n.args[1:5]
            scale, zero_point, least, most = codes
            step = scale * max(zero_point - least, most - zero_point) / _MOST_CODE
            self._values[n] = torch.round(self._results[self._sources[n]] / step) * step
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> Any:
        if n not in self._finer or self._values.keys().isdisjoint(n.all_input_nodes):
            return super().fetch_args_kwargs_from_env(n)
        env, self.env = self.env, {**self.env, **self._values}
        try:
            return super().fetch_args_kwargs_from_env(n)
        finally:
            self.env = env
