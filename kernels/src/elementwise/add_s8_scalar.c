/* SPDX-License-Identifier: Apache-2.0 */
/* add, int8, portable C. See README.md for the formula. */
#include "common/broadcast.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* Bits by which the operands are raised, so that rescaling them loses next to nothing. */
#define RAISE 20

static int32_t rescale(int32_t code, int32_t zero_point, int32_t multiplier, int32_t shift)
{
    return cortexm_requantize(cortexm_shift_left(code - zero_point, RAISE), multiplier, shift);
}

void cortexm_add_s8_scalar(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b,
                           int8_t *out)
{
    const cortexm_add_s8_t *const p = params;
    cortexm_broadcast_t walk = cortexm_broadcast(p->count, p->a_period, p->b_period);

    CORTEXM_ASSERT(p->act_min <= p->act_max);
    while (walk.run > 0) {
        const int8_t *x = a + walk.a;
        const int8_t *y = b + walk.b;
        int8_t *const end = out + walk.run;

        for (; out != end; ++out) {
            const int32_t sum = rescale(*x, p->a_zero_point, p->a_multiplier, p->a_shift) +
                                rescale(*y, p->b_zero_point, p->b_multiplier, p->b_shift);
            const int32_t value = cortexm_requantize(sum, p->out_multiplier, p->out_shift);

            *out = (int8_t)cortexm_add_zero_point(value, p->out_zero_point, p->act_min, p->act_max);
            x += walk.a_step;
            y += walk.b_step;
        }
        cortexm_broadcast_next(&walk);
    }
}
