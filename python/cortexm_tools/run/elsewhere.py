# SPDX-License-Identifier: Apache-2.0
"""How outputs compare with what the model gives elsewhere: in PyTorch, where the program came from a model
file; a .tflite in TFLite Micro.

First with ExecuTorch's Python reference of the lowered program. Where that cannot run, with the
quantized model before lowering, which computes in float32 between its quantizations: it says whether
the lowering went wrong, not whether every last bit is right. Neither decides whether a run passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compile import Compiled
from ..ir import Array
from ..program import Program
from ..runner import Runner, run_in_order
from .tflm import outputs_apart

Rows = Sequence[tuple[Array, ...]]


def against_tflm(compiled: Compiled, inputs: Rows, outputs: Rows) -> dict[str, Any]:
    """The comparison of a .tflite; ``tflm`` has the numbers, or the reason, as below."""
    arena = sum(t.nbytes for t in compiled.graph.tensors if not t.is_constant)
    try:
        expected = outputs_apart(compiled.program.pte, inputs, len(outputs[0]), arena)
    except RuntimeError as error:
        return {"tflm": {"not_run": str(error)[:200]}}
    return {"tflm": _differences(expected, outputs)}


def tflm_lines(data: dict[str, Any]) -> list[str]:
    """What `against_tflm` found, for people."""
    if "tflm" not in data:
        return []
    found = data["tflm"]
    if "not_run" in found:
        return [f"  not compared with TFLite Micro: {found['not_run']}"]
    if not found["differing"]:
        return ["  outputs equal to TFLM in every byte"]
    return [f"  TFLite Micro: {_difference(found, 'docs/litert.md')}"]


def against_pytorch(program: Program, inputs: Rows, outputs: Rows) -> dict[str, Any]:
    """The comparison, for the report of a run; empty for a .pte or .tflite.

    ``executorch_reference`` has the number of ``values``, how many are ``differing`` and the
    ``largest_difference``; or it has ``not_run``, the reason why the reference could not run. Then
    ``quantized_model`` has the same numbers for the quantized model before lowering, or its reason.
    """
    if program.reference is None:
        return {}
    found = _against(program.reference, inputs, outputs)
    if "not_run" not in found or program.fake_quantized is None:
        return {"executorch_reference": found}
    return {
        "executorch_reference": found,
        "quantized_model": _against(program.fake_quantized, inputs, outputs),
    }


def pytorch_lines(data: dict[str, Any]) -> list[str]:
    """What `against_pytorch` found, for people."""
    if "executorch_reference" not in data:
        return []
    found = data["executorch_reference"]
    if "not_run" not in found:
        why = "it rounds pools and softmax in float; docs/numerics.md"
        return [f"  ExecuTorch's Python reference: {_difference(found, why)}"]
    lines = [f"  ExecuTorch's Python reference could not run this program: {found['not_run']}"]
    instead = data.get("quantized_model")
    if instead is None:
        return lines
    if "not_run" in instead:
        return [*lines, f"  nor could the quantized model before lowering: {instead['not_run']}"]
    why = "it computes in float between its quantizations"
    lines.append(
        f"  compared instead with the quantized model before lowering: {_difference(instead, why)}"
    )
    return lines


def _difference(found: dict[str, Any], why: str) -> str:
    if not found["differing"]:
        return "equal in every value"
    return (
        f"{found['differing']} of {found['values']} values differ, by at most "
        f"{found['largest_difference']:g} ({why})"
    )


def _against(run: Runner, inputs: Rows, outputs: Rows) -> dict[str, Any]:
    # PyTorch's and ExecuTorch's operators raise whatever they like; what the board computed counts.
    try:
        expected = run_in_order(run, inputs)
    except Exception as error:
        return {"not_run": _reason(error)}
    return _differences(expected, outputs)


def _differences(expected: Rows, outputs: Rows) -> dict[str, Any]:
    differing, total, largest = 0, 0, 0.0
    for want, got in zip(expected, outputs, strict=True):
        for a, b in zip(got, want, strict=True):
            if a.shape != b.shape:
                return {
                    "not_run": f"it gives {list(b.shape)} where the program gives {list(a.shape)}"
                }
            with np.errstate(invalid="ignore"):  # infinity minus infinity
                difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
            same = (a == b) | ((a != a) & (b != b))
            differing += int(np.count_nonzero(~same))
            largest = max(largest, float(np.max(difference, initial=0.0, where=~same)))
            total += a.size
    return {"values": total, "differing": differing, "largest_difference": largest}


def _reason(error: Exception) -> str:
    """The error's type and the first line of its message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
