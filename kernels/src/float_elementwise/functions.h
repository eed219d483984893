/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the element-wise float kernels compute, once for the kernels and their references. x is the
 * element, p the parameter block. Written so that a NaN stays a NaN; a comment says where not.
 *
 * Functions of the C library differ between libraries in the last bit; all others are exact.
 */
#ifndef CORTEXM_FLOAT_FUNCTIONS_H
#define CORTEXM_FLOAT_FUNCTIONS_H

#include <math.h>
#include <stdint.h>

/* sqrt(1/2), sqrt(2/pi) and the coefficient of the cubic term in gelu's tanh form (Hendrycks and
 * Gimpel, Gaussian Error Linear Units). */
#define CORTEXM_SQRT_HALF 0.70710678118654752440f
#define CORTEXM_SQRT_2_OVER_PI 0.79788456080286535588f
#define CORTEXM_GELU_CUBIC 0.044715f

static inline float cortexm_clamp_float(float x, float low, float high)
{
    const float above = x < low ? low : x;

    return above > high ? high : above;
}

/* 1 / (1 + e^-x) */
static inline float cortexm_sigmoid_float(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static inline float cortexm_gelu_tanh_float(float x)
{
    return 0.5f * x *
           (1.0f + tanhf(CORTEXM_SQRT_2_OVER_PI * (x + CORTEXM_GELU_CUBIC * (x * x * x))));
}

/* The remainder with the sign of the divisor. fmodf is exact. */
static inline float cortexm_remainder_float(float a, float b)
{
    const float rest = fmodf(a, b);

    return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

static inline float cortexm_trunc_divide_float(float a, float b)
{
    return truncf(a / b);
}

/* floor(a / b) of the exact quotient where that is a float: a less its remainder is a multiple of b,
 * so the division gives an integer up to rounding, which the last line removes. */
static inline float cortexm_floor_divide_float(float a, float b)
{
    const float rest = fmodf(a, b);
    float quotient = (a - rest) / b;
    float whole;

    if (b == 0.0f) {
        return a / b;
    }
    if (rest != 0.0f && (rest < 0.0f) != (b < 0.0f)) {
        quotient -= 1.0f;
    }
    whole = floorf(quotient);
    return quotient - whole > 0.5f ? whole + 1.0f : whole;
}

/* Divisions of integers, not by 0. The lowest number divided by -1 wraps, and leaves no remainder: `/`
 * and `%` have no result there. */
#define CORTEXM_INTEGER_DIVISIONS(name, type)                                                      \
    static inline type cortexm_trunc_divide_##name(type a, type b)                                 \
    {                                                                                              \
        return b == -1 ? 0 - a : a / b;                                                            \
    }                                                                                              \
                                                                                                   \
    static inline type cortexm_fmod_##name(type a, type b)                                         \
    {                                                                                              \
        return b == -1 ? 0 : a % b;                                                                \
    }                                                                                              \
                                                                                                   \
    static inline type cortexm_remainder_##name(type a, type b)                                    \
    {                                                                                              \
        const type rest = cortexm_fmod_##name(a, b);                                               \
                                                                                                   \
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;                               \
    }                                                                                              \
                                                                                                   \
    static inline type cortexm_floor_divide_##name(type a, type b)                                 \
    {                                                                                              \
        const type quotient = cortexm_trunc_divide_##name(a, b);                                   \
        const type rest = a - quotient * b;                                                        \
                                                                                                   \
        return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;                       \
    }

CORTEXM_INTEGER_DIVISIONS(s32, int32_t)
CORTEXM_INTEGER_DIVISIONS(s64, int64_t)

/* The function for x's type. */
#define CORTEXM_OF_TYPE(x, of_float, function)                                                     \
    _Generic((x), float: of_float, int32_t: function##_s32, int64_t: function##_s64)

/* Exact, or rounded once per operation. */
#define CORTEXM_abs(x, p) fabsf(x)
#define CORTEXM_ceil(x, p) ceilf(x)
#define CORTEXM_floor(x, p) floorf(x)
#define CORTEXM_hardsigmoid(x, p) (cortexm_clamp_float((x) + 3.0f, 0.0f, 6.0f) / 6.0f)
#define CORTEXM_hardswish(x, p) ((x) * cortexm_clamp_float((x) + 3.0f, 0.0f, 6.0f) / 6.0f)
#define CORTEXM_leaky_relu(x, p) ((x) > 0.0f ? (x) : (x) * (p)->alpha)
#define CORTEXM_neg(x, p) (-(x))
#define CORTEXM_reciprocal(x, p) (1.0f / (x))
#define CORTEXM_relu(x, p) ((x) < 0.0f ? 0.0f : (x))
#define CORTEXM_round(x, p) rintf(x) /* ties to even */
#define CORTEXM_rsqrt(x, p) (1.0f / sqrtf(x))
#define CORTEXM_sign(x, p) ((x) > 0.0f ? 1.0f : (x) < 0.0f ? -1.0f : (x) == 0.0f ? 0.0f : (x))
#define CORTEXM_sqrt(x, p) sqrtf(x)
#define CORTEXM_trunc(x, p) truncf(x)

/* Functions of the C library. */
#define CORTEXM_acos(x, p) acosf(x)
#define CORTEXM_acosh(x, p) acoshf(x)
#define CORTEXM_asin(x, p) asinf(x)
#define CORTEXM_asinh(x, p) asinhf(x)
#define CORTEXM_atan(x, p) atanf(x)
#define CORTEXM_atanh(x, p) atanhf(x)
#define CORTEXM_cos(x, p) cosf(x)
#define CORTEXM_cosh(x, p) coshf(x)
#define CORTEXM_elu(x, p)                                                                          \
    ((x) < 0.0f ? expm1f((x) * (p)->input_scale) * ((p)->alpha * (p)->scale) : (x) * (p)->scale)
#define CORTEXM_erf(x, p) erff(x)
#define CORTEXM_exp(x, p) expf(x)
#define CORTEXM_expm1(x, p) expm1f(x)
#define CORTEXM_gelu(x, p) (0.5f * (x) * (1.0f + erff((x) * CORTEXM_SQRT_HALF)))
#define CORTEXM_gelu_tanh(x, p) cortexm_gelu_tanh_float(x)
#define CORTEXM_log(x, p) logf(x)
#define CORTEXM_log10(x, p) log10f(x)
#define CORTEXM_log1p(x, p) log1pf(x)
#define CORTEXM_log2(x, p) log2f(x)
#define CORTEXM_sigmoid(x, p) cortexm_sigmoid_float(x)
#define CORTEXM_silu(x, p) ((x) / (1.0f + expf(-(x))))
#define CORTEXM_sin(x, p) sinf(x)
#define CORTEXM_sinh(x, p) sinhf(x)
#define CORTEXM_tan(x, p) tanf(x)
#define CORTEXM_tanh(x, p) tanhf(x)

/* Of two operands; integers wrap. */
#define CORTEXM_add(a, b) ((a) + (b))
#define CORTEXM_sub(a, b) ((a) - (b))
#define CORTEXM_mul(a, b) ((a) * (b))
#define CORTEXM_div(a, b) ((a) / (b))
/* A NaN wins; for integers the second test is constant. */
#define CORTEXM_minimum(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define CORTEXM_maximum(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define CORTEXM_fmod(a, b) CORTEXM_OF_TYPE(a, fmodf, cortexm_fmod)(a, b)
#define CORTEXM_remainder(a, b) CORTEXM_OF_TYPE(a, cortexm_remainder_float, cortexm_remainder)(a, b)
#define CORTEXM_floor_divide(a, b)                                                                 \
    CORTEXM_OF_TYPE(a, cortexm_floor_divide_float, cortexm_floor_divide)(a, b)
#define CORTEXM_trunc_divide(a, b)                                                                 \
    CORTEXM_OF_TYPE(a, cortexm_trunc_divide_float, cortexm_trunc_divide)(a, b)
#define CORTEXM_pow(a, b) powf(a, b)
#define CORTEXM_atan2(a, b) atan2f(a, b)

#endif
