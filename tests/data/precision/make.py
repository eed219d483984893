# SPDX-License-Identifier: Apache-2.0
"""Writes network.pte, with int16 activations, mixed.pte, with all precisions, recurrent.pte and
sound.pte: python -m tests.data.precision.make"""

from __future__ import annotations

from pathlib import Path

from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

HERE = Path(__file__).parent
PRECISIONS = {"network": "a16w8", "mixed": "int8", "recurrent": "int8", "sound": "int8"}


def main() -> None:
    target = Target.parse("cortex-m55")
    for name, word in PRECISIONS.items():
        quantization = parse_quantization(word)
        path = HERE / f"{name}.py"
        program = load_program(path, name=name, target=target, quantization=quantization)
        path.with_suffix(".pte").write_bytes(program.pte)


if __name__ == "__main__":
    main()
