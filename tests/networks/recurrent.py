# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks and networks with state."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import motion, readings


def _steps(channels: int, length: int) -> torch.Tensor:
    return motion(channels, length).transpose(1, 2)


@network(lambda: _steps(6, 4))
class StackedLstm(nn.Module):
    """Two LSTM modules, one behind the other."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.LSTM(6, 12, batch_first=True)
        self.second = nn.LSTM(12, 8, batch_first=True)
        self.fc = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.first(x)
        x, _ = self.second(x)
        return self.fc(x[:, -1])


@network(lambda: _steps(4, 4))
class LstmCells(nn.Module):
    """Two LSTM cells in a loop over time, for the charge of a battery."""

    def __init__(self, hidden: int = 8) -> None:
        super().__init__()
        self.hidden = hidden
        self.cell1 = nn.LSTMCell(4, hidden)
        self.cell2 = nn.LSTMCell(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        zeros = torch.zeros(x.shape[0], self.hidden)
        h1, c1, h2, c2 = zeros, zeros, zeros, zeros
        for t in range(x.shape[1]):
            h1, c1 = self.cell1(x[:, t], (h1, c1))
            h2, c2 = self.cell2(h1, (h2, c2))
        return torch.sigmoid(self.out(h2))


@network(lambda: readings(3) * 0.5)
class EchoState(nn.Module):
    """A reservoir that is never trained, with its state in a buffer; a linear readout."""

    def __init__(self, size: int = 24, leak: float = 0.3) -> None:
        super().__init__()
        self.leak = leak
        weight = torch.randn(size, size) * (torch.rand(size, size) < 0.2)
        self.register_buffer("w_in", torch.randn(size, 3) * 0.5)
        self.register_buffer("w", weight * 0.4)
        self.register_buffer("state", torch.zeros(1, size))
        self.readout = nn.Linear(size, 2)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        update = torch.tanh(F.linear(u, self.w_in) + F.linear(self.state, self.w))
        self.state.copy_((1 - self.leak) * self.state + self.leak * update)
        return self.readout(self.state)


@network(lambda: (readings(5), torch.tanh(readings(12))))
class GruStep(nn.Module):
    """One step of a GRU whose state the application keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(5, 12)
        self.fc = nn.Linear(12, 2)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.cell(x, h)
        return self.fc(h), h


@network(lambda: _steps(5, 5))
class ElmanNetwork(nn.Module):
    """A plain RNN, every step's output."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.RNN(5, 10, batch_first=True, nonlinearity="tanh")
        self.fc = nn.Linear(10, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.rnn(x)
        return self.fc(x).squeeze(-1)


@network(lambda: readings(4))
class RunningStatistics(nn.Module):
    """Standardizes by an exponential mean that it keeps, then a small network."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, 4))
        self.net = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(0.1 * x)
        return self.net(torch.cat([x, x - self.mean], dim=1))
