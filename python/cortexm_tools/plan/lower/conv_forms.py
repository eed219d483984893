# SPDX-License-Identifier: Apache-2.0
"""The forms of a convolution of codes, and what is known of each whatever kernel computes it.

Kernels compute outputs in blocks. A pixel, and a group, costs as much as some hundred products before it
makes the first one, and outputs that are left of a block cost most: so where outputs are few, or groups
small, others may be put beside them, with weights of zero between. Which form pays is not decided here; there
are limits to the bytes that one adds, so that there are not too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir import DType, Op, ops
from ..forms.dense import of_one_channel
from ..forms.groups import join_groups
from ..forms.neighbours import join_pixels
from ..forms.phases import RowPhase, columns_as_one, pairs_of_rows, phases_of_rows
from ..forms.problem import ConvProblem
from ..forms.reversed import in_reverse
from ..forms.rows import row_as_pixel
from ..kernels.params import zero_point_fields
from ..kernels.table import KernelChoice
from .context import Selector
from .images import image_fields, window_fields
from .weights import (
    constant_data,
    fits_in_32_bits,
    largest_plain_sum,
    largest_start,
    largest_sum,
    types_of,
)

_MOST_ZEROS = 2048  # bytes of weights that groups may add
_MOST_BYTES = 1024  # that neighbours may
_MOST_OF_ROWS = 3072  # that rows of a transposed convolution may
_MOST_DEPTH = 288  # inputs of a window of joined groups
_MOST_OUTPUTS = 16  # of a pixel that is put beside others


@dataclass(frozen=True)
class Layer:
    """A convolution in one form.

    Attributes:
        types: those whose kernels compute it, the best first.
        largest_sum: a bound of |accumulator|; largest_plain_sum, largest_start: see the functions of
            these names.
    """

    problem: ConvProblem
    types: tuple[str, ...]
    largest_sum: int
    largest_plain_sum: int
    largest_start: int = 0

    @property
    def kind(self) -> str:
        """The operator whose kernels compute it."""
        return self.problem.kind + ("_wide" if self.problem.long else "")


@dataclass(frozen=True)
class Rows:
    """A transposed convolution as those that make its rows in scratch; none for rows without taps."""

    problem: ConvProblem
    layers: Sequence[tuple[RowPhase, Layer | None]]


def forms_of(select: Selector, attrs: ops.ConvAttrs, op: Op) -> tuple[Layer | Rows, ...]:
    """The operator as it is, and all forms of it for our kernels; in the result of a concatenation those
    alone between whose pixels other channels may lie."""
    dtype = select.tensor(op.inputs[0]).dtype
    problem = _problem(select, attrs, op)
    is_ours = select.choice is not KernelChoice.CMSIS_NN
    may_join = is_ours and not problem.long and not select.is_joined(op.outputs[0])
    found: list[Layer | Rows] = []
    for form in _kinds(problem, is_ours):
        grouped = join_groups(form, _MOST_DEPTH, _MOST_ZEROS) if is_ours and not form.wide else ()
        for each in (form, *grouped):
            for joined in (each, *(_pixels(each) if may_join and each.groups == 1 else ())):
                types = types_of(dtype, joined.weight, len(joined.rescales))
                found.append(_with_bounds(joined, types))
    if may_join and problem.kind == "transpose_conv2d":
        found += _rows(problem, types_of(dtype, problem.weight, len(problem.rescales)))
    return tuple(found)


def _problem(select: Selector, attrs: ops.ConvAttrs, op: Op) -> ConvProblem:
    """The operator as it is."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    zero_points = {"in_zero_point": attrs.in_zero_point, "out_zero_point": attrs.out_zero_point}
    fields = {
        **image_fields(select, op, attrs.window),
        "in_c": x.shape[1],
        "out_c": out.shape[1],
        **window_fields(attrs.window),
        "groups": attrs.groups if isinstance(attrs, ops.Conv2d) else 1,
        **zero_point_fields(x, **zero_points),
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    biases = np.zeros(out.shape[1], np.int64)
    if bias is not None:
        biases = bias.astype(np.int64).reshape(-1)
    weight = constant_data(select, op.inputs[1], op, "weights")
    ints = {name: value for name, value in fields.items() if isinstance(value, int)}
    wide = x.dtype is DType.S16
    problem = ConvProblem(op.kind, ints, weight, biases, attrs.rescales, wide)
    is_long = wide and not fits_in_32_bits(_with_bounds(problem, ()).largest_sum)
    return replace(problem, long=is_long)


def _with_bounds(problem: ConvProblem, types: tuple[str, ...]) -> Layer:
    sizes = np.abs(problem.rows.astype(np.int16)).sum(axis=1, dtype=np.int64)
    if problem.wide:
        bound = largest_sum(sizes, problem.bias, 1 << 15)
        return Layer(problem, types, bound, bound, largest_start(problem.rows))
    folded, plain = problem.constants.bias, problem.constants.plain_bias
    return Layer(problem, types, largest_sum(sizes, folded), largest_plain_sum(sizes, plain))


def _kinds(problem: ConvProblem, is_ours: bool) -> Iterator[ConvProblem]:
    """A convolution of one channel as either kind, and a transposed one as a convolution where it is one."""
    is_one = problem.fields["in_c"] == 1 and problem.kind != "transpose_conv2d"
    if is_one:
        yield of_one_channel(problem, "conv2d")  # which has the faster kernels
        if is_ours:
            yield of_one_channel(problem, "depthwise_conv2d")
        return
    if problem.kind == "transpose_conv2d" and is_ours:
        form = in_reverse(problem)
        if form is not None:
            yield form
    yield problem


def _pixels(problem: ConvProblem) -> Iterator[ConvProblem]:
    """With neighbouring pixels, or those of all phases, as one."""
    forms: list[ConvProblem | None] = []
    if problem.kind == "transpose_conv2d":
        forms.append(columns_as_one(problem))
    elif problem.kind == "conv2d" and problem.fields["out_c"] <= _MOST_OUTPUTS:
        forms += [*join_pixels(problem), row_as_pixel(problem, _MOST_BYTES)]
    for form in forms:
        if form is not None and form.weight.size - problem.weight.size <= _MOST_BYTES:
            yield form


def _rows(problem: ConvProblem, types: tuple[str, ...]) -> Iterator[Rows]:
    """With so many rows as one, and so many pixels of these."""
    plain = in_reverse(problem)
    ways = [phases_of_rows(problem, rows) for rows in sorted({1, problem.fields["stride_h"]})]
    if plain is not None:
        pair = pairs_of_rows(plain)
        ways = [[pair] if pair is not None else []]
    for phases in ways:
        added = sum(phase.problem.weight.size for phase in phases) - problem.weight.size
        if phases and added <= _MOST_OF_ROWS:
            layers = [
                (phase, _with_bounds(phase.problem, types) if phase.weight.size else None)
                for phase in phases
            ]
            yield Rows(plain or problem, layers)
