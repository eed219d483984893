# SPDX-License-Identifier: Apache-2.0
"""Comparisons of codes instead of values, and pools that round up."""

from __future__ import annotations

import pytest
import torch

from cortexm_tools.frontend.lower.codes import code_comparison
from cortexm_tools.frontend.rewrites.pooling import rounded_up_padding

OPERATORS = {
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
}


@pytest.mark.parametrize("comparison", OPERATORS)
@pytest.mark.parametrize(("scale", "zero_point"), [(0.25, 0), (0.1, -128), (0.037, 127), (3.0, 5)])
@pytest.mark.parametrize("number", [0.0, 0.25, -0.3, 1.0, 1e6, -1e6])
def test_code_comparison(comparison: str, scale: float, zero_point: int, number: float) -> None:
    codes = torch.arange(-128, 128)
    values = (codes.to(torch.float32) - zero_point) * scale
    name, code = code_comparison(comparison, number, scale, zero_point)
    assert -128 <= code <= 127
    assert torch.equal(OPERATORS[name](codes, code), OPERATORS[comparison](values, number))


def test_rounded_up_padding() -> None:
    ragged = 0
    for size in range(4, 13):
        for kernel in (2, 3, 4):
            for stride in (1, 2, 3):
                for padding in range(kernel // 2 + 1):
                    x = torch.randn(1, 1, size, 1)
                    shape = ((kernel, 1), (stride, 1), (padding, 0))
                    want = torch.nn.functional.max_pool2d(x, *shape, ceil_mode=True)
                    extra = rounded_up_padding(size, kernel, stride, padding)
                    ragged += extra > 0
                    x = torch.nn.functional.pad(x, (0, 0, 0, extra), value=float("-inf"))
                    got = torch.nn.functional.max_pool2d(x, *shape)
                    assert torch.equal(got, want)
    assert ragged > 20
