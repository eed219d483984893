/* SPDX-License-Identifier: Apache-2.0 */
/* quantize, float to int8, portable C. See README.md for the formula. */
#include "common/quantize_f32s8.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

void cortexm_quantize_f32s8_scalar(const cortexm_quantize_t *params, const float *in, int8_t *out)
{
    CORTEXM_ASSERT(params->qmin <= params->qmax);
    cortexm_quantize_f32s8(in, params->count, out, params->inv_scale, params->zero_point,
                           params->qmin, params->qmax);
}
