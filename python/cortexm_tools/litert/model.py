# SPDX-License-Identifier: Apache-2.0
"""Parsing a .tflite file into frozen values: a faithful, checked copy of all of its subgraphs.

File layout: a FlatBuffer with the identifier ``TFL3``; buffers that do not fit into 2 GiB lie behind it,
where the buffer says. The schema is LiteRT's schema.fbs (schema.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import CortexMError, printable
from ..flatbuffer import Buffer
from .schema import LITERT, Record, damaged, name_of
from .values import LiteModel, LiteOperator, LiteSubgraph, LiteTensor, Quantization

IDENTIFIER = b"TFL3"
_VERSION = 3
_CODES = ("INT8", "INT16", "UINT8", "INT4")  # the scales of others, as of biases, follow from these
_MAX_RANK = 8
_MAX_NAME = 200
_MAX_NUMEL = 2**26  # of a tensor; no microcontroller has room for as many


def is_litert(data: bytes | memoryview) -> bool:
    """Whether the bytes claim to be a .tflite file."""
    return bytes(data[4:8]) == IDENTIFIER


def parse_model(data: bytes) -> LiteModel:
    """Parses a .tflite file.

    Raises:
        CortexMError: the bytes are not such a file, or are damaged.
    """
    if len(data) < 8 or not is_litert(data):
        raise CortexMError(
            "this is not a LiteRT model: the identifier TFL3 is missing",
            hint="a .tflite file of schema version 3 is needed",
        )
    root = Record(Buffer(data, LITERT).root(), "Model")
    version = root.number("version")
    if version != _VERSION:
        raise CortexMError(
            f"the .tflite file has schema version {version}, only {_VERSION} is known",
            hint="convert the model with a present version of TensorFlow or LiteRT",
        )
    buffers = [_content(buffer, memoryview(data)) for buffer in root.records("buffers")]
    codes = [_code(code) for code in root.records("operator_codes")]
    subgraphs = tuple(_subgraph(each, buffers, codes) for each in root.records("subgraphs"))
    if not subgraphs:
        raise damaged("it has no subgraph")
    signatures = tuple(
        (_name(each.text("signature_key")), int(each.number("subgraph_index")))
        for each in root.records("signature_defs")
    )
    return LiteModel(subgraphs, signatures, len(data))


def _name(text: str) -> str:
    return printable(text)[:_MAX_NAME]


def _content(buffer: Record, file: memoryview) -> memoryview:
    """The bytes of a buffer; none if it belongs to a tensor that is computed."""
    begin, size = buffer.number("offset"), buffer.number("size")
    if begin <= 1:  # 1 is a place that was to be filled in
        return buffer.data("data")
    if begin + size > len(file):
        raise damaged("a buffer lies outside the file")
    return file[begin : begin + size]


def _code(code: Record) -> tuple[str, int]:
    """Name and version of an operator."""
    # Files of old have the number in a byte alone.
    number = max(code.number("builtin_code"), code.number("deprecated_builtin_code"))
    name = name_of("BuiltinOperator", number)
    if name == "CUSTOM":
        name = f"CUSTOM {_name(code.text('custom_code'))}"
    return name, code.number("version")


def _subgraph(
    graph: Record, buffers: Sequence[memoryview], codes: Sequence[tuple[str, int]]
) -> LiteSubgraph:
    tensors = tuple(_tensor(t, n, buffers) for n, t in enumerate(graph.records("tensors")))
    count = len(tensors)
    return LiteSubgraph(
        tensors,
        _indices(graph, "inputs", count),
        _indices(graph, "outputs", count),
        tuple(_operator(o, n, codes, count) for n, o in enumerate(graph.records("operators"))),
    )


def _indices(record: Record, field: str, count: int, least: int = 0) -> tuple[int, ...]:
    items = record.numbers(field)
    if any(not least <= item < count for item in items):
        raise damaged(f"one of the {field} is a tensor that does not exist")
    return items


def _tensor(tensor: Record, index: int, buffers: Sequence[memoryview]) -> LiteTensor:
    shape = tensor.numbers("shape")
    name = _name(tensor.text("name"))
    element = name_of("TensorType", tensor.number("type"))
    where = f"tensor {index} {name!r}"
    if len(shape) > _MAX_RANK:
        raise CortexMError(f"{where} has {len(shape)} dimensions, at most {_MAX_RANK} are read")
    if any(extent < 0 for extent in shape):
        raise CortexMError(
            f"{where} has the shape {shape}, which is only known at run time",
            hint="convert the model with a fixed shape: one concrete function, or one batch",
        )
    number = tensor.number("buffer")
    if not 0 <= number < max(len(buffers), 1):
        raise damaged(f"{where} has a buffer that does not exist")
    content = buffers[number] if buffers else memoryview(b"")
    quantization, refusal = _quantization(tensor, shape) if element in _CODES else (None, None)
    if tensor.has("sparsity"):
        refusal = "is sparse", "convert the model without sparsity"
    elif tensor.number("external_buffer"):
        refusal = "keeps its data in another file", "convert the model with all data in one file"
    found = LiteTensor(
        index,
        name,
        element,
        shape,
        content if len(content) else None,
        quantization,
        refusal,
    )
    if found.numel > _MAX_NUMEL:
        raise CortexMError(f"{where} of shape {shape} has more than {_MAX_NUMEL:,} elements")
    if found.data is not None and found.is_number and not refusal:
        if len(content) != found.nbytes:
            raise damaged(
                f"{where} has {len(content)} bytes of data, its shape needs {found.nbytes}"
            )
    return found


def _quantization(
    tensor: Record, shape: tuple[int, ...]
) -> tuple[Quantization | None, tuple[str, str] | None]:
    """How a tensor is quantized; why it cannot be used and what to do, if so."""
    record = tensor.record("quantization")
    if record is None:
        return None, None
    if record.number("details_type"):
        details = name_of("QuantizationDetails", record.number("details_type"))
        return None, (f"is quantized by {details}", "convert it with a scale for each channel")
    scales, zeros = record.numbers("scale"), record.numbers("zero_point")
    if not scales:
        return None, None
    axis = record.number("quantized_dimension")
    wrong = ""
    if not all(0.0 < scale < math.inf for scale in scales):
        bad = next(scale for scale in scales if not 0.0 < scale < math.inf)
        wrong = f"has the scale {bad}, which is not positive and finite"
    elif len(scales) > 1 and not (0 <= axis < len(shape) and shape[axis] == len(scales)):
        wrong = f"has {len(scales)} scales, which do not fit its shape {shape}"
    elif len(zeros) not in (0, 1, len(scales)):
        wrong = f"has {len(zeros)} zero points for {len(scales)} scales"
    if wrong:
        return None, (wrong, "quantize and convert the model again")
    zeros = zeros or (0,)
    return Quantization(scales, zeros * (len(scales) // len(zeros)), axis), None


def _operator(
    operator: Record, number: int, codes: Sequence[tuple[str, int]], count: int
) -> LiteOperator:
    index = operator.number("opcode_index")
    if index >= len(codes):
        raise damaged(f"operator {number} has a code that does not exist")
    kind = name_of("BuiltinOptions", operator.number("builtin_options_type"))
    options = None
    if kind != "NONE" and not kind.startswith("number"):
        options = operator.record("builtin_options", kind)
    name, version = codes[index]
    return LiteOperator(
        number,
        name,
        version,
        _indices(operator, "inputs", count, -1),
        _indices(operator, "outputs", count),
        options,
    )
