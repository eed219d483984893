# SPDX-License-Identifier: Apache-2.0
"""The schema of LiteRT's files: the ledger schema.json, and tables read by the names of their fields.

scripts/litert_schema.py made the ledger; nothing here needs a package of LiteRT's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..flatbuffer import Format, Table

LITERT = Format(".tflite", "the converter it came from")
damaged = LITERT.damaged

_LEDGER = json.loads(Path(__file__).with_name("schema.json").read_text(encoding="utf-8"))
_TABLES: dict[str, dict[str, list[Any]]] = _LEDGER["tables"]
NUMBERS: dict[str, dict[str, int]] = _LEDGER["enums"]
"""Of each enumeration the numbers of its members."""
NAMES = {enum: {n: name for name, n in members.items()} for enum, members in NUMBERS.items()}
"""Of each enumeration the members by their numbers."""


def name_of(enum: str, number: int) -> str:
    """What `number` stands for, or the number in words where there is no such member."""
    return NAMES[enum].get(number, f"number {number}")


@dataclass(frozen=True)
class Record:
    """A table of the file as the schema names its fields."""

    table: Table
    name: str

    def _field(self, field: str, *kinds: str) -> list[Any]:
        found = _TABLES[self.name][field]
        assert not kinds or found[1] in kinds, (self.name, field)
        return found

    def number(self, field: str) -> Any:
        """An integer, a truth value (0 or not) or a float; its default where it is absent."""
        slot, kind, default = self._field(field)
        return self.table.scalar(slot, kind, default)

    def numbers(self, field: str) -> tuple[Any, ...]:
        slot, kind = self._field(field)
        return self.table.scalars(slot, kind.strip("[]"))

    def text(self, field: str) -> str:
        return self.table.string(self._field(field, "string")[0])

    def data(self, field: str) -> memoryview:
        """A vector of bytes, not copied."""
        return self.table.raw(self._field(field, "[B]")[0])

    def has(self, field: str) -> bool:
        return self.table.has(self._field(field)[0])

    def record(self, field: str, name: str = "") -> Record | None:
        """A table; `name` says which one a union holds."""
        slot, kind = self._field(field)
        table = self.table.table(slot)
        return None if table is None else Record(table, name or kind)

    def records(self, field: str) -> Iterator[Record]:
        slot, kind = self._field(field)
        return (Record(table, kind.strip("[]")) for table in self.table.tables(slot))

    def value(self, field: str) -> Any:
        """A number, a vector of numbers or a text, as the schema says."""
        _, kind, *default = self._field(field)
        read = self.number if default else self.text if kind == "string" else self.numbers
        return read(field)
