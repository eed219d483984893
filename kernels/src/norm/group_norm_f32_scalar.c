/* SPDX-License-Identifier: Apache-2.0 */
/* group_norm of floats, portable C; layer_norm is a case of it. */
#include <math.h>

#include "cortexm/kernels.h"

static float mean_of(const cortexm_group_norm_f32_t *p, const float *in)
{
    float sum = 0.0f;

    for (int32_t c = 0; c < p->channels; ++c) {
        for (int32_t i = 0; i < p->pixels; ++i) {
            sum += in[c * p->in_channel_stride + i * p->in_pixel_stride];
        }
    }
    return sum / (float)(p->channels * p->pixels);
}

static float variance_of(const cortexm_group_norm_f32_t *p, const float *in, float mean)
{
    float sum = 0.0f;

    for (int32_t c = 0; c < p->channels; ++c) {
        for (int32_t i = 0; i < p->pixels; ++i) {
            const float d = in[c * p->in_channel_stride + i * p->in_pixel_stride] - mean;

            sum += d * d;
        }
    }
    return sum / (float)(p->channels * p->pixels);
}

CORTEXM_GROUP_NORM_F32(cortexm_group_norm_f32_scalar)
{
    const cortexm_group_norm_f32_t *const p = params;

    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t g = 0; g < p->groups; ++g) {
            const int32_t first = g * p->channels;
            const float *from = in + n * p->in_batch_stride + first * p->in_channel_stride;
            float *to = out + n * p->out_batch_stride + first * p->out_channel_stride;
            const float mean = mean_of(p, from);
            const float factor = 1.0f / sqrtf(variance_of(p, from, mean) + p->epsilon);

            for (int32_t c = 0; c < p->channels; ++c) {
                for (int32_t i = 0; i < p->pixels; ++i) {
                    const float x = from[c * p->in_channel_stride + i * p->in_pixel_stride];

                    to[c * p->out_channel_stride + i * p->out_pixel_stride] =
                        (x - mean) * factor * weight[first + c] + bias[first + c];
                }
            }
        }
    }
}
