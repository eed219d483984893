/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

/* exp(x / 2^26) * 2^31 for x <= 0: x = r - quarters / 4 with r in [-1/4, 0), a Taylor polynomial of
 * exp around -1/8, and a factor exp(-2^bit / 4) for every bit of quarters. */
static int64_t exp_q31(int64_t x)
{
    static const int64_t factors[7] = {1672461947, 1302514674, 790015084, 290630308,
                                       39332535,   720401,     242};
    const int64_t quarter = ref_power_of_two(24);
    const int64_t r = x - ref_floor_div(x, quarter) * quarter - quarter;
    const int64_t quarters = (r - x) / quarter;
    int64_t t = r * 32 + ref_power_of_two(28); /* r + 1/8 in Q31 */
    int64_t t2, t3, t4, result;

    if (x == 0) {
        return INT32_MAX;
    }
    t2 = ref_high_mul(t, t);
    t3 = ref_high_mul(t2, t);
    t4 = ref_high_mul(t2, t2);
    t += ref_round_div(ref_high_mul(ref_round_div(t4, 4) + t3, 715827883) + t2, 2);
    result = 1895147668 + ref_high_mul(t, 1895147668);
    for (int bit = 0; bit < 7; ++bit) {
        if ((quarters >> bit) % 2 != 0) {
            result = ref_high_mul(result, factors[bit]);
        }
    }
    return result;
}

/* 2^31 / (1 + x / 2^31) by Newton's method on half the denominator, in Q29 */
static int64_t reciprocal_q31(int64_t x)
{
    const int64_t half = (x + ref_power_of_two(31)) / 2;
    int64_t y = 1515870810 + ref_high_mul(half, -1010580540);

    for (int i = 0; i < 3; ++i) {
        const int64_t step = ref_high_mul(y, ref_power_of_two(29) - ref_high_mul(half, y));

        y += ref_clamp(step * 4, INT32_MIN, INT32_MAX);
    }
    return ref_clamp(y * 2, INT32_MIN, INT32_MAX);
}

void cortexm_softmax_s8_ref(const cortexm_softmax_s8_t *p, const int8_t *in, int8_t *out)
{
    for (int o = 0; o < p->outer; ++o)
    for (int i = 0; i < p->inner; ++i) {
        const int first = o * p->size * p->inner + i;
        int largest = INT8_MIN;
        int64_t sum = 0; /* Q19 */
        int leading_zeros = 0;
        int64_t reciprocal;

        for (int k = 0; k < p->size; ++k) {
            largest = in[first + k * p->inner] > largest ? in[first + k * p->inner] : largest;
        }
        for (int k = 0; k < p->size; ++k) {
            const int64_t diff = in[first + k * p->inner] - largest;
            const int64_t scaled =
                ref_high_mul(ref_wrap32(diff * ref_power_of_two(p->shift)), p->multiplier);

            sum += diff >= p->diff_min ? ref_round_div(exp_q31(scaled), 4096) : 0;
        }
        while (sum * ref_power_of_two(leading_zeros) < ref_power_of_two(31)) {
            ++leading_zeros;
        }
        reciprocal = reciprocal_q31(sum * ref_power_of_two(leading_zeros) - ref_power_of_two(31));
        for (int k = 0; k < p->size; ++k) {
            const int64_t diff = in[first + k * p->inner] - largest;
            const int64_t scaled =
                ref_high_mul(ref_wrap32(diff * ref_power_of_two(p->shift)), p->multiplier);
            const int64_t code = ref_round_div(ref_high_mul(reciprocal, exp_q31(scaled)),
                                               ref_power_of_two(35 - leading_zeros));

            out[first + k * p->inner] =
                (int8_t)(diff >= p->diff_min ? ref_clamp(code - 128, -128, 127) : -128);
        }
    }
}
