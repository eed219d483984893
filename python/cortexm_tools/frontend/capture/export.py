# SPDX-License-Identifier: Apache-2.0
"""One call of torch.export, with sentences where it fails or where no kernel could compute."""

from __future__ import annotations

import io
import keyword
import linecache
from contextlib import redirect_stderr
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, Node

from ...advice import advice_on
from ...errors import CortexMError
from ..load.model_file import LoadedModel
from ..load.samples import Sample, is_other_float, type_text
from ..origin.blame import advice_in_line
from ..origin.calls import INDEXING, call_of, user_frames
from ..origin.layers import layer_of, layers_of_graph
from ..origin.places import first_line, frame_of_error, text_of
from ..quiet import quiet
from .causal import masks_as_given
from .known_shapes import has_known_shapes
from .raising import calls_that_raise
from .recurrent_shapes import PackedSequence, quick_shapes


def export(module: torch.nn.Module, inputs: Sample, loaded: LoadedModel) -> ExportedProgram:
    """The program of `module`, whose weights have names that torch.fx can write down.

    Args:
        loaded: the model that the module is, or was made from; for messages.

    Raises:
        CortexMError: it cannot be captured, changes a parameter, or computes on what no kernel
            takes: other floats, or shapes that depend on values.
    """
    program = _exported(module, inputs, loaded)
    settled = has_known_shapes(program)
    if settled is not None:
        program = _exported(settled, inputs, loaded)
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


def _exported(module: torch.nn.Module, inputs: Sample, loaded: LoadedModel) -> ExportedProgram:
    try:
        # torch.export prints the graph up to where it fails; the error below says the same.
        with (
            quiet(),
            redirect_stderr(io.StringIO()),
            torch.no_grad(),
            user_frames(),
            quick_shapes(),
            masks_as_given(),
            calls_that_raise(),
        ):
            return torch.export.export(module, inputs, strict=False)
    except CortexMError:
        raise
    except Exception as error:
        raise export_error(error, loaded) from error


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


def export_error(error: Exception, loaded: LoadedModel) -> CortexMError:
    """What `error`, of PyTorch, says of the model."""
    frame = frame_of_error(error)
    where = loaded.where(error)
    line = linecache.getline(*frame).strip() if frame else ""
    at = f" at '{line}'" if line else ""
    if isinstance(error, PackedSequence):
        return CortexMError(
            f"the lengths of a packed sequence are not known at build time{at}",
            where=where,
            hint=advice_on("torch.nn.utils.rnn.pack_padded_sequence"),
        )
    text = f"{type(error).__name__} {text_of(error)}"
    if "DataDependent" in text or "data-dependent" in text:
        return CortexMError(
            f"torch.export cannot follow control flow or shapes that depend on data{at}",
            where=where,
            hint=(advice_in_line(*frame) if frame else "")
            or "compute both sides and choose with torch.where, or decide before deployment; of a "
            "sequence take all steps, and choose among their results",
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
            hint="what a model keeps from call to call must be a buffer (register_buffer); a table with "
            "max_norm is scaled once, while the model is built",
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


def check_real(graph: Graph, loaded: LoadedModel) -> None:
    """Raises if something in the graph gives complex numbers.

    Args:
        loaded: the model that the graph was made from; for messages.
    """
    # Calls first: a parameter is complex on no line of the user's.
    for node in sorted(graph.nodes, key=lambda node: node.op != "call_function"):
        for value in _values(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and value.is_complex():
                raise CortexMError(
                    f"{_shown(node)} gives complex numbers, on which no kernel computes",
                    where=str(layers_of_graph(graph, loaded.path.parent)[node]),
                    hint=advice_on(call_of(node), str(node.target)),
                )


def _shown(node: Node) -> str:
    """A call in messages; what indexing gives has a computed shape only where it is by a mask."""
    call = call_of(node) or str(node.target)
    return "x[mask]" if call == INDEXING else call
