# SPDX-License-Identifier: Apache-2.0
"""Activations of 16 bits: from a model file to a program that has no other codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from cortexm_tools import lower_model
from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.lower.wide_tables import wide_table
from cortexm_tools.ir import DType
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.wide import interpolate
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.plan import make_plan
from cortexm_tools.program import load_program
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.report import precision
from cortexm_tools.simplify import simplify
from cortexm_tools.simplify.int8_io import int8_io
from cortexm_tools.target import Target

from tests.support.outline import outline
from tests.support.random_graphs import random_inputs

NETWORK = Path(__file__).parents[1] / "data" / "precision" / "network.py"

CODES = np.arange(-32768, 32768)


@pytest.mark.parametrize(
    ("function", "scale", "out_scale", "entries"),
    [
        (torch.sigmoid, 3e-4, 2**-15, 513),
        (torch.tanh, 2e-4, 2**-15, 1025),
        (torch.exp, 1e-4, 1e-3, 513),
        (torch.nn.functional.gelu, 2e-4, 2e-4, 513),
        (torch.nn.functional.silu, 2e-4, 2e-4, 513),
    ],
)
def test_tables_are_off_by_at_most_one_code(
    function: Callable[[torch.Tensor], torch.Tensor], scale: float, out_scale: float, entries: int
) -> None:
    table = wide_table(function, scale, out_scale).to(torch.int64).numpy()
    values = function(torch.from_numpy(CODES * scale)).numpy()
    exact = np.clip(np.rint(values / out_scale), -32768, 32767)
    assert np.abs(interpolate(CODES, table) - exact).max() <= 1
    assert len(table) == entries


def test_where_a_function_is_not_defined_it_stays_as_at_its_border() -> None:
    table = wide_table(torch.log, 1e-3, 3e-4).numpy()
    assert len(table) == 4097 and (table[:2049] == -32768).all() and (np.diff(table) >= 0).all()


@pytest.mark.parametrize("out_scale", [1.1e-4, 3e-4, 2e-3])
def test_near_zero_a_logarithm_bends_more_than_a_table_can(out_scale: float) -> None:
    """Beyond the code that docs/numerics.md gives, results are off by at most one."""
    table = wide_table(torch.log, 1e-3, out_scale).to(torch.int64).numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.clip(np.rint(np.log(np.maximum(CODES, 0) * 1e-3) / out_scale), -32768, 32767)
    off = np.abs(interpolate(CODES, table) - exact)
    first = 8 / np.sqrt(out_scale)
    assert (off[CODES >= first + 16] <= 1).all()
    assert off.max() > 1 and (off[CODES <= 0] <= 1).all()


def test_sums_of_4_bit_weights_that_need_64_bits() -> None:
    """A layer of a16w4 with so many inputs that nothing proves 32 bits to suffice is computed with 64, by
    the kernel that has a weight in each byte."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(10000, 4)
    with torch.no_grad():
        layer.weight.copy_(torch.sign(layer.weight))  # codes of 7: more than 2^16 in all
    samples = [(torch.randn(1, 10000),) for _ in range(2)]
    options = {"calibration": samples, "calibrate": "weights=nearest", "quantize": "a16w4"}
    program = lower_model(layer, samples[0], **options)  # type: ignore[arg-type]
    graph = simplify(program.graph())
    (linear,) = (op for op in graph.ops if op.kind == "linear")
    assert precision(linear, graph) == "a16w4"
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m0"):
        plan = make_plan(graph, Target.parse(cpu))
        used = {call.kernel.symbol for step in plan.steps for call in step.calls if call.macs}
        assert used == {"cortexm_linear_wide_s16_scalar"}
    extreme = [np.where(np.arange(10000) % 2, 9.0, -9.0).astype(np.float32).reshape(1, -1)]
    assert program.reference is not None
    for have, want in zip(run_graph(graph, extreme), program.reference(extreme), strict=True):
        np.testing.assert_array_equal(have, want)


def test_a_network_with_int16_activations() -> None:
    """Every byte is what ExecuTorch's Python reference computes, and next to nothing is lost."""
    quantization = parse_quantization("a16w8")
    target = Target.parse("cortex-m55")
    program = load_program(NETWORK, name="network", target=target, quantization=quantization)
    stored = read_pte(NETWORK.with_suffix(".pte").read_bytes(), name="")
    assert outline(program.graph()) == outline(stored)
    graph = program.graph()
    made = {graph.tensors[op.outputs[0]].dtype for op in graph.ops}
    assert made == {DType.S16, DType.F32} and graph.ops[-1].kind == "dequantize"
    assert sum(graph.tensors[op.outputs[0]].dtype is DType.F32 for op in graph.ops) == 2  # outputs
    assert program.reference is not None and program.quality is not None
    row = random_inputs(graph, 1)
    for have, want in zip(run_graph(graph, row), program.reference(row), strict=True):
        np.testing.assert_array_equal(have, want)
    assert min(output["sqnr_db"] for output in program.quality["outputs"]) > 60


@pytest.mark.parametrize(
    ("wanted", "words"),
    [(DType.S8, "build with IO int16"), (DType.S16, None)],
)
def test_codes_at_the_border(wanted: DType, words: str | None) -> None:
    """Inputs and outputs are the 16-bit codes, or the message says which ones there are."""
    program = load_program(
        NETWORK.with_suffix(".pte"), name="network", target=Target.parse("cortex-m55")
    )
    if words is not None:
        with pytest.raises(CortexMError, match="input 0 has codes of int16, not of int8") as error:
            int8_io(program.graph(), wanted)
        assert error.value.hint == words
        return
    graph = int8_io(program.graph(), wanted)
    assert {graph.tensors[index].dtype for index in (*graph.inputs, *graph.outputs)} == {DType.S16}
