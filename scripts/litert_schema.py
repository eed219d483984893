#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ledger of LiteRT's file format, python/cortexm_tools/litert/schema.json.

It holds the numbers of operators, element types and the like, and of each table the number, type and default
of its fields. The source is the module that flatc made of the schema, as the package tflite-micro has it
(requirements/dev.txt); it is read, not imported. `--check` only says whether the ledger is up to date.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

from checkout import ROOT

LEDGER = ROOT / "python/cortexm_tools/litert/schema.json"
SOURCE = "tensorflow/lite/micro/python/schema_py_generated.py"

# What the reader looks at; besides, the options of operators.
TABLES = "Model OperatorCode SubGraph Tensor QuantizationParameters Buffer Operator SignatureDef"
ENUMS = (
    "TensorType Padding ActivationFunctionType MirrorPadMode QuantizationDetails "
    "FullyConnectedOptionsWeightsFormat"
)

_CODES = {"Bool": "B", "Int8": "b", "Uint8": "B", "Int16": "h", "Uint16": "H", "Int32": "i", "Uint32": "I",
          "Int64": "q", "Uint64": "Q", "Float32": "f", "Float64": "d"}  # fmt: skip

_CLASS = re.compile(r"^class (\w+)\(object\):\n((?:    .*\n|\n)+)", re.MULTILINE)
_SLOT = re.compile(
    r"^def (\w+)Add(\w+)\(builder, (\w+)\):\n    builder\.Prepend(\w+)Slot\((\d+), .*, (\S+)\)$",
    re.MULTILINE,
)
_MEMBER = re.compile(r"^    (\w+) = (-?\d+)$", re.MULTILINE)

Field = list[int | float | str]


def snake(name: str) -> str:
    """``fused_activation_function`` of ``fusedActivationFunction``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _kind(body: str, method: str) -> str:
    """What a field that is an offset leads to, by how the class reads it."""
    found = re.search(rf"    def {method}\(self.*\n(?:(?!    def ).*\n)+", body)
    text = found[0] if found else ""
    if "self._tab.Union" in text:
        return "union"
    if "self._tab.String" in text:
        return "string"
    is_vector = "self._tab.Vector" in text
    table = re.search(r"obj = (\w+)\(\)", text)
    if table:
        return f"[{table[1]}]" if is_vector else table[1]
    number = re.search(r"number_types\.(\w+)Flags, a", text)
    if not is_vector or number is None:
        raise ValueError(f"no way to read {method}")
    return f"[{_CODES[number[1]]}]"


def ledger(text: str) -> dict[str, dict[str, dict[str, object]]]:
    """Enumerations and tables of the schema."""
    bodies = {name: body for name, body in _CLASS.findall(text)}
    numbers = {
        name: {member: int(value) for member, value in _MEMBER.findall(bodies[name])}
        for name in (*ENUMS.split(), "BuiltinOperator", "BuiltinOptions")
    }
    wanted = {*TABLES.split(), *numbers["BuiltinOptions"]} - {"NONE"}
    tables: dict[str, dict[str, object]] = {name: {} for name in sorted(wanted)}
    for table, method, argument, form, slot, default in _SLOT.findall(text):
        if table not in wanted:
            continue
        is_offset = form == "UOffsetTRelative"
        kind = _kind(bodies[table], method) if is_offset else _CODES[form]
        field: Field = [int(slot), kind]
        if not is_offset:
            field.append(float(default) if kind in "fd" else int(default == "True" or int(default)))
        tables[table][snake(argument)] = field
    return {"enums": dict(numbers), "tables": tables}


def _text(found: dict[str, dict[str, dict[str, object]]]) -> str:
    """One table a line."""
    parts = []
    for part, entries in found.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
        parts.append(f" {json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    package = importlib.util.find_spec("tflite_micro")
    if package is None or package.origin is None:
        print("the package tflite-micro is not installed (requirements/dev.txt)", file=sys.stderr)
        return 2
    source = (Path(package.origin).parent / SOURCE).read_text(encoding="utf-8")
    text = _text(ledger(source))
    if "--check" in sys.argv[1:]:
        is_new = LEDGER.read_text(encoding="utf-8") == text
        print(f"{LEDGER.name} is {'up to date' if is_new else 'out of date'}")
        return 0 if is_new else 1
    LEDGER.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
