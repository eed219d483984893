/* SPDX-License-Identifier: Apache-2.0 */
/* Taps of windows: which lie inside the image, along one axis; phases of transposed convolutions; the
 * products of depthwise ones; and the windows of floats. */
#ifndef CORTEXM_COMMON_TAPS_H
#define CORTEXM_COMMON_TAPS_H

#include <stddef.h>
#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/params.h"
#include "cortexm/requantize.h"

/* Taps begin, begin + 1 … end - 1 are inside; the others are padding. */
typedef struct {
    int32_t begin, end;
} cortexm_taps_t;

/* Tap t is at position first + t * dilation; inside means [0, extent). Steps instead of dividing:
 * the core may have no divider, and most windows are inside entirely. */
static inline cortexm_taps_t cortexm_taps_inside(int32_t first, int32_t dilation, int32_t kernel,
                                                 int32_t extent)
{
    cortexm_taps_t taps = {0, kernel};
    int32_t last = first + (kernel - 1) * dilation;

    for (; taps.begin < taps.end && first < 0; first += dilation) {
        ++taps.begin;
    }
    for (; taps.begin < taps.end && last >= extent; last -= dilation) {
        --taps.end;
    }
    return taps;
}

/* As cortexm_taps_inside, in less code where the core divides. Divisions round towards 0, which makes no
 * difference to numbers that are clamped there. */
static inline cortexm_taps_t cortexm_taps_divided(int32_t first, int32_t dilation, int32_t kernel,
                                                  int32_t extent)
{
    const int32_t up = dilation - 1 - first;
    const int32_t end = cortexm_clamp((extent + up) / dilation, 0, kernel);

    return (cortexm_taps_t){cortexm_clamp(up / dilation, 0, end), end};
}

static inline int32_t cortexm_taps_count(cortexm_taps_t taps)
{
    return taps.end - taps.begin;
}

/*
 * A transposed convolution without dilation as one convolution for each phase of the stride.
 *
 * Along one axis, tap t of input i reaches output origin + i * stride + t. The outputs of phase f, with
 * 0 <= f < stride, are those of which f is the distance from `origin` modulo stride. To them come the
 * taps f, f + stride, f + 2 * stride … only, each from the input before: their windows are pieces of the
 * image, from one output to the next one input further, and the taps, last one first, are a filter.
 * The plan packs a filter and biases for each phase (_phases in python/cortexm_tools/plan/kernels/packing.py).
 */

typedef struct {
    int32_t taps;  /* may be none */
    int32_t first; /* the first output position that is not negative … */
    int32_t start; /* … and where its window begins; below 0 is padding */
} cortexm_phase_t;

static inline cortexm_phase_t cortexm_phase_of(int32_t phase, int32_t origin, int32_t stride,
                                               int32_t kernel)
{
    cortexm_phase_t p = {0, (origin + phase) % stride, 0};

    if (kernel > phase) {
        p.taps = (kernel - phase - 1) / stride + 1;
    }
    if (p.first < 0) {
        p.first += stride;
    }
    p.start = (p.first - origin - phase) / stride - p.taps + 1;
    return p;
}

/* Windows of conv2d of floats, in any memory layout. */

/* The terms of a window inside the image. Distances in bytes; those of weights are for one output. */
typedef struct {
    int32_t planes, rows, columns;    /* the assembly of conv2d_f32_dsp.inc knows the places up to w_plane_gap */
    int32_t step, row_gap, plane_gap; /* from a term to the next, and more from a row's or plane's last one */
    int32_t w_row_gap, w_plane_gap;
    int32_t in, weight;               /* where the first term and its weight are */
} cortexm_window_f32_t;

/* Blocks side by side of one, three or four pixels, in so many rows. */
typedef struct {
    int32_t outputs, weights;        /* of a group, and of each of them */
    int32_t rows, blocks, pixels;
    int32_t back;                    /* pixels by which the last block begins before the end of the one before it */
    int32_t below, out_below;        /* from a row to the next, in bytes and in floats */
    int32_t edges;                   /* 1 if the first block's first column lies outside the image, 2 if the last
                                      * one's last does */
} cortexm_run_f32_t;

/* The outputs to compute next. */
typedef struct {
    const cortexm_run_f32_t *run;
    const uint8_t *x, *w;
    const float *bias;
    float *out;
    int32_t beside;                  /* from a pixel to the next, in bytes */
    int32_t out_step, out_beside;    /* from an output or a pixel to the next, in floats */
    int32_t bias_step;
} cortexm_place_f32_t;

static inline cortexm_window_f32_t cortexm_window_f32(const cortexm_conv_f32_t *p,
                                                      cortexm_taps_t rows, cortexm_taps_t columns)
{
    const int32_t channels = p->in_c / p->groups;
    const int32_t step = 4 * p->in_strides[3] * p->dilation_w;
    const int32_t row_step = 4 * p->in_strides[2] * p->dilation_h;
    const int32_t high = cortexm_taps_count(rows);
    const int32_t wide = cortexm_taps_count(columns);
    cortexm_window_f32_t w = {high == 0 || wide == 0 ? 0 : channels,
                  high,
                  wide,
                  step,
                  row_step - wide * step,
                  4 * p->in_strides[1] - high * row_step,
                  4 * (p->kernel_w - wide),
                  4 * (p->kernel_h - high) * p->kernel_w,
                  rows.begin * row_step + columns.begin * step,
                  4 * (rows.begin * p->kernel_w + columns.begin)};

    if (p->kernel_h * p->kernel_w == 1 && w.planes != 0) {
        /* One tap of every channel: a single row of terms. */
        w.planes = 1;
        w.columns = channels;
        w.step = 4 * p->in_strides[1];
    }
    return w;
}

/* The windows along an axis that lie inside the image, but for `edge` places at either end. */
typedef struct {
    int32_t first, end;
} cortexm_inside_t;

static inline cortexm_inside_t cortexm_inside(int32_t pad, int32_t reach, int32_t stride, int32_t in,
                                              int32_t out, int32_t edge)
{
    const int32_t before = pad - edge;
    const int32_t last = in + edge - reach + pad;

    return (cortexm_inside_t){before <= 0 ? 0 : (before + stride - 1) / stride,
                              last < 0 ? 0 : cortexm_min(last / stride + 1, out)};
}

/* Goes on by so many outputs. */
static inline void cortexm_pass_f32(cortexm_place_f32_t *from, int32_t count, int32_t weights)
{
    from->w += 4 * count * weights;
    from->bias += count * from->bias_step;
    from->out += count * from->out_step;
}

/* Calls `block` for each block in all rows. */
static inline void cortexm_each_block_f32(const cortexm_conv_f32_t *p, const cortexm_window_f32_t *at,
                                          cortexm_place_f32_t *from, int32_t of_rest,
                                          void (*block)(const cortexm_conv_f32_t *p,
                                                        const cortexm_window_f32_t *at,
                                                        const cortexm_place_f32_t *from,
                                                        int32_t of_rest))
{
    const cortexm_run_f32_t *const run = from->run;
    const uint8_t *const x = from->x;
    float *const out = from->out;

    for (int32_t row = 0; row < run->rows; ++row) {
        from->x = x + row * run->below;
        from->out = out + row * run->out_below;
        for (int32_t left = run->blocks; left > 0; --left) {
            const int32_t pixels = run->pixels - (left == 2 ? run->back : 0);

            block(p, at, from, of_rest);
            from->x += pixels * from->beside;
            from->out += pixels * from->out_beside;
        }
    }
    from->x = x;
    from->out = out;
}

/* Whether the pixels are one row and the terms of each lie side by side, as those of a linear layer. */
static inline int32_t cortexm_is_row_f32(const cortexm_conv_f32_t *p)
{
    return p->batches * p->out_h == 1 && p->groups == 1 && p->in_strides[1] == 1 &&
           p->kernel_h * p->kernel_w == 1 && (p->pad_top | p->pad_left) == 0 &&
           (p->out_w - 1) * p->stride_w < p->in_w;
}

/*
 * conv2d of floats whose weights are packed as "float_eights" or "float_beside": blocks of three pixels of a row whose windows
 * lie inside the image, but for `edge` columns (see cortexm_run_f32_t), or single pixels, for the outputs of a
 * group that come in eights and fours, or for all; with `of_four`, those that are left are computed of four pixels
 * then. Some pixels of the last block may be computed again, but up to `ones` that are left take less by themselves.
 * Where rows have the same windows, what is left of a row is computed down the rows. `groups` computes the outputs of
 * each group of blocks in all rows that have the same window, and may change `from`.
 */
static inline void cortexm_blocks_f32(
    const cortexm_conv_f32_t *p, const float *in, const float *weight, const float *bias, float *out,
    int32_t edge, int32_t of_four,
    void (*groups)(const cortexm_conv_f32_t *p, const cortexm_window_f32_t *at,
                   cortexm_place_f32_t *from, int32_t of_rest))
{
    const int32_t group_out = p->out_c / p->groups;
    const int32_t taps = p->kernel_h * p->kernel_w;
    const int32_t high = (p->kernel_h - 1) * p->dilation_h + 1;
    const int32_t wide = (p->kernel_w - 1) * p->dilation_w + 1;
    const cortexm_inside_t in_image =
        cortexm_inside(p->pad_top, high, p->stride_h, p->in_h, p->out_h, 0);
    const cortexm_inside_t in_row =
        cortexm_inside(p->pad_left, wide, p->stride_w, p->in_w, p->out_w, 0);
    const cortexm_inside_t begun =
        edge == 0 ? in_row : cortexm_inside(p->pad_left, wide, p->stride_w, p->in_w, p->out_w, edge);
    cortexm_run_f32_t run;

    CORTEXM_ASSERT(p->groups >= 1 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    run.outputs = group_out;
    run.weights = p->in_c / p->groups * taps;
    run.below = 4 * p->stride_h * p->in_strides[2];
    run.out_below = p->out_strides[2];
    for (int32_t i = 0, alike; i < p->batches * p->out_h; i += alike) {
        const int32_t n = i / p->out_h;
        const int32_t y = i % p->out_h;
        const int32_t y0 = y * p->stride_h - p->pad_top;
        const cortexm_taps_t rows = cortexm_taps_inside(y0, p->dilation_h, p->kernel_h, p->in_h);
        const float *const from_row = in + n * p->in_strides[0] + y0 * p->in_strides[2];
        float *const to_row = out + n * p->out_strides[0] + y * p->out_strides[2];

        alike = y >= in_image.first && y < in_image.end ? in_image.end - y : 1;
        for (int32_t of_rest = of_four && group_out < 4; of_rest <= (of_four && group_out % 4 != 0); ++of_rest) {
            const int32_t most = of_rest ? 4 : 3;
            const int32_t is_small = alike * group_out * run.weights < 1024;
            /* Four outputs of windows with edges take any number of pixels that lie as far apart as columns do. */
            const int32_t is_any = edge != 0 && group_out <= 4 && p->stride_w == 1;
            const int32_t ones = of_rest || is_small || is_any ? 0 : taps == 1 ? 2 : 1;
            const cortexm_inside_t whole = of_rest ? in_row : begun;
            int32_t count;

            for (int32_t x = 0; x < p->out_w; x += count) {
                const int32_t x0 = x * p->stride_w - p->pad_left;
                const int32_t left = whole.end - x;
                const int32_t others = left % most <= ones ? left % most : 0;
                cortexm_taps_t columns = {0, p->kernel_w};
                cortexm_window_f32_t at;
                cortexm_place_f32_t from = {&run,
                                            (const uint8_t *)(from_row + x0 * p->in_strides[3]),
                                            (const uint8_t *)weight,
                                            bias,
                                            to_row + x * p->out_strides[3],
                                            4 * p->stride_w * p->in_strides[3],
                                            p->out_strides[1],
                                            p->out_strides[3],
                                            p->bias_stride};

                run.rows = alike;
                run.pixels = 1;
                run.back = 0;
                run.edges = 0;
                /* Others begin the row where they have smaller windows. */
                if (x >= whole.first && left >= most && (others == 0 || x >= in_row.first)) {
                    count = left - others;
                    run.pixels = most;
                    run.blocks = (count + most - 1) / most;
                    run.back = run.blocks * most - count;
                    run.edges = (x < in_row.first) + 2 * (x + count > in_row.end);
                } else {
                    run.blocks = count = 1;
                    if (x < in_row.first || x >= in_row.end) {
                        columns = cortexm_taps_inside(x0, p->dilation_w, p->kernel_w, p->in_w);
                    } else if (alike < most) {
                        run.blocks = count = in_row.end - x;
                    }
                    if (alike >= most) {
                        run.rows = 1;
                        run.pixels = most;
                        run.blocks = (alike + most - 1) / most;
                        run.back = run.blocks * most - alike;
                        from.beside = run.below;
                        from.out_beside = run.out_below;
                    }
                }
                at = cortexm_window_f32(p, rows, columns);
                groups(p, &at, &from, of_rest);
            }
        }
    }
}

/* The same for a row of pixels (cortexm_is_row_f32), which takes little to begin: a linear layer may have few
 * products. Up to `ones` behind blocks of three take less by themselves. */
static inline void cortexm_row_f32(const cortexm_conv_f32_t *p, const float *in, const float *weight,
                                   const float *bias, float *out, int32_t ones, int32_t of_four,
                                   void (*groups)(const cortexm_conv_f32_t *p,
                                                  const cortexm_window_f32_t *at,
                                                  cortexm_place_f32_t *from, int32_t of_rest))
{
    const cortexm_window_f32_t at = {1, 1, p->in_c, 4, 0, 0, 0, 0, 0, 0};
    const int32_t beside = p->stride_w * p->in_strides[3];
    cortexm_run_f32_t run = {p->out_c, p->in_c, 1, 0, 1, 0, 0, 0, 0};

    if (p->out_c * p->in_c < 1024) {
        ones = 0;
    }
    for (int32_t of_rest = of_four && p->out_c < 4; of_rest <= (of_four && p->out_c % 4 != 0); ++of_rest) {
        const int32_t most = 3 + of_rest;
        int32_t count;

        for (int32_t x = 0; x < p->out_w; x += count) {
            cortexm_place_f32_t from = {&run,
                                        (const uint8_t *)(in + x * beside),
                                        (const uint8_t *)weight,
                                        bias,
                                        out + x * p->out_strides[3],
                                        4 * beside,
                                        p->out_strides[1],
                                        p->out_strides[3],
                                        p->bias_stride};

            count = p->out_w - x;
            run.pixels = 1;
            run.blocks = count;
            run.back = 0;
            if (count >= most) {
                const int32_t others = count % most;

                run.pixels = most;
                run.blocks = count / most;
                if (!of_rest && others <= ones) {
                    count -= others;
                } else if (others != 0) {
                    ++run.blocks;
                    run.back = most - others;
                }
            }
            groups(p, &at, &from, of_rest);
        }
    }
}

#endif
