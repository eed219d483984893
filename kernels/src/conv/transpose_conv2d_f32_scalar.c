/* SPDX-License-Identifier: Apache-2.0 */
/* transpose_conv2d of floats, portable C, for any memory layout. */
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* Along one axis, the taps through which an output gets something: tap t where position - t * dilation
 * is a multiple of the stride and, divided by it, inside [0, extent). Returns that input position, or
 * -1 for the other taps. */
static int32_t source(int32_t position, int32_t tap, int32_t dilation, int32_t stride,
                      int32_t extent)
{
    const int32_t offset = position - tap * dilation;

    if (offset < 0 || offset % stride != 0 || offset / stride >= extent) {
        return -1;
    }
    return offset / stride;
}

/* One output from all channels of its group. `in` is the group's first channel, `weight` the output
 * channel's weights for it. */
static float output(const cortexm_conv_f32_t *p, const float *in, const float *weight, float sum,
                    int32_t y, int32_t x)
{
    const int32_t channel_weights = p->out_c / p->groups * p->kernel_h * p->kernel_w;

    for (int32_t c = p->in_c / p->groups; c > 0; --c) {
        for (int32_t ky = 0; ky < p->kernel_h; ++ky) {
            const int32_t from_y = source(y, ky, p->dilation_h, p->stride_h, p->in_h);

            for (int32_t kx = 0; from_y >= 0 && kx < p->kernel_w; ++kx) {
                const int32_t from_x = source(x, kx, p->dilation_w, p->stride_w, p->in_w);

                if (from_x >= 0) {
                    sum += in[from_y * p->in_strides[2] + from_x * p->in_strides[3]] *
                           weight[ky * p->kernel_w + kx];
                }
            }
        }
        in += p->in_strides[1];
        weight += channel_weights;
    }
    return sum;
}

CORTEXM_CONV_F32(cortexm_transpose_conv2d_f32_scalar)
{
    const cortexm_conv_f32_t *const p = params;
    const int32_t group_in = p->in_c / p->groups;
    const int32_t group_out = p->out_c / p->groups;
    const int32_t taps = p->kernel_h * p->kernel_w;

    CORTEXM_ASSERT(p->groups >= 1 && p->in_c % p->groups == 0 && p->out_c % p->groups == 0);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t o = 0; o < p->out_c; ++o) {
            const int32_t group = o / group_out;
            const float *from = in + n * p->in_strides[0] + group * group_in * p->in_strides[1];
            const float *w = weight + (group * group_in * group_out + o % group_out) * taps;
            float *to = out + n * p->out_strides[0] + o * p->out_strides[1];

            for (int32_t y = 0; y < p->out_h; ++y) {
                for (int32_t x = 0; x < p->out_w; ++x) {
                    to[y * p->out_strides[2] + x * p->out_strides[3]] =
                        output(p, from, w, bias[o * p->bias_stride], y + p->pad_top,
                               x + p->pad_left);
                }
            }
        }
    }
}
