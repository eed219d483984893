# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of floats, and linear layers as convolutions of single pixels or as such products."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import CortexMError
from ...ir import Op, ops
from ...target import Isa
from ..types import Arg, Call, Field, TensorArg
from .boxes import strides
from .broadcast import broadcast_strides
from .context import POINTWISE, Selector, lowers
from .images import window_fields
from .weights import float_call, zero_bias


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
        **window_fields(POINTWISE),
        "in_strides": (rows * inner, 1, rows * inner, inner),
        "out_strides": (rows * cols, 1, rows * cols, cols),
        "bias_stride": int(has_bias),
    }


@lowers(ops.FloatLinear)
def _float_linear(select: Selector, attrs: ops.FloatLinear, op: Op) -> list[Call]:
    """Rows of x times the rows of the weights."""
    x, weight = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    cols, inner = weight.shape
    rows = x.numel // inner
    has_bias = len(op.inputs) > 2
    macs = rows * cols * inner
    if select.target.isa in (Isa.DSP, Isa.MVE) and weight.data is not None:
        return [float_call(select, op, "conv2d", _float_pixels(rows, inner, cols, has_bias), macs)]
    fields = {
        "batches": 1,
        "rows": rows,
        "cols": cols,
        "inner": inner,
        "a_row_stride": inner,
        "a_inner_stride": 1,
        "b_inner_stride": strides(weight)[1],
        "b_col_stride": strides(weight)[0],
        "bias_col_stride": int(has_bias),
    }
    return [_matmul_call(select, op, fields, macs)]


@lowers(ops.FloatMatmul)
def _float_matmul(select: Selector, attrs: ops.FloatMatmul, op: Op) -> list[Call]:
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
    if cols == 1:
        fields = _turned(fields)
    return [_matmul_call(select, op, fields, out.numel * inner, is_turned=cols == 1)]


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


def _matmul_call(
    select: Selector,
    op: Op,
    fields: Mapping[str, Field],
    macs: int,
    *,
    is_turned: bool = False,
) -> Call:
    """The call of the kernel for a product, perhaps with the operands in each other's place."""
    kernel = select.kernel("matmul", "f32", op, {"bias_row_stride": 0, **fields})
    a, b = reversed(op.inputs[:2]) if is_turned else op.inputs[:2]
    args: list[Arg] = [
        select.operand(a),
        select.operand(b),
        select.operand(op.inputs[2]) if len(op.inputs) > 2 else zero_bias(select),
        TensorArg(op.outputs[0]),
    ]
    return select.call(kernel, dict(fields), args, macs)
