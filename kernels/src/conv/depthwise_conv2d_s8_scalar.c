/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_conv2d, int8, portable C. See README.md for the formula. */
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* sum of in * weight over the taps inside the image; both pointers are at the first of them. */
static int32_t dot(const cortexm_conv_s8_t *p, int32_t rows, int32_t cols, const int8_t *in,
                   const int8_t *weight)
{
    const int32_t channels = p->out_c;
    const int32_t in_row_step = p->dilation_h * p->in_row_stride;
    const int32_t in_col_step = p->dilation_w * p->in_c;
    int32_t sum = 0;

    for (; rows > 0; --rows) {
        const int8_t *x = in;
        const int8_t *w = weight;

        for (int32_t col = cols; col > 0; --col) {
            sum += *x * *w;
            x += in_col_step;
            w += channels;
        }
        in += in_row_step;
        weight += p->kernel_w * channels;
    }
    return sum;
}

/* Sum of one output channel's weights over the taps that lie in the padding. */
static int32_t sum_padding(const cortexm_conv_s8_t *p, cortexm_taps_t rows, cortexm_taps_t cols,
                           const int8_t *weight)
{
    const int32_t channels = p->out_c;
    int32_t sum = 0;

    for (int32_t ky = 0; ky < p->kernel_h; ++ky) {
        const int row_is_inside = rows.begin <= ky && ky < rows.end;

        for (int32_t kx = 0; kx < p->kernel_w; ++kx) {
            if (!(row_is_inside && cols.begin <= kx && kx < cols.end)) {
                sum += *weight;
            }
            weight += channels;
        }
    }
    return sum;
}

/* One pixel; `in` is the first tap inside the image. */
static void pixel(const cortexm_conv_s8_t *p, int32_t multiple, cortexm_taps_t rows,
                  cortexm_taps_t cols, const int8_t *in, const int8_t *weight, const int32_t *bias,
                  int8_t *out)
{
    const int32_t inside_h = cortexm_taps_count(rows);
    const int32_t inside_w = cortexm_taps_count(cols);
    const int is_border = inside_h != p->kernel_h || inside_w != p->kernel_w;
    const int32_t zero_point = is_border ? p->in_zero_point : 0;
    const int32_t skip = (rows.begin * p->kernel_w + cols.begin) * p->out_c;
    int32_t of_this_input = multiple; /* output channels that still read this input channel */

    for (int32_t o = 0; o < p->out_c; ++o) {
        int32_t acc = bias[o] + dot(p, inside_h, inside_w, in, weight + skip + o);

        if (zero_point != 0) {
            acc += zero_point * sum_padding(p, rows, cols, weight + o);
        }
        acc = cortexm_requantize(acc, p->multiplier[o], p->shift[o]);
        out[o] = (int8_t)cortexm_add_zero_point(acc, p->out_zero_point, p->act_min, p->act_max);
        if (--of_this_input == 0) {
            of_this_input = multiple;
            ++in;
        }
    }
}

void cortexm_depthwise_conv2d_s8_scalar(const cortexm_conv_s8_t *params, const int8_t *in,
                                        const int8_t *weight, const int32_t *bias, int8_t *out,
                                        void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const int32_t multiple = p->out_c / p->in_c;

    (void)scratch;
    CORTEXM_ASSERT(p->in_c > 0 && p->out_c % p->in_c == 0);
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

                pixel(p, multiple, rows, cols, in_row + (x + cols.begin * p->dilation_w) * p->in_c,
                      weight, bias, out_pixel);
                out_pixel += p->out_c;
                x += p->stride_w;
            }
        }
        in += p->in_batch_stride;
        out += p->out_batch_stride;
    }
}
