/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d of floats, portable C, for any memory layout. */
#include "accumulate.h"
#include "common/taps.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* One output: `in` is where the first tap would be, `weight` the output channel's weights. */
static float window(const cortexm_conv_f32_t *p, const float *in, const float *weight, float sum,
                    cortexm_taps_t rows, cortexm_taps_t columns)
{
    const int32_t channels = p->in_c / p->groups;
    const int32_t taps = p->kernel_h * p->kernel_w;
    const int32_t column_step = p->in_strides[3] * p->dilation_w;
    const int32_t row_step = p->in_strides[2] * p->dilation_h;
    const int32_t inside = cortexm_taps_count(columns);

    in += columns.begin * column_step;
    weight += columns.begin;
    if (cortexm_taps_count(rows) == 1 && inside == 1) {
        return cortexm_accumulate(sum, in + rows.begin * row_step, p->in_strides[1],
                                  weight + rows.begin * p->kernel_w, taps, channels);
    }
    for (int32_t c = 0; c < channels; ++c) {
        for (int32_t ky = rows.begin; ky < rows.end; ++ky) {
            sum = cortexm_accumulate(sum, in + ky * row_step, column_step,
                                     weight + ky * p->kernel_w, 1, inside);
        }
        in += p->in_strides[1];
        weight += taps;
    }
    return sum;
}

CORTEXM_CONV_F32(cortexm_conv2d_f32_scalar)
{
    const cortexm_conv_f32_t *const p = params;
    const int32_t group_in = p->in_c / p->groups;
    const int32_t group_out = p->out_c / p->groups;
    const int32_t weights = group_in * p->kernel_h * p->kernel_w;

    CORTEXM_ASSERT(p->groups >= 1 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t y = 0; y < p->out_h; ++y) {
            const int32_t y0 = y * p->stride_h - p->pad_top;
            const cortexm_taps_t rows =
                cortexm_taps_inside(y0, p->dilation_h, p->kernel_h, p->in_h);

            for (int32_t x = 0; x < p->out_w; ++x) {
                const int32_t x0 = x * p->stride_w - p->pad_left;
                const cortexm_taps_t columns =
                    cortexm_taps_inside(x0, p->dilation_w, p->kernel_w, p->in_w);
                const float *from = in + n * p->in_strides[0] + y0 * p->in_strides[2] +
                                    x0 * p->in_strides[3];
                float *to = out + n * p->out_strides[0] + y * p->out_strides[2] +
                            x * p->out_strides[3];
                const float *w = weight;
                const float *b = bias;

                for (int32_t g = 0; g < p->groups; ++g) {
                    for (int32_t o = 0; o < group_out; ++o) {
                        *to = window(p, from, w, *b, rows, columns);
                        to += p->out_strides[1];
                        w += weights;
                        b += p->bias_stride;
                    }
                    from += group_in * p->in_strides[1];
                }
            }
        }
    }
}
