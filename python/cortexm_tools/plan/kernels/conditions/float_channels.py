# SPDX-License-Identifier: Apache-2.0
"""What kernels can require of convolutions of floats whose channels are groups of one output."""

from __future__ import annotations

from collections.abc import Callable

from .. import float_windows, planes
from ..facts import Facts

_MANY_OF_EIGHTS = 240  # products, each of which saves some twelve instructions, of some 1,400 bytes
_MANY_OF_CHANNELS = 128  # sums of floats of channels that are groups
_WORTH_CHANNELS = 5000  # instructions that these must save on MVE, of some 3,800 bytes
_WORTH_CHANNELS_3X3 = 2700  # the same of 3x3 windows, of some 1,300 bytes
_WORTH_CHANNELS_ANY = 1450  # of 3x3 windows and any number of channels, of some 720 bytes
_MANY_OF_SIXTEENS = 1900  # outputs of 3x3 windows two apart, which save 1.4 instructions each
_MANY_OF_DILATED = 500  # outputs of these that are dilated, which save five instructions each
_WORTH_FIVES = 3000  # of windows of five columns two apart, of some 1,500 bytes
_WORTH_CHANNELS_LINE = 1500  # of windows of one row of so many columns, of some 750 bytes
_MANY_OF_FEW = 850  # products of two or three channels, which save 1.3 each, of some 550 bytes
_WORTH_CHANNELS_WIDE = 3700  # of others, of some 1,850 bytes


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


def _channels_few(channels: int) -> Callable[[Facts], bool]:
    """Two or three such channels side by side, without gaps between pixels, of windows of three columns a
    pixel apart, of which one at either end may lie outside the image; with four columns of results."""

    def pays(facts: Facts) -> bool:
        ins, outs = facts["in_strides"], facts["out_strides"]
        window = facts["kernel_w"], facts["stride_w"], facts.get("dilation_w", 1)
        pad, width = facts.get("pad_left", 0), facts["out_w"]
        outputs = facts["batches"] * facts["out_h"] * width * channels
        return bool(
            facts["groups"] == facts["in_c"] == facts["out_c"] == channels
            and (ins[1], ins[3]) == (outs[1], outs[3]) == (1, channels)
            and window == (3, 1, 1)
            and 0 <= pad <= 1
            and 4 <= width <= facts["in_w"] + pad - 1
            and outputs * facts["kernel_h"] * 3 >= _MANY_OF_FEW
        )

    return pays


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
        saved, more = 11, 200 * float_windows.singles(facts)
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
        saved = outputs * 7 + 200 * float_windows.singles(facts)
    is_near = facts["stride_h"] == 1 and facts["in_strides"][3] > 0
    return bool(is_near and _are_3x3(facts, 1) and saved >= _WORTH_CHANNELS_ANY)


def _float_channels_3x3(stride: int) -> Callable[[Facts], bool]:
    """Such channels side by side, four or more, of 3x3 windows so many columns apart, of which a row and a
    column may lie outside the image at either end, with four columns of results, as far apart as those of the
    image. Of an output it saves four instructions, or eight where windows are apart, and 200 of a pixel that
    conv2d computes by itself."""

    def pays(facts: Facts) -> bool:
        outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["groups"]
        is_large = 4 * stride * outputs + 200 * float_windows.singles(facts) >= _WORTH_CHANNELS_3X3
        return bool(facts["groups"] >= 4 and _are_3x3(facts, stride) and is_large)

    return pays


def _sixteens_by_two(facts: Facts) -> bool:
    """Pixels are sixteen floats apart, as are all that the kernel for any channels would compute in the
    model; or such pixels are so many that they save two instructions for a byte beside it."""
    outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["groups"]
    pays = facts.get("sixteens_alone", False) or outputs >= _MANY_OF_SIXTEENS
    return bool(facts["in_strides"][3] == 16 and pays)


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
    is_large = 0.8 * products + 150 * float_windows.singles(facts) + of_line >= _WORTH_FIVES
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
    along, across = float_windows.slid_axes(facts)
    is_line = facts[f"out_{along}"] < 4 or facts[f"out_{across}"] == 1
    pixels = facts["out_h"] * facts["out_w"]
    products = pixels * channels * facts["kernel_h"] * facts["kernel_w"]
    is_wide = facts[f"kernel_{along}"] > 3 or facts.get("dilation_w", 1) > 1
    if _float_channels_mve(facts) and not is_line:
        saved = products * (0.6 * (is_wide or along == "h") + 0.5 * (pixels < 64 or along == "h"))
    else:
        beyond = float_windows.outside(facts, across)
        others = beyond + (beyond < facts[f"out_{across}"])  # rows of other taps
        singles = float_windows.outside(facts, along) * others
        saved = products * (0.9 if is_wide else 0.5) + 20 * pixels + singles * (300 + 10 * channels)
    return bool(facts["batches"] * saved >= _WORTH_CHANNELS_WIDE and float_windows.are_slid(facts))


def _float_channels_line(columns: int, stride: int) -> Callable[[Facts], bool]:
    """The same of windows of one row of so many columns, one or two apart, of which half lie outside the
    image at an end, or none. It saves a third of an instruction for a product beside the kernel of all of
    these, in less than half of its code, and more of a pixel that conv2d computes by itself; of windows two
    apart some 1.3 for a product beside conv2d."""

    def pays(facts: Facts) -> bool:
        channels, ins, outs = facts["groups"], facts["in_strides"], facts["out_strides"]
        if not 4 <= channels == facts["in_c"] == facts["out_c"] or not ins[1] == outs[1] == 1:
            return False
        if not float_windows.are_near_lines(facts, columns, stride):
            return False
        of_pixel = channels * columns + 20 if stride == 1 else 1.3 * channels * columns + 40
        singles = float_windows.outside(facts, "w") * (350 + 40 * channels)
        saved = facts["out_h"] * (facts["out_w"] * of_pixel + singles)
        return bool(facts["batches"] * saved >= _WORTH_CHANNELS_LINE)

    return pays


def _are_strips(facts: Facts) -> bool:
    """Whether conv2d_channels_mve computes planes in strips."""
    is_near = planes.are_squares(facts) and facts["stride_h"] == facts["stride_w"] == 1
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    is_inside = all(
        0 <= facts[before] <= 1 and facts[f"out_{side}"] - facts[before] < facts[f"in_{side}"]
        for before, side in (("pad_top", "h"), ("pad_left", "w"))
    )
    return bool(is_near and are_beside and is_inside and facts["out_w"] >= 5)


CASES: dict[str, Callable[[Facts], bool]] = {
    "float_channels": _float_channels,
    "float_channels_fours": _float_channels_fours,
    "float_channels_eights": _float_channels_eights,
    "channels_two": _channels_few(2),
    "channels_three": _channels_few(3),
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
    "sixteens_by_two": _sixteens_by_two,
}
