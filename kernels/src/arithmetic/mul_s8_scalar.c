/* SPDX-License-Identifier: Apache-2.0 */
/* mul, int8, portable C. See kernels/README.md for the formula. */
#include "common/box.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

void cortexm_mul_s8_scalar(const cortexm_mul_s8_t *params, const int8_t *a, const int8_t *b,
                           int8_t *out)
{
    const cortexm_mul_s8_t *const p = params;
    cortexm_broadcast_t walk = cortexm_broadcast(p->count, p->a_period, p->b_period);

    while (walk.run > 0) {
        const int8_t *x = a + walk.a;
        const int8_t *y = b + walk.b;
        int8_t *const end = out + walk.run;

        for (; out != end; ++out) {
            const int32_t product = (*x - p->a_zero_point) * (*y - p->b_zero_point);
            const int32_t value = cortexm_requantize(product, p->multiplier, p->shift);

            *out = (int8_t)cortexm_add_zero_point(value, p->out_zero_point, INT8_MIN, INT8_MAX);
            x += walk.a_step;
            y += walk.b_step;
        }
        cortexm_broadcast_next(&walk);
    }
}
