# SPDX-License-Identifier: Apache-2.0
"""Files of few operators, written with flatbuffers alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np

import cortexm_tools.litert
from cortexm_tools.ir import Array

_LEDGER = json.loads(Path(cortexm_tools.litert.__file__).with_name("schema.json").read_text())
_TABLES, ENUMS = _LEDGER["tables"], _LEDGER["enums"]
_SLOTS = {
    "B": "Uint8", "b": "Int8", "i": "Int32", "I": "Uint32", "q": "Int64", "Q": "Uint64", "f": "Float32",
}  # fmt: skip
_TYPES = {
    "float32": "FLOAT32", "float16": "FLOAT16", "int8": "INT8", "int16": "INT16", "int32": "INT32",
    "int64": "INT64", "uint8": "UINT8", "bool": "BOOL", "int4": "INT4", "resource": "RESOURCE",
}  # fmt: skip


def _vector(builder: flatbuffers.Builder, kind: str, values: Any) -> int:
    """A vector of numbers, or of offsets."""
    size = np.dtype(kind if kind != "O" else "I").itemsize
    builder.StartVector(size, len(values), size)
    for value in reversed(list(values)):
        if kind == "O":
            builder.PrependUOffsetTRelative(value)
        else:
            getattr(builder, f"Prepend{_SLOTS[kind]}")(value)
    return int(builder.EndVector())


def write_table(builder: flatbuffers.Builder, name: str, values: dict[str, Any]) -> int:
    """A table of the schema: numbers, texts, bytes, lists of numbers, tables and lists of tables."""
    fields = _TABLES.get(name, {})
    offsets: dict[str, int] = {}
    for key, value in values.items():
        kind = fields[key][1]
        if len(fields[key]) == 3:
            continue
        if kind == "string":
            offsets[key] = builder.CreateString(value)
        elif kind == "[B]":
            offsets[key] = builder.CreateByteVector(bytes(value))
        elif len(kind) == 3:
            offsets[key] = _vector(builder, kind[1], value)
        elif kind == "union":
            offsets[key] = write_table(builder, *value)
        elif kind.startswith("["):
            tables = [write_table(builder, kind.strip("[]"), each) for each in value]
            offsets[key] = _vector(builder, "O", tables)
        else:
            offsets[key] = write_table(builder, kind, value)
    builder.StartObject(max((slot for slot, *_ in fields.values()), default=-1) + 1)
    for key, value in values.items():
        slot, kind, *default = fields[key]
        if default:
            getattr(builder, f"Prepend{_SLOTS[kind]}Slot")(slot, value, default[0])
        else:
            builder.PrependUOffsetTRelativeSlot(slot, offsets[key], 0)
    return int(builder.EndObject())


@dataclass
class File:
    """A model under construction; `model` is what a test may change before `data()`."""

    buffers: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    codes: list[dict[str, Any]] = field(default_factory=list)
    graphs: list[dict[str, Any]] = field(default_factory=list)
    model: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.subgraph()

    def subgraph(self) -> None:
        """Begins a subgraph."""
        self.graphs.append({"tensors": [], "inputs": [], "outputs": [], "operators": []})

    def tensor(
        self,
        shape: Any,
        kind: str = "int8",
        scale: Any = None,
        zero: Any = 0,
        data: Array | bytes | None = None,
        axis: int = 0,
        **more: Any,
    ) -> int:
        """A tensor; with data it is a constant."""
        tensors = self.graphs[-1]["tensors"]
        made = {
            "shape": list(shape),
            "type": ENUMS["TensorType"][_TYPES[kind]],
            "name": f"t{len(tensors)}",
        }
        if data is not None:
            self.buffers.append(
                {"data": data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()}
            )
            made["buffer"] = len(self.buffers) - 1
        if scale is not None:
            scales = [float(each) for each in np.atleast_1d(scale)]
            zeros = [int(each) for each in np.broadcast_to(np.atleast_1d(zero), len(scales))]
            made["quantization"] = {
                "scale": scales,
                "zero_point": zeros,
                "quantized_dimension": axis,
            }
        tensors.append({**made, **more})
        return len(tensors) - 1

    def constant(self, data: Any, kind: str | None = None, **more: Any) -> int:
        array = np.asarray(data)
        return self.tensor(array.shape, kind or array.dtype.name, data=array, **more)

    def operator(
        self,
        name: str,
        inputs: list[int],
        outputs: list[int],
        table: str = "",
        version: int = 1,
        **options: Any,
    ) -> None:
        """An operator, with options of a table."""
        number = ENUMS["BuiltinOperator"][name.partition(" ")[0]]
        code: dict[str, Any] = {
            "builtin_code": number,
            "deprecated_builtin_code": min(number, 127),
            "version": version,
        }
        if name.startswith("CUSTOM "):
            code["custom_code"] = name.partition(" ")[2]
        self.codes.append(code)
        made: dict[str, Any] = {
            "opcode_index": len(self.codes) - 1,
            "inputs": inputs,
            "outputs": outputs,
        }
        if table:
            made["builtin_options_type"] = ENUMS["BuiltinOptions"][table]
            made["builtin_options"] = table, options
        self.graphs[-1]["operators"].append(made)

    def data(self, inputs: list[int] | None = None, outputs: list[int] | None = None) -> bytes:
        """The file; inputs and outputs are those of the first subgraph."""
        self.graphs[0]["inputs"] = inputs or self.graphs[0]["inputs"]
        self.graphs[0]["outputs"] = outputs or self.graphs[0]["outputs"]
        builder = flatbuffers.Builder(1024)
        model = {
            "version": 3,
            "operator_codes": self.codes,
            "subgraphs": self.graphs,
            "buffers": self.buffers,
        }
        builder.Finish(write_table(builder, "Model", model | self.model), b"TFL3")
        return bytes(builder.Output())
