# SPDX-License-Identifier: Apache-2.0
"""Linear layers have a scale for each output, from the quantizer to the plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from cortexm_tools.ir import Graph, Op, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import Program, load_program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

M55 = Target.parse("cortex-m55")

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.wide = nn.Linear(20, 24)
        with torch.no_grad():
            self.wide.weight.mul_(torch.logspace(-1.5, 0.5, 24)[:, None])
        self.twice = nn.Linear(24, 24, bias=False)
        self.one = nn.Linear(24, 1)
    def forward(self, x):
        y = torch.relu(self.wide(x))
        y = self.twice(self.twice(y))
        return self.one(torch.tanh(y)).flatten()

def inputs(count):
    generator = torch.Generator().manual_seed(4)
    return [(torch.randn(1, 6, 20, generator=generator),) for _ in range(count)]

ModelUnderTest = Net
ModelInputs = inputs(1)[0]
CalibrationInputs = lambda: inputs(16)
"""


# With one scale for all rows of a matrix, which are up to a hundred times apart in the first, the
# result had 40.9 dB, 47.9 and 25.4.
LEAST_DB = {"int8": 41.3, "a16w8": 47.0, "a8w4": 28.0}


@dataclass(frozen=True)
class Case:
    precision: str
    program: Program
    graph: Graph

    @property
    def layers(self) -> list[Op]:
        return [op for op in self.graph.ops if isinstance(op.attrs, ops.Linear)]


@pytest.fixture(scope="module", params=LEAST_DB)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    path = tmp_path_factory.mktemp("linear") / "net.py"
    path.write_text(MODEL)
    quantization = parse_quantization(request.param)
    program = load_program(path, name="net", target=M55, quantization=quantization)
    return Case(request.param, program, simplify(program.graph()))


def test_the_plan_has_linear_layers_and_moves_nothing(case: Case) -> None:
    assert [op.layer.path for op in case.layers] == ["wide", "twice", "twice", "one"]
    factors = [op.attrs.rescales for op in case.layers]  # type: ignore[attr-defined]
    assert [len(each) for each in factors] == [24, 24, 24, 1]
    assert len(set(factors[0])) == 24
    assert {op.layer.source for op in case.layers} == {"net.py:15", "net.py:16", "net.py:17"}
    kinds = {op.kind for op in case.graph.ops}
    assert not kinds & {"clone", "transpose", "conv2d", "depthwise_conv2d", "copy"}


def test_the_program_is_of_the_dialect(case: Case) -> None:
    names = [name for name, _ in case.program.layers]
    if case.precision == "a16w8":
        assert names.count("cortexm::quantized_linear") == 4
    else:
        assert names.count("cortex_m::quantized_conv2d") == 4
        assert not any(name.startswith("cortexm::") for name in names)


def test_calls_share_their_weights(case: Case) -> None:
    first, second = (op.inputs[1] for op in case.layers if op.layer.path == "twice")
    tensors = case.graph.tensors
    assert tensors[first].data is not None and tensors[second].data is not None
    np.testing.assert_array_equal(tensors[first].data, tensors[second].data)


def test_the_references_agree(case: Case) -> None:
    """ExecuTorch's operators in Python, the program as it is read, and what is planned."""
    assert case.program.reference is not None
    rng = np.random.default_rng(1)
    for _ in range(3):
        x = rng.standard_normal((1, 6, 20)).astype(np.float32)
        (want,) = case.program.reference((x,))
        for graph in (case.program.graph(), case.graph):
            np.testing.assert_array_equal(run_graph(graph, [x])[0], want)


def test_small_rows_of_a_matrix_keep_their_precision(case: Case) -> None:
    assert case.program.quality is not None
    (output,) = case.program.quality["outputs"]
    assert output["sqnr_db"] > LEAST_DB[case.precision]


def test_codes_at_the_border(case: Case) -> None:
    wide = case.precision == "a16w8"
    graph = simplify(case.program.graph(), io_int8=not wide, io_int16=wide)
    assert {op.kind for op in graph.ops} <= {"linear", "add", "activation", "view", "mul"}
