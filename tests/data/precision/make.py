# SPDX-License-Identifier: Apache-2.0
"""Writes network.pte, with int16 activations: python -m tests.data.precision.make"""

from __future__ import annotations

from pathlib import Path

from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

HERE = Path(__file__).parent


def main() -> None:
    target = Target.parse("cortex-m55")
    quantization = parse_quantization("a16w8")
    program = load_program(
        HERE / "network.py", name="network", target=target, quantization=quantization
    )
    (HERE / "network.pte").write_bytes(program.pte)


if __name__ == "__main__":
    main()
