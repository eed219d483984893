# SPDX-License-Identifier: Apache-2.0
"""Tables, sensors without a time axis, controllers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import categories, readings


def _train_regression(module: nn.Module) -> None:
    """Fits a smooth function of six columns."""
    x = torch.randn(512, 6)
    y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 0.5 * x[:, 3:4].abs()
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
    module.train()
    for _ in range(200):
        loss = F.mse_loss(module(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@network(lambda: torch.randn(1, 6), train=_train_regression)
class MlpRegressor(nn.Module):
    """A regression with batch norm and dropout, trained."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, 32),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Dropout(0.05),
            nn.Linear(32, 32),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)


@network(lambda: (readings(8), categories(7, 12, 31)))
class EntityEmbeddings(nn.Module):
    """Columns of categories as embeddings beside numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.embeds = nn.ModuleList(nn.Embedding(n, d) for n, d in ((7, 4), (12, 6), (31, 8)))
        self.bn = nn.BatchNorm1d(8)
        self.lin1 = nn.Linear(26, 32)
        self.lin2 = nn.Linear(32, 1)

    def forward(self, numbers: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        x = torch.cat([e(columns[:, i]) for i, e in enumerate(self.embeds)], 1)
        x = torch.cat([x, self.bn(numbers)], 1)
        return torch.sigmoid(self.lin2(F.relu(self.lin1(x)))).squeeze(1)


@network(lambda: readings(24))
class LogisticRegression(nn.Module):
    """A linear model as FTRL leaves it: most weights are exactly zero."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(24, 1)
        weight = self.linear.weight.data
        weight.mul_((weight.abs() > 0.12).float())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.linear(x))


@network(lambda: readings(8))
class NearestNeighbours(nn.Module):
    """The three nearest of stored points vote."""

    def __init__(self, points: int = 24, classes: int = 4) -> None:
        super().__init__()
        self.register_buffer("points", torch.randn(points, 8))
        self.register_buffer("labels", F.one_hot(torch.arange(points) % classes).float())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        distance = torch.cdist(x, self.points)
        near, index = torch.topk(distance, 3, dim=1, largest=False)
        votes = self.labels[index.squeeze(0)]
        return (votes * (1 / (near.squeeze(0) + 0.1)).unsqueeze(-1)).sum(dim=0)


@network(lambda: readings(8))
class MotorPolicy(nn.Module):
    """A controller: tanh layers, actions kept within bounds that are tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 3)
        )
        self.register_buffer("low", torch.tensor([-0.5, -1.0, 0.0]))
        self.register_buffer("high", torch.tensor([0.5, 1.0, 0.8]))
        self.log_std = nn.Parameter(torch.zeros(3))  # only training reads it

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(self.net(x), self.low, self.high)


@network(lambda: readings(20))
class TableAutoencoder(nn.Module):
    """An anomaly score for a row."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 10), nn.SELU(), nn.Linear(10, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 10), nn.SELU(), nn.Linear(10, 20))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        error = self.decoder(self.encoder(x)) - x
        return torch.linalg.vector_norm(error, dim=1)
