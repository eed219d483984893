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


@network(lambda: readings(12))
class DeepAndCross(nn.Module):
    """Cross layers: products of the input with itself, learned."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.cross = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.deep = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, 12), nn.ReLU())
        self.out = nn.Linear(24, 1)

    def forward(self, x0: torch.Tensor) -> torch.Tensor:
        x = x0
        for layer in self.cross:
            x = x0 * layer(x) + x
        return self.out(torch.cat([x, self.deep(x0)], dim=1))


@network(lambda: readings(10))
class FeatureTokenizer(nn.Module):
    """Every column a token, attention between them."""

    def __init__(self, columns: int = 10, dim: int = 12) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns, dim) * 0.3)
        self.bias = nn.Parameter(torch.randn(columns, dim) * 0.1)
        self.attention = nn.MultiheadAttention(dim, 3, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.unsqueeze(-1) * self.weight + self.bias
        tokens = tokens + self.attention(tokens, tokens, tokens)[0]
        return self.head(self.norm(tokens).mean(dim=1))


@network(lambda: readings(9))
class SoftTree(nn.Module):
    """A decision tree whose branches are sigmoids."""

    def __init__(self, features: int = 9, classes: int = 3) -> None:
        super().__init__()
        self.split = nn.Linear(features, 7)
        self.leaf = nn.Parameter(torch.randn(8, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        right = torch.sigmoid(self.split(x))
        reach = [torch.ones_like(right[:, :1])]
        node = 0
        for _ in range(3):
            following = []
            for p in reach:
                gate = right[:, node : node + 1]
                following += [p * (1 - gate), p * gate]
                node += 1
            reach = following
        return torch.softmax(torch.cat(reach, dim=1) @ self.leaf, dim=1)


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


@network(lambda: readings(10))
class MixtureOfExperts(nn.Module):
    """Four experts, weighed by a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(10, 4)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(10, 12), nn.Mish(), nn.Linear(12, 3)) for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = torch.softmax(self.gate(x), dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return torch.einsum("be,beo->bo", gate, outputs)
