# SPDX-License-Identifier: Apache-2.0
"""`read_litert`: from the bytes of a .tflite file to a Graph."""

from __future__ import annotations

from dataclasses import dataclass

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
    "RNN": "convert the layer unrolled, or as an LSTM",
    "LSTM": "convert it with the present converter, which gives UNIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "convert both directions as layers of their own",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "convert the layer unrolled, or as an LSTM",
}


@dataclass(frozen=True)
class Operator:
    """One operator of a file, for listings.

    Attributes:
        name: the schema's.
        number: in the model's subgraph.
        layer: what it gives.
        supported: whether `read_litert` knows the operator.
    """

    name: str
    number: int
    layer: Layer
    supported: bool


def list_operators(model: LiteModel) -> tuple[Operator, ...]:
    """All operators of the model in order, the unsupported ones included; never raises."""
    graph = model.subgraphs[0]
    return tuple(
        Operator(
            operator.name,
            operator.number,
            Layer(graph.tensors[operator.outputs[0]].name if operator.outputs else ""),
            operator.name in CONVERTERS,
        )
        for operator in graph.operators
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
    return read_model(parse_model(data), name=name)[0]


def read_model(model: LiteModel, *, name: str) -> tuple[Graph, tuple[str, ...]]:
    """Like `read_litert`, from a parsed file; and the layers whose weights are codes and whose activations
    are not, which compute in float32."""
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
    return builder.finish(name, inputs), tuple(builder.float_layers)


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
