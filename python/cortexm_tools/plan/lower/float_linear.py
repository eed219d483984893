# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of floats, and linear layers as such products or as convolutions of single pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...errors import CortexMError
from ...ir import Array, Op, Tensor, channels_last, ops
from ...ir.geometry import Window
from ...target import Isa
from ..kernels import float_rows
from ..kernels.packing import Constants
from ..kernels.table import code_sizes
from ..types import Arg, Call, Field, TensorArg
from .boxes import strides
from .broadcast import broadcast_strides
from .constants import Weights
from .context import POINTWISE, Selector, lowers
from .images import window_fields
from .weights import constant_data, float_call, zero_bias


def _float_pixels(rows: int, inner: int, cols: int, has_bias: bool) -> dict[str, Field]:
    """The fields of a 1x1 convolution of floats whose pixels are the rows: its weights can be packed."""
    return {
        "batches": 1,
        "in_h": 1,
        "in_w": rows,
        "out_h": 1,
        "out_w": rows,
        "in_c": inner,
        "out_c": cols,
        "groups": 1,
        **window_fields(Window((1, 1), (1, 1), (0, 0, 0, 0), (1, 1))),
        "in_strides": (rows * inner, 1, rows * inner, inner),
        "out_strides": (rows * cols, 1, rows * cols, cols),
        "bias_stride": int(has_bias),
    }


def _product_fields(rows: int, inner: int, cols: int, has_bias: bool) -> dict[str, Field]:
    """The fields of a linear layer as a product with its weights, an output's in each column."""
    return {
        **_rows_of(rows, inner, cols),
        "b_inner_stride": cols,
        "b_col_stride": 1,
        "bias_row_stride": 0,
        "bias_col_stride": int(has_bias),
    }


@lowers(ops.FloatLinear)
def _float_linear(select: Selector, attrs: ops.FloatLinear, op: Op) -> list[Call]:
    """Rows of x times the rows of the weights."""
    x, weight = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    cols, inner = weight.shape
    rows = x.numel // inner
    has_bias = len(op.inputs) > 2
    if takes_rows(select, op):
        return lanes_of_rows(select, op)
    if _is_one_sum(select, op) and select.target.isa in (Isa.DSP, Isa.MVE):
        one = _product_fields(rows, inner, cols, has_bias)
        return _matmul_call(select, op, one, has_bias, inner)
    if select.target.isa in (Isa.DSP, Isa.MVE) and weight.data is not None:
        pixels = _float_pixels(rows, inner, cols, has_bias)
        return [float_call(select, op, "conv2d", pixels, rows * cols * inner)]
    fields: dict[str, Field] = {
        **_rows_of(rows, inner, cols),
        "b_inner_stride": strides(weight)[1],
        "b_col_stride": strides(weight)[0],
        "bias_col_stride": int(has_bias),
    }
    return _matmul_call(select, op, fields, has_bias, rows * cols * inner)


def _rows_of(rows: int, inner: int, cols: int) -> dict[str, Field]:
    """A linear layer as a product of matrices, but for where its weights and biases lie."""
    return {
        "batches": 1,
        "rows": rows,
        "cols": cols,
        "inner": inner,
        "a_row_stride": inner,
        "a_inner_stride": 1,
    }


ROWS_IN_LANES = "float_rows"
"""The name of linear layers of floats as products with rows in lanes among what a plan may do without."""


_WORTH = 2  # instructions saved for a byte of a kernel


_WITH_BIASES = ("float_row", "float_pairs")  # forms of weights that have the biases


_LAYERS = (ops.FloatLinear, ops.FloatConv2d, ops.FloatTransposeConv2d)


def _sides(select: Selector, op: Op) -> tuple[int, int, int] | None:
    """The rows, inputs and outputs of a linear layer of floats with constant weights, or of a convolution of
    single pixels that is one, as their channels lie side by side; None of others."""
    x, weight, out = (select.tensor(i) for i in (op.inputs[0], op.inputs[1], op.outputs[0]))
    is_pixel = op.attrs == ops.FloatConv2d(POINTWISE, 1) and _are_rows(x) and _are_rows(out)
    if weight.data is None or not (is_pixel or isinstance(op.attrs, ops.FloatLinear)):
        return None
    return out.numel // weight.shape[0], weight.shape[1], weight.shape[0]


def _are_rows(image: Tensor) -> bool:
    """Whether the channels of each pixel lie side by side."""
    order = [axis for axis in image.dim_order if image.shape[axis] > 1]
    return order == [axis for axis in channels_last(4) if image.shape[axis] > 1]


def _is_one_sum(select: Selector, op: Op) -> bool:
    """Whether an operator is a linear layer of floats with a single output, which has a kernel of its own."""
    return isinstance(op.attrs, ops.FloatLinear) and select.tensor(op.outputs[0]).numel == 1


def _has_few_inputs(select: Selector, op: Op) -> bool:
    """Whether a layer of floats is rows of so few inputs that these have a kernel of their own, whose lanes
    are outputs: with up to three inputs it takes less than any other."""
    sides = _sides(select, op)
    is_row = isinstance(op.attrs, ops.FloatLinear) or select.tensor(op.inputs[0]).shape[0] == 1
    return is_row and sides is not None and float_rows.are_of_few_inputs(*sides)


def _are_pairs(select: Selector) -> bool:
    """Whether the kernel for pairs of outputs computes all layers of floats of one or two rows."""
    found = [
        _sides(select, op)
        for kind in _LAYERS
        for op in select.all(kind)
        if not _is_one_sum(select, op)
    ]
    return all(
        float_rows.are_pairs(*sides) for sides in found if sides is not None and sides[0] <= 2
    )


def _saved(select: Selector, op: Op, in_pairs: bool) -> tuple[str | None, int]:
    """The kernel of a layer of floats as a product, and what it saves, in instructions.

    Args:
        in_pairs: what `_are_pairs` gives.
    """
    sides = _sides(select, op)
    kernel = None if sides is None else float_rows.kernel_of(sides[0], sides[2], in_pairs)
    if sides is None or kernel is None or _is_one_sum(select, op):
        return None, 0
    if kernel == float_rows.ROWS and (
        sides[2] % 4 == 0 or sides[1] < 4 and _has_few_inputs(select, op)
    ):
        return None, 0
    has_no_data = any(select.tensor(i).data is None for i in op.inputs[2:])
    if kernel in (float_rows.ROW, float_rows.PAIRS) and has_no_data:
        return None, 0  # biases lie among the weights
    return kernel, float_rows.saved(*sides, few_rows=select.has_few_rows, in_pairs=in_pairs)


def takes_rows(select: Selector, op: Op) -> bool:
    """Whether a layer of floats is a product, whose lanes are rows, or outputs of one or two rows: where that
    saves instructions, and the kernel pays for itself in the model or is there anyway, or such kernels pay
    for what they are larger than that of convolutions, which no layer needs then: all others have kernels of
    their own."""
    if select.target.isa is not Isa.MVE:
        return False
    in_pairs = _are_pairs(select)
    kernel, saved = _saved(select, op, in_pairs)
    if kernel is None or saved <= 0:
        return False
    layers = [each for kind in _LAYERS for each in select.all(kind)]
    every = []
    for each in layers:
        found = _saved(select, each, in_pairs)
        has_own = _is_one_sum(select, each) or found[0] is None and _has_few_inputs(select, each)
        if not has_own:
            every.append(found)
    sizes = code_sizes()
    if min(each for _, each in every) > 0:
        others = {own for own, _ in every if own is not None and not select.is_multiplying(own)}
        of_pixels = float_rows.PIXELS_OF_FEW_ROWS if select.has_few_rows else float_rows.PIXELS
        more = sum(sizes.get(own, 0) for own in others) - sizes.get(of_pixels, 0)
        pays = sum(each for _, each in every) >= _WORTH * more
        if more <= 0 or pays and not select.avoids(ROWS_IN_LANES):
            return True
    if select.avoids(ROWS_IN_LANES):
        return False
    total = sum(max(each, 0) for own, each in every if own == kernel)
    return total >= _WORTH * sizes.get(kernel, 0) or select.is_multiplying(kernel)


def lanes_of_rows(select: Selector, op: Op) -> list[Call]:
    """A layer of floats as a product with its weights, an output's in each column."""
    sides = _sides(select, op)
    assert sides is not None
    rows, inner, cols = sides
    has_bias = len(op.inputs) > 2
    fields = _product_fields(rows, inner, cols, has_bias)
    return _matmul_call(select, op, fields, has_bias, rows * cols * inner, of_layer=True)


@lowers(ops.FloatMatmul)
def _float_matmul(select: Selector, attrs: ops.FloatMatmul, op: Op) -> list[Call]:
    fields = _fields_of_product(select, op)
    has_bias = len(op.inputs) > 2
    macs = math.prod(fields[name] for name in ("batches", "rows", "cols", "inner"))
    if _is_small(select, op, fields):
        return _matmul_call(select, op, fields, has_bias, macs, is_small=True)
    if fields["cols"] == 1:
        own, other = (
            select.kernel("matmul", "f32", op, _facts(each)) for each in (fields, _turned(fields))
        )
        is_few = own.op in ("matmul_one", "matmul_few", "matmul_column")
        if not is_few or own.op == "matmul_few" and own.isa is not Isa.MVE is other.isa:
            return _matmul_call(select, op, _turned(fields), has_bias, macs, turned=True)
    return _matmul_call(select, op, fields, has_bias, macs)


def _fields_of_product(select: Selector, op: Op) -> dict[str, int]:
    a, b = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    out = select.tensor(op.outputs[0])
    rows, inner = a.shape[-2:]
    cols = b.shape[-1]
    fields = {
        "batches": out.numel // (rows * cols),
        "rows": rows,
        "cols": cols,
        "inner": inner,
        "a_batch_stride": rows * inner,
        "a_row_stride": inner,
        "a_inner_stride": 1,
        "b_batch_stride": inner * cols,
        "b_inner_stride": strides(b)[-2],
        "b_col_stride": strides(b)[-1],
    }
    if len(op.inputs) > 2:
        step = broadcast_strides(select.tensor(op.inputs[2]), len(out.shape))
        if any(step[:-2]):
            raise CortexMError(f"{op.kind}: the bias differs between matrices", where=str(op.layer))
        fields |= {"bias_row_stride": step[-2], "bias_col_stride": step[-1]}
    return fields


def _is_small(select: Selector, op: Op, fields: dict[str, int]) -> bool:
    """Whether a product takes the kernel for small matrices: those of the model do that save most, down to
    where that pays best for the code. Some may take more instructions, in place of a kernel of their own."""
    small = float_rows.SMALL
    if select.target.isa is not Isa.MVE or select.avoids(small):
        return False
    if not float_rows.are_small(_facts(fields)):
        return False
    found = {}  # of each product its kernel without this one, and what it saves
    for each in select.all(ops.FloatMatmul):
        facts = _facts(_fields_of_product(select, each))
        other = select.multiplying_by(each, without=small)
        is_possible = float_rows.are_small(facts)
        saves = float_rows.saved_of_small(facts, other) if is_possible else None
        found[each.outputs[0]] = other, saves
    # Layers that may be such products have their kernels anyway.
    in_pairs = _are_pairs(select)
    layers = [_saved(select, each, in_pairs) for kind in _LAYERS for each in select.all(kind)]
    there = {symbol for symbol, saves in layers if symbol is not None and saves > 0}
    sizes = code_sizes()

    def pays(least: int) -> float:
        """What the products save that save this or more, less two instructions for each byte."""
        taking = {
            out: saves for out, (_, saves) in found.items() if saves is not None and saves >= least
        }
        rest = {symbol for out, (symbol, _) in found.items() if out not in taking}
        before = there | {symbol for symbol, _ in found.values()}
        more = sum(sizes.get(symbol, 0) for symbol in rest | there | {small})
        more -= sum(sizes.get(symbol, 0) for symbol in before)
        saved = sum(taking.values())
        return saved - _WORTH * more if saved > 0 else -math.inf

    least = max((saves for _, saves in found.values() if saves is not None), key=pays)
    own = found[op.outputs[0]][1]
    return own is not None and own >= least and pays(least) >= 0


def _turned(fields: dict[str, int]) -> dict[str, int]:
    """A product of matrices with a single column as that of the column, as a row, with the rows, as columns:
    the same sums in the same places, of which kernels compute several together."""
    sides = {
        "rows": "cols",
        "cols": "rows",
        "a_row_stride": "b_col_stride",
        "a_inner_stride": "b_inner_stride",
        "a_batch_stride": "b_batch_stride",
        "bias_row_stride": "bias_col_stride",
    }
    sides |= {theirs: own for own, theirs in sides.items()}
    return {sides.get(name, name): value for name, value in fields.items()}


def _facts(fields: Mapping[str, Field]) -> dict[str, Field]:
    """What kernels can require of a product of matrices of floats."""
    return {"bias_row_stride": 0, **fields}


def _matmul_call(
    select: Selector,
    op: Op,
    fields: Mapping[str, Field],
    has_bias: bool,
    macs: int,
    *,
    turned: bool = False,
    of_layer: bool = False,
    is_small: bool = False,
) -> list[Call]:
    """The call of the kernel for a product.

    Args:
        turned: with the operands in each other's place.
        of_layer: the second operand is the weights of a layer, an output's in each row.
        is_small: it takes the kernel for small matrices.
    """
    of_rows = of_layer and fields["rows"] not in (1, 2)
    lanes = {"rows_in_lanes": of_rows, "outputs_in_lanes": of_layer and not of_rows}
    if lanes["outputs_in_lanes"] and _are_pairs(select):
        lanes = {"outputs_in_pairs": True}
    lanes["is_small"] = is_small
    kernel = select.kernel("matmul", "f32", op, {**_facts(fields), **lanes})
    a, b = reversed(op.inputs[:2]) if turned else op.inputs[:2]
    weight = select.tensor(b)
    other = select.operand(b) if not of_layer else None
    if other is None:
        assert weight.data is not None
        by_output = weight.data.reshape(weight.shape[0], -1)
        if kernel.pack in _WITH_BIASES:
            bias: Array = np.zeros(len(by_output), np.float32)
            if has_bias:
                bias = constant_data(select, op.inputs[2], op, "biases")
            by_output = np.column_stack([bias, by_output])
        other = select.constant(
            "w_" + (op.layer.path or op.kind),
            Weights(kernel.pack, Constants(by_output, np.zeros(0, np.float32)))
            if kernel.pack
            else np.ascontiguousarray(by_output.T),
            "x".join(map(str, by_output.shape)),
        )
    has_own = has_bias and kernel.pack not in _WITH_BIASES
    args: list[Arg] = [
        select.operand(a),
        other,
        select.operand(op.inputs[2]) if has_own else zero_bias(select),
        TensorArg(op.outputs[0]),
    ]
    return [select.call(kernel, dict(fields), args, macs)]
