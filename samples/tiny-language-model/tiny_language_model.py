# SPDX-License-Identifier: Apache-2.0
"""A decoder of characters, one token a call: what `cortexm_add_model` takes.

A call takes a character and its position, and gives the scores of all characters that may follow. What
the layers have seen so far is the model's state: keys and values of 128 positions, written in place
where the position says. train.py makes the weights in tiny_language_model.safetensors.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

HERE = Path(__file__).parent
WEIGHTS = HERE / "tiny_language_model.safetensors"
TEXT = HERE / "calibration.txt"  # held-out text, for the ranges and for the quality

CHARACTERS = "\n" + "".join(chr(code) for code in range(32, 127))
CONTEXT = 128  # positions
WIDTH, HEADS, LAYERS, HIDDEN = 96, 3, 4, 128
SIZE = WIDTH // HEADS  # of a head


def encode(text: str) -> torch.Tensor:
    """The numbers of characters; those that are none of ours become spaces."""
    return torch.tensor([max(CHARACTERS.find(each), 0 if each == "\n" else 1) for each in text])


def rotations() -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines, and sines with the sign of the other half, [position, size of a head]."""
    frequencies = 10000.0 ** (-torch.arange(0, SIZE, 2) / SIZE)
    angles = torch.arange(CONTEXT)[:, None] * frequencies
    sines = torch.cat((-angles.sin(), angles.sin()), 1)
    return torch.cat((angles.cos(), angles.cos()), 1), sines


class Layer(nn.Module):
    """Attention over what came before, and a gated layer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.query_key = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, 2 * HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
        # Values lie as the product with the scores reads them: all positions of a channel.
        self.register_buffer("keys", torch.zeros(1, HEADS, CONTEXT, SIZE), persistent=False)
        self.register_buffer("values", torch.zeros(1, HEADS, SIZE, CONTEXT), persistent=False)

    def gated(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self.gate(self.norm2(x)).chunk(2, -1)
        return self.down(F.silu(gate) * up)

    def forward(self, x, at, unseen, cos, sin):
        """One token: x [1, width], its position [1], what is not written yet [context], and its rotation."""
        y = self.norm1(x)
        qk = self.query_key(y).view(1, 2 * HEADS, 1, SIZE)
        qk = qk * cos + qk.roll(SIZE // 2, -1) * sin
        q, k = qk.chunk(2, 1)
        self.keys.index_copy_(2, at, k)
        self.values.index_copy_(3, at, self.value(y).view(1, HEADS, SIZE, 1))
        scores = q @ self.keys.transpose(2, 3) * SIZE**-0.5
        scores = scores.masked_fill(unseen, float("-inf"))
        heads = torch.softmax(scores, -1) @ self.values.transpose(2, 3)
        x = x + self.out(heads.view(1, WIDTH))
        return x + self.gated(x)

    def whole(self, x, cos, sin):
        """A text, as it is trained: x [n, positions, width]."""
        n, t, _ = x.shape
        y = self.norm1(x)
        qk = self.query_key(y).view(n, t, 2 * HEADS, SIZE).transpose(1, 2)
        qk = qk * cos + qk.roll(SIZE // 2, -1) * sin
        q, k = qk.chunk(2, 1)
        v = self.value(y).view(n, t, HEADS, SIZE).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, WIDTH))
        return x + self.gated(x)


class LanguageModel(nn.Module):
    """token [1], position [1] -> the scores of what follows, [1, 96]."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(CHARACTERS), WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH)
        cos, sin = rotations()
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.register_buffer("positions", torch.arange(CONTEXT), persistent=False)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        x = self.embed(token)
        unseen = self.positions > position
        cos, sin = self.cos[position], self.sin[position]
        for layer in self.layers:
            x = layer(x, position, unseen, cos, sin)
        return F.linear(self.norm(x), self.embed.weight)

    def whole(self, text: torch.Tensor) -> torch.Tensor:
        """The scores after each character of texts [n, positions], all at once, for training."""
        x, t = self.embed(text), text.shape[1]
        for layer in self.layers:
            x = layer.whole(x, self.cos[:t], self.sin[:t])
        return F.linear(self.norm(x), self.embed.weight)


def read_weights() -> dict[str, torch.Tensor]:
    """The weights; matrices are stored as codes of 8 bits, with a scale for each row."""
    stored = load_file(WEIGHTS)
    return {
        name: value * stored[f"{name}.scale"] if value.dtype == torch.int8 else value
        for name, value in stored.items()
        if not name.endswith(".scale")
    }


def ModelUnderTest() -> nn.Module:
    model = LanguageModel()
    model.load_state_dict(read_weights())
    return model.eval()


ModelInputs = (torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))


def CalibrationInputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Texts of 128 characters, one behind the other: positions begin again with each."""
    text = encode(TEXT.read_text("ascii"))
    return [(text[at : at + 1], torch.tensor([at % CONTEXT])) for at in range(len(text))]
