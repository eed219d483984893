# SPDX-License-Identifier: Apache-2.0
"""Models that keep something from one call to the next, in many ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from cortexm_tools.frontend.load.model_file import LoadedModel

HERE = Path(__file__)
VECTOR = (1, 8)


class Net(nn.Module):
    """`function` of the module itself and the inputs; modules are layers, tensors are buffers."""

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part.clone())
            else:
                setattr(self, name, part)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)


class Streaming(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 4, 2))
        self.conv = nn.Conv1d(4, 8, 3)
        self.norm = nn.BatchNorm1d(8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cat([self.cache, x], 2)
        self.cache.copy_(y[:, :, -2:])
        result: torch.Tensor = self.fc(F.relu(self.norm(self.conv(y))).mean(2))
        return result


def recurrent(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.hidden = torch.tanh(net.a(x) + net.b(net.hidden))
    return net.out(net.hidden)


def gru_cell(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.hidden.copy_(net.cell(x, net.hidden))
    return net.out(net.hidden)


def gru(net: Any, x: torch.Tensor) -> torch.Tensor:
    y, hidden = net.layer(x, net.hidden)
    net.hidden.copy_(hidden)
    return y


def ema(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.mean.mul_(0.75).add_(x * 0.25)
    return net.out(x - net.mean)


def lerp(net: Any, x: torch.Tensor) -> torch.Tensor:
    y = net.out(x)
    net.mean.lerp_(y, 0.25)
    return y - net.mean


def counter(net: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    net.count += 1
    return net.out(x), net.count * 2


def swapped(net: Any, x: torch.Tensor) -> torch.Tensor:
    y = net.out(x + net.first)
    net.first, net.second = net.second, net.first
    return y


def also_output(net: Any, x: torch.Tensor) -> dict[str, torch.Tensor]:
    old = net.kept.clone()
    net.kept.copy_(F.relu(net.out(x + net.kept)))
    return {"new": net.kept, "old": old}


def frames(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.ring[:, :, :-2] = net.ring[:, :, 2:].clone()
    net.ring[:, :, -2:] = x
    return net.last(F.relu(net.conv(net.ring))).mean((2, 3))


def delayed(net: Any, x: torch.Tensor) -> torch.Tensor:
    y = net.a(net.previous) + net.b(x)
    net.previous.copy_(x)
    return y


def flag(net: Any, x: torch.Tensor) -> torch.Tensor:
    hidden = torch.where(net.first, x, net.hidden)
    net.first.fill_(False)
    net.hidden.copy_(hidden * 0.5 + x * 0.5)
    return net.out(net.hidden)


def ring(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.ring.index_copy_(1, net.position, x[:, None])
    net.position.copy_(torch.where(net.position == 3, 0, net.position + 1))
    return net.out(net.ring.flatten(1))


def modulo(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.ring.index_copy_(1, net.position, x[:, None])
    net.position.copy_((net.position + 1) % 4)
    net.phase += 1
    net.phase %= 3
    return net.out(net.ring.flatten(1)) * net.phase + net.position // 2


def history(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.past = torch.roll(net.past, -1, 1)
    net.past[:, -1] = x
    net.calls += 1
    return net.out(net.past.mean(1)) / net.calls.float()


class Svdf(nn.Module):
    """Features of some ranks, weighted over the steps of a memory."""

    def __init__(self, units: int, ranks: int, steps: int) -> None:
        super().__init__()
        self.ranks = ranks
        self.feature, self.bias = linear(units * ranks), nn.Parameter(torch.randn(units))
        self.time = nn.Parameter(torch.randn(units * ranks, steps))
        self.register_buffer("memory", torch.arange(units * ranks * steps) / 9 % 2.0 - 1.0)
        self.memory = self.memory.reshape(1, -1, steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        memory = torch.cat([self.memory[..., 1:], self.feature(x).unsqueeze(-1)], -1)
        self.memory.copy_(memory)
        sums = (memory * self.time).sum(-1).reshape(x.shape[0], -1, self.ranks).sum(-1)
        return torch.relu(sums + self.bias)


def softmax(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.shares = torch.softmax(net.out(x) + net.shares, 1)
    return net.shares


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("hidden", torch.zeros(VECTOR))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.hidden = torch.tanh(self.linear(x) + self.hidden)
        return self.hidden


def twice(net: Any, x: torch.Tensor) -> torch.Tensor:
    return net.cell(net.cell(x))


def linear(outputs: int = 4, inputs: int = 8) -> nn.Linear:
    return nn.Linear(inputs, outputs)


# name: (model, input shape, shapes of the states that are left by name)
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], dict[str, tuple[int, ...]]]] = {
    "streaming": (Streaming, (1, 4, 6), {"cache": (1, 4, 2)}),
    "recurrent": (lambda: Net(recurrent, a=linear(8), b=linear(8), out=linear(),
                              hidden=torch.linspace(-0.5, 0.5, 8)[None]), VECTOR,
                  {"hidden": VECTOR}),
    "gru_cell": (lambda: Net(gru_cell, cell=nn.GRUCell(8, 6), out=linear(4, 6),
                             hidden=torch.zeros(1, 6)), VECTOR, {"hidden": (1, 6)}),
    "gru": (lambda: Net(gru, layer=nn.GRU(8, 6, batch_first=True), hidden=torch.zeros(1, 1, 6)),
            (1, 4, 8), {"hidden": (1, 1, 6)}),
    "ema": (lambda: Net(ema, mean=torch.full(VECTOR, 0.25), out=linear()), VECTOR,
            {"mean": VECTOR}),
    "lerp": (lambda: Net(lerp, mean=torch.zeros(1, 4), out=linear()), VECTOR, {"mean": (1, 4)}),
    "counter": (lambda: Net(counter, count=torch.tensor([3]), out=linear()), VECTOR,
                {"count": (1,)}),
    "swapped": (lambda: Net(swapped, first=torch.full(VECTOR, 0.5), second=torch.full(VECTOR, -1.0),
                            out=linear()), VECTOR, {"first": VECTOR, "second": VECTOR}),
    "also_output": (lambda: Net(also_output, kept=torch.zeros(VECTOR), out=linear(8)), VECTOR,
                    {"kept": VECTOR}),
    "frames": (lambda: Net(frames, ring=torch.arange(144.0).reshape(1, 3, 6, 8) / 100,
                           conv=nn.Conv2d(3, 8, 3, padding=1), last=nn.Conv2d(8, 4, 3)),
               (1, 3, 2, 8), {"ring": (1, 3, 6, 8)}),
    "delayed": (lambda: Net(delayed, previous=torch.zeros(VECTOR), a=linear(), b=linear()), VECTOR,
                {"previous": VECTOR}),
    "flag": (lambda: Net(flag, first=torch.tensor([True]), hidden=torch.zeros(VECTOR),
                         out=linear()), VECTOR, {"first": (1,), "hidden": VECTOR}),
    "ring": (lambda: Net(ring, ring=torch.zeros(1, 4, 8), position=torch.tensor([1]),
                         out=linear(4, 32)), VECTOR, {"ring": (1, 4, 8), "position": (1,)}),
    "modulo": (lambda: Net(modulo, ring=torch.zeros(1, 4, 8), position=torch.tensor([3]),
                           phase=torch.tensor([1], dtype=torch.int32), out=linear(4, 32)), VECTOR,
               {"ring": (1, 4, 8), "position": (1,), "phase": (1,)}),
    "history": (lambda: Net(history, past=torch.zeros(1, 5, 8), calls=torch.tensor([0]),
                            out=linear()), VECTOR, {"past": (1, 5, 8), "calls": (1,)}),
    "softmax": (lambda: Net(softmax, shares=torch.full((1, 4), 0.25), out=linear()), VECTOR,
                {"shares": (1, 4)}),
    "svdf": (lambda: Svdf(5, 2, 4), VECTOR, {"memory": (1, 10, 4)}),
    "svdf_odd": (lambda: Svdf(8, 1, 5), VECTOR, {"memory": (1, 8, 5)}),
    "twice": (lambda: Net(twice, cell=Cell()), VECTOR, {"cell.hidden": VECTOR}),
}  # fmt: skip


def load(
    build: Callable[[], nn.Module], shape: tuple[int, ...], count: int = 16, path: Path = HERE
) -> LoadedModel:
    """A model as if from a file, with random inputs, which also calibrate it."""
    torch.manual_seed(0)
    module = build().eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    samples = tuple((torch.randn(shape),) for _ in range(count))
    return LoadedModel(path.absolute(), module, samples[0], samples, None)
