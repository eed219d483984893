/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of floats whose channels are groups of one output, for any memory layout: how blocks of pixels go over
 * the image. */
#ifndef CORTEXM_CONV_CHANNELS_H
#define CORTEXM_CONV_CHANNELS_H

#include "common/stamp.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/requantize.h"

/*
 * Channels that lie side by side, with MVE any, are computed four at a time, whose weights the plan puts side by side,
 * too (packs "float_channels" and "float_fours", plan/kernels/packing_floats.py); others, and fewer than LEAST_OF_FOUR
 * that are left, one after the other. A block of pixels goes down the rows whose windows have the same taps inside the
 * image. The file that includes this defines MOST_PIXELS of one channel in a block, and the functions that are declared
 * here.
 */

/* Blocks of so many pixels of one channel, or of four, and as many below each other as `count` says. Distances in
 * bytes. Assembly knows the places. */
typedef struct {
    float start[8];                /* what the sums begin with */
    int32_t rows;                  /* of a window inside the image */
    const uint8_t *w;
    int32_t columns;
    int32_t gap, w_gap;            /* more from a row's last column to the next row, and of its weights */
    int32_t out_beside;            /* from a pixel to the next, and from a row of pixels */
    int32_t below, out_below;
    int32_t beside, step;          /* from a pixel to the next, from a column to the next */
    const uint8_t *x;
    uint8_t *out;
    int32_t count;
#if defined OWN
    uint32_t own[OWN];             /* what else assembly reads */
#endif
} block_t;

/* Flags: negative if the first column is missing, carry if the last one is, zero if columns are not neighbours. */
#define NO_FIRST INT32_MIN
#define NO_LAST (1 << 29)
#define APART (1 << 30)

/* Pixels of a row, or of a column. */
typedef struct {
    int32_t pixels;
    int32_t shared; /* 1 or 2 if windows of three columns are so many apart, of which the first one, or the last one,
                     * may have one outside the image, and four pixels or more; 0 of any others */
    int32_t flags;  /* of these two */
} run_t;

/* The pixels of a block. */
static void compute(block_t *block, int32_t channels, int32_t pixels, int32_t shared, int32_t flags);

/* Whether a block of pixels whose windows have three columns may begin or end with a window that has one of them
 * beside the image. */
static inline int32_t has_borders(const cortexm_conv_f32_t *p);

/* Whether rows of windows of one column are taken for taps of a row. */
static inline int32_t are_taps(const cortexm_conv_f32_t *p);

/* Whether planes of windows of one column, without gaps between their rows, are computed as one row where windows have
 * all taps. */
static inline int32_t are_one_row(const cortexm_conv_f32_t *p);

/* Whether channels lie side by side. */
static inline int32_t are_beside(const cortexm_conv_f32_t *p)
{
    return p->in_strides[1] == 1 && p->out_strides[1] == 1;
}

/* Whether channels are computed four at a time, but for few that are left. */
static inline int32_t are_fours(const cortexm_conv_f32_t *p);

/* Where the next channels lie. */
static inline void set_channels(block_t *block, const cortexm_conv_f32_t *p);

/* How many pixels of one channel come next where so many are left, less than MOST_PIXELS. */
static inline int32_t last_pixels(const block_t *block, const run_t *run, int32_t left);

/* All pixels of four channels, or of one, from those at x on. */
static CORTEXM_APART void pixels_of(block_t *block, const run_t *run, int32_t channels, const uint8_t *x, uint8_t *out)
{
    const int32_t whole = channels == 4 ? 4 : MOST_PIXELS;
    const int32_t shared = run->shared;
    const int32_t neighbours = block->step == 4 ? 0 : APART;
    int32_t done = 0;

    do {
        const int32_t left = run->pixels - done;
        int32_t pixels = whole;
        int32_t flags = neighbours;

        /* Behind others a block begins among those, but few pixels take less by themselves. */
        if (left < whole && channels == 4) {
            pixels = run->pixels < 4 || (left == 1 && shared == 0) ? 1 : 4;
        } else if (left < whole) {
            pixels = last_pixels(block, run, left);
        }
        done = cortexm_min(done, run->pixels - pixels);
        if (done == 0) {
            flags |= run->flags & NO_FIRST;
        }
        if (done + pixels == run->pixels) {
            flags |= run->flags & NO_LAST;
        }
        block->x = x + done * block->beside;
        block->out = out + done * block->out_beside;
        compute(block, channels, pixels, shared, flags);
        done += pixels;
    } while (done < run->pixels);
}

/* All channels of a run whose first window is at x. */
static void channels_of(const cortexm_conv_f32_t *p, block_t *block, const run_t *run, const cortexm_window_f32_t *at,
                        const float *x, const float *weight, const float *bias, float *out)
{
    const int32_t taps = p->kernel_h * p->kernel_w;

    block->rows = at->planes != 0 ? at->rows : 0;
    block->columns = at->columns;
    block->gap = at->row_gap;
    block->step = at->step;
    set_channels(block, p);
    if (are_taps(p) && block->rows > 0) {
        block->step += at->row_gap;
        block->columns = at->rows;
        block->rows = 1;
    }
    for (int32_t c = 0, channels; c < p->groups; c += channels) {
        const int32_t left = p->groups - c;
        int32_t first = c;

        channels = 1;
        if (are_fours(p) && left >= LEAST_OF_FOUR) {
            channels = 4;
            first = cortexm_min(c, p->groups - 4);
        }
        const float *start = bias + first * p->bias_stride;
        const int32_t step = channels == 4 ? p->bias_stride : 0;

        block->start[0] = block->start[4] = start[0];
        block->start[1] = block->start[5] = start[step];
        block->start[2] = block->start[6] = start[2 * step];
        block->start[3] = block->start[7] = start[3 * step];
        block->w = (const uint8_t *)(weight + c * taps) + channels * at->weight;
        block->w_gap = channels * at->w_row_gap;
        pixels_of(block, run, channels, (const uint8_t *)(x + first * p->in_strides[1]) + at->in,
                  (uint8_t *)(out + first * p->out_strides[1]));
    }
}

/* The convolution. */
static inline void cortexm_channels_f32(const cortexm_conv_f32_t *p, const float *in, const float *weight,
                                        const float *bias, float *out)
{
    const int32_t high = (p->kernel_h - 1) * p->dilation_h + 1;
    const int32_t wide = (p->kernel_w - 1) * p->dilation_w + 1;
    const cortexm_inside_t in_image = cortexm_inside(p->pad_top, high, p->stride_h, p->in_h, p->out_h, 0);
    const cortexm_inside_t in_row = cortexm_inside(p->pad_left, wide, p->stride_w, p->in_w, p->out_w, 0);
    cortexm_inside_t begun = in_row;
    int32_t shared = 0;

    CORTEXM_ASSERT(p->groups == p->in_c && p->groups == p->out_c);
    if (wide == 3 && p->kernel_w == 3 && p->stride_w <= 2 && has_borders(p)) {
        const cortexm_inside_t most =
            cortexm_inside(p->pad_left, wide, p->stride_w, p->in_w, p->out_w, 1);

        if (most.end - most.first >= 4) {
            begun = most;
            shared = p->stride_w;
        }
    }
    for (int32_t i = 0, alike; i < p->batches * p->out_h; i += alike) {
        const int32_t n = i / p->out_h;
        const int32_t y = i % p->out_h;
        const int32_t y0 = y * p->stride_h - p->pad_top;
        const cortexm_taps_t rows = cortexm_taps_inside(y0, p->dilation_h, p->kernel_h, p->in_h);

        alike = y >= in_image.first && y < in_image.end ? in_image.end - y : 1;
        /* As many blocks below each other as are whole; the last one begins among those before it. */
        const int32_t is_one = alike * p->out_w >= MOST_PIXELS && are_one_row(p);
        const int32_t width = is_one ? alike * p->out_w : p->out_w;

        for (int32_t x = 0, count; x < width; x += count) {
            x = is_one ? cortexm_min(x, width - MOST_PIXELS) : x;
            const int32_t x0 = x * p->stride_w - p->pad_left;
            cortexm_taps_t columns = {0, p->kernel_w};
            run_t run = {1, 0, 0};
            block_t block;
            const int32_t inside = x >= begun.first && rows.begin < rows.end ? begun.end - x : 0;
            cortexm_window_f32_t at;

            block.below = 4 * p->stride_h * p->in_strides[2];
            block.out_below = 4 * p->out_strides[2];
            block.beside = 4 * p->stride_w * p->in_strides[3];
            block.out_beside = 4 * p->out_strides[3];
            block.count = alike;
            /* Down a column if these windows are fewer than those. */
            if (is_one) {
                block.count = (width - x) / MOST_PIXELS;
                block.below = block.out_below = 4 * MOST_PIXELS;
                count = block.count * MOST_PIXELS;
                run.pixels = MOST_PIXELS;
            } else if (inside > 0 && (shared != 0 || inside >= alike || inside >= 8)) {
                count = inside;
                run.pixels = inside;
                run.shared = shared;
                run.flags = (x < in_row.first ? NO_FIRST : 0) | (begun.end > in_row.end ? NO_LAST : 0);
            } else {
                count = 1;
                columns = cortexm_taps_inside(x0, p->dilation_w, p->kernel_w, p->in_w);
                run.pixels = alike;
                block.beside = block.below;
                block.out_beside = block.out_below;
                block.count = 1;
            }
            at = cortexm_window_f32(p, rows, columns);
            channels_of(p, &block, &run, &at, in + n * p->in_strides[0] + y0 * p->in_strides[2] + x0 * p->in_strides[3],
                        weight, bias, out + n * p->out_strides[0] + y * p->out_strides[2] + x * p->out_strides[3]);
        }
    }
}

#endif
