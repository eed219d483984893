# SPDX-License-Identifier: Apache-2.0
"""Words, characters, intents."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import tokens


@network(
    lambda: tokens(200, 12),
    refused="there is no kernel for torch.nn.EmbeddingBag (aten::_embedding_bag_forward_only)",
)
class BagOfWords(nn.Module):
    """An embedding bag and a linear layer."""

    def __init__(self, vocabulary: int = 200, dim: int = 16, classes: int = 4) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, dim, mode="mean")
        self.fc = nn.Linear(dim, classes)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.fc(self.embedding(text))


@network(lambda: tokens(40, 32))
class CharCnn(nn.Module):
    """Characters: filters of three widths, the best of each."""

    def __init__(self, characters: int = 40, dim: int = 12, classes: int = 3) -> None:
        super().__init__()
        self.embed = nn.Embedding(characters, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, 8, k) for k in (2, 3, 4))
        self.fc = nn.Linear(24, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x).transpose(1, 2)
        x = torch.cat([F.relu(conv(x)).max(dim=2)[0] for conv in self.convs], dim=1)
        return self.fc(F.dropout(x, 0.5, self.training))


@network(lambda: tokens(40, 24))
class OneHotLanguage(nn.Module):
    """Which language: one-hot characters, strided convolutions."""

    def __init__(self, characters: int = 40, classes: int = 6) -> None:
        super().__init__()
        self.characters = characters
        self.conv1 = nn.Conv1d(characters, 16, 3, stride=2)
        self.conv2 = nn.Conv1d(16, 16, 3, stride=2)
        self.fc = nn.Linear(16, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.one_hot(x, self.characters).float().transpose(1, 2)
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.fc(x.mean(dim=2))


@network(lambda: tokens(100, 10))
class TextTransformer(nn.Module):
    """Tokens with positions, a padding mask, one encoder layer with norm first."""

    def __init__(self, vocabulary: int = 100, dim: int = 16, classes: int = 4) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.positions = nn.Embedding(10, dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.ff = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, dim))
        self.head = nn.Linear(dim, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = (x == 0).unsqueeze(1)
        h = self.embed(x) * 4.0 + self.positions(torch.arange(x.shape[1]))
        y = self.norm1(h)
        scores = self.q(y) @ self.k(y).transpose(1, 2) / 4.0
        scores = scores.masked_fill(mask, -1e4)
        h = h + torch.softmax(scores, dim=-1) @ self.v(y)
        h = h + self.ff(self.norm2(h))
        return self.head(h.mean(dim=1))


@network(lambda: tokens(60, 8))
class NextCharacter(nn.Module):
    """A causal language model: scaled attention, weights tied with the embedding."""

    def __init__(self, vocabulary: int = 60, dim: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.norm = nn.RMSNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.embed(x)
        q, k, v = self.qkv(self.norm(h)).split(16, dim=-1)
        h = h + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return h[:, -1] @ self.embed.weight.t()
