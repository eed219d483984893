# SPDX-License-Identifier: Apache-2.0
"""Rounding a layer's weights so that their errors cancel on the layer's inputs.

GPTQ (Frantar, Ashkboos, Hoefler and Alistarh 2022, arXiv 2210.17323) rounds the weights of an output
one after the other, and after each moves those that are not yet rounded to where they make up best
for its error. With inputs x as the columns of X, an output whose weights are wrong by the row d has
the squared error d H d^T, H = X X^T, summed over the inputs. For an error e of weight i the best move
of the weights j > i is

    -e U[i, j] / U[i, i]    with the upper Cholesky factor U of H^-1 = U^T U,

as row i of U is, up to a factor, that of the inverse of H restricted to the weights from i on.

Where a bias can take the mean of the error, what remains is its variance: H is then the covariance
sum x x^T - n m m^T of the n inputs of mean m, and the bias moves by -d m.

Shapes: groups G, outputs of a group O, inputs of an output N. All tensors are float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

DAMPING = 0.01
"""The share of the mean of H's diagonal that is added to the diagonal, as in the paper."""

_BLOCK = 64  # columns whose errors are carried at once to all that follow: for speed alone


@dataclass
class Moments:
    """Sums over a layer's inputs, in steps of their quantization.

    Attributes:
        square: sum of x x^T, [G, N, N].
        total: sum of x, [G, N].
        count: how many.
    """

    square: torch.Tensor
    total: torch.Tensor
    count: int = 0

    @staticmethod
    def none(groups: int, size: int) -> Moments:
        """Those of no inputs."""
        return Moments(
            torch.zeros(groups, size, size, dtype=torch.float64),
            torch.zeros(groups, size, dtype=torch.float64),
        )

    def add(self, columns: torch.Tensor) -> None:
        """Count `columns`, [G, N, P].

        Of whole numbers below 2^15 the sums are exact, whatever their order: they stay below 2^53.
        """
        columns = columns.double()
        self.square += columns @ columns.mT
        self.total += columns.sum(-1)
        self.count += columns.shape[-1]

    @property
    def mean(self) -> torch.Tensor:
        """The mean of x, [G, N]."""
        return self.total / max(self.count, 1)

    def about(self, point: torch.Tensor) -> torch.Tensor:
        """The sum of (x - p)(x - p)^T for p = `point`, [G, N]."""
        cross = self.total[:, :, None] * point[:, None, :]
        outer = point[:, :, None] * point[:, None, :]
        return self.square - cross - cross.mT + self.count * outer


def nearest(weight: torch.Tensor, step: torch.Tensor, limit: int) -> torch.Tensor:
    """The codes in [-limit, limit] next to ``weight / step``; halves to even."""
    return torch.clamp(torch.round(weight / step), -limit, limit)


def squared_error(wrong: torch.Tensor, hessian: torch.Tensor) -> torch.Tensor:
    """d H d^T of every output, [G, O]: at least 0, for weights `wrong` by d, [G, O, N]."""
    return torch.clamp(((wrong @ hessian) * wrong).sum(-1), min=0.0)


def round_weights(
    weight: torch.Tensor, step: torch.Tensor, hessian: torch.Tensor, limit: int
) -> torch.Tensor:
    """Codes in [-limit, limit] for `weight`, [G, O, N], with steps [G, O, 1] and H, [G, N, N].

    The weights of the inputs with the most energy come first, when the most others can still make up
    for them. Inputs that never are anything but zero leave their weights at the nearest codes.
    """
    outputs, size = weight.shape[1:]
    energy = torch.diagonal(hessian, dim1=1, dim2=2)
    order = torch.argsort(energy, dim=1, descending=True, stable=True)
    across = order[:, None, :]
    hessian = hessian.gather(1, order[:, :, None].expand_as(hessian))
    hessian = hessian.gather(2, across.expand_as(hessian))
    upper = _factor(hessian)
    across = across.expand(-1, outputs, -1)
    rest = weight.gather(2, across)
    codes = torch.empty_like(rest)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        errors = torch.empty_like(rest[:, :, start:end])
        for i in range(start, end):
            column = rest[:, :, i : i + 1]
            code = nearest(column, step, limit)
            error = (column - code * step) / upper[:, i : i + 1, i : i + 1]
            rest[:, :, i + 1 : end] -= error * upper[:, i : i + 1, i + 1 : end]
            codes[:, :, i : i + 1], errors[:, :, i - start : i - start + 1] = code, error
        rest[:, :, end:] -= errors @ upper[:, start:end, end:]
    return torch.empty_like(codes).scatter_(2, across, codes)


def _factor(hessian: torch.Tensor) -> torch.Tensor:
    """U of the damped `hessian`, [G, N, N]."""
    mean = torch.diagonal(hessian, dim1=1, dim2=2).mean(1)
    added = torch.where(mean > 0, DAMPING * mean, torch.ones_like(mean))
    damped = hessian + added[:, None, None] * torch.eye(hessian.shape[1], dtype=hessian.dtype)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped))
    upper: torch.Tensor = torch.linalg.cholesky(inverse, upper=True)
    return upper
