/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "harness.h"
#include "pack.h"

/* Channels that a variant asks for. */
static int32_t least_channels(conv_kind_t kind)
{
    return kind == DEPTHWISE16                                         ? 16
           : kind == DEPTHWISE8 || kind == DEPTHWISE_PIXEL8            ? 8
           : kind == DEPTHWISE_WINDOW_ROWS || kind == DEPTHWISE_PIXEL4 ? 4
                                                                       : 1;
}

/* One output pixel, whose taps lie in the image with one distance between them. */
#define MAKE_PIXEL(p)                                                                              \
    do {                                                                                           \
        const int32_t form = between(0, 2);                                                        \
                                                                                                   \
        (p).out_h = (p).out_w = 1;                                                                 \
        (p).in_y0 = (int16_t)between(0, 2);                                                        \
        (p).in_x0 = (int16_t)(form == 2 ? 0 : between(0, 2));                                      \
        if (form == 2) {                                                                           \
            (p).dilation_h = (p).dilation_w = 1;                                                   \
        } else {                                                                                   \
            *(form == 0 ? &(p).kernel_h : &(p).kernel_w) = 1;                                      \
        }                                                                                          \
        (p).in_h = (uint16_t)((p).in_y0 + ((p).kernel_h - 1) * (p).dilation_h + between(1, 2));    \
        (p).in_w = (uint16_t)((p).in_x0 + ((p).kernel_w - 1) * (p).dilation_w + 1 +                \
                              (form == 2 ? 0 : between(0, 2)));                                    \
        (p).in_row_stride = (p).in_w * (p).in_c + (form == 2 ? 0 : between(0, 3));                 \
    } while (0)

/* Windows of a pixel in the image, maybe all of it. */
#define PIXELS_INSIDE(p)                                                                           \
    do {                                                                                           \
        (p).in_y0 = (int16_t)between(0, 2);                                                        \
        (p).in_x0 = (int16_t)between(0, 2);                                                        \
        if (one_in(2)) {                                                                           \
            (p).in_x0 = 0;                                                                         \
            (p).stride_h = (p).stride_w = 1;                                                       \
        }                                                                                          \
        (p).in_h = (uint16_t)((p).in_y0 + ((p).out_h - 1) * (p).stride_h + between(1, 2));         \
        (p).in_w = (uint16_t)((p).in_x0 + ((p).out_w - 1) * (p).stride_w + (one_in(2) ? 1 : 2));   \
        (p).in_row_stride = (p).in_w * (p).in_c + (one_in(2) ? 0 : between(0, 3));                 \
    } while (0)

/* A row of a group in the copy of an image. */
#define GATHERED_ROW(p, group_in)                                                                  \
    ((((p).out_w - 1) * (p).stride_w + ((p).kernel_w - 1) * (p).dilation_w + 1) * (group_in))

/* Rows of a window that are filled up to sixteens as one, as in plan/kernels/packing_mve.py. */
static int32_t rows_together(const cortexm_conv_s8_t *p, int32_t inputs)
{
    const int32_t piece = p->kernel_w * inputs;

    return (piece + 15) / 16 * p->kernel_h == (piece * p->kernel_h + 15) / 16 ? 1 : p->kernel_h;
}

/* Bytes from the first input of a chunk of a window to the last one's of six pixels further on, at most. */
static int32_t gathered_reach(const cortexm_conv_s8_t *p, int32_t inputs)
{
    const int32_t run = rows_together(p, inputs) * p->kernel_w * inputs;
    int32_t most = 0;
    int32_t first = 0;

    for (int32_t i = 0; i < p->kernel_h * p->kernel_w * inputs; ++i) {
        const int32_t tap = i / inputs;
        const int32_t place = tap / p->kernel_w * p->dilation_h * GATHERED_ROW(*p, inputs) +
                              tap % p->kernel_w * p->dilation_w * inputs + i % inputs;

        first = i % run % 16 == 0 ? place : first;
        most = place - first > most ? place - first : most;
    }
    return most + 6 * p->stride_w * inputs;
}

/* The same layer with multipliers of 16 bits, which `multiplier` gets. */
static cortexm_conv_s8w4_t narrow_params(const cortexm_conv_s8_t *p, int16_t *multiplier)
{
    cortexm_conv_s8w4_t narrow; /* the same but for what a pointer is of */

    memcpy(&narrow, p, sizeof narrow);
    narrow.multiplier = multiplier;
    for (int32_t i = 0; i < p->out_c; ++i) {
        multiplier[i] = (int16_t)(p->multiplier[i] >> 16);
    }
    return narrow;
}

/* Weights [output][column][row][input], each output's filled up with zeros to `depth`. */
static int8_t *columns_first(const int8_t *weight, int32_t outputs, int32_t rows, int32_t columns,
                             int32_t inputs, int32_t depth)
{
    int8_t *const turned = allocate(outputs * depth);

    memset(turned, 0, (size_t)(outputs * depth));
    for (int32_t i = 0; i < outputs * rows * columns * inputs; ++i) {
        const int32_t tap = i / inputs;
        const int32_t column = tap % columns;
        const int32_t row = tap / columns % rows;
        const int32_t output = tap / columns / rows;

        turned[output * depth + (column * rows + row) * inputs + i % inputs] = weight[i];
    }
    return turned;
}

/* One of both variants is none. */
static int any_conv_case(conv_fn variant, conv_w4_fn variant_w4, conv_fn ref,
                         conv_kind_t any_kind)
{
    const conv_kind_t kind = any_kind == DEPTHWISE16_RELU ? DEPTHWISE16
                             : any_kind == CONV_UNGROUPED     ? CONV_GEMM4
                                                          : any_kind;
    const int is_relu = any_kind == DEPTHWISE16_RELU || kind == CONV_1X1_C32;
    const int32_t bits = variant_w4 != NULL ? 4 : 8;
    cortexm_conv_s8_t p;
    const int32_t narrow = between(1, 9);
    const int is_depthwise = kind >= DEPTHWISE && kind <= DEPTHWISE_PIXEL8;
    const int32_t any_in = extent(one_in(2) ? narrow : length(), 33) * (kind == DEPTHWISE_WINDOW_ROWS && bits == 4 ? 4 : 1);
    const int32_t group_in = kind == CONV_PLANES ? 1 : kind == DEPTHWISE_FEW ? between(1, 17) : kind == CONV_DIRECT && one_in(3) ? 16 * between(1, 4) : (kind == CONV_GATHERED || kind == CONV_DIRECT) && any_in > 8 ? between(1, one_in(3) ? 33 : 8) : kind == CONV_1X1_C16 ? between(1, one_in(2) ? 8 : 16) : kind == CONV_1X1_C32 ? 8 * between(1, 4) : kind == CONV_COLUMNS ? (one_in(4) ? 3 : 4 * between(1, one_in(3) ? 20 : 4)) : kind == CONV_TILES && one_in(2) ? 16 * between(1, 3) : kind == DEPTHWISE16 ? (one_in(3) ? 8 : 16 * between(1, 3))
                             : any_in < least_channels(kind) ? least_channels(kind) - 1 + any_in
                                                             : any_in;
    const int32_t any_out = extent(one_in(2) ? between(1, 9) : length(), 31);
    const int32_t group_out = kind == CONV_1X1_C16 ? 3 + any_out : kind == CONV_1X1_C32 || any_kind == CONV_UNGROUPED ? 4 * any_out : kind == CONV_TILES || kind == CONV_COLUMNS ? any_out + any_out % 2 : any_out;
    const int has_groups = kind == CONV_1X1_C16 || (any_kind <= CONV_GEMM4 && ((kind != CONV_GATHERED && kind != CONV_DIRECT) || group_in <= 8));
    const int32_t groups = has_groups && one_in(3) && !is_sweep() ? between(2, 4) : 1;
    const int is_planes = kind == CONV_PLANES || kind == DEPTHWISE_PLANES || kind == DEPTHWISE_FEW || kind == DEPTHWISE_PAIRS;
    const int32_t weights_per_output = is_depthwise ? 1 : group_in;
    const int has_multiple = kind == DEPTHWISE_TAP_FOURS || kind == DEPTHWISE_PLANES || kind == DEPTHWISE_FEW || kind == DEPTHWISE_PAIRS;
    const int32_t multiple = has_multiple ? between(1, one_in(8) ? 20 : 4) : 1;
    int32_t in_size;
    int32_t weight_size;
    int32_t *multipliers;
    int8_t *shifts;
    int8_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch;
    int32_t *bias;
    outputs_t o;

    p.groups = (uint16_t)groups;
    p.in_c = (uint16_t)(groups * group_in);
    p.out_c = (uint16_t)(groups * (is_depthwise ? group_in * multiple : group_out));
    p.kernel_h = (uint16_t)between(1, 5);
    p.kernel_w = (uint16_t)(one_in(8) ? between(6, 10) : between(1, 5));
    if (one_in(3)) {
        p.kernel_h = p.kernel_w = one_in(2) ? 1 : 3;
    }
    p.stride_h = (uint16_t)between(1, 3);
    p.stride_w = (uint16_t)between(1, 3);
    p.dilation_h = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.dilation_w = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    if (kind == DEPTHWISE_WINDOW_ROWS) {
        p.kernel_h = p.kernel_w = 3;
        p.dilation_h = p.dilation_w = 1;
        p.stride_w = (uint16_t)between(1, 2);
    }
    if (kind == DEPTHWISE16) {
        p.kernel_h = p.kernel_w = 3;
    }
    if (kind == DEPTHWISE_FEW) {
        p.kernel_h = (uint16_t)(one_in(2) ? 3 : between(1, 3));
        p.kernel_w = (uint16_t)(one_in(2) ? 3 : between(1, 4));
        while ((p.kernel_h * p.kernel_w - 1) * p.out_c > 255) {
            --*(p.kernel_w > 1 ? &p.kernel_w : &p.kernel_h);
        }
        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = 1;
    }
    if (kind == DEPTHWISE_PAIRS) {
        p.kernel_h = (uint16_t)(one_in(2) ? 5 : between(1, 9));
        p.kernel_w = (uint16_t)(one_in(2) ? 5 : between(1, 8));
        p.stride_w = (uint16_t)between(1, 2);
        p.dilation_h = p.dilation_w = 1;
    }
    if (kind == TRANSPOSE_GEMM4 || kind == TRANSPOSE_PAIRS) {
        p.dilation_h = p.dilation_w = 1;
        if (one_in(8)) { /* some phases have no tap */
            p.stride_w = (uint16_t)(p.kernel_w + between(1, 2));
        }
    }
    p.in_h = (uint16_t)between(1, kind == DEPTHWISE_WINDOW_ROWS ? 20 : 8);
    p.in_w = (uint16_t)between(1, 11);
    p.out_h = (uint16_t)between(1, kind == DEPTHWISE_WINDOW_ROWS ? 17 : 5);
    p.out_w = (uint16_t)extent(between(1, one_in(4) ? 20 : 9), 9);
    p.in_y0 = (int16_t)-between(0, p.kernel_h * p.dilation_h);
    p.in_x0 = (int16_t)-between(0, p.kernel_w * p.dilation_w);
    if (one_in(4)) {
        p.in_y0 = (int16_t)between(-3, 3);
        p.in_x0 = (int16_t)between(-3, 3);
    }
    p.in_row_stride = p.in_w * p.in_c + between(0, 3);
    p.out_pixel_stride = (uint16_t)(p.out_c + (one_in(3) ? between(0, 3) : 0));
    p.in_zero_point = (int8_t)(one_in(3) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    if (is_relu || kind == CONV_TILES || kind == CONV_1X1_C16) {
        p.act_min = INT8_MIN;
        p.act_max = INT8_MAX;
    }
    if (is_relu || ((kind == CONV_TILES || kind == CONV_1X1_C16) && one_in(2))) {
        p.out_zero_point = INT8_MIN;
    }
    if (kind == DEPTHWISE_PIXEL4 || kind == DEPTHWISE_PIXEL8) {
        MAKE_PIXEL(p);
    }
    if (kind == DEPTHWISE_FEW && one_in(4)) { /* rows as long as it takes */
        p.in_w = (uint16_t)between(1, 258);
        p.out_w = (uint16_t)between(one_in(4) ? 256 : 1, 256);
        p.in_row_stride += p.in_w * p.in_c;
    }
    if (kind == CONV_1X1_C32 || kind == CONV_1X1_C16) {
        p.kernel_h = p.kernel_w = 1;
        PIXELS_INSIDE(p);
    }
    if (kind == CONV_DIRECT && p.kernel_w > 1) {
        p.dilation_w = 1;
    }
    if (kind == CONV_DIRECT && one_in(4)) { /* the image itself is read, or nearly so */
        p.in_x0 = 0;
        p.in_y0 = (int16_t)between(0, 1);
        p.out_w = (uint16_t)(8 * between(1, 2));
        p.in_w = (uint16_t)((p.out_w - 1) * p.stride_w + (p.kernel_w - 1) * p.dilation_w + 1);
        p.in_h = (uint16_t)((p.out_h - 1) * p.stride_h + (p.kernel_h - 1) * p.dilation_h + between(1, 2));
        p.in_row_stride = p.in_w * p.in_c + (one_in(4) ? 3 : 0);
    }
    while (kind == CONV_GATHERED && gathered_reach(&p, group_in) > 255) { /* a smaller window in the end */
        if (p.stride_w > 1) {
            --p.stride_w;
        } else if (p.dilation_h > 1) {
            --p.dilation_h;
        } else if (p.dilation_w > 1) {
            --p.dilation_w;
        } else if (p.kernel_h > 1) {
            --p.kernel_h;
        } else {
            --p.kernel_w;
        }
    }
    if (kind == CONV_TILES) { /* 3x3 windows that share columns, pixels, or small windows */
        p.dilation_h = p.dilation_w = 1;
        if (p.in_c % 16 == 0 && one_in(2)) {
            p.kernel_h = p.kernel_w = 3;
            p.stride_w = (uint16_t)between(1, 2);
        }
        while (!is_inside(&p)) {
            if (p.kernel_h > 1) {
                --p.kernel_h;
            } else if (p.in_c % 16 != 0) {
                p.kernel_w = (uint16_t)(p.kernel_w == 1 ? 2 : p.kernel_w - 1);
            } else if (p.kernel_w > 1) {
                --p.kernel_w;
            } else {
                PIXELS_INSIDE(p);
            }
        }
    }
    if (kind == CONV_COLUMNS) { /* every window has a row in the image */
        const int32_t last = (p.out_h - 1) * p.stride_h; /* from the first one's first row */

        p.kernel_h = p.kernel_w = 3;
        p.stride_w = p.dilation_h = p.dilation_w = 1;
        p.in_w = (uint16_t)(p.in_w + (p.in_w == 1 && p.in_c == 3));
        p.in_row_stride += p.in_w * p.in_c;
        p.in_y0 = (int16_t)between(1 - p.kernel_h, one_in(4) ? 2 : 0);
        p.in_h = (uint16_t)(last + p.in_y0 > 0 ? last + p.in_y0 + between(1, p.kernel_h) : between(1, 8));
    }
    if (kind == DEPTHWISE16 && p.in_c == 8) {
        p.stride_w = 1;
        p.out_w += p.out_w % 2;
        p.out_pixel_stride = 8;
    }
    while ((kind == DEPTHWISE_FEW || kind == DEPTHWISE_PAIRS) && (p.out_w + 4) * p.out_pixel_stride > UINT16_MAX) {
        p.out_w = (uint16_t)(p.out_w / 2);
    }

    multipliers = allocate(p.out_c * (int32_t)sizeof *multipliers);
    shifts = allocate(p.out_c);
    for (int32_t i = 0; i < p.out_c; ++i) {
        multipliers[i] = bits == 8 ? multiplier() : multiplier() & ~0xffff;
        shifts[i] = fitting((int8_t)shift(16));
    }
    p.multiplier = multipliers;
    p.shift = shifts;

    in_size = (p.in_h - 1) * p.in_row_stride + p.in_w * p.in_c;
    weight_size = p.out_c * p.kernel_h * p.kernel_w * weights_per_output;
    in = random_codes(in_size, 8);
    weight = random_codes(weight_size, bits);
    bias = random_bias(p.out_c);
    fit_weights(weight, weight_size, in, in_size);
    fit_biases(bias, p.out_c);
    o = outputs(p.out_h * p.out_w * p.out_pixel_stride);
    ref(&p, in, weight, bias, o.data[1], NULL);
    if (kind == CONV_1X1_C32) {
        packed = pack_gemm4(weight, p.out_c, 1, p.in_c);
        free(weight);
        weight = packed;
    }
    if (kind == CONV_COLUMNS) {
        const int32_t filter = weight_size / p.out_c;
        int in_runs = one_in(4);

        for (int32_t channel = 0; channel < p.out_c; ++channel) {
            int32_t most = 0, least = 0;

            for (int32_t i = channel * filter; i < (channel + 1) * filter; ++i) {
                const int32_t one = weight[i] * (-128 - p.in_zero_point);
                const int32_t other = weight[i] * (127 - p.in_zero_point);

                bias[channel] += p.in_zero_point * weight[i];
                most += one > other ? one : other;
                least += one < other ? one : other;
            }
            in_runs |= most >= 1 << 23 || least <= -(1 << 23);
        }
        packed = pack_column_twos(weight, p.out_c, p.kernel_h, p.in_c);
        free(weight);
        weight = packed;
        bias = pack_two_tables(p.out_c, p.multiplier, p.shift, bias, in_runs);
        p.multiplier = NULL;
        p.shift = NULL;
    }
    if (kind == CONV_GATHERED) {
        const int32_t together = rows_together(&p, group_in);

        packed = pack_sixteens(weight, p.out_c * p.kernel_h / together, together * p.kernel_w * group_in);
        free(weight);
        weight = packed;
    }
    if (kind == CONV_DIRECT) {
        packed = pack_sixteens(weight, p.out_c * p.kernel_h, p.kernel_w * group_in);
        free(weight);
        weight = packed;
    }
    if (kind == CONV_TILES) {
        weight = pack_tiles(&p, weight);
        bias = pack_tile_tables(&p, bias);
        p.multiplier = NULL;
        p.shift = NULL;
    }
    if (kind == CONV_GEMM4) {
        const int32_t inputs = p.kernel_h * p.kernel_w * group_in;
        const int is_filled = p.kernel_h * p.kernel_w > 1 && inputs % 16 >= (inputs < 48 ? 8 : 4);
        const int32_t depth = is_filled ? (inputs + 15) / 16 * 16 : inputs;
        int8_t *const turned = columns_first(weight, p.out_c, p.kernel_h, p.kernel_w, group_in, depth);

        packed = bits == 8 ? pack_gemm4(turned, p.out_c / groups, groups, depth)
                           : pack_nibble_gemm4(turned, p.out_c / groups, groups, depth);
        free(turned);
        free(weight);
        weight = packed;
    }
    if (kind == TRANSPOSE) {
        const int32_t filter = weight_size / p.out_c;

        for (int32_t i = 0; i < weight_size; ++i) {
            bias[i / filter] += p.in_zero_point * weight[i];
        }
        if (bits == 4) {
            packed = pack_nibble_channels(weight, p.out_c, filter);
            free(weight);
            weight = packed;
        }
    } else if (kind == TRANSPOSE_GEMM4 || kind == TRANSPOSE_PAIRS) {
        weight = pack_phases(kind, bits, &p, weight, &bias);
    } else if (kind == CONV_FOURS || kind == CONV_SIGNED_FOURS || kind == CONV_TWOS ||
               kind == CONV_SIGNED_TWOS || kind == CONV_SIGNED_SPLIT_FOURS) {
        const int32_t depth = p.kernel_h * p.kernel_w * group_in;
        const int32_t outputs_of_group = p.out_c / groups;

        if (kind == CONV_SIGNED_SPLIT_FOURS) {
            packed = pack_signed_split_fours(weight, p.out_c, depth);
            bias = pack_four_tables(p.out_c, p.multiplier, p.shift, bias);
            p.multiplier = NULL;
            p.shift = NULL;
        } else if (kind == CONV_TWOS || kind == CONV_SIGNED_TWOS) {
            packed = kind == CONV_SIGNED_TWOS ? pack_signed_split_twos(weight, p.out_c, depth)
                     : bits == 8              ? pack_split_twos(weight, p.out_c, depth)
                                              : pack_nibble_twos(weight, p.out_c, depth);
        } else {
            packed = bits == 8 ? pack_fours(weight, outputs_of_group, groups, depth)
                               : pack_nibble_fours(weight, outputs_of_group, groups, depth);
        }
        if (kind == CONV_SIGNED_FOURS) {
            const int32_t row = bits == 8 ? depth : (depth + 1) / 2;

            for (int32_t i = 0; i < p.out_c * row; ++i) {
                packed[i] = (int8_t)(packed[i] ^ (bits == 8 ? 0x80 : 0x88));
            }
        }
        free(weight);
        weight = packed;
    } else if (kind == DEPTHWISE_PIXEL4) {
        packed = pack_tap_pairs(weight, p.out_c, p.kernel_h * p.kernel_w);
        free(weight);
        weight = packed;
    } else if (kind == DEPTHWISE_PIXEL8) {
        weight = pack_depthwise8(weight, p.out_c, p.kernel_h * p.kernel_w);
    } else if (kind == DEPTHWISE16) {
        weight = pack_depthwise16(weight, p.out_c, 9);
    } else if (kind == DEPTHWISE8) {
        const int32_t taps = p.kernel_h * p.kernel_w;

        const int32_t places = (p.out_c + 7) / 8 * 8 * taps;

        packed = pack_depthwise8(weight, p.out_c, taps);
        weight = bits == 8 ? packed : pack_nibble_vectors(packed, places);
    } else if (is_depthwise && !is_planes) {
        packed = pack_depthwise(kind, weight, p.kernel_h * p.kernel_w, p.out_c);
        free(weight);
        weight = bits == 8 ? packed : pack_nibbles(packed, weight_size);
    }
    if (variant_w4 != NULL) {
        int16_t *const halves = allocate(p.out_c * (int32_t)sizeof *halves);
        cortexm_conv_s8w4_t p_w4 = narrow_params(&p, halves);

        scratch = scratch_for(&p_w4);
        variant_w4(&p_w4, in, weight, bias, o.data[0], scratch);
        free(halves);
    } else {
        scratch = scratch_for(&p);
        variant(&p, in, weight, bias, o.data[0], scratch);
    }
    free(in);
    free(weight);
    free(bias);
    free(scratch);
    free(multipliers);
    free(shifts);
    return finish(&o);
}

int conv_case(conv_fn variant, conv_fn ref, conv_kind_t kind)
{
    return any_conv_case(variant, NULL, ref, kind);
}

int conv_w4_case(conv_w4_fn variant, conv_fn ref, conv_kind_t kind)
{
    return any_conv_case(NULL, variant, ref, kind);
}

int ring_case(ring_fn variant, ring_fn ref, ring_form_t form)
{
    cortexm_ring_s8_t p;
    const outputs_t after = outputs(4);
    int32_t *multipliers;
    int8_t *shifts;
    int8_t *ring;
    int8_t *weight;
    int8_t *packed;
    int32_t *bias;
    int32_t *position = allocate(4);
    outputs_t o;
    int32_t taps;

    p.channels = 4 * extent(between(1, 9), 31);
    p.rows = between(1, 3);
    p.turns = one_in(3) ? length() : between(1, 9);
    taps = p.turns * p.rows;
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    *position = one_in(9) ? (int32_t)random32() : between(0, p.turns - 1);
    multipliers = allocate(p.channels * (int32_t)sizeof *multipliers);
    shifts = allocate(p.channels);
    for (int32_t i = 0; i < p.channels; ++i) {
        multipliers[i] = multiplier();
        shifts[i] = fitting((int8_t)shift(16));
    }
    p.multiplier = multipliers;
    p.shift = shifts;
    ring = random_codes(p.channels * taps, 8);
    weight = random_codes(p.channels * taps, 8);
    bias = random_bias(p.channels);
    fit_biases(bias, p.channels);
    o = outputs(p.channels);
    ref(&p, position, ring, weight, bias, after.data[1], o.data[1]);
    packed = form == RING_PAIRS ? pack_tap_pairs(weight, p.channels, taps)
                                : pack_depthwise(DEPTHWISE_TAP_FOURS, weight, taps, p.channels);
    if (one_in(2)) { /* in place */
        *(int32_t *)after.data[0] = *position;
        variant(&p, after.data[0], ring, packed, bias, after.data[0], o.data[0]);
    } else {
        variant(&p, position, ring, packed, bias, after.data[0], o.data[0]);
    }
    free(position);
    free(ring);
    free(weight);
    free(packed);
    free(bias);
    free(multipliers);
    free(shifts);
    return finish(&after) & finish(&o);
}

/* The weights of a transposed convolution of int16 in phases, whose biases are all the same. */
static int8_t *pack_wide_phases(conv_kind_t kind, const cortexm_conv_s16_t *p, const int8_t *weight)
{
    const cortexm_conv_s8_t narrow = {
        .in_c = p->in_c,
        .out_c = p->out_c,
        .kernel_h = p->kernel_h,
        .kernel_w = p->kernel_w,
        .stride_h = p->stride_h,
        .stride_w = p->stride_w,
    };
    const int32_t size = p->out_c * p->kernel_h * p->kernel_w * p->in_c;
    int32_t *bias = random_bias(p->out_c);
    int8_t *const packed = pack_phases(kind, 8, &narrow, copy_of(weight, size), &bias);

    free(bias);
    return packed;
}

/* The weights as a variant of int16 wants them, maybe themselves. */
static int8_t *pack_s16(conv_kind_t kind, int32_t bits, const cortexm_conv_s16_t *p,
                        int8_t *weight)
{
    const int32_t taps = p->kernel_h * p->kernel_w;
    const int32_t depth = taps * p->in_c / p->groups;
    const int32_t outputs = p->out_c / p->groups;
    const int32_t places = (p->out_c + 7) / 8 * 8 * taps;
    int32_t count;
    int8_t *packed;
    int8_t *turned;

    switch (kind) {
    case CONV_RAISED:
        return bits == 8 ? pack_raised(weight, p->out_c * depth)
                         : pack_nibble_lines(weight, p->out_c, depth);
    case CONV_TWOS:
        return bits == 8 ? pack_twos(weight, p->out_c, depth)
                         : pack_nibble_twos(weight, p->out_c, depth);
    case CONV_GEMM4:
        turned = columns_first(weight, p->out_c, p->kernel_h, p->kernel_w, p->in_c / p->groups, depth);
        packed = bits == 8 ? pack_gemm4_in(8, turned, outputs, p->groups, depth)
                           : pack_nibble_gemm4_in(8, turned, outputs, p->groups, depth);
        free(turned);
        return packed;
    case DEPTHWISE_TAP_FOURS:
        packed = pack_depthwise(kind, weight, taps, p->out_c);
        return bits == 8 ? packed : pack_nibbles(packed, p->out_c * taps);
    case DEPTHWISE_WINDOW_ROWS:
        packed = pack_depthwise(kind, weight, taps, p->out_c);
        return bits == 8 ? packed : pack_nibbles(packed, p->out_c * taps);
    case DEPTHWISE_PLANES:
        return weight;
    case DEPTHWISE8:
        packed = pack_depthwise8(copy_of(weight, p->out_c * taps), p->out_c, taps);
        return bits == 8 ? packed : pack_nibble_vectors(packed, places);
    case TRANSPOSE_PAIRS:
    case TRANSPOSE_GEMM4_WIDE:
        return pack_wide_phases(kind, p, weight);
    case DEPTHWISE:
    case CONV_FOURS:
    case CONV_SIGNED_FOURS:
        count = p->out_c * (kind == DEPTHWISE ? taps : depth);
        return bits == 8 ? weight : pack_nibbles(copy_of(weight, count), count);
    default:
        return weight;
    }
}

int any_conv_s16_case(kernel_fn variant, kernel_fn ref, conv_kind_t kind, int wide, int32_t bits)
{
    const int is_rows = kind == DEPTHWISE_WINDOW_ROWS;
    const int has_multiple = kind == DEPTHWISE || kind == DEPTHWISE_TAP_FOURS || kind == DEPTHWISE_PLANES;
    const int is_depthwise = kind >= DEPTHWISE && kind <= DEPTHWISE_PIXEL8;
    const int32_t any_in = extent(one_in(4) ? length() : between(1, 9), 33) * (is_rows && bits == 4 ? 4 : 1);
    const int32_t group_in = any_in < least_channels(kind) ? least_channels(kind) - 1 + any_in : any_in;
    const int32_t group_out = extent(one_in(4) ? length() : between(1, 9), 31);
    const int32_t multiple = has_multiple ? between(1, 3) : 1;
    const int32_t groups = kind <= CONV_GEMM4 && one_in(3) && !is_sweep() ? between(2, 4) : 1;
    cortexm_conv_s16_t p;
    int32_t filter;
    int32_t sum_bits;
    int16_t *multipliers;
    int8_t *shifts;
    int16_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch;
    void *bias;
    outputs_t o;

    p.groups = (uint16_t)groups;
    p.in_c = (uint16_t)(groups * group_in);
    p.out_c = (uint16_t)(groups * (is_depthwise ? group_in * multiple : group_out));
    p.kernel_h = (uint16_t)between(1, 3);
    p.kernel_w = (uint16_t)between(1, 4);
    p.stride_h = (uint16_t)between(1, 3);
    p.stride_w = (uint16_t)between(1, 3);
    p.dilation_h = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.dilation_w = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    if (one_in(3)) {
        p.kernel_h = p.kernel_w = one_in(2) ? 1 : 3;
    }
    if (is_rows) {
        p.kernel_h = p.kernel_w = 3;
        p.dilation_h = p.dilation_w = 1;
        p.stride_w = (uint16_t)between(1, 2);
    }
    if (kind == TRANSPOSE_PAIRS || kind == TRANSPOSE_GEMM4_WIDE) {
        p.dilation_h = p.dilation_w = 1;
        if (one_in(8)) { /* some phases have no tap */
            p.stride_w = (uint16_t)(p.kernel_w + between(1, 2));
        }
    }
    p.in_h = (uint16_t)between(1, is_rows ? 20 : 8);
    p.in_w = (uint16_t)between(1, 11);
    p.out_h = (uint16_t)between(1, is_rows ? 17 : 3);
    p.out_w = (uint16_t)extent(between(1, one_in(4) ? 20 : 9), 9);
    p.in_y0 = (int16_t)-between(0, p.kernel_h * p.dilation_h);
    p.in_x0 = (int16_t)-between(0, p.kernel_w * p.dilation_w);
    if (one_in(4)) {
        p.in_y0 = (int16_t)between(-3, 3);
        p.in_x0 = (int16_t)between(-3, 3);
    }
    p.in_row_stride = p.in_w * p.in_c + between(0, 3);
    p.out_pixel_stride = (uint16_t)(p.out_c + (one_in(3) ? between(0, 3) : 0));
    clamp_range_s16(&p.act_min, &p.act_max);
    multipliers = allocate(p.out_c * (int32_t)sizeof *multipliers);
    shifts = allocate(p.out_c);
    for (int32_t i = 0; i < p.out_c; ++i) {
        multipliers[i] = multiplier_s16();
        shifts[i] = fitting(shift_s16(wide && one_in(4) ? 31 : 16));
    }
    p.multiplier = multipliers;
    p.shift = shifts;
    in = random_codes_s16((p.in_h - 1) * p.in_row_stride + p.in_w * p.in_c);
    filter = p.kernel_h * p.kernel_w * (is_depthwise ? 1 : group_in);
    weight = random_codes(p.out_c * filter, bits);
    sum_bits = wide ? 47 : limits()->sum_bits;
    bias = is_depthwise ? random_bias_s16(weight, p.out_c, filter, 1, p.out_c, sum_bits)
                        : random_bias_s16(weight, p.out_c, filter, filter, 1, sum_bits);
    o = outputs(2 * p.out_h * p.out_w * p.out_pixel_stride);
    packed = pack_s16(kind, bits, &p, weight);
    scratch = scratch_for(&p);
    if (wide) {
        ((conv_wide_s16_fn)variant)(&p, in, packed, bias, o.data[0], scratch);
        ((conv_wide_s16_fn)ref)(&p, in, weight, bias, o.data[1], NULL);
    } else {
        ((conv_s16_fn)variant)(&p, in, packed, bias, o.data[0], scratch);
        ((conv_s16_fn)ref)(&p, in, weight, bias, o.data[1], NULL);
    }
    if (packed != weight) {
        free(packed);
    }
    free(scratch);
    free(in);
    free(weight);
    free(bias);
    free(multipliers);
    free(shifts);
    return finish(&o);
}
