# SPDX-License-Identifier: Apache-2.0
"""What is compared with PyTorch is said, and nothing that PyTorch raises costs the results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cortexm_tools.ir import Array
from cortexm_tools.program import Program
from cortexm_tools.run.elsewhere import against_pytorch, pytorch_lines

ROWS = [(np.array([1.0, np.nan, np.inf, 4.0], np.float32),)]


class Function:
    """A runner of one function."""

    def __init__(self, function: Callable[[Array], Array]) -> None:
        self.function = function

    def __call__(self, inputs: tuple[Array, ...], /) -> tuple[Array, ...]:
        return (self.function(inputs[0]),)

    def reset(self) -> None:
        pass


def fail(error: Exception) -> Function:
    def function(x: Array) -> Array:
        raise error

    return Function(function)


def compared(reference: Function | None, quantized: Function | None = None) -> list[str]:
    program = Program("net", b"", reference=reference, fake_quantized=quantized)
    return pytorch_lines(against_pytorch(program, ROWS, ROWS))


SAME, OFF = Function(lambda x: x), Function(lambda x: x + np.float32(0.5))


def test_equal_and_different() -> None:
    assert compared(SAME) == ["  ExecuTorch's Python reference: equal in every value"]
    assert compared(OFF)[0].startswith(
        "  ExecuTorch's Python reference: 2 of 4 values differ, by at most 0.5 ("
    )
    assert compared(None) == []


@pytest.mark.parametrize(
    "error",
    [NotImplementedError("slow_conv_dilated\nand more"), RuntimeError(), KeyError("x"),
     AssertionError("no"), TypeError(7), RecursionError("deep"), MemoryError()],
)  # fmt: skip
def test_a_reference_that_fails(error: Exception) -> None:
    first, second = compared(fail(error), SAME)
    assert first.startswith(
        f"  ExecuTorch's Python reference could not run this program: {type(error).__name__}"
    )
    assert "more" not in first
    assert second == (
        "  compared instead with the quantized model before lowering: equal in every value"
    )
    assert len(compared(fail(error))) == 1
    assert compared(fail(error), fail(ValueError("y")))[1] == (
        "  nor could the quantized model before lowering: ValueError: y"
    )


def test_another_shape() -> None:
    assert "it gives [2] where the program gives [4]" in compared(Function(lambda x: x[:2]))[0]
