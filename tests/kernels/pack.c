/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

void *pad_channels(void *array, int32_t size, int32_t channels, int32_t groups, int32_t block)
{
    const int32_t padded = (channels + block - 1) / block * block;
    char *result = allocate(groups * padded * size);

    memset(result, 0, (size_t)(groups * padded * size));
    for (int32_t g = 0; g < groups; ++g) {
        memcpy(result + g * padded * size, (char *)array + g * channels * size,
               (size_t)(channels * size));
    }
    free(array);
    return result;
}

int8_t *pack_gemm4(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    const int32_t blocks = (channels + 3) / 4;
    const int32_t first = (depth - 1) % 16 + 1;
    int8_t *packed = allocate(groups * blocks * 4 * depth + 15);

    randomize(packed, groups * blocks * 4 * depth + 15);
    for (int32_t g = 0; g < groups; ++g) {
        for (int32_t o = 0; o < channels; ++o) {
            int8_t *block = packed + (g * blocks + o / 4) * 4 * depth;

            for (int32_t k = 0; k < depth; ++k) {
                const int32_t chunk = k < first ? 0 : 4 * (k - (k - first) % 16);
                const int32_t width = k < first ? first : 16;
                const int32_t at = k < first ? k : (k - first) % 16;

                block[chunk + o % 4 * width + at] = weight[(g * channels + o) * depth + k];
            }
        }
    }
    return packed;
}

int8_t *pack_fours(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    const int32_t blocks = (channels + 3) / 4;
    int8_t *packed = allocate(groups * blocks * 4 * depth);

    memset(packed, 0x80, (size_t)(groups * blocks * 4 * depth));
    for (int32_t g = 0; g < groups; ++g) {
        for (int32_t o = 0; o < channels; ++o) {
            for (int32_t k = 0; k < depth; ++k) {
                packed[((g * blocks + o / 4) * depth + k) * 4 + o % 4] =
                    (int8_t)(weight[(g * channels + o) * depth + k] ^ 0x80);
            }
        }
    }
    return packed;
}

int8_t *pack_pairs(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t padded = (depth + 3) / 4 * 4;
    int8_t *packed = allocate((channels + 3) / 4 * 4 * padded);

    for (int32_t o = 0; o < (channels + 3) / 4 * 4; o += 2) {
        for (int32_t k = 0; k < padded; ++k) {
            const int32_t a = o < channels && k < depth ? weight[o * depth + k] : 0;
            const int32_t b = o + 1 < channels && k < depth ? weight[(o + 1) * depth + k] : 0;
            const uint32_t both = (uint32_t)(256 * b + a + 128);
            const int32_t at = o / 4 * 4 * padded + k / 2 * 8 + o % 4 / 2 * 4 + k % 2 * 2;

            packed[at] = (int8_t)(both & 0xffu);
            packed[at + 1] = (int8_t)(both >> 8 & 0xffu);
        }
    }
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

int8_t *pack_phases(conv_kind_t kind, const cortexm_conv_s8_t *p, int8_t *weight, int32_t **bias)
{
    const int is_gemm4 = kind == TRANSPOSE_GEMM4;
    const int32_t padded = (p->out_c + 3) / 4 * 4;
    const int32_t places = is_gemm4 ? padded : p->out_c;
    const int32_t all = p->kernel_h * p->kernel_w * p->in_c;
    const int32_t pad = is_gemm4 ? 15 : 0;
    int8_t *packed = allocate(padded * (all + p->stride_h * p->stride_w * 3) + 15);
    int8_t *result;
    int32_t *biases = allocate(p->stride_h * p->stride_w * places * (int32_t)sizeof *biases);
    int32_t size = 0;

    for (int32_t phase = 0; phase < p->stride_h * p->stride_w; ++phase) {
        int32_t depth;
        int8_t *weights =
            phase_weights(p, weight, phase / p->stride_w, phase % p->stride_w, &depth);

        for (int32_t o = 0; o < places; ++o) {
            int32_t others = 0;

            for (int32_t k = 0; o < p->out_c && k < all; ++k) {
                others += weight[o * all + k];
            }
            for (int32_t k = 0; o < p->out_c && k < depth; ++k) {
                others -= weights[o * depth + k];
            }
            biases[phase * places + o] =
                o < p->out_c ? (*bias)[o] + p->in_zero_point * others : 0;
        }
        if (depth > 0) {
            const int32_t length = is_gemm4 ? padded * depth : padded * ((depth + 3) / 4 * 4);
            int8_t *part = is_gemm4 ? pack_gemm4(weights, p->out_c, 1, depth)
                                    : pack_pairs(weights, p->out_c, depth);

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
    int8_t *packed = allocate((channels + 3) / 4 * 4 * taps * 2);

    memset(packed, 0, (size_t)((channels + 3) / 4 * 4 * taps * 2));
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t t = 0; t < taps; ++t) {
            const int8_t w = weight[t * channels + o];

            if (kind == DEPTHWISE_TAP_FOURS) {
                packed[(o / 4 * taps + t) * 4 + o % 4] = w;
            } else {
                int8_t *const row = packed + (o * 3 + t / 3) * 4;

                row[t % 3 + t % 3 / 2] = w;
                if (t % 3 == 1) {
                    row[2] = w;
                }
            }
        }
    }
    return packed;
}

void make_narrow(int8_t *shifts, int32_t *bias, int32_t channels)
{
    for (int32_t i = 0; i < channels; ++i) {
        if (shifts != NULL && shifts[i] >= 0) {
            shifts[i] = (int8_t)(-1 - shifts[i]);
        }
        bias[i] /= 4;
    }
}

static int32_t channel_of_place(int32_t i, int32_t channels)
{
    const int32_t start = i / 8 * 8;

    return (start + 8 > channels ? channels - 8 : start) + i % 8;
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

void *pack_halves(void *array, int32_t size, int32_t channels)
{
    const int32_t places = (channels + 7) / 8 * 8;
    char *packed = allocate(places * size);

    for (int32_t i = 0; i < places; ++i) {
        const int32_t half = i % 8 / 4;
        const int32_t channel = channel_of_place(i / 8 * 8 + i % 4 * 2 + half, channels);

        memcpy(packed + i * size, (char *)array + channel * size, (size_t)size);
    }
    free(array);
    return packed;
}
