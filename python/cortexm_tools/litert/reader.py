# SPDX-License-Identifier: Apache-2.0
"""`read_litert`: from the bytes of a .tflite file to a Graph."""

from __future__ import annotations

from ..errors import CortexMError
from ..ir.types import Graph, Layer
from .builder import Builder
from .call import Call
from .model import parse_model
from .ops import CONVERTERS
from .values import LiteModel

# Versions of operators grow with what their options say; the newest one that is known is 13.
_MOST_VERSION = 16

_ADVICE = {
    "IF": "the model has control flow: build it without conditions on tensors",
    "WHILE": "the model has control flow: unroll loops, or convert a model of one step with states",
    "CALL": "the model calls a subgraph: convert it with functions inlined",
    "DENSIFY": "its weights are sparse: convert the model without sparsity",
    "CUSTOM ethos-u": "the file was compiled for Ethos-U: give the one that Vela read",
    "RNN": "convert the layer unrolled",
    "LSTM": "give the PyTorch model, or convert the layer unrolled",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "convert both directions as layers of their own",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "convert the layer unrolled",
}


def list_layers(model: LiteModel) -> tuple[tuple[str, int, Layer, bool], ...]:
    """Of all operators in order, those without kernel included: the schema's name, the number in the model's
    subgraph, what it gives, and whether `read_litert` knows it; never raises."""
    graph = model.subgraphs[0]
    return tuple(
        (
            operator.name,
            operator.number,
            Layer(graph.tensors[operator.outputs[0]].name if operator.outputs else ""),
            operator.name in CONVERTERS,
        )
        for operator in graph.operators
    )


def mixed_layers(model: LiteModel) -> tuple[str, ...]:
    """A warning if layers have weights in int8 and activations in float32 (dynamic range): they compute in
    float32."""
    graph = model.subgraphs[0]
    found = [
        operator
        for operator in graph.operators
        if [graph.tensors[i].type for i in operator.inputs[:2] if i >= 0] == ["FLOAT32", "INT8"]
    ]
    if not found:
        return ()
    first = graph.tensors[found[0].outputs[0]] if found[0].outputs else found[0].name
    return (
        "layers with weights in int8 and activations in float32 compute in float32: "
        f"{len(found)} do, the first gives {first}; convert with a representative_dataset for int8",
    )


def read_litert(data: bytes, *, name: str) -> Graph:
    """Reads a .tflite file.

    Args:
        data: the file's bytes.
        name: the graph's name.

    Raises:
        CortexMError: the file is damaged, or uses something that cannot be expressed in the IR;
            the message names the operator and what it gives.
    """
    model = parse_model(data)
    if len({number for _, number in model.signatures}) > 1:
        keys = ", ".join(repr(key) for key, _ in model.signatures)
        raise CortexMError(
            f"the file has several signatures: {keys}",
            hint="convert a model with one of them: from_concrete_functions([function])",
        )
    graph = model.subgraphs[0]
    if any(number for _, number in model.signatures):
        raise CortexMError(
            "the signature of the file does not call its first subgraph",
            hint="convert the model with this signature alone",
        )
    builder = Builder(model, graph)
    inputs = tuple(builder.add_input(index, n) for n, index in enumerate(graph.inputs))
    for operator in graph.operators:
        if operator.name not in CONVERTERS:
            raise _unknown(Call(operator, "", builder))
        convert, table = CONVERTERS[operator.name]
        call = Call(operator, table, builder)
        call.require(
            0 < operator.version <= _MOST_VERSION,
            f"has version {operator.version}, which is not known",
            "convert the model with a converter of the year that this tool is of",
        )
        convert(call)
    return builder.finish(name, inputs)


def _unknown(call: Call) -> CortexMError:
    """The error of an operator that is not known."""
    name = call.name
    hint = _ADVICE.get(name, "")
    if name.startswith("CUSTOM Flex"):
        hint = "it is one of TensorFlow: convert without SELECT_TF_OPS, and replace the layer"
    elif name.startswith("CUSTOM") and not hint:
        hint = "leave it out of the model, and compute it in the application"
    return call.error(
        "there is no kernel for it",
        hint or "docs/litert.md lists the operators; compute this in the application",
    )
