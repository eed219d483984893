/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>

#include "ref.h"

void cortexm_activation_s8_ref(const cortexm_activation_s8_t *p, const int8_t *in,
                               const int8_t *table, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        out[i] = table[in[i] + 128];
    }
}

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

/* By the exponential of every difference in Q32: exponential(p, table, diff). */
static int64_t computed(const cortexm_softmax_s8_t *p, const int32_t *table, int diff)
{
    (void)table;
    return diff < p->diff_min
               ? 0
               : 2 * exp_q31(ref_high_mul(ref_wrap32(diff * ref_power_of_two(p->shift)),
                                          p->multiplier));
}

static int64_t looked_up(const cortexm_softmax_s8_t *p, const int32_t *table, int diff)
{
    (void)p;
    return 2 * (int64_t)table[255 + diff];
}

static void softmax_s8(const cortexm_softmax_s8_t *p, const int8_t *in, const int32_t *table,
                       int64_t exponential(const cortexm_softmax_s8_t *, const int32_t *, int),
                       int8_t *out)
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
            sum += ref_round_div(exponential(p, table, in[first + k * p->inner] - largest), 8192);
        }
        while (sum * ref_power_of_two(leading_zeros) < ref_power_of_two(31)) {
            ++leading_zeros;
        }
        reciprocal = reciprocal_q31(sum * ref_power_of_two(leading_zeros) - ref_power_of_two(31));
        for (int k = 0; k < p->size; ++k) {
            const int64_t e = exponential(p, table, in[first + k * p->inner] - largest);
            const int64_t product =
                ref_floor_div(reciprocal * e + ref_power_of_two(31), ref_power_of_two(32));
            const int64_t share = ref_round_div(product, ref_power_of_two(35 - leading_zeros));

            out[first + k * p->inner] = (int8_t)ref_clamp(share - 128, -128, 127);
        }
    }
}

void cortexm_softmax_s8_ref(const cortexm_softmax_s8_t *p, const int8_t *in, int8_t *out)
{
    softmax_s8(p, in, NULL, computed, out);
}

#define BY_TABLE(op)                                                                               \
    CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_##op##_s8_ref)                                        \
    {                                                                                              \
        softmax_s8(params, in, table, looked_up, out);                                             \
    }

BY_TABLE(table)
BY_TABLE(columns)

void cortexm_activation_s16_ref(const cortexm_activation_s16_t *p, const int16_t *in,
                                const int16_t *table, int16_t *out)
{
    const int64_t width = ref_power_of_two(p->bits); /* codes from entry to entry */

    for (int i = 0; i < p->count; ++i) {
        const int64_t position = in[i] + 32768;
        const int16_t *const entry = table + position / width;
        const int64_t rise = (entry[1] - entry[0]) * (position % width);

        out[i] = (int16_t)(entry[0] + ref_floor_div(rise + width / 2, width));
    }
}

/* round(2^31 * 2^(-i / 256)) for i in [0, 256] */
static int64_t power_q31(int64_t i)
{
    static int64_t powers[257];

    if (powers[i] == 0) {
        powers[i] = (int64_t)floor(exp2(31.0 - (double)i / 256.0) + 0.5);
    }
    return powers[i];
}

/* 2^(-distance * multiplier / 2^32) in Q31. With the exponent's fraction in 24 bits, the upper 8 choose
 * neighbours among 257 powers, whose difference, without its last seven bits, the lower 16 divide. */
static int64_t share_q31(int64_t distance, uint32_t multiplier)
{
    const int64_t exponent = distance * multiplier / ref_power_of_two(8);
    const int64_t whole = exponent / ref_power_of_two(24);
    const int64_t i = exponent / ref_power_of_two(16) % 256;
    const int64_t fraction = exponent % ref_power_of_two(16);
    const int64_t step = (power_q31(i) - power_q31(i + 1)) / 128;

    return whole > 31 ? 0 : (power_q31(i) - step * fraction / 512) / ref_power_of_two((int)whole);
}

void cortexm_softmax_s16_ref(const cortexm_softmax_s16_t *p, const int16_t *in, int16_t *out)
{
    for (int o = 0; o < p->outer; ++o)
    for (int i = 0; i < p->inner; ++i) {
        const int first = o * p->size * p->inner + i;
        int largest = INT16_MIN;
        int64_t sum = 0;
        int drop = 0; /* bits of the sum beyond 32 */

        for (int k = 0; k < p->size; ++k) {
            largest = in[first + k * p->inner] > largest ? in[first + k * p->inner] : largest;
        }
        for (int k = 0; k < p->size; ++k) {
            sum += share_q31(largest - in[first + k * p->inner], p->multiplier);
        }
        while (sum / ref_power_of_two(drop) >= ref_power_of_two(32)) {
            ++drop;
        }
        for (int k = 0; k < p->size; ++k) {
            const uint64_t share =
                (uint64_t)share_q31(largest - in[first + k * p->inner], p->multiplier);
            const uint64_t reciprocal =
                (uint64_t)ref_power_of_two(62) / (uint64_t)(sum / ref_power_of_two(drop));
            const uint64_t unit = (uint64_t)1 << (47 + drop);

            out[first + k * p->inner] =
                (int16_t)ref_clamp((int64_t)((share * reciprocal + unit / 2) / unit), 0, INT16_MAX);
        }
    }
}

static int64_t between_entries(const int16_t *table, int64_t code)
{
    const int64_t place = ref_clamp(code, INT16_MIN, INT16_MAX) + 32768, first = table[place / 128];

    return first + ref_floor_div((table[place / 128 + 1] - first) * (place % 128) + 64, 128);
}

CORTEXM_SOFTMAX_INTERPOLATED_S16(cortexm_softmax_interpolated_s16_ref)
{
    for (int o = 0; o < params->outer * params->inner; ++o) {
        const int step = params->inner;
        const int first = o / step * params->size * step + o % step;
        const int end = first + params->size * step;
        int64_t largest = INT16_MIN, sum = 0, unit = 1;

        for (int k = first; k < end; k += step) {
            largest = in[k] > largest ? in[k] : largest;
        }
        for (int k = first; k < end; k += step) {
            const int64_t x = ref_requantize(in[k] - largest, params->multiplier, params->shift);

            out[k] = (int16_t)between_entries(table, x + 32767);
            sum += out[k];
        }
        while (2 * unit <= sum) {
            unit *= 2;
        }
        sum = ref_floor_div(sum * 65536 * 2 + unit, 2 * unit) - 65536;
        for (int k = first; k < end; k += step) {
            const int64_t share = out[k] * between_entries(table + 513, sum - 32768);

            out[k] = (int16_t)ref_clamp(ref_floor_div(2 * share + unit, 2 * unit), 0, INT16_MAX);
        }
    }
}

CORTEXM_SIGMOID_S16(cortexm_sigmoid_s16_ref)
{
    for (int i = 0; i < params->count; ++i) {
        const int64_t unit = ref_power_of_two(params->shift);
        const int64_t x = ref_floor_div(2 * in[i] * params->multiplier + unit, 2 * unit);

        out[i] = (int16_t)ref_between(table, x, params->is_tanh);
    }
}

CORTEXM_SOFTMAX_S16(cortexm_softmax_columns_s16_ref)
{
    cortexm_softmax_s16_ref(params, in, out);
}

#define SOFTMAX(op, LOG)                                                                           \
    CORTEXM_SOFTMAX_F32(cortexm_##op##_f32_ref)                                                    \
    {                                                                                              \
        for (int i = 0; i < params->outer * params->inner; ++i) {                                  \
            const int inner = params->inner;                                                       \
            const int first = i / inner * params->size * inner + i % inner;                        \
            float largest = -INFINITY;                                                             \
            float sum = 0.0f;                                                                      \
                                                                                                   \
            for (int k = 0; k < params->size; ++k) {                                               \
                largest = fmaxf(largest, in[first + k * inner]);                                   \
            }                                                                                      \
            for (int k = 0; k < params->size; ++k) {                                               \
                sum += expf(in[first + k * inner] - largest);                                      \
            }                                                                                      \
            for (int k = 0; k < params->size; ++k) {                                               \
                const float x = in[first + k * inner] - largest;                                   \
                                                                                                   \
                out[first + k * inner] = LOG ? x - logf(sum) : expf(x) / sum;                      \
            }                                                                                      \
        }                                                                                          \
    }

SOFTMAX(softmax, 0)
SOFTMAX(log_softmax, 1)

#define CLAMP(types, type, params_type)                                                            \
    void cortexm_clamp_##types##_ref(const params_type *params, const type *in, type *out)         \
    {                                                                                              \
        for (int i = 0; i < params->count; ++i) {                                                  \
            out[i] = in[i];                                                                        \
            if (out[i] < params->low) {                                                            \
                out[i] = (type)params->low;                                                        \
            }                                                                                      \
            if (out[i] > params->high) {                                                           \
                out[i] = (type)params->high;                                                       \
            }                                                                                      \
        }                                                                                          \
    }

CLAMP(f32, float, cortexm_clamp_f32_t)
CLAMP(s8, int8_t, cortexm_clamp_t)
CLAMP(s16, int16_t, cortexm_clamp_t)
CLAMP(s32, int32_t, cortexm_clamp_t)
CLAMP(s64, int64_t, cortexm_clamp_t)
CLAMP(u8, uint8_t, cortexm_clamp_t)

/*
 * Functions of every float x, in double and rounded once. What the kernels' documentation calls
 * exact rounds after every operation: FLOAT() does that here, which for a sum, product, quotient or
 * square root of floats gives what the operation on floats would give.
 */
#define FLOAT(value) ((double)(float)(value))

#define UNARY(op, VALUE)                                                                           \
    void cortexm_##op##_f32_ref(const cortexm_unary_f32_t *p, const float *in, float *out)         \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const double x = in[i];                                                                \
                                                                                                   \
            out[i] = (float)(VALUE);                                                               \
        }                                                                                          \
    }

static double within(double x, double low, double high)
{
    return isnan(x) ? x : fmin(fmax(x, low), high);
}

UNARY(abs, fabs(x))
UNARY(ceil, ceil(x))
UNARY(floor, floor(x))
UNARY(hardsigmoid, within(FLOAT(x + 3.0), 0.0, 6.0) / 6.0)
UNARY(hardswish, FLOAT(x * within(FLOAT(x + 3.0), 0.0, 6.0)) / 6.0)
UNARY(leaky_relu, x > 0.0 ? x : x * p->alpha)
UNARY(neg, -x)
UNARY(reciprocal, 1.0 / x)
UNARY(relu, x < 0.0 ? 0.0 : x)
UNARY(round, rint(x))
UNARY(rsqrt, 1.0 / FLOAT(sqrt(x)))
UNARY(sign, isnan(x) ? x : (x > 0.0) - (x < 0.0))
UNARY(sqrt, sqrt(x))
UNARY(trunc, trunc(x))

UNARY(acos, acos(x))
UNARY(acosh, acosh(x))
UNARY(asin, asin(x))
UNARY(asinh, asinh(x))
UNARY(atan, atan(x))
UNARY(atanh, atanh(x))
UNARY(cos, cos(x))
UNARY(cosh, cosh(x))
UNARY(elu, (x > 0.0 ? x : (exp(x * p->input_scale) - 1.0) * p->alpha) * p->scale)
UNARY(erf, erf(x))
UNARY(exp, exp(x))
UNARY(expm1, expm1(x))
UNARY(gelu, x * 0.5 * erfc(-x * sqrt(0.5)))
UNARY(gelu_tanh, x / (1.0 + exp(-2.0 * sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x))))
UNARY(log, log(x))
UNARY(log10, log10(x))
UNARY(log1p, log1p(x))
UNARY(log2, log2(x))
UNARY(sigmoid, 1.0 / (1.0 + exp(-x)))
UNARY(silu, x / (1.0 + exp(-x)))
UNARY(sin, sin(x))
UNARY(sinh, sinh(x))
UNARY(tan, tan(x))
UNARY(tanh, tanh(x))
