# SPDX-License-Identifier: Apache-2.0
"""Reading the operators on int16 codes: the library ``cortexm``."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Rescale, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.wide import softmax_multiplier
from cortexm_tools.pte import read_program
from cortexm_tools.pte.ops import CONVERTERS
from cortexm_tools.pte.values import ScalarType

from tests.support.wide_programs import ARGUMENTS, RECURRENT, Argument, Input, made, wide_program

_HALF = Rescale(2**30, 0)

# What the programs' operators become, but for the rescales of layers.
READ: dict[str, ops.Attrs] = {
    "quantized_batch_matmul": ops.BatchMatmul(0, 0, 0, Rescale(2**30, -14)),
    "quantized_avg_pool2d": ops.AvgPool2d(Window((3, 3), (2, 1), (1, 1, 1, 1))),
    "quantized_max_pool2d": ops.MaxPool2d(Window((3, 3), (2, 1), (1, 1, 1, 1)), -30000, 32767),
    "quantized_add": ops.Add(
        0, _HALF, 0, Rescale(1518500250, -1), 0, Rescale(2**30, -14), 0, 32767
    ),
    "quantized_mul": ops.Mul(0, 0, 0, Rescale(2**30, -13)),
    "quantized_activation": ops.Activation(),
    "softmax": ops.WideSoftmax(1, softmax_multiplier(0.001)),
    "requantize": ops.Requantize(0, Rescale(2**30, -6), 5, -128, 120),
    "quantized_linear": ops.Linear(
        0, 0, 0, (Rescale(2**30, -8), Rescale(2**31 - 1, -9)), -32767, 30000
    ),
    "upsample_bilinear2d": ops.UpsampleBilinear2d(
        (ops.Between(0, 1, 0.75), ops.Between(3, 4, 0.25)),
        (ops.Between(0, 1, 0.5), ops.Between(2, 3, 0.5), ops.Between(4, 5, 0.5)),
    ),
    "layer_norm": ops.LayerNorm(9, True, 0, 2**33, 10),
    "group_norm": ops.GroupNorm(2, 2**33, 10),
    "log_mel": ops.LogMel(
        points=64,
        start=4,
        hop=18,
        shift=6,
        roots=False,
        under_root=0,
        first=(0, 9, 32),
        count=(2, 4, 1),
        least=2**32 + 2**31,
        adds=True,
        gains=(2**30, 2**30, -9),
        offsets=(-(2**50), -(2**51), 2**41),
        gain_shift=38,
        act_min=-32000,
        act_max=32767,
    ),
}


def test_every_operator_of_the_library_has_a_program() -> None:
    ours = {name for name in CONVERTERS if name.startswith("cortexm::")}
    assert ours == {f"cortexm::{name}.out" for name in (*ARGUMENTS, *RECURRENT)}


@pytest.mark.parametrize("operator", ARGUMENTS)
def test_int16_operators_are_read(operator: str) -> None:
    graph = read_program(wide_program(operator), name="test")
    (op,) = graph.ops
    if operator in READ:
        assert op.attrs == READ[operator]
    else:
        assert isinstance(op.attrs, ops.ConvAttrs)
        assert op.attrs.kind == operator.removeprefix("quantized_")
        assert [each.shift for each in op.attrs.rescales[:2]] == [-7, -8]
        assert (op.attrs.act_min, op.attrs.act_max) == (-32767, 30000)
        assert (op.attrs.in_zero_point, op.attrs.out_zero_point) == (0, 0)
    inputs = [graph.tensors[index] for index in graph.inputs]
    assert {tensor.dtype for tensor in inputs} == {DType.S16}
    random = np.random.default_rng(1)
    codes = [random.integers(-(2**15), 2**15, t.shape).astype(np.int16) for t in inputs]
    (result,) = run_graph(graph, codes)
    assert result.dtype == (np.int8 if operator == "requantize" else np.int16)
    assert len(np.unique(result)) > 3


CHANGES: list[tuple[str, dict[str, Argument], str]] = [
    *(("quantized_conv2d", {name: 1}, name) for name in ("input_offset", "output_offset")),
    ("quantized_conv2d", {"activation_min": -32769}, "activation_min"),
    ("quantized_conv2d", {"activation_min": 3, "activation_max": 2}, "empty output range"),
    ("quantized_conv2d", {"requantize_shifts": np.full(3, 15, np.int32)}, "shift is 15"),
    ("quantized_conv2d", {"input": Input((1, 4, 5, 6), ScalarType.S8)}, "s8, must be s16"),
    ("quantized_depthwise_conv2d", {"bias": np.zeros(8, np.int16)}, "int32 values"),
    ("log_mel", {"points": 96}, "96 points"),
    ("log_mel", {"shift": 5}, "shift is 5"),
    ("log_mel", {"hop": 19}, "frames end at sample 102 of 100"),
    ("log_mel", {"first": (0, 9, 33)}, "first is 33"),
    ("log_mel", {"gains": (1, 2)}, "not gains"),
    ("log_mel", {"weights": np.full(7, -1, np.int16)}, "a weight is negative"),
    ("log_mel", {"window": Input((60,))}, "constant"),
    ("log_mel", {"least_low": -1}, "least_low"),
    ("log_mel", {"dtype": int(ScalarType.S8)}, "another type than stated"),
    ("quantized_linear", {"filter_offset": 1}, "filter_offset"),
    ("quantized_linear", {"requantize_shifts": (-8, -9, -7)}, "requantization"),
    ("quantized_linear", {"requantize_multipliers": (2**31, 0)}, "requantize_multipliers"),
    ("quantized_batch_matmul", {"rhs_zero_point": -1}, "rhs_zero_point"),
    ("quantized_batch_matmul", {"output_shift": 15}, "shift is 15"),
    ("quantized_max_pool2d", {"activation_max": 40000}, "activation_max"),
    ("quantized_add", {"other_zero_point": 3}, "other_zero_point"),
    ("quantized_mul", {"self_zero_point": 3}, "self_zero_point"),
    ("quantized_activation", {"lut": np.zeros(512, np.int16)}, "513 or 1025"),
    ("quantized_activation", {"lut": np.zeros(513, np.int8)}, "s8, must be s16"),
    ("softmax", {"input_scale": 0.7}, "too large"),
    ("layer_norm", {"size": 3}, "must be 3"),
    ("layer_norm", {"epsilon": 0}, "epsilon is 0"),
    ("layer_norm", {"shift": 25}, "shift is 25"),
    ("group_norm", {"groups": 3}, "not a multiple"),
    ("softmax", {"input_scale": 0.0}, "not positive"),
    ("requantize", {"input_zero_point": 1}, "in_zero_point"),
    ("requantize", {"dtype": int(ScalarType.S16)}, "another type"),
    ("requantize", {"output_zero_point": 128}, "output_zero_point"),
    ("requantize", {"shift": 16}, "exceed 32 bits"),
]


@pytest.mark.parametrize(("operator", "changed", "message"), CHANGES)
def test_what_int16_operators_do_not_mean_is_refused(
    operator: str, changed: dict[str, Argument], message: str
) -> None:
    with pytest.raises(CortexMError) as error:
        check_graph(read_program(wide_program(operator, **changed), name="test"))
    assert message in f"{error.value} {error.value.hint}"


def test_one_requantization_serves_all_outputs_of_a_linear_layer() -> None:
    one = {"requantize_multipliers": (2**30,), "requantize_shifts": (-8,)}
    (op,) = read_program(wide_program("quantized_linear", **one), name="test").ops
    assert isinstance(op.attrs, ops.Linear) and op.attrs.rescales == (Rescale(2**30, -8),)


def test_codes_become_wider() -> None:
    arguments = ARGUMENTS["requantize"] | {
        "input": Input((2, 9), ScalarType.S8),
        "input_zero_point": -7, "shift": 8, "output_zero_point": 0, "dtype": int(ScalarType.S16),
        "activation_min": -32768, "activation_max": 32767,
    }  # fmt: skip
    graph = read_program(made("requantize", arguments, (2, 9)), name="test")
    x = np.arange(-9, 9, dtype=np.int8).reshape(2, 9)
    (result,) = run_graph(graph, [x])
    assert np.array_equal(result, (x.astype(np.int16) + 7) * 128)
