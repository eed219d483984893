/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d, int8, MVE. See kernels/README.md for the formula.
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
#include "common/mve.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

typedef struct {
    const cortexm_conv_s8_t *p;
    const int8_t *weight;
    cortexm_gemm_t gemm;             /* of the two pixels that come next */
    uint32_t first;                  /* bytes of the first chunk */
    cortexm_finish_t finish;
    int32_t group_in;
    int32_t row_size, window_size;   /* bytes of a row of a window, and of all */
    int32_t row_step, col_step;      /* from one tap to the next in the image */
    uint32_t y_inside, x_inside;     /* windows that begin before these, and not before 0, lie inside */
    int8_t *window[2];               /* in scratch; NULL if every window is one pixel of the image */
} layer_t;

/* How many positions along an axis a window inside the image can begin at. */
static uint32_t positions(int32_t extent, int32_t kernel, int32_t dilation)
{
    return (uint32_t)cortexm_max(extent - (kernel - 1) * dilation, 0);
}

/* A window of which some is padding, or whose taps are not in one piece. `in` is the image (of a group),
 * (y, x) the place of the first tap. */
static __attribute__((noinline)) void gather_any(const layer_t *layer, const int8_t *in, int32_t y,
                                                 int32_t x, int8_t *window)
{
    const cortexm_conv_s8_t *const p = layer->p;
    const cortexm_taps_t rows = cortexm_taps_inside(y, p->dilation_h, p->kernel_h, p->in_h);
    const cortexm_taps_t cols = cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
    const int32_t group_in = layer->group_in;
    int32_t length = group_in;
    int32_t runs = cortexm_taps_count(cols);

    cortexm_fill_mve(window, p->in_zero_point, p->kernel_h * layer->row_size);
    if (layer->col_step == group_in) {
        length *= runs;
        runs = runs > 0;
    }
    in += y * p->in_row_stride + x * p->in_c + rows.begin * layer->row_step +
          cols.begin * layer->col_step;
    window += rows.begin * layer->row_size + cols.begin * group_in;
    for (int32_t row = rows.begin; row < rows.end; ++row) {
        const int8_t *from = in;
        int8_t *to = window;

        for (int32_t run = runs; run > 0; --run) {
            cortexm_copy_mve(to, from, length);
            from += layer->col_step;
            to += group_in;
        }
        in += layer->row_step;
        window += layer->row_size;
    }
}

/* The same for a window inside the image, in rows of one piece. */
static inline void gather_rows(const layer_t *layer, const int8_t *from, int8_t *window)
{
    for (int32_t row = layer->p->kernel_h; row > 0; --row) {
        cortexm_copy_mve(window, from, layer->row_size);
        from += layer->row_step;
        window += layer->row_size;
    }
}

static __attribute__((noinline)) void two_pixels(const layer_t *layer)
{
    const cortexm_gemm_t *const next = &layer->gemm;
    /* One by one, as a copy of all would be left to memcpy. */
    cortexm_gemm_t g = {next->bias,
                        next->multiplier,
                        next->shift,
                        next->more,
                        {next->out[0], next->out[1]},
                        {next->window[0], next->window[1]},
                        next->chunks};
    const int8_t *weight = layer->weight;
    const int32_t rest = g.more & 3;

    if (g.more >= 0) {
        weight = cortexm_gemm_2_mve(&g, weight, layer->first, &layer->finish);
    }
    if (rest != 0) {
        cortexm_gemm_2_rest_mve(&g, weight, layer->window_size, rest, &layer->finish);
    }
}

/* One group of one image. */
static void image(layer_t *layer, const int8_t *in, int8_t *out)
{
    const cortexm_conv_s8_t *const p = layer->p;
    const int32_t x_step = p->stride_w * p->in_c;
    cortexm_gemm_t *const gemm = &layer->gemm;
    int8_t *out_pixel = out;
    int waiting = 0;

    for (int32_t oy = 0; oy < p->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        const uint32_t x_inside = (uint32_t)y < layer->y_inside ? layer->x_inside : 0;
        const int8_t *first = in + y * p->in_row_stride + p->in_x0 * p->in_c;
        int32_t x = p->in_x0;

        for (int32_t ox = p->out_w; ox > 0; --ox) {
            int8_t *const window = layer->window[waiting];

            gemm->out[waiting] = out_pixel;
            gemm->window[waiting] = window;
            if (window == NULL) {
                gemm->window[waiting] = first;
            } else if ((uint32_t)x < x_inside) {
                gather_rows(layer, first, window);
            } else {
                gather_any(layer, in, y, x, window);
            }
            if (waiting) {
                two_pixels(layer);
            }
            waiting = !waiting;
            out_pixel += p->out_pixel_stride;
            first += x_step;
            x += p->stride_w;
        }
    }
    if (waiting) {
        gemm->out[1] = gemm->out[0];
        gemm->window[1] = gemm->window[0];
        two_pixels(layer);
    }
}

void cortexm_conv2d_s8_mve(const cortexm_conv_s8_t *params, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t group_in = p->groups == 1 ? p->in_c : p->in_c / p->groups;
    const int32_t group_out = p->groups == 1 ? p->out_c : p->out_c / p->groups;
    const int32_t depth = p->kernel_h * p->kernel_w * group_in;
    const int32_t col_step = p->dilation_w * p->in_c;
    layer_t layer = {.p = p,
                     .weight = weight,
                     .gemm = {.bias = bias,
                              .multiplier = p->multiplier,
                              .shift = p->shift,
                              .more = group_out - 4,
                              .out = {out, out}, /* as GCC would call memset for the others */
                              .window = {in, in},
                              .chunks = cortexm_depth_of(depth).chunks},
                     .first = cortexm_depth_of(depth).first,
                     .finish = cortexm_finish_of(p->out_zero_point, p->act_min, p->act_max),
                     .group_in = group_in,
                     .row_size = p->kernel_w * group_in,
                     .window_size = depth,
                     .row_step = p->dilation_h * p->in_row_stride,
                     .col_step = col_step,
                     .y_inside = positions(p->in_h, p->kernel_h, p->dilation_h),
                     .x_inside = positions(p->in_w, p->kernel_w, p->dilation_w),
                     .window = {scratch, scratch == NULL ? NULL : (int8_t *)scratch + depth}};

    CORTEXM_ASSERT(p->groups > 0 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);
    if (col_step != group_in && p->kernel_w > 1) {
        layer.x_inside = 0; /* rows are not in one piece */
    }
    for (int32_t group = 0; group < p->groups; ++group) {
        image(&layer, in, out);
        in += group_in;
        out += group_out;
        layer.weight += group_out * depth;
        layer.gemm.bias += group_out;
        layer.gemm.multiplier += group_out;
        layer.gemm.shift += group_out;
    }
}
