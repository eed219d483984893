# SPDX-License-Identifier: Apache-2.0
"""Weights and biases of convolutions and matrix products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import CortexMError
from ...ir import Array, DType, Op
from ...ir.fixed_point import wrap32
from ..kernels.forms import Weights
from ..kernels.packing import Constants, Tables
from ..kernels.table import Kernel
from ..types import Arg, Call, ConstantArg, Field, TensorArg
from .context import Selector


def folded_bias(weight_sums: Array, bias: Array | None, in_zero_point: int) -> Array:
    """bias - in_zero_point * (sum of the channel's weights), wrapped to int32."""
    folded = -np.int64(in_zero_point) * weight_sums.astype(np.int64)
    if bias is not None:
        folded = folded + bias.astype(np.int64).reshape(-1)
    return wrap32(folded).astype(np.int32)


def wide_bias(bias: Array | None, channels: int) -> Array:
    """The bias of a layer of int16 codes, whose zero point is 0: int64."""
    return np.zeros(channels, np.int64) if bias is None else bias.astype(np.int64).reshape(-1)


def largest_sum(weight_sizes: Array, bias: Array, largest: int = 128) -> int:
    """A bound of |accumulator| from the sums of a channel's |weights| and its folded bias.

    Args:
        largest: of the absolute values of codes.
    """
    sums = largest * weight_sizes.astype(np.int64) + np.abs(bias.astype(np.int64))
    return int(sums.max(initial=0))


def largest_start(weight: Array) -> int:
    """A bound of the first 512 products of int16 codes with any of the rows [channels, depth]: CMSIS-NN
    adds up so many in 32 bits."""
    sums = np.abs(weight[:, :512].astype(np.int64)).sum(axis=1) << 15
    return int(sums.max(initial=0))


def largest_plain_sum(weight_sizes: Array, bias: Array) -> int:
    """The same where the zero point is subtracted from every code, which it may be 255 away from."""
    sums = 255 * weight_sizes.astype(np.int64) + np.abs(bias.astype(np.int64))
    return int(sums.max(initial=0))


_MOST_INPUTS = 1 << 16  # whose products with 4-bit weights the kernels of s8w4 add up exactly


def types_of(codes: DType, weight: Array, channels: int) -> tuple[str, ...]:
    """The element types whose kernels compute on such codes with the int8 weights of so many output
    channels, the best first: weights that all fit into 4 bits are packed two to a byte (beside int8
    codes, where multipliers fit into 16 bits)."""
    fits = weight.min(initial=0) >= -8 and weight.max(initial=0) <= 7
    fits = fits and weight.size <= channels * _MOST_INPUTS
    return (f"{codes.value}w4", codes.value) if fits else (codes.value,)


def needed_bytes(kernel: Kernel, weight: Array) -> int:
    """What the model brings of weights, in the bits that their kernel reads."""
    return -(-weight.size // 2) if kernel.types.endswith("w4") else weight.nbytes


def needed_biases(constants: Constants, packed: Tables, channels: int) -> int:
    """What the model brings of the biases of so many channels, and of requantizations if they stand among
    them; no more than is stored, as shifts may lie in bits that biases leave."""
    each = [constants.bias]
    if not packed.multiplier.size:
        each += [constants.tables.multiplier, constants.tables.shift]
    return min(channels * sum(table.itemsize for table in each), packed.bias.nbytes)


def fits_in_32_bits(bound: int) -> bool:
    """Whether sums whose absolute value is at most `bound` need no more."""
    return bound < 1 << 31


def constant_data(select: Selector, index: int, op: Op, what: str) -> Array:
    data = select.tensor(index).data
    if data is None:
        raise CortexMError(
            f"{op.kind}: {what} must be constant, here they are computed", where=str(op.layer)
        )
    return data


def table_fields(
    select: Selector, tables: Tables, label: str, channels: int | None = None
) -> dict[str, Field]:
    """The fields that point to requantizations per channel, where there are any.

    Args:
        channels: that the model has; default: all in the tables.
    """
    named = {"multiplier": tables.multiplier, "shift": tables.shift}
    return {
        name: select.constant(
            f"{name[0]}_{label}",
            table,
            needed=(table.size if channels is None else channels) * table.itemsize,
        ).name
        for name, table in named.items()
        if table.size
    }


def zero_bias(select: Selector) -> Arg:
    """What sums without a bias begin with."""
    return select.constant("zero", np.zeros(1, np.float32), needed=0)


def float_call(
    select: Selector,
    op: Op,
    name: str,
    fields: dict[str, Field],
    macs: int,
    part: Array | None = None,
    offsets: tuple[int, int] = (0, 0),
) -> Call:
    """The call of a convolution of floats with operands x, weights and perhaps a bias, for which
    `bias_stride` stands in `fields`.

    Args:
        part: of the weights, with which it computes a part of the result.
        offsets: where it begins to read x and to write, in elements.
    """
    weight = select.tensor(op.inputs[1])
    data = weight.data if part is None else part
    facts = {**fields, "constant_weights": data is not None}
    kernel = select.kernel(name, "f32", op, facts)
    label = "w_" + (op.layer.path or op.kind)
    weights: Arg
    unpacked: Weights | None = None
    if part is not None or (data is not None and kernel.pack and not _are_planes(kernel, fields)):
        assert data is not None
        groups = fields["groups"]
        assert isinstance(groups, int)
        constants = Constants(data, np.zeros(0, np.float32), groups=groups)
        pack = "" if _are_planes(kernel, fields) else kernel.pack
        if part is None and _may_be_filled(kernel, fields) and select.pick((True, False)):
            pack, fields = "float_filled", fields | {"filled": 1}
        unpacked = Weights(pack, constants)
        shape = "x".join(map(str, data.shape))
        weights = select.constant(label, unpacked, shape, needed=data.nbytes)
    else:
        weights = select.operand(op.inputs[1])
    args: list[Arg] = [
        _further(select.operand(op.inputs[0]), offsets[0]),
        weights,
        select.operand(op.inputs[2]) if len(op.inputs) > 2 else zero_bias(select),
        _further(TensorArg(op.outputs[0]), offsets[1]),
    ]
    return replace(select.call(kernel, fields, args, macs), weights=unpacked)


def _are_planes(kernel: Kernel, fields: dict[str, Field]) -> bool:
    """Whether channels that are groups are computed one after the other, with weights as they are: where not
    all of a pixel lie side by side."""
    channels = [dict(fields)[f"{side}_strides"] for side in ("in", "out")]
    are_beside = all(isinstance(steps, tuple) and steps[1] == 1 for steps in channels)
    return kernel.pack == "float_channels" and not are_beside


def _may_be_filled(kernel: Kernel, fields: dict[str, Field]) -> bool:
    """Whether outputs of a group are left behind fours, which can be filled up to vectors with weights of
    zero."""
    out_c, groups = fields["out_c"], fields["groups"]
    assert isinstance(out_c, int) and isinstance(groups, int)
    is_whole = out_c // groups % 4 == 0
    return kernel.pack == "float_eights" and kernel.op != "conv2d_row" and not is_whole


def _further(arg: Arg, elements: int) -> Arg:
    assert isinstance(arg, (TensorArg, ConstantArg))
    return replace(arg, offset=arg.offset + elements * DType.F32.size)
