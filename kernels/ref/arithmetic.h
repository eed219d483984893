/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the references: mathematics on 64-bit integers, wrapped where int32_t would. It
 * shares nothing with cortexm/requantize.h, which it checks. */
#ifndef CORTEXM_REF_ARITHMETIC_H
#define CORTEXM_REF_ARITHMETIC_H

#include <stdint.h>

static inline int64_t ref_wrap32(int64_t value)
{
    return (int32_t)(uint32_t)(uint64_t)value;
}

static inline int64_t ref_power_of_two(int32_t n)
{
    return (int64_t)1 << n;
}

/* floor(a / b), b > 0 */
static inline int64_t ref_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* a / b to the nearest integer, ties away from zero; b > 0 */
static inline int64_t ref_round_div(int64_t a, int64_t b)
{
    const int64_t magnitude = a < 0 ? -a : a;
    const int64_t quotient = (2 * magnitude + b) / (2 * b);

    return a < 0 ? -quotient : quotient;
}

/* a * b / 2^31 to the nearest integer, ties up */
static inline int64_t ref_high_mul(int64_t a, int64_t b)
{
    return ref_floor_div(a * b + ref_power_of_two(30), ref_power_of_two(31));
}

static inline int64_t ref_requantize(int64_t value, int32_t multiplier, int32_t shift)
{
    const int64_t left = shift > 0 ? ref_power_of_two(shift) : 1;
    const int64_t right = shift < 0 ? ref_power_of_two(-shift) : 1;

    return ref_round_div(ref_high_mul(ref_wrap32(ref_wrap32(value) * left), multiplier), right);
}

static inline int64_t ref_clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
