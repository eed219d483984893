# SPDX-License-Identifier: Apache-2.0
"""What a model looks like at each stage, as text: counts of operators and the files of
``cortexm compile --intermediates``."""

from __future__ import annotations

from collections import Counter

from ..compile import Compiled
from ..errors import CortexMError
from ..ir.text import graph_text
from ..program import Program
from ..pte.bundle import TestVector
from ..pte.program import parse_program
from ..report import layer_table, summary, table
from ..runner import run_in_order

_DIALECT = ("cortex_m::", "cortexm::")


def node_counts(program: Program) -> dict[str, int]:
    """How often each operator occurs in the program, before any rewrite of ours; names sorted."""
    counts = Counter(op.name for op in program.operators())
    return {name: counts[name] for name in sorted(counts)}


def nodes_line(program: Program) -> str:
    """``66 cortex_m nodes, 1 other``: the dialect's nodes of the .pte; of a .tflite ``66 operators``."""
    counts = node_counts(program)
    if program.is_litert:
        return f"{sum(counts.values())} operators"
    ours = sum(number for name, number in counts.items() if name.startswith(_DIALECT))
    rest = sum(counts.values()) - ours
    return f"{ours} cortex_m nodes" + (f", {rest} other" if rest else "")


def nodes_text(program: Program) -> str:
    """The line above a table by operator."""
    rows = list(node_counts(program).items())
    return f"{program.file}: {nodes_line(program)}\n{table(('operator', 'nodes'), rows)}\n"


def intermediates(compiled: Compiled) -> dict[str, str | bytes]:
    """The files of --intermediates: the program as text after every stage, in their order."""
    program = compiled.program
    texts = {
        **program.texts,
        "nodes": nodes_text(program),
        "graph": graph_text(compiled.graph),
        "simplified": graph_text(compiled.plan.graph),
        "plan": f"{summary(compiled.report)}\n\n{layer_table(compiled.report)}\n",
    }
    return {
        f"{program.name}.{number}.{stage}.{'py' if stage in program.texts else 'txt'}": text
        for number, (stage, text) in enumerate(texts.items(), 1)
    }


def bundle_bytes(program: Program) -> bytes:
    """The program as a .bpte: its example inputs with what the quantized model gives for them.

    Raises:
        CortexMError: there are no example inputs, or executorch cannot write the file.
    """
    if program.vectors:
        vectors = program.vectors
    elif program.example is not None and program.fake_quantized is not None:
        (expected,) = run_in_order(program.fake_quantized, [program.example])
        vectors = (TestVector(program.example, expected),)
    else:
        raise CortexMError(
            "--bundleio needs a model file: a .pte has no example inputs", where=program.name
        )
    from ..frontend.lower.bundle import write_bundle

    return write_bundle(program.pte, parse_program(program.pte).method, vectors)
