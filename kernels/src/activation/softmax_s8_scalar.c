/* SPDX-License-Identifier: Apache-2.0 */
/* softmax, int8, portable C. See README.md for the formula and its number formats. */
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "softmax_fixed_point.h"

/* A sum of up to 2^13 - 1 exponentials in Q19 fits into 32 bits. */
#define MAX_SIZE 8191

static int32_t exponential(const cortexm_softmax_s8_t *p, int32_t diff)
{
    return cortexm_exp_on_negative(
        cortexm_high_mul(cortexm_shift_left(diff, p->shift), p->multiplier));
}

/* One column: `size` elements, `inner` apart. The exponentials are computed twice, for the sum and
 * for the results: keeping them would cost four bytes of RAM per element. */
static void column(const cortexm_softmax_s8_t *p, const int8_t *in, int8_t *out)
{
    const int32_t step = p->inner;
    const int32_t end = p->size * step;
    int32_t largest = INT8_MIN;
    uint32_t sum = 0;
    cortexm_reciprocal_t scale;

    for (int32_t i = 0; i < end; i += step) {
        largest = cortexm_max(largest, in[i]);
    }
    for (int32_t i = 0; i < end; i += step) {
        const int32_t diff = in[i] - largest;

        if (diff >= p->diff_min) {
            sum += (uint32_t)cortexm_rounding_shift(exponential(p, diff), CORTEXM_SUM_SHIFT);
        }
    }
    scale = cortexm_reciprocal(sum);
    for (int32_t i = 0; i < end; i += step) {
        const int32_t diff = in[i] - largest;
        int32_t value = INT8_MIN;

        if (diff >= p->diff_min && scale.shift <= 31) {
            value += cortexm_rounding_shift(
                cortexm_high_mul(scale.fraction, exponential(p, diff)), scale.shift);
        }
        out[i] = (int8_t)cortexm_min(value, INT8_MAX);
    }
}

void cortexm_softmax_s8_scalar(const cortexm_softmax_s8_t *params, const int8_t *in, int8_t *out)
{
    const cortexm_softmax_s8_t *const p = params;

    CORTEXM_ASSERT(p->size > 0 && p->size <= MAX_SIZE);
    CORTEXM_ASSERT(p->shift >= 0 && p->shift <= 31 && p->diff_min <= 0);

    for (int32_t outer = 0; outer < p->outer; ++outer) {
        for (int32_t inner = 0; inner < p->inner; ++inner) {
            column(p, in + inner, out + inner);
        }
        in += p->size * p->inner;
        out += p->size * p->inner;
    }
}
