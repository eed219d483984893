# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two operands: on codes, and on numbers with strides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import CortexMError
from ...ir import DType, Op, ops
from ...ir.fixed_point import Rescale
from ...target import Isa
from ..kernels.affine import Affine, FineAffine, affine_of
from ..kernels.params import rescale_fields
from ..kernels.table import Kernel
from ..types import Arg, Call, ConstantArg, Field, TensorArg
from .activation import bits_of, largest_step
from .broadcast import broadcast_call
from .context import Selector, lowers

_MANY = 128  # results from where walk_dsp.h repeats a short operand


def _periods(select: Selector, op: Op) -> dict[str, Field]:
    count = select.tensor(op.outputs[0]).numel
    a, b = (select.tensor(i).numel for i in op.inputs)
    return {"count": count, "a_period": a, "b_period": b}


def _on_codes(select: Selector, op: Op, fields: dict[str, Field], types: str) -> list[Call]:
    return _with(select, select.kernel(op.kind, types, op, fields), op, fields)


def _with(select: Selector, kernel: Kernel, op: Op, fields: dict[str, Field]) -> list[Call]:
    args = [select.operand(op.inputs[0]), select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    return [select.call(kernel, fields, args)]


def _scalars(attrs: Any) -> dict[str, Field]:
    """The attributes, with the two fields of each requantization."""
    fields: dict[str, Field] = {}
    for name, value in vars(attrs).items():
        if isinstance(value, Rescale):
            fields |= rescale_fields(value, name.removesuffix("rescale"))
        else:
            fields[name] = value
    return fields


def _is_in_short_runs(fields: Mapping[str, Any]) -> bool:
    """Whether one operand is so short, but for a single element, that the walk over the other takes longer
    than what more instructions for each element do: seven, or 20 if no operand is halved."""
    a, b, count = fields["a_period"], fields["b_period"], fields["count"]
    is_halved = any(
        (fields[f"{name}_multiplier"], fields[f"{name}_shift"]) == (1 << 30, 0) for name in "ab"
    )
    most = 11 if is_halved else 4
    return bool(a != b and 1 < min(a, b) <= most and count >= _MANY)


def _functions(select: Selector, attrs: ops.Add, op: Op) -> tuple[Affine | None, Affine | None]:
    """An addition of int8 as functions of the codes: one that any operands have a kernel for, and a finer
    one, whose kernel takes none that repeat."""
    out = select.tensor(op.outputs[0])
    are_alike = all(select.tensor(index).numel == out.numel for index in op.inputs)
    return affine_of(attrs, out), affine_of(attrs, out, FineAffine) if are_alike else None


@lowers(ops.Add)
def _add(select: Selector, attrs: ops.Add, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    fields = _periods(select, op) | _scalars(attrs)
    if out.dtype is DType.S16:
        return _on_codes(select, op, _without_zero_points(fields), out.dtype.value)
    affine, fine = select.once(lambda: _functions(select, attrs, op))
    facts = {**fields, "affine": affine is not None, "affine_fine": fine is not None}
    kernel = select.kernel(op.kind, out.dtype.value, op, facts)
    if kernel.op == "add_affine" and _is_in_short_runs(fields):
        # With DSP instructions, that of any addition repeats the shorter operand.
        other = select.kernel(op.kind, out.dtype.value, op, {**facts, "affine": False})
        kernel = other if other.isa is Isa.DSP else kernel
    if kernel.params == "cortexm_add_affine_t":
        function = fine if kernel.op == "add_affine_fine" else affine
        fields = _periods(select, op) | vars(function)
    return _with(select, kernel, op, fields)


@lowers(ops.Mul)
def _mul(select: Selector, attrs: ops.Mul, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    fields = _periods(select, op) | _scalars(attrs)
    if out.dtype is DType.S16:
        fields = _without_zero_points(fields) | {"stride": 0}
    return _on_codes(select, op, fields, out.dtype.value)


@lowers(ops.Gate)
def _gate(select: Selector, attrs: ops.Gate, op: Op) -> list[Call]:
    a, b = (select.tensor(index) for index in op.inputs[:2])
    out = select.tensor(op.outputs[0])
    place = out.dim_order.index(attrs.dim)
    rows, inner = (
        math.prod(part) for part in (out.memory_shape[:place], out.memory_shape[place + 1 :])
    )
    if a.numel == b.numel == out.numel:
        rows = 1
    args: list[Arg] = []
    for index, begin in zip(op.inputs, (attrs.a_begin, attrs.b_begin, 0), strict=False):
        arg = select.operand(index)
        assert isinstance(arg, (TensorArg, ConstantArg))
        args.append(replace(arg, offset=begin * inner * out.dtype.size))
    args.append(TensorArg(op.outputs[0]))
    if len(op.inputs) == 2:
        product: dict[str, Field] = {
            "count": out.numel,
            "a_period": out.numel // rows,
            "b_period": out.numel // rows,
            "stride": a.numel // rows,
            **rescale_fields(attrs.rescale),
        }
        return [select.call(select.kernel("mul", out.dtype.value, op, product), product, args)]
    fields: dict[str, Field] = {
        "rows": rows,
        "size": out.numel // rows,
        "a_stride": a.numel // rows,
        "b_stride": b.numel // rows,
        **rescale_fields(attrs.rescale),
    }
    facts: dict[str, int] = {}
    if out.dtype is DType.S16:
        table = select.tensor(op.inputs[2])
        fields["bits"] = bits_of(table)
        facts["largest_step"] = largest_step(table)
    else:
        fields |= {
            "a_zero_point": attrs.a_zero_point,
            "b_zero_point": attrs.b_zero_point,
            "out_zero_point": attrs.out_zero_point,
        }
    kernel = select.kernel("gate", out.dtype.value, op, {**fields, **facts})
    return [select.call(kernel, fields, args)]


def _without_zero_points(fields: dict[str, Field]) -> dict[str, Field]:
    return {name: value for name, value in fields.items() if "zero_point" not in name}


@lowers(ops.Minimum, ops.Maximum)
def _minmax(select: Selector, attrs: ops.Minimum | ops.Maximum, op: Op) -> list[Call]:
    dtype = select.tensor(op.outputs[0]).dtype
    if dtype in (DType.F32, DType.S32, DType.S64):
        return broadcast_call(select, op, op.kind)
    return _on_codes(select, op, _periods(select, op), dtype.value)


@lowers(ops.Div)
def _div(select: Selector, attrs: ops.Div, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    if any(select.tensor(i).shape != out.shape for i in op.inputs):
        raise CortexMError("div: operands must have one shape", where=str(op.layer))
    return _on_codes(select, op, {"count": out.numel} | _scalars(attrs), out.dtype.value)


@lowers(ops.Binary)
def _binary(select: Selector, attrs: ops.Binary, op: Op) -> list[Call]:
    return broadcast_call(select, op, attrs.function)
