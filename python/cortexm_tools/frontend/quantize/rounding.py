# SPDX-License-Identifier: Apache-2.0
"""Rounds the weights of a prepared model by what its layers read on the calibration samples.

Every layer's inputs are those of the model with quantized activations and the weights as they are. (That
each layer saw the errors of the weights before it was tried: it is no better, and cannot be where layers
share their weights.) The weights become codes times a scale, to which the conversion rounds them
again; biases take the mean of the error, and with less than 8 bits the scale shrinks where cutting
the largest weights costs less than it gains. Every fifth sample is held back. On these a layer whose
error is not smaller than with the nearest codes gets those, and so do all if the model's results are
not better.

The work is bounded: `MAX_ELEMENTS` of activations in all samples, `_POSITIONS` inputs of a layer or
`_PER_INPUT` times the inputs of an output, and layers with more than `_MAX_SIZE` inputs of an output
keep the nearest codes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ...progress import track
from ...pte.noise import Noise
from ...pte.rounded import Rounded, RoundedLayer, mean_share
from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.samples import Sample
from ..origin.layers import layer_of
from .columns import WEIGHTED, argument, as_matrices, as_weight, columns, groups_of
from .gptq import Chosen, Moments, choose_codes
from .recurrent_rounding import RecurrentLayer, find_recurrent, round_recurrent
from .recurrent_rounding import watch as watch_recurrent
from .simulate import Grid, Simulation, grid_of, is_observer, one_thread

MAX_ELEMENTS = 250_000_000
_MIN_SAMPLES = 4
_HELD_BACK = 5  # every fifth sample, of at least twice as many
_POSITIONS = 2048
_PER_INPUT = 8
_MAX_SIZE = 4096


@dataclass
class _Call:
    """A call of a layer, with what it read."""

    node: Node
    step: float
    chosen_by: Moments
    held_back: Moments


@dataclass
class _Layer:
    """Calls with the same weights. `bias` is None where no bias is theirs alone."""

    calls: list[_Call]
    weight: torch.Tensor
    bias: torch.Tensor | None
    observers: list[Any]

    @property
    def first(self) -> Node:
        return self.calls[0].node


def round_by_inputs(
    prepared: GraphModule,
    samples: Sequence[Sample],
    which: tuple[bool, ...],
    states: tuple[State, ...],
    base: Path,
) -> Rounded | None:
    """Changes the weights, biases and scales of `prepared`; None if no layer has weights.

    Args:
        prepared: a model of prepare_pt2e after calibration.
        samples: what it was calibrated with.
        which: which of its inputs and states it takes in channels_last order.
        states: what it keeps from call to call.
        base: the folder of the model file, for names of layers.
    """
    with one_thread(), torch.no_grad():
        layers, recurrent = _find_layers(prepared), find_recurrent(prepared, _MAX_SIZE)
        if not layers and not recurrent:
            return None
        for each in recurrent:
            each.take_nearest()
        chosen = _choose(prepared, samples, bool(states))
        held = set(range(_HELD_BACK - 1, len(chosen), _HELD_BACK))
        if len(chosen) < 2 * _HELD_BACK:
            held = set()
        runner = partial(_Run, prepared, chosen, which, states, grids={})
        measured = held or set(range(len(chosen)))
        wanted = runner(measured, activations=False, weights=False).outputs
        before = _share(wanted, runner(measured).outputs)
        _collect(runner, layers, recurrent, len(chosen), held)
        taken = [_round(layer, bool(held), base) for layer in track(layers, "rounding of weights")]
        originals = [_replace(layer, each) for layer, each in zip(layers, taken, strict=True)]
        report = partial(report_on, base=base)
        others = [round_recurrent(layer, bool(held), report) for layer in recurrent]
        for each, choice in zip(recurrent, others, strict=True):
            if choice.report.by_inputs:
                each.take(choice.parts)
        after = _share(wanted, runner(measured).outputs)
        better = after <= before
        if not better:
            for layer, original in zip(layers, originals, strict=True):
                _restore(layer, original)
            for each in recurrent:
                each.take_nearest()
    order = {node: place for place, node in enumerate(prepared.graph.nodes)}
    reports = [(order[each.first], one.report) for each, one in zip(layers, taken, strict=True)]
    reports += [
        (order[each.first], one.report) for each, one in zip(recurrent, others, strict=True)
    ]
    reports.sort(key=itemgetter(0))
    return Rounded(
        held_back=len(held),
        nearest=before,
        chosen=after if better else before,
        layers=tuple(report if better else _nearest(report) for _, report in reports),
    )


def _nearest(layer: RoundedLayer) -> RoundedLayer:
    return replace(layer, chosen=layer.nearest, by_inputs=False)


def _find_layers(prepared: GraphModule) -> list[_Layer]:
    """The layers whose weights are nothing else, in the order of their first calls."""
    readers: dict[int, set[tuple[Node, int]]] = {}
    for node in prepared.graph.find_nodes(op="get_attr"):
        value = _attribute(prepared, node)
        if isinstance(value, torch.Tensor):
            found = readers.setdefault(value.data_ptr(), set())
            for user in node.users:
                ends = user.users if is_observer(prepared, user) else [user]
                found |= {
                    (end, i) for end in ends for i, x in enumerate(end.args) if x in (node, user)
                }
    layers: dict[int, _Layer] = {}
    for node in prepared.graph.nodes:
        weight = _constant(prepared, node.args[1]) if node.target in WEIGHTED else None
        if weight is None or any(
            end.target not in WEIGHTED or index != 1 for end, index in readers[weight.data_ptr()]
        ):
            continue
        matrices = as_matrices(node, weight)
        if matrices.shape[-1] > _MAX_SIZE:
            continue
        if not is_observer(prepared, node.args[0]):
            continue
        grid = grid_of(prepared, node.args[0])
        step = float(grid.step) if grid is not None and grid.step.numel() == 1 else 1.0
        nothing = [Moments.none(groups_of(node), matrices.shape[-1]) for _ in range(2)]
        layer = layers.setdefault(weight.data_ptr(), _Layer([], weight, None, []))
        layer.calls.append(_Call(node, step, *nothing))
        layer.observers.append(prepared.get_submodule(node.args[1].target))
    for layer in layers.values():
        calls = {call.node for call in layer.calls}
        biases = [_constant(prepared, argument(call.node, "bias")) for call in layer.calls]
        pointers = {bias.data_ptr() for bias in biases if bias is not None}
        if None not in biases and len(pointers) == 1:
            if all(end in calls and index == 2 for end, index in readers[pointers.pop()]):
                layer.bias = biases[0]
    return list(layers.values())


def _attribute(module: GraphModule, node: Node) -> Any:
    value: Any = module
    for part in str(node.target).split("."):
        value = getattr(value, part)
    return value


def _constant(prepared: GraphModule, node: Any) -> torch.Tensor | None:
    """The constant that an observer reads; None if `node` is no such observer."""
    if not isinstance(node, Node) or not is_observer(prepared, node):
        return None
    source = node.all_input_nodes[0]
    value = _attribute(prepared, source) if source.op == "get_attr" else None
    return value if isinstance(value, torch.Tensor) else None


def _choose(prepared: GraphModule, samples: Sequence[Sample], in_order: bool) -> list[Sample]:
    """Samples spread evenly; of a model with state the first ones, in their order."""
    values = [node.meta.get("val") for node in prepared.graph.nodes]
    cost = sum(value.numel() for value in values if isinstance(value, torch.Tensor)) + 1
    count = min(len(samples), max(_MIN_SAMPLES, MAX_ELEMENTS // cost))
    if in_order:
        return list(samples[:count])
    return [samples[k * len(samples) // count] for k in range(count)]


class _Run:
    """Runs a simulation on samples; with states on all up to the last of `numbers`.

    Attributes:
        outputs: for each sample of `numbers`.
    """

    def __init__(
        self,
        prepared: GraphModule,
        samples: list[Sample],
        which: tuple[bool, ...],
        states: tuple[State, ...],
        numbers: set[int],
        *,
        watch: Any = None,
        **options: Any,
    ) -> None:
        self.number = 0
        watched = watch(self) if watch is not None else None
        simulation = Simulation(prepared, watched=watched, **options)
        run = ModuleRunner(simulation.run, which, states)
        self.outputs: list[list[torch.Tensor]] = []
        for number in range(len(samples)):
            if states or number in numbers:
                self.number = number
                outputs = run.step(samples[number])
                if number in numbers and watch is None:
                    self.outputs.append([output.detach().clone() for output in outputs])


def _collect(
    runner: Any,
    layers: list[_Layer],
    recurrent: list[RecurrentLayer],
    count: int,
    held: set[int],
) -> None:
    """What every call reads on `count` samples."""

    def most(size: int) -> int:
        return math.ceil(max(_POSITIONS, _PER_INPUT * size) / count)

    def watch(run: _Run) -> dict[Node, Any]:
        def add(call: _Call, kernel: torch.Size, value: torch.Tensor) -> None:
            moments = call.held_back if run.number in held else call.chosen_by
            # Codes less their zero point, as far as the layer's inputs are codes.
            read = columns(call.node, value, kernel, most(moments.total.shape[-1])) / call.step
            moments.add(torch.round(read) if call.step != 1.0 else read)

        watched = watch_recurrent(recurrent, lambda: run.number in held, most)
        for layer in layers:
            for call in layer.calls:
                reads: Any = call.node.args[0]
                watched.append((reads, partial(add, call, layer.weight.shape)))
        calls: dict[Node, list[Any]] = {}
        for node, function in watched:
            calls.setdefault(node, []).append(function)
        return {node: partial(_tell, functions) for node, functions in calls.items()}

    runner(set(range(count)), weights=False, watch=watch)


def _tell(functions: list[Any], value: torch.Tensor) -> None:
    for function in functions:
        function(value)


def _share(wanted: list[list[torch.Tensor]], got: list[list[torch.Tensor]]) -> float:
    """The share of noise in the results, the mean of all outputs; of integers that of other values."""
    shares = []
    for output in range(len(wanted[0])):
        noise = Noise()
        for real, value in zip((s[output] for s in wanted), (s[output] for s in got), strict=True):
            real, value = real.double(), value.double()
            finite = torch.isfinite(real) & torch.isfinite(value)
            real, value = real[finite], value[finite]
            if wanted[0][output].is_floating_point():
                noise += Noise(float(real.square().sum()), float((real - value).square().sum()))
            else:
                noise += Noise(float(real.numel()), float((real != value).sum()))
        shares.append(noise.share)
    return mean_share([share for share in shares if share < math.inf])


@dataclass
class _Choice:
    """New weights for a layer.

    Attributes:
        report: with the noise of the nearest codes and of these; `by_inputs` says whether to take them.
        weight: codes times scales, in the layer's shape.
        shift: by how much the biases move, one for each output.
        shrunk: by how much the scales do: one factor, or one for each output.
    """

    report: RoundedLayer
    weight: torch.Tensor
    shift: torch.Tensor
    shrunk: torch.Tensor


def _sum(calls: Sequence[Moments], steps: Sequence[float]) -> Moments:
    """The moments of all calls, of the inputs themselves."""
    total = Moments(torch.zeros_like(calls[0].square), torch.zeros_like(calls[0].total))
    for moments, step in zip(calls, steps, strict=True):
        total.square += step * step * moments.square
        total.total += step * moments.total
        total.count += moments.count
    return total


def _round(layer: _Layer, has_held_back: bool, base: Path) -> _Choice:
    """Codes for a layer by what `_collect` found; they are to be taken if they are better."""
    weight = as_matrices(layer.first, layer.weight)
    grid = Grid(layer.observers[0])
    step = _steps(grid.step, weight)
    steps = [call.step for call in layer.calls]
    chosen_by = _sum([call.chosen_by for call in layer.calls], steps)
    judged_by = _sum([call.held_back for call in layer.calls], steps)
    judged_by = judged_by if has_held_back else chosen_by
    found = choose_codes(
        weight,
        step,
        grid.most,
        chosen_by,
        judged_by,
        has_bias=layer.bias is not None,
        each=grid.step.numel() > 1,
    )
    report = report_on(layer.first, grid.most, [found], found.is_better, base)
    shrunk = found.shrunk.reshape(-1)
    return _Choice(
        report,
        as_weight(layer.first, found.codes * (step * found.shrunk), layer.weight),
        found.shift.reshape(-1),
        shrunk if grid.step.numel() > 1 else shrunk[:1],
    )


def report_on(
    call: Node, most: int, found: Sequence[Chosen], taken: bool, base: Path
) -> RoundedLayer:
    """What rounding the weights of a layer, one or several matrices, did.

    Args:
        most: the largest code.
        taken: whether the codes are to be taken.
        base: the folder of the model file, for names of layers.
    """
    signal, plain, noise = (
        sum(getattr(each, name) for each in found) for name in ("signal", "nearest", "noise")
    )
    return RoundedLayer(
        operator=str(call.target).split(".")[1],
        layer=str(layer_of(call, base)),
        bits=most.bit_length() + 1,
        nearest=Noise(signal, plain),
        chosen=Noise(signal, noise if taken else plain),
        by_inputs=taken,
    )


def _steps(scales: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The scales of outputs as [G, O, 1]."""
    groups, outputs, _ = weight.shape
    return scales.double().expand(groups * outputs).reshape(groups, outputs, 1)


@dataclass
class _Original:
    weight: torch.Tensor
    bias: torch.Tensor | None
    ranges: list[tuple[torch.Tensor, torch.Tensor]]


def _replace(layer: _Layer, choice: _Choice) -> _Original:
    """Gives a layer the weights, biases and scales of a choice, if it is one to take."""
    bias = None if layer.bias is None else layer.bias.clone()
    ranges = [(each.min_val.clone(), each.max_val.clone()) for each in layer.observers]
    original = _Original(layer.weight.clone(), bias, ranges)
    if choice.report.by_inputs:
        layer.weight.copy_(choice.weight)
        if layer.bias is not None:
            layer.bias.add_(choice.shift.to(layer.bias.dtype))
        for observer, (least, most) in zip(layer.observers, ranges, strict=True):
            largest = torch.maximum(-least, most) * choice.shrunk.to(most.dtype).reshape(most.shape)
            observer.min_val, observer.max_val = -largest, largest
    return original


def _restore(layer: _Layer, original: _Original) -> None:
    layer.weight.copy_(original.weight)
    if layer.bias is not None and original.bias is not None:
        layer.bias.copy_(original.bias)
    for observer, (least, most) in zip(layer.observers, original.ranges, strict=True):
        observer.min_val, observer.max_val = least, most
