# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers of every kind, in both directions, with all steps read and with the last one, and with
weights of 8 and of 4 bits."""

import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 8, batch_first=True)
        self.gru = nn.GRU(8, 8, batch_first=True, bidirectional=True)
        self.rnn = nn.RNN(16, 4, batch_first=True)
        self.out = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.lstm(x)
        x, _ = self.gru(x)
        x, _ = self.rnn(x)
        y: torch.Tensor = self.out(x[:, -1])
        return y


torch.manual_seed(0)
ModelUnderTest = Recurrent().eval()
CalibrationInputs = [(torch.randn(1, 5, 6),) for _ in range(8)]
Quantization = {"gru": "a8w4", "rnn": "a16w4"}
ModelInputs = CalibrationInputs[0]
