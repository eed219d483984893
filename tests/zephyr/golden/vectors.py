# SPDX-License-Identifier: Apache-2.0
"""Writes the programs of some golden cases and a C file with their inputs and outputs.

    python -m tests.zephyr.golden.vectors CPU OUT

The cases are those of tests/support/golden.py, whose outputs were recorded from ExecuTorch's device code.
OUT gets NAME.pte for each, and vectors.c.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cortexm_tools.emit.files import write_files
from cortexm_tools.ir.memory import memory_bytes
from cortexm_tools.program import Program
from cortexm_tools.simplify import simplify

from tests.support.golden import GoldenCase, golden_case

# Convolutions of all kinds, linear layers, pools, activations, softmax and elementwise operators.
CASES = {
    "conv_add_relu": "nn_modules-conv_add_relu",
    "conv_maxpool": "nn_functional-conv_relu_maxpool",
    "avgpool": "mean-spatial_keepdim",
    "conv_silu": "activation_quant-conv_silu_inplace",
    "depthwise_separable": "torch_functions-depthwise_separable",
    "inverted_residual": "torch_functions-inverted_residual",
    "transpose_conv": "conv_transpose-conv_transpose2d_single_channel_out",
    "transpose_linear": "torch_functions-transpose_linear",
    "linear_softmax": "nn_modules-softmax",
    "linear_hardswish": "activation-linear_hardswish",
    "batch_matmul": "batch_matmul-const_rhs_small",
    "mul_add": "torch_functions-mul_add",
}


def array(name: str, data: bytes) -> list[str]:
    """A C array, aligned so that it can be read as any type."""
    rows = [", ".join(map(str, data[i : i + 16])) for i in range(0, len(data), 16)]
    body = [f"    {row}," for row in rows]
    return [f"static _Alignas(8) const uint8_t {name}[{len(data)}] = {{", *body, "};"]


def case_lines(name: str, case: GoldenCase) -> list[str]:
    """The inputs and outputs of a case in memory order, and a table of each."""
    graph = simplify(Program(name, case.pte).graph())
    lines = []
    for role, values, ids in (
        ("in", case.inputs, graph.inputs),
        ("out", case.expected, graph.outputs),
    ):
        orders = [graph.tensors[i].dim_order for i in ids]
        for n, (value, order) in enumerate(zip(values, orders, strict=True)):
            lines += array(f"{name}_{role}_{n}", memory_bytes(value, order))
        table = ", ".join(f"{name}_{role}_{n}" for n in range(len(values)))
        lines.append(f"static const uint8_t *const {name}_{role}[] = {{{table}}};")
    return lines


def main(cpu: str, out: Path) -> None:
    """Writes the files; those that stay the same keep their time stamps."""
    cases = {name: golden_case(full, cpu) for name, full in CASES.items()}
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", '#include "vectors.h"', ""]
    lines += [f'#include "{name}.h"' for name in cases]
    for name, case in cases.items():
        lines += case_lines(name, case)
    lines += ["", "const struct vector vectors[] = {"]
    lines += [f"    {{&{name}, {name}_in, {name}_out}}," for name in cases]
    lines += ["};", f"const size_t vector_count = {len(cases)};", ""]
    files: dict[str, str | bytes] = {f"{name}.pte": case.pte for name, case in cases.items()}
    out.mkdir(parents=True, exist_ok=True)
    write_files(out, {**files, "vectors.c": "\n".join(lines)})
    print(";".join(cases), end="")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
