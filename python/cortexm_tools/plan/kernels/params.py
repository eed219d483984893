# SPDX-License-Identifier: Apache-2.0
"""The parameter blocks of kernels/include/cortexm/params.h: what each field can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TypeVar

from ...errors import CortexMError
from ...ir import DType, Op, Tensor
from ...ir.fixed_point import Rescale
from ...ir.wide import reduced
from ...paths import data_root
from .table import Kernel

_Value = TypeVar("_Value")

_INTEGER = re.compile(r"(u?)int(8|16|32|64)_t")

# The fields whose values follow from what a model has learned and how it is quantized. All others say
# which elements are read and written, or what a kernel is.
VALUES = frozenset(
    """
    multiplier shift a_multiplier b_multiplier out_multiplier a_shift b_shift out_shift
    in_zero_point out_zero_point weight_zero_point lhs_zero_point rhs_zero_point a_zero_point
    b_zero_point zero_point act_min act_max qmin qmax scale inv_scale input_scale alpha epsilon
    diff_min value low high gate_left gate_right state_bits least_high least_low under_root gain_shift
    epsilon_high epsilon_low a_factor b_factor constant x_multiplier x_shift h_multiplier h_shift
    fresh_multiplier fresh_shift cell_multiplier cell_shift cell_limit
    """.split()
)


@cache
def field_types() -> dict[str, dict[str, str]]:
    """C type of every field of every block; pointers end in ``*``, arrays have their element's."""
    path = data_root() / "kernels" / "include" / "cortexm" / "params.h"
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    blocks: dict[str, dict[str, str]] = {}
    for body, name in re.findall(r"typedef struct \{(.*?)\}\s*(\w+);", text, flags=re.S):
        fields = blocks.setdefault(name, {})
        for declaration in filter(None, map(str.strip, body.split(";"))):
            c_type, names = re.sub(r"^const\s+", "", declaration).split(None, 1)
            for field in re.split(r"\s*,\s*", names):
                pointer = "*" if field.startswith("*") else ""
                fields[re.sub(r"\[\w+\]$", "", field.lstrip("*"))] = c_type + pointer
    return blocks


def block_fields(
    kernel: Kernel, fields: Iterable[tuple[str, _Value]]
) -> tuple[tuple[str, _Value], ...]:
    """The fields of a call that its block has. A plan may know more of it: copy_lanes keeps its box."""
    block = field_types()[kernel.params]
    return tuple((name, value) for name, value in fields if name in block)


def rescale_fields(rescale: Rescale, prefix: str = "") -> dict[str, int]:
    """The two fields in which blocks have a requantization; `prefix` tells several apart."""
    return {f"{prefix}multiplier": rescale.multiplier, f"{prefix}shift": rescale.shift}


def wide_fields(rescale: Rescale) -> dict[str, int]:
    """The same in a block of int16 codes."""
    return {"multiplier": reduced(rescale.multiplier), "shift": rescale.shift}


def zero_point_fields(x: Tensor, **zero_points: int) -> dict[str, int]:
    """The zero points of codes as `x`; the blocks of int16 codes, which are symmetric, have none."""
    return zero_points if x.dtype is DType.S8 else {}


def check_ranges(kernel: Kernel, fields: Iterable[tuple[str, object]], op: Op) -> None:
    """Raises a CortexMError if a parameter of a call does not fit its field."""
    types = field_types()[kernel.params]
    for field, value in fields:
        integer = _INTEGER.fullmatch(types.get(field, ""))
        if integer is None:
            continue
        bits = int(integer[2])
        low, high = (0, 2**bits - 1) if integer[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for number in value if isinstance(value, tuple) else (value,):
            assert isinstance(number, int), (kernel.symbol, field, value)
            if not low <= number <= high:
                limit = f"at most {high}" if number > high else f"at least {low}"
                raise CortexMError(
                    f"{op.kind}: {field} is {number}, the kernel takes {limit}",
                    where=str(op.layer),
                )
