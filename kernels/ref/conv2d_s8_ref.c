/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

static int8_t input_at(const cortexm_conv_s8_t *p, const int8_t *in, int y, int x, int c)
{
    if (y < 0 || y >= p->in_h || x < 0 || x >= p->in_w) {
        return p->in_zero_point;
    }
    return in[y * p->in_row_stride + x * p->in_c + c];
}

void cortexm_conv2d_s8_ref(const cortexm_conv_s8_t *p, const int8_t *in, const int8_t *weight,
                           const int32_t *bias, int8_t *out, void *scratch)
{
    const int depth = p->in_c / p->groups;

    (void)scratch;
    for (int oy = 0; oy < p->out_h; ++oy)
    for (int ox = 0; ox < p->out_w; ++ox)
    for (int o = 0; o < p->out_c; ++o) {
        const int group = o / (p->out_c / p->groups);
        int64_t acc = bias[o];

        for (int ky = 0; ky < p->kernel_h; ++ky)
        for (int kx = 0; kx < p->kernel_w; ++kx)
        for (int c = 0; c < depth; ++c) {
            const int y = p->in_y0 + oy * p->stride_h + ky * p->dilation_h;
            const int x = p->in_x0 + ox * p->stride_w + kx * p->dilation_w;

            acc += input_at(p, in, y, x, group * depth + c) *
                   weight[((o * p->kernel_h + ky) * p->kernel_w + kx) * depth + c];
        }
        out[(oy * p->out_w + ox) * p->out_pixel_stride + o] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier[o], p->shift[o]) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}
