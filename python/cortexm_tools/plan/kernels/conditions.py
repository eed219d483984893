# SPDX-License-Identifier: Apache-2.0
"""What kernels can require of a layer: `when` in kernels.json. Those of adapters are in cmsis_nn.py."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...target import CORES
from . import cmsis_nn, float_rows, gathered, planes, widened
from .facts import Facts, is_pointwise, pooled_row, shares_columns, tile_row

ALL_ELEMENTS = 1 << 31
"""As many elements of softmaxes as are worth any code and constants."""

_MANY_CODES = 250_000  # products
_MANY_VALUES = 128  # of floats, of which a function of one saves some four instructions each
_MANY_SUMS = 512  # of floats, of which eights save about six instructions each
_MANY_OF_ONE = (
    1024  # sums of windows of one float a pixel, eight of which save some sixteen instructions
)
_MANY_PRODUCTS_OF_ONE = 16000  # of wider windows, eight of which save an instruction or more
_MANY_PRODUCTS_OF_PLANES = 1600  # of which each saves some 1.3 instructions
_MANY_OF_FEW = 576  # sums of up to four floats, eight of which save some nine instructions
_MANY_SHORT_ROWS = 32  # of codes
_WORTH_ROWS = 2300  # instructions that rows of floats in lanes must save, of some 1,150 bytes
_MANY_OF_CHANNELS = 128  # sums of floats of channels that are groups
_WORTH_PLANES_ROW = 1500  # instructions that rows of planes must save, of some 720 bytes
_WORTH_CHANNELS = 5000  # instructions that these must save on MVE, of some 3,800 bytes
_WORTH_CHANNELS_3X3 = 2700  # the same of 3x3 windows, of some 1,300 bytes
_WORTH_CHANNELS_WIDE = 3700  # of others, of some 1,850 bytes


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


def _few_rows_alone(facts: Facts) -> bool:
    """The model has linear layers of floats with few rows, and no convolutions, whose kernel would do."""
    return bool(facts.get("few_rows_alone", False))


def _rows_pay(facts: Facts) -> bool:
    """A linear layer of floats, or a convolution whose pixels are one row, with terms and outputs side by
    side; and the model has no other convolutions, whose kernel would do, or so many blocks of rows that these
    save more than the code of their own kernel takes."""
    ones = ("batches", "out_h", "groups", "kernel_h", "kernel_w")
    is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
    is_inside = is_inside and (facts["out_w"] - 1) * facts["stride_w"] < facts["in_w"]
    are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
    is_row = are_beside and is_inside and all(facts[name] == 1 for name in ones)
    return bool(facts.get("rows_pay", False) and is_row)


def _one_input(facts: Facts) -> bool:
    """A convolution of floats of one input whose windows are three columns, side by side, and three rows or
    fewer, of which one column at most lies outside the image at either end; with five pixels or more in a row
    and four outputs, and so many of these that the kernel for them saves two instructions for a byte."""
    is_one = (
        facts["in_c"]
        == facts["groups"]
        == facts.get("dilation_w", 1)
        == facts["in_strides"][3]
        == 1
    )
    pad = facts.get("pad_left", 0)
    is_window = facts["kernel_w"] == 3 and facts["kernel_h"] <= 3 and 0 <= pad <= 1
    beyond = (facts["out_w"] - 1) * facts["stride_w"] + 3 - pad - facts["in_w"]
    are_fours = facts["out_w"] >= 5 and facts["out_c"] >= 4
    outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["out_c"]
    return bool(is_one and is_window and beyond <= 1 and are_fours and outputs >= _MANY_OF_ONE)


def _one_input_columns(columns: int) -> Callable[[Facts], bool]:
    """A convolution of floats of one input whose windows are so many columns, side by side, of which two at
    most lie outside the image at either end, with four rows of pixels or more and four outputs; and so many
    products that the kernel for them saves two instructions for a byte: one for eight products."""

    def pays(facts: Facts) -> bool:
        ones = facts["in_c"], facts["groups"], facts.get("dilation_w", 1), facts["in_strides"][3]
        pad = facts.get("pad_left", 0)
        beyond = (facts["out_w"] - 1) * facts["stride_w"] + columns - pad - facts["in_w"]
        is_window = facts["kernel_w"] == columns and 0 <= pad <= 2 and beyond <= 2
        are_fours = facts["out_h"] >= 4 and facts["out_c"] >= 4
        outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["out_c"]
        products = outputs * facts["kernel_h"] * columns
        return bool(
            ones == (1, 1, 1, 1) and is_window and are_fours and products >= _MANY_PRODUCTS_OF_ONE
        )

    return pays


def _planes_of(columns: int, stride: int) -> Callable[[Facts], bool]:
    """A convolution of floats whose channels are groups of one output, in planes, of windows of so many
    columns that are so far apart, of which one of three or two of five may lie outside the image at either
    end; with four rows and columns of pixels, and so many products that the kernel for them saves two
    instructions for a byte: four for three products."""

    def pays(facts: Facts) -> bool:
        pad, most = facts.get("pad_left", 0), columns // 2
        beyond = (facts["out_w"] - 1) * stride + columns - pad - facts["in_w"]
        windows = facts["kernel_w"], facts["stride_w"], facts.get("dilation_w", 1)
        is_window = windows == (columns, stride, 1) and 0 <= pad <= most and beyond <= most
        are_planes = facts["groups"] == facts["in_c"] == facts["out_c"]
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        is_large = outputs * facts["kernel_h"] * columns >= _MANY_PRODUCTS_OF_PLANES
        are_fours = facts["out_h"] >= 4 and facts["out_w"] >= 4
        return bool(is_window and are_planes and are_beside and are_fours and is_large)

    return pays


def _planes_row(facts: Facts) -> bool:
    """Such planes of rows of 16 results or more, of any windows one column apart. It saves an instruction for
    four products, if blocks of 16 results fill the rows, or one for each where windows or images have few
    rows."""
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    if not facts["groups"] == facts["in_c"] == facts["out_c"] >= 2 or not are_beside:
        return False
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    products = outputs * facts["kernel_h"] * facts["kernel_w"]
    more = -facts["out_w"] % 16 / facts["out_w"]
    saved = 1.0 if facts["kernel_h"] == 1 or facts["out_h"] < 4 else 0.25 if more < 0.35 else 0.0
    return bool(products * saved >= _WORTH_PLANES_ROW and planes.are_rows(facts))


def _pixels_of(inputs: int) -> Callable[[Facts], bool]:
    """A 1x1 convolution of floats of so many inputs, or a linear layer, whose pixels are a row without gaps
    for a block of them, with outputs in eights, or fours of four inputs, side by side, of which the last ones
    may begin among others; and so many of these that the kernel for them saves two instructions for a byte of
    its code: nine for eight outputs of a pixel."""

    def pays(facts: Facts) -> bool:
        is_pixel = (
            facts["kernel_h"] == facts["kernel_w"] == facts["stride_w"] == facts["groups"] == 1
        )
        is_row = facts["batches"] * facts["out_h"] == 1 and 4 <= facts["out_w"] == facts["in_w"]
        is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
        are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
        has_inputs = facts["in_c"] == facts["in_strides"][3] == inputs
        are_eights = facts["out_c"] >= (4 if inputs == 4 else 8)
        is_large = facts["out_w"] * facts["out_c"] >= _MANY_OF_FEW
        return bool(
            is_pixel
            and is_row
            and is_inside
            and are_beside
            and has_inputs
            and are_eights
            and is_large
        )

    return pays


def _narrow_windows(facts: Facts) -> bool:
    """No convolution of floats in the model has windows of four columns or more, or four channels or more
    that are groups."""
    return bool(facts.get("narrow_windows", False))


def _float_channels(facts: Facts) -> bool:
    """A convolution of floats whose channels are groups of one output, and so many outputs that the kernel
    for them saves two instructions for a byte of its code: some forty for an output."""
    are_channels = facts["groups"] == facts["in_c"] == facts["out_c"] >= 2
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    return bool(are_channels and outputs >= _MANY_OF_CHANNELS)


def _float_channels_mve(facts: Facts) -> bool:
    """The same with MVE, for channels that lie side by side, or 3x3 windows a pixel apart, in planes, of at
    least five columns of results, no more than a row and a column of which is outside the image. Of four
    channels and more side by side it saves three instructions for an output, or nine where windows are apart,
    and more in narrow images, whose borders conv2d computes by themselves; of others 13 to 20."""
    if not facts["groups"] == facts["in_c"] == facts["out_c"] >= 2:
        return False
    saved = max(2 + 50 // facts["out_w"], 9 if facts["stride_w"] > 1 else 0)
    if facts["in_strides"][1] != 1 or facts["out_strides"][1] != 1:
        if not _are_strips(facts):
            return False
        saved = 13
    elif facts["groups"] < 4:
        saved = 20
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    return bool(outputs * saved >= _WORTH_CHANNELS)


def _float_channels_3x3(stride: int) -> Callable[[Facts], bool]:
    """Such channels side by side, four or more, of 3x3 windows so many columns apart, of which a row and a
    column may lie outside the image at either end, with four columns of results, as far apart as those of the
    image. Of an output it saves four instructions, or twelve where windows are apart, and more in narrow
    images."""

    def pays(facts: Facts) -> bool:
        channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
        if not 4 <= channels == facts["in_c"] == facts["out_c"]:
            return False
        is_window = planes.are_squares(facts) and facts["stride_w"] == stride
        are_beside = ins[1] == outs[1] == 1 and ins[3] == outs[3]
        is_inside = facts["out_w"] >= 4 and all(
            0 <= facts.get(before, 0) <= 1
            and (facts[f"out_{side}"] - 1) * facts[f"stride_{side}"] + 2 - facts.get(before, 0)
            <= facts[f"in_{side}"]
            for before, side in (("pad_top", "h"), ("pad_left", "w"))
        )
        saved = max(4 + 50 // facts["out_w"], 12 if stride > 1 else 0)
        alone = facts["batches"] * facts["out_h"] * facts["out_w"] * channels * saved
        # Those that are no four are computed with others once more.
        is_large = alone * channels >= _WORTH_CHANNELS_3X3 * -(-channels // 4) * 4
        return bool(is_window and are_beside and is_inside and is_large)

    return pays


def _float_channels_wide(facts: Facts) -> bool:
    """The same of windows of three columns or more, or of as many rows, whose pixels share columns. It saves
    up to an instruction for a product where there are four columns or more, or none beside each other, or
    images are small, and one more where images have one row or up to three columns, or the kernel above is
    not worth it."""
    channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
    if not 4 <= channels == facts["in_c"] == facts["out_c"] or not ins[1] == outs[1] == 1:
        return False
    along, across = planes.slid_axes(facts)
    is_line = facts[f"out_{along}"] < 4 or facts[f"out_{across}"] == 1
    saved = 0.5 * (facts[f"kernel_{along}"] > 3 or along == "h")
    saved += 0.5 * (facts["out_h"] * facts["out_w"] < 64 or along == "h")
    saved += is_line or not _float_channels_mve(facts)
    outputs = facts["batches"] * channels * facts["out_h"] * facts["out_w"]
    products = outputs * facts["kernel_h"] * facts["kernel_w"]
    return bool(products * saved >= _WORTH_CHANNELS_WIDE and planes.are_slid(facts))


def _are_strips(facts: Facts) -> bool:
    """Whether conv2d_channels_mve computes planes in strips."""
    is_near = planes.are_squares(facts) and facts["stride_h"] == facts["stride_w"] == 1
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    is_inside = all(
        0 <= facts[before] <= 1 and facts[f"out_{side}"] - facts[before] < facts[f"in_{side}"]
        for before, side in (("pad_top", "h"), ("pad_left", "w"))
    )
    return bool(is_near and are_beside and is_inside and facts["out_w"] >= 5)


def _vector_columns(facts: Facts) -> bool:
    """A product of matrices of at least four columns that lie side by side, or whose elements do, as those of
    the rows do; a bias has a number for each column."""
    return bool(
        facts["cols"] >= 4
        and not facts.get("rows_in_lanes", False)
        and facts["a_inner_stride"] == 1
        and 1 in (facts["b_inner_stride"], facts["b_col_stride"])
        and facts["bias_row_stride"] == 0
    )


def _vector_rows(facts: Facts) -> bool:
    """A product of which blocks of eight rows save more instructions beside those of single sums than two for
    each byte of their code; or a layer that is to have them."""
    rows, cols, inner = (facts[name] for name in ("rows", "cols", "inner"))
    alone = 25 * rows * cols + 6 * rows * cols * inner
    saved = facts["batches"] * (alone - float_rows.of_rows(rows, inner, cols))
    return bool(facts.get("rows_in_lanes", False) or saved >= _WORTH_ROWS)


def _few_columns(facts: Facts) -> bool:
    """A product of up to three columns, whose elements follow each other, as those of rows do; a bias has a
    number for each column."""
    return bool(
        facts["cols"] <= 3
        and facts["a_inner_stride"] == 1
        and (facts["cols"] == 1 or facts["b_col_stride"] == 1)
        and facts["b_inner_stride"] == facts["cols"]
        and facts["bias_row_stride"] == 0
    )


def _one_sum(facts: Facts) -> bool:
    """A product of one row with one column, whose elements lie side by side."""
    is_one = facts["batches"] == facts["rows"] == facts["cols"] == 1
    return bool(is_one and facts["a_inner_stride"] == facts["b_inner_stride"] == 1)


def _row_of_layer(facts: Facts) -> bool:
    """A layer of floats that is to have its outputs in lanes."""
    return bool(facts.get("outputs_in_lanes", False))


def _panels(facts: Facts) -> bool:
    """Such a product, or one whose columns the plan has put in panels, of four rows or more."""
    are_few = _few_columns(facts) or facts.get("rows_in_lanes", False)
    return bool(are_few and facts["rows"] >= 4)


def _several_groups(facts: Facts) -> bool:
    """A norm of floats of so many groups that four of them are computed faster than one after the other."""
    return bool(facts["batches"] * facts["groups"] >= 3)


def _alike_rows(facts: Facts) -> bool:
    """A norm of rows that follow each other and have the same factors, one for each element."""
    strides = ("in_inner_stride", "out_inner_stride", "factor_inner_stride")
    return bool(
        facts["batches"] == facts["outer"] == 1
        and facts["in_group_stride"] == facts["out_group_stride"] == facts["inner"]
        and facts["factor_group_stride"] == 0
        and all(facts[name] == 1 for name in strides)
    )


def _short_alike_rows(size: int) -> Callable[[Facts], bool]:
    """Such rows of `size` codes, four or more: where the network has rows of no other size, so that no other
    code is in its image; or so many that they save 20 instructions each for some 550 bytes."""

    def is_worth_it(facts: Facts) -> bool:
        is_one = facts["inner"] == size and facts["groups"] >= 4
        return bool(is_one and (facts["is_alone"] or facts["rows"] >= _MANY_SHORT_ROWS))

    return is_worth_it


def _channels_in_lanes(facts: Facts) -> bool:
    """A norm whose groups are single channels, in fours side by side, and the network has no other groups."""
    strides = ("in_group_stride", "out_group_stride", "factor_group_stride", "outer")
    return bool(
        facts["is_alone"] and facts["groups"] % 4 == 0 and all(facts[name] == 1 for name in strides)
    )


def _dense_rows(facts: Facts) -> bool:
    """Rows with nothing between one and the next, neither of codes nor of results."""
    strides = ("in_group_stride", "out_group_stride")
    return all(facts[name] == facts["inner"] for name in strides)


def _undilated(facts: Facts) -> bool:
    """The taps of a window lie side by side."""
    return bool(facts["dilation_h"] == facts["dilation_w"] == 1)


def _rows_3x3(facts: Facts) -> bool:
    """Such windows of channels in fours."""
    return planes.are_squares(facts) and bool(facts["out_c"] % 4 == 0)


def _left_3x3(facts: Facts) -> bool:
    """Such windows of four channels or more."""
    return planes.are_squares(facts) and bool(facts["out_c"] >= 4)


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
    (conv2d_dsp.inc), and by more than single pixels cost in small images: three in a hundred. Channels that
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


def _one_output(facts: Facts) -> bool:
    """linear: one output of one row, and so many inputs that the kernel for such a sum, of some 160 bytes,
    does without more than half of the instructions."""
    is_one = facts["rows"] == facts["out_features"] == 1
    return bool(is_one and facts["in_features"] >= 64)


def _few_outputs(limit: int, least: int = 1) -> Callable[[Facts], bool]:
    """linear: fewer outputs than `limit`, which would all be left of the blocks in which others are computed,
    but `least` in all rows, of so many inputs that the kernel for them saves fifty instructions and more."""
    return lambda facts: bool(
        facts["out_features"] < limit
        and facts["rows"] * facts["out_features"] >= least
        and facts["in_features"] >= 32
    )


def _no_eights(facts: Facts) -> bool:
    """No convolution of the model reads pixels of 8 channels."""
    return bool(facts.get("no_eights", False))


def _plain(facts: Facts) -> bool:
    """A convolution for outputs in fours, as all of the model are, with one group."""
    return bool(facts.get("all_plain", False) and facts["out_c"] % 4 == 0)


def _all_in_blocks(size: int) -> Callable[[Facts], bool]:
    """linear: no layer of the model has outputs that are left of blocks of so many."""
    return lambda facts: bool(facts["all_outputs"] % size == 0)


def _copies(symbol: str) -> Callable[[Facts], bool]:
    """What plan/lower/conv.py decided: a group has so few channels, or outputs, that the image is copied."""
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
    """A pool of one output pixel, whose window is pixels of a row or whole rows, from the first ones; in a
    model that has no other averages, whose kernel would do."""
    height, width = facts["kernel_h"], facts["kernel_w"]
    rows = facts["in_w"], facts["in_w"] * facts["channels"], 1
    are_whole = (width, facts["in_row_stride"], facts["dilation_h"]) == rows
    is_inside = height <= facts["in_h"] and width <= facts["in_w"]
    return bool(
        facts.get("pixels_alone", False)
        and facts["out_h"] == facts["out_w"] == 1
        and facts["in_y0"] == facts["in_x0"] == 0
        and facts["dilation_w"] == 1
        and is_inside
        and (height == 1 or are_whole)
    )


def _add_shifts_right(facts: Facts) -> bool:
    """An addition never shifts to the left, and to the right at the end, and its zero points are codes.
    With codes less their zero point below 2^8 and raised by 2^20, all its values stay below 2^30."""
    are_codes = all(-128 <= facts[f"{name}_zero_point"] <= 127 for name in ("a", "b", "out"))
    is_right = facts["a_shift"] <= 0 and facts["b_shift"] <= 0 and facts["out_shift"] < 0
    return bool(are_codes and is_right)


def _affine(facts: Facts) -> bool:
    """An addition of int8 codes is such a function of them (affine.py)."""
    return bool(facts["is_affine"])


def _affine_fine(facts: Facts) -> bool:
    """It is such a function of more bits, which plan/lower/arithmetic.py prefers."""
    return bool(facts["is_affine_fine"])


def _alike(facts: Facts) -> bool:
    """No addition of the model has an operand that repeats."""
    return bool(facts["are_alike"])


def _add_shifts_right_s16(facts: Facts) -> bool:
    """An addition of int16 codes halves both operands at least, and shifts to the right at the end. With
    codes raised by 2^15 the sum is then below 2^30, unless both are subtracted."""
    operands = [(facts[f"{name}_multiplier"], facts[f"{name}_shift"]) for name in ("a", "b")]
    are_halved = all(
        -30 <= shift <= 0 and abs(multiplier) <= 1 << (30 - shift) for multiplier, shift in operands
    )
    is_sum = any(multiplier >= 0 for multiplier, _ in operands)
    return bool(are_halved and is_sum and facts["out_shift"] < 0)


def _mul_shifts_right(facts: Facts) -> bool:
    """A product of int8 codes is shifted to the right, by no more than 22, and twice a code less its zero
    point has 16 bits."""
    are_near = all(abs(facts[f"{name}_zero_point"]) <= 16000 for name in ("a", "b"))
    return bool(are_near and -22 <= facts["shift"] < 0)


def _smooth_table(facts: Facts) -> bool:
    """A table of int16 codes of which no entry is further from the next one than a code from 0."""
    return bool(facts["largest_step"] < 1 << 15)


def _shift_right_2(facts: Facts) -> bool:
    """All results are rescaled by less than 1/4."""
    return bool(facts["shift"] <= -2)


def _from_channels(least: int) -> Callable[[Facts], bool]:
    """At least so many input channels."""
    return lambda facts: bool(facts.get("channels", facts.get("in_c", 0)) >= least)


def _below_channels(limit: int) -> Callable[[Facts], bool]:
    """Fewer channels than that."""
    return lambda facts: bool(facts["channels"] < limit)


def _below_pixels(limit: int) -> Callable[[Facts], bool]:
    """Windows of so few pixels that sums are divided exactly by a product: see pool_codes_mve.inc."""
    return lambda facts: bool(facts["kernel_h"] * facts["kernel_w"] < limit)


def _windows_inside(facts: Facts) -> bool:
    """Windows of more than one pixel inside the image, without dilation, that leave out no column of it."""
    rows = ("in_y0", "out_h", "stride_h", "kernel_h", "in_h")
    columns = ("in_x0", "out_w", "stride_w", "kernel_w", "in_w")
    are_inside = all(
        0 <= first <= size - side - (count - 1) * step
        for first, count, step, side, size in (
            [facts[name] for name in axis] for axis in (rows, columns)
        )
    )
    is_dense = facts["dilation_h"] == facts["dilation_w"] == 1
    is_dense = is_dense and facts["stride_w"] <= facts["kernel_w"]
    return bool(are_inside and is_dense and facts["kernel_h"] * facts["kernel_w"] > 1)


def _moderate_divisor(facts: Facts) -> bool:
    """Averages of floats that divide by less than CORTEXM_QUOTIENT_LIMIT in common/mve.h."""
    return bool(max(facts["divisor"], facts["kernel_h"] * facts["kernel_w"]) < 1 << 22)


_LEAST_SAVED = 100  # instructions, by windows one by one, whose kernel has some 160 bytes


def _few_windows(lanes: int) -> Callable[[Facts], bool]:
    """Windows of 2, 4, 8 or 16 columns, so that a vector has whole rows of one, within 256 bytes, and so
    few that each by itself takes less than blocks of so many `lanes`, which windows fill, and the row that
    these are made from. A code that is gathered counts half an instruction more."""

    def are_better(facts: Facts) -> bool:
        height, width, count = facts["kernel_h"], facts["kernel_w"], facts["out_w"]
        if width < 2 or 16 % width or (16 // width - 1) * facts["in_row_stride"] + width > 256:
            return False
        alone = 9 + count * (16 + (4 + 8) * -(-height * width // 16))
        joined = 20 + -(-pooled_row(facts) // lanes) * (10 + 5 * height)
        joined += -(-count // lanes) * (20 + (4 + lanes // 2) * width)
        return bool(45 + facts["out_h"] * (joined - alone) >= _LEAST_SAVED)

    return are_better


def _wide_windows(facts: Facts) -> bool:
    """Windows of eight codes side by side or more in each of four rows or more, and none that others compute
    together with those beside them."""
    are_beside = facts["stride_w"] == 1 or (facts["channels"] == 1 and facts["out_w"] >= 4)
    codes = facts["kernel_w"] * facts["channels"] if facts["dilation_w"] == 1 else 0
    return bool(codes >= 8 and facts["kernel_h"] >= 4 and (facts["out_w"] == 1 or not are_beside))


def _from_elements(count: int) -> Callable[[Facts], bool]:
    """A softmax of so many elements, of all that would share what its kernel takes besides code.

    A table of exponentials takes some 900 bytes more than the code that computes them, and saves some 45
    instructions for each element with DSP instructions, 10 to 25 with MVE: from 40 on one or two for each
    byte. In portable C it saves 110, on Armv6-M 300: from 20 on as much. Rows of int16 save 11 with some
    720 bytes more, longer than 64 twice as many: from 64 on about one for a byte. Few elements of int16 in
    registers save 20 to 30 with 580 to 870 bytes more: from 24 on as much.
    """
    return lambda facts: bool(facts["elements"] >= count)


def _worth_two(facts: Facts) -> bool:
    """A softmax of int16 over two elements that is the model's only one, as its code is shorter than that for
    any number; or of 16, which save about 30 instructions each where a model has both."""
    return bool(facts["is_alone"] or facts["elements"] >= 16)


def _elements(count: int) -> Callable[[Facts], bool]:
    """Columns of so many elements, for which there is a kernel."""
    return lambda facts: bool(facts["size"] == count)


def _one_pair(facts: Facts) -> bool:
    """A single column."""
    return bool(facts["outer"] * facts["inner"] == 1)


def _only_pairs(facts: Facts) -> bool:
    """A single column of a model whose softmaxes of int16 are all single columns of two elements: its code is
    smaller than that for any number, and has the same table."""
    is_worth_it = facts["are_pairs"] or facts["elements"] == ALL_ELEMENTS
    return bool(is_worth_it and _one_pair(facts))


def _in_registers(facts: Facts) -> bool:
    """Columns of so few elements that a kernel has them in registers."""
    return bool(3 <= facts["size"] <= 5)


def _short_rows(facts: Facts) -> bool:
    """Rows in one piece, so short that a kernel keeps an exponential of each element on the stack, and no
    more elements than are worth a whole table, with which rows of more than some 24 take a little less."""
    size, are_rows = facts["size"], facts["inner"] == 1
    return bool(are_rows and 4 <= size <= 64 and (size <= 24 or facts["elements"] < 1000))


def _worth_folded_table(saved: int, code: int, most: int) -> Callable[[Facts], bool]:
    """A softmax whose folded table of exponentials takes no more bytes beyond the code that computes them
    than it saves instructions, so many for each of the elements that would share it, and which has no more
    elements than are worth a whole table.

    Args:
        code: bytes of code that computes exponentials, beyond that for the table.
    """

    def is_worth_it(facts: Facts) -> bool:
        elements = facts["elements"]
        return bool(facts["folded_bytes"] - code <= saved * elements and elements <= most)

    return is_worth_it


def _few_in_lanes(facts: Facts) -> bool:
    """Columns of two to four elements of int16, which a kernel has in registers."""
    return bool(2 <= facts["size"] <= 4) and _shifts_14_bits(facts)


def _few_elements(facts: Facts) -> bool:
    """Columns of so few elements that a kernel keeps what it computes of four of them, and so many that four
    at a time take fewer instructions than one after the other."""
    columns, size = facts["outer"] * facts["inner"], facts["size"]
    are_faster = _in_fours(columns, size) < 27 + columns * (147 + 27 * -(-size // 4))
    return bool(size <= 40 and are_faster) and _shifts_14_bits(facts)


def _in_fours(columns: int, size: int) -> int:
    """Instructions of int16 columns four at a time, with as few elements as that in registers."""
    start, four, element = {2: (33, 8, 25), 3: (39, 32, 25), 4: (39, 32, 25)}.get(
        size, (26, 51, 30)
    )
    return start + -(-columns // 4) * (four + element * size)


def _kept_rows(facts: Facts) -> bool:
    """Rows of up to 64 elements of int16, of which a kernel keeps an exponential each, which take fewer
    instructions one after the other than four at a time."""
    rows, size = facts["outer"], facts["size"]
    alone = 17 + rows * (31 + 22 * -(-size // 4) + 3 * -(-size // 8))
    are_faster = alone <= _in_fours(rows, size) or size > 40
    return bool(facts["inner"] == 1 and size <= 64 and are_faster) and _shifts_14_bits(facts)


def _kept_pairs(facts: Facts) -> bool:
    """Rows of two to 64 elements of int16, of which a kernel keeps powers, and whose code is as long as that
    for any columns, which the model needs for no other softmax."""
    is_alone = facts["all_rows"] or facts["elements"] >= ALL_ELEMENTS
    return bool(facts["inner"] == 1 and 2 <= facts["size"] <= 64 and is_alone)


def _shifts_14_bits(facts: Facts) -> bool:
    """A softmax of int16 with exponents whose whole part has 14 bits."""
    return bool(facts["multiplier"] < 1 << 30)


def _are_divided(facts: Facts) -> bool:
    """Columns whose numbers a product divides by the distance of their elements, exactly."""
    return bool(facts["outer"] * facts["inner"] ** 2 < 1 << 31)


def _rows(facts: Facts) -> bool:
    """Rows in one piece, of two elements at least, of which an exponential each is kept."""
    return facts["inner"] == 1 and _has_room(facts, 4 * facts["size"])


def _columns_apart(facts: Facts) -> bool:
    """Columns beside each other, of two elements at least; of two of them all exponentials are kept."""
    return facts["inner"] > 1 and _has_room(facts, 8 * facts["size"])


def _has_room(facts: Facts, kept: int) -> bool:
    """What is kept takes 4 KB, or no more than the codes; and what counts with a sum of so many exponentials
    has room in its upper word."""
    codes = 2 * facts["outer"] * facts["size"] * facts["inner"]
    return bool(2 <= facts["size"] <= 2047 and kept <= max(4096, codes))


def _even_columns(facts: Facts) -> bool:
    """Columns in pairs, without one that is left."""
    return bool(facts["inner"] % 2 == 0)


def _gentle(facts: Facts) -> bool:
    """A softmax of int16 whose powers halve no faster than every 256 codes: the whole parts of exponents have
    eight bits, by which a register is shifted as it is."""
    return bool(facts["multiplier"] < 1 << 24)


def _many_elements(facts: Facts) -> bool:
    """Columns of more elements than a kernel keeps on the stack what it computes of."""
    return bool(facts["size"] > 64)


def _many_values(facts: Facts) -> bool:
    """So many elements that several at a time save more than their code takes."""
    return bool(facts["count"] >= _MANY_VALUES)


def _rows_of_eights(facts: Facts) -> bool:
    """Rows of at least eight elements, so many that eights save more than their code takes."""
    return bool(facts["dims"][-1:] >= (8,) and math.prod(facts["dims"]) >= _MANY_SUMS)


def _short_columns(facts: Facts) -> bool:
    """Columns apart, or rows so short that four at a time, gathered, take fewer cycles than one after the
    other, each from vectors: some 240 instructions and 4 an element. Of 4095 elements the sum has 31 bits."""
    rows, size = facts["outer"], facts["size"]
    are_faster = facts["inner"] > 1 or -(-rows // 4) * (80 + 30 * size) < rows * (240 + 4 * size)
    return bool(size <= 4095 and are_faster) and _are_divided(facts)


def _has_factors(facts: Facts) -> bool:
    """A softmax of int8 whose exponentials are products of factors, with corrections of a byte."""
    return bool(facts["has_factors"])


def _factored_rows(facts: Facts) -> bool:
    """Rows of up to 64 elements, of which a kernel keeps an exponential each, which take fewer instructions
    one after the other than four together in lanes. Where there are so many elements that a table of
    exponentials would do, which is 800 bytes larger, a single row takes at most 100 more than with that, and
    of two rows on all together 100 divided by their number."""
    rows, size = facts["outer"], facts["size"]
    alone = 16 + rows * (37 + 20 * -(-size // 4) + 3 * -(-size // 16))
    together = 28 + -(-rows // 4) * (40 + 25 * size)
    if _from_elements(40)(facts):
        by_table = min(49 + -(-rows // 4) * (41 + 20 * size), rows * (130 + 7 * size // 2))
        together = by_table + (100 // rows if facts["elements"] < ALL_ELEMENTS else 0)
    return bool(facts["inner"] == 1 and size <= 64 and alone <= together)


def _factored_columns(facts: Facts) -> bool:
    """Columns, or rows, of up to 16 elements, of which a kernel keeps an exponential each."""
    return bool(facts["size"] <= 16)


def _up_to_64(facts: Facts) -> bool:
    """Columns of so few elements that a kernel keeps an exponential of each on the stack."""
    return bool(facts["size"] <= 64)


def _codes_apart(facts: Facts) -> bool:
    """A softmax of int8 in which only a difference of 0 has the exponent 0, and whose multiplier is from 2^30
    on."""
    multiplier = facts["multiplier"]
    return bool(multiplier >= 1 << 30 and multiplier << facts["shift"] > 1 << 30)


def _normal_scale(facts: Facts) -> bool:
    """No result depends on subnormal floats, which MVE takes for zero.

    A subnormal input or product is then below 1/2 and rounds to zero code steps; a scale that is
    normal has no subnormal multiples.
    """
    scale = facts["inv_scale"] if "inv_scale" in facts else facts["scale"]
    return bool(2.0**-126 <= scale <= 2.0**124)


def _moderate_scale(facts: Facts) -> bool:
    """Codes become normal floats, or 0; and the exponents of a float and the scale tell that their product is
    0 of a subnormal one, and beyond all codes of an infinite one."""
    scale = facts["inv_scale"] if "inv_scale" in facts else facts["scale"]
    return bool(2.0**-119 <= scale <= 2.0**119)


def _lookup_in_turns(facts: Facts) -> bool:
    """Channels of which 24 elements side by side hold whole pixels, or long runs of one channel."""
    channels, inner = facts["channels"], facts["inner"]
    return bool(24 % channels == 0 if inner == 1 else inner >= 24)


CASES: dict[str, Callable[[Facts], bool]] = {
    "shifts_right": _shifts_right,
    "shifts_right_to_22": _shifts_right_to_22,
    "narrow_multipliers": _narrow_multipliers,
    "shifts_right_2": _shifts_right_2,
    "one_to_one": _one_to_one,
    "centered_weights": _centered_weights,
    "normal_scale": _normal_scale,
    "moderate_scale": _moderate_scale,
    "below_256_pixels": _below_pixels(256),
    "below_4080_pixels": _below_pixels(4080),
    "from_4_channels": _from_channels(4),
    "from_8_channels": _from_channels(8),
    "from_16_channels": _from_channels(16),
    "windows_inside": _windows_inside,
    "wide_windows": _wide_windows,
    "few_windows_of_8": _few_windows(8),
    "few_windows_of_16": _few_windows(16),
    "one_channel": _below_channels(2),
    "below_4_channels": _below_channels(4),
    "below_8_channels": _below_channels(8),
    "below_16_channels": _below_channels(16),
    "from_64_elements": _from_elements(64),
    "from_40_elements": _from_elements(40),
    "from_20_elements": _from_elements(20),
    "from_24_elements": _from_elements(24),
    "worth_two": _worth_two,
    "up_to_64": _up_to_64,
    "codes_apart": _codes_apart,
    "short_columns": _short_columns,
    "in_registers": _in_registers,
    "has_factors": _has_factors,
    "factored_rows": _factored_rows,
    "factored_columns": _factored_columns,
    "short_rows": _short_rows,
    "worth_folded_table": _worth_folded_table(48, 160, 1 << 31),
    "worth_short_table": _worth_folded_table(110, 250, 40),
    "few_in_lanes": _few_in_lanes,
    "few_elements": _few_elements,
    "kept_rows": _kept_rows,
    "kept_pairs": _kept_pairs,
    "only_pairs": _only_pairs,
    "one_pair": _one_pair,
    "two_elements": _elements(2),
    "three_elements": _elements(3),
    "four_elements": _elements(4),
    "five_elements": _elements(5),
    "six_elements": _elements(6),
    "seven_elements": _elements(7),
    "many_elements": _many_elements,
    "many_values": _many_values,
    "rows_of_eights": _rows_of_eights,
    "rows": _rows,
    "columns": _columns_apart,
    "even_columns": _even_columns,
    "gentle": _gentle,
    "narrow_sums": _narrow_sums,
    "narrow_products": _narrow_products,
    "sums_of_27_bits": _sums_of_27_bits,
    "one_group": _one_group,
    "constant_weights": _constant_weights,
    "rows_3x3": _rows_3x3,
    "left_3x3": _left_3x3,
    "near_places": _near_places,
    "sixteens_3x3": _sixteens_3x3,
    "from_minus_127": _from_minus_127,
    "pairs_pay": _pairs_pay,
    "shared_columns": _shared_columns,
    "one_plane": _one_plane,
    "gathers": _copies(gathered.GATHERED),
    "folds": _copies(gathered.FOLDED),
    "reads_rows": _copies(gathered.DIRECT),
    "widens": _copies(widened.SYMBOL),
    "planes_pay_dsp": planes.pay_dsp,
    "planes_pay_mve": lambda facts: not facts.get("copies") and planes.pay_mve(facts),
    "blocks_pay": planes.pay_blocks,
    "from_zero": _from_zero,
    "few_inputs": _few_inputs,
    "one_output": _one_output,
    "few_outputs_dsp": _few_outputs(4),
    "few_outputs_mve": _few_outputs(8, least=2),
    "no_eights": _no_eights,
    "plain": _plain,
    "all_in_fours": _all_in_blocks(4),
    "all_in_eights": _all_in_blocks(8),
    "tiles": _tiles,
    "pixel": _pixel,
    "pooled_pixel": _pooled_pixel,
    "undilated": _undilated,
    "few_rows_alone": _few_rows_alone,
    "rows_pay": _rows_pay,
    "one_input": _one_input,
    "one_input_four_columns": _one_input_columns(4),
    "one_input_five_columns": _one_input_columns(5),
    "planes_by_two": _planes_of(3, 2),
    "planes_row": _planes_row,
    "planes_five": _planes_of(5, 1),
    "planes_five_by_two": _planes_of(5, 2),
    "pixels_of_one_input": _pixels_of(1),
    "pixels_of_two_inputs": _pixels_of(2),
    "pixels_of_three_inputs": _pixels_of(3),
    "pixels_of_four_inputs": _pixels_of(4),
    "narrow_windows": _narrow_windows,
    "float_channels": _float_channels,
    "float_channels_mve": _float_channels_mve,
    "float_channels_wide": _float_channels_wide,
    "float_channels_3x3": _float_channels_3x3(1),
    "float_channels_3x3_by_two": _float_channels_3x3(2),
    "few_columns": _few_columns,
    "vector_columns": _vector_columns,
    "vector_rows": _vector_rows,
    "panels": _panels,
    "one_sum": _one_sum,
    "row_of_layer": _row_of_layer,
    "moderate_divisor": _moderate_divisor,
    "several_groups": _several_groups,
    "alike_rows": _alike_rows,
    "rows_of_four": _short_alike_rows(4),
    "rows_of_eight": _short_alike_rows(8),
    "rows_of_twelve": _short_alike_rows(12),
    "rows_of_sixteen": _short_alike_rows(16),
    "channels_in_lanes": _channels_in_lanes,
    "dense_rows": _dense_rows,
    "add_shifts_right": _add_shifts_right,
    "affine": _affine,
    "affine_fine": _affine_fine,
    "alike": _alike,
    "add_shifts_right_s16": _add_shifts_right_s16,
    "lookup_in_turns": _lookup_in_turns,
    "mul_shifts_right": _mul_shifts_right,
    "shift_right_2": _shift_right_2,
    "smooth_table": _smooth_table,
    **cmsis_nn.CASES,
}
