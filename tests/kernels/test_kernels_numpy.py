# SPDX-License-Identifier: Apache-2.0
"""Scalar kernels and references against numpy formulas on shapes that Hypothesis chooses."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortexm_tools.ir import fixed_point

from tests.kernels.kernel_library import KernelLibrary, one_product

# The library fixture is built once per session; no example changes it.
relaxed = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ISAS = ("scalar", "ref")
I8 = npt.NDArray[np.int8]
codes = st.sampled_from([-128, -127, -1, 0, 1, 127]) | st.integers(-128, 127)
multipliers = st.sampled_from([2**30, 2**31 - 1]) | st.integers(2**30, 2**31 - 1)


def _codes(rng: np.random.Generator, *shape: int) -> I8:
    return rng.integers(-128, 128, shape).astype(np.int8)


def _saturate(value: npt.NDArray[np.int64], low: int = -128, high: int = 127) -> I8:
    return np.clip(value, low, high).astype(np.int8)


@st.composite
def conv_cases(draw: st.DrawFn) -> dict[str, Any]:
    """A convolution in numbers; the arrays follow from `seed`."""
    side = st.integers(1, 3)
    case: dict[str, Any] = {
        name: draw(side)
        for name in ("kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h", "dilation_w",
                     "batches", "groups", "group_in", "group_out")
    }  # fmt: skip
    case["group_in"] = draw(st.sampled_from([1, 3, 4, 5, 16, 17]))
    case["group_out"] = draw(st.sampled_from([1, 2, 4, 5, 8, 9]))
    case["in_h"] = draw(st.integers(1, 6))
    case["in_w"] = draw(st.integers(1, 6))
    for axis in "hw":
        reach = (case[f"kernel_{axis}"] - 1) * case[f"dilation_{axis}"]
        case[f"before_{axis}"] = draw(st.integers(0, reach + 1))
        case[f"after_{axis}"] = draw(st.integers(max(0, reach + 1 - case[f"in_{axis}"]), reach + 2))
    for name in ("in_zero_point", "out_zero_point", "act_min"):
        case[name] = draw(codes)
    case["act_max"] = draw(st.integers(case["act_min"], 127))
    case["seed"] = draw(st.integers(0, 2**32 - 1))
    return case


def _conv_params(case: dict[str, Any], in_c: int, out_c: int, rng: np.random.Generator) -> Any:
    p = {key: value for key, value in case.items() if not key.startswith("group_")}
    for axis in "hw":
        reach = (p[f"kernel_{axis}"] - 1) * p[f"dilation_{axis}"]
        space = p[f"in_{axis}"] + p.pop(f"before_{axis}") + p.pop(f"after_{axis}") - reach - 1
        p[f"out_{axis}"] = space // p[f"stride_{axis}"] + 1
    p.update(in_c=in_c, out_c=out_c)
    p.update(in_y0=-case["before_h"], in_x0=-case["before_w"])
    p["in_row_stride"] = p["in_w"] * in_c
    p["out_pixel_stride"] = out_c
    p["multiplier"] = rng.integers(2**30, 2**31, out_c).astype(np.int32)
    p["shift"] = rng.integers(-12, -3, out_c).astype(np.int8)
    return p


def _conv2d(p: Any, x: I8, weight: I8, bias: npt.NDArray[np.int32]) -> I8:
    """The definition: x [N,H,W,C], weight [O,KH,KW,C/groups], in padding of value in_zero_point."""
    acc = _conv2d_sums(p, x, weight, bias)
    scaled = fixed_point.requantize(acc, p["multiplier"].astype(np.int64), p["shift"])
    return _saturate(scaled + p["out_zero_point"], p["act_min"], p["act_max"])


def _conv2d_sums(
    p: Any, x: npt.NDArray[Any], weight: I8, bias: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    reach_h = p["kernel_h"] * p["dilation_h"] + p["stride_h"] * p["out_h"]
    reach_w = p["kernel_w"] * p["dilation_w"] + p["stride_w"] * p["out_w"]
    padded = np.pad(
        x.astype(np.int64),
        ((0, 0), (-p["in_y0"], reach_h), (-p["in_x0"], reach_w), (0, 0)),
        constant_values=p["in_zero_point"],
    )
    acc = np.zeros((p["batches"], p["out_h"], p["out_w"], p["out_c"]), np.int64) + bias
    depth, width = p["in_c"] // p["groups"], p["out_c"] // p["groups"]
    for ky, kx in itertools.product(range(p["kernel_h"]), range(p["kernel_w"])):
        rows = slice(ky * p["dilation_h"], None, p["stride_h"])
        cols = slice(kx * p["dilation_w"], None, p["stride_w"])
        view = padded[:, rows, cols][:, : p["out_h"], : p["out_w"]]
        for g in range(p["groups"]):
            outs = slice(g * width, (g + 1) * width)
            taps = weight[outs, ky, kx].astype(np.int64)
            acc[..., outs] += view[..., g * depth : (g + 1) * depth] @ taps.T
    return acc


@relaxed
@given(case=conv_cases())
def test_conv2d(kernels: KernelLibrary, case: dict[str, Any]) -> None:
    rng = np.random.default_rng(case["seed"])
    in_c, out_c = case["groups"] * case["group_in"], case["groups"] * case["group_out"]
    p = _conv_params(case, in_c, out_c, rng)
    x = _codes(rng, p["batches"], p["in_h"], p["in_w"], in_c)
    weight = _codes(rng, out_c, p["kernel_h"], p["kernel_w"], case["group_in"])
    bias = rng.integers(-(2**16), 2**16, out_c).astype(np.int32)
    expected = _conv2d(p, x, weight, bias)
    for isa in ISAS:
        got = kernels(f"conv2d_s8_{isa}", p, [x, weight, bias], np.zeros_like(expected))
        np.testing.assert_array_equal(got, expected)


@relaxed
@given(case=conv_cases())
def test_depthwise_conv2d(kernels: KernelLibrary, case: dict[str, Any]) -> None:
    """A depthwise convolution is a convolution of as many groups as input channels."""
    rng = np.random.default_rng(case["seed"])
    in_c, out_c = case["group_in"], case["group_in"] * case["groups"]
    p = _conv_params(case, in_c, out_c, rng)
    x = _codes(rng, p["batches"], p["in_h"], p["in_w"], in_c)
    weight = _codes(rng, p["kernel_h"], p["kernel_w"], out_c)
    bias = rng.integers(-(2**12), 2**12, out_c).astype(np.int32)
    per_output = np.ascontiguousarray(weight.transpose(2, 0, 1))[..., None]
    expected = _conv2d({**p, "groups": in_c}, x, per_output, bias)
    for isa in ISAS:
        got = kernels(f"depthwise_conv2d_s8_{isa}", {**p, "groups": 1}, [x, weight, bias],
                      np.zeros_like(expected))  # fmt: skip
        np.testing.assert_array_equal(got, expected)


@relaxed
@given(case=conv_cases(), output_padding=st.tuples(st.integers(0, 2), st.integers(0, 2)))
def test_transpose_conv2d(
    kernels: KernelLibrary, case: dict[str, Any], output_padding: tuple[int, int]
) -> None:
    """It is a stride-1 convolution, with mirrored weights, of the input spread by the stride."""
    rng = np.random.default_rng(case["seed"])
    in_c, out_c = case["group_in"], case["group_out"]
    p = _conv_params(case, in_c, out_c, rng)
    p["groups"] = 1
    cut = {}
    for axis, extra in zip("hw", output_padding, strict=True):
        reach = (p[f"kernel_{axis}"] - 1) * p[f"dilation_{axis}"]
        full = (p[f"in_{axis}"] - 1) * p[f"stride_{axis}"] + reach + 1
        cut[axis] = min(case[f"before_{axis}"], full - 1)
        p[f"out_{axis}"] = full - cut[axis] + extra
    p.update(in_y0=-cut["h"], in_x0=-cut["w"])
    p["out_pixel_stride"] = out_c
    x = _codes(rng, p["batches"], p["in_h"], p["in_w"], in_c)
    weight = _codes(rng, out_c, p["kernel_h"], p["kernel_w"], in_c)
    bias = rng.integers(-(2**12), 2**12, out_c).astype(np.int32)

    sh, sw = p["stride_h"], p["stride_w"]
    spread = np.full(
        (p["batches"], (p["in_h"] - 1) * sh + 1, (p["in_w"] - 1) * sw + 1, in_c),
        p["in_zero_point"], np.int8,
    )  # fmt: skip
    spread[:, ::sh, ::sw] = x
    reach_h = (p["kernel_h"] - 1) * p["dilation_h"]
    reach_w = (p["kernel_w"] - 1) * p["dilation_w"]
    as_conv = {
        **p, "stride_h": 1, "stride_w": 1, "in_y0": -reach_h, "in_x0": -reach_w,
        "out_h": p["out_h"] + cut["h"], "out_w": p["out_w"] + cut["w"],
    }  # fmt: skip
    whole = _conv2d(as_conv, spread, weight[:, ::-1, ::-1], bias)
    expected = np.ascontiguousarray(whole[:, cut["h"] :, cut["w"] :])
    for isa in ISAS:
        got = kernels(f"transpose_conv2d_s8_{isa}", p, [x, weight, bias],
                      np.zeros_like(expected))  # fmt: skip
        np.testing.assert_array_equal(got, expected)


@relaxed
@given(case=conv_cases(), cut=st.integers(1, 4), op=st.sampled_from(["conv2d", "transpose_conv2d"]))
def test_bands_equal_the_whole(
    kernels: KernelLibrary, case: dict[str, Any], cut: int, op: str
) -> None:
    """Two calls on the rows above and below `cut` give what one call on all rows gives."""
    rng = np.random.default_rng(case["seed"])
    in_c, out_c = case["group_in"], case["group_out"]
    p = {**_conv_params(case, in_c, out_c, rng), "groups": 1}
    x = _codes(rng, p["batches"], p["in_h"], p["in_w"], in_c)
    weight = _codes(rng, out_c, p["kernel_h"], p["kernel_w"], in_c)
    bias = rng.integers(-(2**12), 2**12, out_c).astype(np.int32)
    out = np.zeros((p["batches"], p["out_h"], p["out_w"], out_c), np.int8)
    name = f"{op}_s8_scalar"
    whole = kernels(name, p, [x, weight, bias], out)
    cut = min(cut, p["out_h"])
    upper = kernels(name, {**p, "out_h": cut}, [x, weight, bias], out)
    moved = cut * p["stride_h"] if op == "conv2d" else -cut
    lower = kernels(
        name, {**p, "out_h": p["out_h"] - cut, "in_y0": p["in_y0"] + moved}, [x, weight, bias], out
    )
    joined = np.concatenate([upper[:, :cut], lower[:, : p["out_h"] - cut]], axis=1)
    np.testing.assert_array_equal(joined, whole)


@relaxed
@given(
    rows=st.integers(1, 4),
    depth=st.integers(1, 40),
    width=st.integers(1, 20),
    zero_points=st.tuples(codes, codes),
    multiplier=multipliers,
    shift=st.integers(-31, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_linear_and_batch_matmul(
    kernels: KernelLibrary,
    rows: int,
    depth: int,
    width: int,
    zero_points: tuple[int, int],
    multiplier: int,
    shift: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    x, weight = _codes(rng, rows, depth), _codes(rng, width, depth)
    bias = rng.integers(-(2**20), 2**20, width).astype(np.int32)
    common = {"multiplier": multiplier, "shift": shift, "out_zero_point": zero_points[1]}
    product = x.astype(np.int64) @ (weight.astype(np.int64) - zero_points[0]).T
    each = rng.integers(2**30, 2**31, width).astype(np.int32)
    shifts = np.maximum(-31, shift - rng.integers(0, 4, width)).astype(np.int8)
    for isa in ISAS:
        p = {**common, "rows": rows, "in_features": depth, "out_features": width,
             "multiplier": each, "shift": shifts,
             "weight_zero_point": zero_points[0], "act_min": -100, "act_max": 110}  # fmt: skip
        got = kernels(f"linear_s8_{isa}", p, [x, weight, bias], np.zeros((rows, width), np.int8))
        scaled = fixed_point.requantize(product + bias, each.astype(np.int64), shifts)
        np.testing.assert_array_equal(got, _saturate(scaled + zero_points[1], -100, 110))

        p = {**common, **one_product(rows, width, depth),
             "lhs_zero_point": zero_points[1], "rhs_zero_point": zero_points[0]}  # fmt: skip
        got = kernels(f"batch_matmul_s8_{isa}", p, [x, weight], np.zeros((rows, width), np.int8))
        both = (x.astype(np.int64) - zero_points[1]) @ (weight.astype(np.int64) - zero_points[0]).T
        scaled = fixed_point.requantize(both, multiplier, shift) + zero_points[1]
        np.testing.assert_array_equal(got, _saturate(scaled))


@relaxed
@given(case=conv_cases())
def test_pools(kernels: KernelLibrary, case: dict[str, Any]) -> None:
    rng = np.random.default_rng(case["seed"])
    channels = case["group_in"]
    p = {**_conv_params(case, channels, channels, rng), "channels": channels}
    x = _codes(rng, p["batches"], p["in_h"], p["in_w"], channels)
    average = np.zeros((p["batches"], p["out_h"], p["out_w"], channels), np.int8)
    largest = np.full_like(average, p["act_min"])
    all_have_pixels = True
    for oy, ox in itertools.product(range(p["out_h"]), range(p["out_w"])):
        ys = p["in_y0"] + oy * p["stride_h"] + p["dilation_h"] * np.arange(p["kernel_h"])
        xs = p["in_x0"] + ox * p["stride_w"] + p["dilation_w"] * np.arange(p["kernel_w"])
        ys, xs = ys[(ys >= 0) & (ys < p["in_h"])], xs[(xs >= 0) & (xs < p["in_w"])]
        window = x[:, ys][:, :, xs].astype(np.int64).reshape(p["batches"], -1, channels)
        count = window.shape[1]
        if count == 0:
            all_have_pixels = False
            continue
        total = window.sum(axis=1)
        rounded = np.sign(total) * ((np.abs(total) + count // 2) // count)
        average[:, oy, ox] = rounded
        largest[:, oy, ox] = _saturate(window.max(axis=1), p["act_min"], p["act_max"])
    for isa in ISAS:
        got = kernels(f"max_pool2d_s8_{isa}", p, [x], np.zeros_like(largest))
        np.testing.assert_array_equal(got, largest)
        if all_have_pixels:
            got = kernels(f"avg_pool2d_s8_{isa}", p, [x], np.zeros_like(average))
            np.testing.assert_array_equal(got, average)


def test_average_pool_rounds_ties_away_from_zero(kernels: KernelLibrary) -> None:
    x = np.array([[1, 2], [-1, -2], [127, 126], [-128, -127]], np.int8)
    p = {
        "in_h": 4, "in_w": 2, "out_h": 4, "out_w": 1, "in_row_stride": 2, "out_pixel_stride": 1,
        "in_y0": 0, "in_x0": 0,
        "channels": 1, "kernel_h": 1, "kernel_w": 2, "stride_h": 1, "stride_w": 1,
        "dilation_h": 1, "dilation_w": 1, "act_min": -128, "act_max": 127,
    }  # fmt: skip
    for isa in ISAS:
        got = kernels(f"avg_pool2d_s8_{isa}", p, [x], np.zeros(4, np.int8))
        assert got.tolist() == [2, -2, 127, -128]


@relaxed
@given(
    inner=st.integers(1, 20),
    outer=st.integers(1, 5),
    b_kind=st.sampled_from(["one", "inner", "all"]),
    zero_points=st.tuples(codes, codes, codes),
    params=st.tuples(multipliers, multipliers, multipliers, st.integers(-20, 0)),
    swap=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_elementwise(
    kernels: KernelLibrary,
    inner: int,
    outer: int,
    b_kind: str,
    zero_points: tuple[int, int, int],
    params: tuple[int, int, int, int],
    swap: bool,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    count = inner * outer
    operands = [_codes(rng, count), _codes(rng, {"one": 1, "inner": inner, "all": count}[b_kind])]
    if swap:
        operands.reverse()
    a, b = (np.resize(operand, count).astype(np.int64) for operand in operands)
    za, zb, zo = zero_points
    ma, mb, mo, shift = params
    p: dict[str, Any] = {
        "count": count, "a_period": operands[0].size, "b_period": operands[1].size,
        "a_zero_point": za, "b_zero_point": zb, "out_zero_point": zo,
        "a_multiplier": ma, "a_shift": -1, "b_multiplier": mb, "b_shift": -2,
        "out_multiplier": mo, "out_shift": shift, "multiplier": ma, "shift": shift,
        "act_min": -120, "act_max": 119,
    }  # fmt: skip
    total = fixed_point.requantize((a - za) << 20, ma, -1) + fixed_point.requantize(
        (b - zb) << 20, mb, -2
    )
    expected = {
        "add": _saturate(fixed_point.requantize(total, mo, shift) + zo, -120, 119),
        "mul": _saturate(fixed_point.requantize((a - za) * (b - zb), ma, shift) + zo),
        "minimum": np.minimum(a, b).astype(np.int8),
        "maximum": np.maximum(a, b).astype(np.int8),
    }
    for isa in ISAS:
        for op, result in expected.items():
            got = kernels(f"{op}_s8_{isa}", p, operands, np.zeros(count, np.int8))
            np.testing.assert_array_equal(got, result, op)


@relaxed
@given(
    dtype=st.sampled_from([np.int8, np.int16]),
    scale=st.floats(2**-10, 2**10, width=32),
    seed=st.integers(0, 2**32 - 1),
)
def test_div(kernels: KernelLibrary, dtype: type[np.signedinteger[Any]], scale: float,
             seed: int) -> None:  # fmt: skip
    info = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    za, zb, zo = (int(z) for z in rng.integers(info.min, info.max + 1, 3))
    a, b = (rng.integers(info.min, info.max + 1, 200).astype(dtype) for _ in range(2))
    b[:5] = zb
    x = (a.astype(np.int32) - za).astype(np.float32)
    y = (b.astype(np.int32) - zb).astype(np.float32)
    quotient = np.where(y != 0, x / np.where(y != 0, y, 1), 0).astype(np.float32)
    rounded = np.rint(quotient * np.float32(scale)).astype(np.float64) + zo
    expected = np.clip(rounded, info.min, info.max).astype(dtype)
    p = {"count": 200, "scale": scale, "a_zero_point": za, "b_zero_point": zb,
         "out_zero_point": zo}  # fmt: skip
    types = f"s{info.bits}"
    for isa in ISAS:
        got = kernels(f"div_{types}_{isa}", p, [a, b], np.zeros(200, dtype))
        np.testing.assert_array_equal(got, expected)


@relaxed
@given(
    outer=st.integers(1, 3),
    size=st.integers(1, 40),
    inner=st.integers(1, 4),
    multiplier=multipliers,
    shift=st.integers(15, 23),
    diff_min=st.integers(-255, 0),
    seed=st.integers(0, 2**32 - 1),
)
def test_softmax(
    kernels: KernelLibrary,
    outer: int,
    size: int,
    inner: int,
    multiplier: int,
    shift: int,
    diff_min: int,
    seed: int,
) -> None:
    x = _codes(np.random.default_rng(seed), outer, size, inner)
    last = np.moveaxis(x.astype(np.int64), 1, -1)
    result = fixed_point.softmax_s8(last, fixed_point.Rescale(multiplier, shift), diff_min)
    expected = np.moveaxis(result, -1, 1).astype(np.int8)
    p = {"outer": outer, "size": size, "inner": inner, "multiplier": multiplier, "shift": shift,
         "diff_min": diff_min}  # fmt: skip
    table = fixed_point.softmax_table(fixed_point.Rescale(multiplier, shift), diff_min)
    for isa in ISAS:
        got = kernels(f"softmax_s8_{isa}", p, [x], np.zeros_like(x))
        np.testing.assert_array_equal(got, expected)
        got = kernels(f"softmax_table_s8_{isa}", p, [x, table], np.zeros_like(x))
        np.testing.assert_array_equal(got, expected)


def test_softmax_is_close_to_the_mathematical_one(kernels: KernelLibrary) -> None:
    scale = 0.1
    x = _codes(np.random.default_rng(7), 50, 12)
    mantissa, exponent = math.frexp(scale * 2.0**26)
    p = {"outer": 50, "size": 12, "inner": 1, "multiplier": round(mantissa * 2**31),
         "shift": exponent, "diff_min": -255}  # fmt: skip
    e = np.exp(scale * (x - x.max(axis=1, keepdims=True).astype(np.float64)))
    exact = e / e.sum(axis=1, keepdims=True)
    got = kernels("softmax_s8_scalar", p, [x], np.zeros_like(x))
    assert np.abs((got.astype(np.float64) + 128) / 256 - exact).max() <= 1 / 256


floats = st.floats(width=32, allow_nan=True, allow_infinity=True) | st.integers(-600, 600).map(
    lambda n: n / 2
)


@relaxed
@given(
    values=st.lists(floats, min_size=1, max_size=40),
    bits=st.sampled_from([8, 16]),
    inv_scale=st.sampled_from([1.0, 0.5, 3.0, 127.5, 2.0**-20, 2.0**100]),
    data=st.data(),
)
def test_quantize_and_dequantize(
    kernels: KernelLibrary, values: list[float], bits: int, inv_scale: float, data: st.DataObject
) -> None:
    dtype = np.dtype(f"int{bits}")
    info = np.iinfo(dtype)
    x = np.array(values, np.float32)
    zero_point = data.draw(st.sampled_from([info.min, 0, info.max]) | st.integers(-100, 100))
    qmin = data.draw(st.sampled_from([info.min, info.min + 1, -7]))
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.nan_to_num(np.rint(x * np.float32(inv_scale)).astype(np.float64), nan=0.0)
    expected = np.clip(rounded + zero_point, qmin, info.max).astype(dtype)
    p = {"count": x.size, "inv_scale": inv_scale, "zero_point": zero_point, "qmin": qmin,
         "qmax": info.max, "scale": 1 / inv_scale}  # fmt: skip
    back = (expected.astype(np.int32) - zero_point).astype(np.float32) * np.float32(1 / inv_scale)
    for isa in ISAS:
        got = kernels(f"quantize_f32s{bits}_{isa}", p, [x], np.zeros(x.shape, dtype))
        np.testing.assert_array_equal(got, expected)
        got = kernels(f"dequantize_s{bits}f32_{isa}", p, [expected], np.zeros_like(x))
        np.testing.assert_array_equal(got, back)


def test_activation_reads_the_table_by_code(kernels: KernelLibrary) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    table = _codes(np.random.default_rng(3), 256)
    for isa in ISAS:
        got = kernels(f"activation_s8_{isa}", {"count": 256}, [x, table], np.zeros_like(x))
        np.testing.assert_array_equal(got, table)


@relaxed
@given(
    dims=st.lists(st.integers(0, 5), min_size=0, max_size=5),
    size=st.sampled_from([8, 16, 32, 64]),
    data=st.data(),
)
def test_copy(kernels: KernelLibrary, dims: list[int], size: int, data: st.DataObject) -> None:
    """A transposed, flipped and broadcast numpy view, copied into a dense array."""
    rank = len(dims)
    perm = data.draw(st.permutations(range(rank)))
    flip = data.draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
    broadcast = data.draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
    dtype = np.dtype(f"uint{size}")
    shape = [1 if wide and n else n for n, wide in zip(dims, broadcast, strict=True)]
    count = math.prod(shape)
    source = np.random.default_rng(count).integers(0, 2**size, max(count, 1), dtype, endpoint=False)
    view = source[:count].reshape(shape)
    for axis, mirrored in enumerate(flip):
        view = np.flip(view, axis) if mirrored else view
    view = np.broadcast_to(view, dims).transpose(perm)
    expected = np.array(view, order="C")
    first = 0
    if expected.size:
        first = (view.__array_interface__["data"][0] - source.ctypes.data) // source.itemsize
    fill = [0] * (8 - rank)
    p: dict[str, Any] = {
        "rank": rank,
        "dims": [*view.shape, *fill],
        "in_stride": [*(s // dtype.itemsize for s in view.strides), *fill],
        "out_stride": [*(s // dtype.itemsize for s in expected.strides), *fill],
    }
    for isa in ISAS:
        out = np.zeros(expected.shape, dtype)
        got = kernels(f"copy_x{size}_{isa}", p, [source], out, offsets=[first, 0])
        np.testing.assert_array_equal(got, expected)


@relaxed
@given(count=st.integers(0, 70), by=st.integers(0, 40))
def test_move(kernels: KernelLibrary, count: int, by: int) -> None:
    for isa in ISAS:
        data = np.arange(count + by, dtype=np.uint8)
        got = kernels(f"move_x8_{isa}", {"count": count}, [data[by:].copy()], data[:count].copy())
        assert got.tolist() == list(range(by, by + count))


@relaxed
@given(count=st.integers(0, 40), value=st.integers(-(2**31), 2**31 - 1))
def test_fill(kernels: KernelLibrary, count: int, value: int) -> None:
    for size, isa in itertools.product((8, 16, 32), ISAS):
        dtype = np.dtype(f"uint{size}")
        got = kernels(f"fill_x{size}_{isa}", {"count": count, "value": value}, [],
                      np.zeros(count, dtype))  # fmt: skip
        assert got.tolist() == [value % 2**size] * count
