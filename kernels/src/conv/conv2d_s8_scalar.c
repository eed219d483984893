/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d, int8, portable C. See README.md for the formula. */
#include "common/dot.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* The part of one output pixel's window that lies inside the image, as runs of bytes that are in one
 * piece both in the input and in the weights. */
typedef struct {
    cortexm_taps_t rows, cols;
    int32_t group_in;                      /* input channels of a group */
    int32_t runs, length;                  /* runs per row, bytes per run */
    int32_t in_row_step, in_run_step;
    int32_t weight_row_step, weight_run_step;
    int32_t skip;                          /* weights of a channel before its first inside tap */
} window_t;

static window_t window_of(const cortexm_conv_s8_t *p, int32_t group_in, cortexm_taps_t rows,
                          cortexm_taps_t cols)
{
    window_t w;

    w.rows = rows;
    w.cols = cols;
    w.group_in = group_in;
    w.runs = cortexm_taps_count(cols);
    w.length = group_in;
    if (p->groups == 1 && p->dilation_w == 1) {
        /* Neither skipped pixels nor other groups' channels separate neighbouring taps. */
        w.length *= w.runs;
        w.runs = 1;
    }
    w.in_row_step = p->dilation_h * p->in_row_stride;
    w.in_run_step = p->dilation_w * p->in_c;
    w.weight_row_step = p->kernel_w * group_in;
    w.weight_run_step = group_in;
    w.skip = (rows.begin * p->kernel_w + cols.begin) * group_in;
    return w;
}

static int32_t dot(const window_t *w, const int8_t *in, const int8_t *weight)
{
    int32_t sum = 0;

    weight += w->skip;
    for (int32_t row = w->rows.begin; row < w->rows.end; ++row) {
        const int8_t *in_run = in;
        const int8_t *weight_run = weight;

        for (int32_t run = 0; run < w->runs; ++run) {
            sum += cortexm_dot_s8(in_run, weight_run, w->length);
            in_run += w->in_run_step;
            weight_run += w->weight_run_step;
        }
        in += w->in_row_step;
        weight += w->weight_row_step;
    }
    return sum;
}

/* dot for four output channels at once, whose weights are `filter` apart. */
static void dot4(const window_t *w, const int8_t *in, const int8_t *weight, int32_t filter,
                 int32_t sum[4])
{
    weight += w->skip;
    for (int32_t row = w->rows.begin; row < w->rows.end; ++row) {
        const int8_t *in_run = in;
        const int8_t *weight_run = weight;

        for (int32_t run = 0; run < w->runs; ++run) {
            cortexm_dot4_s8(in_run, weight_run, filter, w->length, sum);
            in_run += w->in_run_step;
            weight_run += w->weight_run_step;
        }
        in += w->in_row_step;
        weight += w->weight_row_step;
    }
}

/* Sum of one output channel's weights over the taps that lie in the padding. */
static int32_t sum_padding(const window_t *w, const int8_t *weight, int32_t kernel_h)
{
    const int32_t row_size = w->weight_row_step;
    const int32_t left = w->cols.begin * w->group_in;
    const int32_t right = w->cols.end * w->group_in;
    int32_t sum = cortexm_sum_s8(weight, w->rows.begin * row_size);

    weight += w->rows.begin * row_size;
    for (int32_t row = w->rows.begin; row < w->rows.end; ++row) {
        sum += cortexm_sum_s8(weight, left);
        sum += cortexm_sum_s8(weight + right, row_size - right);
        weight += row_size;
    }
    return sum + cortexm_sum_s8(weight, (kernel_h - w->rows.end) * row_size);
}

/* One pixel; `in` is the first tap inside the image. */
static void pixel(const cortexm_conv_s8_t *p, const window_t *w, const int8_t *in,
                  const int8_t *weight, const int32_t *bias, int8_t *out)
{
    const int32_t filter = p->kernel_h * w->weight_row_step;
    const int32_t group_out = p->groups == 1 ? p->out_c : p->out_c / p->groups;
    const int is_border = cortexm_taps_count(w->rows) != p->kernel_h ||
                          cortexm_taps_count(w->cols) != p->kernel_w;
    const int32_t zero_point = is_border ? p->in_zero_point : 0;
    int32_t o = 0;

    for (int32_t group_end = group_out; o < p->out_c; group_end += group_out) {
        while (o < group_end) {
            int32_t acc[4] = {0, 0, 0, 0};
            int32_t block = 1;

            if (group_end - o >= 4) {
                block = 4;
                dot4(w, in, weight, filter, acc);
            } else {
                acc[0] = dot(w, in, weight);
            }
            for (int32_t k = 0; k < block; ++k) {
                int32_t value = bias[o] + acc[k];

                if (zero_point != 0) {
                    value += zero_point * sum_padding(w, weight, p->kernel_h);
                }
                value = cortexm_requantize(value, p->multiplier[o], p->shift[o]);
                out[o] = (int8_t)cortexm_add_zero_point(value, p->out_zero_point, p->act_min,
                                                        p->act_max);
                weight += filter;
                ++o;
            }
        }
        in += w->group_in;
    }
}

void cortexm_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                              const int8_t *weight, const int32_t *bias, int8_t *out, void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t group_in = p->groups == 1 ? p->in_c : p->in_c / p->groups;

    (void)scratch;
    CORTEXM_ASSERT(p->groups > 0 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    CORTEXM_ASSERT(p->act_min <= p->act_max);

    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t oy = 0; oy < p->out_h; ++oy) {
            const int32_t y = p->in_y0 + oy * p->stride_h;
            const cortexm_taps_t rows =
                cortexm_taps_inside(y, p->dilation_h, p->kernel_h, p->in_h);
            const int8_t *in_row = in + (y + rows.begin * p->dilation_h) * p->in_row_stride;
            int8_t *out_pixel = out + oy * p->out_row_stride;
            int32_t x = p->in_x0;

            for (int32_t ox = 0; ox < p->out_w; ++ox) {
                const cortexm_taps_t cols =
                    cortexm_taps_inside(x, p->dilation_w, p->kernel_w, p->in_w);
                const window_t w = window_of(p, group_in, rows, cols);

                pixel(p, &w, in_row + (x + cols.begin * p->dilation_w) * p->in_c, weight, bias,
                      out_pixel);
                out_pixel += p->out_c;
                x += p->stride_w;
            }
        }
        in += p->in_batch_stride;
        out += p->out_batch_stride;
    }
}
