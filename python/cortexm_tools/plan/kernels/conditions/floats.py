# SPDX-License-Identifier: Apache-2.0
"""What kernels of convolutions and products of floats can require, and what makes them worth their code."""

from __future__ import annotations

from collections.abc import Callable

from .. import float_rows, planes
from ..facts import Facts

_MANY_OF_ONE = 1024  # sums of windows of one float, of which eight save some 16 instructions
_MANY_PRODUCTS_OF_ONE = 16000  # of wider windows, eight of which save an instruction or more
_WORTH_PLANES_OF = 2000  # instructions that planes of few columns must save, of 1,000 bytes
_WORTH_ROWS = 2300  # instructions that rows of floats in lanes must save, of some 1,150 bytes
_MANY_OF_EIGHTS = 240  # products, each of which saves some twelve instructions, of some 1,400 bytes
_MANY_OF_CHANNELS = 128  # sums of floats of channels that are groups
_WORTH_PIXELS = 780  # instructions that planes of 1x1 windows must save, of some 390 bytes
_WORTH_PIXELS_DSP = 850  # the same with DSP instructions, of some 420 bytes
_WORTH_PLANES_ROW = 2200  # instructions that rows of planes must save, of some 1,100 bytes
_MANY_OF_FOURTHS = 5000  # products, ten of which save three instructions, of some 730 bytes
_WORTH_LINES_BY_TWO = (
    1400  # instructions that lines of planes two apart must save, of some 700 bytes
)
_WORTH_COLUMNS = 1400  # the same of windows of one column, of some 700 bytes
_MANY_OF_LINES = 500  # sums of windows of one row, which save two to four, of some 700 bytes
_WORTH_CHANNELS = 5000  # instructions that these must save on MVE, of some 3,800 bytes
_WORTH_CHANNELS_3X3 = 2700  # the same of 3x3 windows, of some 1,300 bytes
_WORTH_CHANNELS_ANY = 1450  # of 3x3 windows and any number of channels, of some 720 bytes
_MANY_OF_DILATED = 500  # outputs of these that are dilated, which save five instructions each
_WORTH_FIVES = 3000  # of windows of five columns two apart, of some 1,500 bytes
_WORTH_CHANNELS_LINE = 1500  # of windows of one row of so many columns, of some 750 bytes
_WORTH_CHANNELS_WIDE = 3700  # of others, of some 1,850 bytes


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
    instructions for a byte: four for three products, and 150 of a pixel that conv2d computes by itself."""

    def pays(facts: Facts) -> bool:
        pad, most = facts.get("pad_left", 0), columns // 2
        beyond = (facts["out_w"] - 1) * stride + columns - pad - facts["in_w"]
        windows = facts["kernel_w"], facts["stride_w"], facts.get("dilation_w", 1)
        is_window = windows == (columns, stride, 1) and 0 <= pad <= most and beyond <= most
        are_planes = facts["groups"] == facts["in_c"] == facts["out_c"]
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        saved = 1.3 * outputs * facts["kernel_h"] * columns + 150 * _singles(facts)
        is_large = saved >= _WORTH_PLANES_OF
        are_fours = facts["out_h"] >= 4 and facts["out_w"] >= 4
        return bool(is_window and are_planes and are_beside and are_fours and is_large)

    return pays


def _planes_3x3_by_two(facts: Facts) -> bool:
    """Such planes of 3x3 windows two rows and columns apart, of which one of either may lie outside the
    image at either end, with three columns of pixels. Most rows are shared by two pixels of a column; where
    the kernel of any rows takes not even six for seven of its instructions, as of four columns of pixels."""
    size = facts["kernel_h"], facts["stride_h"], facts["stride_w"], facts["out_w"] > 2
    if not planes.are_squares(facts) or size != (3, 2, 2, True):
        return False
    is_inside = all(
        0 <= facts.get(before, 0) <= 1
        and 2 * facts[f"out_{side}"] - facts.get(before, 0) <= facts[f"in_{side}"]
        for before, side in (("pad_top", "h"), ("pad_left", "w"))
    )
    height, width = facts["out_h"], facts["out_w"]
    mine = -(-width // 8) * (25 + 38.5 * height)
    others = -(-width // 4) * -(-height // 4) * 99 + 20
    are_fewer = height < 4 or width < 4 or mine * 6 <= others * 7
    outputs = facts["batches"] * facts["out_c"] * height * width
    is_large = 1.3 * 9 * outputs + 150 * _singles(facts) >= _WORTH_PLANES_OF
    are_planes = facts["groups"] == facts["in_c"] == facts["out_c"]
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    return bool(is_inside and are_fewer and is_large and are_planes and are_beside)


def _planes_row(facts: Facts) -> bool:
    """Such planes of rows of 16 results or more, of any windows one column apart, or of one column in planes
    that are one row. It saves an instruction for four products, if blocks of 16 results fill the rows, or one
    for each where windows or images have few rows, and there 250 of a pixel that has columns outside the
    image; and one for each where windows have one column."""
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    if not facts["groups"] == facts["in_c"] == facts["out_c"] >= 2 or not are_beside:
        return False
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    products = outputs * facts["kernel_h"] * facts["kernel_w"]
    more = -facts["out_w"] % 16 / facts["out_w"]
    if facts["kernel_h"] == 1 or facts["out_h"] < 4:
        rows = 1 if facts["kernel_h"] == 1 else facts["out_h"]
        saved = products + 250.0 * facts["batches"] * rows * _outside(facts, "w")
    elif facts["kernel_w"] == 1:
        saved = products
    else:
        saved = products * (0.25 if more < 0.35 else 0.0)
    return bool(saved >= _WORTH_PLANES_ROW and planes.are_rows(facts))


def _planes_fourths(columns: int, is_line: bool) -> Callable[[Facts], bool]:
    """The same of so many columns that are neighbours, where four sums share them, in windows of several rows
    or in those of one."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        products = outputs * facts["kernel_h"] * columns
        is_large = outputs >= _MANY_OF_LINES if is_line else products >= _MANY_OF_FOURTHS
        return bool(is_large and are_beside and planes.are_fourths(facts, columns, is_line))

    return pays


def _planes_lines_by_two(columns: int) -> Callable[[Facts], bool]:
    """Such planes of windows of one row of so many columns, two apart. It saves some two instructions for a
    product."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        is_large = 2 * outputs * columns >= _WORTH_LINES_BY_TWO
        return bool(is_large and are_beside and planes.are_lines_by_two(facts, columns))

    return pays


def _planes_columns(rows: int, stride: int) -> Callable[[Facts], bool]:
    """Such planes of windows of one column of so many rows, one or two apart, of which half may lie outside
    the image at either end; with four rows and columns of pixels. It saves a fifth of an instruction for a
    product beside rows of planes, and two beside conv2d."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        names = ("kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h")
        above, half = facts.get("pad_top", 0), rows // 2
        beyond = (facts["out_h"] - 1) * stride + rows - above - facts["in_h"]
        products = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"] * rows
        return bool(
            facts["groups"] == facts["in_c"] == facts["out_c"]
            and are_beside
            and tuple(facts[name] for name in names) == (rows, 1, stride, 1, 1)
            and not facts.get("pad_left", 0)
            and 4 <= facts["out_w"] <= facts["in_w"]
            and facts["out_h"] >= 4
            and 0 <= above <= half
            and beyond <= half
            and products * (0.2 if _planes_row(facts) else 2) >= _WORTH_COLUMNS
        )

    return pays


def _planes_wide(stride: int) -> Callable[[Facts], bool]:
    """Such planes of rows of eight results or more, of any windows that are so many columns apart without
    gaps, where eight pixels at a time take less, and save more of all these of the model than two
    instructions for a byte of their kernel."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        are_planes = facts["groups"] == facts["in_c"] == facts["out_c"] and are_beside
        are_so_near = facts["stride_w"] == stride and stride in facts.get("planes_in_eights", ())
        if not are_planes or not are_so_near or not planes.are_eights(facts):
            return False
        return planes.saved_by_eights(facts) > 0

    return pays


def _pixels_of(inputs: int) -> Callable[[Facts], bool]:
    """A 1x1 convolution of floats of so many inputs, or a linear layer, whose pixels are a row without gaps
    for a block of them, with four outputs, eight or more, or four or more of four inputs, side by side, of
    which the last ones may begin among others; and so many of these that the kernel for them saves two
    instructions for a byte of its code: nine for eight outputs of a pixel, seven for four."""

    def pays(facts: Facts) -> bool:
        is_pixel = (
            facts["kernel_h"] == facts["kernel_w"] == facts["stride_w"] == facts["groups"] == 1
        )
        is_row = facts["batches"] * facts["out_h"] == 1 and facts["out_w"] == facts["in_w"]
        is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
        are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
        has_inputs = facts["in_c"] == facts["in_strides"][3] == inputs
        is_large = float_rows.are_of_few_inputs(facts["out_w"], inputs, facts["out_c"])
        return bool(is_pixel and is_row and is_inside and are_beside and has_inputs and is_large)

    return pays


def _planes_of_pixels(facts: Facts) -> bool:
    """Such a convolution of planes with so many pixels that the kernel for them saves two instructions for
    a byte of its code on MVE. For each output it takes half an instruction for a term of a pixel, and loads
    take as long as the products; conv2d takes what it begins three or four pixels with."""
    inputs, outputs = facts["in_c"], facts["out_c"]
    eights, left = divmod(outputs, 8)
    terms = 4 * eights + (4 if left > 4 else 3 if left else 0)
    others = 36 + inputs if outputs == 1 else 18 * -(-outputs // 8) + terms * inputs
    saved = facts["batches"] * facts["out_w"] * (others - outputs * (inputs + 0.6))
    return bool(_are_planes_of_pixels(facts) and saved >= _WORTH_PIXELS)


def _planes_of_pixels_dsp(facts: Facts) -> bool:
    """The same with DSP instructions: a term of 16 pixels takes 22. conv2d has three pixels of eight outputs,
    or of up to four. Where it takes less than half as much again it has fewer cycles, as several outputs
    share what it loads."""
    inputs, outputs = facts["in_c"], facts["out_c"]
    left = outputs % 8
    parts = [part for part in (min(left, 4), left - 4) if part > 0]
    blocks = outputs // 8 * (107 + 34 * inputs)
    blocks += sum(80 + (9 + 3 * part) * inputs for part in parts)
    own = outputs * (36 + -(-facts["out_w"] // 16) * (5 + 22 * inputs))
    saved = facts["batches"] * (facts["out_w"] / 3 * blocks - own)
    is_worth = saved >= max(_WORTH_PIXELS_DSP, facts["batches"] * own / 2)
    return bool(_are_planes_of_pixels(facts) and is_worth)


def _are_planes_of_pixels(facts: Facts) -> bool:
    """A 1x1 convolution of floats whose pixels, 16 or more, are a row in each plane."""
    ones = ("groups", "kernel_h", "kernel_w", "stride_w", "out_h")
    is_pixel = all(facts[name] == 1 for name in ones) and facts["out_w"] == facts["in_w"] >= 16
    is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
    are_planes = facts["in_strides"][3] == facts["out_strides"][3] == 1
    return bool(is_pixel and is_inside and are_planes)


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


def _float_channels_eights(facts: Facts) -> bool:
    """Such channels side by side, eight or more, of which no more than a fifth are computed with others once
    more."""
    channels = facts["groups"]
    return channels >= 8 and -channels % 8 * 5 <= channels and _by_two_pixels(facts)


def _float_channels_fours(facts: Facts) -> bool:
    """The same of two to four more than eights, or four of wide windows."""
    channels = facts["groups"]
    is_wide = channels >= 8 or channels == 4 and facts["kernel_w"] > 3
    return is_wide and 2 <= channels % 8 <= 4 and _by_two_pixels(facts)


def _by_two_pixels(facts: Facts) -> bool:
    """Whether channels that are groups are side by side, and kernels of eights of them take less than the
    kernel of all channels, which has more code, too: all windows but 3x3 ones whose columns four neighbours
    or more share there. Beside conv2d it saves some twelve instructions for a product."""
    ins, outs = facts["in_strides"], facts["out_strides"]
    if not facts["groups"] == facts["in_c"] == facts["out_c"] or not ins[1] == outs[1] == 1:
        return False
    window = facts["kernel_w"], facts["stride_w"], facts.get("dilation_w", 1)
    is_shared = window == (3, 1, 1) and facts["out_w"] >= 4 and facts["out_h"] > 1
    outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["groups"]
    is_large = outputs * facts["kernel_h"] * facts["kernel_w"] >= _MANY_OF_EIGHTS
    return is_large and not (is_shared and _float_channels(facts))


def _float_channels_mve(facts: Facts) -> bool:
    """The same with MVE, for channels that lie side by side, or 3x3 windows a pixel apart, in planes, of at
    least five columns of results, no more than a row and a column of which is outside the image. Of four
    channels and more side by side it saves three instructions for an output, or nine where windows are apart,
    and more in narrow images, whose borders conv2d computes by themselves; of up to three twenty; of planes
    eleven, and 200 of a pixel that conv2d computes by itself."""
    if not facts["groups"] == facts["in_c"] == facts["out_c"] >= 2:
        return False
    more = 0
    saved = max(2 + 50 // facts["out_w"], 9 if facts["stride_w"] > 1 else 0)
    if facts["in_strides"][1] != 1 or facts["out_strides"][1] != 1:
        if not _are_strips(facts):
            return False
        saved, more = 11, 200 * _singles(facts)
    elif facts["groups"] < 4:
        saved = 20
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    return bool(outputs * saved + more >= _WORTH_CHANNELS)


def _float_channels_3x3_any(facts: Facts) -> bool:
    """Such channels side by side, of 3x3 windows a pixel apart as below, in numbers that are no fours: two or
    more of which fours would compute a fifth once more, or any below eight. Of an output of two or three
    channels it saves 14 instructions, and seven for one that fours compute once more; beside conv2d seven,
    and 200 of a pixel that conv2d computes by itself."""
    channels = facts["groups"]
    more = -channels % 4  # channels that fours compute once more
    if channels < 2 or more == 0 or more * 5 < channels >= 8:
        return False
    outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * channels
    if _float_channels_mve(facts) or _float_channels_3x3(1)(facts):
        saved = outputs * (14 if channels < 4 else 7 * more / channels)
    else:
        saved = outputs * 7 + 200 * _singles(facts)
    is_near = facts["stride_h"] == 1 and facts["in_strides"][3] > 0
    return bool(is_near and _are_3x3(facts, 1) and saved >= _WORTH_CHANNELS_ANY)


def _float_channels_3x3(stride: int) -> Callable[[Facts], bool]:
    """Such channels side by side, four or more, of 3x3 windows so many columns apart, of which a row and a
    column may lie outside the image at either end, with four columns of results, as far apart as those of the
    image. Of an output it saves four instructions, or eight where windows are apart, and 200 of a pixel that
    conv2d computes by itself."""

    def pays(facts: Facts) -> bool:
        outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["groups"]
        is_large = 4 * stride * outputs + 200 * _singles(facts) >= _WORTH_CHANNELS_3X3
        return bool(facts["groups"] >= 4 and _are_3x3(facts, stride) and is_large)

    return pays


def _are_3x3(facts: Facts, stride: int) -> bool:
    """Whether they are channels of such windows."""
    channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
    is_window = planes.are_squares(facts) and facts["stride_w"] == stride
    are_beside = ins[1] == outs[1] == 1 and ins[3] == outs[3]
    is_inside = facts["out_w"] >= 4 and all(
        0 <= facts.get(before, 0) <= 1
        and (facts[f"out_{side}"] - 1) * facts[f"stride_{side}"] + 2 - facts.get(before, 0)
        <= facts[f"in_{side}"]
        for before, side in (("pad_top", "h"), ("pad_left", "w"))
    )
    are_channels = channels == facts["in_c"] == facts["out_c"]
    return bool(is_window and are_channels and are_beside and is_inside)


def _float_channels_3x3_dilated(facts: Facts) -> bool:
    """The same of dilated windows one column and row apart: pixels as far apart as the taps are an image by
    themselves, of four columns or more. It saves a fifth of an instruction for a product, or more, beside the
    kernel of windows that share columns, in less code; and 250 are what each image takes to begin."""
    channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
    sizes = [facts[f"{name}_{side}"] for name in ("kernel", "stride") for side in "hw"]
    if not 4 <= channels == facts["in_c"] == facts["out_c"] or sizes != [3, 3, 1, 1]:
        return False
    are_beside = ins[1] == outs[1] == 1 and ins[3] == outs[3]
    apart = {side: facts[f"dilation_{side}"] for side in "hw"}
    pads = {"h": facts.get("pad_top", 0), "w": facts.get("pad_left", 0)}
    are_inside = all(
        0 <= pad <= apart[side] and facts[f"out_{side}"] + apart[side] - pad <= facts[f"in_{side}"]
        for side, pad in pads.items()
    )
    images = apart["h"] * apart["w"]
    outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * channels
    is_large = outputs >= max(_MANY_OF_DILATED, 100 * images)
    are_fours = facts["out_w"] >= 4 * apart["w"]
    return bool(images > 1 and are_beside and are_inside and are_fours and is_large)


def _float_channels_five_by_two(facts: Facts) -> bool:
    """The same of windows of five columns that are two apart, of which two at either end may lie outside the
    image, with four columns of results; and so many products that the kernel for them saves two instructions
    for a byte: 0.8 for a product, 150 of a pixel that conv2d computes by itself, and 20 of one in a line."""
    channels, pad = facts["groups"], facts.get("pad_left", 0)
    windows = facts["kernel_w"], facts["stride_w"], facts.get("dilation_w", 1)
    beyond = (facts["out_w"] - 1) * 2 + 5 - pad - facts["in_w"]
    is_window = windows == (5, 2, 1) and 0 <= pad <= 2 and beyond <= 2 and facts["out_w"] >= 4
    are_channels = 4 <= channels == facts["in_c"] == facts["out_c"]
    are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
    products = facts["batches"] * channels * facts["out_h"] * facts["out_w"] * facts["kernel_h"] * 5
    of_line = 20 * facts["out_w"] if facts["out_h"] == 1 else 0
    is_large = 0.8 * products + 150 * _singles(facts) + of_line >= _WORTH_FIVES
    return bool(is_window and are_channels and are_beside and is_large)


def _float_channels_wide(facts: Facts) -> bool:
    """The same of windows of three columns or more, or of as many rows, whose pixels share columns. Beside
    conv2d it saves half an instruction for a product, or 0.9 where there are more columns, twenty for a
    pixel, and some hundreds for each that has columns outside the image. Beside conv2d_channels, if images
    have several rows, and four columns, it saves 0.6 of an instruction where windows have four columns or
    more, or one, or are dilated, and half of one in small images, or where windows have one."""
    channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
    if not 4 <= channels == facts["in_c"] == facts["out_c"] or not ins[1] == outs[1] == 1:
        return False
    along, across = planes.slid_axes(facts)
    is_line = facts[f"out_{along}"] < 4 or facts[f"out_{across}"] == 1
    pixels = facts["out_h"] * facts["out_w"]
    products = pixels * channels * facts["kernel_h"] * facts["kernel_w"]
    is_wide = facts[f"kernel_{along}"] > 3 or facts.get("dilation_w", 1) > 1
    if _float_channels_mve(facts) and not is_line:
        saved = products * (0.6 * (is_wide or along == "h") + 0.5 * (pixels < 64 or along == "h"))
    else:
        beyond = _outside(facts, across)
        others = beyond + (beyond < facts[f"out_{across}"])  # rows of other taps
        singles = _outside(facts, along) * others
        saved = products * (0.9 if is_wide else 0.5) + 20 * pixels + singles * (300 + 10 * channels)
    return bool(facts["batches"] * saved >= _WORTH_CHANNELS_WIDE and planes.are_slid(facts))


def _float_channels_line(columns: int, stride: int) -> Callable[[Facts], bool]:
    """The same of windows of one row of so many columns, one or two apart, of which half lie outside the
    image at an end, or none. It saves a third of an instruction for a product beside the kernel of all of
    these, in less than half of its code, and more of a pixel that conv2d computes by itself; of windows two
    apart some 1.3 for a product beside conv2d."""

    def pays(facts: Facts) -> bool:
        channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
        if not 4 <= channels == facts["in_c"] == facts["out_c"] or not ins[1] == outs[1] == 1:
            return False
        if not planes.are_near_lines(facts, columns, stride):
            return False
        of_pixel = channels * columns + 20 if stride == 1 else 1.3 * channels * columns + 40
        singles = _outside(facts, "w") * (350 + 40 * channels)
        saved = facts["out_h"] * (facts["out_w"] * of_pixel + singles)
        return bool(facts["batches"] * saved >= _WORTH_CHANNELS_LINE)

    return pays


def _outside(facts: Facts, along: str) -> int:
    """How many results along an axis have windows that are not all inside the image."""
    stride, extent = facts[f"stride_{along}"], facts[f"in_{along}"]
    first = -facts.get("pad_top" if along == "h" else "pad_left", 0)
    reach = (facts[f"kernel_{along}"] - 1) * facts.get(f"dilation_{along}", 1) + 1
    places = range(first, first + facts[f"out_{along}"] * stride, stride)
    return sum(not 0 <= at <= extent - reach for at in places)


def _singles(facts: Facts) -> int:
    """Pixels that conv2d computes by themselves: those that have columns outside the image, or all of a row
    with less than four others."""
    outside, across = _outside(facts, "w"), int(facts["out_w"])
    in_row = outside if across - outside >= 4 else across
    return int(facts["batches"] * facts["out_h"] * in_row)


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


def _small_product(facts: Facts) -> bool:
    """A product of small matrices that is to have its kernel."""
    return bool(facts.get("is_small", False))


def _row_of_layer(facts: Facts) -> bool:
    """A layer of floats that is to have its outputs in lanes."""
    return bool(facts.get("outputs_in_lanes", False))


def _row_of_pairs(facts: Facts) -> bool:
    """Such a layer of two outputs more than eights, which are computed in pairs."""
    return bool(facts.get("outputs_in_pairs", False))


def _panels(facts: Facts) -> bool:
    """Such a product, or one whose columns the plan has put in panels, of four rows or more."""
    are_few = _few_columns(facts) or facts.get("rows_in_lanes", False)
    return bool(are_few and facts["rows"] >= 4)


CASES: dict[str, Callable[[Facts], bool]] = {
    "few_rows_alone": _few_rows_alone,
    "rows_pay": _rows_pay,
    "one_input": _one_input,
    "one_input_four_columns": _one_input_columns(4),
    "one_input_five_columns": _one_input_columns(5),
    "planes_by_two": _planes_of(3, 2),
    "planes_3x3_by_two": _planes_3x3_by_two,
    "planes_row": _planes_row,
    "planes_seven": _planes_fourths(7, False),
    "planes_line_three": _planes_fourths(3, True),
    "planes_line_five": _planes_fourths(5, True),
    "planes_line_seven": _planes_fourths(7, True),
    "planes_line_nine": _planes_fourths(9, True),
    "planes_column_three": _planes_columns(3, 1),
    "planes_column_five": _planes_columns(5, 1),
    "planes_column_three_by_two": _planes_columns(3, 2),
    "planes_column_five_by_two": _planes_columns(5, 2),
    "planes_line_three_by_two": _planes_lines_by_two(3),
    "planes_line_five_by_two": _planes_lines_by_two(5),
    "planes_line_seven_by_two": _planes_lines_by_two(7),
    "planes_wide": _planes_wide(1),
    "planes_wide_by_two": _planes_wide(2),
    "planes_five": _planes_of(5, 1),
    "planes_five_by_two": _planes_of(5, 2),
    "planes_of_pixels": _planes_of_pixels,
    "planes_of_pixels_dsp": _planes_of_pixels_dsp,
    "pixels_of_one_input": _pixels_of(1),
    "pixels_of_two_inputs": _pixels_of(2),
    "pixels_of_three_inputs": _pixels_of(3),
    "pixels_of_four_inputs": _pixels_of(4),
    "narrow_windows": _narrow_windows,
    "float_channels": _float_channels,
    "float_channels_fours": _float_channels_fours,
    "float_channels_eights": _float_channels_eights,
    "float_channels_mve": _float_channels_mve,
    "float_channels_five_by_two": _float_channels_five_by_two,
    "float_channels_line_three": _float_channels_line(3, 1),
    "float_channels_line_five": _float_channels_line(5, 1),
    "float_channels_line_seven": _float_channels_line(7, 1),
    "float_channels_line_nine": _float_channels_line(9, 1),
    "float_channels_line_three_by_two": _float_channels_line(3, 2),
    "float_channels_line_five_by_two": _float_channels_line(5, 2),
    "float_channels_line_seven_by_two": _float_channels_line(7, 2),
    "float_channels_line_nine_by_two": _float_channels_line(9, 2),
    "float_channels_wide": _float_channels_wide,
    "float_channels_3x3_any": _float_channels_3x3_any,
    "float_channels_3x3": _float_channels_3x3(1),
    "float_channels_3x3_dilated": _float_channels_3x3_dilated,
    "float_channels_3x3_by_two": _float_channels_3x3(2),
    "few_columns": _few_columns,
    "vector_columns": _vector_columns,
    "vector_rows": _vector_rows,
    "panels": _panels,
    "one_sum": _one_sum,
    "row_of_layer": _row_of_layer,
    "row_of_pairs": _row_of_pairs,
    "small_product": _small_product,
}
