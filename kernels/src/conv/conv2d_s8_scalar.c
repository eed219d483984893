/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d, int8, portable C. See kernels/README.md for the formula.
 *
 * The windows of three pixels are gathered in scratch, two words per input, and multiplied with the
 * weights of four outputs at a time: see common/triples.h. */
#include <stddef.h>

#include "common/codes.h"
#include "common/triples.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* An output pixel and its window's first tap, at (y, x) of the image `in`. */
typedef struct {
    const int8_t *in;
    const int8_t *window; /* the tap, if the whole window is inside the image, else NULL */
    int32_t y, x;
    int8_t *out;
} pixel_t;

/* Scratch: the panel, what each of its chunks starts at, one pixel of padding. */
typedef struct {
    uint32_t *panel, *start;
    int8_t *padding;
} scratch_t;

/* The panel of three windows with taps in the padding. */
static CORTEXM_APART void gather_border(const cortexm_conv_s8_t *p, const pixel_t pixel[3],
                                        int32_t first, int32_t channels, const scratch_t *scratch)
{
    uint32_t *to = scratch->panel;

    for (int32_t ky = 0; ky < p->kernel_h; ++ky) {
        for (int32_t kx = 0; kx < p->kernel_w; ++kx) {
            const int8_t *tap[3];

            for (int32_t i = 0; i < 3; ++i) {
                const int32_t y = pixel[i].y + ky * p->dilation_h;
                const int32_t x = pixel[i].x + kx * p->dilation_w;

                tap[i] = y >= 0 && y < p->in_h && x >= 0 && x < p->in_w
                             ? pixel[i].in + y * p->in_row_stride + x * p->in_c + first
                             : scratch->padding;
            }
            to = cortexm_triples_put(to, tap[0], tap[1], tap[2], channels);
        }
    }
}

/* The panel of three windows inside the image. */
static CORTEXM_APART void gather_inside(const cortexm_conv_s8_t *p, const pixel_t pixel[3],
                                        int32_t first, int32_t channels, uint32_t *to)
{
    const int32_t is_in_one_piece = p->groups == 1 && p->dilation_w == 1;
    const int32_t pieces = is_in_one_piece ? 1 : p->kernel_w;
    const int32_t n = is_in_one_piece ? p->kernel_w * channels : channels;
    const int32_t tap_step = p->dilation_w * p->in_c;
    const int32_t row_step = p->dilation_h * p->in_row_stride;
    int32_t row = first;

    for (int32_t ky = p->kernel_h; ky > 0; --ky) {
        int32_t tap = row;

        for (int32_t kx = pieces; kx > 0; --kx) {
            to = cortexm_triples_put(to, pixel[0].window + tap, pixel[1].window + tap,
                                     pixel[2].window + tap, n);
            tap += tap_step;
        }
        row += row_step;
    }
}

/* The outputs of one group, for the windows in the panel. */
static CORTEXM_APART void multiply(const cortexm_codes_t *codes, const scratch_t *scratch, const uint8_t *weight,
                     const int32_t *bias, int32_t depth, int32_t begin, int32_t end,
                     const pixel_t pixel[3])
{
    const int32_t chunks = (depth + CORTEXM_TRIPLE_CHUNK - 1) / CORTEXM_TRIPLE_CHUNK;
    const int32_t offset = -CORTEXM_TRIPLE_OFFSET * chunks;
    int8_t *const out[3] = {pixel[0].out, pixel[1].out, pixel[2].out};
    int32_t sum[12];

    for (int32_t o = begin; o < end;) {
        const int32_t count = end - o >= 4 ? 4 : 1;

        cortexm_start_codes(bias + o, count, offset, sum);
        cortexm_triples(scratch->panel, scratch->start, weight, depth, count, sum);
        cortexm_put_codes(codes, o, count, sum, 3, out);
        weight += count * depth;
        o += count;
    }
}

static void three_pixels(const cortexm_conv_s8_t *p, const cortexm_codes_t *codes,
                         const uint8_t *weight, const int32_t *bias, const pixel_t pixel[3],
                         const scratch_t *scratch)
{
    const int32_t group_in = p->groups == 1 ? p->in_c : p->in_c / p->groups;
    const int32_t group_out = p->groups == 1 ? p->out_c : p->out_c / p->groups;
    const int32_t depth = p->kernel_h * p->kernel_w * group_in;
    int32_t o = 0;

    for (int32_t c = 0; c < p->in_c; c += group_in) {
        if (pixel[0].window != NULL && pixel[1].window != NULL && pixel[2].window != NULL) {
            gather_inside(p, pixel, c, group_in, scratch->panel);
        } else {
            gather_border(p, pixel, c, group_in, scratch);
        }
        cortexm_triples_starts(scratch->panel, depth, scratch->start);
        multiply(codes, scratch, weight, bias, depth, o, o + group_out, pixel);
        weight += group_out * depth;
        o += group_out;
    }
}

void cortexm_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t group_in = p->groups == 1 ? p->in_c : p->in_c / p->groups;
    const int32_t depth = p->kernel_h * p->kernel_w * group_in;
    const int32_t chunks = (depth + CORTEXM_TRIPLE_CHUNK - 1) / CORTEXM_TRIPLE_CHUNK;
    const int32_t last_y = p->in_h - 1 - (p->kernel_h - 1) * p->dilation_h;
    const int32_t last_x = p->in_w - 1 - (p->kernel_w - 1) * p->dilation_w;
    const cortexm_codes_t codes = cortexm_codes(p->multiplier, p->shift, p->out_c,
                                                p->out_zero_point, p->act_min, p->act_max);
    uint32_t *const panel = scratch;
    uint32_t *const start = panel + 2 * depth;
    const scratch_t parts = {panel, start, (int8_t *)(start + 2 * chunks)};
    pixel_t pixel[3];
    int8_t *out_pixel = out;
    int32_t waiting = 0; /* pixels that wait for a third one */

    CORTEXM_ASSERT(p->groups > 0 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t c = 0; c < group_in; ++c) {
        parts.padding[c] = p->in_zero_point;
    }
    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        const int8_t *const in_row = y >= 0 && y <= last_y ? in + y * p->in_row_stride : NULL;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            pixel_t *const next = pixel + waiting;

            next->in = in;
            next->window =
                in_row != NULL && x >= 0 && x <= last_x ? in_row + x * p->in_c : NULL;
            next->y = y;
            next->x = x;
            next->out = out_pixel;
            out_pixel += p->out_pixel_stride;
            x += p->stride_w;
            if (++waiting == 3) {
                three_pixels(p, &codes, (const uint8_t *)weight, bias, pixel, &parts);
                waiting = 0;
            }
        }
    }
    if (waiting != 0) {
        /* The last pixel again in the places that are left: it is written with the same codes. */
        while (waiting < 3) {
            pixel[waiting] = pixel[waiting - 1];
            ++waiting;
        }
        three_pixels(p, &codes, (const uint8_t *)weight, bias, pixel, &parts);
    }
}
