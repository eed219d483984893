/* SPDX-License-Identifier: Apache-2.0 */
/* add, int8, DSP instructions. See kernels/README.md for the formula. */
#if !defined(__ARM_FEATURE_DSP)
#error "add_s8_dsp.c needs the DSP extension"
#endif

#include "common/box.h"
#include "common/dsp.h"
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* Twice the raised operand: 2 * 2^20 * (code - zero point), below 2^30. */
#define RAISE 21

/* rounding_shift(h, n) = floor((h - (h < 0) + 2^(n-1)) / 2^n) for n > 0, and h for n = 0. */
typedef struct {
    int32_t raised_zero_point, multiplier;
    int32_t n;
    int32_t half;          /* 2^(n-1), or 0 */
    int32_t negative_mask; /* -1, or 0 for n = 0 */
} operand_t;

static operand_t operand(int32_t zero_point, int32_t multiplier, int32_t shift)
{
    const operand_t result = {cortexm_shift_left(zero_point, RAISE), multiplier, -shift,
                              shift == 0 ? 0 : INT32_C(1) << (-shift - 1), shift == 0 ? 0 : -1};

    return result;
}

static inline int32_t rescale(int32_t code, operand_t o)
{
    const int32_t high =
        cortexm_smmulr(cortexm_shift_left(code, RAISE) - o.raised_zero_point, o.multiplier);

    return (high + ((high >> 31) & o.negative_mask) + o.half) >> o.n;
}

void cortexm_add_s8_dsp(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b,
                        int8_t *out)
{
    const cortexm_add_s8_t *const p = params;
    const operand_t of_a = operand(p->a_zero_point, p->a_multiplier, p->a_shift);
    const operand_t of_b = operand(p->b_zero_point, p->b_multiplier, p->b_shift);
    const int32_t multiplier = p->out_multiplier;
    const int32_t n_minus_one = -1 - p->out_shift;
    const int32_t zero_point = 2 * p->out_zero_point + 1;
    int8_t *const results = out;
    cortexm_broadcast_t walk = cortexm_broadcast(p->count, p->a_period, p->b_period);

    CORTEXM_ASSERT(p->a_shift <= 0 && p->b_shift <= 0 && p->out_shift < 0);
    while (walk.run > 0) {
        const int8_t *x = a + walk.a;
        const int8_t *y = b + walk.b;
        int8_t *const end = out + walk.run;

        for (; out != end; ++out) {
            const int32_t sum = rescale(*x, of_a) + rescale(*y, of_b);

            *out = (int8_t)cortexm_narrow_code(2 * sum, multiplier, n_minus_one, zero_point);
            x += walk.a_step;
            y += walk.b_step;
        }
        cortexm_broadcast_next(&walk);
    }
    cortexm_clamp_codes(results, p->count, p->act_min, p->act_max);
}
