# SPDX-License-Identifier: Apache-2.0
"""CMSIS-NN as the kernel library: where its results are ours, and what memory it needs.

Conditions and formulas are functions of a layer's facts (see conditions/), here with `isa`, the
instruction set that CMSIS-NN is compiled for (`compiled_isa`). They hold for its versions 18
(Zephyr 4.x) and 19; every model that is built repeats the sizes against the library it finds
(emit/cmsis_nn.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...errors import CortexMError
from ...ir.fixed_point import Rescale
from ...ir.wide import reduced
from ...target import CORES, Core, Isa, Target
from .facts import Facts

LIBRARY = "cmsis-nn"

# A depthwise convolution on MVE goes through the image in blocks of so many channels, and a
# transposed one with more inputs than so many becomes a convolution of the widened image.
_MVE_CHANNELS = 124
_FEW_INPUTS = 16

# Products of int16 codes that are added up in 32 bits, unless others follow in 64.
_STARTS = 512


def compiled_isa(target: Target) -> Isa:
    """The instruction set that a library compiled for `target` uses, which chooses by compiler macros.

    M4 and M7 have DSP instructions whatever the plan uses; on other cores the compiler is told.

    Raises:
        CortexMError: CPU any, whose library may be compiled for any core.
    """
    if target.core is Core.ANY:
        raise CortexMError(
            "CMSIS-NN's scratch memory depends on the core, and CPU any names none",
            hint="name the core, or leave KERNELS out",
        )
    return max(CORES[target.core].least, target.isa, key=list(Isa).index)


# -- Conditions: `when` of the adapters in kernels.json ---------------------------------------------


def _sums(facts: Facts) -> bool:
    """No accumulator, shifted to the left as requantization demands, leaves 32 bits: CMSIS-NN is
    compiled without -fwrapv, and its sums begin elsewhere than ours."""
    shift = max(0, *(rescale.shift for rescale in facts["rescales"]))
    return bool(facts["largest_plain_sum"] << shift < 1 << 31)


def _in_32_bits(largest: int, rescale: Rescale) -> bool:
    """Sums of int16 codes up to `largest`, requantized but for the last shift by one, fit in 32 bits."""
    bound = largest * reduced(rescale.multiplier) >> (14 - rescale.shift)
    return bound + 1 < (1 << 31) - 1


def _wide_sums(facts: Facts) -> bool:
    """Of int16 codes: results before the clamp have 32 bits, and so has the sum of the first products."""
    results = (_in_32_bits(facts["largest_sum"], rescale) for rescale in facts["rescales"])
    return bool(facts["largest_start"] < 1 << 31 and all(results))


def _image(facts: Facts) -> bool:
    """Whole images: dense rows, and a window that begins in the image or in padding before it."""
    in_c = facts.get("channels", facts.get("in_c"))
    out_c = facts.get("channels", facts.get("out_c"))
    return bool(
        facts["in_row_stride"] == facts["in_w"] * in_c
        and facts["out_pixel_stride"] == out_c
        and facts["in_y0"] <= 0
        and facts["in_x0"] <= 0
        and max(facts["in_h"], facts["in_w"], facts["out_h"], facts["out_w"]) < 1 << 15
    )


def _is_pointwise(facts: Facts) -> bool:
    """arm_convolve_1x1_s8 and arm_convolve_1x1_s8_fast."""
    return bool(
        facts["in_y0"] == facts["in_x0"] == 0
        and facts["kernel_h"] == facts["kernel_w"] == 1
        and facts["dilation_h"] == facts["dilation_w"] == 1
        and facts["groups"] == 1
    )


def _is_row(facts: Facts) -> bool:
    """arm_convolve_1_x_n_s8."""
    return bool(
        facts["in_h"] == 1
        and facts["kernel_h"] == 1
        and facts["dilation_w"] == 1
        and facts["stride_w"] * facts["in_c"] % 4 == 0
        and facts["groups"] == 1
        and not _is_pointwise(facts)
    )


def _row_pads(facts: Facts) -> tuple[int, int, int, int]:
    """Of a row on MVE: padding before it, the same less what is missing at its end, and windows that
    reach out of the image before and behind."""
    pad, stride = -facts["in_x0"], facts["stride_w"]
    total = (facts["out_w"] - 1) * stride + facts["kernel_w"] - facts["in_w"]
    odd = int(math.fmod(total, 2))
    right = max(1, (pad + odd + stride - 1) // stride) if pad + odd else 0
    left = max(1, (pad + stride - 1) // stride) if pad else 0
    return total, odd, left, right


def _conv2d(facts: Facts) -> bool:
    """A 1x1 window lies in the image; with stride 1 all of it is read.

    On MVE the function for a single row take padding of equal size, or one pixel more behind, and
    copy a window less one pixel before the end: it has to be there, and nothing may follow it."""
    if _is_pointwise(facts):
        last_y = (facts["out_h"] - 1) * facts["stride_h"]
        last_x = (facts["out_w"] - 1) * facts["stride_w"]
        if facts["stride_h"] == facts["stride_w"] == 1:
            return bool(last_y == facts["in_h"] - 1 and last_x == facts["in_w"] - 1)
        return bool(last_y < facts["in_h"] and last_x < facts["in_w"])
    if facts["in_h"] == 1 and facts["kernel_h"] == 1 and facts["out_h"] != 1:
        return False  # rows of padding: the one-row function makes one row
    if not (_is_row(facts) and facts["isa"] is Isa.MVE):
        return True
    pad, stride, kernel = -facts["in_x0"], facts["stride_w"], facts["kernel_w"]
    total, odd, left, right = _row_pads(facts)
    inside = facts["out_w"] - left - right
    if total < 0 or 2 * pad + odd != total or facts["in_y0"] != 0:
        return False
    if inside < 0:
        return True  # the general function
    rest = facts["in_w"] - (stride * (left + inside) - pad)
    behind = right if odd else pad
    ends_well = rest == kernel - 1 and (right - 1) * stride + 1 <= behind
    return bool(kernel <= facts["in_w"] and (ends_well if right else rest >= kernel - 1))


def _conv2d_s16(facts: Facts) -> bool:
    """One group. Of windows of more than 512 inputs the function without MVE adds up those of a last
    single pixel in 32 bits, and with DSP instructions reads a last single channel beyond its end."""
    depth = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"]
    if facts["groups"] != 1 or depth >= 1 << 16:
        return False
    if depth <= _STARTS or facts["isa"] is Isa.MVE:
        return True
    if facts["isa"] is Isa.DSP and facts["out_c"] % 2 and depth % 4:
        return False
    return bool(facts["largest_sum"] < 1 << 31 or facts["out_h"] * facts["out_w"] % 2 == 0)


def _depthwise_s16(facts: Facts) -> bool:
    """Where channels have one output each, every window has a pixel of the image: the function for that
    fills rows up to the image."""
    return not _is_fast_depthwise(facts) or _windows(facts)


def _is_fast_depthwise(facts: Facts) -> bool:
    """arm_depthwise_conv_fast_s16."""
    return bool(
        facts["in_c"] == facts["out_c"]
        and facts["dilation_h"] == facts["dilation_w"] == 1
        and facts["kernel_h"] * facts["kernel_w"] < _STARTS
    )


def _conv2d_s4(facts: Facts) -> bool:
    """One group, and an even number of weights for each output, so that no two outputs share a byte.
    Not the function for a single row on MVE, which may begin within a byte."""
    depth = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"]
    is_row = facts["isa"] is Isa.MVE and _is_row(facts)
    return bool(facts["groups"] == 1 and depth % 2 == 0 and not is_row)


def _depthwise_s4(facts: Facts) -> bool:
    """An even number of channels, so that no two taps share a byte. Where channels have one output each,
    windows as of int16, and not on MVE: there GCC 12 takes the function's constant predicate, every other
    one of four lanes, for all of them."""
    if _is_optimal_depthwise(facts) and (facts["isa"] is Isa.MVE or not _windows(facts)):
        return False
    return bool(facts["in_c"] % 2 == 0)


def _is_optimal_depthwise(facts: Facts) -> bool:
    """arm_depthwise_conv_s4_opt."""
    is_dense = facts["dilation_h"] == facts["dilation_w"] == 1
    return bool(facts["in_c"] == facts["out_c"] and is_dense)


def _linear_s4(facts: Facts) -> bool:
    """Weights without a zero point, an even number of them for each output."""
    return bool(facts["weight_zero_point"] == 0 and facts["in_features"] % 2 == 0)


def _transpose(facts: Facts) -> bool:
    """Padding that is less than a window; version 18 loses a row where it is not a multiple of the stride.
    Rows and columns of the result end where those of the last input pixel do."""
    for side in "hw":
        pad = -facts["in_y0" if side == "h" else "in_x0"]
        kernel, stride = facts[f"kernel_{side}"], facts[f"stride_{side}"]
        full = (facts[f"in_{side}"] - 1) * stride + max(kernel, stride)
        if facts[f"dilation_{side}"] != 1 or pad >= kernel or facts[f"out_{side}"] + pad > full:
            return False
    return _is_widened(facts) or -facts["in_y0"] % facts["stride_h"] == 0


def _is_widened(facts: Facts) -> bool:
    """The transposed convolution becomes a convolution of the widened image."""
    return bool(max(facts["stride_h"], facts["stride_w"]) <= 2 and facts["in_c"] > _FEW_INPUTS)


def _windows(facts: Facts) -> bool:
    """Every window has a pixel of the image, and no gaps. A sum of codes fits into 24 bits."""
    return bool(
        facts["dilation_h"] == facts["dilation_w"] == 1
        and -facts["in_y0"] < facts["kernel_h"]
        and -facts["in_x0"] < facts["kernel_w"]
        and facts["in_y0"] + (facts["out_h"] - 1) * facts["stride_h"] < facts["in_h"]
        and facts["in_x0"] + (facts["out_w"] - 1) * facts["stride_w"] < facts["in_w"]
        and facts["kernel_h"] * facts["kernel_w"] < 1 << 16
    )


def _linear(facts: Facts) -> bool:
    """On MVE by a convolution, whose weights have no zero point: its function for one multiplier per
    output takes the wrong ones."""
    return facts["isa"] is not Isa.MVE or facts["weight_zero_point"] == 0


def _products(facts: Facts) -> bool:
    """Sums of products of codes less zero points fit into 32 bits, also after a shift to the left."""
    fits = facts["inner"] * 255 * 255 << max(0, facts["shift"]) < 1 << 31
    return bool(fits and _is_dense(facts))


def _wide_products(facts: Facts) -> bool:
    """Of int16 codes: results before the clamp have 32 bits."""
    fits = all(_in_32_bits(facts["inner"] << 30, rescale) for rescale in facts["rescales"])
    return fits and _is_dense(facts)


def _is_dense(facts: Facts) -> bool:
    """Whether matrices lie one after the other."""
    rows, cols, inner = facts["rows"], facts["cols"], facts["inner"]
    return bool(
        facts["groups"] == 1
        and facts["lhs_strides"][1:] == (rows * inner, inner)
        and facts["rhs_strides"][1:] == (cols * inner, inner, 1)
        and facts["out_strides"][1:] == (rows * cols, cols)
    )


def _add(facts: Facts) -> bool:
    """Both operands stay below 2^30, their sum is not shifted to the left."""
    return bool(facts["a_shift"] <= 2 and facts["b_shift"] <= 2 and facts["out_shift"] <= 0)


def _mul(facts: Facts) -> bool:
    """Differences of 16 bits, whose product shifted to the left fits into 32 bits."""
    a, b = (128 + abs(facts[f"{operand}_zero_point"]) for operand in "ab")
    return bool(max(a, b) < 1 << 15 and a * b << max(0, facts["shift"]) < 1 << 31)


def _add_s16(facts: Facts) -> bool:
    """No shift to the left: operands are 2^30 already, and must not become more, as their sum has 32 bits."""
    multipliers = facts["a_multiplier"], facts["b_multiplier"]
    shifts = facts["a_shift"], facts["b_shift"], facts["out_shift"]
    return bool(max(shifts) <= 0 and min(multipliers) > 1 - (1 << 31))


def _mul_s16(facts: Facts) -> bool:
    """No shift to the left: products are 2^30 already."""
    return bool(facts["shift"] <= 0)


def _runs(facts: Facts) -> bool:
    """One operand does not repeat, and the other one in runs that are worth a call."""
    short, long = sorted((facts["a_period"], facts["b_period"]))
    return bool(long == facts["count"] and (short >= 8 or short == long))


def _scalar(facts: Facts) -> bool:
    """Operands of the result's extents or of one element."""
    periods = {facts["a_period"], facts["b_period"]}
    return facts["count"] in periods and periods <= {1, facts["count"]}


def _softmax(facts: Facts) -> bool:
    """Rows that lie in one piece, of a sum of exponentials and with differences that fit into 32 bits."""
    return bool(
        facts["inner"] == 1
        and facts["size"] < 1 << 12
        and 0 <= facts["shift"] < 31
        and -facts["diff_min"] << facts["shift"] < 1 << 31
    )


CASES: dict[str, Callable[[Facts], bool]] = {
    "nn_sums": _sums,
    "nn_wide_sums": _wide_sums,
    "nn_image": _image,
    "nn_conv2d": _conv2d,
    "nn_conv2d_s16": _conv2d_s16,
    "nn_conv2d_s4": _conv2d_s4,
    "nn_depthwise_s16": _depthwise_s16,
    "nn_depthwise_s4": _depthwise_s4,
    "nn_transpose": _transpose,
    "nn_windows": _windows,
    "nn_linear": _linear,
    "nn_linear_s4": _linear_s4,
    "nn_products": _products,
    "nn_wide_products": _wide_products,
    "nn_add": _add,
    "nn_add_s16": _add_s16,
    "nn_mul": _mul,
    "nn_mul_s16": _mul_s16,
    "nn_runs": _runs,
    "nn_scalar": _scalar,
    "nn_softmax": _softmax,
}


# -- Scratch memory, bytes --------------------------------------------------------------------------


def _window_bytes(facts: Facts) -> int:
    """arm_convolve_s8: four windows of int8 in whole vectors on MVE, two of int16 elsewhere."""
    depth = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"]
    if facts["isa"] is Isa.MVE:
        return int(4 * 16 * -(-depth // 16))
    return int(2 * 2 * 4 * -(-depth // 4))


def _conv2d_bytes(facts: Facts) -> int:
    if _is_pointwise(facts):
        return 0
    if not (_is_row(facts) and facts["isa"] is Isa.MVE):
        return _window_bytes(facts)
    _, odd, left, right = _row_pads(facts)
    if facts["out_w"] - left - right < 0:
        return _window_bytes(facts)
    pad, kernel = -facts["in_x0"], facts["kernel_w"]
    behind = right if odd else pad
    return int(facts["in_c"] * max(kernel + pad, kernel - 1 + behind))


def _depthwise_bytes(facts: Facts) -> int:
    """Columns of four pixels on MVE, of one in 16 bits with DSP instructions."""
    taps = facts["kernel_h"] * facts["kernel_w"]
    if facts["in_c"] != facts["out_c"] or not facts["dilation_h"] == facts["dilation_w"] == 1:
        return 0
    if facts["isa"] is Isa.MVE:
        return int(4 * _MVE_CHANNELS * taps)
    if facts["kernel_h"] == facts["kernel_w"] == 3 and min(facts["in_y0"], facts["in_x0"]) >= -1:
        return 0
    return int(2 * taps * facts["in_c"]) if facts["isa"] is Isa.DSP else 0


def _conv2d_s4_bytes(facts: Facts) -> int:
    """arm_convolve_s4, arm_convolve_even_s4: as for weights of int8, but windows are not in fours."""
    if _is_pointwise(facts):
        return 0
    if facts["isa"] is Isa.MVE:
        return _window_bytes(facts)
    return 2 * 2 * int(facts["kernel_h"] * facts["kernel_w"] * facts["in_c"])


def _depthwise_s4_bytes(facts: Facts) -> int:
    """A column of one pixel in 16 bits."""
    if not _is_optimal_depthwise(facts):
        return 0
    return 2 * int(facts["kernel_h"] * facts["kernel_w"] * facts["in_c"])


def _wide_quant_bytes(facts: Facts) -> int:
    """Multipliers and shifts in 32 bits, filled up to fours, which our adapters write."""
    return 2 * 4 * 4 * -(-int(facts["out_c"]) // 4)


def _conv2d_s16_bytes(facts: Facts) -> int:
    """arm_convolve_s16: two windows, or four in whole vectors on MVE."""
    depth = int(facts["kernel_h"] * facts["kernel_w"] * facts["in_c"])
    windows = 4 * 2 * 8 * -(-depth // 8) if facts["isa"] is Isa.MVE else 2 * 2 * depth
    return _wide_quant_bytes(facts) + windows


def _depthwise_s16_bytes(facts: Facts) -> int:
    """Windows of four pixels on MVE, which are read beyond their end; of one with DSP instructions."""
    window = 2 * int(facts["kernel_h"] * facts["kernel_w"] * facts["in_c"])
    if not _is_fast_depthwise(facts):
        window = 0
    elif facts["isa"] is Isa.MVE:
        window = 4 * window + 8
    elif facts["isa"] is not Isa.DSP:
        window = 0
    return _wide_quant_bytes(facts) + window


def _transpose_bytes(facts: Facts) -> int:
    """Windows and a reversed filter, or rows of sums that wait for their last input row."""
    if _is_widened(facts):
        taps = facts["kernel_h"] * facts["kernel_w"]
        return _window_bytes(facts) + int(facts["in_c"] * taps * facts["out_c"])
    widest = max(facts["kernel_w"], facts["stride_h"], facts["stride_w"])
    columns = ((facts["in_w"] - 1) * facts["stride_w"] + widest) * facts["out_c"]
    return int(4 * columns * max(facts["kernel_h"], facts["stride_h"]))


def _columns_bytes(facts: Facts) -> int:
    """A sum for every column of the right-hand matrix, on MVE."""
    return 4 * int(facts["cols"]) if facts["isa"] is Isa.MVE else 0


def _pool_bytes(facts: Facts) -> int:
    """A sum for every channel, with DSP instructions."""
    return 4 * int(facts["channels"]) if facts["isa"] is Isa.DSP else 0


SCRATCH: dict[str, Callable[[Facts], int]] = {
    "nn_conv2d": _conv2d_bytes,
    "nn_conv2d_s16": _conv2d_s16_bytes,
    "nn_conv2d_s4": _conv2d_s4_bytes,
    "nn_depthwise": _depthwise_bytes,
    "nn_depthwise_s16": _depthwise_s16_bytes,
    "nn_depthwise_s4": _depthwise_s4_bytes,
    "nn_transpose": _transpose_bytes,
    "nn_columns": _columns_bytes,
    "nn_pool_sums": _pool_bytes,
}
