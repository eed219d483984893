# SPDX-License-Identifier: Apache-2.0
"""Norms of codes: which kernels compute rows, and groups of channels."""

from __future__ import annotations

import pytest

from cortexm_tools.ir import DType
from cortexm_tools.target import Target

from benchmarks.limits import norm
from tests.support.graphs import Net
from tests.support.ways import kernels_for


@pytest.mark.parametrize(
    ("cpu", "groups", "pixels", "dtype", "kernel"),
    [
        ("cortex-m55", 9, 1, DType.S8, "rows_s8_mve"),
        ("cortex-m55", 1, 1, DType.S16, "rows_s16_mve"),
        ("cortex-m55", 9, 4, DType.S8, "s8_mve"),
        ("cortex-m4", 9, 1, DType.S8, "rows_s8_dsp"),
        ("cortex-m3", 9, 1, DType.S16, "rows_s16_v7m"),
        ("cortex-m3", 9, 4, DType.S16, "s16_v7m"),
        ("cortex-m0", 9, 1, DType.S8, "s8_v6m"),
    ],
)
def test_which_kernels_compute_rows(
    cpu: str, groups: int, pixels: int, dtype: DType, kernel: str
) -> None:
    """Rows of 8 codes, of layer_norm, or groups of 8 channels."""
    net = Net("norms")
    graph = net.finish(norm(groups, 8, pixels, dtype).add(net))
    found = {each.symbol for each in kernels_for(graph, Target.parse(cpu))}
    assert f"cortexm_group_norm_{kernel}" in found
    assert "rows" in kernel or not any("_rows_" in symbol for symbol in found)
