/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_conv2d, int8, MVE: one convolution for each phase of the stride (taps.h), of two windows
 * with all channels at a time (gemm_mve.h). A window that is one piece of the image is read there,
 * others are brought into one piece in scratch, padding filled in.
 */
#if !defined(__ARM_FEATURE_MVE)
#error "transpose_conv2d_s8_mve.c needs MVE"
#endif

#include "common/gemm_mve.h"
#include "common/mve.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

typedef struct {
    const cortexm_conv_s8_t *p;
    const int8_t *in;
    const int8_t *weight; /* of the phase, likewise those below */
    const int32_t *bias;
    cortexm_phase_t rows, cols;
    int32_t row_size;     /* bytes of a row of a window */
    cortexm_depth_t depth;
    cortexm_finish_t finish;
    int8_t *scratch;      /* two windows */
} layer_t;

static void two_pixels(const layer_t *l, const int8_t *const window[2], int8_t *const out[2])
{
    const cortexm_conv_s8_t *const p = l->p;
    cortexm_gemm_t g = {l->bias,          p->multiplier,          p->shift,       p->out_c - 4,
                        {out[0], out[1]}, {window[0], window[1]}, l->depth.chunks};
    const int8_t *weight = l->weight;
    const int32_t rest = p->out_c & 3;

    if (g.more >= 0) {
        weight = cortexm_gemm_2_mve(&g, weight, l->depth.first, &l->finish);
    }
    if (rest != 0) {
        cortexm_gemm_2_rest_mve(&g, weight, l->rows.taps * l->row_size, rest, &l->finish);
    }
}

/* The window that begins at (y, x) of the image: there, or in `to`. */
static const int8_t *window_at(const layer_t *l, int32_t y, int32_t x, int8_t *to)
{
    const cortexm_conv_s8_t *const p = l->p;
    const int32_t before = cortexm_clamp(-x, 0, l->cols.taps);
    const int32_t behind = cortexm_clamp(x + l->cols.taps - p->in_w, 0, l->cols.taps);
    const int32_t left = before * p->in_c;
    const int32_t right = behind * p->in_c;
    const int32_t middle = l->row_size - left - right;
    const int8_t *row = l->in + y * p->in_row_stride + x * p->in_c;
    int8_t *const window = to;

    if (l->rows.taps == 1 && middle == l->row_size && (uint32_t)y < p->in_h) {
        return row;
    }
    for (int32_t taps = l->rows.taps; taps > 0; --taps) {
        if ((uint32_t)y >= p->in_h) {
            cortexm_fill_mve(to, p->in_zero_point, l->row_size);
        } else if (middle == l->row_size) {
            cortexm_copy_mve(to, row, middle);
        } else {
            cortexm_fill_mve(to, p->in_zero_point, left);
            cortexm_copy_mve(to + left, row + left, middle);
            cortexm_fill_mve(to + left + middle, p->in_zero_point, right);
        }
        to += l->row_size;
        row += p->in_row_stride;
        ++y;
    }
    return window;
}

/* All outputs of a phase. */
static void phase(const layer_t *l, int8_t *out)
{
    const cortexm_conv_s8_t *const p = l->p;
    int8_t *const place[2] = {l->scratch, l->scratch + l->rows.taps * l->row_size};
    const int8_t *window[2];
    int8_t *results[2];
    int32_t waiting = 0;
    int32_t y = l->rows.start;

    for (int32_t oy = l->rows.first; oy < p->out_h; oy += p->stride_h) {
        int32_t x = l->cols.start;

        for (int32_t ox = l->cols.first; ox < p->out_w; ox += p->stride_w) {
            window[waiting] = window_at(l, y, x, place[waiting]);
            results[waiting] = out + (oy * p->out_w + ox) * p->out_pixel_stride;
            if (waiting) {
                two_pixels(l, window, results);
            }
            waiting = !waiting;
            ++x;
        }
        ++y;
    }
    if (waiting) {
        window[1] = window[0];
        results[1] = results[0];
        two_pixels(l, window, results);
    }
}

void cortexm_transpose_conv2d_s8_mve(const cortexm_conv_s8_t *params, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    layer_t l = {.p = p,
                 .in = in,
                 .weight = weight,
                 .bias = bias,
                 .finish = cortexm_finish_of(p->out_zero_point, p->act_min, p->act_max),
                 .scratch = scratch};

    CORTEXM_ASSERT(p->dilation_h == 1 && p->dilation_w == 1);
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);

    for (int32_t y = 0; y < p->stride_h; ++y) {
        l.rows = cortexm_phase_of(y, p->in_y0, p->stride_h, p->kernel_h);
        for (int32_t x = 0; x < p->stride_w; ++x) {
            int32_t depth;

            l.cols = cortexm_phase_of(x, p->in_x0, p->stride_w, p->kernel_w);
            l.row_size = l.cols.taps * p->in_c;
            depth = l.rows.taps * l.row_size;
            if (depth > 0) {
                l.weight = weight;
                l.depth = cortexm_depth_of(depth);
            } else {
                /* Weights are read, but none is used: those of an earlier phase; the first has a
                 * tap. */
                l.depth = (cortexm_depth_t){0, 0};
            }
            phase(&l, out);
            weight += p->out_c * depth;
            l.bias += p->out_c;
        }
    }
}
