# SPDX-License-Identifier: Apache-2.0
"""Programs of one operator of the library ``cortexm`` each, made by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cortexm_tools.pte.schemas import SCHEMAS
from cortexm_tools.pte.values import (
    InstructionKind,
    PteInstruction,
    PteList,
    PteProgram,
    PteTensor,
    PteValue,
    ScalarType,
)

S8, S16, S32, S64 = ScalarType.S8, ScalarType.S16, ScalarType.S32, ScalarType.S64


@dataclass(frozen=True)
class Input:
    """A tensor that the program is given."""

    shape: tuple[int, ...]
    dtype: ScalarType = S16


Argument = Input | np.ndarray | tuple[int, ...] | bool | int | float | None


def made(
    operator: str,
    arguments: dict[str, Argument],
    shape: tuple[int, ...],
    dtype: ScalarType = S16,
    *more: Input,
) -> PteProgram:
    """A program whose results are those of ``cortexm::operator``.

    Args:
        arguments: by name; arrays are constants, tuples lists of integers.
        shape: of the first result.
        more: the shapes and types of the others.
    """
    name = f"cortexm::{operator}.out"
    values: list[PteValue] = []
    places: list[int] = []
    inputs: list[int] = []
    for argument in SCHEMAS[name].types:
        value = arguments[argument]
        if isinstance(value, tuple):
            first = len(values)
            values += value
            values.append(PteList(tuple(range(first, len(values))), False, False))
        elif isinstance(value, np.ndarray):
            values.append(_tensor(value.shape, ScalarType[f"S{8 * value.itemsize}"], value))
        elif isinstance(value, Input):
            inputs.append(len(values))
            values.append(_tensor(value.shape, value.dtype))
        else:
            values.append(value)
        places.append(len(values) - 1)
    results = (Input(shape, dtype), *more)
    for result in results:
        values.append(_tensor(result.shape, result.dtype))
        places.append(len(values) - 1)
    call = PteInstruction(InstructionKind.KERNEL, name, tuple(places))
    outputs = tuple(places[-len(results) :])
    return PteProgram("forward", tuple(values), tuple(inputs), outputs, (call,), (), (), 10**5)


def _tensor(shape: tuple[int, ...], dtype: ScalarType, data: np.ndarray | None = None) -> PteTensor:
    """A constant, or in the memory order of images, if it has four dimensions, what is computed."""
    if data is not None:
        stored = memoryview(np.ascontiguousarray(data).tobytes())
        return PteTensor(dtype, shape, tuple(range(len(shape))), data=stored)
    order = (0, 2, 3, 1) if len(shape) == 4 else tuple(range(len(shape)))
    return PteTensor(dtype, shape, order, mutable=True)


def _codes(*shape: int) -> np.ndarray:
    return np.random.default_rng(6).integers(-128, 128, shape).astype(np.int8)


def _layer(channels: int) -> dict[str, Argument]:
    """What layers of channels share, per tensor of multipliers and shifts."""
    return {
        "bias": np.arange(channels, dtype=np.int32) * 1000 - 900,
        "input_offset": 0,
        "output_offset": 0,
        "requantize_multipliers": np.linspace(2**30, 2**31 - 1, channels).astype(np.int32),
        "requantize_shifts": -np.arange(7, 7 + channels, dtype=np.int32),
        "activation_min": -32767,
        "activation_max": 30000,
    }


def _window(*kernel: int) -> dict[str, Argument]:
    return {"stride": (2, 1), "padding": (1, 1), "dilation": (1, 1)} | (
        {"kernel_size": kernel, "ceil_mode": False} if kernel else {}
    )


IMAGE = Input((1, 4, 5, 6))

ARGUMENTS: dict[str, dict[str, Argument]] = {
    "quantized_conv2d": {
        "input": IMAGE, "weight": _codes(3, 3, 3, 4), **_window(), **_layer(3)
    },
    "quantized_depthwise_conv2d": {
        "input": IMAGE, "weight": _codes(1, 3, 3, 8), **_window(), **_layer(8),
        "depth_multiplier": 2,
    },
    "quantized_transpose_conv2d": {
        "input": IMAGE, "weight": _codes(3, 3, 3, 4), **_window(), **_layer(3),
        "output_padding": (0, 0),
    },
    "quantized_linear": {
        "input": Input((3, 7)), "weights": _codes(2, 7), **_layer(2), "kernel_sum": None,
        "filter_offset": 0, "requantize_multipliers": (2**30, 2**31 - 1),
        "requantize_shifts": (-8, -9),
    },
    "quantized_batch_matmul": {
        "lhs": Input((2, 3, 5)), "lhs_zero_point": 0, "rhs_transposed": Input((2, 4, 5)),
        "rhs_zero_point": 0, "output_zero_point": 0, "output_multiplier": 2**30,
        "output_shift": -14,
    },
    "quantized_avg_pool2d": {
        "input": IMAGE, **_window(3, 3), "zero_point": 0, "multiplier": 2**30, "shift": 0,
    },
    "quantized_max_pool2d": {
        "input": IMAGE, **_window(3, 3), "input_zero_point": 0, "output_zero_point": 0,
        "activation_min": -30000, "activation_max": 32767,
    },
    "quantized_add": {
        "self": Input((2, 3)), "self_zero_point": 0, "self_multiplier": 2**30, "self_shift": 0,
        "other": Input((3,)), "other_zero_point": 0, "other_multiplier": 1518500250,
        "other_shift": -1, "output_zero_point": 0, "output_multiplier": 2**30,
        "output_shift": -14, "activation_min": 0, "activation_max": 32767,
    },
    "quantized_mul": {
        "self": Input((2, 3)), "self_zero_point": 0, "other": Input((3,)), "other_zero_point": 0,
        "output_zero_point": 0, "output_multiplier": 2**30, "output_shift": -13,
    },
    "quantized_activation": {
        "input": Input((2, 9)),
        "lut": np.random.default_rng(6).integers(-(2**15), 2**15, 513).astype(np.int16),
    },
    "softmax": {"input": Input((2, 9)), "dim": -1, "input_scale": 0.001},
    "requantize": {
        "input": Input((2, 9)), "input_zero_point": 0, "multiplier": 2**30, "shift": -6,
        "output_zero_point": 5, "activation_min": -128, "activation_max": 120, "dtype": int(S8),
    },
    "upsample_bilinear2d": {
        "input": IMAGE, "output_size": (2, 3), "align_corners": False, "scales_h": None,
        "scales_w": None, "zero_point": 0,
    },
    "layer_norm": {
        "input": Input((2, 9)), "factor": np.arange(1, 10, dtype=np.int32) << 22,
        "offset": np.arange(-4, 5, dtype=np.int32) << 16, "size": 9, "centred": True,
        "input_zero_point": 0, "epsilon": 2**33, "shift": 10,
    },
    "group_norm": {
        "input": IMAGE, "factor": np.arange(1, 5, dtype=np.int32) << 22,
        "offset": np.arange(-2, 2, dtype=np.int32) << 16, "groups": 2, "epsilon": 2**33,
        "shift": 10,
    },
    "log_mel": {
        "input": Input((2, 100)), "window": np.full(60, 30000, np.int16),
        "weights": np.arange(1, 8, dtype=np.int16) * 4000, "points": 64, "start": 4, "hop": 18,
        "frames": 3, "shift": 6, "roots": False, "under_root": 0, "first": (0, 9, 32), "count": (2, 4, 1),
        "least_high": 1, "least_low": 2**31, "adds": True, "gains": (2**30, 2**30, -9),
        "offsets": (-(2**50), -(2**51), 2**41), "gain_shift": 38, "activation_min": -32000,
        "activation_max": 32767, "dtype": int(S16),
    },
}  # fmt: skip

_SHAPES = {
    "quantized_conv2d": (1, 3, 3, 6),
    "quantized_depthwise_conv2d": (1, 8, 3, 6),
    "quantized_transpose_conv2d": (1, 3, 9, 6),
    "quantized_linear": (3, 2),
    "quantized_batch_matmul": (2, 3, 4),
    "quantized_avg_pool2d": (1, 4, 3, 6),
    "quantized_max_pool2d": (1, 4, 3, 6),
    "quantized_add": (2, 3),
    "quantized_mul": (2, 3),
    "upsample_bilinear2d": (1, 4, 2, 3),
    "group_norm": (1, 4, 5, 6),
    "log_mel": (2, 3, 3),
}


def wide_program(operator: str, **changed: Argument) -> PteProgram:
    """The program of an operator with some other arguments."""
    shape = _SHAPES.get(operator, (2, 9))
    dtype = S8 if operator == "requantize" else S16
    return made(operator, ARGUMENTS[operator] | changed, shape, dtype)


# Three steps of two sequences, two inputs and two units.
RECURRENT = ("lstm", "lstm_last", "gru", "gru_last", "rnn", "rnn_last")
_GATES = {"lstm": 8, "gru": 6, "rnn": 2}
_BIASES = {"lstm": 8, "gru": 8, "rnn": 2}


def recurrent_program(operator: str, dtype: ScalarType, **changed: Argument) -> PteProgram:
    """The program of a recurrent operator on codes of int8 or int16."""
    kind, _, last = operator.partition("_")
    random = np.random.default_rng(7)
    rows, biases = _GATES[kind], _BIASES[kind]
    kept = S16 if kind == "gru" else dtype
    zero = 3 if dtype is S8 else 0
    arguments: dict[str, Argument] = {
        "input": Input((3, 2, 2), dtype),
        "hidden": Input((2, 2), kept),
        "input_weights": random.integers(-127, 128, (rows, 2)).astype(np.int8),
        "hidden_weights": random.integers(-127, 128, (rows, 2)).astype(np.int8),
        "bias": random.integers(-500, 500, biases).astype(np.int32),
        "gate_multipliers": np.linspace(2**14, 2**15 - 1, biases).astype(np.int16),
        "batch_first": False,
        "reverse": True,
        "input_zero_point": zero,
        "hidden_zero_point": -zero,
        "hidden_shift": 2,
        "gate_shift": 5 if dtype is S8 else 0,
        "output_multiplier": 2**14,
        "output_shift": 13 if dtype is S8 else 5,
    }
    states = [Input((2, 2), kept)]
    if kind == "lstm":
        arguments |= {"cell": Input((2, 2)), "cell_bits": 12}
        states.append(Input((2, 2)))
    else:
        arguments |= {"state_bits": 15} if kind == "gru" else {"relu": False}
    first, *more = states if last else [Input((3, 2, 2), dtype), *states]
    return made(operator, arguments | changed, first.shape, first.dtype, *more)
