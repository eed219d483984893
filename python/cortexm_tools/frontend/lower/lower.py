# SPDX-License-Identifier: Apache-2.0
"""From a loaded model to a lean .pte with the layers its instructions came from."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule

from ...advice import advice_on
from ...errors import CortexMError
from ...ir.types import Layer
from ...options.precision import INT8, Quantization, precision_word
from ...progress import task
from ...pte.quality import Quality
from ...pte.study import Study
from ...runner import Progress, Runner
from ...target import CORES, Target
from ..capture.capture import Captured, capture
from ..capture.runner import ModuleRunner
from ..capture.state import State, Stateless
from ..load.model_file import LoadedModel
from ..origin.blame import layer_of_error
from ..origin.layers import kernel_layers, layers_of_graph
from ..origin.places import first_line, root_cause
from ..quantize.choice import check_patterns, choose, patterns_choose_all
from ..quantize.finite import require_finite_weights
from ..quantize.given import GivenScales, by_another_quantizer, is_quantized, take_scales
from ..quantize.measure import measure
from ..quantize.quantize import Quantized, quantize, split_activations
from ..quantize.simulate import one_thread
from ..quantize.study import FloatStudy
from ..quantize.tags import tag_nodes, tag_of
from ..quantize.weight_bits import four_bits
from ..quiet import import_executorch, quiet
from ..rewrites import decompose_floats
from .buffers import check_initial_values, make_buffers, place_writes, shows_buffers
from .guard import unsafe_nodes
from .lean import make_lean
from .missing import check_captured, check_lowered
from .narrow import narrow_multipliers
from .norms import keep_norms
from .orders import named_orders
from .passes import pass_list
from .recurrent import to_codes
from .reference import Reference
from .replay import quick_passes

# Each round splits the activations off at least one more operator; two are the most ever needed.
_MAX_ROUNDS = 4

# A model of so many operators is lowered in more than some ten seconds.
_MANY_OPERATORS = 300

_STAGES = 6

_RECURRENT = (torch.nn.RNNBase, torch.nn.RNNCellBase)


@dataclass(frozen=True)
class Lowered:
    """A lowered model.

    Attributes:
        pte: the ExecuTorch program.
        layers: operator name and layer of each kernel call, in program order.
        reference: runs ExecuTorch's Python reference operators of the lowered program; logical
            inputs to outputs, one array each.
        float_module: runs the model before quantization in the same way.
        fake_quantized: runs the model with quantize-dequantize pairs, before lowering.
        warnings: sentences for the user.
        quality: of the quantized model beside the float model; None if nothing was quantized.
        texts: the program as Python code after each stage, by the stage's name.
        study: what else can be tried with the model; None if no float model was quantized.
    """

    pte: bytes
    layers: tuple[tuple[str, Layer], ...]
    reference: Runner = field(repr=False)
    float_module: Runner = field(repr=False)
    fake_quantized: Runner = field(repr=False)
    warnings: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict, repr=False)
    quality: Quality | None = field(default=None, repr=False)
    study: Study | None = field(default=None, repr=False)


def lower(
    loaded: LoadedModel,
    *,
    target: Target,
    quantization: Quantization | None = INT8,
    name: str,
    progress: Progress = lambda text: None,
) -> Lowered:
    """Quantize and lower a model for `target`.

    Args:
        quantization: None lowers the model as it is; the model's own patterns come before its
            precision. One that is quantized already has its own scales with either.
        name: the model's name, for messages.
        progress: hears of every stage of a model that takes long.

    Raises:
        CortexMError: the model cannot be captured, quantized or lowered correctly.
    """
    import_executorch()

    def lowered(quantization: Quantization | None, given: GivenScales | None = None) -> Lowered:
        return _lower(loaded, target, quantization, given, name, progress)

    if not is_quantized(loaded.module):
        if quantization is not None:
            quantization = replace(quantization, patterns=loaded.patterns)
        return lowered(quantization)
    if quantization not in (None, INT8) or loaded.patterns:
        raise CortexMError(
            "the model is quantized already: its precision cannot be chosen",
            where=loaded.path.name,
            hint="leave it at int8",
        )
    if by_another_quantizer(loaded.module):
        return lowered(INT8, take_scales(loaded))
    try:
        return lowered(None)
    except CortexMError as error:  # quantizers for other processors of Arm leave the same marks
        try:
            return lowered(INT8, take_scales(loaded))
        except CortexMError:
            raise error from None


def _lower(
    whole: LoadedModel,
    target: Target,
    quantization: Quantization | None,
    given: GivenScales | None,
    name: str,
    progress: Progress,
) -> Lowered:
    """`whole`, or the model on floats in `given`, lowered."""
    warnings: list[str] = []
    loaded = whole if given is None else replace(whole, module=given.module)
    with ExitStack() as stack:
        for each in (quiet(), quick_passes(), named_orders(), torch.random.fork_rng(devices=[])):
            stack.enter_context(each)
        torch.manual_seed(0)
        if any(isinstance(each, _RECURRENT) for each in loaded.module.modules()):
            stack.enter_context(one_thread())  # a step is too small to be shared
        if quantization is None:
            captured = capture(loaded, rewritten=False)
        else:
            captured = capture(loaded, precision_of=quantization.precision_of)
        check_captured(captured.graph.graph, loaded.path.parent)
        tag_nodes(captured.graph)
        if quantization is not None:
            require_finite_weights(captured.graph, loaded.path.parent)
        if quantization is not None and quantization.patterns:
            warnings += _check_patterns(quantization, captured, loaded, name)
        count = sum(node.op == "call_function" for node in captured.graph.graph.nodes)

        lowering = stack.enter_context(task("lowering", _STAGES))

        def stage(text: str, number: int) -> None:
            lowering.at(number - 1, text)
            if count >= _MANY_OPERATORS:
                progress(f"{count:,} operators: {text} ({number} of {_STAGES})")

        edge, quantized = _lower_safely(captured, loaded, target, quantization, name, stage, given)
        if quantization is not None and loaded.calibration is None and given is None:
            warnings.append(
                f"{name}: no CalibrationInputs: quantization ranges come from ModelInputs alone, "
                "which can cost much accuracy on other inputs; give some ten to a few hundred "
                "typical inputs"
            )
        if quantized.measured:
            source = "ModelInputs alone" if loaded.calibration is None else "CalibrationInputs"
            warnings.append(
                f"{name}: values without a scale in the quantized model have one from {source}: "
                f"{quantized.measured}"
            )
        which, states = captured.which, captured.states
        float_module = ModuleRunner(
            Stateless(whole.module, captured.given) if states else whole.module,
            tuple(False for _ in which),
            captured.given,
        )
        stage("comparison with the float model", 5)
        quality, study = None, None
        if quantization is not None:
            quality = measure(
                loaded, captured, quantized.graph, float_module, came_quantized=given is not None
            )
            quality = replace(quality, rounded=quantized.rounded)
            warnings += quality.warnings(name)
        if quality is not None and given is None:
            samples = loaded.calibration or (loaded.example_inputs,)
            study = FloatStudy(
                quality, samples, captured, quantized.graph, float_module, loaded.path.parent
            )
        texts = {"exported": _code(captured.graph)}
        if quantization is not None:
            texts["quantized"] = _code(quantized.graph)
        program = make_lean(edge.exported_program())
        check_lowered(program.graph, loaded.path.parent)
        texts["lowered"] = _code(program.graph_module)
        reference = ModuleRunner(Reference(program.module(check_guards=False)), which, states)
        if states:
            make_buffers(program, states)
        stage("serialization", 6)
        pte, layers = _serialize(edge, states, loaded.path.parent)
    return Lowered(
        pte=pte,
        layers=layers,
        reference=reference,
        float_module=float_module,
        fake_quantized=ModuleRunner(quantized.graph, which, states),
        warnings=tuple(warnings),
        texts=texts,
        quality=quality,
        study=study,
    )


def _check_patterns(
    quantization: Quantization, captured: Captured, loaded: LoadedModel, name: str
) -> list[str]:
    """Warnings about the model file's precisions by module paths.

    Raises:
        CortexMError: a pattern cannot mean anything.
    """
    base = loaded.path.parent
    modules = [path for path, _ in loaded.module.named_modules()]
    check_patterns(quantization, captured, modules, base, loaded.patterns_at)
    precision = quantization.precision
    if precision == INT8.precision or not patterns_choose_all(quantization, captured, base):
        return []
    return [
        f"{name}: QUANTIZE {precision_word(precision)} has no effect, as the model file's Quantization "
        "chooses the precision of every layer"
    ]


def _code(graph: GraphModule) -> str:
    """A graph as Python code, with shapes and types."""
    text = graph.print_readable(print_output=False, include_stride=False)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def target_config(target: Target) -> Any:
    """ExecuTorch's description of `target`."""
    from executorch.backends.cortex_m.library import cmsis_nn
    from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig

    core = CortexM[CORES[target.core].executorch]
    return CortexMTargetConfig(cpu=core, isa=getattr(cmsis_nn.Backend, target.isa.name))


def _lower_safely(
    captured: Captured,
    loaded: LoadedModel,
    target: Target,
    quantization: Quantization | None,
    name: str,
    stage: Callable[[str, int], None],
    given: GivenScales | None,
) -> tuple[Any, Quantized]:
    """The edge program and the quantized graph, with activations split off where ExecuTorch would
    otherwise compute on codes as if they were values.

    Raises:
        CortexMError: it does so even then, or cannot lower the model.
    """
    split: set[int] = set()
    for _ in range(_MAX_ROUNDS):
        edge, quantized = _lower_once(
            captured, loaded, target, quantization, name, split, stage, given
        )
        wrong = unsafe_nodes(edge.exported_program().graph)
        if not wrong:
            return edge, quantized
        tags = {tag for node, _ in wrong if (tag := tag_of(node)) is not None}
        if quantization is None or not tags - split:
            break
        split |= tags
    raise _unsafe(edge.exported_program(), wrong[0], loaded.path.parent)


def _lower_once(
    captured: Captured,
    loaded: LoadedModel,
    target: Target,
    quantization: Quantization | None,
    name: str,
    split: set[int],
    stage: Callable[[str, int], None],
    given: GivenScales | None,
) -> tuple[Any, Quantized]:
    from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.exir import to_edge

    graph = copy.deepcopy(captured.graph)
    quantized = Quantized(graph)
    if quantization is not None:
        stage("quantization", 1)
        split_activations(graph, split)
        choices = choose(captured, quantization, loaded.path.parent)
        quantized = quantize(
            graph,
            loaded.calibration or (loaded.example_inputs,),
            captured.which,
            captured.states,
            base=loaded.path.parent,
            four_bits=four_bits(captured, choices),
            choices=choices,
            rounding=quantization.weights_rounded,
            given=given,
        )
        to_codes(quantized.graph)
    try:
        with quiet(), torch.no_grad():
            stage("export", 2)
            example = captured.example(loaded.example_inputs)
            exported = torch.export.export(quantized.graph, example, strict=False)
            whole = exported.module(check_guards=False)
            kept = keep_norms(whole)
            if decompose_floats(whole) or kept:
                exported = torch.export.export(whole, example, strict=False)
            stage("edge program", 3)
            edge = to_edge(exported, compile_config=cortex_m_edge_compile_config())
            stage("Cortex-M passes", 4)
            manager = CortexMPassManager(
                edge.exported_program(), passes=pass_list(), target_config=target_config(target)
            )
            edge._edge_programs["forward"] = manager.transform()
            narrow_multipliers(edge.exported_program())
    except Exception as error:
        layer = layer_of_error(error, captured.graph.graph, loaded.path.parent)
        cause = root_cause(error)
        if isinstance(cause, CortexMError):
            where = cause.where or str(layer) or loaded.path.name
            raise CortexMError(cause.message, where=where, hint=cause.hint) from error
        raise CortexMError(
            f"ExecuTorch cannot lower {layer.call or f'the model {name}'}: {first_line(cause)}",
            where=str(layer) if layer != Layer() else loaded.path.name,
            hint=advice_on(layer.call),
        ) from error
    return edge, quantized


def _unsafe(program: ExportedProgram, wrong: tuple[Any, str], base: Path) -> CortexMError:
    node, name = wrong
    layer = layers_of_graph(program.graph, base)[node]
    return CortexMError(
        f"{layer.call or name} would compute on int8 codes as if they were values: ExecuTorch does not "
        "lower it correctly here",
        where=str(layer),
        hint="replace this operator, or change what follows it (for example a clamp whose bounds "
        "are not the ends of the value range)",
    )


def _views_move_data(graph: torch.fx.Graph) -> bool:
    """Whether a view's operand is not contiguous.

    ExecuTorch replaces views by other names of the same bytes, whatever the operand's memory order:
    on its own runtime the result is wrong then (a compiled plan goes by the logical tensors).
    """
    for node in graph.nodes:
        if node.op == "call_function" and "view_copy" in str(node.target):
            operand = node.all_input_nodes[0].meta.get("val")
            if isinstance(operand, torch.Tensor) and not operand.is_contiguous():
                return True
    return False


def _serialize(
    edge: Any, states: tuple[State, ...], base: Path
) -> tuple[bytes, tuple[tuple[str, Layer], ...]]:
    from executorch.exir import ExecutorchBackendConfig

    lean = edge.exported_program()
    try:
        with quiet():
            config = ExecutorchBackendConfig(
                remove_view_copy=not _views_move_data(lean.graph) and not shows_buffers(lean),
                emit_mutable_buffer_names=bool(states),
            )
            program = edge.to_executorch(config)
            pte = bytes(program.buffer)
    except Exception as error:
        raise CortexMError(
            f"ExecuTorch cannot serialize the program: {first_line(root_cause(error))}"
        ) from error
    check_initial_values(program._emitter_output, states)
    emitted = program.exported_program()
    place_writes(emitted, states)
    return pte, kernel_layers(program.executorch_program, emitted.graph, base)
