# SPDX-License-Identifier: Apache-2.0
"""Capture the model as an ATen graph in the form the quantizer wants.

The graph is captured twice. The first capture sees the inputs as the user wrote them. In its graph
the strides-dependent ``view`` becomes ``reshape``, ``relu6`` becomes ``hardtanh`` (which the
quantizer fuses), and inactive dropout goes away. The second capture then has channels_last inputs
wherever the model convolves or pools, which ExecuTorch's Cortex-M backend demands and the user need
not know.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.graph import CodeGen, _PyTreeCodeGen
from torch.utils._pytree import TreeSpec, tree_leaves

from ...errors import CortexMError, named
from ..load.model_file import LoadedModel
from ..load.samples import Sample, shape_text
from ..nodes import schema_of, writes
from ..origin.layers import layer_of, module_path
from ..origin.places import first_line
from ..rewrites import (
    TooManyEdges,
    convert_operands,
    decompose,
    decompose_coded,
    decompose_unary,
    fold_constants,
    fold_into_layers,
    join_edges,
    join_spectra,
    name_norms,
    name_plainly,
    outside_place,
    rewrite,
    take_places_from_scores,
    write_out_complex_numbers,
)
from ..rewrites.bytes import byte_chains
from ..rewrites.layout import fit_layouts
from .export import check_real, export, export_error
from .functional import functional
from .regions import inline_regions
from .runner import ModuleRunner, channels_last
from .state import State, Stateless, alike, find_states

_aten = torch.ops.aten

_SPATIAL = {
    _aten.conv2d.default,
    _aten.conv2d.padding,
    _aten.conv_transpose2d.input,
    _aten.convolution.default,
    _aten.avg_pool2d.default,
    _aten.max_pool2d.default,
    _aten.max_pool2d_with_indices.default,
    _aten.adaptive_avg_pool2d.default,
    _aten.adaptive_max_pool2d.default,
    _aten._adaptive_avg_pool2d.default,
    _aten.mean.dim,
    _aten.batch_norm.default,
    _aten.upsample_nearest2d.vec,
    _aten.upsample_bilinear2d.vec,
}

_DROPOUT = {
    _aten.dropout.default,
    _aten.dropout_.default,
    _aten.feature_dropout.default,
    _aten.alpha_dropout.default,
    _aten.feature_alpha_dropout.default,
}
_CASTS = {_aten.to.dtype_layout, _aten.to.dtype, _aten.to.device}
_ALIASES = {_aten.detach.default, _aten.detach_.default, _aten.alias.default}


@dataclass(frozen=True)
class Captured:
    """A model's ATen graph.

    Attributes:
        graph: from the inputs and then the states, to the states' new values and then the outputs.
        which: which of its inputs and states it takes in channels_last order.
        states: what it keeps from one call to the next.
        given: the same as the model has it: of averages of energies `states` has the logarithms.
    """

    graph: GraphModule
    which: tuple[bool, ...]
    states: tuple[State, ...] = ()
    given: tuple[State, ...] = ()

    def example(self, inputs: Sample) -> Sample:
        """`inputs` and the states of the beginning, as the graph takes them."""
        return channels_last((*inputs, *(s.initial for s in self.states)), self.which)


def capture(
    loaded: LoadedModel,
    *,
    rewritten: bool = True,
    precision_of: Callable[[str], object] = lambda path: "",
) -> Captured:
    """The model's ATen graph.

    Args:
        rewritten: whether to apply the rewrites that keep a quantized model in int8.
        precision_of: of what the module of a path computes; None for float.

    Raises:
        CortexMError: the model fails on its example inputs, cannot be captured, has dynamic shapes,
            or changes what cannot be its state.
    """
    with named(loaded.path.name):
        states, repeats = _run_eagerly(loaded)
        if states:
            graph, states = _export_function(loaded, states)
        else:
            graph = _inlined(_graph(export(loaded.module, loaded.example_inputs, loaded)))
            outside_place(graph)
            if any(map(writes, graph.graph.nodes)):  # to parts and views of tensors
                graph, _ = _export_function(loaded, ())
        graph = _plain_outputs(graph)
        if not repeats:
            raise _hidden_state("the second call gives other outputs than the first")
    graph = copy.deepcopy(graph)  # it shares its weights with the user's module

    def precision_of_call(node: Node) -> object:
        return precision_of(module_path(node.meta.get("nn_module_stack")))

    given = states
    if rewritten:
        fold_constants(graph)
        kept = join_spectra(graph, precision_of_call, tuple(s.initial for s in states))
        states = tuple(replace(s, initial=value) for s, value in zip(states, kept, strict=True))
        name_norms(graph, precision_of_call)
        fold_into_layers(graph)  # while those of volumes are some
    write_out_complex_numbers(graph)
    check_real(graph.graph, loaded)
    _join_edges(graph, loaded)
    decompose(graph)
    if rewritten:
        take_places_from_scores(graph)
        decompose_coded(graph, precision_of_call)
        rewrite(graph, precision_of_call)
    spatial = any(node.target in _SPATIAL for node in graph.graph.nodes)
    sample = (*loaded.example_inputs, *(state.initial for state in states))
    which = tuple(spatial and x.dim() == 4 and x.is_floating_point() for x in sample)
    _simplify(graph)
    if spatial:
        for constant in (*graph.parameters(), *graph.buffers()):
            if constant.dim() == 4:
                constant.data = constant.data.contiguous(memory_format=torch.channels_last)
    captured = _graph(export(graph, channels_last(sample, which), loaded))
    if rewritten:
        chains = byte_chains(captured)
        from_bytes = chains.inside | chains.ends
        decompose_unary(
            captured, lambda node: node in from_bytes or precision_of_call(node) is None
        )
        fit_layouts(captured)
    return Captured(captured, which, states, given)


def _graph(program: ExportedProgram) -> GraphModule:
    graph = program.module(check_guards=False)
    assert isinstance(graph, GraphModule)
    return graph


def _join_edges(graph: GraphModule, loaded: LoadedModel) -> None:
    try:
        join_edges(graph)
    except TooManyEdges as error:
        assert error.node is not None
        raise CortexMError(
            str(error),
            where=str(layer_of(error.node, loaded.path.parent)),
            hint="take a smaller graph, or leave out edges of the nodes with most",
        ) from None


def _plain_outputs(graph: GraphModule) -> GraphModule:
    """`graph` with outputs that are tensors: what is none, as the loss of a model without labels, is left
    out, and a data class or the named results of an operator, which ExecuTorch could not write down, become a
    tuple."""
    output = graph.graph.output_node()
    results = tree_leaves(output.args[0])
    tensors = tuple(result for result in results if isinstance(result, Node))
    code = graph.graph._codegen
    form = code.pytree_info.out_spec if isinstance(code, _PyTreeCodeGen) else None
    if not tensors:
        raise CortexMError("the model gives no tensor", hint="return at least one from forward")
    if len(tensors) == len(results) and not _has_names(form):
        return graph
    output.args = (tensors,)
    graph.graph.set_codegen(CodeGen())
    return GraphModule(graph, graph.graph)


def _has_names(form: TreeSpec | None) -> bool:
    if form is None or form.is_leaf():
        return False
    kind: Any = form.type
    if kind is namedtuple or (issubclass(kind, tuple) and kind is not tuple):
        return True
    is_one = not issubclass(kind, dict) and dataclasses.is_dataclass(kind)
    return is_one or any(map(_has_names, form.children()))


def _run_eagerly(loaded: LoadedModel) -> tuple[tuple[State, ...], bool]:
    try:
        return find_states(loaded.module, loaded.example_inputs, loaded.path.parent)
    except CortexMError:
        raise
    except Exception as error:
        shapes = ", ".join(shape_text(x.shape) for x in loaded.example_inputs)
        raise CortexMError(
            f"ModelUnderTest fails on ModelInputs ({shapes}): {first_line(error)}",
            where=loaded.where(error),
            hint="ModelUnderTest(*ModelInputs) must work in Python: see to the shapes, types and order of "
            "ModelInputs",
        ) from error


def _export_function(
    loaded: LoadedModel, states: tuple[State, ...]
) -> tuple[GraphModule, tuple[State, ...]]:
    """The graph of a model that changes its state, and those states that count."""
    sample = (*loaded.example_inputs, *(state.initial for state in states))
    module = Stateless(loaded.module, states)
    try:
        program = export(module, sample, loaded)
    except CortexMError as error:
        names = ", ".join(repr(state.name) for state in states)
        hint = f"the model changes {names}: assign it or write to it, but not to its .data"
        raise CortexMError(
            error.message, where=error.where, hint=f"{error.hint}; {hint}"
        ) from error
    try:
        graph, used = functional(program, states, loaded.path.parent)
    except CortexMError:
        raise
    except Exception as error:
        raise export_error(error, loaded) from error
    _check_sequence(module, states, graph, used, loaded)
    return _inlined(graph), used


def _check_sequence(
    module: Stateless,
    states: tuple[State, ...],
    graph: GraphModule,
    used: tuple[State, ...],
    loaded: LoadedModel,
) -> None:
    """Raises if the second call of the model gives something else than that of the graph."""
    inputs = loaded.example_inputs
    runs = []
    for function, own in ((module, states), (graph, used)):
        run = ModuleRunner(function, tuple(False for _ in (*inputs, *own)), own)
        torch.manual_seed(0)
        run.step(inputs)
        runs.append(run.step(inputs))
    for number, (want, got) in enumerate(zip(*runs, strict=True)):
        if not alike(want, got):
            raise _hidden_state(f"output {number} of the second call is another one")


def _hidden_state(text: str) -> CortexMError:
    return CortexMError(
        f"torch.export does not see all that the model keeps from one call to the next: {text}",
        hint="what a model keeps must be a buffer of a module (register_buffer), neither a list nor "
        "a Python number",
    )


def _inlined(graph: GraphModule) -> GraphModule:
    """`graph`, which has neither regions now nor what does nothing, nor operands of several types."""
    inline_regions(graph)
    _drop_inactive(graph)
    name_plainly(graph)
    convert_operands(graph)
    return graph


def _drop_inactive(graph: GraphModule) -> None:
    """Take out what gives its operand, and checks of types, as rewrites look for what is on both sides of it,
    and random numbers that nothing reads, which are no dead code for PyTorch: whole layers are dropped with
    them in training."""
    for node in reversed(graph.graph.nodes):
        if not node.users and torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            graph.graph.erase_node(node)
    for node in list(graph.graph.nodes):
        is_dropout = node.target in _DROPOUT and node.args[2] is False
        if node.target is _aten._assert_tensor_metadata.default:
            graph.graph.erase_node(node)
        elif is_dropout or node.target in _ALIASES or _is_idle_cast(node):
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)


def _is_idle_cast(node: Node) -> bool:
    """Whether it gives its operand, which has the type: neither a copy nor an order is asked for."""
    if node.target not in _CASTS:
        return False
    asked = [argument.name for argument in schema_of(node).arguments[: len(node.args)]]
    is_plain = not {"copy", "memory_format"} & {*asked, *node.kwargs}
    source, result = node.all_input_nodes[0].meta.get("val"), node.meta["val"]
    return is_plain and isinstance(source, torch.Tensor) and source.dtype == result.dtype


def _simplify(graph: GraphModule) -> None:
    """Rewrite what would get in the way later; every rewrite keeps the values."""
    for node in list(graph.graph.nodes):
        if node.op != "call_function":
            continue
        if node.target is _aten.view.default:
            node.target = _aten.reshape.default
        elif node.target in (_aten.relu6.default, _aten.relu6_.default):
            node.target = _aten.hardtanh.default
            node.args = (node.args[0], 0.0, 6.0)
    graph.graph.eliminate_dead_code()
    graph.recompile()
