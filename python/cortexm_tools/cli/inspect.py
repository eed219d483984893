# SPDX-License-Identifier: Apache-2.0
"""`cortexm inspect`: what is in a .pte or .tflite, and what of it has no kernel."""

from __future__ import annotations

from collections import Counter

from ..ir import Graph
from ..ir.text import tensor_text
from ..plan import has_lowering
from ..program import Program
from ..pte.reader import Operator
from ..report import precision, table
from ..simplify import simplified


def inspect_text(program: Program) -> str:
    """Operators with counts, inputs, outputs and constants, as text.

    Raises:
        CortexMError: the file is damaged.
    """
    operators = program.operators()
    lines = [
        f"{program.name}: {len(program.pte):,} bytes, sha256 {program.digest}",
        *([f"test vectors {len(program.vectors)}"] if program.vectors else []),
        "",
        _counts(operators),
    ]
    missing = [operator for operator in operators if not operator.supported]
    if missing:
        rows = [(op.number, op.name, str(op.layer)) for op in missing]
        lines += [
            "",
            "without a kernel"
            + (":" if program.is_litert else " (such a program needs RUNTIME executorch):"),
            table(("#", "operator", "layer"), rows),
        ]
        return "\n".join(lines)
    return "\n".join([*lines, "", *_graph_lines(program.graph())])


def _counts(operators: tuple[Operator, ...]) -> str:
    supported = {operator.name: operator.supported for operator in operators}
    counts = Counter(operator.name for operator in operators)
    rows = [(name, counts[name], "yes" if supported[name] else "NO") for name in sorted(counts)]
    return table(("operator", "count", "kernel"), rows)


def _graph_lines(graph: Graph) -> list[str]:
    lines = []
    for role, indices in (("input", graph.inputs), ("output", graph.outputs)):
        for number, index in enumerate(indices):
            lines.append(f"{role} {number}   {tensor_text(graph.tensors[index])}")
    for number, state in enumerate(graph.states):
        lines.append(f"state {number}   {tensor_text(graph.tensors[state.before])}  {state.name}")
    removed = simplified(graph).channels_removed
    if removed:
        lines.append(f"constant channels that a build removes: {removed:,}")
    constants = [tensor for tensor in graph.tensors if tensor.is_constant]
    lines.append(f"constants {len(constants)} of {sum(t.nbytes for t in constants):,} bytes")
    rows = [
        (
            number + 1,
            op.kind if has_lowering(op.attrs) else f"{op.kind} (no kernel)",
            str(op.layer),
            precision(op, graph),
            tensor_text(graph.tensors[op.outputs[0]]),
        )
        for number, op in enumerate(graph.ops)
    ]
    return [*lines, "", table(("#", "operator", "layer", "precision", "result"), rows)]
