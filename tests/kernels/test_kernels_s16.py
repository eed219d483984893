# SPDX-License-Identifier: Apache-2.0
"""Scalar kernels and references of int16 codes against the numpy formulas of the IR."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from cortexm_tools.ir import Rescale, fixed_point, wide

from tests.kernels.kernel_library import KernelLibrary, one_product
from tests.kernels.test_kernels_numpy import (
    ISAS,
    _codes,
    _conv2d_sums,
    _conv_params,
    conv_cases,
    multipliers,
    relaxed,
)

I16 = npt.NDArray[np.int16]
LOW, HIGH = -(2**15), 2**15 - 1
seeds = st.integers(0, 2**32 - 1)


def _wide_codes(rng: np.random.Generator, *shape: int) -> I16:
    return rng.choice(
        [rng.integers(LOW, HIGH + 1, shape), np.full(shape, LOW), np.full(shape, HIGH)],
        p=(0.6, 0.2, 0.2),
    ).astype(np.int16)


def _layer(
    rng: np.random.Generator, channels: int, is_wide: bool
) -> tuple[tuple[Rescale, ...], dict[str, Any], npt.NDArray[Any]]:
    """Requantizations, the same as fields, and biases."""
    rescales = tuple(
        Rescale(int(multiplier), int(shift))
        for multiplier, shift in zip(
            rng.integers(0, 2**31, channels), rng.integers(-31, 15, channels), strict=True
        )
    )
    fields = {
        "multiplier": np.array([wide.reduced(each.multiplier) for each in rescales], np.int16),
        "shift": np.array([each.shift for each in rescales], np.int8),
        "act_min": int(rng.integers(LOW, 1)),
        "act_max": int(rng.integers(0, HIGH + 1)),
    }
    if is_wide:
        return rescales, fields, rng.integers(-(2**46), 2**46, channels)
    return rescales, fields, rng.integers(-(2**30), 2**30, channels).astype(np.int32)


def _finished(
    sums: npt.NDArray[np.int64], rescales: tuple[Rescale, ...], fields: dict[str, Any]
) -> I16:
    codes = wide.rescale_wide_channels(sums, rescales, axis=sums.ndim - 1)
    return np.clip(codes, fields["act_min"], fields["act_max"]).astype(np.int16)


@relaxed
@given(case=conv_cases(), is_wide=st.booleans(), depthwise=st.booleans())
def test_convolutions(
    kernels: KernelLibrary, case: dict[str, Any], is_wide: bool, depthwise: bool
) -> None:
    rng = np.random.default_rng(case["seed"])
    groups = case["groups"]
    in_c = case["group_in"] * (1 if depthwise else groups)
    out_c = groups * (case["group_in"] if depthwise else case["group_out"])
    p = _conv_params(case, in_c, out_c, rng)
    rescales, fields, bias = _layer(rng, out_c, is_wide)
    p |= {**fields, "in_zero_point": 0}
    x = _wide_codes(rng, p["batches"], p["in_h"], p["in_w"], in_c)
    weight = _codes(rng, out_c, p["kernel_h"], p["kernel_w"], 1 if depthwise else case["group_in"])
    sums = _conv2d_sums({**p, "groups": in_c if depthwise else groups}, x, weight, bias)
    expected = _finished(sums, rescales, fields)
    if depthwise:
        weight, p["groups"] = np.ascontiguousarray(weight[..., 0].transpose(1, 2, 0)), 1
    for isa in ISAS:
        name = f"{'depthwise_' * depthwise}conv2d{'_wide' * is_wide}_s16_{isa}"
        got = kernels(name, p, [x, weight, bias], np.zeros_like(expected))
        np.testing.assert_array_equal(got, expected)


@relaxed
@given(
    rows=st.integers(1, 4), depth=st.integers(1, 40), width=st.integers(1, 20),
    is_wide=st.booleans(), seed=seeds,
)  # fmt: skip
def test_linear_and_batch_matmul(
    kernels: KernelLibrary, rows: int, depth: int, width: int, is_wide: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rescales, fields, bias = _layer(rng, width, is_wide)
    x, weight = _wide_codes(rng, rows, depth), _codes(rng, width, depth)
    expected = _finished(x.astype(np.int64) @ weight.T.astype(np.int64) + bias, rescales, fields)
    p = {**fields, "rows": rows, "in_features": depth, "out_features": width}
    b = _wide_codes(rng, width, depth)
    one = rescales[0]
    products = x.astype(np.int64) @ b.T.astype(np.int64)
    product = np.clip(wide.rescale_wide(products, one), LOW, HIGH).astype(np.int16)
    q = {**one_product(rows, width, depth),
         "multiplier": wide.reduced(one.multiplier), "shift": one.shift}  # fmt: skip
    for isa in ISAS:
        name = f"linear{'_wide' * is_wide}_s16_{isa}"
        got = kernels(name, p, [x, weight, bias], np.zeros_like(expected))
        np.testing.assert_array_equal(got, expected)
        got = kernels(f"batch_matmul_s16_{isa}", q, [x, b], np.zeros_like(product))
        np.testing.assert_array_equal(got, product)


@relaxed
@given(
    count=st.integers(1, 40), factors=st.tuples(multipliers, multipliers, multipliers),
    shift=st.integers(-20, 0), seed=seeds,
)  # fmt: skip
def test_element_by_element(
    kernels: KernelLibrary, count: int, factors: tuple[int, int, int], shift: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b = (_wide_codes(rng, count) for _ in range(2))
    x, y = a.astype(np.int64), b.astype(np.int64)
    narrow = _codes(rng, count)
    bits = int(rng.integers(4, 8))
    table = _wide_codes(rng, (65536 >> bits) + 1)
    p = {
        "count": count, "a_period": count, "b_period": count, "a_multiplier": factors[0],
        "a_shift": -1, "b_multiplier": -factors[1], "b_shift": -2, "out_multiplier": factors[2],
        "out_shift": shift, "multiplier": factors[0], "shift": shift, "act_min": -120,
        "act_max": 119, "in_zero_point": 0, "out_zero_point": 0, "bits": bits, "stride": 0,
    }  # fmt: skip
    total = fixed_point.requantize(x << 15, factors[0], -1) + fixed_point.requantize(
        y << 15, -factors[1], -2
    )
    raised = narrow.astype(np.int64) + 5
    scaled = {key: fixed_point.requantize(value, factors[0], shift)
              for key, value in (("x", x), ("product", x * y), ("narrow", raised))}  # fmt: skip
    added = fixed_point.requantize(total, factors[2], shift)
    cases: list[tuple[str, dict[str, int], list[Any], Any, Any]] = [
        ("add_s16", {}, [a, b], np.clip(added, -120, 119), np.int16),
        ("mul_s16", {}, [a, b], np.clip(scaled["product"], LOW, HIGH), np.int16),
        ("activation_s16", {}, [a, table], wide.interpolate(x, table.astype(np.int64)), np.int16),
        ("requantize_s16s16", {}, [a], np.clip(scaled["x"], -120, 119), np.int16),
        ("requantize_s16s8", {"out_zero_point": 7}, [a],
         np.clip(scaled["x"] + 7, -120, 119), np.int8),
        ("requantize_s8s16", {"in_zero_point": -5}, [narrow],
         np.clip(scaled["narrow"], -120, 119), np.int16),
    ]  # fmt: skip
    for isa in ISAS:
        for name, changed, operands, expected, dtype in cases:
            got = kernels(f"{name}_{isa}", p | changed, operands, np.zeros(count, dtype))
            np.testing.assert_array_equal(got, expected, name)


@relaxed
@given(
    outer=st.integers(1, 3), size=st.integers(1, 40), inner=st.integers(1, 4),
    multiplier=st.integers(0, 2**32 - 1) | st.integers(0, 31).map(lambda bit: 1 << bit), seed=seeds,
)  # fmt: skip
def test_softmax(
    kernels: KernelLibrary, outer: int, size: int, inner: int, multiplier: int, seed: int
) -> None:
    x = _wide_codes(np.random.default_rng(seed), outer, size, inner)
    last = np.moveaxis(x.astype(np.int64), 1, -1)
    expected = np.moveaxis(wide.softmax_s16(last, multiplier), -1, 1)
    p = {"outer": outer, "size": size, "inner": inner, "multiplier": multiplier}
    for isa in ISAS:
        got = kernels(f"softmax_s16_{isa}", p, [x], np.zeros_like(x))
        np.testing.assert_array_equal(got, expected)


def test_softmax_of_the_most_elements(kernels: KernelLibrary) -> None:
    """Of equal ones, whose sum has 48 bits, and of one among others that hardly count."""
    for below in (0, 719, 720, 721, 722):
        x = np.full((1, 2**16, 1), -below, np.int16)
        x[0, 0] = 0
        multiplier = wide.softmax_multiplier(0.03)
        expected = wide.softmax_s16(x.reshape(1, -1).astype(np.int64), multiplier).reshape(x.shape)
        p = {"outer": 1, "size": 2**16, "inner": 1, "multiplier": multiplier}
        for isa in ISAS:
            got = kernels(f"softmax_s16_{isa}", p, [x], np.zeros_like(x))
            np.testing.assert_array_equal(got, expected)
