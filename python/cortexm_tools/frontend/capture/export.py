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
import io
import keyword
import linecache
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from ...advice import advice_on
from ...errors import CortexMError, named
from ..load.model_file import LoadedModel
from ..load.samples import Sample, is_other_float, shape_text, type_text
from ..origin.blame import advice_in_line
from ..origin.calls import INDEXING, call_of, user_frames
from ..origin.layers import layer_of
from ..origin.places import first_line, frame_of_error, text_of, where_of_error
from ..quiet import quiet
from ..rewrites import decompose, rewrite
from ..rewrites.layout import fit_layouts
from .functional import functional
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


@dataclass(frozen=True)
class Captured:
    """A model's ATen graph.

    Attributes:
        graph: from the inputs and then the states, to the states' new values and then the outputs.
        which: which of its inputs and states it takes in channels_last order.
        states: what it keeps from one call to the next.
    """

    graph: GraphModule
    which: tuple[bool, ...]
    states: tuple[State, ...] = ()

    def example(self, inputs: Sample) -> Sample:
        """`inputs` and the states of the beginning, as the graph takes them."""
        return channels_last((*inputs, *(s.initial for s in self.states)), self.which)


def capture(loaded: LoadedModel, *, rewritten: bool = True) -> Captured:
    """The model's ATen graph.

    Args:
        rewritten: whether to apply the rewrites that keep a quantized model in int8.

    Raises:
        CortexMError: the model fails on its example inputs, cannot be captured, has dynamic shapes,
            or changes what cannot be its state.
    """
    with named(loaded.path.name):
        states, repeats = _run_eagerly(loaded)
        if states:
            graph, states = _export_function(loaded, states)
        else:
            graph = _graph(_export(loaded.module, loaded.example_inputs, loaded))
        if not repeats:
            raise _hidden_state("the second call gives other outputs than the first")
    graph = copy.deepcopy(graph)  # it shares its weights with the user's module
    decompose(graph)
    if rewritten:
        rewrite(graph)
    spatial = any(node.target in _SPATIAL for node in graph.graph.nodes)
    sample = (*loaded.example_inputs, *(state.initial for state in states))
    which = tuple(spatial and x.dim() == 4 and x.is_floating_point() for x in sample)
    _simplify(graph)
    if spatial:
        for constant in (*graph.parameters(), *graph.buffers()):
            if constant.dim() == 4:
                constant.data = constant.data.contiguous(memory_format=torch.channels_last)
    captured = _graph(_export(graph, channels_last(sample, which), loaded))
    if rewritten:
        fit_layouts(captured)
    return Captured(captured, which, states)


def _graph(program: ExportedProgram) -> GraphModule:
    graph = program.module(check_guards=False)
    assert isinstance(graph, GraphModule)
    return graph


def _rename_keywords(program: ExportedProgram) -> None:
    """Gives weights of modules with names like ``class`` others: torch.fx writes their paths down as
    Python code, which only copes with names that are not identifiers at all."""
    stores = (program.state_dict, program.constants)
    taken = {name for store in stores for name in store}
    renamed: dict[str, str] = {}
    for name in sorted(taken):
        if any(keyword.iskeyword(part) for part in name.split(".")):
            safe = ".".join(f"{p}_" if keyword.iskeyword(p) else p for p in name.split("."))
            while safe in taken:
                safe += "_"
            taken.add(safe)
            renamed[name] = safe
    if not renamed:
        return
    for store in stores:
        entries = [(renamed.get(name, name), value) for name, value in store.items()]
        store.clear()
        store.update(entries)
    signature = program.graph_signature
    for spec in (*signature.input_specs, *signature.output_specs):
        if spec.target in renamed:
            spec.target = renamed[spec.target]


def _run_eagerly(loaded: LoadedModel) -> tuple[tuple[State, ...], bool]:
    try:
        return find_states(loaded.module, loaded.example_inputs, loaded.path.parent)
    except CortexMError:
        raise
    except Exception as error:
        shapes = ", ".join(shape_text(x.shape) for x in loaded.example_inputs)
        raise CortexMError(
            f"ModelUnderTest fails on ModelInputs ({shapes}): {first_line(error)}",
            where=where_of_error(error, loaded.path.parent, loaded.path.name),
        ) from error


def _export_function(
    loaded: LoadedModel, states: tuple[State, ...]
) -> tuple[GraphModule, tuple[State, ...]]:
    """The graph of a model that changes its state, and those states that count."""
    sample = (*loaded.example_inputs, *(state.initial for state in states))
    module = Stateless(loaded.module, states)
    try:
        program = _export(module, sample, loaded)
    except CortexMError as error:
        names = ", ".join(repr(state.name) for state in states)
        hint = f"the model changes {names}: assign it or write to it, but not to its .data"
        raise CortexMError(
            error.message, where=error.where, hint=f"{error.hint}; {hint}"
        ) from error
    graph, used = functional(program, states, loaded.path.parent)
    _check_sequence(module, states, graph, used, loaded)
    return graph, used


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


def _export(module: torch.nn.Module, inputs: Sample, loaded: LoadedModel) -> ExportedProgram:
    try:
        # torch.export prints the graph up to where it fails; the error below says the same.
        with quiet(), redirect_stderr(io.StringIO()), torch.no_grad(), user_frames():
            program = torch.export.export(module, inputs, strict=False)
    except CortexMError:
        raise
    except Exception as error:
        raise _export_error(error, loaded) from error
    _rename_keywords(program)
    signature = program.graph_signature
    fixed = {
        **signature.inputs_to_buffers,
        **signature.inputs_to_parameters,
        **signature.inputs_to_lifted_tensor_constants,
    }
    computed: set[Node] = set()
    for node in program.graph.nodes:
        _check_unchanged(node, fixed, loaded)
        _check_static(node, loaded)
        if node.op == "placeholder" and node.name not in fixed:
            computed.add(node)
        if node.op == "call_function" and not computed.isdisjoint(node.all_input_nodes):
            computed.add(node)
            _check_type(node, loaded)
    return program


def _export_error(error: Exception, loaded: LoadedModel) -> CortexMError:
    frame = frame_of_error(error)
    where = where_of_error(error, loaded.path.parent, loaded.path.name)
    line = linecache.getline(*frame).strip() if frame else ""
    at = f" at '{line}'" if line else ""
    text = f"{type(error).__name__} {text_of(error)}"
    if "DataDependent" in text or "data-dependent" in text:
        return CortexMError(
            f"torch.export cannot follow control flow or shapes that depend on data{at}",
            where=where,
            hint=(advice_in_line(*frame) if frame else "")
            or "compute both sides and choose with torch.where, or decide before deployment",
        )
    return CortexMError(
        f"torch.export cannot capture the model{at}: {first_line(error)}",
        where=where,
        hint=(advice_in_line(*frame) if frame else "")
        or "PyTorch's documentation of torch.export says what can be captured",
    )


def _check_type(node: Node, loaded: LoadedModel) -> None:
    """Raises if `node`, which is not a constant, computes in another type of real numbers."""
    for value in _values(node.meta.get("val")):
        if isinstance(value, torch.Tensor) and is_other_float(value.dtype):
            raise CortexMError(
                f"{_shown(node)} gives {type_text(value.dtype)}, on which no kernel computes",
                where=str(layer_of(node, loaded.path.parent)),
                hint="stay in float32: .float() instead of .double() or .half(), and constants as "
                "torch.tensor(…, dtype=torch.float32)",
            )


def _values(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _check_unchanged(node: Node, fixed: dict[str, str], loaded: LoadedModel) -> None:
    """Raises if an operator writes to a parameter or constant, by name of its placeholder."""
    if not isinstance(node.target, torch._ops.OpOverload) or not node.target._schema.is_mutable:
        return
    for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        owner = _owner(value)
        if owner is None or owner.name not in fixed:
            continue
        name = fixed[owner.name].removeprefix("module.")
        raise CortexMError(
            "the model changes a tensor while it runs that is not an attribute of a module"
            if name.startswith("lifted_tensor")
            else f"the model changes its parameter {name!r} while it runs",
            where=str(layer_of(node, loaded.path.parent)),
            hint="what a model keeps from call to call must be a buffer (register_buffer)",
        )


def _owner(value: object) -> Node | None:
    """The node whose memory `value` is or shows a part of."""
    while isinstance(value, Node) and isinstance(value.target, torch._ops.OpOverload):
        returned = value.target._schema.returns
        if not returned or returned[0].alias_info is None:
            break
        value = value.args[0]
    return value if isinstance(value, Node) else None


_CONTROL_FLOW = ("cond", "while_loop", "map_impl", "scan", "associative_scan")


def _check_static(node: Node, loaded: LoadedModel) -> None:
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        name = str(node.target)
        if name in _CONTROL_FLOW:
            raise CortexMError(
                f"control flow in the program (torch.{name}) is not supported",
                where=str(layer_of(node, loaded.path.parent)),
                hint="compute both sides and choose with torch.where, or write the loop out",
            )
    for value in _values(node.meta.get("val")):
        if isinstance(value, torch.Tensor) and value.is_complex():
            raise CortexMError(
                f"{_shown(node)} gives complex numbers, on which no kernel computes",
                where=str(layer_of(node, loaded.path.parent)),
                hint=advice_on(call_of(node), str(node.target)),
            )
        if isinstance(value, torch.Tensor):
            symbolic = any(not isinstance(n, int) for n in value.shape)
        else:
            symbolic = isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
        if symbolic:
            layer = layer_of(node, loaded.path.parent)
            raise CortexMError(
                f"the shape of what {_shown(node)} gives depends on the input's values",
                where=str(layer),
                hint=advice_on(_shown(node), str(node.target)),
            )


def _shown(node: Node) -> str:
    """A call in messages; what indexing gives has a computed shape only where it is by a mask."""
    call = call_of(node) or str(node.target)
    return "x[mask]" if call == INDEXING else call


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
        elif node.target in _DROPOUT and node.args[2] is False:
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)
        elif node.target is _aten.detach.default or node.target is _aten.alias.default:
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    graph.recompile()
