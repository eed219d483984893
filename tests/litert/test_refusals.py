# SPDX-License-Identifier: Apache-2.0
"""What cannot be computed is refused in one sentence, with the operator's number and name, and a way out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType
from cortexm_tools.litert import mixed_layers, parse_model, read_litert

from tests.litert.cases import made
from tests.litert.files import ENUMS, File
from tests.litert.networks import net


def unary(name: str, source: dict[str, Any], result: dict[str, Any], **more: Any) -> File:
    f = File()
    x, y = f.tensor((1, 4), **source), f.tensor((1, 4), **result)
    f.operator(name, [x], [y], **more)
    f.graphs[0]["inputs"], f.graphs[0]["outputs"] = [x], [y]
    return f


CODES = {"scale": 0.05, "zero": 3}


def operator(name: str, **more: Any) -> File:
    return unary(name, CODES, CODES, **more)


def changed(change: Callable[[File], object]) -> File:
    f = net()
    change(f)
    return f


def tensor(index: int, **more: Any) -> File:
    return changed(lambda f: f.graphs[0]["tensors"][index].update(more))


def quantized(index: int, **more: Any) -> File:
    return changed(lambda f: f.graphs[0]["tensors"][index]["quantization"].update(more))


def later(number: int, **more: Any) -> File:
    return changed(lambda f: f.graphs[0]["operators"][number].update(more))


def first(**more: Any) -> File:
    return later(0, **more)


def twice_signed(f: File) -> None:
    f.subgraph()
    f.model["signature_defs"] = [
        {"signature_key": key, "subgraph_index": n} for n, key in enumerate(("train", "infer"))
    ]


def never_assigned(f: File) -> None:
    f.graphs[0]["operators"] = [
        operator for operator in f.graphs[0]["operators"] if operator["outputs"]
    ]


def lstm(operands: dict[int, int] | None = None, **options: int) -> File:
    """With an operand in the place of others, or of none."""
    draw = made("UNIDIRECTIONAL_SEQUENCE_LSTM int8", 0)
    (layer,) = draw.file.graphs[0]["operators"]
    given = list(layer["inputs"])
    for place, source in (operands or {}).items():
        layer["inputs"][place] = given[source] if source >= 0 else -1
    layer["builtin_options"][1].update(options)
    draw.file.graphs[0].update(inputs=draw.inputs, outputs=draw.outputs)
    return draw.file


def drawn(name: str, operand: int, kind: str) -> File:
    """A case with an operand of another type."""
    draw = made(name, 0)
    graph = draw.file.graphs[0]
    graph["tensors"][graph["operators"][0]["inputs"][operand]].update(
        type=ENUMS["TensorType"][kind]
    )
    graph.update(inputs=draw.inputs, outputs=draw.outputs)
    return draw.file


CONV = "operator 0, CONV_2D: "
LATER = ENUMS["TensorType"]

REFUSED: dict[str, tuple[File, str, str]] = {
    "dynamic shape": (tensor(0, shape=[-1, 6, 6, 3]), "only known at run time", "fixed shape"),
    "2 GB": (tensor(0, shape=[2**15, 2**15, 6, 3]), "more than 67,108,864 elements", ""),
    "empty": (tensor(0, shape=[0, 6, 6, 3]), "is empty", ""),
    "scale 0": (quantized(0, scale=[0.0]), "scale 0.0", "quantize"),
    "scale nan": (quantized(0, scale=[math.nan]), "scale nan", "quantize"),
    "zero point": (quantized(0, zero_point=[300]), f"{CONV}tensor 0 't0' has the zero point 300", "quantize"),
    "no scale": (quantized(0, scale=[]), f"{CONV}tensor 0 't0' is not quantized", "quantize"),
    "channels": (quantized(3, quantized_dimension=1), "8 scales, which do not fit", "quantize"),
    "sparse": (tensor(3, sparsity={}), f"{CONV}tensor 3 't3' is sparse", "without sparsity"),
    "uint8": (tensor(0, type=LATER["UINT8"]), f"{CONV}multiplies UINT8 by INT8", "int8"),
    "bias": (tensor(4, type=LATER["FLOAT32"]), f"{CONV}the bias is float32", ""),
    "computed twice": (later(1, outputs=[1]), "operator 1, .* is written twice", "write the file again"),
    "no such tensor": (first(inputs=[99]), "a tensor that does not exist", "write the file again"),
    "no operands": (first(inputs=[]), f"{CONV}operand 0 is missing", ""),
    "signatures": (changed(twice_signed), "several signatures: 'train', 'infer'", "one of them"),
    "cycle": (later(2, inputs=[1, 7]), "operator 2, ADD: .* is read before anything is written", ""),
    "options": (first(builtin_options_type=0), f"{CONV}has no Conv2DOptions", ""),
    "version": (changed(lambda f: f.codes[0].update(version=99)), f"{CONV}has version 99", ""),
    "schema": (changed(lambda f: f.model.update(version=2)), "schema version 2", "convert"),
    "custom": (operator("CUSTOM MyLayer"), "operator 0, CUSTOM MyLayer: there is no kernel", "application"),
    "flex": (operator("CUSTOM FlexErf"), "operator 0, CUSTOM FlexErf: there", "SELECT_TF_OPS"),
    "npu": (operator("CUSTOM ethos-u"), "operator 0, CUSTOM ethos-u: there", "Vela read"),
    "if": (operator("IF"), "operator 0, IF: there is no kernel", "control flow"),
    "while": (operator("WHILE"), "operator 0, WHILE: there is no kernel", "control flow"),
    "rnn": (operator("UNIDIRECTIONAL_SEQUENCE_RNN"), "no kernel", "unrolled"),
    "lstm peephole": (lstm({9: 5}), "LSTM: has peephole connections", "plain LSTM"),
    "lstm projection": (lstm({16: 5}), "LSTM: has a projection", "plain LSTM"),
    "lstm norm": (lstm({20: 12}), "LSTM: has normalized layers", "plain LSTM"),
    "lstm gates": (lstm({1: -1}), "LSTM: operand 1 is missing", "quantize"),
    "lstm state": (lstm({19: 18}), "LSTM: has states of INT8 and INT8, not INT8 and INT16", "quantize"),
    "lstm function": (lstm(fused_activation_function=1), "the function RELU, not TANH", "quantize"),
    "svdf states": (drawn("SVDF int16", 4, "INT8"), "states of INT8, INT16, INT8 for INT8", "quantize"),
    "prelu slopes": (drawn("PRELU int16", 1, "UINT8"), "slopes .* of UINT8, not INT8", "quantize"),
    "relu6": (unary("RELU6", CODES, {"scale": 0.02}), "RELU6: .* which TFLM does not regard", "fuse"),
    "sigmoid": (operator("LOGISTIC"), "must have 0.00390625 and -128", ""),
    "variable": (changed(never_assigned), "the variable 'pooled' is read, and nothing gives", "assign to it"),
    "string": (unary("FLOOR", {"kind": "float32"}, {"kind": "resource"}), "type RESOURCE", "supported"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_a_way_out(what: str) -> None:
    file, message, hint = REFUSED[what]
    with pytest.raises(CortexMError, match=message) as caught:
        read_litert(file.data(), name="net")
    assert "\n" not in caught.value.message
    assert hint in caught.value.hint


def test_several_subgraphs_of_one_signature_are_read() -> None:
    f = net()
    f.model["signature_defs"] = [{"signature_key": "serving_default", "subgraph_index": 0}]
    assert read_litert(f.data(), name="net").ops


def test_names_are_inert() -> None:
    f = first(outputs=[1])
    f.graphs[0]["tensors"][1]["name"] = "*/\n\x1b[31m" + "x" * 500
    paths = {op.layer.path for op in read_litert(f.data(), name="net").ops}
    (layer,) = (path for path in paths if path.startswith("*"))
    assert layer.isprintable() and len(layer) <= 200


def test_weights_of_int8_beside_floats_compute_in_float32_and_it_is_said() -> None:
    f = File()
    x, y = f.tensor((1, 4), "float32"), f.tensor((1, 3), "float32")
    codes = np.arange(12, dtype=np.int8).reshape(3, 4)
    w = f.constant(codes, scale=0.5)
    f.operator("FULLY_CONNECTED", [x, w], [y], "FullyConnectedOptions")
    data = f.data([x], [y])
    (warning,) = mixed_layers(parse_model(data))
    assert (
        "compute in float32: 1 do, the first gives tensor 1 't1'" in warning
        and "representative" in warning
    )
    graph = read_litert(data, name="net")
    (weights,) = (t.data for t in graph.tensors if t.is_constant and t.dtype is DType.F32)
    np.testing.assert_array_equal(weights, codes * np.float32(0.5))


def test_an_initial_value_is_what_the_subgraph_assigns() -> None:
    f = net()
    operators = f.graphs[0]["operators"]
    f.operator("CALL_ONCE", [], [], "CallOnceOptions", init_subgraph_index=1)
    operators.insert(0, operators.pop())
    f.subgraph()
    value = np.arange(8, dtype=np.int8).reshape(1, 1, 1, 8)
    handle, constant = f.tensor((), "resource"), f.constant(value, scale=0.05, zero=-3)
    f.operator("VAR_HANDLE", [], [handle], "VarHandleOptions", container="", shared_name="pooled")
    f.operator("ASSIGN_VARIABLE", [handle, constant], [], "AssignVariableOptions")
    (state,) = read_litert(f.data(), name="net").states
    np.testing.assert_array_equal(state.initial, value)
