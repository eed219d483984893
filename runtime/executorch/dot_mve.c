/* SPDX-License-Identifier: Apache-2.0 */
#if !(__ARM_FEATURE_MVE & 1)
#error "compile for a core with MVE, or take dot_scalar.c"
#endif

#include "dot.h"

#include <arm_mve.h>

/* The product multiplied out: sum x*w + in_offset * sum w + weight_offset * sum x + n * both. */
int32_t cortexm_et_dot(const int8_t *in, int32_t in_offset, const int8_t *weight,
                       int32_t weight_offset, int32_t n)
{
    int32_t products = 0;
    int32_t weights = 0;
    int32_t inputs = 0;

    for (int32_t i = 0; i < n; i += 16) {
        const mve_pred16_t tail = vctp8q((uint32_t)(n - i));
        const int8x16_t x = vldrbq_z_s8(in + i, tail);
        const int8x16_t w = vldrbq_z_s8(weight + i, tail);

        products = vmladavaq_s8(products, x, w);
        weights = vaddvaq_s8(weights, w);
        inputs = vaddvaq_s8(inputs, x);
    }
    return products + in_offset * weights + weight_offset * (inputs + n * in_offset);
}
