# SPDX-License-Identifier: Apache-2.0
"""What kernels store beyond the weights, biases and requantization parameters of a layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, Op, ops
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.lower.context import Lowered
from cortexm_tools.plan.types import ConstantArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.ways import Pick, taking, where

CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")


def odd_layer(seed: int) -> Graph:
    """A convolution, grouped or depthwise, or a linear layer, with any numbers of channels; some of
    weights of 4 bits."""
    net = Net(f"odd{seed}", seed, mixed=True)
    pick = net.random.integers
    kind = seed % 4
    in_c, out_c = int(pick(1, 41)), int(pick(1, 41))
    if kind == 0:
        return net.finish(net.linear(net.input((1, in_c)), out_c))
    groups = int(pick(2, 5)) if kind == 1 else 1
    size = int(pick(1, 4))
    x = net.input((1, groups * in_c, 4, 4))
    out_c = groups * in_c if kind == 2 else groups * out_c
    padding = (size // 2, size // 2, (size - 1) // 2, (size - 1) // 2)
    y = net.conv(x, out_c, (size, size), padding=padding, depthwise=kind == 2, groups=groups)
    return net.finish(y)


def allowed(pack: str, channels: int, depth: int, left: int) -> int:
    """Bytes that a form of the weights may take besides them, for so many of each output, of
    which so many are left of fours.

    Most of it is read, and not used, behind the last ones; it does not grow with the layer.
    What does grow is a byte per channel where DSP kernels take an odd number of inputs in twos,
    or two where conv2d_s8_dsp has two left of fours (conv2d_symmetric fills them up), up to eight where
    conv2d_s8_mve has half a vector of inputs or more, or twelve for a quarter behind three, a channel
    where it takes an odd number in twos, and depthwise channels filled up to eights for MVE.
    The others fill rows up to whole vectors, as plan/choose weighs.
    With 4 bits it is half as much, but inputs come in fours, and those of channels that are left in eights.
    """
    in_twos = depth % 2 * channels
    is_filled = depth % 16 >= (8 if depth < 48 else 4)
    filled = -depth % 16 * channels if is_filled else 0  # windows of several pixels
    return {
        "": 0,
        "fours": 0,
        "signed_fours": 0,
        "tap_fours": 0,
        "gemm4": max(0, 16 - depth) + filled,
        "gemm8": max(0, 16 - depth),
        "sixteens": -depth % 16 * channels,
        "window_rows": 1,
        "pairs": 8 + 9 + in_twos,
        "split_twos": 4 + (0, 1, 2, 1)[depth % 4] * channels + channels % 2 * (depth + 2),
        "signed_split_fours": -depth % 4 * channels + channels % 2 * (depth + 3),
        "signed_split_twos": -depth % 4 * channels + channels % 2 * (depth + 3),
        "depthwise16": 0,
        "depthwise8": -channels % 8 * depth,
        "tap_pairs": depth % 2 * channels + -channels % 4 * (depth + depth % 2),
        "nibble_gemm4": max(0, 16 - depth) + left * 8 + filled,
        "nibble_gemm8": max(0, 16 - depth) + channels % 8 * 8,
        "nibble_rows": 0,
        "nibble_fours": in_twos,
        "nibble_channels": channels % 2 * (depth + 1),
        "nibble_signed_fours": in_twos,
        "nibble_tap_fours": 1,
        "nibble_pairs": 4 + in_twos + left * 4,
        "nibble_twos": -depth % 4 * channels + channels % 2 * (depth + 3),
        "nibble_depthwise8": 8 + -channels % 8 * depth,
    }.get(pack, channels * depth)


def unchanged(seed: int) -> Pick:
    """A way with a layer as it is, with another kernel for each seed."""

    def pick(graph: Graph, op: Op, ways: Sequence[Lowered]) -> Lowered:
        made = graph.tensors[op.outputs[0]].shape[1]
        groups = getattr(op.attrs, "groups", 1)
        own = []
        for way in ways:
            fields = way.calls[0].int_fields
            as_many = fields.get("out_c", made) == made and fields.get("groups", 1) == groups
            fills_rows = way.calls[0].kernel.pack == "row_sixteens"  # on purpose
            is_plain = as_many and len(way.calls) == 1 and not fields.get("dilation_w", 1) > 1
            if is_plain and not fills_rows:
                own.append(way)
        return own[seed % len(own)] if own else ways[0]

    return pick


@pytest.mark.parametrize("cpu", CORES)
def test_forms_of_weights_cost_next_to_nothing(cpu: str) -> None:
    seen = set()
    for seed in range(240):
        with taking(unchanged(seed // 4)):
            plan = make_plan(simplify(odd_layer(seed)), Target.parse(cpu))
        (call,) = (call for step in plan.steps for call in step.calls)
        if call.kernel.serves == "activation":
            continue  # a single weight: a table
        weights = next(arg.name for arg in call.args if isinstance(arg, ConstantArg))
        fields = call.int_fields
        channels = fields.get("out_c", 0) or fields["out_features"]
        for constant in plan.constants:
            more = constant.nbytes - constant.needed
            if constant.name == weights:
                groups = fields.get("groups", 1)
                left = groups * (channels // groups % 4)
                pack = call.kernel.pack
                depth = constant.needed * (1 + pack.startswith("nibble")) // channels
                assert 0 <= more <= allowed(pack, channels, depth, left), (seed, pack)
                seen.add(pack)
            else:
                # A table of four_tables fills the shifts of its last channels up to a word.
                filled = -channels % 4 if call.kernel.pack == "signed_split_fours" else 0
                assert more == filled, (seed, constant.name)
    assert {
        "cortex-m55": {
            "gemm4",
            "gemm8",
            "depthwise8",
            "nibble_gemm4",
            "nibble_depthwise8",
        },
        "cortex-m4": {
            "split_twos",
            "pairs",
            "signed_fours",
            "tap_fours",
            "window_rows",
            "nibble_twos",
            "nibble_pairs",
            "nibble_rows",
        },
    }.get(cpu, {"fours", "tap_fours"}) <= seen


def test_a_constant_that_is_copied_in_halves_is_stored_in_halves() -> None:
    """MVE copies floats so: what is stored is what the copy reads, in its elements."""
    net = Net("expand", 1)
    values = net.random.normal(size=(4, 1, 3)).astype(np.float32)
    y = net.add(ops.Expand(), [net.constant(values, DType.F32)], (4, 1000, 3), DType.F32)
    with taking(where(lambda attrs, calls: calls[0].kernel.unit == 2)):
        plan = make_plan(net.finish(y), Target.parse("cortex-m55"))
    (call,), (stored,) = plan.steps[0].calls, plan.constants
    fields = dict(call.fields)
    assert call.kernel.unit == 2 and stored.nbytes == values.nbytes
    halves = [
        sum(i * step for i, step in zip(np.indices(fields["dims"]), fields[name], strict=True))
        for name in ("in_stride", "out_stride")
    ]
    made = np.zeros(halves[1].max() + 1, np.uint16)
    made[halves[1]] = stored.data.view(np.uint16).reshape(-1)[halves[0]]
    assert made.tobytes() == np.broadcast_to(values, (4, 1000, 3)).tobytes()
