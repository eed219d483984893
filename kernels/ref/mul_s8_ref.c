/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

void cortexm_mul_s8_ref(const cortexm_mul_s8_t *p, const int8_t *a, const int8_t *b, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        const int x = a[i % p->a_period] - p->a_zero_point;
        const int y = b[i % p->b_period] - p->b_zero_point;

        out[i] = (int8_t)ref_clamp(ref_requantize(x * y, p->multiplier, p->shift) + p->out_zero_point,
                                   INT8_MIN, INT8_MAX);
    }
}
