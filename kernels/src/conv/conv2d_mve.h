/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d of codes, MVE: the walk over windows. */
#ifndef CORTEXM_CONV_CONV2D_MVE_H
#define CORTEXM_CONV_CONV2D_MVE_H

#include <stddef.h>

#include "common/stamp.h"

typedef struct {
    const PARAMS *p;
    int32_t group_in;
    int32_t column;                  /* inputs of a column of a window */
    int32_t depth;                   /* weights of a channel */
    int32_t row_step, col_step;      /* from one tap to the next in the image */
    int32_t x_step;                  /* from one window to the next in the image … */
    int32_t window_step;             /* … and where they are multiplied */
    int32_t together;                /* windows that are gathered at a time if there are so many in a row */
    int32_t out_h, out_w;            /* as one row if all pixels have one distance */
    int32_t spread, spread_step;     /* see spread_runs; 0 where runs are copied one by one */
    uint8_t places[16];
    ELEMENT *scratch;                /* NULL if every window is one pixel of the image */
    const int8_t *behind;            /* the weights of a group */
    int32_t more;                    /* pairs of pixels */
    cortexm_gemm_t gemm;             /* of the pixels that come next */
} layer_t;

static inline int32_t bytes(int32_t codes)
{
    return codes * (int32_t)sizeof(ELEMENT);
}

/* `count` runs of `size` bytes, which lie `from_step` and `to_step` bytes apart: sixteen bytes of each at a
 * time. */
static inline void copy_runs(int8_t *to, const int8_t *from, int32_t count, int32_t size,
                             int32_t from_step, int32_t to_step)
{
    do {
        const int8_t *source = from;
        int8_t *target = to;
        int8x16_t t;

        __asm__ volatile("vctp.8    %[size]\n\t"
                         "dls       lr, %[count]\n"
                         "1:\n\t"
                         "vpstt\n\t"
                         "vldrbt.u8 %q[t], [%[from]]\n\t"
                         "vstrbt.8  %q[t], [%[to]]\n\t"
                         "add       %[from], %[from], %[from_step]\n\t"
                         "add       %[to], %[to], %[to_step]\n\t"
                         "le        lr, 1b\n\t"
                         : [t] "=&w"(t), [from] "+l"(source), [to] "+l"(target)
                         : [size] "r"(size), [count] "r"(count), [from_step] "r"(from_step),
                           [to_step] "r"(to_step)
                         : "lr", "memory");
        from += 16;
        to += 16;
        size -= 16;
    } while (size > 0);
}

/* The same of short runs side by side, `spread` bytes of which a vector holds whole ones: `places` are those of its
 * bytes, and the next vector's are `to_step` on. Of a run that does not fit the bytes are stored twice. */
static inline void spread_runs(int8_t *to, const int8_t *from, int32_t size, int32_t spread,
                               int32_t to_step, const uint8_t *places)
{
    const uint8x16_t at = vldrbq_u8(places);
    int8x16_t t;

    __asm__ volatile("1:\n\t"
                     "vctp.8    %[size]\n\t"
                     "vpstt\n\t"
                     "vldrbt.u8 %q[t], [%[from]]\n\t"
                     "vstrbt.8  %q[t], [%[to], %q[at]]\n\t"
                     "add       %[from], %[from], %[spread]\n\t"
                     "add       %[to], %[to], %[to_step]\n\t"
                     "subs      %[size], %[size], %[spread]\n\t"
                     "bgt       1b\n\t"
                     : [t] "=&w"(t), [from] "+l"(from), [to] "+l"(to), [size] "+l"(size)
                     : [at] "w"(at), [spread] "r"(spread), [to_step] "r"(to_step)
                     : "cc", "memory");
}

/* `count` columns of the image, those of windows that begin at (y, x), to scratch. `in` is the image (of a group). */
static __attribute__((noinline)) void gather(const layer_t *layer, const ELEMENT *in, int32_t y,
                                             int32_t x, int32_t count, ELEMENT *to)
{
    const PARAMS *const p = layer->p;
    const cortexm_taps_t rows = cortexm_taps_divided(y, p->dilation_h, p->kernel_h, p->in_h);
    const cortexm_taps_t cols = cortexm_taps_divided(x, p->dilation_w, count, p->in_w);
    const int32_t column = bytes(layer->column);
    const int32_t size = bytes(layer->group_in);
    const int32_t runs = cortexm_taps_count(cols);
    const int8_t padding = ZERO_POINT(p, in);
    int32_t high = cortexm_taps_count(rows);
    int8_t *target = (int8_t *)to;

    /* Columns outside, or all of them if there are such rows. */
    cortexm_fill_mve(target, padding, column * (high < p->kernel_h ? count : cols.begin));
    cortexm_fill_mve(target + cols.end * column, padding, column * (count - cols.end));
    if (runs <= 0) {
        return;
    }
    in += y * p->in_row_stride + x * p->in_c + rows.begin * layer->row_step +
          cols.begin * layer->col_step;
    target += cols.begin * column + rows.begin * size;
    if (runs == 1 && layer->row_step == layer->group_in) { /* of an image of one column */
        cortexm_copy_mve(target, (const int8_t *)in, high * size);
        return;
    }
    for (; high > 0; --high) {
        if (layer->spread != 0) {
            spread_runs(target, (const int8_t *)in, runs * size, layer->spread, layer->spread_step,
                        layer->places);
        } else {
            copy_runs(target, (const int8_t *)in, runs, size, bytes(layer->col_step), column);
        }
        in += layer->row_step;
        target += size;
    }
}

/* The weights of a channel: filled up with zeros to whole chunks, if at least half of one is there, or a quarter
 * behind three, and windows are in scratch, where anything may follow. */
static int32_t depth_of(int32_t inputs, int is_filled)
{
    const int32_t least = inputs < 48 ? 8 : 12; /* a bit of these */

    return CODE_BITS == 8 && is_filled && (inputs & least) != 0 ? (inputs + 15) & ~15 : inputs;
}

/* How many windows side by side scratch has room for, eight or a row of less than sixteen if their last column
 * begins before byte 512: `columns_s8` in kernels.json. */
static int32_t together(const PARAMS *p, int32_t column)
{
    const int32_t windows = p->out_w < 16 ? p->out_w : 8;
    const int32_t least = 2 * p->kernel_w;
    const int32_t most = cortexm_min((windows - 1) * p->stride_w + p->kernel_w, (511 + bytes(column)) / bytes(column));

    return p->dilation_w > 1 || p->stride_w > p->kernel_w
               ? 1
               : (cortexm_max(least, most) - p->kernel_w) / p->stride_w + 1;
}

/* Whether runs are so short that several are copied at a time. */
static void plan_runs(layer_t *layer)
{
    const int32_t size = bytes(layer->group_in);
    const uint8x16_t byte = vidupq_n_u8(0, 1);
    uint8x16_t before = byte; /* whole runs before each: exact, as there are so few */

    layer->spread = 0;
    if (size > 8 || layer->col_step != layer->group_in ||
        (15 / size + 1) * bytes(layer->column) > 255) {
        return;
    }
    layer->spread = 16 / size * size;
    layer->spread_step = 16 / size * bytes(layer->column);
    if (size > 1) {
        before = vmulhq_u8(byte, vdupq_n_u8((uint8_t)(256 / size + 1)));
    }
    vstrbq_u8(layer->places, vmlaq_n_u8(byte, before, (uint8_t)(bytes(layer->column) - size)));
}

static inline void next_pair(layer_t *layer)
{
    for (int32_t i = 0; i < 2; ++i) {
        layer->gemm.start.out[i] += 2 * layer->p->out_pixel_stride;
        layer->gemm.window[i] += 2 * layer->window_step;
    }
}

/* Whether channels behind the fours allow one pair of pixels only: of int8 the assembly needs all registers. */
static inline int is_single(const cortexm_gemm_t *g)
{
    return CODE_BITS == 8 && !IS_UNGROUPED && (g->start.more & 3) != 0;
}

/* The pairs of pixels that layer->gemm describes, all channels. */
static __attribute__((noinline)) void pairs(layer_t *layer, int32_t count)
{
    const PARAMS *const p = layer->p;
    const cortexm_finish_t finish = cortexm_finish_of(ZERO_POINT(p, out), p->act_min, p->act_max);
    cortexm_gemm_t *const g = &layer->gemm;
    const int32_t rest = IS_UNGROUPED ? 0 : g->start.more & 3; /* channels behind the fours */
    const int8_t *weight;
    int32_t depth;

    g->pairs = count;
    if (CODE_BITS == 16 && rest != 0) {
        layer->more = count;
        g->pairs = 1;
    }
    for (;;) {
        weight = cortexm_gemm_2_mve(g, &finish);
        if (rest == 0) {
            break;
        }
        depth = layer->depth;
        cortexm_gemm_2_rest_mve(g, weight, depth, rest, &finish);
        weight += rest * cortexm_row_bytes(depth);
        if (CODE_BITS == 8 || --layer->more == 0) {
            break;
        }
        g->pairs = 1;
        next_pair(layer);
    }
    layer->behind = weight;
}

/* One group of one image. */
static void image(layer_t *layer, const ELEMENT *in, ELEMENT *out)
{
    const PARAMS *const p = layer->p;
    cortexm_gemm_t *const gemm = &layer->gemm;
    int waiting = 0; /* a window without another one beside it: the next row's first one is */

    for (int32_t oy = 0; oy < layer->out_h; ++oy) {
        const int32_t y = p->in_y0 + oy * p->stride_h;
        const ELEMENT *first = in + y * p->in_row_stride + p->in_x0 * p->in_c;
        int32_t x = p->in_x0;
        int32_t ox = layer->out_w;

        for (;;) {
            int32_t count = waiting ? 0 : cortexm_min(ox, layer->together) & ~1;
            const ELEMENT *window = first;

            count += count == 0;
            if (layer->scratch != NULL) {
                ELEMENT *const to = layer->scratch + (waiting ? p->kernel_w * layer->column : 0);

                gather(layer, in, y, x, (count - 1) * p->stride_w + p->kernel_w, to);
                window = to;
            }
            gemm->start.out[waiting] = out;
            gemm->window[waiting] = window;
            if (count > 1) {
                gemm->start.out[1] = out + p->out_pixel_stride;
                gemm->window[1] = window + layer->window_step;
                waiting = 1;
            }
            if (waiting) {
                int32_t more = (count + 1) >> 1;
                const int32_t each = is_single(gemm) ? 1 : more;

                for (;;) {
                    pairs(layer, each);
                    more -= each;
                    if (more == 0) {
                        break;
                    }
                    next_pair(layer);
                }
            }
            waiting = !waiting;
            out += count * p->out_pixel_stride;
            ox -= count;
            if (ox == 0) {
                break;
            }
            first += count * layer->x_step;
            x += count * p->stride_w;
        }
    }
    if (waiting) {
        gemm->start.out[1] = gemm->start.out[0];
        gemm->window[1] = gemm->window[0];
        pairs(layer, 1);
    }
    gemm->weight = layer->behind;
}

void KERNEL(const PARAMS *params, const ELEMENT *in, const int8_t *weight, const int32_t *bias,
            ELEMENT *out, void *scratch)
{
    const PARAMS *const p = params;
    int32_t groups = IS_UNGROUPED ? 1 : p->groups;
    const int32_t group_in = p->in_c / groups;
    const int32_t group_out = p->out_c / groups;
    const int32_t column = p->kernel_h * group_in;
    const int32_t depth = depth_of(p->kernel_w * column, scratch != NULL && p->kernel_w * p->kernel_h > 1);
    const int32_t x_step = p->stride_w * p->in_c;
    layer_t layer; /* not initialized by a list, as GCC would call memset */
    cortexm_gemm_t *const gemm = &layer.gemm;

    CORTEXM_ASSERT(p->out_h > 0 && p->out_w > 0);
    CORTEXM_ASSERT(p->groups > 0 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    CORTEXM_ASSERT(!IS_UNGROUPED || (p->groups == 1 && p->out_c % 4 == 0));
    CORTEXM_ASSERT(p->act_min <= p->act_max);
    CORTEXM_ASSERT(p->out_pixel_stride >= p->out_c);
    layer.p = p;
    layer.group_in = group_in;
    layer.column = column;
    layer.depth = depth;
    layer.row_step = p->dilation_h * p->in_row_stride;
    layer.col_step = p->dilation_w * p->in_c;
    layer.x_step = x_step;
    layer.out_h = p->out_h;
    layer.out_w = p->out_w;
    layer.scratch = scratch;
    layer.window_step = p->stride_w * column;
    if (scratch == NULL) {
        layer.window_step = x_step;
        layer.together = INT32_MAX;
        if (p->stride_h * p->in_row_stride == p->out_w * x_step) {
            layer.out_w *= p->out_h;
            layer.out_h = 1;
        }
    } else {
        layer.together = together(p, column);
        plan_runs(&layer);
    }
    cortexm_gemm_depth(gemm, depth, p->act_min < ZERO_POINT(p, out));
    gemm->start.bias = bias;
    gemm->start.multiplier = p->multiplier;
    gemm->start.shift = p->shift;
    gemm->start.more = group_out - 4;
    gemm->weight = weight;
    gemm->x_gap = 2 * layer.window_step - depth;
    gemm->out_gap = 2 * p->out_pixel_stride - (group_out & ~3);
    for (;;) {
        image(&layer, in, out);
        if (--groups == 0) {
            break;
        }
        in += group_in;
        out += group_out;
        gemm->start.bias += group_out;
        gemm->start.multiplier += group_out;
        gemm->start.shift += group_out;
    }
}

#endif
