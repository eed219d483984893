# SPDX-License-Identifier: Apache-2.0
"""What to do instead of operators that no kernel computes.

One table, for the messages and for docs/operators.md. An operator has the name that a user writes
(``torch.sort``, ``torch.nn.Conv3d``) and the names that a program has for it and for what PyTorch
makes of it (``aten::_fft_r2c``).
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import CortexMError
from .ir.types import Layer
from .packages import PROVED


@dataclass(frozen=True)
class Advice:
    """Operators with the same way out.

    Attributes:
        calls: their names as users write them, in full.
        text: what to do instead.
        aten: the names of theirs in a program that are not the last parts of `calls`.
    """

    calls: tuple[str, ...]
    text: str
    aten: tuple[str, ...] = ()


def _names(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names.split())


_NN = "torch.nn"
_BEFORE = "compute it in the application and make the result an input of the model"
_BEHIND = "give what it works on as an output of the model and compute it in the application"

ADVICE: tuple[Advice, ...] = (
    Advice(
        _names("torch.fft", "rfft fft irfft ifft rfft2 fft2 irfft2 ifft2 rfftn fftn irfftn ifftn "
               "hfft ihfft"),
        "for powers or magnitudes, their bands, logarithms, roots and averages (PCEN) write them as "
        "docs/sound.md says, with a power of two from 64 to 2048 points; compute another spectrum in the "
        "application (CMSIS-DSP has arm_rfft_fast_f32) and make it an input of the model",
        ("_fft_r2c", "_fft_c2c", "_fft_c2r"),
    ),
    Advice(
        ("torch.stft", "torch.istft"),
        "for powers or magnitudes, their bands, logarithms, roots and averages (PCEN) write them as "
        "docs/sound.md says, with a power of two from 64 to 2048 points; else compute it in the "
        "application and make it an input of the model, or take a Conv1d whose kernels are the "
        "windowed cosines and sines and add the squares",
    ),
    Advice(
        ("torch.complex", "torch.polar", "torch.view_as_complex", "torch.view_as_real",
         "torch.real", "torch.imag", "torch.angle", "torch.conj"),
        "keep real and imaginary parts in two tensors and write their arithmetic out",
        ("_conj", "resolve_conj", "_conj_physical"),
    ),
    Advice(
        (*_names("torch.linalg", "svd svdvals eig eigh eigvals eigvalsh inv pinv solve det slogdet "
                 "qr lu lu_factor lu_solve lstsq cholesky cholesky_ex matrix_power matrix_exp "
                 "matrix_rank cond solve_triangular ldl_factor householder_product tensorinv "
                 "tensorsolve inv_ex solve_ex"),
         *_names("torch", "svd qr cholesky cholesky_solve lu logdet det slogdet inverse pinverse "
                 "matrix_exp triangular_solve")),
        "decompose or invert constant matrices while the model is built (in __init__, as a "
        "buffer), and others in the application",
        ("linalg_inv_ex", "linalg_cholesky_ex", "_linalg_svd", "_linalg_det", "_linalg_slogdet",
         "_linalg_eigh", "_linalg_solve_ex", "linalg_matrix_exp", "_cholesky_solve_helper",
         "linalg_lu_factor_ex"),
    ),
    Advice(
        ("torch.sort", "torch.argsort", "torch.msort", "torch.kthvalue", "torch.median",
         "torch.nanmedian", "torch.quantile", "torch.nanquantile", "torch.mode"),
        "for the largest or smallest take topk, amax, amin, max, min or argmax; otherwise " + _BEHIND,
        ("sort_values",),
    ),
    Advice(
        ("torch.unique", "torch.unique_consecutive", "torch.nonzero", "torch.argwhere",
         "torch.masked_select", "torch.bincount", "torch.combinations", "x[mask]"),
        "the shape of its result depends on the input's values, and every shape must be known at "
        "build time: keep all elements and choose with torch.where; make what is always the same, as the "
        "edge_index of a graph, a buffer (register_buffer); or " + _BEHIND,
        ("_unique2", "unique_dim", "nonzero_static", "_unique"),
    ),
    Advice(
        (f"{_NN}.Conv3d", f"{_NN}.ConvTranspose3d", f"{_NN}.MaxPool3d", f"{_NN}.AvgPool3d",
         f"{_NN}.AdaptiveAvgPool3d", f"{_NN}.AdaptiveMaxPool3d",
         f"{_NN}.MaxUnpool3d", f"{_NN}.LPPool3d", f"{_NN}.FractionalMaxPool3d",
         *_names(f"{_NN}.functional", "conv3d conv_transpose3d max_pool3d avg_pool3d "
                 "adaptive_avg_pool3d adaptive_max_pool3d max_unpool3d lp_pool3d")),
        "Conv3d, MaxPool3d and AvgPool3d take a batch of volumes, padded alike on both sides and without "
        "a divisor of their own, AdaptiveAvgPool3d whole windows; else fold one dimension into the "
        "channels or the batch and take the two-dimensional operator",
        ("max_pool3d_with_indices", "_adaptive_avg_pool3d"),
    ),
    Advice(
        (f"{_NN}.FractionalMaxPool2d", f"{_NN}.functional.fractional_max_pool2d"),
        "take MaxPool2d to shrink",
    ),
    Advice(
        (f"{_NN}.functional.interpolate", f"{_NN}.Upsample", f"{_NN}.functional.upsample"),
        "take mode='nearest', 'linear' or 'bilinear' on one or two dimensions",
        ("upsample_trilinear3d", "upsample_nearest3d", "upsample_bicubic2d", "upsample_linear1d",
         "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "_upsample_nearest_exact2d"),
    ),
    Advice(
        (f"{_NN}.EmbeddingBag", f"{_NN}.functional.embedding_bag"),
        "take Embedding, and the sum or mean of its result over the words",
        ("_embedding_bag", "_embedding_bag_forward_only"),
    ),
    Advice(
        ("torch.multinomial", "torch.bernoulli", "torch.rand", "torch.randn", "torch.randint",
         "torch.rand_like", "torch.randn_like", "torch.randint_like", "torch.randperm",
         "torch.normal", "torch.poisson", "torch.Tensor.exponential_", "torch.Tensor.uniform_",
         f"{_NN}.functional.gumbel_softmax"),
        "there is no chance on the device: make the random numbers an input of the model",
        ("normal_", "exponential", "uniform"),
    ),
    Advice(
        ("torch.searchsorted", "torch.bucketize", "torch.histc", "torch.histogram"),
        "compare with each boundary and add the results: (x[..., None] >= boundaries).sum(-1)",
    ),
    Advice(
        ("torch.segment_reduce", "torch.masked_scatter", "torch.take", "torch.put"),
        "with indices known while the model is built take index_select and a sum; otherwise "
        "index_put (x[i] = y)",
    ),
    Advice(
        ("torch.scatter", "torch.scatter_add", "torch.scatter_reduce", "torch.index_add",
         "torch.index_reduce", "torch.index_copy"),
        "make the index a buffer where it is always the same (edge_index of a graph), one index for all "
        "columns; otherwise write with an index: x[i] = y, or index_put(accumulate=True) to add",
        ("scatter_reduce_two", "scatter_reduce_two_out"),
    ),
    Advice(
        ("torch.cumprod", "torch.cummax", "torch.cummin", "torch.logcumsumexp"),
        "take cumsum of logarithms for products, and write out maxima of few steps",
    ),
    Advice(
        ("torch.prod",),
        "of more than 64 elements multiply slices of the tensor, or take exp(log(x).sum()) where all "
        "values are positive",
    ),
    Advice(
        (*_names("torch.special", "erfinv i0 i0e i1 i1e digamma gammaln zeta ndtri bessel_j0 "
                 "bessel_j1 gammainc gammaincc polygamma multigammaln xlogy log_ndtr"),
         "torch.lgamma", "torch.digamma", "torch.erfinv", "torch.i0", "torch.igamma",
         "torch.polygamma", "torch.xlogy"),
        "approximate it by operators that have kernels (exp, log, tanh, a polynomial), or "
        + _BEFORE,
    ),
    Advice(
        ("torch.einsum", "torch.tensordot", "torch.kron"),
        "write it with matmul, permute and sum",
    ),
    Advice(
        ("torch.diag", "torch.diag_embed", "torch.diagonal", "torch.trace", "torch.tril",
         "torch.triu", "torch.block_diag"),
        "multiply by a constant mask (a buffer of ones and zeros), then sum where one is needed",
        ("diagonal_copy", "diagonal_scatter"),
    ),
    Advice(
        (f"{_NN}.functional.fold", f"{_NN}.Fold"),
        "take ConvTranspose2d with a constant kernel of ones and zeros",
        ("col2im",),
    ),
    Advice(
        (f"{_NN}.functional.ctc_loss", f"{_NN}.CTCLoss", f"{_NN}.functional.cross_entropy",
         f"{_NN}.CrossEntropyLoss", f"{_NN}.functional.nll_loss"),
        "losses belong to training: leave them out of the deployed model",
        ("_ctc_loss", "nll_loss_forward", "nll_loss2d_forward"),
    ),
    Advice(
        (f"{_NN}.functional.pdist", "torch.cdist", f"{_NN}.PairwiseDistance"),
        "write the distance out: ((a[:, None] - b) ** 2).sum(-1).sqrt()",
        ("_cdist_forward", "_pdist_forward"),
    ),
    Advice(
        (f"{_NN}.functional.grid_sample", f"{_NN}.functional.affine_grid"),
        "take interpolate where the grid is regular, or " + _BEFORE,
        ("grid_sampler_2d", "grid_sampler_3d", "grid_sampler", "affine_grid_generator"),
    ),
    Advice(
        ("torch.bitwise_left_shift", "torch.bitwise_right_shift"),
        "multiply or divide by a power of two",
        ("__lshift__", "__rshift__", "lshift", "rshift"),
    ),
    Advice(
        ("torch.isin", "torch.isclose", "torch.allclose", "torch.count_nonzero", "torch.any",
         "torch.all", "torch.nan_to_num"),
        "write it with comparisons, sum and where",
    ),
    Advice(
        ("torch.renorm", "torch.corrcoef", "torch.cov", "torch.linalg.cross", "torch.cross"),
        "write it out with sums, products and square roots of slices",
        ("linalg_cross",),
    ),
    Advice(
        (f"{_NN}.functional.one_hot",),
        "say how many classes there are (num_classes), as every shape must be known at build time",
    ),
    Advice(
        ("torch.Tensor.item", "torch.Tensor.tolist"),
        "sizes and numbers of steps must be known at build time: compute all steps and choose behind "
        "them by the tensor itself (torch.index_select, torch.where), or " + _BEFORE,
        ("_local_scalar_dense",),
    ),
    Advice(
        _names(f"{_NN}.utils.rnn", "pack_padded_sequence pack_sequence pad_packed_sequence"),
        "the number of steps must be known at build time: give the layer all steps and take the "
        "outputs up to the length behind it, or make the model one step, with its states in "
        "buffers, and call it for every one",
        ("_pack_padded_sequence", "_pad_packed_sequence"),
    ),
    Advice(
        ("torchvision.ops.nms", "torchvision.ops.roi_align", "torchvision.ops.deform_conv2d"),
        _BEHIND,
        ("nms", "roi_align", "deform_conv2d"),
    ),
)  # fmt: skip

FALLBACK = (
    "write it with other operators (docs/operators.md), or compute this part in the application"
)


OTHER_VERSION = (
    "the program may come from another version of ExecuTorch (docs/pipeline.md lists what is read): "
    f"lower the model again with ExecuTorch {PROVED['executorch']}"
)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


_BY_CALL = {_last(call): advice for advice in ADVICE for call in advice.calls}
ADVISED = {_last(call): call for advice in ADVICE for call in advice.calls}
"""Full names by their last part, of all calls on which there is an advice."""

_BY_ATEN = {name: advice for advice in ADVICE for name in advice.aten}


def _plain(operator: str) -> str:
    """``sort`` of ``aten::sort.values`` and of ``aten.sort.default``."""
    return operator.replace("::", ".").partition(".")[2].partition(".")[0]


def _entry(operator: str) -> tuple[Advice, str] | None:
    """The advice on a program's operator, and what users call it."""
    name = _plain(operator)
    if name in _BY_ATEN:
        return _BY_ATEN[name], _BY_ATEN[name].calls[0]
    for short in (name, name.rpartition("_")[2] if name.startswith(("fft_", "linalg_")) else ""):
        if short in _BY_CALL:
            found = _BY_CALL[short]
            return found, next(call for call in found.calls if _last(call) == short)
    return None


def is_advised(operator: str) -> bool:
    """Whether there is an advice on an operator of a program."""
    return _entry(operator) is not None


def advice_on(call: str = "", operator: str = "") -> str:
    """What to do instead of what the user calls `call`, which the program has as `operator`."""
    found = _BY_CALL.get(_last(call))
    if found is None and operator:
        entry = _entry(operator)
        found = entry[0] if entry else None
    return found.text if found else FALLBACK


def no_kernel(operator: str, layer: Layer, where: str) -> CortexMError:
    """The error of an operator that no kernel computes.

    Args:
        operator: its name in the program, ``aten::sort.values``.
        layer: where it comes from; its `call` is what the user wrote.
        where: the place in the message.
    """
    call = layer.call
    if not call:
        entry = _entry(operator)
        call = entry[1] if entry else ""
    name = f"{call} ({operator})" if call else operator
    hint = OTHER_VERSION if operator.startswith("cortex_m::") else advice_on(call, operator)
    return CortexMError(f"there is no kernel for {name}", where=where, hint=hint)
