/* SPDX-License-Identifier: Apache-2.0 */
/* softmax, int8, portable C. See kernels/README.md for the formula and its number formats. */
#include "common/names.h"
#include "cortexm/assert.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/*
 * exp and 1/x in fixed point. The algorithm and the formats are gemmlowp's (Jacob et al., 2018), as
 * TFLM and CMSIS-NN use them; each constant is derived next to it.
 *
 * Qn is an integer that counts units of 2^-n.
 */

/* Exponentials are Q31; their sum is Q19, which leaves 12 bits for the number of terms. */
#define CORTEXM_SUM_SHIFT 12

/* exp(x) in Q31 for x <= 0 in Q26.
 *
 * x = r - m/4 with r in [-1/4, 0) and a whole m. Around -1/8, exp(r) = exp(-1/8) * exp(t) with
 * t = r + 1/8, and exp(t) = 1 + t + (t^2 + (t^3 + t^4/4) / 3) / 2, the terms up to the fourth. Each
 * set bit k of m then multiplies by exp(-2^k / 4). */
static inline int32_t cortexm_exp_on_negative(int32_t x)
{
    static const int32_t factor[7] = {
        1672461947, /* exp(-1/4) * 2^31 */
        1302514674, /* exp(-1/2) * 2^31 */
        790015084,  /* exp(-1) * 2^31 */
        290630308,  /* exp(-2) * 2^31 */
        39332535,   /* exp(-4) * 2^31 */
        720401,     /* exp(-8) * 2^31 */
        242,        /* exp(-16) * 2^31 */
    };
    const int32_t exp_minus_eighth = 1895147668; /* exp(-1/8) * 2^31 */
    const int32_t third = 715827883;             /* 1/3 * 2^31 */
    const int32_t quarter = INT32_C(1) << 24;    /* Q26 */
    const int32_t r = (x & (quarter - 1)) - quarter;
    const int32_t t = cortexm_shift_left(r, 5) + (INT32_C(1) << 28); /* Q31 */
    const int32_t t2 = cortexm_high_mul(t, t);
    const int32_t t3 = cortexm_high_mul(t2, t);
    const int32_t t4 = cortexm_high_mul(t2, t2);
    const int32_t cubic = cortexm_high_mul(cortexm_rounding_shift(t4, 2) + t3, third);
    const int32_t series = t + cortexm_rounding_shift(cubic + t2, 1);
    int32_t result = exp_minus_eighth + cortexm_high_mul(exp_minus_eighth, series);
    uint32_t m = ((uint32_t)(r - x) >> 24) & 127u;

    if (x == 0) {
        return INT32_MAX; /* 1, as far as Q31 goes; the split above has no r for it */
    }
    for (const int32_t *f = factor; m != 0u; m >>= 1, ++f) {
        if ((m & 1u) != 0u) {
            result = cortexm_high_mul(result, *f);
        }
    }
    return result;
}

/* value * 2^n, saturated to 32 bits; n is 1 or 2. */
static inline int32_t cortexm_saturating_shift_left(int32_t value, int32_t n)
{
    const int32_t limit = INT32_C(1) << (31 - n);

    if (value >= limit) {
        return INT32_MAX;
    }
    return value < -limit ? INT32_MIN : cortexm_shift_left(value, n);
}

/* 1 / (1 + x) in Q31 for x in [0, 1) in Q31.
 *
 * Newton's iteration y += y * (1 - d * y) for 1/d with d = (1 + x) / 2 in [1/2, 1), on y in Q29,
 * from the linear estimate 48/17 - 32/17 * d, which is the best on that interval. The result is
 * y/2. */
static inline int32_t cortexm_one_over_one_plus(int32_t x)
{
    const int32_t d = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    int32_t y = 1515870810 + cortexm_high_mul(d, -1010580540); /* 48/17 and -32/17 in Q29 */

    for (int i = 0; i < 3; ++i) {
        const int32_t error = (INT32_C(1) << 29) - cortexm_high_mul(d, y);

        y += cortexm_saturating_shift_left(cortexm_high_mul(y, error), 2);
    }
    return cortexm_saturating_shift_left(y, 1);
}

/* 256 / sum as fraction * 2^-shift, for exponentials in Q31 and their sum in Q19: the product of
 * fraction and exponential in Q31, divided by 2^shift, is the code above -128. */
typedef struct {
    int32_t fraction; /* Q31 */
    int32_t shift;    /* 23 to 35 */
} cortexm_reciprocal_t;

/* sum is not 0. */
static inline cortexm_reciprocal_t cortexm_reciprocal(uint32_t sum)
{
    cortexm_reciprocal_t result = {0, CORTEXM_SUM_SHIFT + 23};

    /* sum = (1 + x) * 2^(31 - leading zeros): drop the leading one, x is the rest. */
    while ((sum & UINT32_C(0x80000000)) == 0u) {
        sum <<= 1;
        --result.shift;
    }
    result.fraction = cortexm_one_over_one_plus((int32_t)(sum & UINT32_C(0x7fffffff)));
    return result;
}

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
