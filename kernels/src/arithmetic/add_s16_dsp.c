/* SPDX-License-Identifier: Apache-2.0 */
/* add, int16, DSP instructions. See kernels/README.md for the formula.
 *
 * SMMULR with 2^16 x is highmul(2^15 x, m), and with twice the sum that of the sum, which is below 2^30 as
 * operands are halved at least. */
#if !defined(__ARM_FEATURE_DSP)
#error "add_s16_dsp.c needs the DSP extension"
#endif

#include "common/box.h"
#include "common/names.h"
#include "common/wide_dsp.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"

/* rounding_shift(h, n) = floor((h - (h < 0) + 2^(n-1)) / 2^n) for n > 0, and h for n = 0. */
typedef struct {
    int32_t multiplier;
    int32_t n;
    int32_t half;          /* 2^(n-1), or 0 */
    int32_t negative_mask; /* -1, or 0 for n = 0 */
} operand_t;

static operand_t operand(int32_t multiplier, int32_t shift)
{
    const operand_t result = {multiplier, -shift, shift == 0 ? 0 : INT32_C(1) << (-shift - 1),
                              shift == 0 ? 0 : -1};

    return result;
}

static inline int32_t rescale(int32_t code, operand_t o)
{
    const int32_t high = cortexm_smmulr(cortexm_shift_left(code, 16), o.multiplier);

    return (high + ((high >> 31) & o.negative_mask) + o.half) >> o.n;
}

void cortexm_add_s16_dsp(const cortexm_add_s16_t *params, const int16_t *a, const int16_t *b,
                         int16_t *out)
{
    const cortexm_add_s16_t *const p = params;
    const operand_t of_a = operand(p->a_multiplier, p->a_shift);
    const operand_t of_b = operand(p->b_multiplier, p->b_shift);
    const int32_t of_sum = p->out_multiplier;
    const int32_t n_minus_one = -1 - p->out_shift;
    int16_t *const results = out;
    cortexm_broadcast_t walk = cortexm_broadcast(p->count, p->a_period, p->b_period);

    CORTEXM_ASSERT(p->a_shift <= 0 && p->b_shift <= 0 && p->out_shift < 0);
    while (walk.run > 0) {
        const int16_t *x = a + walk.a;
        const int16_t *y = b + walk.b;
        int16_t *const end = out + walk.run;

        for (; out != end; ++out) {
            const int32_t sum = rescale(*x, of_a) + rescale(*y, of_b);
            const int32_t high = cortexm_smmulr(2 * sum, of_sum);
            int32_t value = (((high + (high >> 31)) >> n_minus_one) + 1) >> 1;

            __asm__("ssat %0, #16, %1" : "=r"(value) : "r"(value));
            *out = (int16_t)value;
            x += walk.a_step;
            y += walk.b_step;
        }
        cortexm_broadcast_next(&walk);
    }
    cortexm_clamp_wide(results, p->count, p->act_min, p->act_max);
}
