# SPDX-License-Identifier: Apache-2.0
"""Values on their way between numpy, the module and memory keep shape, type and bytes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cortexm_tools.frontend.capture.runner import ModuleRunner
from cortexm_tools.frontend.load.samples import _as_tensor
from cortexm_tools.ir.memory import from_memory, memory_bytes

SHAPES = [(), (1,), (2, 3), (1, 2, 3, 4)]


class Both(torch.nn.Module):
    def forward(self, real: torch.Tensor, whole: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return real + whole, whole


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_module_gets_and_gives_the_shapes_of_the_program(shape: tuple[int, ...]) -> None:
    real = np.full(shape, 0.5, np.float32)
    whole = np.full(shape, 3, np.int64)
    total, same = ModuleRunner(Both(), (False, False))((real, whole))
    assert total.shape == same.shape == shape
    assert (total == 3.5).all() and same.dtype == np.int64
    tensor = _as_tensor(real)
    assert tensor is not None and tuple(tensor.shape) == shape


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_memory_gives_back_what_was_written(shape: tuple[int, ...], dtype: type) -> None:
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    for order in (tuple(range(len(shape))), tuple(reversed(range(len(shape))))):
        back = from_memory(memory_bytes(value, order), np.dtype(dtype), shape, order)
        assert back.shape == shape and back.dtype == value.dtype
        assert np.array_equal(back, value)
