/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

int8_t *pack_gemm_of(int32_t block, int32_t chunk_width, const int8_t *weight, int32_t channels, int32_t groups,
                     int32_t depth)
{
    const int32_t whole = channels / block * block;
    const int32_t first = (depth - 1) % chunk_width + 1;
    const int32_t behind = chunk_width - depth * (1 + channels - whole);
    const int32_t size = groups * channels * depth + (whole > 0 && behind > 0 ? behind : 0);
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t g = 0; g < groups; ++g) {
        int8_t *const group = packed + g * channels * depth;

        for (int32_t o = 0; o < channels; ++o) {
            for (int32_t k = 0; k < depth; ++k) {
                const int32_t chunk = k < first ? 0 : block * (k - (k - first) % chunk_width);
                const int32_t width = k < first ? first : chunk_width;
                const int32_t at = k < first ? k : (k - first) % chunk_width;
                const int32_t place = o < whole ? o / block * block * depth + chunk + o % block * width + at
                                                : o * depth + k;

                group[place] = weight[(g * channels + o) * depth + k];
            }
        }
    }
    return packed;
}

int8_t *pack_gemm4_in(int32_t chunk_width, const int8_t *weight, int32_t channels, int32_t groups,
                      int32_t depth)
{
    return pack_gemm_of(4, chunk_width, weight, channels, groups, depth);
}

int8_t *pack_gemm4(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    return pack_gemm4_in(16, weight, channels, groups, depth);
}

int8_t *pack_sixteens(const int8_t *weight, int32_t outputs, int32_t depth)
{
    const int32_t row = (depth + 15) / 16 * 16;
    int8_t *const packed = allocate(outputs * row);

    for (int32_t i = 0; i < outputs * row; ++i) {
        packed[i] = (int8_t)(i % row < depth ? weight[i / row * depth + i % row] : 0);
    }
    return packed;
}

int8_t *pack_tiles(const cortexm_conv_s8_t *p, int8_t *weight)
{
    const int32_t row = p->kernel_w * p->in_c;
    const int32_t depth = p->kernel_h * row;
    const int32_t chunks = (depth + 15) / 16;
    const int is_shared = p->kernel_h == 3 && p->kernel_w == 3 && p->in_c % 16 == 0 && p->stride_w <= 2;
    int8_t *const packed = allocate(p->out_c * 16 * chunks);

    memset(packed, 0, (size_t)(p->out_c * 16 * chunks));
    for (int32_t i = 0; i < p->out_c * depth; ++i) {
        const int32_t o = i / depth;
        const int32_t k = i % depth;
        const int32_t column = k / p->in_c % p->kernel_w;
        const int32_t turn = p->stride_w == 1 || column == 0 ? column : 3 - column;
        const int32_t shared = k / row * (row / 16) + k % p->in_c / 16 * 3 + turn;
        const int32_t chunk = is_shared ? shared : k / 16;

        packed[(o / 2 * chunks + chunk) * 32 + o % 2 * 16 + k % 16] = weight[i];
    }
    free(weight);
    return packed;
}

int32_t *pack_tile_tables(const cortexm_conv_s8_t *p, int32_t *bias)
{
    int32_t *const words = allocate(p->out_c * 8);

    for (int32_t o = 0; o < p->out_c; ++o) {
        uint32_t word = ((uint32_t)bias[o] << 8) + (uint8_t)p->shift[o];

        if (o % 2 == 0) {
            word = (word & 0x7fffffffu) | (o + 2 == p->out_c ? 0x80000000u : 0);
        }
        words[o / 2 * 4 + o % 2] = (int32_t)word;
        words[o / 2 * 4 + 2 + o % 2] = p->multiplier[o];
    }
    free(bias);
    return words;
}

int8_t *pack_fours(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    const int32_t whole = channels / 4 * 4;
    int8_t *packed = allocate(groups * channels * depth);

    for (int32_t g = 0; g < groups; ++g) {
        int8_t *const group = packed + g * channels * depth;

        for (int32_t o = 0; o < channels; ++o) {
            for (int32_t k = 0; k < depth; ++k) {
                const int32_t place = o < whole ? (o / 4 * depth + k) * 4 + o % 4 : o * depth + k;

                group[place] = (int8_t)(weight[(g * channels + o) * depth + k] ^ 0x80);
            }
        }
    }
    return packed;
}

int8_t *pack_raised(const int8_t *weight, int32_t count)
{
    int8_t *packed = allocate(count);

    for (int32_t i = 0; i < count; ++i) {
        packed[i] = (int8_t)(weight[i] ^ 0x80);
    }
    return packed;
}

int8_t *pack_eights(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t whole = channels / 8 * 8;
    int8_t *packed = allocate(channels * depth);

    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            const int32_t place = o < whole ? (o / 8 * depth + k) * 8 + o % 8 : o * depth + k;

            packed[place] = (int8_t)(weight[o * depth + k] ^ 0x80);
        }
    }
    return packed;
}

int8_t *pack_twos(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t steps = (depth + 1) / 2;
    const int32_t size = (channels + 1) / 2 * 4 * steps + (steps % 2 != 0 ? 4 : 0);
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t i = 0; channels % 2 != 0 && i < 2 * steps; ++i) { /* no channel beside the last one */
        packed[channels / 2 * 4 * steps + 2 * i + 1] = 0;
    }
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            packed[(o / 2 * steps + k / 2) * 4 + k % 2 * 2 + o % 2] =
                (int8_t)(o % 2 == 0 ? weight[o * depth + k] ^ 0x80 : weight[o * depth + k]);
        }
    }
    return packed;
}

int8_t *pack_split_twos(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t steps = depth / 4 * 2 + (depth % 4 < 2 ? depth % 4 : 2);
    const int32_t size = (channels + 1) / 2 * 4 * steps + (steps % 2 != 0 ? 4 : 0);
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            packed[(o / 2 * steps + k / 4 * 2 + k % 2) * 4 + k % 4 / 2 * 2 + o % 2] =
                (int8_t)(o % 2 == 0 ? weight[o * depth + k] ^ 0x80 : weight[o * depth + k]);
        }
    }
    return packed;
}

int8_t *pack_signed_split_twos(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t steps = (depth + 3) / 4 * 2;
    const int32_t size = (channels + 1) / 2 * 4 * steps;
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t o = 0; o < channels; o += 2) {
        for (int32_t k = 0; k < depth; ++k) {
            int8_t *const place = packed + (o / 2 * steps + k / 4 * 2 + k % 2) * 4 + k % 4 / 2 * 2;
            const int32_t second = o + 1 < channels ? weight[(o + 1) * depth + k] : code();

            place[0] = weight[o * depth + k];
            place[1] = (int8_t)(second < -127 ? 0 : second - (place[0] < 0));
        }
    }
    return packed;
}

int8_t *pack_signed_split_fours(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t steps = (depth + 3) / 4 * 2;
    int8_t *const twos = pack_signed_split_twos(weight, channels, depth);
    int8_t *const packed = copy_of(twos, (channels + 1) / 2 * 4 * steps);

    for (int32_t o = 0; o < channels / 4 * 4; o += 2) {
        for (int32_t step = 0; step < steps; ++step) {
            const int8_t *const word = twos + 4 * (o / 2 * steps + step);

            memcpy(packed + 8 * (o / 4 * steps + step) + o % 4 / 2 * 4, word, 4);
        }
    }
    free(twos);
    return packed;
}

int8_t *pack_column_twos(const int8_t *weight, int32_t channels, int32_t rows, int32_t inputs)
{
    const int32_t steps = (inputs + 3) / 4 * 2;
    int8_t *const packed = allocate(channels * rows * 3 * 2 * steps);

    memset(packed, 0, (size_t)(channels * rows * 3 * 2 * steps));
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < rows * 3 * inputs; ++k) {
            const int32_t i = k % inputs, column = k / inputs % 3, row = k / inputs / 3;
            const int32_t step = (o / 2 * rows + row) * steps + i / 4 * 2 + i % 2;
            const int8_t first = weight[o / 2 * 2 * rows * 3 * inputs + k];
            const int8_t code = weight[o * rows * 3 * inputs + k];

            packed[(step * 3 + column) * 4 + i % 4 / 2 * 2 + o % 2] = (int8_t)(code - (o % 2 != 0 && first < 0));
        }
    }
    return packed;
}

int32_t *pack_two_tables(int32_t channels, const int32_t *multiplier, const int8_t *shift, int32_t *bias, int in_runs)
{
    int32_t *const table = allocate(10 * channels);

    randomize(table, 10 * channels);
    for (int32_t o = 0; o < channels; ++o) {
        int32_t *const two = table + o / 2 * 5;

        two[o % 2] = 2 * bias[o];
        two[2 + o % 2] = multiplier[o];
        ((int8_t *)(two + 4))[o % 2] = (int8_t)(-1 - shift[o]);
        ((int8_t *)(two + 4))[2] = (int8_t)in_runs;
    }
    free(bias);
    return table;
}

int32_t *pack_four_tables(int32_t channels, const int32_t *multiplier, const int8_t *shift, int32_t *bias)
{
    const int32_t words = 2 * channels + (channels + 3) / 4;
    int32_t *const table = allocate(4 * words);

    randomize(table, 4 * words);
    for (int32_t o = 0; o < channels; ++o) {
        const int32_t first = o / 4 * 4;
        const int32_t count = channels - first < 4 ? channels - first : 4;
        int32_t *const four = table + first / 4 * 9;

        four[o - first] = 2 * bias[o];
        ((int8_t *)(four + count))[o - first] = (int8_t)(-1 - shift[o]);
        four[count + 1 + o - first] = multiplier[o];
    }
    free(bias);
    return table;
}

int8_t *pack_pairs(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t order[4] = {0, 2, 1, 3};
    const int32_t steps = (depth + 1) / 2;
    const int32_t quads = (depth + 3) / 4;
    const int32_t whole = channels / 4 * 4;
    const int32_t rest = 4 * quads * (channels - whole);
    const int32_t behind = 8 * (2 * quads - steps) - rest;
    const int32_t size = 2 * steps * whole + rest + (whole > 0 && behind > 0 ? behind : 0);
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            const int8_t w = weight[o * depth + k];

            if (o < whole) {
                packed[(o / 4 * steps + k / 2) * 8 + o % 4 / 2 * 4 + k % 2 * 2 + o % 2] =
                    (int8_t)(o % 2 == 0 ? w ^ 0x80 : w);
            } else {
                packed[2 * steps * whole + 4 * quads * (o - whole) + k / 4 * 4 + order[k % 4]] = w;
            }
        }
    }
    return packed;
}

/* Puts a code of 4 bits into the lower or the upper half of a byte. */
static void put_nibble(int8_t *packed, int32_t place, int32_t is_upper, int32_t code)
{
    const int32_t kept = packed[place] & (is_upper ? 0x0f : 0xf0);

    packed[place] = (int8_t)(kept | (code & 15) << (is_upper ? 4 : 0));
}

int8_t *pack_nibble_twos(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t order[4] = {0, 2, 1, 3};
    const int32_t quads = (depth + 3) / 4;
    const int32_t size = (channels + 1) / 2 * 4 * quads;
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            put_nibble(packed, (o / 2 * quads + k / 4) * 4 + order[k % 4], o % 2,
                       weight[o * depth + k] + (o % 2 == 0 ? 8 : 0));
        }
    }
    return packed;
}

int8_t *pack_nibble_pairs(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t steps = (depth + 1) / 2;
    const int32_t eights = (depth + 7) / 8;
    const int32_t whole = channels / 4 * 4;
    const int32_t rest = 4 * eights * (channels - whole);
    const int32_t behind = 4 * ((depth + 3) / 4 * 2 - steps) - rest;
    const int32_t size = steps * whole + rest + (whole > 0 && behind > 0 ? behind : 0);
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            const int8_t w = weight[o * depth + k];

            if (o < whole) {
                put_nibble(packed, (o / 4 * steps + k / 2) * 4 + k % 2 * 2 + o % 4 / 2, o % 2,
                           o % 4 < 3 ? w + 8 : w);
            } else {
                put_nibble(packed,
                           steps * whole + 4 * (eights * (o - whole) + k / 8) + k % 2 * 2 + k % 8 / 4,
                           k % 4 / 2, w + 8);
            }
        }
    }
    return packed;
}

int8_t *pack_nibble_fours(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    const int32_t whole = channels / 4 * 4;
    const int32_t row = (depth + 1) / 2;
    int8_t *packed = allocate(groups * channels * row);

    randomize(packed, groups * channels * row);
    for (int32_t i = 0; i < groups * channels; ++i) {
        const int32_t o = i % channels;

        for (int32_t k = 0; k < depth; ++k) {
            const int32_t place = o < whole ? (o / 4 * row + k / 2) * 4 + o % 4 : o * row + k / 2;

            put_nibble(packed, i / channels * channels * row + place, k % 2,
                       weight[i * depth + k] + 8);
        }
    }
    return packed;
}

int8_t *pack_nibble_channels(const int8_t *weight, int32_t channels, int32_t depth)
{
    int8_t *const packed = allocate((channels + 1) / 2 * depth);

    for (int32_t o = 0; o < channels; ++o) {
        const int32_t block = o / 4 * 4;
        const int32_t twos = channels - block < 4 ? (channels - block + 1) / 2 : 2;

        for (int32_t k = 0; k < depth; ++k) {
            int8_t *const byte = packed + block / 2 * depth + k * twos + (o - block) / 2;
            const int32_t code = weight[o * depth + k];

            *byte = (int8_t)(o % 2 == 0 ? code + 8 : *byte + 16 * code);
        }
    }
    return packed;
}

/* The bytes of a group of nibble_gemm4 in chunks of so many, and of a channel that is left. */
static int32_t row_size_in(int32_t width, int32_t depth)
{
    return depth / (2 * width) * width + (depth % (2 * width) < width ? depth % (2 * width) : width);
}

static int32_t group_size_in(int32_t block, int32_t width, int32_t channels, int32_t depth)
{
    return channels / block * block / 2 * depth + channels % block * row_size_in(width, depth);
}

int32_t nibble_gemm4_size(int32_t channels, int32_t depth)
{
    return group_size_in(4, 16, channels, depth);
}

int8_t *pack_nibble_gemm_of(int32_t block, int32_t chunk_width, const int8_t *weight, int32_t channels,
                            int32_t groups, int32_t depth)
{
    const int32_t whole = channels / block * block;
    const int32_t first = (depth - 1) % chunk_width + 1;
    const int32_t behind = chunk_width - depth * (1 + channels - whole);
    const int32_t group_size = group_size_in(block, chunk_width, channels, depth);
    const int32_t size = groups * group_size + (whole > 0 && behind > 0 ? behind : 0);
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t g = 0; g < groups; ++g) {
        for (int32_t o = 0; o < channels; ++o) {
            for (int32_t k = 0; k < depth; ++k) {
                const int32_t width = k < first ? first : chunk_width;
                const int32_t at = k < first ? k : (k - first) % chunk_width;
                const int32_t chunk = k < first ? 0 : block / 2 * (k - at);
                const int32_t code = weight[(g * channels + o) * depth + k];

                if (o < whole) {
                    put_nibble(packed,
                               g * group_size + o / block * (block / 2) * depth + chunk +
                                   o % block / 2 * width + at,
                               o % 2, code);
                } else {
                    put_nibble(packed,
                               g * group_size + whole / 2 * depth +
                                   (o - whole) * row_size_in(chunk_width, depth) +
                                   k / (2 * chunk_width) * chunk_width + k % chunk_width,
                               k % (2 * chunk_width) / chunk_width, code);
                }
            }
        }
    }
    return packed;
}

int8_t *pack_nibble_gemm4_in(int32_t chunk_width, const int8_t *weight, int32_t channels,
                             int32_t groups, int32_t depth)
{
    return pack_nibble_gemm_of(4, chunk_width, weight, channels, groups, depth);
}

int8_t *pack_nibble_gemm4(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    return pack_nibble_gemm4_in(16, weight, channels, groups, depth);
}

int8_t *pack_nibble_eights(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t whole = channels / 8 * 8;
    const int32_t row = (depth + 1) / 2;
    const int32_t size = whole / 2 * depth + (channels - whole) * row;
    int8_t *packed = allocate(size);

    randomize(packed, size);
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            const int32_t code = weight[o * depth + k] + 8;

            if (o < whole) {
                put_nibble(packed, (o / 8 * depth + k) * 4 + o % 4, o % 8 / 4, code);
            } else {
                put_nibble(packed, whole / 2 * depth + (o - whole) * row + k / 2, k % 2, code);
            }
        }
    }
    return packed;
}

int8_t *pack_nibble_lines(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t row = (depth + 7) / 8 * 4;
    int8_t *packed = allocate(channels * row);

    randomize(packed, channels * row);
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t k = 0; k < depth; ++k) {
            put_nibble(packed, o * row + k / 8 * 4 + k % 4, k % 8 / 4, weight[o * depth + k] + 8);
        }
    }
    return packed;
}

int32_t nibble_vectors_size(int32_t count)
{
    return row_size_in(16, count);
}

int8_t *pack_nibble_vectors(int8_t *codes, int32_t count)
{
    int8_t *packed = allocate(nibble_vectors_size(count));

    randomize(packed, nibble_vectors_size(count));
    for (int32_t i = 0; i < count; ++i) {
        put_nibble(packed, i / 32 * 16 + i % 16, i % 32 / 16, codes[i]);
    }
    free(codes);
    return packed;
}

int8_t *pack_nibbles(int8_t *codes, int32_t count)
{
    int8_t *packed = allocate((count + 1) / 2);

    randomize(packed, (count + 1) / 2);
    for (int32_t i = 0; i < count; ++i) {
        put_nibble(packed, i / 2, i % 2, codes[i]);
    }
    free(codes);
    return packed;
}

/* The taps of a phase of weights [out][y][x][c], last ones first. */
static int8_t *phase_weights(const cortexm_conv_s8_t *p, const int8_t *weight, int32_t phase_y,
                             int32_t phase_x, int32_t *depth)
{
    int8_t *const weights = allocate(p->out_c * p->kernel_h * p->kernel_w * p->in_c);
    int32_t count = 0;

    for (int32_t o = 0; o < p->out_c; ++o) {
        for (int32_t y = p->kernel_h - 1; y >= 0; --y) {
            for (int32_t x = p->kernel_w - 1; x >= 0; --x) {
                if (y % p->stride_h == phase_y && x % p->stride_w == phase_x) {
                    memcpy(weights + count,
                           weight + ((o * p->kernel_h + y) * p->kernel_w + x) * p->in_c, p->in_c);
                    count += p->in_c;
                }
            }
        }
    }
    *depth = count / p->out_c;
    return weights;
}

int8_t *pack_phases(conv_kind_t kind, int32_t bits, const cortexm_conv_s8_t *p, int8_t *weight,
                    int32_t **bias)
{
    const int is_gemm4 = kind == TRANSPOSE_GEMM4 || kind == TRANSPOSE_GEMM4_WIDE;
    const int32_t chunk = kind == TRANSPOSE_GEMM4_WIDE ? 8 : 16;
    const int32_t places = p->out_c;
    const int32_t whole = places / 4 * 4;
    const int32_t all = p->kernel_h * p->kernel_w * p->in_c;
    const int32_t pad = kind == TRANSPOSE_GEMM4 ? 16 : 8;
    int8_t *packed = allocate(places * (all + p->stride_h * p->stride_w * 7));
    int8_t *result;
    int32_t *biases = allocate(p->stride_h * p->stride_w * places * (int32_t)sizeof *biases);
    int32_t size = 0;

    for (int32_t phase = 0; phase < p->stride_h * p->stride_w; ++phase) {
        int32_t depth;
        int8_t *weights =
            phase_weights(p, weight, phase / p->stride_w, phase % p->stride_w, &depth);

        for (int32_t o = 0; o < places; ++o) {
            int32_t others = 0;

            for (int32_t k = 0; k < all; ++k) {
                others += weight[o * all + k];
            }
            for (int32_t k = 0; k < depth; ++k) {
                others -= weights[o * depth + k];
            }
            biases[phase * places + o] = (*bias)[o] + p->in_zero_point * others;
        }
        if (depth > 0) {
            const int32_t steps = (depth + 1) / 2;
            const int32_t rest = places - whole;
            const int32_t length = is_gemm4 && bits == 8 ? places * depth
                                   : is_gemm4            ? nibble_gemm4_size(places, depth)
                                   : bits == 8 ? whole * 2 * steps + rest * ((depth + 3) / 4 * 4)
                                               : whole * steps + rest * ((depth + 7) / 8 * 4);
            int8_t *part = is_gemm4 && bits == 8 ? pack_gemm4_in(chunk, weights, p->out_c, 1, depth)
                           : is_gemm4            ? pack_nibble_gemm4(weights, p->out_c, 1, depth)
                           : bits == 8 ? pack_pairs(weights, p->out_c, depth)
                                       : pack_nibble_pairs(weights, p->out_c, depth);

            memcpy(packed + size, part, (size_t)length);
            size += length;
            free(part);
        }
        free(weights);
    }
    result = allocate(size + pad);
    randomize(result, size + pad);
    memcpy(result, packed, (size_t)size);
    free(packed);
    free(weight);
    free(*bias);
    *bias = biases;
    return result;
}

int8_t *pack_depthwise(conv_kind_t kind, const int8_t *weight, int32_t taps, int32_t channels)
{
    const int32_t is_rows = kind == DEPTHWISE_WINDOW_ROWS;
    int8_t *packed = allocate(channels * taps + is_rows);

    randomize(packed, channels * taps + is_rows);
    for (int32_t o = 0; o < channels; ++o) {
        const int32_t first = o / 4 * 4;
        const int32_t width = channels - first < 4 ? channels - first : 4;

        for (int32_t t = 0; t < taps; ++t) {
            packed[is_rows ? o * taps + t : first * taps + t * width + o - first] =
                weight[t * channels + o];
        }
    }
    return packed;
}

int8_t right(int8_t shift, int32_t least)
{
    return (int8_t)(shift <= -least ? shift : -least - (shift + least) % 16);
}

int8_t *copy_of(const int8_t *codes, int32_t count)
{
    int8_t *const copy = allocate(count);

    memcpy(copy, codes, (size_t)count);
    return copy;
}

static int32_t channel_of_place(int32_t i, int32_t channels)
{
    const int32_t start = i / 8 * 8;

    return (start + 8 > channels ? channels - 8 : start) + i % 8;
}

int8_t *pack_tap_pairs(const int8_t *weight, int32_t channels, int32_t taps)
{
    const int32_t chunks = (channels + 3) / 4;
    const int32_t size = chunks * (taps + taps % 2) * 4;
    int8_t *packed = allocate(size);
    int8_t *to = packed;

    for (int32_t chunk = 0; chunk < chunks; ++chunk) {
        const int32_t first = 4 * chunk + 4 > channels ? channels - 4 : 4 * chunk;

        for (int32_t tap = 0; tap < taps; tap += 2) {
            for (int32_t place = 0; place < 8; ++place) {
                const int32_t t = tap + place / 2 % 2;
                const int32_t c = first + place / 4 * 2 + place % 2;

                *to++ = t < taps ? weight[t * channels + c] : 0;
            }
        }
    }
    return packed;
}

int8_t *pack_depthwise16(int8_t *weight, int32_t channels, int32_t taps)
{
    const int32_t width = channels < 16 ? channels : 16;
    int8_t *packed = allocate(channels * taps);

    for (int32_t i = 0; i < channels * taps; ++i) {
        const int32_t c = i % channels;

        packed[(c / width * taps + i / channels) * width + c % width] = weight[i];
    }
    free(weight);
    return packed;
}

int8_t *pack_depthwise8(int8_t *weight, int32_t channels, int32_t taps)
{
    const int32_t places = (channels + 7) / 8 * 8;
    int8_t *packed = allocate(places * taps);

    for (int32_t i = 0; i < places; ++i) {
        for (int32_t t = 0; t < taps; ++t) {
            packed[(i / 8 * taps + t) * 8 + i % 8] =
                weight[t * channels + channel_of_place(i, channels)];
        }
    }
    free(weight);
    return packed;
}
