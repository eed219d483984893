# SPDX-License-Identifier: Apache-2.0
"""Autoencoders and decoders."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import low_resolution


@network(lambda: low_resolution(1, 28, 28))
class ConvAutoencoder(nn.Module):
    """Strided convolutions down, transposed ones up."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 12, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(12, 16, 7),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(16, 12, 7),
            nn.ReLU(),
            nn.ConvTranspose2d(12, 8, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(x))


@network(lambda: torch.randn(1, 8))
class VaeDecoder(nn.Module):
    """An image from a latent vector."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 16 * 4 * 4)
        self.net = nn.Sequential(
            nn.ConvTranspose2d(16, 12, 4, 2, 1, bias=False),
            nn.BatchNorm2d(12),
            nn.ReLU(True),
            nn.ConvTranspose2d(12, 8, 4, 2, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(True),
            nn.Conv2d(8, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.net(self.fc(z).view(-1, 16, 4, 4))


@network(lambda: low_resolution(1, 16, 16))
class VaeScore(nn.Module):
    """How unlikely an image is: reconstruction error and divergence from the prior."""

    def __init__(self, latent: int = 4) -> None:
        super().__init__()
        self.enc = nn.Linear(256, 32)
        self.mu = nn.Linear(32, latent)
        self.logvar = nn.Linear(32, latent)
        self.dec1 = nn.Linear(latent, 32)
        self.dec2 = nn.Linear(32, 256)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        flat = x.view(-1, 256)
        h = F.relu(self.enc(flat))
        mu, logvar = self.mu(h), self.logvar(h)
        y = torch.sigmoid(self.dec2(F.relu(self.dec1(mu))))
        divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
        return F.mse_loss(y, flat, reduction="none").mean(dim=1), divergence
