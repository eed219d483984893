# SPDX-License-Identifier: Apache-2.0
"""The forms that MVE and DSP kernels read: every weight is found where the kernel's comment says."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

from cortexm_tools.ir import Array
from cortexm_tools.plan.kernels.forms import FORMS, Weights
from cortexm_tools.plan.kernels.packing import Constants, Tables, _phases

from tests.support.graphs import rescales


def _constants(weight: np.ndarray, channels: int, groups: int = 1) -> Constants:
    numbers = np.arange(channels)
    return Constants(
        weight,
        (1000 + numbers).astype(np.int32),
        rescales(2000 + numbers, -numbers - 1),
        groups,
    )


@dataclass(frozen=True)
class Packed(Tables):
    """All constants of a layer in a form."""

    weight: Array


def pack(form: str, constants: Constants) -> Packed:
    weight = FORMS[form].weights(constants)
    return Packed(**vars(FORMS[form].tables(constants)), weight=weight)


@pytest.mark.parametrize("form", ["gemm4", "gemm4_wide", "nibble_gemm4", "nibble_gemm4_wide"])
def test_gemm_takes_windows_column_by_column(form: str) -> None:
    weight = np.random.default_rng(3).integers(-8, 8, (6, 2, 3, 5)).astype(np.int8)
    turned = np.stack([weight[:, :, column] for column in range(3)], axis=1)
    rows = turned.reshape(6, -1)
    if not form.endswith("wide"):
        rows = np.pad(rows, ((0, 0), (0, 2)))  # 30 of two chunks
    expected = pack(form, _constants(rows, 6)).weight
    packed = pack(form, _constants(weight, 6)).weight
    assert np.array_equal(packed, expected)


@pytest.mark.parametrize(
    ("form", "width", "rows"), [("gemm4", 16, 4), ("gemm4_wide", 8, 4), ("gemm8", 16, 8)]
)
@pytest.mark.parametrize("depth", [1, 3, 15, 16, 17, 31, 32, 33, 48, 50])
@pytest.mark.parametrize(
    ("channels", "groups"), [(1, 1), (4, 1), (5, 1), (8, 1), (6, 2), (10, 2), (4, 4), (19, 1)]
)
def test_gemm(form: str, width: int, rows: int, depth: int, channels: int, groups: int) -> None:
    rng = np.random.default_rng(depth)
    weight = rng.integers(-128, 128, (channels, depth)).astype(np.int8)
    packed = pack(form, _constants(weight, channels, groups))
    per_group = channels // groups
    whole = per_group // rows * rows
    first = (depth - 1) % width + 1
    behind = max(0, width - depth * (1 + per_group - whole)) if whole else 0
    assert packed.weight.size == channels * depth + behind
    assert packed.bias.size == packed.multiplier.size == packed.shift.size == channels
    for channel in range(channels):
        group, o = divmod(channel, per_group)
        block = packed.weight[(group * per_group + o // rows * rows) * depth :]
        for k in range(depth):
            if o >= whole:
                place = o % rows * depth + k
            elif k < first:
                place = o % rows * first + k
            else:
                chunk, at = divmod(k - first, width)
                place = rows * (first + width * chunk) + o % rows * width + at
            assert block[place] == weight[channel, k]


def test_gemm4_of_a_layer_with_one_multiplier() -> None:
    packed = pack("gemm4", Constants(np.ones((3, 5), np.int8), np.ones(3, np.int32)))
    assert packed.bias.tolist() == [1, 1, 1]
    assert packed.multiplier.size == packed.shift.size == 0


@pytest.mark.parametrize("channels", [8, 9, 15, 16, 23, 40])
def test_depthwise8(channels: int) -> None:
    rng = np.random.default_rng(channels)
    weight = rng.integers(-128, 128, (1, 3, 2, channels)).astype(np.int8)
    packed = pack("depthwise8", _constants(weight, channels))
    starts = [min(8 * i, channels - 8) for i in range((channels + 7) // 8)]
    for i, start in enumerate(starts):
        for lane in range(8):
            for tap in range(6):
                expected = weight.reshape(6, channels)[tap, start + lane]
                assert packed.weight[(i * 6 + tap) * 8 + lane] == expected
    assert packed.bias.size == packed.multiplier.size == packed.shift.size == channels


def test_depthwise16() -> None:
    weight = np.random.default_rng(0).integers(-127, 128, (1, 3, 3, 48)).astype(np.int8)
    packed = pack("depthwise16", _constants(weight, 48)).weight.reshape(3, 9, 16)
    for chunk, tap, lane in np.ndindex(packed.shape):
        assert packed[chunk, tap, lane] == weight.reshape(9, 48)[tap, 16 * chunk + lane]


@pytest.mark.parametrize("taps", [1, 2, 7])
@pytest.mark.parametrize("channels", [4, 6, 16])
def test_tap_pairs(channels: int, taps: int) -> None:
    """Bytes 0 and 2, and 1 and 3, of a word are a channel at two taps."""
    rng = np.random.default_rng(channels + taps)
    weight = rng.integers(-128, 128, (1, 1, taps, channels)).astype(np.int8)
    packed = pack("tap_pairs", _constants(weight, channels))
    words = packed.weight.reshape(-1, (taps + 1) // 2, 2, 2, 2)  # [chunk][pair][two][tap][channel]
    for chunk, start in enumerate(min(4 * i, channels - 4) for i in range(len(words))):
        for tap in range(taps + taps % 2):
            found = words[chunk, tap // 2, :, tap % 2].reshape(-1).tolist()
            expected = weight[0, 0, tap, start : start + 4].tolist() if tap < taps else [0] * 4
            assert found == expected


@pytest.mark.parametrize("kernel", [(1, 1), (2, 2), (3, 3), (2, 5), (4, 1)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2), (1, 4)])
def test_phases_are_convolutions(kernel: tuple[int, int], stride: tuple[int, int]) -> None:
    """Of each phase, the outputs that a window of 3x3 inputs meets, against the sum over all taps."""
    rng = np.random.default_rng(kernel[0] + 8 * stride[0])
    out_c, in_c, zero_point = 5, 3, -7
    weight = rng.integers(-128, 128, (out_c, *kernel, in_c)).astype(np.int8)
    plain = rng.integers(-(2**20), 2**20, out_c).astype(np.int32)
    folded = plain - zero_point * weight.astype(np.int32).sum(axis=(1, 2, 3))
    constants = Constants(weight, folded, (), 1, plain, stride, zero_point)
    image = rng.integers(-128, 128, (3, 3, in_c)).astype(np.int64) - zero_point
    extents = [2 * s + k for s, k in zip(stride, kernel, strict=True)]
    whole = np.zeros((*extents, out_c), np.int64) + plain
    for y, x, ky, kx in itertools.product(range(3), range(3), *map(range, kernel)):
        whole[y * stride[0] + ky, x * stride[1] + kx] += image[y, x] @ weight[:, ky, kx].T.astype(
            np.int64
        )
    padded = np.pad(image, [(8, 8), (8, 8), (0, 0)]) + zero_point  # kernels are less than 8 long
    for number, phase in enumerate(_phases(constants)):
        rows, cols = phase.weight.shape[1:3]
        fy, fx = divmod(number, stride[1])
        for y, x in itertools.product(
            range((extents[0] - 1 - fy) // stride[0] + 1),
            range((extents[1] - 1 - fx) // stride[1] + 1),
        ):
            top, left = 9 + y - rows, 9 + x - cols
            window = padded[top : top + rows, left : left + cols]
            sums = (phase.weight.astype(np.int64) * window).sum(axis=(1, 2, 3)) + phase.bias
            assert (sums == whole[fy + y * stride[0], fx + x * stride[1]]).all()


def test_phases_gemm4() -> None:
    rng = np.random.default_rng(1)
    weight = rng.integers(-128, 128, (5, 3, 1, 6)).astype(np.int8)
    numbers = np.arange(5, dtype=np.int32)
    scales = rescales(2000 + numbers, -1 - numbers)
    constants = Constants(weight, numbers, scales, 1, numbers, (2, 2), 0)
    packed = pack("phases_gemm4", constants)
    upper = pack("gemm4", _constants(weight[:, 2::-2].reshape(5, -1), 5)).weight[:60]
    lower = pack("gemm4", _constants(weight[:, 1].reshape(5, -1), 5)).weight[:30]
    # And two phases without taps; a vector of 16 bytes begins at six of the last.
    assert packed.weight.tolist() == [*upper, *lower, *[0] * 10]
    assert packed.bias.tolist() == [0, 1, 2, 3, 4] * 4
    packed = pack("phases_pairs", constants)
    parts = (
        pack("pairs", _constants(weight[:, 2::-2], 5)),
        pack("pairs", _constants(weight[:, 1], 5)),
    )
    assert [part.weight.size for part in parts] == [4 * 12 + 12, 4 * 6 + 8]
    assert packed.weight.tolist() == [*parts[0].weight, *parts[1].weight, *[0] * 8]
    assert packed.bias.tolist() == [0, 1, 2, 3, 4] * 4
    assert packed.shift.tolist() == [-1, -2, -3, -4, -5]


def test_wide_phases() -> None:
    """Of int16 codes: the biases are those of the layer, as there are no zero points."""
    rng = np.random.default_rng(2)
    weight = rng.integers(-128, 128, (5, 3, 1, 6)).astype(np.int8)
    numbers = np.arange(5, dtype=np.int32)
    scales = rescales(2000 + numbers, -2 - numbers)
    constants = Constants(weight, numbers, scales, stride=(2, 2), wide=True)
    packed = pack("wide_phases_gemm4", constants)
    upper = pack("gemm4_wide", _constants(weight[:, 2::-2].reshape(5, -1), 5)).weight
    lower = pack("gemm4_wide", _constants(weight[:, 1].reshape(5, -1), 5)).weight
    # A vector of 8 bytes begins at six of the last.
    assert packed.weight.tolist() == [*upper[:60], *lower[:30], *[0] * 2]
    assert packed.bias.tolist() == [0, 1, 2, 3, 4]
    packed = pack("wide_phases_pairs", constants)
    plain = Constants(weight, numbers, scales, 1, numbers, (2, 2))
    assert packed.weight.tolist() == pack("phases_pairs", plain).weight.tolist()
    assert packed.bias.tolist() == [0, 1, 2, 3, 4]


def _nibble(packed: np.ndarray, place: int, half: int) -> int:
    """The code in one half of a byte."""
    return int((int(packed[place]) >> 4 * half & 15) ^ 8) - 8


def _in_nibbles(
    form: str, channels: int, depth: int
) -> tuple[list[tuple[int, int, int]], set[int]]:
    """Where each weight [channel, input] is, as (byte, half, offset); and which bytes hold weights."""
    block = 8 if form == "nibble_gemm8" else 4
    whole = channels // block * block
    chunk_width = 8 if form == "nibble_gemm4_wide" else 16
    first, steps, eights = (depth - 1) % chunk_width + 1, (depth + 1) // 2, (depth + 7) // 8
    two = 2 * chunk_width
    row = depth // two * chunk_width + min(depth % two, chunk_width)
    places = []
    for o, k in itertools.product(range(channels), range(depth)):
        if form == "nibble_twos":
            byte = (o // 2 * -(-depth // 4) + k // 4) * 4 + (0, 2, 1, 3)[k % 4]
            places.append((byte, o % 2, 8 * (o % 2 == 0)))
        elif form == "nibble_pairs" and o < whole:
            byte = (o // 4 * steps + k // 2) * 4 + k % 2 * 2 + o % 4 // 2
            places.append((byte, o % 2, 8 * (o % 4 < 3)))
        elif form == "nibble_pairs":
            byte = steps * whole + 4 * (eights * (o - whole) + k // 8) + k % 2 * 2 + k % 8 // 4
            places.append((byte, k % 4 // 2, 8))
        elif form == "nibble_fours":
            byte = (o // 4 * steps + k // 2) * 4 + o % 4 if o < whole else o * steps + k // 2
            places.append((byte, k % 2, 8))
        elif form == "nibble_eights" and o < channels // 8 * 8:
            places.append(((o // 8 * depth + k) * 4 + o % 4, o % 8 // 4, 8))
        elif form == "nibble_eights":
            byte = channels // 8 * 4 * depth + o % 8 * steps + k // 2
            places.append((byte, k % 2, 8))
        elif form == "nibble_channels":
            four = o // 4 * 4
            twos = (min(4, channels - four) + 1) // 2
            places.append((four // 2 * depth + k * twos + o % 4 // 2, o % 2, 8 * (o % 2 == 0)))
        elif form == "nibble_lines":
            places.append(((o * eights + k // 8) * 4 + k % 4, k % 8 // 4, 8))
        elif form == "nibbles":
            places.append(((o * depth + k) // 2, (o * depth + k) % 2, 0))
        elif o < whole:
            at, width = (k, first) if k < first else ((k - first) % chunk_width, chunk_width)
            chunk = 0 if k < first else block // 2 * (k - at)
            begin = o // block * (block // 2) * depth + chunk
            places.append((begin + o % block // 2 * width + at, o % 2, 0))
        else:
            byte = whole // 2 * depth + (o - whole) * row + k // two * chunk_width + k % chunk_width
            places.append((byte, k % two // chunk_width, 0))
    return places, {byte for byte, _, _ in places}


def test_split_twos() -> None:
    """Halves 256 * b + (a + 128) of two channels, inputs 0, 2, 1, 3 of every four; what is not there is
    a zero, or stands behind the channels."""
    rng = np.random.default_rng(5)
    for channels, depth in itertools.product((1, 2, 5), range(1, 14)):
        weight = rng.integers(-128, 128, (channels, depth)).astype(np.int8)
        packed = pack("split_twos", _constants(weight, channels)).weight.view("<i2")
        row = 2 * (2 * (depth // 4) + min(depth % 4, 2))
        assert packed.size == row * (-(-channels // 2)) + 2 * (depth % 4 == 1)
        for o, k in itertools.product(range(0, channels, 2), range(depth)):
            place = o // 2 * row + k // 4 * 4 + (0, 2, 1, 3)[k % 4]
            second = int(weight[o + 1, k]) if o + 1 < channels else 0
            assert packed[place] == 256 * second + int(weight[o, k]) + 128


def test_signed_split_twos() -> None:
    """Halves 256 * b + a of two channels, in the same order, filled up to fours of inputs with zeros."""
    rng = np.random.default_rng(6)
    for channels, depth in itertools.product((1, 2, 5), range(1, 14)):
        weight = rng.integers(-127, 128, (channels, depth)).astype(np.int8)
        packed = pack("signed_split_twos", _constants(weight, channels)).weight.view("<i2")
        row = 4 * -(-depth // 4)
        assert packed.size == row * -(-channels // 2)
        left = packed.copy()
        for o, k in itertools.product(range(0, channels, 2), range(depth)):
            place = o // 2 * row + k // 4 * 4 + (0, 2, 1, 3)[k % 4]
            second = int(weight[o + 1, k]) if o + 1 < channels else 0
            assert packed[place] == 256 * second + int(weight[o, k])
            left[place] = 0
        assert not left.any()


def test_signed_split_fours() -> None:
    """The words of signed_split_twos, those of two pairs of every four channels in turn."""
    rng = np.random.default_rng(7)
    for channels, depth in itertools.product((1, 2, 4, 5, 7, 8, 10), range(1, 14)):
        weight = rng.integers(-127, 128, (channels, depth)).astype(np.int8)
        twos, fours = (
            pack(form, _constants(weight, channels)).weight.view("<i4")
            for form in ("signed_split_twos", "signed_split_fours")
        )
        assert fours.size == twos.size
        words = 2 * -(-depth // 4)
        for pair, word in itertools.product(range(-(-channels // 2)), range(words)):
            place = pair * words + word
            if pair < channels // 4 * 2:
                place = pair // 2 * 2 * words + 2 * word + pair % 2
            assert fours[place] == twos[pair * words + word]


@pytest.mark.parametrize("channels", [1, 3, 4, 6, 8, 11])
def test_tables_of_fours(channels: int) -> None:
    """Twice the biases of four channels, bytes -1 - shift, and the multipliers; likewise of those left."""
    constants = _constants(np.zeros((channels, 8), np.int8), channels)
    biases = np.arange(channels, dtype=np.int32) * 5 - 17
    constants = replace(constants, bias=biases)
    packed = pack("signed_split_fours", constants)
    assert packed.multiplier.size == packed.shift.size == 0
    plain, words = constants.tables, packed.bias.tolist()
    for first in range(0, channels, 4):
        count = min(channels - first, 4)
        assert [words.pop(0) for _ in range(count)] == [
            2 * b for b in biases[first : first + count]
        ]
        shifts = np.array([words.pop(0)], "<i4").view(np.int8)[:count]
        assert [-1 - shift for shift in shifts] == plain.shift[first : first + count].tolist()
        multipliers = [words.pop(0) for _ in range(count)]
        assert multipliers == plain.multiplier[first : first + count].tolist()
    assert not words


def test_column_twos() -> None:
    """Words [pair, row, two inputs, column] of halves 256 * b + a, inputs 0, 2, 1 and 3 of every four;
    and tables of two channels: twice their plain biases, multipliers and bytes -1 - shift."""
    rng = np.random.default_rng(8)
    for channels, inputs in itertools.product((2, 6), (3, 4, 12)):
        weight = rng.integers(-127, 128, (channels, 3, 3, inputs)).astype(np.int8)
        constants = replace(
            _constants(weight, channels), plain_bias=np.arange(channels, dtype=np.int32) * 3 - 7
        )
        packed = pack("column_twos", constants)
        words = packed.weight.view("<i2").reshape(channels // 2, 3, -1, 3, 2)
        for o, y, x, k in itertools.product(
            range(0, channels, 2), range(3), range(3), range(inputs)
        ):
            first, second = (int(w) for w in weight[o : o + 2, y, x, k])
            step, half = k // 4 * 2 + k % 2, k % 4 // 2
            assert words[o // 2, y, step, x, half] == 256 * second + first
        if inputs == 3:
            assert not words[:, :, 1, :, 1].any()
        assert packed.multiplier.size == packed.shift.size == 0
        plain = constants.tables
        for o, table in enumerate(packed.bias.reshape(-1, 5)):
            two = slice(2 * o, 2 * o + 2)
            assert table[:2].tolist() == (2 * constants.plain_bias[two]).tolist()
            assert table[2:4].tolist() == plain.multiplier[two].tolist()
            shifts = table[4:].astype("<i4").view(np.int8)
            assert shifts.tolist() == [*(-1 - plain.shift[two]), 0, 0]


@pytest.mark.parametrize("zero_point", [-128, -20, 127])
def test_column_twos_say_which_sums_need_runs(zero_point: int) -> None:
    """The third byte of every two channels: whether the second one of any two may exceed 24 bits."""
    lowest, highest = -128 - zero_point, 127 - zero_point
    largest = max(abs(lowest), abs(highest))
    count = 2**23 // (127 * largest)  # of the largest products, less than one beyond
    weight = np.zeros((4, 3, 3, count // 9 + 4), np.int8)
    weight[2, :, :, :] = 127  # a first channel, which 32 bits hold
    flat = weight[3].reshape(-1)
    for more, in_runs in ((0, 0), (1, 1)):
        flat[: count + more] = 127 if largest == highest else -127
        constants = replace(_constants(weight, 4), plain_bias=np.zeros(4, np.int32))
        packed = pack("column_twos", replace(constants, in_zero_point=zero_point))
        assert packed.bias.view(np.int8).reshape(2, 20)[:, 18].tolist() == [in_runs] * 2


@pytest.mark.parametrize(
    "form",
    [
        "nibble_twos", "nibble_pairs", "nibble_gemm4", "nibble_gemm4_wide", "nibble_gemm8", "nibble_fours",
        "nibble_eights", "nibble_lines", "nibble_channels", "nibbles",
    ],
)  # fmt: skip
def test_weights_of_4_bits_come_back(form: str) -> None:
    """Every code is where the kernels' comments say, and takes half a byte of its own."""
    rng = np.random.default_rng(4)
    for channels, depth in itertools.product(
        (1, 2, 3, 4, 5, 7, 8, 10), (*range(1, 20), 32, 33, 50)
    ):
        weight = rng.integers(-8, 8, (channels, depth)).astype(np.int8)
        weight[0, 0] = -8 if depth % 2 else 7
        packed = pack(form, _constants(weight, channels)).weight
        places, held = _in_nibbles(form, channels, depth)
        assert len({(byte, half) for byte, half, _ in places}) == weight.size
        codes = [
            (_nibble(packed, byte, half) - offset + 8) % 16 - 8 for byte, half, offset in places
        ]
        assert codes == weight.reshape(-1).tolist()
        # Half the bytes, and what rows, pairs of channels, and reads behind the end are filled up with.
        per_channel = {"nibble_lines": 4, "nibble_gemm8": 8}.get(form, 2)
        behind = 16 if "gemm" in form else 8
        filling = channels % 2 * (depth + 3) // 2 + per_channel * channels + behind
        assert max(held) < packed.size <= weight.size / 2 + filling


def test_depthwise_weights_of_4_bits_come_back() -> None:
    rng = np.random.default_rng(5)
    for channels in (8, 9, 16, 23, 40):
        weight = rng.integers(-8, 8, (1, 3, 3, channels)).astype(np.int8)
        plain = pack("depthwise8", _constants(weight, channels)).weight
        packed = pack("nibble_depthwise8", _constants(weight, channels)).weight
        assert packed.size <= plain.size // 2 + 8
        for i, code in enumerate(plain):
            assert _nibble(packed, i // 32 * 16 + i % 16, i % 32 // 16) == code
    weight = rng.integers(-8, 8, (1, 3, 3, 12)).astype(np.int8)
    packed = pack("nibble_rows", _constants(weight, 12)).weight
    codes = [_nibble(packed, i // 2, i % 2) for i in range(108)]
    assert packed.size == 54 and codes == weight.reshape(9, 12).T.reshape(-1).tolist()
    weight = rng.integers(-8, 8, (1, 1, 3, 7)).astype(np.int8)
    packed = pack("nibble_tap_fours", _constants(weight, 7)).weight
    codes = [_nibble(packed, i // 2, i % 2) for i in range(21)]
    assert packed.size == 11 and codes == pack("tap_fours", _constants(weight, 7)).weight.tolist()


@pytest.mark.parametrize("channels", [1, 7, 8, 9, 20])
def test_raised_and_eights(channels: int) -> None:
    weight = np.arange(channels * 5, dtype=np.int64).reshape(channels, 5).astype(np.int8)
    constants = _constants(weight, channels)
    plain = pack("raised", constants).weight.view(np.uint8).reshape(channels, 5)
    blocks = pack("eights", constants).weight.view(np.uint8)
    for channel in range(channels):
        for k in range(5):
            raised = int(weight[channel, k]) + 128
            block = channel // 8 * 8
            is_whole = block + 8 <= channels
            place = block * 5 + k * 8 + channel % 8 if is_whole else channel * 5 + k
            assert plain[channel, k] == blocks[place] == raised


@pytest.mark.parametrize(
    ("window", "in_c", "stride"),
    [((3, 3), 32, 1), ((3, 3), 32, 2), ((3, 3), 32, 3), ((2, 3), 5, 1)],
)
def test_tiles(window: tuple[int, int], in_c: int, stride: int) -> None:
    """Sixteen weights of two channels in turns; of columns that windows share, those of a row together."""
    weight = np.random.default_rng(1).integers(-128, 128, (6, *window, in_c)).astype(np.int8)
    packed = pack("tiles", replace(_constants(weight, 6), stride=(1, stride)))
    chunks = -(-weight[0].size // 16)
    found = packed.weight.reshape(3, chunks, 2, 16)
    for (o, y, x, c), value in np.ndenumerate(weight):
        place = (y * window[1] + x) * in_c + c
        if in_c == 32 and stride < 3:
            column = (0, 1, 2)[x] if stride == 1 else (0, 2, 1)[x]
            place = ((y * 2 + c // 16) * 3 + column) * 16 + c % 16
        assert found[o // 2, place // 16, o % 2, place % 16] == value
    assert np.count_nonzero(found) == np.count_nonzero(weight)


def test_tables_of_tiles() -> None:
    """256 times the bias and the shift of two channels, and their multipliers; the last pair is marked."""
    weight, biases = np.zeros((6, 16), np.int8), np.array([5, -6, -7, 8, -(2**22) + 1, 2**22 - 1])
    constants = replace(_constants(weight, 6), bias=biases.astype(np.int32))
    packed = pack("tiles", constants)
    assert packed.multiplier.size == packed.shift.size == 0
    plain = constants.tables
    for pair, words in enumerate(packed.bias.astype(np.int64).reshape(3, 4)):
        first, second = 2 * pair, 2 * pair + 1
        assert (words[0] < 0) == (pair == 2)
        assert (words[0] << 33 >> 41, words[1] >> 8) == (biases[first], biases[second])
        assert words[:2].astype(np.int8).tolist() == plain.shift[first : second + 1].tolist()
        assert words[2:].tolist() == plain.multiplier[first : second + 1].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_sizes_are_those_of_packed_weights(form: str) -> None:
    """Plans are compared by them; weights are packed for the one that is taken."""
    rng = np.random.default_rng(0)
    rows = form in ("window_rows", "nibble_rows")
    depthwise = rows or form in (
        "depthwise8", "depthwise16", "nibble_depthwise8", "tap_fours", "nibble_tap_fours", "nn_depthwise",
        "tap_pairs",
    )  # fmt: skip
    grouped = form in (
        "gemm4", "nibble_gemm4", "gemm4_wide", "nibble_gemm4_wide", "fours", "nibble_fours",
    )  # fmt: skip
    for _ in range(60):
        height, width, in_c, per_group = (int(n) for n in rng.integers(1, 8, 4))
        groups = int(rng.integers(1, 4)) if grouped else 1
        if rows:
            height = width = 3
        out_c = 8 + in_c * per_group if depthwise else groups * per_group
        if form == "depthwise16":
            out_c = 16 * in_c
        if form in ("tiles", "column_twos"):
            out_c *= 2
        if form == "column_twos":
            in_c = 3 if in_c == 1 else 4 * in_c
        shape = (1, height, width, out_c) if depthwise else (out_c, height, width, in_c)
        weight = rng.integers(-128, 128, shape).astype(np.int8)
        bias, multipliers, shifts, plain = rng.integers(-99, 99, (4, out_c)).astype(np.int32)
        stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        scales = rescales(multipliers, shifts)
        constants = Constants(weight, bias, scales, groups, plain, stride)
        weights = Weights(form, constants)
        assert weights.nbytes == weights.pack().nbytes


def test_floats_that_are_left_lie_side_by_side_where_the_kernel_wants_it() -> None:
    """Two outputs behind four, in each of two groups."""
    weight = np.arange(24, dtype=np.float32).reshape(12, 2, 1, 1)
    constants = Constants(weight, np.zeros(0, np.float32), groups=2)
    fours = [0, 2, 4, 6, 1, 3, 5, 7]
    left = {"float_eights": [8, 9, 10, 11], "float_beside": [8, 10, 9, 11]}
    for form, two in left.items():
        one = [*fours, *two]
        packed = FORMS[form].weights(constants)
        assert packed.tolist() == [*one, *(value + 12 for value in one)]


def test_channels_that_are_groups_lie_side_by_side() -> None:
    """Four of each tap; of three that are left the last four, one or two as they are."""
    expected = {
        3: [0, 1, 2, 3, 4, 5],
        6: [0, 2, 4, 6, 1, 3, 5, 7, 8, 9, 10, 11],
        7: [0, 2, 4, 6, 1, 3, 5, 7, 6, 8, 10, 12, 7, 9, 11, 13],
    }
    for channels, values in expected.items():
        weight = np.arange(2 * channels, dtype=np.float32).reshape(channels, 1, 1, 2)
        constants = Constants(weight, np.zeros(0, np.float32), groups=channels)
        assert FORMS["float_channels"].weights(constants).tolist() == values
    weight = np.arange(6, dtype=np.float32).reshape(6, 1, 1, 1)
    six = Constants(weight, np.zeros(0, np.float32), groups=6)
    assert FORMS["float_fours"].weights(six).tolist() == [0, 1, 2, 3, 2, 3, 4, 5]


def test_floats_are_filled_up_with_the_last_output() -> None:
    """Six of each of two groups to eight, three to four."""
    weight = np.arange(24, dtype=np.float32).reshape(12, 2, 1, 1)
    constants = Constants(weight, np.zeros(0, np.float32), groups=2)
    packed = FORMS["float_filled"].weights(constants)
    eight = [0, 2, 4, 6, 8, 10, 10, 10, 1, 3, 5, 7, 9, 11, 11, 11]
    assert packed.tolist() == [*eight, *(value + 12 for value in eight)]
    three = Constants(weight[:3], np.zeros(0, np.float32))
    assert FORMS["float_filled"].weights(three).tolist() == [0, 2, 4, 4, 1, 3, 5, 5]
