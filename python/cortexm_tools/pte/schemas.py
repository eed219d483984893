# SPDX-License-Identifier: Apache-2.0
"""What every operator that is read takes and returns, by name: the ledger schemas.json.

It holds facts of ExecuTorch's dialect and of PyTorch, collected by scripts/operator_schemas.py, so
that nothing here imports either. The positions in runtime/executorch/schemas.h come from it, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Schema:
    """An operator's arguments and results, in the order of a .pte's instruction.

    Attributes:
        types: of the arguments, by name: ``Tensor``, ``int``, ``int[]``, ``Scalar?``, ….
        results: names of the results behind them; a list of results counts as one.
        positions: of the arguments, by name.
    """

    types: dict[str, str]
    results: tuple[str, ...]
    positions: dict[str, int]

    @property
    def arg_count(self) -> int:
        """Arguments before the results."""
        return len(self.types)

    @property
    def out_count(self) -> int:
        """Results that are arguments."""
        return len(self.results)


def _load() -> dict[str, Schema]:
    ledger = json.loads(Path(__file__).with_name("schemas.json").read_text(encoding="utf-8"))
    return {
        operator: Schema(
            entry["arguments"],
            tuple(entry["results"]),
            {name: position for position, name in enumerate(entry["arguments"])},
        )
        for operator, entry in ledger.items()
    }


SCHEMAS = _load()
