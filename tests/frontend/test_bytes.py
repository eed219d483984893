# SPDX-License-Identifier: Apache-2.0
"""Camera bytes in a model file: from byte to code in one table, however the normalization is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.ir import DType, Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.pte import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.image_networks import Apply, Each

M55 = Target.parse("cortex-m55")
NCHW, NHWC = (1, 3, 6, 5), (1, 6, 5, 3)

MEAN, STD = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


class Normalize(nn.Module):
    """As torchvision's, written by hand: mean and standard deviation are buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", MEAN.view(1, 3, 1, 1))
        self.register_buffer("std", STD.view(1, 3, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.permute(0, 3, 1, 2).to(torch.float32) / 255
        return (x - self.mean) / self.std


def in_place(x: torch.Tensor) -> torch.Tensor:
    mean = torch.as_tensor(MEAN)[None, :, None, None]
    return x.float().div_(255).sub_(mean).div_(STD[None, :, None, None])


# What is written, the shape of its input, and how many rows the table has; 0 for codes that are the
# bytes less 128.
WRITTEN = (
    (Normalize(), NHWC, 3),
    (Apply(in_place), NCHW, 3),
    (Apply(lambda x: x.float() / 255), NCHW, 0),
    (Apply(lambda x: x.to(torch.float32)), NCHW, 0),
    (Apply(lambda x: (x.type(torch.float32) - 128) * 0.0078125), NCHW, 0),
    (Apply(lambda x: x.permute(0, 3, 1, 2).contiguous().float() * (1 / 127.5) - 1), NHWC, 1),
    (Apply(lambda x: ((x / 255 - MEAN) / STD).permute(0, 3, 1, 2)), NHWC, 3),
    (Apply(lambda x: F.max_pool2d(x.float() / 255, 2, 1, 1)), NCHW, 0),
    (Apply(lambda x: torch.clamp(x.float(), 16, 235)[:, :, 1:5]), NCHW, 1),
)


def network() -> LoadedModel:
    """Each of `WRITTEN` before a convolution, and one whose function is no table of exact numbers."""
    torch.manual_seed(0)
    written = [*WRITTEN, (Apply(lambda x: torch.tanh(x.float() / 255)), NCHW, 0)]
    nets = [nn.Sequential(module, nn.Conv2d(3, 4, 3, padding=1)) for module, _, _ in written]
    module = Each(list[nn.Module](nets)).eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    samples = tuple(
        tuple(torch.randint(20, 230, shape, dtype=torch.uint8) for _, shape, _ in written)
        for _ in range(4)
    )
    return LoadedModel(Path("net.py").absolute(), module, samples[0], samples, None)


def lowered_network() -> tuple[Lowered, Graph, Graph]:
    lowered = lower(network(), target=M55, name="net")
    read = read_pte(lowered.pte, name="net")
    return lowered, read, simplify(read)


def test_normalizations_are_tables() -> None:
    lowered, read, graph = lowered_network()
    tables = {
        op.inputs[0]: graph.tensors[op.inputs[1]].data for op in graph.ops if op.kind == "lookup"
    }
    seen = {op.outputs[0]: op.inputs[0] for op in graph.ops}
    by_input = {}
    for index, table in tables.items():
        while index not in graph.inputs:
            index = seen[index]
        by_input[graph.inputs.index(index)] = table
    assert len(by_input) == len(WRITTEN) + 1
    for number, (_, _, rows) in enumerate(WRITTEN):
        table = by_input[number]
        assert table is not None
        is_bytes = bool(np.array_equal(table, np.arange(-128, 128)[None]))
        assert (0 if is_bytes else len(table)) == rows, number
        # Of [-1, 1] two codes may be one; no others.
        if rows == 1 and number == 5:
            assert len(np.unique(table)) == 255
    # No float but at the outputs.
    for op in graph.ops:
        kinds = {graph.tensors[i].dtype for i in (*op.inputs, *op.outputs)}
        assert op.kind == "dequantize" or DType.F32 not in kinds, op
    make_plan(graph, M55)
    random = np.random.default_rng(0)
    row = [random.integers(0, 256, graph.tensors[i].shape).astype(np.uint8) for i in graph.inputs]
    results = run_graph(graph, row)
    wanted = lowered.float_module(row)
    for got, same, want in zip(results, run_graph(read, row), wanted, strict=True):
        np.testing.assert_array_equal(got, same)
        # Calibration has not seen all bytes, so a few values are cut.
        assert np.abs(got - want).mean() < 0.03 * np.ptp(want)
    for got, want in zip(results, lowered.reference(row), strict=True):
        np.testing.assert_array_equal(got, want)
