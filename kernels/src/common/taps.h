/* SPDX-License-Identifier: Apache-2.0 */
/* Taps of windows: which lie inside the image, along one axis; phases of transposed convolutions; the
 * products of depthwise ones; and the windows of floats. */
#ifndef CORTEXM_COMMON_TAPS_H
#define CORTEXM_COMMON_TAPS_H

#include <stddef.h>
#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/assert.h"
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

#if defined CORTEXM_IS_depthwise_ring

/* Where the oldest rows of a ring are, of which those at `position` are the newest: a position of the
 * application's memory leads to none outside. */
static inline int32_t cortexm_ring_oldest(int32_t position, int32_t turns)
{
    const int32_t next = (position < 0 ? 0 : position) + 1;

    return next >= turns ? 0 : next;
}

#elif defined CORTEXM_IS_POOL

/* How many pixels from output column ox on, whose window begins in column x of the image, have all their columns
 * inside the image; one for a pixel that has not. `stride` is p->stride_w, constant where it can be. */
static inline int32_t cortexm_pixels_inside(const PARAMS *p, int32_t stride, cortexm_taps_t cols,
                                            int32_t x, int32_t ox)
{
    const int32_t beyond = p->in_w - (p->kernel_w - 1) * p->dilation_w - 1 - x;

    return cortexm_taps_count(cols) != p->kernel_w
               ? 1
               : cortexm_min(p->out_w - ox, beyond / stride + 1);
}

#elif defined CORTEXM_IS_depthwise_conv2d_pixel

#include "cortexm/params.h"

/* Elements from one tap of a window to the next, where they are all the same: it has one row or one
 * column, or is as wide as the image. */
static inline int32_t cortexm_tap_step(const PARAMS *p)
{
    return p->kernel_w == 1 ? p->dilation_h * p->in_row_stride : p->dilation_w * p->in_c;
}

#elif defined CORTEXM_IS_depthwise_conv2d_planes || defined CORTEXM_IS_conv2d_planes

#include "cortexm/assert.h"
#include "cortexm/params.h"

/*
 * Convolutions of one channel at a time: depthwise ones, and plain ones of one input channel.
 *
 * Rows of a channel, padding included, are copied to a ring in scratch where neighbouring outputs find what a
 * tap multiplies side by side, whatever stride and dilation are: columns are sorted by their remainder modulo
 * the stride. A table has, for each row of the window, where that row is in the ring, and for each step along it
 * (a tap, or two) a place in the row and a weight. Columns of padding are written once, as no channel needs
 * others. The file that includes this defines CELL, the type of what the ring holds of a column, CELL_TAPS, the
 * taps of a step, CELL_OUTPUTS, how many outputs are computed together, cortexm_plane_t, what is kept of an
 * output channel from row to row, and the functions that are declared here.
 */

/* The columns of one remainder: how many are in the image; the first one's place there, that of its cell, and
 * that of the cell whose second tap it is. */
typedef struct {
    int32_t inside, from, first, second;
} cortexm_columns_t;

typedef struct {
    const PARAMS *p;
    int32_t outputs; /* of an input channel */
    int32_t row_cells, phase_cells, ahead;
    int32_t steps;   /* of a row of the window */
    CELL *ring, *ring_end;
    cortexm_columns_t *columns; /* [stride_w] */
    cortexm_plane_t *outs;      /* [outputs] */
    uint32_t *tables;           /* [outputs][kernel_h][1 + 2 * steps] */
} cortexm_planes_t;

/* Writes `count` codes, `step` apart, to as many cells, and to the second half of as many. */
static void fill_cells(CELL *first, CELL *second, const ELEMENT *from, int32_t step, int32_t count);
static uint32_t weight_of(const int8_t *weight, int32_t stride, int32_t taps);
static void set_output(const cortexm_planes_t *planes, cortexm_plane_t *output, int32_t o, int32_t bias,
                       const uint32_t *table);
static void row_of_codes(const PARAMS *p, cortexm_plane_t *output, ELEMENT *out);

/* Divides the scratch memory (_planes in plan/kernels/planes.py). */
static CORTEXM_APART cortexm_planes_t cortexm_planes_of(const PARAMS *p, void *scratch)
{
    const int32_t stride = p->stride_w;
    const int32_t steps = (p->kernel_w + CELL_TAPS - 1) / CELL_TAPS;
    const int32_t together = (p->out_w + CELL_OUTPUTS - 1) / CELL_OUTPUTS * CELL_OUTPUTS;
    const int32_t columns = (together - 1) * stride + (CELL_TAPS * steps - 1) * p->dilation_w + 1;
    const int32_t ahead = CELL_TAPS == 1 ? 0 : (p->dilation_w + stride - 1) / stride;
    const int32_t cells = ((p->kernel_h - 1) * p->dilation_h + 1) * stride *
                          (ahead + (columns - 1) / stride + 1);
    cortexm_planes_t planes;
#if CODE_BITS == 8
    const ELEMENT padding = p->in_zero_point;
#else
    const ELEMENT padding = 0;
#endif

    planes.p = p;
    planes.outputs = p->out_c / p->in_c;
    planes.ahead = ahead;
    planes.steps = steps;
    planes.phase_cells = ahead + (columns - 1) / stride + 1;
    planes.row_cells = stride * planes.phase_cells;
    planes.columns = scratch;
    planes.outs = (cortexm_plane_t *)(void *)(planes.columns + stride);
    planes.tables = (uint32_t *)(void *)(planes.outs + planes.outputs);
    planes.ring = (CELL *)(void *)(planes.tables + planes.outputs * p->kernel_h * (1 + 2 * steps));
    planes.ring_end = planes.ring + cells;
    fill_cells(planes.ring, planes.ring, &padding, 0, cells);
    for (int32_t phase = 0; phase < stride; ++phase) {
        cortexm_columns_t *const it = planes.columns + phase;
        const int32_t count = (columns - phase + stride - 1) / stride;
        const int32_t x = p->in_x0 + phase;
        int32_t other = (phase - p->dilation_w) % stride;
        const int32_t left = x < 0 ? cortexm_min((-x + stride - 1) / stride, count) : 0;
        const int32_t end = x < p->in_w ? cortexm_min((p->in_w - x + stride - 1) / stride, count) : 0;

        other += other < 0 ? stride : 0;
        it->inside = cortexm_max(end - left, 0);
        it->from = (x + left * stride) * p->in_c;
        it->first = phase * planes.phase_cells + ahead + left;
        it->second = other * planes.phase_cells + ahead + left +
                     (phase - p->dilation_w - other) / stride;
    }
    return planes;
}

/* A row of the image, or of padding if `from` is NULL. */
static inline void cortexm_fill_row(const cortexm_planes_t *planes, const ELEMENT *from, CELL *row)
{
    const PARAMS *const p = planes->p;
    const cortexm_columns_t *it = planes->columns;
    const int32_t step = p->stride_w * p->in_c;
#if CODE_BITS == 8
    const ELEMENT padding = p->in_zero_point;
#else
    const ELEMENT padding = 0;
#endif

    for (int32_t phase = p->stride_w; phase > 0; --phase) {
        if (from == NULL) {
            fill_cells(row + it->first, row + it->second, &padding, 0, it->inside);
        } else {
            fill_cells(row + it->first, row + it->second, from + it->from, step, it->inside);
        }
        ++it;
    }
}

/* The tables of the outputs of an input channel, but for the rows of the ring. */
static CORTEXM_APART void cortexm_fill_tables(const cortexm_planes_t *planes, const int8_t *weight)
{
    const PARAMS *const p = planes->p;
    const int32_t stride = p->stride_w;
    uint32_t *to = planes->tables;

#if defined CORTEXM_IS_conv2d_planes
    const int32_t tap_stride = 1;
    const int32_t output_stride = p->kernel_h * p->kernel_w;
#else
    const int32_t tap_stride = p->out_c;
    const int32_t output_stride = 1;
#endif
    for (int32_t i = planes->outputs; i > 0; --i) {
        const int8_t *w = weight;

        for (int32_t ky = p->kernel_h; ky > 0; --ky) {
            int32_t place = planes->ahead; /* of the tap in its phase */
            int32_t phase = 0;

            ++to;
            for (int32_t left = p->kernel_w; left > 0; left -= CELL_TAPS) {
                *to++ = (uint32_t)(phase * planes->phase_cells + place) * (uint32_t)sizeof(CELL);
                *to++ = weight_of(w, tap_stride, left);
                w += cortexm_min(left, CELL_TAPS) * tap_stride;
                for (phase += CELL_TAPS * p->dilation_w; phase >= stride; phase -= stride) {
                    ++place;
                }
            }
        }
        weight += output_stride;
    }
}

void KERNEL(const PARAMS *params, const ELEMENT *in, const int8_t *weight, const int32_t *bias,
            ELEMENT *out, void *scratch)
{
    const PARAMS *const p = params;
    const cortexm_planes_t planes = cortexm_planes_of(p, scratch);
    const int32_t table_row = 1 + 2 * planes.steps;
    const int32_t table = p->kernel_h * table_row;
    const int32_t reach = (p->kernel_h - 1) * p->dilation_h + 1;
    const int32_t ring = (int32_t)(planes.ring_end - planes.ring);
    const int32_t out_rows = p->out_w * p->out_pixel_stride;

    CORTEXM_ASSERT(p->in_c > 0 && p->out_c % p->in_c == 0 && p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);
    for (int32_t c = 0; c < p->in_c; ++c) {
        ELEMENT *out_row = out + c * planes.outputs;
        CELL *next = planes.ring;  /* where the next row goes … */
        int32_t y = p->in_y0;      /* … which is this one */
        CELL *begin = planes.ring; /* where the first row of a window is … */
        int32_t first = p->in_y0;  /* … which is this one */

        cortexm_fill_tables(&planes, weight + c * planes.outputs);
        for (int32_t i = 0; i < planes.outputs; ++i) {
            const int32_t o = c * planes.outputs + i;

            set_output(&planes, planes.outs + i, o, bias[o], planes.tables + i * table);
        }
        /* Else GCC asks before each of the loops below; in those of two taps a step that makes no difference. */
        if (CELL_TAPS == 1 && planes.outputs <= 0) {
            __builtin_unreachable();
        }
        for (int32_t rows = p->out_h; rows > 0; --rows) {
            uint32_t *to = planes.tables;
            CELL *row = begin;

            if (y < first) { /* windows with rows between them */
                y = first;
                next = begin;
            }
            for (; y < first + reach; ++y) {
                const int is_inside = y >= 0 && y < p->in_h;

                cortexm_fill_row(&planes, is_inside ? in + y * p->in_row_stride + c : NULL, next);
                next += planes.row_cells;
                if (next == planes.ring_end) {
                    next = planes.ring;
                }
            }
            for (int32_t ky = p->kernel_h; ky > 0; --ky) {
                for (int32_t i = 0; i < planes.outputs; ++i) {
                    to[i * table] = (uint32_t)(uintptr_t)row;
                }
                to += table_row;
                row += p->dilation_h * planes.row_cells;
                if (row >= planes.ring_end) {
                    row -= ring;
                }
            }
            for (int32_t i = 0; i < planes.outputs; ++i) {
                row_of_codes(p, planes.outs + i, out_row + i);
            }
            first += p->stride_h;
            begin += p->stride_h * planes.row_cells;
            while (begin >= planes.ring_end) {
                begin -= ring;
            }
            out_row += out_rows;
        }
    }
}

#elif defined CORTEXM_IS_depthwise_conv2d

/* In C, for codes of either size (ELEMENT, stamp.h): sum[i] = bias[i] + sum over the taps, which are
 * three pointers apart, of tap[channel + i] * w[i]. There is at least one tap. */
static CORTEXM_APART void cortexm_tap_fours(const ELEMENT *const *tap, const ELEMENT *const *end,
                                            int32_t channel, const int8_t *w,
                                            const int32_t bias[4], int32_t sum[4])
{
    int32_t sum0 = bias[0];
    int32_t sum1 = bias[1];
    int32_t sum2 = bias[2];
    int32_t sum3 = bias[3];

    do {
        const ELEMENT *const x = *tap + channel;

        tap += 3;
        sum0 += x[0] * w[0];
        sum1 += x[1] * w[1];
        sum2 += x[2] * w[2];
        sum3 += x[3] * w[3];
        w += 4;
    } while (tap != end);
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

#endif

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
