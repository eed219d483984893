# SPDX-License-Identifier: Apache-2.0
"""Writes the programs here, quantized by pairs around PyTorch's operators: python -m tests.data.pairs.make"""

from __future__ import annotations

from pathlib import Path

import executorch.kernels.quantized  # noqa: F401  (registers the operators of pairs)
import torch
from executorch.exir import to_edge
from torch import nn
from torch.nn import functional as F  # noqa: N812

HERE = Path(__file__).parent
PRECISIONS = {"a8w8": (8, 8), "a16w8": (16, 8), "a16w4": (16, 4)}

decomposed = torch.ops.quantized_decomposed


class Pairs(nn.Module):
    """A network with a pair around every operator; the first call finds the scales."""

    def __init__(self, activations: int, weights: int) -> None:
        super().__init__()
        self.activations, self.bits = activations, weights
        self.scales: list[tuple[float, int]] = []
        self.position = 0
        self.finding = True
        for name, shape in {
            "stem": (8, 2, 3, 3), "depthwise": (8, 1, 3, 3), "up": (8, 4, 2, 2), "classes": (5, 12)
        }.items():  # fmt: skip
            axis = 1 if name == "up" else 0
            limit = 2 ** (weights - 1)
            codes = torch.randint(-limit, limit, shape, dtype=torch.int8)
            self.register_buffer(f"{name}_codes", codes)
            self.register_buffer(f"{name}_scales", (torch.rand(shape[axis]) + 0.5) / limit)
            self.register_buffer(f"{name}_zeros", torch.zeros(shape[axis], dtype=torch.int64))
            self.register_buffer(f"{name}_bias", torch.randn(shape[axis]) / 4)

    def pair(self, x: torch.Tensor, same: bool = False) -> torch.Tensor:
        """Quantized and dequantized; `same`: with the scale of the pair before."""
        low, high = -(2 ** (self.activations - 1)), 2 ** (self.activations - 1) - 1
        if self.finding:
            least, most = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
            found = ((most - least) / 250, round(-128 - least / ((most - least) / 250)))
            if self.activations == 16:
                found = (max(most, -least) / 32000, 0)
            self.scales.append(self.scales[-1] if same else found)
        else:
            self.position += 1
        scale, zero = self.scales[-1 if self.finding else self.position - 1]
        dtype = torch.int16 if self.activations == 16 else torch.int8
        codes = decomposed.quantize_per_tensor(x, scale, zero, low, high, dtype)
        return decomposed.dequantize_per_tensor(codes, scale, zero, low, high, dtype)

    def weights(self, name: str, axis: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        limit = 2 ** (self.bits - 1)
        codes, scales, zeros, bias = (
            getattr(self, f"{name}_{what}") for what in ("codes", "scales", "zeros", "bias")
        )
        values = decomposed.dequantize_per_channel(
            codes, scales, zeros, axis, -limit, limit - 1, torch.int8
        )
        return values, bias

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pair(x)
        x = self.pair(torch.relu(F.conv2d(x, *self.weights("stem"), stride=2, padding=1)))
        y = self.pair(F.conv2d(x, *self.weights("depthwise"), padding=1, groups=8))
        x = self.pair(torch.clamp(x + y, -1.0, 2.0))
        y = self.pair(torch.tanh(x))
        x = self.pair(x * y)
        x = self.pair(F.conv_transpose2d(x, *self.weights("up", 1), stride=2))
        x = self.pair(F.max_pool2d(x, 2), same=True)
        x = self.pair(torch.cat([x[:, :2], x[:, 2:], x], 1), same=True)
        image = self.pair(F.pad(x, (1, 0, 1, 0)), same=True)
        x = self.pair(F.avg_pool2d(image, 2), same=True)
        x = self.pair(x.mean((2, 3)))
        x = self.pair(torch.cat([x, x], 1)[:, :12], same=True)
        x = self.pair(F.linear(x, *self.weights("classes")))
        return self.pair(torch.softmax(x, -1)), image


def program(activations: int, weights: int) -> bytes:
    torch.manual_seed(4)
    model = Pairs(activations, weights).eval()
    example = torch.randn(1, 2, 12, 10)
    model(example)
    model.finding = False
    exported = torch.export.export(model, (example,), strict=True)
    return bytes(to_edge(exported).to_executorch().buffer)


def main() -> None:
    for name, bits in PRECISIONS.items():
        (HERE / f"{name}.pte").write_bytes(program(*bits))


if __name__ == "__main__":
    main()
