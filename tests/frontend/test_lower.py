# SPDX-License-Identifier: Apache-2.0
"""Lowering: what comes out for the sample, what is put right, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.model_file import load_model
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.ir import Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.program import EvaluationSet, load_program
from cortexm_tools.pte import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

SAMPLE = Path(__file__).parents[2] / "samples" / "hello-executorch" / "model.py"
M55 = Target.parse("cortex-m55")

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.other = nn.Conv2d(3, 8, 3)
        self.linear = nn.Linear(288, 4)
    def forward(self, x):
        {body}
ModelUnderTest = Net
ModelInputs = (torch.randn(1, 3, 8, 8),)
CalibrationInputs = lambda: [(torch.randn(1, 3, 8, 8),) for _ in range(16)]
"""


def lower_body(tmp_path: Path, body: str, **options: object) -> Lowered:
    path = tmp_path / "net.py"
    path.write_text(HEAD.format(body=body))
    return lower(load_model(path), target=M55, name="net", **options)  # type: ignore[arg-type]


def mean_error(lowered: Lowered) -> float:
    """Mean deviation of int8 from float, as a share of the outputs' spread."""
    rng = np.random.default_rng(0)
    samples = [(rng.standard_normal((1, 3, 8, 8)).astype(np.float32),) for _ in range(4)]
    want = np.stack([lowered.float_module(s)[0] for s in samples])
    got = np.stack([lowered.reference(s)[0] for s in samples])
    return float(np.abs(got - want).mean() / (want.max() - want.min()))


def check_constants(graph: Graph) -> None:
    """Weights, biases and requantization, and at most 3 % more, though the last layer has ten outputs."""
    for cpu in ("cortex-m55", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0"):
        for optimize in (Optimize.BALANCED, Optimize.SIZE):
            plan = make_plan(graph, Target.parse(cpu), optimize=optimize)
            assert plan.needed_bytes <= plan.constant_bytes <= 1.03 * plan.needed_bytes, cpu


def test_sample() -> None:
    loaded = load_model(SAMPLE)
    lowered = lower(loaded, target=M55, name="hello")
    assert lowered.warnings == ()
    names = Counter(name.partition("::")[2] for name, _ in lowered.layers)
    assert names["quantized_depthwise_conv2d"] == 3
    assert names["quantized_conv2d"] == 3  # two, and the linear layer
    assert names["softmax"] == names["quantized_max_pool2d"] == 1
    others = [name for name, _ in lowered.layers if not name.startswith("cortex_m::")]
    # It puts the bytes in the order in which the view behind it takes them.
    assert others == ["dim_order_ops::_clone_dim_order"]
    by_path = {layer.path: layer.source for _, layer in lowered.layers}
    assert {"features.0", "features.3", "features.6", "classifier"} <= set(by_path)
    assert all(source.startswith("model.py:") for source in by_path.values())
    # Constants that nothing reads would add the float weights, some 35 KB.
    assert len(lowered.pte) < 22_000
    check_constants(simplify(read_pte(lowered.pte, name="hello")))
    again = lower(load_model(SAMPLE), target=M55, name="hello")
    assert again.pte == lowered.pte
    assert again.layers == lowered.layers
    assert loaded.evaluation is not None
    labelled = EvaluationSet(loaded.evaluation.inputs[0], loaded.evaluation.labels)
    in_float = labelled.accuracy_of(lowered.float_module)
    in_int8 = labelled.accuracy_of(lowered.reference)
    assert in_float >= 0.98
    assert in_int8 >= in_float - 0.01


@pytest.mark.parametrize(
    ("body", "tables"),
    [
        ("return self.conv(x).clamp(0.5, 2)", 1),
        ("return torch.cat([F.relu(self.conv(x)), self.other(x)], 1)", 1),
        ("return F.hardswish(self.conv(x) + self.other(x.flip(3)))", 1),
        ("return self.linear(self.conv(x).flatten(1)).clamp(0.1, 0.5)", 1),
        ("return F.leaky_relu(self.conv(x))", 1),
        ("return F.relu6(self.conv(x))", 0),
        ("return self.linear(self.conv(x).view(1, -1))", 0),
        (
            "y = self.linear(self.conv(x).flatten(1))\n"
            "        return torch.bmm(torch.tanh(x[:, 0, :1]), y[:, None, :1].expand(1, x.shape[3], 1))",
            1,
        ),
    ],
)
def test_upstream_faults_are_put_right(tmp_path: Path, body: str, tables: int) -> None:
    lowered = lower_body(tmp_path, body)
    names = [name for name, _ in lowered.layers]
    assert names.count("cortex_m::quantized_activation") == tables
    assert not {"aten::convolution", "aten::linear", "aten::hardswish", "aten::clamp"} & set(names)
    assert mean_error(lowered) < 0.02


def test_hardswish_of_floats(tmp_path: Path) -> None:
    """Behind a convolution and a linear layer, where ExecuTorch decomposes that of codes."""
    body = "return F.hardswish(self.linear(F.hardswish(self.conv(x)).flatten(1)))"
    lowered = lower_body(tmp_path, body, quantization=None)
    names = [name for name, _ in lowered.layers]
    assert names.count("aten::hardswish") == 2
    x = torch.randn(1, 3, 8, 8).numpy()
    got = run_graph(read_pte(lowered.pte, name="net"), [x])[0]
    np.testing.assert_allclose(got, lowered.float_module((x,))[0], rtol=1e-5, atol=1e-6)


def test_no_calibration_warns(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    text = HEAD.format(body="return self.conv(x)").replace("CalibrationInputs", "unused")
    path.write_text(text)
    (warning,) = lower(load_model(path), target=M55, name="net").warnings
    assert "no CalibrationInputs" in warning


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return x if x.sum() > 0 else -x", "depend on data at 'return x if x.sum() > 0 else -x'"),
        ("return x[x > 0]", "the shape of what x[mask] gives depends on the input's values"),
        ("return self.linear(x)", "ModelUnderTest fails on ModelInputs (1x3x8x8)"),
        ("return torch.linalg.inv(x)", "no kernel for torch.linalg.inv (aten::linalg_inv_ex)"),
        ("return torch.fft.fft(x).real", "torch.fft.fft gives complex numbers"),
        (
            "self.conv.weight[:, 1:] *= 2; return self.conv(x)",
            "changes its parameter 'conv.weight' while it runs",
        ),
        (
            "self.conv.bias = self.conv.bias.add_(1); return x",
            "changes its parameter 'conv.bias' while it runs",
        ),
        ("return self.conv(torch.log(x - 100))", "torch.log gives NaN (not a number) for"),
        ("return self.conv(x / x.clamp(0, 0))", "torch.div gives"),
    ],
)
def test_refused(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(CortexMError) as caught:
        lower_body(tmp_path, body)
    assert message in caught.value.message
    assert "net.py:12" in caught.value.where


COMPLEX = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = torch.nn.Parameter(torch.ones(4, dtype=torch.cfloat))
    def forward(self, x):
        return torch.abs(torch.view_as_complex(x) * self.turn)
ModelUnderTest = Net()
ModelInputs = (torch.ones(1, 4, 2),)
"""
LAYER = """
import torch
ModelUnderTest = torch.nn.Linear(4, 2)
ModelInputs = (torch.ones(1, 3),)
"""


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        (COMPLEX, "torch.view_as_complex gives complex numbers", "net.py:8"),
        (LAYER, "ModelUnderTest fails on ModelInputs (1x3)", "net.py:3"),
    ],
)
def test_refused_with_a_line_where_pytorch_knows_none(
    tmp_path: Path, text: str, message: str, where: str
) -> None:
    path = tmp_path / "net.py"
    path.write_text(text)
    with pytest.raises(CortexMError) as caught:
        lower(load_model(path), target=M55, name="net")
    assert message in caught.value.message and caught.value.where == where and caught.value.hint


def test_a_layer_of_pytorch_alone_has_its_name(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(LAYER.replace("(4, 2)", "(3, 2)"))
    program = load_program(path, name="net", target=M55)
    assert [str(op.layer) for op in program.graph().ops if op.kind == "conv2d"] == [
        "torch.nn.Linear"
    ]


@pytest.mark.parametrize(
    ("cpu", "isa", "expected"),
    [
        ("cortex-m55", None, ("M55", "MVE")),
        ("cortex-m52", None, ("M55", "MVE")),
        ("cortex-m55", "dsp", ("M55", "DSP")),
        ("cortex-m33", "scalar", ("M33", "SCALAR")),
        ("any", None, ("M0", "SCALAR")),
        ("host", None, ("M0", "SCALAR")),
    ],
)
def test_target(cpu: str, isa: str | None, expected: tuple[str, str]) -> None:
    from cortexm_tools.frontend.lower.lower import target_config
    from cortexm_tools.frontend.quiet import import_executorch

    import_executorch()
    config = target_config(Target.parse(cpu, isa))
    assert (config.cpu.name, config.backend.name) == expected


def test_raw_operator_on_codes_is_found() -> None:
    from cortexm_tools.frontend.lower.guard import unsafe_nodes
    from cortexm_tools.frontend.quiet import import_executorch

    import_executorch()
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    ops = torch.ops
    codes = graph.call_function(
        ops.cortex_m.quantize_per_tensor.default, (x, 0.1, 0, -128, 127, torch.int8)
    )
    moved = graph.call_function(ops.aten.permute_copy.default, (codes, [0, 1]))
    wrong = graph.call_function(ops.aten.sub.Tensor, (moved, codes))
    real = graph.call_function(
        ops.cortex_m.dequantize_per_tensor.default, (wrong, 0.1, 0, -128, 127, torch.int8)
    )
    right = graph.call_function(ops.aten.sub.Tensor, (real, x))
    graph.output(right)
    assert unsafe_nodes(graph) == [(wrong, "aten.sub")]


WORDS = """
import os
import torch
os.chdir("/")
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("class", torch.nn.Sequential())
        getattr(self, "class").add_module("a-b", torch.nn.Linear(4, 4))
        self.add_module("class_", torch.nn.Linear(4, 4))
        self.register_buffer("lambda", torch.zeros(1, 4))
    def forward(self, x):
        getattr(self, "lambda").add_(getattr(self, "class")(x))
        return self.class_(getattr(self, "lambda"))
ModelUnderTest = Net
ModelInputs = (torch.randn(1, 4),)
"""


def test_words_of_python_as_names_and_a_model_that_changes_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words.py").write_text(WORDS)
    monkeypatch.chdir(tmp_path)
    program = load_program(Path("words.py"), name="words", target=M55)
    assert Path.cwd() == tmp_path
    assert {layer.path for _, layer in program.layers} >= {"class.a-b", "class_"}
    assert [state.name for state in program.graph().states] == ["lambda"]


OUTPUTS = """
import dataclasses
import typing
import torch
from torch import nn
@dataclasses.dataclass
class Result:
    loss: object
    scores: torch.Tensor
    parts: dict
class Pair(typing.NamedTuple):
    scores: torch.Tensor
    parts: dict
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 4)
    def forward(self, *, values):
        scores = self.linear(values)
        return {given}
ModelUnderTest = Net()
ModelInputs = {{"values": torch.randn(1, 6)}}
CalibrationInputs = [{{"values": torch.randn(1, 6), "label": 1}} for _ in range(8)]
"""


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("None, scores", 1),
        ("dict(loss=None, count=4, scores=scores)", 1),
        ("Result(None, scores, dict(kind=torch.softmax(scores, -1)))", 2),
        ("[Result(1, scores, {})]", 1),
        ("Pair(scores, dict(best=torch.max(scores, 1)))", 3),
    ],
)
def test_outputs_that_are_no_tensors(tmp_path: Path, given: str, count: int) -> None:
    path = tmp_path / "net.py"
    path.write_text(OUTPUTS.format(given=given))
    lowered = lower(load_model(path), target=M55, name="net")
    x = np.ones((1, 6), np.float32)
    want, got = lowered.float_module((x,)), lowered.reference((x,))
    assert len(want) == len(got) == count
    assert np.allclose(want[0], got[0], atol=0.05)
    assert "linear" in [layer.path for _, layer in lowered.layers]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("None", "the model gives no tensor"),
        ("()", "the model gives no tensor"),
        ("scores, object()", "the model gives a object, in which PyTorch finds no tensors"),
    ],
)
def test_outputs_refused(tmp_path: Path, given: str, message: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(OUTPUTS.format(given=given))
    with pytest.raises(CortexMError) as caught:
        lower(load_model(path), target=M55, name="net")
    assert message in caught.value.message


def test_second_names_of_operators(tmp_path: Path) -> None:
    body = (
        "y, z = self.conv(x).clip(-1.0), self.other(x)\n"
        "        y = torch.multiply(y, torch.special.expit(torch.subtract(y, z)))\n"
        "        y = torch.divide(torch.absolute(y) + torch.negative(z), 2.0)\n"
        "        y = torch.concat([y[:, :4], torch.clip(y[:, 4:], 0.0, 1.0)], 1).flatten(1)\n"
        "        return torch.special.softmax(self.linear(y), -1)"
    )
    lowered = lower_body(tmp_path, body)
    names = {name.partition("::")[2].partition(".")[0] for name, _ in lowered.layers}
    assert not names & {"multiply", "subtract", "divide", "absolute", "mul", "sub", "div", "abs"}
    assert mean_error(lowered) < 0.02


def test_a_call_that_raises_what_the_model_catches(tmp_path: Path) -> None:
    body = (
        "try:\n            y = self.conv(x, lengths=None)\n        except TypeError:\n"
        "            y = self.conv(x)\n        return self.linear(torch.relu(y).flatten(1))"
    )
    lowered = lower_body(tmp_path, body)
    assert {"conv", "linear"} <= {layer.path for _, layer in lowered.layers}
    assert mean_error(lowered) < 0.02


def test_scores_below_a_mask_are_no_loss(tmp_path: Path) -> None:
    body = (
        "y = self.conv(x).flatten(2)\n"
        "        s = (y.transpose(1, 2) @ y) * 2\n"
        "        s = s.masked_fill(torch.ones(36, 36).triu(1) > 0, float('-inf'))\n"
        "        return self.linear((torch.softmax(s, -1) @ y.transpose(1, 2)).flatten(1))"
    )
    quality = lower_body(tmp_path, body).quality
    assert quality is not None
    operators = [layer.operator for layer in quality.layers]
    assert operators == ["input 0", "conv2d", "softmax", "linear"]
