/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

void cortexm_add_s8_ref(const cortexm_add_s8_t *p, const int8_t *a, const int8_t *b, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        const int64_t x = (a[i % p->a_period] - p->a_zero_point) * ref_power_of_two(20);
        const int64_t y = (b[i % p->b_period] - p->b_zero_point) * ref_power_of_two(20);
        const int64_t sum = ref_requantize(x, p->a_multiplier, p->a_shift) +
                            ref_requantize(y, p->b_multiplier, p->b_shift);

        out[i] = (int8_t)ref_clamp(
            ref_requantize(sum, p->out_multiplier, p->out_shift) + p->out_zero_point, p->act_min,
            p->act_max);
    }
}
