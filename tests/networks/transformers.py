# SPDX-License-Identifier: Apache-2.0
"""Transformers: encoders of patches of pictures and of motion, attention between convolutions."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import motion, picture


class Attention(nn.Module):
    """Written out, with one projection for queries, keys and values."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        x = (attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)


class Block(nn.Module):
    """Norms before the layers, as in a vision transformer."""

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@network(lambda: picture(3, 32, 32))
class VitTiny(nn.Module):
    """A vision transformer for small pictures: patches of 4, width 64, four layers."""

    def __init__(self, dim: int = 64, depth: int = 4, heads: int = 4) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 4, stride=4)
        self.pos_embed = nn.Parameter(torch.randn(1, 64, dim) * 0.2)
        self.blocks = nn.Sequential(*(Block(dim, heads, 2 * dim) for _ in range(depth)))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patch_embed(x).flatten(2).transpose(1, 2) + self.pos_embed
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


@network(lambda: motion(6, 64).transpose(1, 2))
class ImuEncoder(nn.Module):
    """PyTorch's encoder on windows of motion: 64 steps, width 64, four heads, two layers."""

    def __init__(self, dim: int = 64, classes: int = 6) -> None:
        super().__init__()
        self.embed = nn.Linear(6, dim)
        self.position = nn.Parameter(torch.randn(1, 64, dim) * 0.1)
        layer = nn.TransformerEncoderLayer(dim, 4, 128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(dim, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embed(x) + self.position).mean(dim=1))


class PatchAttention(nn.Module):
    """One layer of attention across the pixels of equal place in all patches of two by two."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        q, k, v = (
            layer(y).unflatten(-1, (self.heads, -1)).transpose(-3, -2)
            for layer in (self.q, self.k, self.v)
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(-3, -2).flatten(-2)
        x = x + self.out(y)
        return x + self.mlp(self.norm2(x))


@network(lambda: picture(8, 16, 16))
class MobileVitBlock(nn.Module):
    """Convolutions, attention across patches of 2 by 2, and both joined."""

    def __init__(self, channels: int = 32, dim: int = 48) -> None:
        super().__init__()
        self.local = nn.Sequential(
            nn.Conv2d(8, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.SiLU()
        )
        self.widen = nn.Conv2d(channels, dim, 1)
        self.layers = nn.Sequential(PatchAttention(dim, 4), PatchAttention(dim, 4))
        self.norm = nn.LayerNorm(dim)
        self.narrow = nn.Conv2d(dim, channels, 1)
        self.join = nn.Conv2d(2 * channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.local(x)
        y = self.widen(x)
        n, c, h, w = y.shape
        y = y.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 2, 4, 1)
        y = self.norm(self.layers(y.reshape(4 * n, h * w // 4, c)))
        y = y.reshape(n, 2, 2, h // 2, w // 2, c).permute(0, 5, 3, 1, 4, 2).reshape(n, c, h, w)
        return self.join(torch.cat((x, self.narrow(y)), dim=1))
