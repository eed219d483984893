# SPDX-License-Identifier: Apache-2.0
"""Operators as functions of tensors, for decompose.py.

A formula has its operator's arguments by their names in PyTorch's schema and gives the same values
up to rounding, as PyTorch's documentation defines them; None declines. Sums and means are written
over one flattened dimension: each has a scale of its own there when the model is quantized.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from . import adaptive, algebra, movement, places, volumes

Formula = Callable[..., Any]
Tensor = torch.Tensor
_aten: Any = torch.ops.aten

_MOST_FACTORS = 64  # of a product; each rounding of its halves is one more


def _dims(x: Tensor, dim: Any) -> list[int]:
    """Dimensions as they may be given, sorted; all where none is given."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(x.dim()))
    given = [dim] if isinstance(dim, int) else list(dim)
    return sorted({d % x.dim() for d in given})


def _over(x: Tensor, dim: Any, keepdim: bool, function: Callable[[Tensor], Tensor]) -> Tensor:
    """`function`, which reduces the last dimension, over the dimensions `dim` of x together."""
    dims = _dims(x, dim)
    kept = [d for d in range(x.dim()) if d not in dims]
    order = kept + dims
    moved = x if order == list(range(x.dim())) else x.permute(order)
    rows = [x.shape[d] for d in kept]
    result = function(moved.reshape([*rows, math.prod(x.shape[d] for d in dims)]))
    if keepdim:
        return result.reshape([1 if d in dims else x.shape[d] for d in range(x.dim())])
    return result.reshape(rows)


def _sum(x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    return _over(x, dim, keepdim, lambda rows: rows.sum([-1]))


def _mean(x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    return _over(x, dim, keepdim, lambda rows: rows.mean([-1]))


def _count(x: Tensor, dim: Any) -> int:
    return math.prod(x.shape[d] for d in _dims(x, dim))


# -- variance -------------------------------------------------------------------------------------


def _moments(x: Tensor, dim: Any, correction: float, keepdim: bool) -> tuple[Tensor, Tensor] | None:
    """Variance, the sum of squared deviations over count - correction, and mean."""
    count = _count(x, dim)
    if count <= correction:
        return None
    mean = _mean(x, dim, True)
    deviation = x - mean
    variance = _mean(deviation * deviation, dim, keepdim)
    if correction:
        variance = variance * (count / (count - correction))
    return variance, mean if keepdim else mean.reshape(variance.shape)


def _spread(root: bool, both: bool) -> Formula:
    """var, std, var_mean and std_mean in their overloads."""

    def formula(
        self: Tensor,
        dim: Any = None,
        unbiased: bool = True,
        keepdim: bool = False,
        correction: float | None = None,
    ) -> Any:
        divisor = float(unbiased) if correction is None else float(correction)
        found = _moments(self, dim, divisor, keepdim)
        if found is None:
            return None
        spread = torch.sqrt(found[0]) if root else found[0]
        return (spread, found[1]) if both else spread

    return formula


# -- normalization --------------------------------------------------------------------------------


def _group_norm(x: Tensor, weight: Any, bias: Any, eps: float) -> Tensor:
    """One group a channel."""
    result: Tensor = _aten.group_norm.default(x, x.shape[1], weight, bias, eps, False)
    return result


def _instance_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:  # fmt: skip
    if use_input_stats:
        return _group_norm(input, weight, bias, eps)
    result: Tensor = _aten.batch_norm.default(
        input, weight, bias, running_mean, running_var, False, momentum, eps, False
    )
    return result


def _batch_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any,
    training: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor | None:  # fmt: skip
    """With the statistics of the batch, and of volumes."""
    if input.dim() == 5 and not training:
        given = weight, bias, running_mean, running_var
        return volumes.batch_norm(input, *given, training, momentum, eps, cudnn_enabled)
    if not training or running_mean is not None:
        return None
    if input.shape[0] == 1:
        return _group_norm(input, weight, bias, eps)
    found = _moments(input, [d for d in range(input.dim()) if d != 1], 0, True)
    if found is None:
        return None
    result = (input - found[1]) * torch.rsqrt(found[0] + eps)
    shape = [1, -1, *[1] * (input.dim() - 2)]
    if weight is not None:
        result = result * weight.reshape(shape)
    return result if bias is None else result + bias.reshape(shape)


# -- norms and distances --------------------------------------------------------------------------


def _norm(x: Tensor, order: float, dim: Any, keepdim: bool) -> Tensor | None:
    if order == 2:
        return torch.sqrt(_sum(x * x, dim, keepdim))
    if order == 1:
        return _sum(torch.abs(x), dim, keepdim)
    if order == math.inf:
        return torch.amax(torch.abs(x), _dims(x, dim), keepdim)
    if order > 0:
        return torch.pow(_sum(torch.pow(torch.abs(x), order), dim, keepdim), 1 / order)
    return None


def _vector_norm(self: Tensor, ord: float, dim: Any, keepdim: bool, dtype: Any) -> Tensor | None:
    return None if dtype not in (None, torch.float32) else _norm(self, ord, dim, keepdim)


def _linalg_norm(self: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor | None:
    vector = self.dim() == 1 or (dim is not None and len(dim) == 1)
    if dtype not in (None, torch.float32) or (ord is not None and not vector):
        return None
    return _norm(self, 2.0 if ord is None else float(ord), dim, keepdim)


def _any_norm(self: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Tensor | None:
    return _norm(self, 2.0 if p is None else float(p), dim, keepdim)


def _cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Tensor:
    shape = (x1 * x2).shape
    left, right = x1.expand(shape), x2.expand(shape)
    lengths = [torch.sqrt(_sum(x * x, dim, False)).clamp_min(eps) for x in (left, right)]
    return _sum(left * right, dim, False) / (lengths[0] * lengths[1])


def _cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: Any) -> Tensor | None:
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1, False)


def _pairwise_distance(
    x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool
) -> Tensor | None:
    return _norm(x1 - x2 + eps, p, -1, keepdim)


def _distance(self: Tensor, other: Tensor, p: float) -> Tensor | None:
    return _norm(self - other, float(p), None, False)


# -- losses, and others ---------------------------------------------------------------------------


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    """PyTorch's numbers: 0 none, 1 mean, 2 sum."""
    if reduction == 0:
        return loss
    return _mean(loss, None, False) if reduction == 1 else _sum(loss, None, False)


def _mse_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    difference = self - target
    return _reduced(difference * difference, reduction)


def _l1_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    return _reduced(torch.abs(self - target), reduction)


def _huber(difference: Tensor, width: float) -> Tensor:
    """Half the square up to `width`, and the tangents there beyond."""
    size = torch.abs(difference)
    inner = torch.clamp(size, max=width)
    return inner * (size - 0.5 * inner)


def _smooth_l1_loss(self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    if beta == 0:
        return _l1_loss(self, target, reduction)
    return _reduced(_huber(self - target, beta) * (1 / beta), reduction)


def _huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    return _reduced(_huber(self - target, delta), reduction)


def _lerp(self: Tensor, end: Tensor, weight: float | Tensor) -> Tensor:
    return self + (end - self) * weight


def _addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: float) -> Tensor:
    return self + tensor1 * tensor2 * value


def _addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: float) -> Tensor:
    return self + tensor1 / tensor2 * value


def _rrelu(self: Tensor, lower: float, upper: float, training: bool, generator: Any) -> Any:
    """The mean of its slopes."""
    return None if training else torch.nn.functional.leaky_relu(self, (lower + upper) / 2)


def _difference(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Each element less the one before it, `n` times."""
    parts = [x for x in (prepend, self, append) if x is not None]
    result = self if len(parts) == 1 else torch.cat(parts, dim)
    for _ in range(n):
        count = result.shape[dim] - 1
        result = result.narrow(dim, 1, count) - result.narrow(dim, 0, count)
    return result


def _heaviside(self: Tensor, values: Tensor) -> Tensor:
    return torch.where(self > 0, 1.0, torch.where(self < 0, 0.0, values))


def _larger(self: Tensor, other: Tensor) -> Tensor:
    return torch.maximum(self, other)


def _smaller(self: Tensor, other: Tensor) -> Tensor:
    return torch.minimum(self, other)


def _largest(self: Tensor) -> Tensor:
    return torch.amax(self, list(range(self.dim())))


def _range(self: Tensor, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    dims = _dims(self, dim)
    return torch.amin(self, dims, keepdim), torch.amax(self, dims, keepdim)


def _smallest(self: Tensor) -> Tensor:
    return torch.amin(self, list(range(self.dim())))


def _largest_along(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    return torch.amax(self, [dim], keepdim), torch.argmax(self, dim, keepdim)


def _smallest_along(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    return torch.amin(self, [dim], keepdim), torch.argmin(self, dim, keepdim)


def _log_sum_exp(self: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Of what is left below the largest, whose exponentials are codes of one scale."""
    dims = _dims(self, dim)
    largest = torch.amax(self, dims, True)
    total = _sum(torch.exp(self - largest), dims, keepdim)
    return torch.log(total) + (largest if keepdim else largest.reshape(total.shape))


def _log_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor | None:
    """Each element less what all of its row have in common. The largest one's result is the logarithm of the
    largest share, which has the finest codes of its row."""
    if dtype not in (None, torch.float32) or self.dim() == 0:
        return None
    share = torch.amax(torch.softmax(self, dim), [dim], True)
    return self + (torch.log(share) - torch.amax(self, [dim], True))


def _log_add_exp(self: Tensor, other: Tensor) -> Tensor:
    below = torch.nn.functional.softplus(-torch.abs(self - other))
    return torch.maximum(self, other) + below


def _hypotenuse(self: Tensor, other: Tensor) -> Tensor:
    return torch.sqrt(self * self + other * other)


def _is_close(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    """No code is an infinity or no number."""
    return torch.abs(self - other) <= torch.abs(other) * rtol + atol


def _product(self: Tensor, dim: int | None = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Halves are multiplied until one element is left."""
    if dtype not in (None, self.dtype) or self.dim() == 0:
        return None
    rows = self.flatten() if dim is None else self.movedim(dim, -1)
    if not 1 <= rows.shape[-1] <= _MOST_FACTORS:
        return None
    while rows.shape[-1] > 1:
        half, odd = divmod(rows.shape[-1], 2)
        last = [rows[..., 2 * half :]] if odd else []
        rows = torch.cat([rows[..., :half] * rows[..., half : 2 * half], *last], -1)
    return rows.movedim(-1, dim) if keepdim and dim is not None else rows.squeeze(-1)


def _one_hot(self: Tensor, num_classes: int = -1) -> Any:
    """Without their number, classes depend on the values."""
    if num_classes < 1:
        return None
    return (self.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


FORMULAS: dict[Any, Formula] = {
    _aten.var.default: _spread(False, False),
    _aten.var.dim: _spread(False, False),
    _aten.var.correction: _spread(False, False),
    _aten.std.default: _spread(True, False),
    _aten.std.dim: _spread(True, False),
    _aten.std.correction: _spread(True, False),
    _aten.var_mean.default: _spread(False, True),
    _aten.var_mean.dim: _spread(False, True),
    _aten.var_mean.correction: _spread(False, True),
    _aten.std_mean.default: _spread(True, True),
    _aten.std_mean.dim: _spread(True, True),
    _aten.std_mean.correction: _spread(True, True),
    _aten.instance_norm.default: _instance_norm,
    _aten.batch_norm.default: _batch_norm,
    _aten.linalg_vector_norm.default: _vector_norm,
    _aten.linalg_norm.default: _linalg_norm,
    _aten.norm.Scalar: _any_norm,
    _aten.norm.ScalarOpt_dim: _any_norm,
    _aten.frobenius_norm.dim: _any_norm,
    _aten.cosine_similarity.default: _cosine_similarity,
    _aten.cdist.default: _cdist,
    _aten.dist.default: _distance,
    _aten.pairwise_distance.default: _pairwise_distance,
    _aten.mse_loss.default: _mse_loss,
    _aten.l1_loss.default: _l1_loss,
    _aten.smooth_l1_loss.default: _smooth_l1_loss,
    _aten.huber_loss.default: _huber_loss,
    _aten.isclose.default: _is_close,
    _aten.lerp.Scalar: _lerp,
    _aten.lerp.Tensor: _lerp,
    _aten.addcmul.default: _addcmul,
    _aten.addcdiv.default: _addcdiv,
    _aten.rrelu.default: _rrelu,
    _aten.diff.default: _difference,
    _aten.prod.default: _product,
    _aten.prod.dim_int: _product,
    _aten.one_hot.default: _one_hot,
    _aten.max.default: _largest,
    _aten.min.default: _smallest,
    _aten.aminmax.default: _range,
    _aten.max.dim: _largest_along,
    _aten.min.dim: _smallest_along,
    _aten.fmax.default: _larger,
    _aten.fmin.default: _smaller,
    _aten.heaviside.default: _heaviside,
    _aten.logsumexp.default: _log_sum_exp,
    _aten.logaddexp.default: _log_add_exp,
    _aten.hypot.default: _hypotenuse,
    **algebra.FORMULAS,
    **movement.FORMULAS,
    **adaptive.FORMULAS,
    **places.FORMULAS,
    **volumes.FORMULAS,
}

TYPES: dict[Any, set[torch.dtype]] = {
    _aten.one_hot.default: {torch.int64},
    places.UNPOOL: {torch.float32, torch.int64},
}
"""Of the operands of some. Those of all others are of float32."""

DIVIDED = algebra.DIVIDED

FLOAT_FORMULAS = movement.FLOAT_FORMULAS

CODED_FORMULAS: dict[Any, Formula] = {_aten.log_softmax.int: _log_softmax}
"""Those of operators that have a kernel for floats and none for codes."""
