# SPDX-License-Identifier: Apache-2.0
"""What kernels of convolutions and products of codes can require."""

from __future__ import annotations

from collections.abc import Callable

from ....target import CORES
from .. import gathered, gemm, planes
from ..facts import Facts, is_pointwise, shares_columns, tile_row

_MANY_CODES = 250_000  # products


def _shifts_right(facts: Facts) -> bool:
    """Every channel is rescaled by less than 1/2: its shift is negative."""
    return all(rescale.shift < 0 for rescale in facts["rescales"])


def _shifts_right_2(facts: Facts) -> bool:
    """Every channel is rescaled by less than 1/4: of int16 sums only the upper half of the product
    with the multiplier counts."""
    return all(rescale.shift <= -2 for rescale in facts["rescales"])


def _shifts_right_to_22(facts: Facts) -> bool:
    """The same, and no shift is longer than 22: what the multiplier makes of a sum below 2^30 and the zero
    point shifted to the left by as much are together below 2^31."""
    return all(-22 <= rescale.shift < 0 for rescale in facts["rescales"])


def _narrow_multipliers(facts: Facts) -> bool:
    """Every multiplier is one of 16 bits, times 2^16."""
    return all(rescale.is_narrow for rescale in facts["rescales"])


def _centered_weights(facts: Facts) -> bool:
    """linear: the weights have the zero point 0, as those of PyTorch's quantizers for this core."""
    return bool(facts["weight_zero_point"] == 0)


def _one_to_one(facts: Facts) -> bool:
    """Depthwise: one output channel for each input channel."""
    return bool(facts["in_c"] == facts["out_c"])


def _narrow_sums(facts: Facts) -> bool:
    """No accumulator reaches 2^30, whatever the input is."""
    return bool(facts["largest_sum"] < 1 << 30)


def _sums_of_27_bits(facts: Facts) -> bool:
    """No accumulator reaches 2^27, so that 16 times as much fits in 32 bits."""
    return bool(facts["largest_sum"] < 1 << 27)


def _narrow_products(facts: Facts) -> bool:
    """No accumulator of a matrix product, whose zero points are codes, reaches 2^30."""
    return bool(facts["inner"] * 255 * 255 < 1 << 30)


def _one_group(facts: Facts) -> bool:
    """Every output reads all input channels."""
    return bool(facts["groups"] == 1)


def _constant_weights(facts: Facts) -> bool:
    """The weights are constants, which can be packed."""
    return bool(facts["has_constant_weights"])


def _undilated(facts: Facts) -> bool:
    """The taps of a window lie side by side."""
    return bool(facts["dilation_h"] == facts["dilation_w"] == 1)


def _rows_3x3(facts: Facts) -> bool:
    """Such windows of four channels or more."""
    return planes.are_squares(facts) and bool(facts["out_c"] >= 4)


def _fours_3x3(facts: Facts) -> bool:
    """Such windows of channels in fours."""
    return planes.are_squares(facts) and bool(facts["out_c"] % 4 == 0)


def _near_places(facts: Facts) -> bool:
    """16 bits tell the rows and columns that taps meet beside the image from those inside."""
    axes = (("in_y0", "h"), ("in_x0", "w"))
    return all(
        facts[f"in_{side}"] - facts[first] <= 1 << 16
        and facts[first]
        + (facts[f"out_{side}"] - 1) * facts[f"stride_{side}"]
        + (facts[f"kernel_{side}"] - 1) * facts[f"dilation_{side}"]
        < 1 << 16
        for first, side in axes
    )


def _sixteens_3x3(facts: Facts) -> bool:
    """3x3 windows of channels in sixteens; or of eight, where two pixels lie side by side."""
    are_pairs = facts["in_c"] == facts["out_pixel_stride"] == 8 and facts["stride_w"] == 1
    is_even = are_pairs and facts["out_w"] % 2 == 0
    is_3x3 = facts["kernel_h"] == facts["kernel_w"] == 3
    return bool(is_3x3 and (facts["in_c"] % 16 == 0 or is_even))


def _one_plane(facts: Facts) -> bool:
    """A convolution of one input channel."""
    return bool(facts["in_c"] == 1)


def _from_minus_127(facts: Facts) -> bool:
    """No weight is below -127, so that the sum of two products with int8 codes fits in 16 bits; and no
    embedding looks for weights as they are."""
    return bool(facts["least_weight"] >= -127 and not facts.get("looked_up", False))


def _pairs_pay(facts: Facts) -> bool:
    """Four channels of two pixels at a time, whose operands are two loads of two words, take fewer cycles
    on the core by its costs than two channels of three pixels with a load of three and half a load of two
    (conv2d_s8), and by more than single pixels cost in small images: three in a hundred. Channels that
    are left of fours cost more, but those of one pixel are not worth the code of another kernel."""
    if facts["out_c"] % 4 != 0 and facts["out_h"] * facts["out_w"] != 1:
        return False
    costs = {name: sum(cost) / 2 for name, cost in CORES[facts["core"]].cycles.items()}
    if not costs:
        return False
    three = costs["load_multiple"] + 3 * costs["registers"]
    fours = 8 * costs["multiply"] + 2 * costs["alu"] + 2 * costs["load_double"]
    twos = 6 * costs["multiply"] + costs["alu"] + three + costs["load_double"] / 2
    return fours / 16 <= 0.97 * twos / 12


def _shared_columns(facts: Facts) -> bool:
    """3x3 windows a column apart, of channels in fours or of three and for outputs in twos, each with a row
    in the image, and so many products that the kernel for them saves ten instructions for a byte of its
    code: one for twelve products at least. Rows of two or four pixels, none of which are three at a time,
    are better off with fours of outputs where these pay."""
    is_3x3 = planes.are_squares(facts) and facts["stride_w"] == 1
    last = facts["in_y0"] + (facts["out_h"] - 1) * facts["stride_h"]
    are_near = -facts["kernel_h"] < facts["in_y0"] and last < facts["in_h"]
    products = facts["out_h"] * facts["out_w"] * facts["out_c"] * 9 * facts["in_c"]
    are_inputs = facts["in_c"] % 4 == 0 or (facts["in_c"] == 3 and facts["in_w"] > 1)
    is_whole = are_inputs and facts["out_c"] % 2 == 0
    are_threes = facts["out_w"] not in (2, 4) or not _pairs_pay(facts)
    is_large = facts["out_w"] > 1 and are_threes and products >= _MANY_CODES
    return bool(is_3x3 and are_near and is_whole and is_large)


def _from_zero(facts: Facts) -> bool:
    """The zero point is the lowest code and there is no other clamp, as after a ReLU."""
    lowest = facts["out_zero_point"] == facts["act_min"] == -128
    return bool(lowest and facts["act_max"] == 127)


def _few_inputs(facts: Facts) -> bool:
    """A 1x1 convolution of 8, 16, 24 or 32 inputs in the image, of channels in fours, and 8,000 results at
    least: for eight of them conv2d_few saves 13 to 27 instructions and it has some 1,000 bytes, so that
    each saves ten instructions or more."""
    are_whole = facts["in_c"] in (8, 16, 24, 32) and facts["out_c"] % 4 == 0
    results = facts["out_h"] * facts["out_w"] * facts["out_c"]
    is_near = facts["out_pixel_stride"] <= 32767  # 16 bits have the places of two pixels
    return bool(are_whole and is_near and results >= 8000 and is_pointwise(facts))


def _few_outputs(facts: Facts) -> bool:
    """linear: up to three outputs, which would all be left of the fours in which others are computed, of so
    many inputs that the kernel for them saves fifty instructions and more."""
    return bool(facts["out_features"] < 4 and facts["in_features"] >= 32)


def _plain(facts: Facts) -> bool:
    """A convolution for outputs in fours, as all of the model are, with one group."""
    return bool(facts.get("all_plain", False) and facts["out_c"] % 4 == 0)


def _copies(symbol: str) -> Callable[[Facts], bool]:
    """What plan/lower/conv_forms.py decided: of so few channels or outputs the image is copied."""
    return lambda facts: facts.get("copies") == symbol


def _tiles(facts: Facts) -> bool:
    """A convolution of all channels, in twos, whose codes have no clamp but that of their type; 3x3 or 1x1 of
    channels in sixteens, or of windows so small that 8 bits have the places of their inputs. 23 bits have the
    biases, and 16 the places of four pixels' results. Where the plan asks for tiles (search/tiles.py)."""
    is_whole = facts["groups"] == 1 and facts["out_c"] % 2 == 0 and _undilated(facts)
    is_plain = facts["act_min"] == -128 and facts["act_max"] == 127
    is_near = facts["largest_bias"] < 1 << 22 and facts["out_pixel_stride"] <= 16383
    if not (facts["tiles"] and is_whole and is_plain and is_near):
        return False
    if is_pointwise(facts) or shares_columns(facts):
        return bool(facts["in_c"] % 16 == 0)
    row, high = tile_row(facts), facts["kernel_h"]
    last = (high - 1) * row + facts["kernel_w"] * facts["in_c"]
    return bool(high * facts["kernel_w"] > 1 and last <= 256 and high * row <= 512)


def _pixel(facts: Facts) -> bool:
    """Depthwise: one output pixel, whose taps lie in the image with one distance between them, and one
    output channel for each input channel."""
    last_y = facts["in_y0"] + (facts["kernel_h"] - 1) * facts["dilation_h"]
    last_x = facts["in_x0"] + (facts["kernel_w"] - 1) * facts["dilation_w"]
    is_inside = 0 <= facts["in_y0"] and last_y < facts["in_h"]
    is_inside = is_inside and 0 <= facts["in_x0"] and last_x < facts["in_w"]
    in_rows = facts["dilation_h"] * facts["in_row_stride"]
    is_even = in_rows == facts["kernel_w"] * facts["dilation_w"] * facts["in_c"]
    return bool(
        facts["out_h"] == facts["out_w"] == 1
        and facts["in_c"] == facts["out_c"]
        and is_inside
        and (facts["kernel_h"] == 1 or facts["kernel_w"] == 1 or is_even)
    )


def _pooled_pixel(facts: Facts) -> bool:
    """A pool of one output pixel, whose window is pixels of a row or whole rows, from the first ones."""
    height, width = facts["kernel_h"], facts["kernel_w"]
    rows = facts["in_w"], facts["in_w"] * facts["channels"], 1
    are_whole = (width, facts["in_row_stride"], facts["dilation_h"]) == rows
    is_inside = height <= facts["in_h"] and width <= facts["in_w"]
    return bool(
        facts["out_h"] == facts["out_w"] == 1
        and facts["in_y0"] == facts["in_x0"] == 0
        and facts["dilation_w"] == 1
        and is_inside
        and (height == 1 or are_whole)
    )


def _shift_right_2(facts: Facts) -> bool:
    """All results are rescaled by less than 1/4."""
    return bool(facts["shift"] <= -2)


CASES: dict[str, Callable[[Facts], bool]] = {
    "shifts_right": _shifts_right,
    "shifts_right_to_22": _shifts_right_to_22,
    "narrow_multipliers": _narrow_multipliers,
    "shifts_right_2": _shifts_right_2,
    "one_to_one": _one_to_one,
    "centered_weights": _centered_weights,
    "narrow_sums": _narrow_sums,
    "narrow_products": _narrow_products,
    "sums_of_27_bits": _sums_of_27_bits,
    "one_group": _one_group,
    "constant_weights": _constant_weights,
    "rows_3x3": _rows_3x3,
    "fours_3x3": _fours_3x3,
    "near_places": _near_places,
    "sixteens_3x3": _sixteens_3x3,
    "from_minus_127": _from_minus_127,
    "pairs_pay": _pairs_pay,
    "shared_columns": _shared_columns,
    "one_plane": _one_plane,
    "gathers": _copies(gathered.GATHERED),
    "reads_rows": _copies(gathered.DIRECT),
    "planes_pay_dsp": planes.pay_dsp,
    "small_windows": planes.pay_few,
    "pairs_of_rows_pay": planes.pay_pairs,
    "from_zero": _from_zero,
    "few_inputs": _few_inputs,
    "few_unclamped": gemm.few_pay,
    "few_outputs": _few_outputs,
    "plain": _plain,
    "tiles": _tiles,
    "pixel": _pixel,
    "pooled_pixel": _pooled_pixel,
    "undilated": _undilated,
    "shift_right_2": _shift_right_2,
}
