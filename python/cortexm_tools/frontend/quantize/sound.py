# SPDX-License-Identifier: Apache-2.0
"""The codes of sound: 16 bits for all that a logarithm of spectra comes from, and PCM as it is.

A spectrum has to resolve what is 60 dB and more below the loudest sound, so the samples, and what is
computed of them before, have int16 codes whatever the precision of the layer is. An input has
the scale of PCM, 2^-15 of samples in [-1, 1] and 1 of samples that are integers: an application gives
what its converter gives, and sound louder than that of calibration is not cut.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Container, Sequence
from functools import cache
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.samples import Sample
from ..nodes import operator_name
from ..rewrites.spectrum.log_mel import LOG_MEL

_PCM = 2.0**15
_CUTS = 64  # places of a window at which sound begins or ends


def sounds(model: GraphModule) -> set[Node]:
    """All that a logarithm of spectra is computed from, but for constants."""
    found: set[Node] = set()
    for node in reversed(list(model.graph.nodes)):
        if any(
            user in found or user.target is LOG_MEL and user.args[0] is node for user in node.users
        ):
            if node.op != "get_attr":
                found.add(node)
    return found


_ENERGIES = frozenset(
    f"aten::{name}"
    for name in "add sub mul neg exp softplus clamp stack cat select slice narrow unsqueeze squeeze "
    "reshape view flatten transpose permute expand clone contiguous movedim swapaxes".split()
) | {"cortexm_tools::unary"}


def energies(model: GraphModule) -> set[Node]:
    """All that is computed element by element from logarithms of energies, and the numbers behind it:
    what takes energies as they are, takes them with 16 bits."""
    found: set[Node] = set()
    for node in model.graph.nodes:
        if node.target is LOG_MEL:
            if node.args[13]:
                found.add(node)
        elif found.isdisjoint(node.all_input_nodes):
            continue
        elif operator_name(node) in _ENERGIES or node.op == "call_module":  # an observer
            found.add(node)
    return found


def observe_silence(
    prepared: GraphModule,
    samples: Sequence[Sample],
    which: tuple[bool, ...],
    states: tuple[State, ...],
) -> None:
    """Let the observers of energies see silence before and behind sound, too.

    What an average does there hardly ever occurs in calibration, and is how firmware begins. The ranges
    of everything else stay as they are.
    """
    wide = energies(prepared)
    if not wide:
        return
    observers = {
        node: prepared.get_submodule(str(node.target))
        for node in prepared.graph.nodes
        if node.op == "call_module"
    }
    seen = {id(module) for node, module in observers.items() if node.args[0] in wide}
    others = [module for module in observers.values() if id(module) not in seen]
    before = [copy.deepcopy(module.state_dict()) for module in others]
    inputs = prepared.graph.find_nodes(op="placeholder")[: len(samples[0])]
    found = sounds(prepared)
    heard = [node in found for node in inputs]
    run = ModuleRunner(prepared, which, states)
    for number in range(_CUTS):
        sample = samples[number % len(samples)]
        place = 0.0 if states else number / _CUTS
        for before_it, behind_it in ((0, 0), (0, 1), (1, 0)):
            run.step(
                tuple(
                    _cut(x, place, before_it, behind_it) if is_sound else x
                    for x, is_sound in zip(sample, heard, strict=True)
                )
            )
    for module, values in zip(others, before, strict=True):
        module.load_state_dict(values)


def _cut(x: torch.Tensor, place: float, before: int, behind: int) -> torch.Tensor:
    """Samples, times one number before a place and another one behind it."""
    cut = int(place * x.shape[-1])
    return x * torch.tensor([float(before)] * cut + [float(behind)] * (x.shape[-1] - cut))


def annotate_spectra(
    model: GraphModule,
    widths: dict[Node, int],
    configs: dict[int, Any],
    moving: Container[Any],
) -> None:
    """Say which codes logarithms of spectra take and give.

    Args:
        widths: bits of the codes of every node.
        configs: ExecuTorch's quantization configuration by bits.
        moving: operators that change no value.
    """
    from executorch.backends.cortex_m.quantizer.quantizer import mark_node_as_annotated

    for node in model.graph.nodes:
        if node.target is not LOG_MEL or not widths[node]:
            continue
        sound = node.args[0]
        origins = _origins(sound, moving)
        taken = configs[16].get_input_act_qspec()
        if all(origin.op == "placeholder" for origin in origins):
            taken = pcm_spec()
            for origin in origins:
                mark_node_as_annotated(origin, {}, taken, True)
        given = configs[widths[node]].get_output_act_qspec(node)
        mark_node_as_annotated(node, {sound: taken}, given, True)


def _origins(node: Node, moving: Container[Any]) -> list[Node]:
    """What samples are moved from, and put side by side with."""
    found, pending = dict[Node, None](), [node]
    while pending:
        each = pending.pop()
        if each.target in moving and each.all_input_nodes:
            pending += each.all_input_nodes
        elif each.op != "get_attr":
            found[each] = None
    return list(found)


@cache
def pcm_spec() -> Any:
    """The type of the codes of samples."""
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    return QuantizationSpec(
        dtype=torch.int16,
        observer_or_fake_quant_ctr=_pcm_observer(),
        quant_min=-32768,
        quant_max=32767,
        qscheme=torch.per_tensor_symmetric,
    )


def _pcm_observer() -> Callable[..., Any]:
    """The class of the observer that takes samples for PCM."""
    from torchao.quantization.pt2e import MinMaxObserver

    class PcmObserver(MinMaxObserver):  # type: ignore[misc]
        """A power of two for the scale: see `pcm_scale`."""

        def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
            loudest = float(torch.maximum(self.max_val.abs(), self.min_val.abs()))
            scale = pcm_scale(loudest if math.isfinite(loudest) else 0.0)
            return torch.tensor([scale]), torch.zeros(1, dtype=torch.int64)

    return PcmObserver


def pcm_scale(loudest: float) -> float:
    """The scale of samples up to `loudest`: numbers up to 1 are in [-1, 1], others up to 2^15 integers;
    else the least power of two."""
    if loudest <= 1.0:
        return 1 / _PCM
    if 8.0 < loudest <= _PCM:
        return 1.0
    return float(2.0 ** math.ceil(math.log2(loudest))) / _PCM
