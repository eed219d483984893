# SPDX-License-Identifier: Apache-2.0
"""Decomposed operators: the same values in float, int8 throughout in a quantized model, and the same
bytes from the interpreter, ExecuTorch's operators and the plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.frontend.rewrites.decompose import decompose, decompose_coded, decompose_floats
from cortexm_tools.frontend.rewrites.formulas import CODED_FORMULAS, FLOAT_FORMULAS, FORMULAS
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import DType
from cortexm_tools.ir.windows import runs_of
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.plan_executor import PlanExecutor
from tests.support.reference import ExactPools

Function = Callable[..., Any]
IMAGE, ROW, MATRIX = (1, 4, 8, 6), (1, 4, 14), (5, 8)

THETA = torch.tensor([[[0.9, 0.1, 0.0], [-0.1, 0.8, 0.1]]])
WINDOWS = torch.tensor([[1.0, -2.0, 0.5, 0.3, 0.2, -0.7, 1.1, 0.4]])
HALF = torch.tensor(0.5)

STACK = torch.linspace(-3, 3, 66 * 16).sin().reshape(66, 4, 4)  # more matrices than are layers each


def grid() -> torch.Tensor:
    return F.affine_grid(THETA, [1, 4, 6, 5], align_corners=False)


# name: (function of an image, a row or a matrix; its shape; least signal-to-noise ratio in dB of
# the quantized model)
CASES: dict[str, tuple[Function, tuple[int, ...], float]] = {
    "reflect": (lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"), IMAGE, 30),
    "replicate": (lambda x: F.pad(x, (2, 0, 1, 3), mode="replicate"), IMAGE, 30),
    "circular": (lambda x: F.pad(x, (1, 2, 8, 1), mode="circular"), IMAGE, 30),
    "crop": (lambda x: F.pad(x, (-1, -2, -3, 0)), IMAGE, 30),
    "crop_and_pad": (lambda x: F.pad(x, (-1, 2, 1, -3), value=0.5), IMAGE, 28),
    "reflect_row": (lambda x: F.pad(x, (3, 1), mode="reflect"), ROW, 30),
    "roll": (lambda x: torch.roll(x, (1, -2), (2, 3)), IMAGE, 30),
    "roll_all": (lambda x: x.roll(5), IMAGE, 30),
    "unfold": (lambda x: F.unfold(x, (3, 2), padding=1, stride=(2, 1), dilation=(1, 2)), IMAGE, 30),
    "unfold_tiles": (lambda x: F.unfold(x, 2, stride=2), IMAGE, 30),
    "fold_tiles": (lambda x: F.fold(x.reshape(1, 16, 12), (8, 6), 2, stride=2), IMAGE, 30),
    "linear": (lambda x: F.interpolate(x, scale_factor=2, mode="linear"), ROW, 28),
    "linear_corners": (
        lambda x: F.interpolate(x, size=9, mode="linear", align_corners=True), ROW, 28),
    "bicubic": (lambda x: F.interpolate(x, size=(11, 9), mode="bicubic"), IMAGE, 26),
    "std": (lambda x: x.std(1), IMAGE, 28),
    "var": (lambda x: torch.var(x, (2, 3), correction=0, keepdim=True), IMAGE, 28),
    "var_all": (lambda x: x.var().reshape(1), MATRIX, 25),
    "var_mean": (lambda x: torch.cat(torch.var_mean(x, 1, unbiased=False)), MATRIX, 25),
    "highest": (lambda x: torch.maximum(x, x.max() - 1.5), MATRIX, 28),
    "greater": (lambda x: torch.fmax(x, x.flip([1]) - 1.5), MATRIX, 28),
    "smaller": (lambda x: torch.fmin(x, x.flip([1]) + 1.5), MATRIX, 28),
    "lowest": (lambda x: torch.minimum(x, x.min() + 1.5), MATRIX, 28),
    "norm": (lambda x: torch.linalg.norm(x, dim=1), MATRIX, 28),
    "norm_1": (lambda x: torch.norm(x, p=1, dim=(2, 3)), IMAGE, 28),
    "norm_max": (lambda x: torch.linalg.vector_norm(x, torch.inf, dim=1), MATRIX, 28),
    "normalize": (lambda x: F.normalize(x), MATRIX, 28),
    "cosine": (lambda x: F.cosine_similarity(x, WINDOWS), MATRIX, 22),
    "cdist": (lambda x: torch.cdist(x, torch.cat([WINDOWS, -WINDOWS])), MATRIX, 25),
    "cdist_1": (lambda x: torch.cdist(x, x.flip([1]), p=1.0), MATRIX, 25),
    "mse": (lambda x: F.mse_loss(x, 0.5 * x.flip([1])).reshape(1), MATRIX, 25),
    "mse_each": (lambda x: F.mse_loss(x, x.flip([1]), reduction="none"), MATRIX, 25),
    "l1": (lambda x: F.l1_loss(x, 0.5 * x.flip([1])).reshape(1), MATRIX, 25),
    "smooth_l1": (
        lambda x: F.smooth_l1_loss(x, x.flip([1]), beta=0.7, reduction="sum").reshape(1),
        MATRIX, 22),
    "huber": (lambda x: F.huber_loss(x, x.flip([1]), delta=1.3, reduction="none"), MATRIX, 25),
    "lerp": (lambda x: torch.lerp(x, x.flip([1]), 0.3), MATRIX, 28),
    "lerp_each": (lambda x: torch.lerp(x, x.flip([1]), torch.sigmoid(x)), MATRIX, 25),
    "clamp": (lambda x: torch.clamp(x, -x.flip([1]).abs(), x.flip([1]).abs()), MATRIX, 28),
    "average": (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), IMAGE, 24),
    "average_more": (lambda x: F.adaptive_avg_pool2d(x, (10, 5)), IMAGE, 25),
    "average_enlarged": (lambda x: F.interpolate(x, size=(17, 11), mode="area"), IMAGE, 28),
    "average_row": (lambda x: F.adaptive_avg_pool1d(x, 4), ROW, 24),
    "largest": (lambda x: F.adaptive_max_pool2d(x, (3, 5)), IMAGE, 28),
    "largest_row": (lambda x: F.adaptive_max_pool1d(x, 4), ROW, 28),
    "left": (lambda x: WINDOWS.reshape(2, 4) @ x.transpose(0, 1).reshape(2, 4, 5), MATRIX, 28),
    "left_vector": (lambda x: WINDOWS[0] @ x.T, MATRIX, 25),
    "stack": (lambda x: x.reshape(2, 5, 4) @ WINDOWS.reshape(2, 4, 1), MATRIX, 25),
    "einsum": (
        lambda x: torch.einsum("mf,btf->bmt", WINDOWS.reshape(2, 4), x.reshape(2, 5, 4)),
        MATRIX, 28),
    "outer": (lambda x: torch.outer(x[0], x[1]), MATRIX, 22),
    "bilinear": (lambda x: F.bilinear(x[:, :2], x[:, 4:], STACK[:5, :2], WINDOWS[0, :5]), MATRIX, 25),
    "product": (lambda x: (1 + 0.2 * x).prod(1, keepdim=True), IMAGE, 25),
    "product_all": (lambda x: (1 + 0.1 * x[:, :7]).prod().reshape(1), MATRIX, 25),
    "neighbours": (lambda x: F.local_response_norm(x, 3, alpha=0.9, beta=0.6), IMAGE, 28),
    "quotient": (lambda x: (x / (x.abs().amax(1, True) + 0.5))[None] @ x.T[None], MATRIX, 25),
    "stacks": (lambda x: x.reshape(2, 1, 5, 4) @ STACK[:3], MATRIX, 25),
    "stacks_left": (lambda x: STACK[:4, None, :3] @ x.reshape(1, 2, 4, 5), MATRIX, 25),
    "large_stack": (lambda x: x.reshape(1, 10, 4) @ STACK, MATRIX, 25),
    "smooth": (
        lambda x: F.interpolate(x, size=(5, 4), mode="bilinear", antialias=True), IMAGE, 28),
    "smooth_cubic": (
        lambda x: F.interpolate(x, size=(5, 9), mode="bicubic", antialias=True), IMAGE, 26),
    "nearest_exact": (lambda x: F.interpolate(x, size=(5, 9), mode="nearest-exact"), IMAGE, 30),
    "differences": (lambda x: torch.diff(x, 2, 0, prepend=WINDOWS), MATRIX, 25),
    "distances": (lambda x: F.pairwise_distance(x, x.flip([1])), MATRIX, 28),
    "distance": (lambda x: torch.dist(x, x.flip([1])).reshape(1), MATRIX, 28),
    "products_added": (lambda x: torch.addcmul(x, x, x.flip([1]), value=0.5), MATRIX, 25),
    "quotients_added": (
        lambda x: torch.addcdiv(x, x, x.abs().flip([1]) + 1, value=0.5), MATRIX, 25),
    "random_slope": (lambda x: F.rrelu(x), MATRIX, 28),
    "cross": (lambda x: torch.cross(x[:, :3], x[:, 3:6], dim=1), MATRIX, 22),
    "ends": (lambda x: torch.cat(torch.aminmax(x, dim=1)), MATRIX, 28),
    "inner": (lambda x: torch.inner(x, 0.5 * x.flip([1])), MATRIX, 25),
    "contracted": (
        lambda x: torch.tensordot(x.reshape(5, 2, 4), x.reshape(5, 4, 2), ([0, 1], [0, 2])),
        MATRIX, 25),
    "kronecker": (lambda x: torch.kron(x[:2, :3], x[2:, :4]), MATRIX, 25),
    "chain": (lambda x: torch.linalg.multi_dot([x, WINDOWS.T, WINDOWS, x.T]), MATRIX, 20),
    "log_sum": (lambda x: torch.logsumexp(x, 1), MATRIX, 25),
    "log_shares": (lambda x: F.log_softmax(x, 1), MATRIX, 28),
    "log_shares_of_channels": (lambda x: F.log_softmax(x, dim=1), IMAGE, 25),
    "log_of_shares": (lambda x: torch.log(torch.softmax(3.0 * x, -1)), MATRIX, 28),
    "log_add": (lambda x: torch.logaddexp(x, x.flip([1])), MATRIX, 25),
    "length": (lambda x: torch.hypot(x, x.flip([1])), MATRIX, 25),
    "triangles": (lambda x: x.tril(1) + torch.triu(x, -1), MATRIX, 28),
    "diagonals": (
        lambda x: x.diagonal(2) + x.diagonal(-1)[:, None] + torch.trace(x), MATRIX, 22),
    "fraction": (lambda x: torch.nan_to_num(torch.sinc(x)), MATRIX, 25),
    "added_row": (
        lambda x: torch.addmm(WINDOWS[0], x, WINDOWS.T @ WINDOWS, beta=2, alpha=0.5), MATRIX, 25),
    "added_matrix": (lambda x: torch.addmm(x[:, :5], x, x.T, beta=2, alpha=0.5), MATRIX, 22),
    "added_column": (lambda x: torch.addmv(x[:, 0], x, WINDOWS[0]), MATRIX, 25),
    "added_sum": (
        lambda x: torch.addbmm(x[:2, :2], x.reshape(5, 2, 4), x.reshape(5, 4, 2)), MATRIX, 25),
    "close": (
        lambda x: torch.where(torch.isclose(x, x + 5.0 * (WINDOWS > 0), atol=1), x, 2 * x), MATRIX, 25),
    "kernels": (
        lambda x: F.conv2d(x.reshape(2, 4, 4, 6), x[:, :, :3, :4].reshape(3, 4, 2, 2), WINDOWS[0, :3],
                           (1, 2), (1, 0), (2, 1)), IMAGE, 25),
    "kernels_of_groups": (
        lambda x: F.conv2d(x, x[:, :, 2:5, 1:4].transpose(0, 1), padding="same", groups=4), IMAGE, 25),
    "kernels_of_a_row": (
        lambda x: F.conv1d(x, x[:, :, :6].reshape(4, 2, 3), None, 2, 3, 2, 2), ROW, 25),
}  # fmt: skip

CHOICES: dict[str, tuple[Function, tuple[int, ...], float]] = {
    "step": (lambda x: torch.heaviside(x, HALF), MATRIX, 20),
    "chosen": (lambda x: torch.where(x > HALF, torch.ones(()), torch.pow(HALF, x)), MATRIX, 20),
}

FLOAT_CASES: dict[str, tuple[Function, tuple[int, ...], float]] = {
    "positions": (lambda x: x.max(1)[1].float() + x.min(1)[0], MATRIX, 22),
    "instance_norm": (lambda x: F.instance_norm(x), IMAGE, 30),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), IMAGE, 30),
    "sampled": (lambda x: F.grid_sample(x, grid(), align_corners=False), IMAGE, 25),
    "sampled_nearest": (
        lambda x: F.grid_sample(x, grid(), "nearest", "border", align_corners=True), IMAGE, 30),
    "transformed": (
        lambda x: F.grid_sample(
            x, F.affine_grid(THETA + 0.1 * x[:, :2, 0, :3], [1, 4, 6, 5], align_corners=False),
            align_corners=False), IMAGE, 20),
}  # fmt: skip


class Net(nn.Module):
    """All functions, each of its own input, behind a multiplication that makes it no input."""

    def __init__(self, cases: dict[str, tuple[Function, tuple[int, ...], float]]) -> None:
        super().__init__()
        self.functions = [function for function, _, _ in cases.values()]

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        pairs = zip(self.functions, inputs, strict=True)
        return tuple(function(torch.tanh(x) * 2) for function, x in pairs)


def load(cases: dict[str, tuple[Function, tuple[int, ...], float]]) -> LoadedModel:
    generator = torch.Generator().manual_seed(0)
    samples = tuple(
        tuple(torch.randn(shape, generator=generator) for _, shape, _ in cases.values())
        for _ in range(6)
    )
    return LoadedModel(Path("net.py").absolute(), Net(cases).eval(), samples[0], samples, None)


GROUPS = {
    "moves": dict(list(CASES.items())[:14]),
    "statistics": dict(list(CASES.items())[14:33]),
    "products": dict(list(CASES.items())[33:]),
    "choices": CHOICES,
    "floats": FLOAT_CASES,
}


@cache
def lowered(group: str) -> tuple[LoadedModel, Lowered]:
    import_executorch()
    loaded = load(GROUPS[group])
    return loaded, lower(loaded, target=Target.parse("cortex-m55"), name="net")


def ratio(want: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> float:
    """Signal to noise in dB."""
    noise = float(np.square(want.astype(np.float64) - got).sum())
    return 10 * float(np.log10(np.square(want.astype(np.float64)).sum() / max(noise, 1e-30)))


def test_same_values() -> None:
    import_executorch()
    loaded = load({**CASES, **FLOAT_CASES})
    graph = torch.export.export(loaded.module, loaded.example_inputs, strict=False).module(
        check_guards=False
    )
    decompose(graph)
    decompose_coded(graph, lambda call: "int8")
    decompose_floats(graph)
    # Zeros around an image, which LocalResponseNorm wants, have a kernel.
    zeros = {
        n for n in graph.graph.nodes if n.target is torch.ops.aten.pad.default and len(n.args) == 2
    }
    formulas = {*FORMULAS, *CODED_FORMULAS, *FLOAT_FORMULAS}
    left = {node.target for node in {*graph.graph.nodes} - zeros} & formulas
    assert not left
    for sample in (loaded.calibration or ())[:2]:
        with torch.no_grad():
            pairs = zip(loaded.module(*sample), graph(*sample), strict=True)
            for name, (want, got) in zip({**CASES, **FLOAT_CASES}, pairs, strict=True):
                assert got.shape == want.shape, name
                assert torch.allclose(got, want, 1e-4, 1e-5), name


@pytest.mark.parametrize("group", GROUPS)
def test_quantized(group: str, executor: PlanExecutor) -> None:
    """Close to float; int8 throughout where that is fine enough; one result from all."""
    cases = GROUPS[group]
    loaded, result = lowered(group)
    graph = simplify(read_pte(result.pte, name="net", layers=[layer for _, layer in result.layers]))
    computed = {
        f"{type(op.attrs).__name__} of {op.layer}"
        for op in graph.ops
        if type(op.attrs).__name__ not in ("Quantize", "Dequantize", "Clone")
        and any(graph.tensors[t].dtype is DType.F32 for t in (*op.inputs, *op.outputs))
    }
    assert bool(computed) == (group == "floats"), computed
    signal: dict[str, list[float]] = {name: [] for name in cases}
    for sample in (loaded.calibration or ())[:3]:
        arrays = tuple(x.numpy() for x in sample)
        given = run_graph(graph, arrays)
        planned = executor.run_graph(graph, arrays)
        with torch.no_grad():
            wanted = [value.numpy() for value in loaded.module(*sample)]
        with ExactPools():
            reference = result.reference(arrays)
        for number, name in enumerate(cases):
            assert np.array_equal(given[number], planned[number]), name
            assert given[number].shape == wanted[number].shape, name
            signal[name].append(ratio(wanted[number], given[number]))
            assert np.array_equal(reference[number], given[number]), name
    poor = {n: v for n, v in signal.items() if float(np.median(v)) < cases[n][2]}
    assert not poor


def test_float_model() -> None:
    """A model that is not quantized computes the same up to rounding."""
    names = ("std", "cdist", "unfold", "average", "bicubic", "clamp", "mse", "largest", "cosine")
    cases = {name: CASES[name] for name in names}
    loaded = load(cases)
    result = lower(loaded, target=Target.parse("cortex-m55"), quantization=None, name="net")
    graph = simplify(read_pte(result.pte, name="net"))
    arrays = tuple(x.numpy() for x in loaded.example_inputs)
    with torch.no_grad():
        wanted = loaded.module(*loaded.example_inputs)
    for name, want, got in zip(cases, wanted, run_graph(graph, arrays), strict=True):
        assert np.allclose(got, want.numpy(), 1e-4, 1e-5), name


@pytest.mark.parametrize("size", range(1, 20))
def test_runs_are_the_windows(size: int) -> None:
    for outputs in range(1, 25):
        windows = [
            (run.start + i * run.stride, run.start + i * run.stride + run.size)
            for run in runs_of(size, outputs)
            for i in range(run.count)
        ]
        assert windows == [
            (i * size // outputs, -(-(i + 1) * size // outputs)) for i in range(outputs)
        ]
        if size % outputs == 0:
            assert len(runs_of(size, outputs)) == 1
