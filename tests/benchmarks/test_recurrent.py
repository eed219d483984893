# SPDX-License-Identifier: Apache-2.0
"""What was recorded of recurrent layers: the page says it, it is within what is promised, and still so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cortexm_tools.ir import DType

from benchmarks import recurrent, svdf

RECORDED = json.loads(recurrent.RECORD.read_text())
OF_SVDF = json.loads(svdf.RECORD.read_text())

# Of CMSIS-NN's instructions for an LSTM; a GRU three quarters of it.
MOST = {"cortex-m55": 0.35, "cortex-m4": 0.45, "cortex-m3": 0.60, "cortex-m0": 0.60}


def test_page_is_what_was_recorded() -> None:
    assert recurrent.PAGE.read_text() == recurrent.page(RECORDED, OF_SVDF)


@pytest.mark.parametrize("cpu", recurrent.CPUS)
def test_layers_cost_what_is_promised(cpu: str) -> None:
    assert recurrent.share(RECORDED, cpu, "lstm") <= MOST[cpu]
    assert recurrent.share(RECORDED, cpu, "gru") <= 0.75 * MOST[cpu]


# Of the instructions with weights of 8 bits, as for linear layers.
MOST_OF_8_BITS = {"cortex-m55": 1.6, "cortex-m4": 1.5, "cortex-m3": 1.3, "cortex-m0": 1.3}


@pytest.mark.parametrize("cpu", recurrent.CPUS)
def test_weights_of_4_bits_take_half_the_flash_and_little_more_time(cpu: str) -> None:
    for kind in ("lstm", "gru"):
        share = recurrent.share_of_8_bits(RECORDED, cpu, DType.S8, 4, kind)
        assert share <= MOST_OF_8_BITS[cpu]
        flash = recurrent.share_of_8_bits(RECORDED, cpu, DType.S8, 4, f"{kind}_constants")
        assert flash <= 0.6


# Instructions of an SVDF layer for each product, of ranks 2 and 1.
MOST_OF_SVDF = {"cortex-m55": (1.0, 1.0), "cortex-m4": (2.2, 2.2)}


def test_svdf_layers_cost_what_is_promised(tmp_path: Path) -> None:
    for cpu, most in MOST_OF_SVDF.items():
        each = [row["instructions"] / row["macs"] for row in OF_SVDF if row["cpu"] == cpu]
        assert len(each) == len(most) and all(a <= b for a, b in zip(each, most, strict=True))
    now = svdf.rows(["cortex-m4"], tmp_path)
    for row, recorded in zip(now, (r for r in OF_SVDF if r["cpu"] == "cortex-m4"), strict=True):
        assert abs(row["instructions"] / recorded["instructions"] - 1) < 0.1


@pytest.mark.parametrize("bits", [8, 4])
def test_a_figure_is_still_so(bits: int, tmp_path: Path) -> None:
    """The smallest layer on the M4; other compilers differ by some percent."""
    row = next(
        row
        for row in RECORDED
        if (row["cpu"], row["types"], row["bits"], row["hidden"]) == ("cortex-m4", "s8", bits, 16)
    )
    shape = (row["inputs"], row["hidden"], row["steps"])
    count = recurrent.measure("cortex-m4", "lstm", shape, DType.S8, bits, tmp_path)
    assert abs(count / row["lstm"] - 1) < 0.1
