# SPDX-License-Identifier: Apache-2.0
"""The scratch memory that kernels need for a layer, in bytes: `scratch` in kernels.json. Those of adapters
are in cmsis_nn.py."""

from __future__ import annotations

from collections.abc import Callable

from . import cmsis_nn, gathered, planes
from .facts import (
    Facts,
    chunks_filled_up,
    is_pointwise,
    pooled_row,
    shares_columns,
    tile_row,
    windows_together,
)


def _columns(facts: Facts, code: int = 1) -> int:
    """Bytes for the columns, as high as a window, of any two windows of a convolution group; or of up to
    eight side by side, or of a row of less than sixteen, if the last one begins before byte 512. None where
    windows are pixels of the image.

    Args:
        code: bytes of one.
    """
    if is_pointwise(facts):
        return 0
    width, stride = facts["kernel_w"], facts["stride_w"]
    column = code * facts["kernel_h"] * facts["in_c"] // facts["groups"]
    together = min(windows_together(facts, column), facts["out_w"]) // 2 * 2
    columns = max(2 * width, (together - 1) * stride + width)
    # Behind the last window as many as its weights are filled up with (`whole_chunks`, packing_mve.py).
    depth = width * column
    is_filled = code == 1 and width * facts["kernel_h"] > 1
    return int(columns * column + (chunks_filled_up(depth) - depth if is_filled else 0))


def _tile(facts: Facts) -> int:
    """Bytes for sixteen inputs at a time of four windows, which may share columns, and for small windows the
    rows that they are in, and where."""
    if shares_columns(facts):
        return int((3 * facts["stride_w"] + 3) * 3 * facts["in_c"])
    chunks = -(-facts["kernel_h"] * facts["kernel_w"] * facts["in_c"] // 16)
    if facts["kernel_h"] == facts["kernel_w"] == 1:
        return int(64 * chunks)
    return int((64 + 16) * chunks + facts["kernel_h"] * tile_row(facts))


def _wide_columns(facts: Facts) -> int:
    """The same of int16."""
    return _columns(facts, 2)


def _phase_depth(facts: Facts) -> int:
    """Inputs of a window of the largest phase of a transposed convolution: kernels/src/common/taps.h."""
    rows = -(-facts["kernel_h"] // facts["stride_h"])
    return int(rows * -(-facts["kernel_w"] // facts["stride_w"]) * facts["in_c"])


def _two_phase_windows(facts: Facts) -> int:
    """Bytes for two windows of a phase."""
    return 2 * _phase_depth(facts)


def _two_wide_phase_windows(facts: Facts) -> int:
    """The same of int16."""
    return 2 * _two_phase_windows(facts)


def _widened_phase_window(facts: Facts) -> int:
    """One window of a phase in 16 bits, in fours."""
    return 2 * 4 * -(-_phase_depth(facts) // 4)


def _quads(facts: Facts) -> int:
    """Inputs of one window of a convolution group in fours."""
    depth = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"] // facts["groups"]
    return int(-(-depth // 4))


def _panel(facts: Facts) -> int:
    """The windows of four pixels in 16 bits."""
    return 4 * 2 * 4 * _quads(facts)


def _panel_bytes(facts: Facts) -> int:
    """The windows of three pixels in 16 bits, and one as bytes where pixels are no fours of channels."""
    return 3 * 2 * 4 * _quads(facts) + (4 * _quads(facts) if facts["in_c"] % 4 else 0)


def _pair_bytes(facts: Facts) -> int:
    """The windows of two pixels in 16 bits, and one as bytes, likewise."""
    return 2 * 2 * 4 * _quads(facts) + (4 * _quads(facts) if facts["in_c"] % 4 else 0)


def _five_columns(facts: Facts) -> int:
    """Five columns of the windows of three pixels in 16 bits."""
    return int(5 * 2 * facts["kernel_h"] * ((facts["in_c"] + 3) // 4 * 4))


def _triples(facts: Facts) -> int:
    """The windows of three pixels of a convolution group in two words per input, two words for each
    chunk of 64 inputs, and one pixel of padding: see kernels/src/conv/conv2d_s8.inc."""
    channels = facts["in_c"] // facts["groups"]
    depth = facts["kernel_h"] * facts["kernel_w"] * channels
    return int(8 * depth + 8 * -(-depth // 64) + channels)


def _fives(facts: Facts) -> int:
    """The windows of five pixels of a convolution group, a word for each input, or 128 inputs of them and
    the sums of all outputs if that is less; and one pixel of padding: see conv2d_s16.inc."""
    channels, outputs = facts["in_c"] // facts["groups"], facts["out_c"] // facts["groups"]
    depth = facts["kernel_h"] * facts["kernel_w"] * channels
    return int(4 * 5 * min(depth, 128 + outputs) + 2 * channels)


def _fives_line(facts: Facts) -> int:
    """The same, and a byte for each weight of an output, in eights, of one chunk."""
    depth = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"] // facts["groups"]
    is_in_chunks = depth > 128 + facts["out_c"] // facts["groups"]
    return _fives(facts) + (128 if is_in_chunks else int(-(-depth // 8) * 8))


def _tap_tables(facts: Facts) -> int:
    """Four tables of a pointer per tap, as wide as a 64-bit host's, and one pixel of padding."""
    return int(4 * 8 * facts["kernel_h"] * facts["kernel_w"] + facts["in_c"])


def _wide_tap_tables(facts: Facts) -> int:
    """The same with a pixel of int16."""
    return _tap_tables(facts) + int(facts["in_c"])


def _widened_row(facts: Facts) -> int:
    """One row of a linear layer's input in 16 bits, in fours."""
    return int(2 * 4 * -(-facts["in_features"] // 4))


def _widened_two_quads(facts: Facts) -> int:
    """The same, and a second four that is read with the first one."""
    return max(_widened_row(facts), 16)


def _filled_row(facts: Facts) -> int:
    """The same of int16; none where the row itself is fours."""
    return _widened_row(facts) if facts["in_features"] % 4 else 0


def _quad_words(facts: Facts) -> int:
    """A linear layer's inputs in words, and the sums of sixteen outputs; or the inputs of one of its
    chunks of up to 512, and the sums of all: see kernels/src/linear/linear_s8.inc."""
    depth = chunk = facts["in_features"]
    while chunk > 512:
        chunk = (chunk + 7) // 8 * 4
    outputs = facts["out_features"] // 4 * 4
    return int(4 * chunk + 4 * (min(outputs, 16) if chunk == depth else outputs))


def _row_sums(facts: Facts) -> int:
    """A word per row of a matrix product, in pairs, where rows are computed in pairs, and the columns one
    after the other if they are not so in memory: see kernels/src/linear/batch_matmul_s8_mve.inc."""
    is_short = facts["cols"] > 3 and facts["inner"] <= 16
    in_blocks = facts["shift"] < 0 and facts["rows"] > 1 and not is_short
    sums = 2 * -(-facts["rows"] // 2) if in_blocks else 0
    turned = facts["cols"] * facts["inner"] if facts["rhs_strides"][3] != 1 else 0
    return int(4 * sums + turned)


def _two_columns(facts: Facts) -> int:
    """Two columns of a product of matrices of int16 one after the other, if they are not so in memory."""
    return int(4 * facts["inner"]) if facts["rhs_strides"][3] != 1 else 0


def _widened_columns(facts: Facts) -> int:
    """Four columns of a matrix product in 16 bits, in fours."""
    return int(4 * 2 * 4 * -(-facts["inner"] // 4))


def _step(facts: Facts) -> int:
    """The sums of a step of a recurrent layer, and the rows of codes that they are made of, each with room
    for up to 15 more: kernels/src/recurrent/steps.h."""
    return int(4 * facts["sums"] + facts["unseen"] + _row_codes(facts["depth"]))


def _wide_step(facts: Facts) -> int:
    """The same with rows of int16 codes."""
    return _step(facts) + _row_codes(facts["depth"])


def _filled_step(facts: Facts) -> int:
    """The same where rows are filled up to fours, so that parts of one are rows of their own."""
    return _wide_step(facts) + sum(2 * _row_codes(depth) for depth in facts["parts"])


def _row_codes(depth: int) -> int:
    return (depth + 15) // 4 * 4


def _tap_vectors(facts: Facts) -> int:
    """Four words per tap, in whole vectors of four taps, and one pixel of padding."""
    taps = facts["kernel_h"] * facts["kernel_w"]
    return int(16 * ((taps + 3) // 4 * 4) + facts["in_c"])


def _nine_taps(facts: Facts) -> int:
    """A pixel_t of kernels/src/conv/depthwise_conv2d_mve.inc, with its pixel of padding; for eight channels
    with two, and a twice_t."""
    return 140 + (16 + 432 if facts["in_c"] == 8 else int(facts["in_c"]))


def _tap_wide_vectors(facts: Facts) -> int:
    """The same, with a pixel of int16."""
    return _tap_vectors(facts) + int(facts["in_c"])


def _triples_even(facts: Facts) -> int:
    """The same for an even number of inputs."""
    return _triples(facts) + 8


def _tap_tables_weights(facts: Facts) -> int:
    """The tables and the pixel, and the weights unpacked."""
    taps = facts["kernel_h"] * facts["kernel_w"]
    return _tap_tables(facts) + int(taps * facts["out_c"])


def _wide_tap_tables_weights(facts: Facts) -> int:
    """The same with a pixel of int16."""
    return _tap_tables_weights(facts) + int(facts["in_c"])


def _tap_vectors_weights(facts: Facts) -> int:
    """The vectors and the pixel, and the weights of channels in eights, unpacked."""
    taps = facts["kernel_h"] * facts["kernel_w"]
    return _tap_vectors(facts) + int((facts["in_c"] + 7) // 8 * 8 * taps)


def _tap_wide_vectors_weights(facts: Facts) -> int:
    """The same with a pixel of int16."""
    return _tap_vectors_weights(facts) + int(facts["in_c"])


def _pooled_sums(facts: Facts) -> int:
    """A sum of 16 bits for each of them."""
    return 2 * pooled_row(facts)


def _spectrum(facts: Facts) -> int:
    """A power of 64 bits for each bin of a frame's spectrum."""
    return int(8 * (facts["points"] // 2 + 1))


SCRATCH: dict[str, Callable[[Facts], int]] = {
    "": lambda facts: 0,
    "columns": _columns,
    "wide_columns": _wide_columns,
    "gathered": gathered.scratch_gathered,
    "direct": gathered.scratch_direct,
    "tile": _tile,
    "two_phase_windows": _two_phase_windows,
    "two_wide_phase_windows": _two_wide_phase_windows,
    "widened_phase_window": _widened_phase_window,
    "tap_vectors": _tap_vectors,
    "nine_taps": _nine_taps,
    "tap_wide_vectors": _tap_wide_vectors,
    "tap_vectors_weights": _tap_vectors_weights,
    "tap_wide_vectors_weights": _tap_wide_vectors_weights,
    "panel": _panel,
    "pair_bytes": _pair_bytes,
    "five_columns": _five_columns,
    "panel_bytes": _panel_bytes,
    "tap_tables": _tap_tables,
    "wide_tap_tables": _wide_tap_tables,
    "tap_tables_weights": _tap_tables_weights,
    "wide_tap_tables_weights": _wide_tap_tables_weights,
    "triples": _triples,
    "triples_even": _triples_even,
    "fives": _fives,
    "fives_line": _fives_line,
    "band": planes.scratch_band,
    "planes_dsp": planes.scratch_dsp,
    "four_rows": planes.scratch_few,
    "pairs_of_rows": planes.scratch_pairs,
    "quad_words": _quad_words,
    "step": _step,
    "wide_step": _wide_step,
    "filled_step": _filled_step,
    "widened_row": _widened_row,
    "widened_two_quads": _widened_two_quads,
    "filled_row": _filled_row,
    "row_sums": _row_sums,
    "two_columns": _two_columns,
    "widened_columns": _widened_columns,
    "pooled_row": pooled_row,
    "pooled_sums": _pooled_sums,
    "spectrum": _spectrum,
    **cmsis_nn.SCRATCH,
}
