# SPDX-License-Identifier: Apache-2.0
"""The rewrites keep the values, and what they rewrite ends up in int8."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.capture.runner import channels_last
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.nodes import operator_name
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.frontend.rewrites import REWRITES, fold_constants
from cortexm_tools.frontend.rewrites.recurrent import TABLE as RECURRENT
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.ir.types import DType
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.plan import make_plan
from cortexm_tools.program import program_of_module
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.report import precision
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

IMAGE, SEQUENCE, VOLUME = (1, 8, 8, 8), (1, 8, 20), (1, 3, 6, 8, 8)
BETWEEN = torch.tensor([[[0.8, -0.3, 0.1], [0.2, 0.9, -0.1]]])
KERNEL = torch.linspace(-0.3, 0.4, 4 * 8 * 3).reshape(4, 8, 3, 1)
PLACES = torch.tensor([[[1.2, 0.3, 0.1], [-0.2, 0.9, -0.05]]])


class Net(nn.Module):
    """`function` of the inputs and of the layers."""

    def __init__(self, function: Callable[..., Any], *layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(layers)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*self.layers, *inputs)


def load(build: Callable[[], Net], *shapes: tuple[int, ...]) -> LoadedModel:
    torch.manual_seed(0)
    module = build().eval()
    for norm in module.modules():
        if isinstance(norm, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2.0)
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    samples = tuple(tuple(torch.randn(s) for s in shapes) for _ in range(8))
    return LoadedModel(Path("net.py").absolute(), module, samples[0], samples, None)


def conv(**options: Any) -> nn.Conv2d:
    return nn.Conv2d(8, 8, 3, padding=1, **options)


def recurrent(kind: type[nn.Module], inputs: int, **options: Any) -> Callable[[], Net]:
    def function(layer: nn.Module, x: torch.Tensor, *state: torch.Tensor) -> Any:
        if not state:
            return layer(x)
        return layer(x, tuple(state) if inputs == 3 else state[0])

    return lambda: Net(function, kind(8, 6, **options))


def shifted(first: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Parts of a new tensor are written, as in the temporal shift module."""
    x = first(x)
    result = torch.zeros_like(x)
    result[:, :3, :-1] = x[:, :3, 1:]
    result[:, 3:6, 1:] = x[:, 3:6, :-1]
    result[:, 6:] = x[:, 6:]
    result[:, 0] = 0.5
    return torch.relu(result)


def in_place(first: nn.Module, second: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """As "result = 0; for each in layers: result += each(x)" with the arithmetic of an activation."""
    result: Any = 0
    for layer in (first, second):
        result += layer(x)
    before = result * 0.5
    result += 3
    result.clamp_(0, 6).div_(6)
    return result.neg_() * before


def through_views(first: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What is written to one tensor is read from others."""
    x = first(x)
    rows, (left, _) = x.view(1, 8, 64), x.chunk(2, 3)
    x += 0.5
    left *= 2
    return rows[:, :, :48] * rows[:, :, 16:]


def as_keras(x: torch.Tensor) -> torch.Tensor:
    """Images with their channels last between layers, and casts around each call, as with Keras' backend."""
    x = x.to(torch.float32).permute(0, 2, 3, 1)
    x = F.conv2d(x.permute(0, 3, 1, 2).contiguous(), KERNEL).permute(0, 2, 3, 1).to(torch.float32)
    x = (x + torch.linspace(-0.5, 0.5, 4).to(x.dtype).reshape(1, 1, 1, 4)).to(x.dtype)
    x = F.max_pool2d(F.relu(x).to(torch.float32).permute(0, 3, 1, 2).contiguous(), 2)
    return x.to(torch.float32).permute(0, 2, 3, 1).flatten(1).to(x.dtype)


def chosen(first: nn.Module, second: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Products with what comparisons of larger values give."""
    a, b = first(x), second(x) * 0.01
    return b * (a > 0.1) + ((a > -0.3) * (b < 0.01)).float() * b


def truth_as_numbers(first: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Sums of and quotients by what comparisons give."""
    x = first(x)
    return (x + (x > 0.1)) / ((x < 0.5) + 1.0)


def regions(first: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Cosines of places are computed as rotary embeddings are in Hugging Face's models."""
    torch.rand([])  # by which layers are dropped in training
    with torch.autocast("cpu", enabled=False), torch.enable_grad():
        x, places = first(x), torch.arange(8.0)
        factors = places.cos()
    return x * factors


# name: (model, input shapes, relative tolerance of the rewritten float model)
CASES: dict[str, tuple[Callable[[], Net], list[tuple[int, ...]], float]] = {
    "conv1d": (
        lambda: Net(lambda c, b, x: F.relu(b(c(x))), nn.Conv1d(8, 16, 3, 2, 1, groups=4),
                    nn.BatchNorm1d(16)), [SEQUENCE], 1e-4),
    "conv1d_same": (lambda: Net(lambda c, x: c(x), nn.Conv1d(8, 4, 4, padding="same")),
                    [SEQUENCE], 1e-4),
    "written_parts": (lambda: Net(shifted, conv()), [IMAGE], 1e-4),
    "in_place": (lambda: Net(in_place, conv(), conv()), [IMAGE], 1e-4),
    "through_views": (lambda: Net(through_views, conv()), [IMAGE], 1e-4),
    "as_keras": (lambda: Net(as_keras), [IMAGE], 1e-4),
    "chosen": (lambda: Net(chosen, conv(), conv()), [IMAGE], 1e-6),
    "regions": (lambda: Net(regions, conv()), [IMAGE], 1e-4),
    "one_image": (lambda: Net(lambda c, d, x: F.avg_pool1d(d(F.max_pool2d(c(x), 2).flatten(1)), 2),
                              conv(), nn.Conv1d(8, 4, 3)), [IMAGE[1:]], 1e-4),
    "conv2d_same": (lambda: Net(lambda c, x: c(x), nn.Conv2d(8, 4, (4, 3), padding="same")),
                    [IMAGE], 1e-4),
    "pools1d": (lambda: Net(lambda c, x: F.adaptive_avg_pool1d(
        F.avg_pool1d(F.max_pool1d(c(x), 3, 2, 1), 2), 1), nn.Conv1d(8, 8, 3)), [(1, 8, 30)], 1e-4),
    "adaptive": (lambda: Net(lambda c, x: F.adaptive_max_pool2d(c(x), 4)
                             + F.adaptive_avg_pool2d(c(x), 4), conv()), [IMAGE], 1e-4),
    "transposed1d": (lambda: Net(lambda c, x: c(x), nn.ConvTranspose1d(
        8, 4, 3, stride=2, output_padding=1)), [SEQUENCE], 1e-4),
    "transposed_groups": (lambda: Net(lambda c, x: c(x), nn.ConvTranspose2d(
        8, 4, 3, stride=2, padding=1, output_padding=(1, 0), groups=2, dilation=(1, 2))),
        [IMAGE], 1e-4),
    "batch_norm": (lambda: Net(lambda b, c, x: c(F.relu(b(x))), nn.BatchNorm2d(8), conv()),
                   [IMAGE], 1e-4),
    "batch_norm_constant": (lambda: Net(lambda b, x: b(F.conv2d(x, KERNEL)), nn.BatchNorm2d(4)),
                            [IMAGE], 1e-4),
    "batch_norm_linear": (lambda: Net(lambda c, b, x: b(c(x)), nn.Linear(8, 6), nn.BatchNorm1d(6)),
                          [(2, 8)], 1e-4),
    "batch_norm_rows": (lambda: Net(
        lambda c, b, x: (lambda y: F.hardswish(b(y.flatten(0, 1)).reshape_as(y)))(c(x)),
        nn.Linear(8, 6), nn.BatchNorm1d(6)), [(2, 5, 8)], 1e-4),
    "convolution_bands": (lambda: Net(
        lambda c, b, d, x: d(b(c(x).view(1, 16, 2, 4)).view(1, 8, 4, 4)).mean(2),
        nn.Conv2d(8, 8, (3, 5), 2, (1, 2), groups=4), nn.BatchNorm2d(16), nn.Conv2d(8, 4, 1)),
        [IMAGE], 1e-4),
    "volumes": (lambda: Net(
        lambda c, b, d, p, x: F.adaptive_avg_pool3d(F.avg_pool3d(
            F.relu(d(F.max_pool3d(F.relu(b(c(p(x)))), 2))), (1, 2, 2)), (None, 1, 1)),
        nn.Conv3d(3, 8, 3, padding=1), nn.BatchNorm3d(8), nn.Conv3d(8, 4, (3, 1, 1), padding="same"),
        nn.BatchNorm3d(3)), [VOLUME], 1e-4),
    "prelu": (lambda: Net(lambda c, p, x: p(c(x)), conv(), nn.PReLU(8)), [IMAGE], 1e-4),
    "mean_channels": (lambda: Net(lambda c, x: c(x).mean(1, keepdim=True), conv()), [IMAGE], 1e-4),
    "sum_mixed": (lambda: Net(lambda c, x: c(x).sum((1, 3)), conv()), [IMAGE], 1e-4),
    "cumulated": (lambda: Net(lambda c, x: c(x).cumsum(1) + c(x).cumsum(-1), conv()), [IMAGE], 1e-4),
    "weighted_sum": (lambda: Net(lambda c, x: (c(x) * torch.arange(8.0)).sum(-1), conv()), [IMAGE],
                     1e-4),
    "weighted_rows": (lambda: Net(lambda c, w, x: (c(x) * w.weight).sum(-1, keepdim=True),
                                  nn.Conv1d(8, 6, 3), nn.Linear(18, 6)), [SEQUENCE], 1e-4),
    "softmax_of_one": (lambda: Net(
        lambda c, x: (lambda q: torch.softmax(q @ q.mT, -1) @ q + torch.softmax(q, -2))(
            c(x).view(1, 2, 1, 256)), conv()), [IMAGE], 1e-4),
    "softmax_channels": (lambda: Net(lambda c, x: torch.softmax(c(x), 1), conv()), [IMAGE], 1e-4),
    "matmul": (lambda: Net(lambda c, x: x @ c.weight, nn.Linear(4, 8)), [(3, 8)], 1e-4),
    "glu": (lambda: Net(lambda c, x: F.glu(c(x), 1), conv()), [IMAGE], 1e-4),
    "attention": (lambda: Net(lambda a, x: a(x, x, x, need_weights=False)[0],
                              nn.MultiheadAttention(8, 2, batch_first=True)), [(1, 5, 8)], 1e-4),
    "nearest": (lambda: Net(lambda c, x: F.interpolate(c(x), scale_factor=(2, 3)), conv()),
                [IMAGE], 1e-4),
    "nearest_size": (lambda: Net(lambda c, x: F.interpolate(c(x), size=(13, 5)), conv()),
                     [IMAGE], 1e-4),
    "bilinear": (lambda: Net(lambda c, d, x: d(F.interpolate(
        c(x), size=(13, 21), mode="bilinear")), conv(), nn.Conv2d(8, 4, 1)), [IMAGE], 1e-4),
    "sampled": (lambda: Net(lambda c, d, x: d(F.grid_sample(c(x), F.affine_grid(
        PLACES, [1, 8, 5, 7], align_corners=False), align_corners=False)), conv(),
        nn.Conv2d(8, 4, 1)), [IMAGE], 1e-4),
    "broadcast": (lambda: Net(lambda c, x: c(x) * c(x).mean(1, keepdim=True), conv()),
                  [IMAGE], 1e-4),
    "scalars": (lambda: Net(lambda c, x: (3 - 2 * c(x)) / 4, conv()), [IMAGE], 1e-4),
    "composed": (lambda: Net(lambda c, x: (lambda y: y * torch.tanh(F.softplus(y)) + y**2)(c(x)),
                             conv()), [IMAGE], 1e-4),
    "likeness": (lambda: Net(lambda c, x: (lambda y: torch.clamp(
        y, torch.full_like(y, -0.5), torch.ones_like(y)))(c(x)), conv()), [IMAGE], 1e-4),
    "permuted": (lambda: Net(lambda c, d, x: d(c(x.permute(0, 3, 1, 2)).reshape(1, 8, 4, 16)),
                             conv(), nn.Conv2d(8, 4, 1)), [(1, 8, 8, 8)], 1e-4),
    "scaled_channels": (lambda: Net(lambda c, d, x: d(c(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
                                                      * torch.arange(1.0, 9.0).reshape(1, 8, 1, 1)),
                                    nn.Linear(8, 8), conv()), [IMAGE], 1e-4),
    "dilated": (lambda: Net(lambda a, b, x: F.max_pool2d(b(F.relu(a(x))), 2, 1, 1, (2, 1)),
                            nn.Conv2d(8, 8, 3, dilation=(1, 2)),
                            nn.Conv2d(8, 8, 3, 1, 2, dilation=2, groups=8)), [IMAGE], 1e-4),
    "lstm": (recurrent(nn.LSTM, 1, batch_first=True), [(1, 3, 8)], 1e-4),
    "gru_cell": (recurrent(nn.GRUCell, 2), [(1, 8), (1, 6)], 1e-4),
}  # fmt: skip


def weighted(form: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], *shape: int) -> Any:
    """A form of sums of products with constants, and what may follow."""
    return lambda: Net(
        lambda w, x: torch.relu(form(x, w.weight.reshape(shape)) + w.bias), nn.Linear(12, 6)
    )


# Not lowered as well, to save time.
EXACT_ONLY = {
    "truth as numbers": (lambda: Net(truth_as_numbers, conv()), [IMAGE], 1e-6),
    "sampled_reflected": (lambda: Net(lambda c, x: F.grid_sample(
        c(x), F.affine_grid(PLACES, [1, 8, 5, 7], align_corners=True), padding_mode="reflection",
        align_corners=True), conv()), [IMAGE], 1e-4),
    "sampled_nearest": (lambda: Net(lambda c, x: F.grid_sample(c(x), F.affine_grid(
        PLACES, [1, 8, 5, 7], align_corners=False), "nearest", "border", align_corners=False)
        + F.grid_sample(c(x), 1.1 * F.affine_grid(PLACES, [1, 8, 5, 7], align_corners=True),
                        "nearest", align_corners=True), conv()), [IMAGE], 1e-4),
    "sampled_between": (lambda: Net(lambda c, x: F.grid_sample(c(x), F.affine_grid(  # two pixels
        BETWEEN, [1, 8, 9, 9], align_corners=False), "nearest", align_corners=False), conv()),
        [(1, 8, 12, 10)], 1e-4),
    "volume_windows": (lambda: Net(lambda c, d, x: F.avg_pool3d(F.max_pool3d(
        c(d(x)), 3, (2, 1, 1), 1, (1, 2, 1), ceil_mode=True), (2, 3, 2), 2, 1, True, False),
        nn.Conv3d(6, 9, (3, 2, 1), (2, 1, 1), (2, 1, 0), (2, 1, 1), groups=3),
        nn.Conv3d(3, 6, 3, groups=3, padding=1)), [(2, 3, 9, 8, 8)], 1e-4),
    "volume_larger": (lambda: Net(lambda c, x: F.interpolate(c(x), scale_factor=(2, 1, 2))
                                  + F.adaptive_avg_pool3d(F.interpolate(x, size=(12, 8, 16)), 1),
                                  nn.Conv3d(3, 3, 1)), [VOLUME], 1e-4),
    "prelu_of_all": (lambda: Net(lambda c, p, x: p(c(x)), conv(), nn.PReLU(init=0.3)), [IMAGE], 1e-4),
    "batch_norm_bands": (lambda: Net(lambda b, x: b(x.reshape(1, 32, 2, 8)).reshape(x.shape),
                                     nn.BatchNorm2d(32)), [IMAGE], 1e-4),
    "svdf_ranks": (weighted(lambda x, w: (x * w).sum(-1).reshape(-1, 6, 2).sum(-1), 12, 6),
                   [(1, 12, 6)], 1e-4),
    "svdf_ranks_of_steps": (weighted(lambda x, w: (x * w).sum(1).view(2, 6, 2).sum(2), 6, 12),
                            [(2, 6, 12)], 1e-4),
    "svdf_both": (weighted(lambda x, w: (x * w).sum((2, 3)), 6, 3, 4), [(2, 6, 3, 4)], 1e-4),
    "svdf_steps_between": (weighted(lambda x, w: (x * w).sum((1, 3)), 3, 6, 4), [(1, 3, 6, 4)],
                           1e-4),
    "svdf_einsum": (weighted(lambda x, w: torch.einsum("nct,ct->nc", x, w), 6, 12), [(1, 6, 12)],
                    1e-4),
    "svdf_einsum_batch": (weighted(lambda x, w: torch.einsum("ntc,tc->nc", x, w), 12, 6),
                          [(3, 12, 6)], 1e-4),
    "svdf_matmul": (weighted(lambda x, w: (x.unsqueeze(-2) @ w.unsqueeze(-1)).flatten(1), 6, 12),
                    [(1, 6, 12)], 1e-4),
    "conv1d_and_row": (lambda: Net(lambda c, x: torch.relu(c(x) + torch.arange(6.0)),
                                   nn.Conv1d(8, 6, 3, groups=2, bias=False)), [(1, 8, 8)], 1e-4),
    "not_ranks": (weighted(lambda x, w: (x * w).sum(-1).reshape(-1, 6, 2).amax(-1), 12, 6),
                  [(1, 12, 6)], 1e-4),
    "lstm_stacked": (recurrent(nn.LSTM, 3, num_layers=2, bidirectional=True),
                     [(3, 2, 8), (4, 2, 6), (4, 2, 6)], 1e-4),
    "lstm_no_bias": (recurrent(nn.LSTM, 1, bias=False, bidirectional=True), [(3, 2, 8)], 1e-4),
    "gru": (recurrent(nn.GRU, 2, num_layers=2, bidirectional=True),
            [(3, 2, 8), (4, 2, 6)], 1e-4),
    "gru_zero": (recurrent(nn.GRU, 1, bias=False, batch_first=True), [(2, 3, 8)], 1e-4),
    "rnn": (recurrent(nn.RNN, 1, nonlinearity="relu"), [(3, 1, 8)], 1e-4),
    "lstm_cell": (recurrent(nn.LSTMCell, 3), [(1, 8), (1, 6), (1, 6)], 1e-4),
    "rnn_cell": (recurrent(nn.RNNCell, 2), [(1, 8), (1, 6)], 1e-4),
    "lstm_projected": (recurrent(nn.LSTM, 1, proj_size=4, num_layers=2, bidirectional=True),
                       [(3, 2, 8)], 1e-4),
    "lstm_projected_no_bias": (recurrent(nn.LSTM, 3, proj_size=4, bias=False),
                               [(3, 2, 8), (1, 2, 4), (1, 2, 6)], 1e-4),
}  # fmt: skip


# A layer of a stack, of 6 features in and out; each takes and gives [steps, batch, features].
LINKS: dict[str, Callable[[], nn.Module]] = {
    "lstm": lambda: Recurrent(nn.LSTM(6, 6)),
    "lstm_deep": lambda: Recurrent(nn.LSTM(6, 3, num_layers=2, bidirectional=True)),
    "gru": lambda: Recurrent(nn.GRU(6, 6)),
    "gru_both": lambda: Recurrent(nn.GRU(6, 3, bidirectional=True)),
    "rnn": lambda: Recurrent(nn.RNN(6, 6, nonlinearity="relu")),
    "lstm_cell": lambda: Cells(nn.LSTMCell(6, 6)),
    "gru_cell": lambda: Cells(nn.GRUCell(6, 6)),
    "rnn_cell": lambda: Cells(nn.RNNCell(6, 6)),
    "conv": lambda: Across(nn.Conv1d(6, 6, 3, padding=1)),
    "norm": lambda: Across(nn.Sequential(nn.BatchNorm1d(6), nn.ReLU())),
    "linear": lambda: nn.Sequential(nn.Linear(6, 6), nn.Hardswish()),
}


class Recurrent(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)[0]


class Cells(nn.Module):
    """A cell over the steps, from a state of zeros."""

    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, results = None, []
        for step in x:
            state = self.cell(step, state)
            results.append(state[0] if isinstance(state, tuple) else state)
        return torch.stack(results)


class Across(nn.Module):
    """A layer of sequences [batch, features, steps]."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x.permute(1, 2, 0)).permute(2, 0, 1)


def stack(names: tuple[str, ...]) -> LoadedModel:
    return load(lambda: Net(lambda layer, x: layer(x), nn.Sequential(*(LINKS[n]() for n in names))),
                (2, 1, 6))  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_stacks_of_recurrent_layers(seed: int) -> None:
    """Whatever lies below and above one, no recurrent layer is left to be computed in float."""
    import_executorch()
    random = np.random.default_rng(seed)
    names = tuple(str(name) for name in random.choice(list(LINKS), 4))
    loaded = stack(names)
    captured = capture(loaded)
    assert not {n.target for n in captured.graph.graph.nodes} & set(RECURRENT), names
    sample = loaded.example_inputs
    with torch.no_grad():
        want, got = loaded.module(*sample), captured.graph(*channels_last(sample, captured.which))
    assert float((values(got)[0] - want).abs().max()) <= 2e-2 * float(want.abs().max()), names


def test_stack_of_recurrent_layers_stays_int8() -> None:
    loaded = stack(("lstm", "lstm_cell"))
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    assert float_operators(lowered) == []


def values(outputs: Any) -> list[torch.Tensor]:
    return list(torch.utils._pytree.tree_leaves(outputs))


@pytest.mark.parametrize("name", [*CASES, *EXACT_ONLY])
def test_same_values(name: str) -> None:
    import_executorch()
    build, shapes, tolerance = {**CASES, **EXACT_ONLY}[name]
    loaded = load(build, *shapes)
    captured = capture(loaded)
    graph = captured.graph
    assert not {n.target for n in graph.graph.nodes} & (set(REWRITES) - _kept())
    for sample in (loaded.calibration or ())[:2]:
        with torch.no_grad():
            want = values(loaded.module(*sample))
            got = values(graph(*channels_last(sample, captured.which)))
        for w, g in zip(want, got, strict=True):
            assert g.shape == w.shape
            assert float((g - w).abs().max()) <= tolerance * float(w.abs().max())


def _kept() -> set[Any]:
    """Operators that some forms of which the quantizer knows."""
    aten = torch.ops.aten
    return {
        *(aten.conv_transpose2d.input, aten.softmax.int, aten.bmm.default),
        *(aten.avg_pool2d.default, aten.max_pool2d.default),
        *(aten.add.Tensor, aten.mul.Tensor, aten.relu.default),
    }


def float_operators(lowered: Lowered) -> list[str]:
    """What computes on or gives float32, quantization aside."""
    graph = read_pte(lowered.pte, name="net")
    names = [(type(op.attrs).__name__, (*op.inputs, *op.outputs)) for op in graph.ops]
    return [
        name
        for name, tensors in names
        if name not in ("Quantize", "Dequantize")
        and any(graph.tensors[t].dtype is DType.F32 for t in tensors)
    ]


@pytest.mark.parametrize("name", CASES)
def test_stays_int8(name: str) -> None:
    build, shapes, _ = CASES[name]
    loaded = load(build, *shapes)
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    assert float_operators(lowered) == []
    for sample in (loaded.calibration or ())[:2]:
        arrays = tuple(x.numpy() for x in sample)
        for want, got in zip(lowered.float_module(arrays), lowered.reference(arrays), strict=True):
            spread = float(want.max() - want.min())
            assert float(np.abs(want - got).mean()) <= 0.015 * spread


@pytest.mark.parametrize("seed", range(12))
def test_writes_in_place_have_their_values(seed: int) -> None:
    """Of tensors and views of them, in any order."""
    dice = np.random.default_rng(seed)
    views: list[Callable[[torch.Tensor], torch.Tensor]] = [
        lambda x: x * 2, lambda x: x.reshape(1, 64, 8).view(1, 8, 8, 8),
        lambda x: x.transpose(2, 3), torch.relu, lambda x: torch.cat(x.chunk(2, 1), 1),
    ]  # fmt: skip
    writes: list[Callable[[torch.Tensor, torch.Tensor], Any]] = [
        lambda x, y: x.add_(1), lambda x, y: x.mul_(y.tanh()), lambda x, y: x.sub_(0.5),
        lambda x, y: x.neg_(), lambda x, y: x.narrow(1, 2, 3).mul_(3),
        lambda x, y: x.clamp_(-1, 2), lambda x, y: x.copy_(y.sigmoid()),
    ]  # fmt: skip
    steps = [(dice.integers(2), *dice.integers(1 << 20, size=3)) for _ in range(10)]

    def function(first: nn.Module, x: torch.Tensor) -> torch.Tensor:
        known = [first(x)]
        for is_write, which, one, other in steps:
            x, y = known[one % len(known)], known[other % len(known)]
            if is_write:
                writes[which % len(writes)](x, y)
            else:
                known.append(views[which % len(views)](x))
        return torch.cat(known, 1)

    loaded = load(lambda: Net(function, conv()), IMAGE)
    want = loaded.module(*loaded.example_inputs)
    got = capture(loaded).graph(*loaded.example_inputs)
    torch.testing.assert_close(
        got[0] if isinstance(got, tuple) else got, want, rtol=1e-4, atol=1e-5
    )


def test_activations_stand_behind_convolutions() -> None:
    """In one dimension, too, what cuts off a convolution's result is part of it."""
    loaded = load(
        lambda: Net(
            lambda a, n, b, c, x: F.relu6(c(F.hardtanh(b(F.relu(n(a(x))))))),
            nn.Conv1d(8, 6, 3),
            nn.BatchNorm1d(6),
            nn.ConvTranspose1d(6, 6, 2, 2),
            nn.Conv1d(6, 6, 5, groups=6, dilation=2),
        ),
        SEQUENCE,
    )
    lowered = lower(loaded, target=Target.parse("cortex-m55"), name="net")
    kinds = [op.kind for op in read_pte(lowered.pte, name="net").ops]
    assert {"conv2d", "transpose_conv2d", "depthwise_conv2d"} <= set(kinds)
    assert not {"activation", "clamp"} & set(kinds), kinds


class Svdf(nn.Module):
    """Features of 2 ranks, weighted over 5 steps; the memory has its steps last or first."""

    def __init__(self, steps_last: bool, how: str) -> None:
        super().__init__()
        self.steps_last, self.how = steps_last, how
        self.feature = nn.Linear(7, 16, bias=False)
        shape = (16, 5) if steps_last else (5, 16)
        self.time = nn.Parameter(torch.randn(shape))
        self.bias = nn.Parameter(torch.randn(8))
        self.register_buffer("memory", torch.zeros(1, *shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dim = 2 if self.steps_last else 1
        new = self.feature(x).unsqueeze(dim)
        if self.how in ("cat", "einsum", "product"):
            memory = torch.cat([self.memory.narrow(dim, 1, 4), new], dim)
            self.memory.copy_(memory)
        elif self.how == "roll":
            self.memory = torch.roll(self.memory, -1, dim)
            self.memory.select(dim, 4).copy_(new.squeeze(dim))
            memory = self.memory
        else:
            self.memory[:, :-1] = self.memory[:, 1:].clone()
            self.memory[:, -1:] = new
            memory = self.memory
        if self.how == "einsum":
            form = "burt,urt->bu" if self.steps_last else "btur,tur->bu"
            weights = self.time.unflatten(2 - dim, (8, 2))
            return torch.einsum(form, memory.unflatten(3 - dim, (8, 2)), weights) + self.bias
        if self.how == "product":
            products = (memory * self.time).view(-1, 8, 2, 5)
            return torch.relu(products.sum((-2, -1)) + self.bias)
        sums = (memory * self.time).sum(dim)
        return torch.relu(sums.reshape(-1, 8, 2).sum(-1) + self.bias)


@pytest.mark.parametrize(
    "steps_last, how",
    [(True, "cat"), (True, "roll"), (False, "slices"), (True, "product")]
    + [(True, "einsum"), (False, "einsum")],
)
def test_svdf_layers_keep_their_memory_as_a_ring(steps_last: bool, how: str) -> None:
    """Nothing is written but the new column, no sum is rounded but the last, and states last."""
    torch.manual_seed(0)
    layer = Svdf(steps_last, how).eval()
    calls = [(torch.randn(1, 7),) for _ in range(12)]
    real = copy.deepcopy(layer)
    with torch.no_grad():
        expected = [real(*x).numpy() for x in calls]
    program = program_of_module(
        layer, calls[0], name="svdf", target=Target.parse("cortex-m4"), calibration=calls
    )
    graph = simplify(program.graph())
    kinds = [op.kind for op in graph.ops if op.kind not in ("view", "transpose")]
    assert kinds == ["quantize", "linear", "index_put", "depthwise_ring", "dequantize"]
    plan = make_plan(graph, Target.parse("cortex-m4"))
    called = [call.kernel.serves for step in plan.steps for call in step.calls]
    assert called == ["quantize", "linear", "put", "depthwise_ring", "dequantize"]
    got = run_sequence(graph, [tuple(x.numpy() for x in call) for call in calls])
    spread = float(np.max(expected) - np.min(expected))
    for (result,), exact in zip(got, expected, strict=True):
        assert float(np.abs(result - exact).max()) <= 0.03 * spread


@pytest.mark.parametrize("word", ["a8w4", "a16w8", "a16w4"])
def test_svdf_layers_have_the_precision_that_is_asked_for(word: str) -> None:
    """Features and weighting over time alike, but that a ring has a byte for each weight, and the memory the
    codes of the features."""
    torch.manual_seed(0)
    calls = [(torch.randn(1, 7),) for _ in range(12)]
    program = program_of_module(
        Svdf(True, "cat").eval(),
        calls[0],
        name="svdf",
        target=Target.parse("cortex-m4"),
        quantization=parse_quantization(word),
        calibration=calls,
    )
    graph = simplify(program.graph())
    found = {op.kind: precision(op, graph) for op in graph.ops}
    computed = {k: each for k, each in found.items() if each not in ("move", "convert")}
    if word == "a8w4":
        assert computed == {"linear": word, "depthwise_ring": "int8"}
    else:
        assert computed == {"linear": word, "depthwise_conv2d": word}
    state = graph.states[0]
    assert graph.tensors[state.before].dtype is (DType.S8 if word == "a8w4" else DType.S16)


def test_float_model_is_left_alone() -> None:
    loaded = load(lambda: Net(lambda c, x: c(x).mean(1) * 2, nn.Conv1d(8, 4, 3)), SEQUENCE)
    target = Target.parse("cortex-m55")
    names = [n for n, _ in lower(loaded, target=target, quantization=None, name="net").layers]
    assert [n for n in names if n.startswith("aten::")] == [
        "aten::convolution",
        "aten::mean",
        "aten::mul",
    ]


def test_small_results_of_large_constants_fold() -> None:
    """As the bias of positions of Swin v2, whose hidden layer is larger than its weights."""
    first, second = nn.Linear(2, 512), nn.Linear(512, 2)
    places = torch.randn(7, 7, 2)

    def function(first: nn.Module, second: nn.Module, x: torch.Tensor) -> Any:
        return x + second(first(places).relu_()), x.mean() * first(places)

    net = Net(function, first, second).eval()
    with torch.no_grad():
        graph = torch.export.export(net, (torch.randn(7, 7, 2),)).module(check_guards=False)
        fold_constants(graph)
        x = torch.randn(7, 7, 2)
        for got, wanted in zip(graph(x), net(x), strict=True):
            torch.testing.assert_close(got, wanted)
    names = [operator_name(node) for node in graph.graph.nodes if node.op == "call_function"]
    assert names == ["aten::add", "aten::mean", "aten::linear", "aten::mul"]
