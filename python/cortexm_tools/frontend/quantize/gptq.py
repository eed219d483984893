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

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

DAMPING = 0.01
"""The share of the mean of H's diagonal that is added to the diagonal, as in the paper."""

SHRUNK = (1.0, 0.93, 0.86, 0.8, 0.73, 0.66, 0.6, 0.5)
"""The factors of a scale that are tried for codes of less than 8 bits."""

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

    def of(self, inputs: slice) -> Moments:
        """Those of some of the inputs."""
        return Moments(self.square[:, inputs, inputs], self.total[:, inputs], self.count)

    def scaled(self, factors: torch.Tensor) -> Moments:
        """Those of x times `factors`, [N]."""
        outer = factors[:, None] * factors
        return Moments(self.square * outer, self.total * factors, self.count)

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


@dataclass
class Chosen:
    """Codes for the weights [G, O, N] of a layer, and what rounding adds to its results.

    Attributes:
        codes: [G, O, N].
        shrunk: the factors of the steps that they are for, [G, O, 1].
        shift: by how much the biases move, [G, O].
        signal: the squares of the results.
        nearest: the noise of the nearest codes.
        noise: that of these.
        fits: whether it is no more than that of the nearest ones on what they were chosen by.
    """

    codes: torch.Tensor
    shrunk: torch.Tensor
    shift: torch.Tensor
    signal: float
    nearest: float
    noise: float
    fits: bool

    @property
    def is_better(self) -> bool:
        return self.fits and self.noise < self.nearest


def choose_codes(
    weight: torch.Tensor,
    step: torch.Tensor,
    limit: int,
    chosen_by: Moments,
    judged_by: Moments,
    *,
    has_bias: bool,
    each: bool = True,
) -> Chosen:
    """Codes in [-limit, limit] for `weight`, [G, O, N], with steps [G, O, 1].

    Args:
        chosen_by: the inputs for which they are chosen, in units that make products results.
        judged_by: those for which the noise is measured.
        has_bias: whether a bias takes the mean of the error.
        each: whether every output has a scale of its own, which may shrink.
    """
    mean = chosen_by.mean if has_bias else torch.zeros_like(chosen_by.mean)
    hessian = chosen_by.about(mean)
    factors = SHRUNK if limit < 127 else (1.0,)
    codes, shrunk = _best(weight, step, hessian, limit, factors, each)
    wrong = codes * (step * shrunk) - weight
    plainly_wrong = nearest(weight, step, limit) * step - weight
    fitted = float(squared_error(wrong, hessian).sum())
    return Chosen(
        codes=codes,
        shrunk=shrunk,
        shift=-(wrong @ mean[:, :, None])[:, :, 0],
        signal=float(squared_error(weight, judged_by.square).sum()),
        nearest=float(squared_error(plainly_wrong, judged_by.square).sum()),
        noise=float(squared_error(wrong, judged_by.about(mean)).sum()),
        fits=fitted <= float(squared_error(plainly_wrong, chosen_by.square).sum()),
    )


def _best(
    weight: torch.Tensor,
    step: torch.Tensor,
    hessian: torch.Tensor,
    limit: int,
    factors: Sequence[float],
    each: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The codes with the least error, and the factor of the scale that they are for, [G, O, 1].

    Args:
        each: whether every output has a scale of its own.
    """
    best = torch.full(weight.shape[:2], math.inf, dtype=weight.dtype)
    codes, shrunk = torch.zeros_like(weight), torch.ones_like(step)
    for factor in factors:
        found = round_weights(weight, factor * step, hessian, limit)
        error = squared_error(found * (factor * step) - weight, hessian)
        error = error if each else error.sum().expand_as(error)
        better = error < best
        best = torch.where(better, error, best)
        codes = torch.where(better[:, :, None], found, codes)
        shrunk[better] = factor
    return codes, shrunk


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
