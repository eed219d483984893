/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

/* The input that reaches an output position through a tap `distance` = (output position - position
 * of tap 0 of input 0 - tap * dilation) away, or -1. */
static int input_index(int distance, int stride, int extent)
{
    if (distance < 0 || distance % stride != 0 || distance / stride >= extent) {
        return -1;
    }
    return distance / stride;
}

void cortexm_transpose_conv2d_s8_ref(const cortexm_conv_s8_t *p, const int8_t *in,
                                     const int8_t *weight, const int32_t *bias, int8_t *out,
                                     void *scratch)
{
    (void)scratch;
    for (int oy = 0; oy < p->out_h; ++oy)
    for (int ox = 0; ox < p->out_w; ++ox)
    for (int o = 0; o < p->out_c; ++o) {
        int64_t acc = bias[o];

        for (int ky = 0; ky < p->kernel_h; ++ky)
        for (int kx = 0; kx < p->kernel_w; ++kx)
        for (int c = 0; c < p->in_c; ++c) {
            const int y = input_index(oy - p->in_y0 - ky * p->dilation_h, p->stride_h, p->in_h);
            const int x = input_index(ox - p->in_x0 - kx * p->dilation_w, p->stride_w, p->in_w);
            int code = p->in_zero_point;

            if (y >= 0 && x >= 0) {
                code = in[y * p->in_row_stride + x * p->in_c + c];
            }
            acc += code * weight[((o * p->kernel_h + ky) * p->kernel_w + kx) * p->in_c + c];
        }
        out[(oy * p->out_w + ox) * p->out_pixel_stride + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}
