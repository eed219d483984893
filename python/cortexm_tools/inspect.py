# SPDX-License-Identifier: Apache-2.0
"""`cortexm inspect`: what is in a .pte, and what of it has no kernel."""

from __future__ import annotations

from .ir.text import tensor_text
from .plan import has_lowering
from .program import Program
from .pte.reader import unsupported_operators
from .report import table


def inspect_text(program: Program) -> str:
    """Operators with counts, inputs, outputs and constants, as text.

    Raises:
        CortexMError: the file is damaged.
    """
    missing = unsupported_operators(program.pte)
    lines = [f"{program.name}: {len(program.pte):,} bytes, sha256 {program.digest}"]
    if missing:
        lines += ["", "operators without a kernel:"]
        lines += [f"  {name}" for name in missing]
        lines += ["such a program runs with RUNTIME executorch; see docs/kernels.md"]
        return "\n".join(lines)
    graph = program.graph()
    counts: dict[str, int] = {}
    for op in graph.ops:
        counts[op.kind] = counts.get(op.kind, 0) + 1
    for role, indices in (("input", graph.inputs), ("output", graph.outputs)):
        for number, index in enumerate(indices):
            lines.append(f"  {role} {number}  {tensor_text(graph.tensors[index])}")
    constants = [tensor for tensor in graph.tensors if tensor.is_constant]
    total = sum(tensor.nbytes for tensor in constants)
    lines += [f"  {len(constants)} constants of {total:,} bytes", ""]
    kernel = {op.kind: has_lowering(op.attrs) for op in graph.ops}
    rows = [(kind, count, "yes" if kernel[kind] else "no") for kind, count in sorted(counts.items())]
    lines.append(table(("operator", "count", "kernel"), rows))
    rows_ops = [
        (number + 1, op.kind, str(op.layer), tensor_text(graph.tensors[op.outputs[0]]))
        for number, op in enumerate(graph.ops)
    ]
    lines += ["", table(("#", "operator", "layer", "result"), rows_ops)]
    return "\n".join(lines)
