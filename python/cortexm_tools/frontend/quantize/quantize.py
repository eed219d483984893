# SPDX-License-Identifier: Apache-2.0
"""Post-training quantization with ExecuTorch's Cortex-M quantizer."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.fx import GraphModule, Node

from ...advice import advice_on
from ...errors import CortexMError
from ...ir.types import Layer
from ...options.precision import Rounding
from ...progress import track
from ...pte.rounded import Rounded
from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.samples import Sample
from ..origin.blame import layer_of_error
from ..origin.places import first_line
from ..quiet import quiet
from ..rewrites.recurrent_operators import OPERATORS
from .borders import Widths
from .choice import Choices
from .embeddings import round_tables
from .ends import kept_ends
from .finite import require_finite
from .given import GivenScales, keep_scales
from .given_back import give_inputs_back
from .joined import joined_apart
from .quantizer import make_quantizer, moving_operators
from .recurrent import note_codes
from .recurrent_rounding import MOST
from .rounding import round_by_inputs
from .scales import take_factors_in
from .small import coarsen_results, let_biases_fit, lower_floors
from .sound import observe_silence
from .tags import tag_of

_aten = torch.ops.aten

_ACTIVATIONS = {
    _aten.relu.default,
    _aten.relu_.default,
    _aten.hardtanh.default,
    _aten.hardtanh_.default,
    _aten.hardsigmoid.default,
    _aten.hardsigmoid_.default,
    _aten.clamp.default,
    _aten.clamp_.default,
}


def split_activations(graph: GraphModule, numbers: Iterable[int]) -> None:
    """Keep the quantizer from fusing activations into the calls with these tags.

    A clone in between makes the quantizer treat both separately: the call gets quantization
    parameters of its own for its output, and the activation works on codes.
    """
    wanted = set(numbers)
    for node in list(graph.graph.nodes):
        if tag_of(node) not in wanted:
            continue
        for user in list(node.users):
            if user.target in _ACTIVATIONS:
                with graph.graph.inserting_after(node):
                    clone = graph.graph.call_function(_aten.clone.default, (node,))
                clone.meta = {**node.meta, "custom": {}}
                user.replace_input_with(node, clone)
    graph.recompile()


@dataclass(frozen=True)
class Quantized:
    """A model with quantize-dequantize pairs.

    Attributes:
        rounded: if its weights were rounded by its inputs.
        measured: how many ranges are not in the scales that were given.
    """

    graph: GraphModule
    rounded: Rounded | None = None
    measured: int = 0


def quantize(
    graph: GraphModule,
    samples: Sequence[Sample],
    which: tuple[bool, ...],
    states: tuple[State, ...] = (),
    *,
    base: Path,
    four_bits: Container[int] = (),
    choices: Choices | None = None,
    rounding: Rounding = Rounding.NEAREST,
    given: GivenScales | None = None,
) -> Quantized:
    """`graph` with quantize-dequantize pairs, ranges measured on `samples`. Changes `graph`.

    Args:
        samples: they are one sequence of calls.
        which: which of its inputs and states the graph takes in channels_last order.
        states: what comes in behind the inputs, and goes out before the outputs.
        base: the folder of the model file, for messages.
        four_bits: the tags of the layers with weights of 4 bits.
        choices: the precisions of calls by their tags; None for int8 everywhere.
        rounding: how weights become codes.
        given: the scales that count before those which the samples give.

    Raises:
        CortexMError: the quantizer fails, as it does where a value is not finite.
    """
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    def largest(node: Node) -> int:
        return 7 if tag_of(node) in four_bits else 127

    def apart(model: GraphModule, widths: Widths) -> set[Node]:
        if given is not None:  # with the scale of the whole
            return set()
        return joined_apart(model, widths, moving_operators(), samples, which, states)

    prepared = None
    try:
        with quiet(), torch.no_grad(), kept_ends():
            quantizer = make_quantizer(states, largest, choices or {}, apart)
            prepared = prepare_pt2e(graph, quantizer)
            run = ModuleRunner(prepared, which, states)
            for sample in track(samples, "calibration"):
                run.step(sample)
            for node in prepared.graph.nodes:
                if node.target in OPERATORS:
                    node.meta[MOST] = largest(node)
            observe_silence(prepared, samples, which, states)
            lower_floors(prepared)
            let_biases_fit(prepared)
            if given is None:
                coarsen_results(prepared)
            measured = 0 if given is None else keep_scales(prepared, given, which, states)
            rounded = None
            if rounding is Rounding.GPTQ:
                rounded = round_by_inputs(prepared, samples, which, states, base)
            round_tables(prepared, four_bits)
            note_codes(prepared)
            converted = convert_pt2e(prepared)
            take_factors_in(converted)
            give_inputs_back(converted, len(states))
    except CortexMError:
        raise
    except Exception as error:
        if prepared is not None:
            with quiet():
                require_finite(prepared, samples, which, states, base)
        layer = layer_of_error(error, graph.graph, base)
        raise CortexMError(
            f"ExecuTorch cannot quantize {layer.call or 'the model'}: {first_line(error)}",
            where=str(layer) if layer != Layer() else "",
            hint=advice_on(layer.call),
        ) from error
    assert isinstance(converted, GraphModule)
    return Quantized(converted, rounded, measured)
