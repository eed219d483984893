/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

/* Scatters every input channel by channel and tap by tap, so that each output gets its terms in the
 * order of the weights. */
CORTEXM_CONV_F32(cortexm_transpose_conv2d_f32_ref)
{
    const cortexm_conv_f32_t *p = params;
    const int group_in = p->in_c / p->groups;
    const int group_out = p->out_c / p->groups;
    const int32_t *const si = p->in_strides;
    const int32_t *const so = p->out_strides;

    for (int n = 0; n < p->batches; ++n) {
        for (int o = 0; o < p->out_c; ++o) {
            float *to = out + n * so[0] + o * so[1];

            for (int i = 0; i < p->out_h * p->out_w; ++i) {
                to[i / p->out_w * so[2] + i % p->out_w * so[3]] = bias[o * p->bias_stride];
            }
            for (int k = 0; k < group_in * p->kernel_h * p->kernel_w; ++k) {
                const int kx = k % p->kernel_w;
                const int ky = k / p->kernel_w % p->kernel_h;
                const int c = k / p->kernel_w / p->kernel_h + o / group_out * group_in;
                const float w =
                    weight[((c * group_out + o % group_out) * p->kernel_h + ky) * p->kernel_w + kx];

                for (int i = 0; i < p->in_h * p->in_w; ++i) {
                    const int y = i / p->in_w * p->stride_h + ky * p->dilation_h - p->pad_top;
                    const int x = i % p->in_w * p->stride_w + kx * p->dilation_w - p->pad_left;

                    if (y >= 0 && y < p->out_h && x >= 0 && x < p->out_w) {
                        to[y * so[2] + x * so[3]] +=
                            in[n * si[0] + c * si[1] + i / p->in_w * si[2] + i % p->in_w * si[3]] *
                            w;
                    }
                }
            }
        }
    }
}
