# SPDX-License-Identifier: Apache-2.0
"""Models that are not quantized, lowered to portable operators, compute what PyTorch computes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, Graph
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program
from cortexm_tools.pte import read_pte
from cortexm_tools.report import summary
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.target import Target

from tests.support.plan_executor import PlanExecutor
from tests.support.portable import portable_pte

pytestmark = pytest.mark.xdist_group("float_models")  # one worker lowers them

# Of the largest magnitude: PyTorch sums in another order.
TOLERANCE = 1e-5


class Cnn(nn.Module):
    """Every image layer, with normalizations between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.batch_norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pointwise = nn.Conv2d(8, 12, 1, bias=False)
        self.group_norm = nn.GroupNorm(3, 12)
        self.up = nn.ConvTranspose2d(12, 6, 3, stride=2, padding=1, output_padding=1)
        self.last = nn.Linear(6 * 4 * 4, 5)
        assert self.batch_norm.running_mean is not None and self.batch_norm.running_var is not None
        self.batch_norm.running_mean.uniform_(-1, 1)
        self.batch_norm.running_var.uniform_(0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.batch_norm(self.first(x)))
        x = functional.hardswish(self.depthwise(x))
        x = functional.leaky_relu(self.group_norm(self.pointwise(x)), 0.1)
        x = functional.avg_pool2d(self.up(functional.max_pool2d(x, 3, 2, 1)), 2, 2)
        return torch.softmax(self.last(x.flatten(1)), -1)


class Rows(nn.Module):
    """1-D convolutions, and two results."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv1d(4, 6, 5, stride=2, padding=2)
        self.up = nn.ConvTranspose1d(6, 4, 3, stride=2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tanh(self.up(functional.elu(self.down(x)))), x * 2 + 1


class Mlp(nn.Module):
    """Linear layers and layer_norm, with a second input that broadcasts."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(10, 16), nn.LayerNorm(16), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        hidden = functional.gelu(self.norm(self.first(x)))
        return self.last(hidden) * torch.sigmoid(y) - y.abs().sqrt() + x.pow(2)[:, :4]


class Block(nn.Module):
    """A transformer block with four heads."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, -1)
        q, k, v = (part.view(n, length, 4, width // 4).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-2, -1) / (width // 4) ** 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(n, length, width))
        return x + self.down(functional.silu(self.up(self.norm2(x))))


class Functions(nn.Module):
    """Operators on their own, in one program."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        positive = x.abs() + 0.5
        return (
            positive.log() + positive.rsqrt() + positive.reciprocal() + positive.pow(1.7),
            torch.sin(x) * torch.cos(y) + torch.erf(x) + torch.exp(-positive),
            torch.add(x, y, alpha=0.5) - torch.sub(2.0 * y, x, alpha=3),
            torch.rsub(x, 1.5) / positive,
            functional.gelu(x, approximate="tanh") + functional.hardsigmoid(y),
            functional.hardtanh(x, -0.7, 0.9) + torch.clamp(y, min=-0.3),
            torch.maximum(x, y) - torch.minimum(x, y),
            torch.fmod(x, 0.7) + torch.remainder(x, 0.7),
            torch.floor(x) + torch.ceil(y) + torch.round(x) + torch.trunc(y) + torch.sign(x),
            torch.log_softmax(x, 1) + torch.log2(positive) + torch.log1p(positive),
            torch.div(x, positive, rounding_mode="floor") + torch.floor_divide(y, 0.4),
            torch.atan2(x, positive) + torch.expm1(x) + torch.tan(0.1 * x) + torch.asin(0.1 * x),
        )


@dataclass(frozen=True)
class Lowered:
    """A program with inputs and PyTorch's outputs."""

    pte: bytes
    inputs: tuple[Array, ...]
    expected: tuple[Array, ...]

    @property
    def graph(self) -> Graph:
        return check_graph(read_pte(self.pte, name="net"))


@cache
def lowered(name: str) -> Lowered:
    torch.manual_seed(0)
    inputs = {
        "cnn": (torch.randn(1, 3, 16, 16),),
        "rows": (torch.randn(2, 4, 11),),
        "mlp": (torch.randn(3, 10), torch.randn(3, 4)),
        "block": (torch.randn(1, 6, 16),),
        "functions": (torch.randn(3, 5), torch.randn(5)),
    }[name]
    classes: dict[str, type[nn.Module]] = {
        "cnn": Cnn, "rows": Rows, "mlp": Mlp, "block": Block, "functions": Functions,
    }  # fmt: skip
    module = classes[name]().eval()
    pte = portable_pte(module, inputs)
    with torch.no_grad():
        result = module(*inputs)
    outputs = result if isinstance(result, tuple) else (result,)
    return Lowered(
        pte, tuple(x.numpy() for x in inputs), tuple(x.detach().numpy() for x in outputs)
    )


def assert_near(got: list[Array] | tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    for number, (a, b) in enumerate(zip(got, expected, strict=True)):
        assert a.shape == b.shape
        assert np.abs(a - b).max() <= TOLERANCE * np.abs(b).max(), number


@pytest.mark.parametrize("name", ["cnn", "rows", "mlp", "block", "functions"])
def test_interpreter_and_plan_compute_what_pytorch_computes(
    name: str, executor: PlanExecutor
) -> None:
    model = lowered(name)
    assert_near(run_graph(model.graph, model.inputs), model.expected)
    assert_near(executor.run_graph(model.graph, model.inputs), model.expected)


@pytest.mark.parametrize(
    ("name", "cpu"),
    [
        ("cnn", "cortex-m0"),
        ("cnn", "cortex-m55"),
        ("rows", "cortex-m3"),
        ("mlp", "cortex-m4"),
        ("block", "cortex-m0"),
        ("block", "cortex-m55"),
        ("functions", "cortex-m3"),
    ],
)
def test_emulated_core_computes_what_pytorch_computes(name: str, cpu: str, tmp_path: Path) -> None:
    model = lowered(name)
    options = CompileOptions(target=Target.parse(cpu), poison=True)
    compiled = compile_program(Program(name, model.pte), options)
    given = tmp_path / "in.npz"
    np.savez(given, **{f"in_{n}": x for n, x in enumerate(model.inputs)})
    report = run_program(compiled, RunRequest(inputs=given, outputs=tmp_path / "out.npz"))
    assert report.matched and report.data["matched"]
    assert report.data["exact"] is False
    with np.load(tmp_path / "out.npz") as out:
        assert_near([out[f"out_{n}"] for n in range(len(model.expected))], model.expected)


def test_require_int8_names_the_float_layers() -> None:
    options = CompileOptions(target=Target.parse("cortex-m55"), require_int8=True)
    with pytest.raises(CortexMError, match="compute in float32") as caught:
        compile_program(Program("mlp", lowered("mlp").pte), options)
    assert "float_matmul" in str(caught.value) and "float_layer_norm" in str(caught.value)


def test_report_counts_float_work() -> None:
    compiled = compile_program(
        Program("mlp", lowered("mlp").pte), CompileOptions(target=Target.parse("cortex-m0"))
    )
    assert compiled.report["work"]["float"]["macs"] == 3 * (10 * 16 + 16 * 4)
    assert set(compiled.report["work"]) <= {"float", "move"}
    said = "no FPU: about 176 instructions for each MAC in float32, 118,272 in all"
    assert said in summary(compiled.report)
    on_m4 = CompileOptions(target=Target.parse("cortex-m4"))
    assert "FPU" not in summary(compile_program(compiled.program, on_m4).report)
