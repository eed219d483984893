/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

CORTEXM_CONV_F32(cortexm_conv2d_f32_ref)
{
    const cortexm_conv_f32_t *p = params;
    const int group_in = p->in_c / p->groups;
    const int outputs = p->batches * p->out_c * p->out_h * p->out_w;

    for (int i = 0; i < outputs; ++i) {
        const int x = i % p->out_w;
        const int y = i / p->out_w % p->out_h;
        const int o = i / p->out_w / p->out_h % p->out_c;
        const int n = i / p->out_w / p->out_h / p->out_c;
        float sum = bias[o * p->bias_stride];

        for (int tap = 0; tap < group_in * p->kernel_h * p->kernel_w; ++tap) {
            const int kx = tap % p->kernel_w;
            const int ky = tap / p->kernel_w % p->kernel_h;
            const int c = tap / p->kernel_w / p->kernel_h + o / (p->out_c / p->groups) * group_in;
            const int from_y = y * p->stride_h - p->pad_top + ky * p->dilation_h;
            const int from_x = x * p->stride_w - p->pad_left + kx * p->dilation_w;

            if (from_y >= 0 && from_y < p->in_h && from_x >= 0 && from_x < p->in_w) {
                sum += in[n * p->in_strides[0] + c * p->in_strides[1] + from_y * p->in_strides[2] +
                          from_x * p->in_strides[3]] *
                       weight[o * group_in * p->kernel_h * p->kernel_w + tap];
            }
        }
        out[n * p->out_strides[0] + o * p->out_strides[1] + y * p->out_strides[2] +
            x * p->out_strides[3]] = sum;
    }
}
