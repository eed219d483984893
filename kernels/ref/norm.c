/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

CORTEXM_GROUP_NORM_F32(cortexm_group_norm_f32_ref)
{
    const cortexm_group_norm_f32_t *p = params;
    const int size = p->channels * p->pixels;

    for (int i = 0; i < p->batches * p->groups; ++i) {
        const int first = i % p->groups * p->channels;
        const float *x = in + i / p->groups * p->in_batch_stride + first * p->in_channel_stride;
        float *y = out + i / p->groups * p->out_batch_stride + first * p->out_channel_stride;
        float mean = 0.0f;
        float variance = 0.0f;

        for (int k = 0; k < size; ++k) {
            mean += x[k / p->pixels * p->in_channel_stride + k % p->pixels * p->in_pixel_stride];
        }
        mean /= (float)size;
        for (int k = 0; k < size; ++k) {
            const float d =
                x[k / p->pixels * p->in_channel_stride + k % p->pixels * p->in_pixel_stride] - mean;

            variance += d * d;
        }
        variance /= (float)size;
        for (int k = 0; k < size; ++k) {
            const int c = k / p->pixels;

            y[c * p->out_channel_stride + k % p->pixels * p->out_pixel_stride] =
                (x[c * p->in_channel_stride + k % p->pixels * p->in_pixel_stride] - mean) *
                    (1.0f / sqrtf(variance + p->epsilon)) * weight[first + c] +
                bias[first + c];
        }
    }
}
