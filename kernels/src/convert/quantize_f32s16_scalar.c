/* SPDX-License-Identifier: Apache-2.0 */
/* quantize, float to int16, portable C. */
#include "common/round.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

void cortexm_quantize_f32s16_scalar(const cortexm_quantize_t *params, const float *in, int16_t *out)
{
    const float inv_scale = params->inv_scale;
    const int32_t zero_point = params->zero_point;
    const int32_t low = params->qmin;
    const int32_t high = params->qmax;
    const float *const end = in + params->count;

    CORTEXM_ASSERT(low <= high);
    while (in != end) {
        const int32_t value = cortexm_round_half_even(*in++ * inv_scale);

        *out++ = (int16_t)cortexm_clamp(value + zero_point, low, high);
    }
}
