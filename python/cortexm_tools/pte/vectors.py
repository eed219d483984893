# SPDX-License-Identifier: Apache-2.0
"""The test vectors of a BundledProgram against what a graph computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import CortexMError
from ..ir import Array, DType, Graph, Tensor, ops
from ..options import ATOL, QTOL, RTOL
from .bundle import TestVector


@dataclass(frozen=True)
class VectorCheck:
    """How many vectors came out as expected.

    Attributes:
        passed, total: vectors; those without expected outputs do not count.
        largest: the largest absolute difference of any output value, in the outputs' unit.
    """

    passed: int
    total: int
    largest: float

    @property
    def failed(self) -> int:
        return self.total - self.passed


def vector_inputs(graph: Graph, vectors: Sequence[TestVector]) -> list[tuple[Array, ...]]:
    """The vectors' inputs as `graph` takes them; reals become codes where the interface is int8.

    Raises:
        CortexMError: they do not fit the graph's inputs.
    """
    rows = []
    for number, vector in enumerate(vectors):
        what = f"test vector {number}"
        if len(vector.inputs) != len(graph.inputs):
            raise CortexMError(
                f"{what} has {len(vector.inputs)} inputs, the program takes {len(graph.inputs)}",
                where=graph.name,
            )
        rows.append(
            tuple(
                fit_input(graph.tensors[index], value, f"{what}, input {k}")
                for k, (index, value) in enumerate(zip(graph.inputs, vector.inputs, strict=True))
            )
        )
    return rows


def fit_input(tensor: Tensor, value: Array, what: str) -> Array:
    """`value` as an input: reals become codes where the interface is int8.

    Raises:
        CortexMError: type or shape do not fit; `what` names the value.
    """
    if value.dtype == np.float64 and tensor.dtype is DType.F32:
        value = value.astype(np.float32)
    if value.dtype.kind == "f" and tensor.quant is not None and tensor.dtype is not DType.F32:
        quant = tensor.quant
        quantize = ops.Quantize(quant.scale, quant.zero_point, *tensor.dtype.limits)
        value = quantize.compute((tensor,), value).astype(tensor.dtype.numpy)
    if value.dtype != tensor.dtype.numpy or value.shape != tensor.shape:
        raise CortexMError(
            f"{what} is {value.dtype} {value.shape}, "
            f"the model takes {tensor.dtype.numpy} {tensor.shape}"
        )
    return value


def check_vectors(
    graph: Graph,
    vectors: Sequence[TestVector],
    outputs: Sequence[Sequence[Array]],
    *,
    atol: float = ATOL,
    rtol: float = RTOL,
    qtol: int = QTOL,
) -> VectorCheck:
    """Holds outputs (one row per vector, logical) against the vectors' expectations.

    A value passes if it differs by at most ``atol + rtol * |expected| + qtol * step``, where `step`
    is the quantization step of the output, 0 for one that was computed in float. Codes of an int8
    interface are compared as the reals they stand for.

    Raises:
        CortexMError: a vector expects other outputs than the program has.
    """
    passed, total, largest = 0, 0, 0.0
    tensors = [graph.tensors[index] for index in graph.outputs]
    steps = [_step(graph, index) for index in graph.outputs]
    for number, (vector, row) in enumerate(zip(vectors, outputs, strict=True)):
        if not vector.expected:
            continue
        shapes = [tuple(value.shape) for value in vector.expected]
        if shapes != [tensor.shape for tensor in tensors]:
            raise CortexMError(
                f"test vector {number} expects outputs {shapes}, the program gives "
                f"{[tensor.shape for tensor in tensors]}",
                where=graph.name,
            )
        total += 1
        good = True
        for tensor, step, got, want in zip(tensors, steps, row, vector.expected, strict=True):
            a, b = _real(tensor, got, want), want.astype(np.float64)
            with np.errstate(invalid="ignore"):
                difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
            largest = max(largest, float(difference.max(initial=0.0)))
            good &= bool(np.all(difference <= 1.0001 * qtol * step + atol + rtol * np.abs(b)))
        passed += good
    return VectorCheck(passed, total, largest)


def _step(graph: Graph, index: int) -> float:
    """The quantization step of an output, in its unit; 0 if it was computed in float."""
    quant = graph.tensors[index].quant
    if quant is not None:
        return quant.scale
    for op in graph.ops:
        if index in op.outputs and isinstance(op.attrs, ops.Dequantize):
            return op.attrs.scale
    return 0.0


def _real(tensor: Tensor, got: Array, want: Array) -> npt.NDArray[np.float64]:
    """`got` as reals, if it is codes where the bundle has reals."""
    if want.dtype.kind == "f" and got.dtype.kind != "f" and tensor.quant is not None:
        return np.asarray(tensor.quant.scale * (got.astype(np.float64) - tensor.quant.zero_point))
    return got.astype(np.float64)


def tolerance_text(found: Mapping[str, float]) -> str:
    """``allowed: 0.01 + 0.01 of the value + 1 quantization step``."""
    steps = f"{found['qtol']:g} quantization step" + ("s" if found["qtol"] != 1 else "")
    return f"allowed: {found['atol']:g} + {found['rtol']:g} of the value + {steps}"
