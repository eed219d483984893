# SPDX-License-Identifier: Apache-2.0
"""Golden operator cases: programs with inputs and trusted outputs (see data/golden/README.md)."""

from __future__ import annotations

import json
import lzma
import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cortexm_tools.ir import Graph, ops

Array = npt.NDArray[Any]

_ARCHIVE = Path(__file__).parents[1] / "data" / "golden" / "ops.xz"


@dataclass(frozen=True)
class GoldenCase:
    """One program.

    Attributes:
        name: module and case of the original test.
        cpu: core it was lowered for, ``cortex-m4`` or ``cortex-m55``.
        trust: ``both``, ``device``, ``reference``, or ``either`` (within one quantization step).
        operators: the names of its operators in the .pte, with overload, sorted.
        pte: the program.
        inputs: in logical shape.
        orders: the dim order in which the program takes each input.
        expected: the outputs, in logical shape.
    """

    name: str
    cpu: str
    trust: str
    operators: tuple[str, ...]
    pte: bytes
    inputs: tuple[Array, ...]
    orders: tuple[tuple[int, ...], ...]
    expected: tuple[Array, ...]

    def __str__(self) -> str:
        return f"{self.name}-{self.cpu}"


@cache
def _all_cases() -> tuple[GoldenCase, ...]:
    data = lzma.decompress(_ARCHIVE.read_bytes())
    header_end = 4 + int.from_bytes(data[:4], "little")
    block = data[header_end:]

    def array(entry: tuple[str, list[int], int]) -> Array:
        dtype, shape, offset = entry
        return np.frombuffer(block, dtype, math.prod(shape), offset).reshape(shape)

    return tuple(
        GoldenCase(
            case["name"],
            case["cpu"],
            case["trust"],
            tuple(case["operators"]),
            array(case["pte"]).tobytes(),
            tuple(array(entry) for entry in case["inputs"]),
            tuple(tuple(order) for order in case["orders"]),
            tuple(array(entry) for entry in case["expected"]),
        )
        for case in json.loads(data[4:header_end])["cases"]
    )


def golden_cases(
    operators: Collection[str] | None = None, *, cpu: str | None = None
) -> list[GoldenCase]:
    """The cases for `cpu` whose operators are all in `operators`; all cases by default."""
    return [
        case
        for case in _all_cases()
        if (cpu is None or case.cpu == cpu)
        and (operators is None or set(case.operators) <= set(operators))
    ]


def golden_case(name: str, cpu: str = "cortex-m55") -> GoldenCase:
    """The case with this name."""
    (case,) = (case for case in _all_cases() if (case.name, case.cpu) == (name, cpu))
    return case


def mismatch(case: GoldenCase, results: Collection[Array], step: float = 0.0) -> str:
    """What is wrong with `results`, or an empty string.

    Args:
        step: the output's quantization step, allowed as a difference where trust is ``either``.
    """
    if len(results) != len(case.expected):
        return f"{len(results)} outputs, expected {len(case.expected)}"
    for number, (result, expected) in enumerate(zip(results, case.expected, strict=True)):
        if result.shape != expected.shape or result.dtype != expected.dtype:
            return (
                f"output {number} is {result.dtype} {result.shape}, "
                f"expected {expected.dtype} {expected.shape}"
            )
        if result.tobytes() == expected.tobytes():
            continue
        with np.errstate(invalid="ignore"):
            largest = np.abs(result.astype(np.float64) - expected.astype(np.float64)).max()
        if case.trust != "either" or not largest <= step * 1.001:
            return f"output {number} differs by up to {largest:g}"
    return ""


def output_step(graph: Graph) -> float:
    """The quantization step of the first output: its Dequantize's scale, or one code."""
    for op in graph.ops:
        if graph.outputs[0] in op.outputs and isinstance(op.attrs, ops.Dequantize):
            return op.attrs.scale
    return 1.0
