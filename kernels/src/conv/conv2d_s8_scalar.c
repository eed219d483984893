/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d, int8, portable C. See README.md for the formula.
 *
 * Each pixel's window becomes one row of bytes, in the input where it lies there in one piece, else
 * in scratch, and is multiplied with the weights of four outputs at a time; where the core has the
 * registers, two neighbouring pixels are multiplied together. */
#include <stddef.h>
#include <string.h>

#include "common/codes.h"
#include "common/fours.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

static int8_t *put_codes(int8_t *to, const int8_t *from, int32_t n)
{
    int8_t *const end = to + n;

    if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0u) {
        for (; n >= 8; n -= 8) {
            memcpy(__builtin_assume_aligned(to, 4), __builtin_assume_aligned(from, 4), 8);
            to += 8;
            from += 8;
        }
    }
    while (to != end) {
        *to++ = *from++;
    }
    return to;
}

static int8_t *put_constant(int8_t *to, int8_t value, int32_t n)
{
    for (; n > 0; --n) {
        *to++ = value;
    }
    return to;
}

/* The row of the window whose first tap is at (y, x) of the image, for `channels` neighbouring
 * channels that `in` points to the first of. */
static const int8_t *window(const cortexm_conv_s8_t *p, const int8_t *in, int32_t channels, int32_t y,
                            int32_t x, int8_t *scratch)
{
    const cortexm_taps_t cols = cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
    const int32_t inside = cortexm_taps_count(cols);
    const int32_t in_one_piece = p->groups == 1 && p->dilation_w == 1;
    const int32_t tap_step = p->dilation_w * p->in_c;
    const int8_t *row = in + y * p->in_row_stride + (x + cols.begin * p->dilation_w) * p->in_c;
    int8_t *to = scratch;

    if (p->kernel_h == 1 && inside == p->kernel_w && (in_one_piece || inside == 1) && y >= 0 &&
        y < p->in_h) {
        return row;
    }
    for (int32_t ky = p->kernel_h; ky > 0; --ky) {
        if (y < 0 || y >= p->in_h) {
            to = put_constant(to, p->in_zero_point, p->kernel_w * channels);
        } else {
            to = put_constant(to, p->in_zero_point, cols.begin * channels);
            if (in_one_piece) {
                to = put_codes(to, row, inside * channels);
            } else {
                const int8_t *tap = row;

                for (int32_t kx = 0; kx < inside; ++kx) {
                    to = put_codes(to, tap, channels);
                    tap += tap_step;
                }
            }
            to = put_constant(to, p->in_zero_point, (p->kernel_w - cols.end) * channels);
        }
        y += p->dilation_h;
        row += p->dilation_h * p->in_row_stride;
    }
    return scratch;
}

/* The outputs of one group. */
typedef struct {
    const uint8_t *weight;
    const int32_t *bias;
    int32_t depth;        /* inputs per output */
    int32_t begin, end;   /* its outputs */
} group_t;

static void multiply(const group_t *g, const cortexm_codes_t *codes, const int8_t *x, int8_t *out)
{
    const int32_t start = cortexm_fours_start(x, g->depth);
    const uint8_t *w = g->weight;
    int32_t o = g->begin;

    for (; o + 8 <= g->end; o += 8) {
        int32_t sum[8];

        cortexm_fours_eight(x, w, g->depth, start, sum);
        for (int32_t i = 0; i < 8; i += 4) {
            cortexm_four_codes(codes, o + i, 4, g->bias + o + i, sum + i, out + o + i);
        }
        w += 8 * g->depth;
    }
    for (; o < g->end; o += 4) {
        int32_t sum[4];

        cortexm_fours(x, w, g->depth, start, sum);
        cortexm_four_codes(codes, o, cortexm_min(4, g->end - o), g->bias + o, sum, out + o);
        w += 4 * g->depth;
    }
}

/* Two pixels. */
static void multiply_two(const group_t *g, const cortexm_codes_t *codes, const int8_t *const x[2],
                         int8_t *const out[2])
{
    const int32_t start[2] = {cortexm_fours_start(x[0], g->depth),
                              cortexm_fours_start(x[1], g->depth)};
    const uint8_t *w = g->weight;

    for (int32_t o = g->begin; o < g->end; o += 4) {
        int32_t sum[8];

        cortexm_fours_two_rows(x[0], x[1], w, g->depth, start, sum);
        for (int32_t i = 0; i < 2; ++i) {
            cortexm_four_codes(codes, o, cortexm_min(4, g->end - o), g->bias + o, sum + 4 * i,
                               out[i] + o);
        }
        w += 4 * g->depth;
    }
}

void cortexm_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t group_in = p->groups == 1 ? p->in_c : p->in_c / p->groups;
    const int32_t group_out = p->groups == 1 ? p->out_c : p->out_c / p->groups;
    const int32_t depth = p->kernel_h * p->kernel_w * group_in;
    const int32_t group_weights = (group_out + 3) / 4 * 4 * depth;
    const cortexm_codes_t codes = cortexm_codes(p->multiplier, p->shift, p->out_c,
                                                p->out_zero_point, p->act_min, p->act_max);
    const int32_t is_in_twos = CORTEXM_TWO_ROWS && p->groups == 1;
    const int8_t *row[2];
    int8_t *pixel[2];
    int32_t waiting = 0; /* pixels that wait for a second one */

    CORTEXM_ASSERT(p->groups > 0 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        int8_t *out_pixel = out + oy * p->out_row_stride;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            group_t g = {(const uint8_t *)weight, bias, depth, 0, group_out};

            if (is_in_twos) {
                int8_t *const place = waiting != 0 && scratch != NULL
                                          ? (int8_t *)scratch + depth
                                          : scratch;

                row[waiting] = window(p, in, group_in, y, x, place);
                pixel[waiting] = out_pixel;
                if (++waiting == 2) {
                    multiply_two(&g, &codes, row, pixel);
                    waiting = 0;
                }
            } else {
                for (int32_t c = 0; c < p->in_c; c += group_in) {
                    multiply(&g, &codes, window(p, in + c, group_in, y, x, scratch), out_pixel);
                    g.weight += group_weights;
                    g.begin += group_out;
                    g.end += group_out;
                }
            }
            out_pixel += p->out_c;
            x += p->stride_w;
        }
    }
    if (waiting != 0) {
        const group_t g = {(const uint8_t *)weight, bias, depth, 0, group_out};

        multiply(&g, &codes, row[0], pixel[0]);
    }
}
