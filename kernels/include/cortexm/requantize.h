/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integer arithmetic of the kernels; docs/numerics.md states it and names its sources.
 *
 * A right shift of a negative value is arithmetic and int32_t wraps (the library is compiled with
 * -fwrapv), as on every compiler for these cores.
 */
#ifndef CORTEXM_REQUANTIZE_H
#define CORTEXM_REQUANTIZE_H

#include <stdint.h>

static inline int32_t cortexm_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t cortexm_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t cortexm_clamp(int32_t value, int32_t low, int32_t high)
{
    return cortexm_min(cortexm_max(value, low), high);
}

/* value * 2^n modulo 2^32; n in [0, 31]. */
static inline int32_t cortexm_shift_left(int32_t value, int32_t n)
{
    return (int32_t)((uint32_t)value << n);
}

/* floor((a * b + 2^30) / 2^31): the product of two Q31 numbers, ties up. Not for a = b = -2^31. */
static inline int32_t cortexm_high_mul_wide(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

/* The same for a core that multiplies to 32 bits only. With a = 2^16 * ah + al, al >= 0, and b
 * likewise, a * b = 2^32 * ah * bh + 2^16 * (ah * bl + al * bh) + al * bl. No sum below overflows:
 * |ah * bl| <= 2^15 * (2^16 - 1) leaves room for the carry of al * bl, and after its upper half has
 * gone to the result, what is left of it, below 2^16, and 2^14, the rounding in units of 2^16, fit
 * on top of |al * bh| <= 2^15 * (2^16 - 1). */
static inline int32_t cortexm_high_mul_narrow(int32_t a, int32_t b)
{
    const int32_t ah = a >> 16;
    const int32_t bh = b >> 16;
    const uint32_t al = (uint32_t)a & 0xffffu;
    const uint32_t bl = (uint32_t)b & 0xffffu;
    const int32_t first = ah * (int32_t)bl + (int32_t)((al * bl) >> 16);
    const int32_t second = (int32_t)al * bh + (int32_t)((uint32_t)first & 0xffffu);

    return cortexm_shift_left(ah * bh + (first >> 16), 1) + ((second + (1 << 14)) >> 15);
}

/* Whoever includes this says which: kernels by their instruction set (common/stamp.h). */
#ifndef CORTEXM_HIGH_MUL
#define CORTEXM_HIGH_MUL cortexm_high_mul_wide
#endif

static inline int32_t cortexm_high_mul(int32_t a, int32_t b)
{
    return CORTEXM_HIGH_MUL(a, b);
}

/* value / 2^n, ties away from zero; n in [0, 31], value > -2^31.
 * Lowering negative values by one turns "ties away from zero" into "ties up", which is the floor
 * plus the last bit that the shift drops. No intermediate value can overflow. */
static inline int32_t cortexm_rounding_shift(int32_t value, int32_t n)
{
    const int32_t ties_up = value - (value < 0);

    if (n <= 0) {
        return value;
    }
    return (ties_up >> n) + ((ties_up >> (n - 1)) & 1);
}

/* value * multiplier / 2^31 * 2^shift, rounded after the product and again after a right shift;
 * a left shift comes first and wraps. multiplier in [0, 2^31), shift in [-31, 30]. */
static inline int32_t cortexm_requantize(int32_t value, int32_t multiplier, int32_t shift)
{
    if (shift >= 0) {
        return cortexm_high_mul(cortexm_shift_left(value, shift), multiplier);
    }
    return cortexm_rounding_shift(cortexm_high_mul(value, multiplier), -shift);
}

/* clamp(value + zero_point, low, high). Clamps first, so that the sum cannot wrap. */
static inline int32_t cortexm_add_zero_point(int32_t value, int32_t zero_point, int32_t low,
                                             int32_t high)
{
    return cortexm_clamp(value, low - zero_point, high - zero_point) + zero_point;
}

#endif
