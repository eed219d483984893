/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d, int8, MVE. See README.md for the formula.
 *
 * Two pixels at a time are multiplied with all channels of a group (gemm_mve.h). Their windows are
 * brought into one piece in scratch first, padding filled in, unless they are one pixel anyway: then
 * there is no border to care for.
 */
#if !defined(__ARM_FEATURE_MVE)
#error "conv2d_s8_mve.c needs MVE"
#endif

#include <stddef.h>

#include "common/gemm_mve.h"
#include "common/memory_mve.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* The window of one output pixel in one piece. `in` is the image (of a group), (y, x) its first tap. */
static void gather(const cortexm_conv_s8_t *p, int32_t group_in, const int8_t *in, int32_t y,
                   int32_t x, cortexm_taps_t rows, int8_t *window)
{
    const cortexm_taps_t cols = cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
    const int32_t row_size = p->kernel_w * group_in;
    const int32_t row_step = p->dilation_h * p->in_row_stride;
    const int32_t col_step = p->dilation_w * p->in_c;
    int32_t length = group_in;
    int32_t runs = cortexm_taps_count(cols);
    const int32_t inside = cortexm_taps_count(rows) * runs;

    if (inside != p->kernel_h * p->kernel_w) {
        cortexm_fill_mve(window, p->in_zero_point, p->kernel_h * row_size);
    }
    if (col_step == group_in) {
        length *= runs;
        runs = runs > 0;
    }
    in += (y + rows.begin * p->dilation_h) * p->in_row_stride + (x * p->in_c) +
          cols.begin * col_step;
    window += rows.begin * row_size + cols.begin * group_in;
    for (int32_t row = rows.begin; row < rows.end; ++row) {
        const int8_t *from = in;
        int8_t *to = window;

        for (int32_t run = runs; run > 0; --run) {
            cortexm_copy_mve(to, from, length);
            from += col_step;
            to += group_in;
        }
        in += row_step;
        window += row_size;
    }
}

typedef struct {
    const cortexm_conv_s8_t *p;
    const int8_t *weight;
    const int32_t *bias, *multiplier;
    const int8_t *shift;
    cortexm_depth_t depth;
    cortexm_finish_t finish;
    int32_t channels; /* of a group */
} layer_t;

static __attribute__((noinline)) void two_pixels(const layer_t *layer, const int8_t *const window[2],
                                                 int8_t *const out[2])
{
    cortexm_gemm_t g = {layer->bias,    layer->multiplier, layer->shift,
                        layer->channels, out[0],           out[1],
                        window[0],      window[1],         layer->depth.chunks};

    cortexm_gemm_2_mve(&g, layer->weight, layer->depth.first, &layer->finish);
}

/* One group of one image; scratch is NULL if every window is one pixel inside the image. */
static void image(const layer_t *layer, int32_t group_in, const int8_t *in, int8_t *out,
                  int8_t *scratch, int32_t depth)
{
    const cortexm_conv_s8_t *const p = layer->p;
    const int8_t *window[2] = {scratch, scratch};
    int8_t *results[2];
    int waiting = 0;

    if (scratch != NULL) {
        window[1] = scratch + depth;
    }
    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        const cortexm_taps_t rows = cortexm_taps_inside(y, p->dilation_h, p->kernel_h, p->in_h);
        int8_t *out_pixel = out + oy * p->out_row_stride;
        int32_t x = p->in_x0;

        for (int32_t ox = 0; ox < p->out_w; ++ox) {
            results[waiting] = out_pixel;
            if (scratch != NULL) {
                gather(p, group_in, in, y, x, rows, scratch + waiting * depth);
            } else {
                window[waiting] = in + y * p->in_row_stride + x * p->in_c;
            }
            if (waiting) {
                two_pixels(layer, window, results);
            }
            waiting = !waiting;
            out_pixel += p->out_c;
            x += p->stride_w;
        }
    }
    if (waiting) {
        results[1] = results[0];
        window[1] = window[0];
        two_pixels(layer, window, results);
    }
}

void cortexm_conv2d_s8_mve(const cortexm_conv_s8_t *params, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t group_in = p->groups == 1 ? p->in_c : p->in_c / p->groups;
    const int32_t group_out = p->groups == 1 ? p->out_c : p->out_c / p->groups;
    const int32_t blocks = (group_out + 3) & ~3;
    const int32_t depth = p->kernel_h * p->kernel_w * group_in;
    layer_t layer = {p,
                     weight,
                     bias,
                     p->multiplier,
                     p->shift,
                     cortexm_depth_of(depth),
                     cortexm_finish_of(p->out_zero_point, p->act_min, p->act_max),
                     group_out};

    CORTEXM_ASSERT(p->groups > 0 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    for (int32_t group = 0; group < p->groups; ++group) {
        for (int32_t n = 0; n < p->batches; ++n) {
            image(&layer, group_in, in + n * p->in_batch_stride + group * group_in,
                  out + n * p->out_batch_stride + group * group_out, scratch, depth);
        }
        layer.weight += blocks * depth;
        layer.bias += blocks;
        layer.multiplier += blocks;
        layer.shift += blocks;
    }
}
