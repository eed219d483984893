/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DSP instructions that the _dsp kernels use, and the arithmetic made of them. A pair is two
 * signed 16-bit values in one word, the first in the lower half.
 */
#ifndef CORTEXM_COMMON_DSP_H
#define CORTEXM_COMMON_DSP_H

#include <stdint.h>
#include <string.h>

#include "cortexm/requantize.h"

/* Scratch and packed weights are read as words, whatever was written there. */
typedef uint32_t __attribute__((may_alias)) cortexm_word_t;

/* Four codes from any address. */
static inline uint32_t cortexm_load4(const int8_t *codes)
{
    uint32_t word;

    memcpy(&word, codes, sizeof word);
    return word;
}

/* Bytes 0 and 2, and bytes 1 and 3, as a pair. */
static inline uint32_t cortexm_sxtb16(uint32_t bytes)
{
    uint32_t pair;

    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
    return pair;
}

static inline uint32_t cortexm_sxtb16_ror8(uint32_t bytes)
{
    uint32_t pair;

    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
    return pair;
}

/* The lower halves, and the upper halves, of two pairs. */
static inline uint32_t cortexm_lower_halves(uint32_t first, uint32_t second)
{
    uint32_t pair;

    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(first), "r"(second));
    return pair;
}

static inline uint32_t cortexm_upper_halves(uint32_t first, uint32_t second)
{
    uint32_t pair;

    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(pair) : "r"(second), "r"(first));
    return pair;
}

/* sum + product of the first halves + product of the second halves; wraps. */
static inline int32_t cortexm_smlad(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;

    __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* sum + product of the lower, or of the upper, halves. */
static inline int32_t cortexm_smlabb(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;

    __asm__("smlabb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

static inline int32_t cortexm_smlatt(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t result;

    __asm__("smlatt %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* floor((a * b + 2^31) / 2^32) */
static inline int32_t cortexm_smmulr(int32_t a, int32_t b)
{
    int32_t result;

    __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

/* How the results of one call become codes. */
typedef struct {
    int32_t twice_zero_point_plus_one;
    int32_t low, high;
    int32_t is_full; /* low and high are the ends of int8 */
} cortexm_narrow_out_t;

static inline cortexm_narrow_out_t cortexm_narrow_out(int32_t zero_point, int32_t low, int32_t high)
{
    const cortexm_narrow_out_t out = {2 * zero_point + 1, low, high,
                                      low == INT8_MIN && high == INT8_MAX};

    return out;
}

/* 2 * high_mul(value, multiplier) needs no 64-bit product where |value| < 2^30:
 * high_mul(v, m) = floor((v * m + 2^30) / 2^31) = floor((2v * m + 2^31) / 2^32). */
static inline int32_t cortexm_high_mul_narrow(int32_t value, int32_t multiplier)
{
    return cortexm_smmulr(value + value, multiplier);
}

/* cortexm_rounding_shift(value, n) + zero_point with |value| < 2^30 and n = n_minus_one + 1 >= 1.
 *
 * With t = value - (value < 0), rounding_shift is floor((t + 2^(n-1)) / 2^n), and for a whole z
 * floor((t + 2^(n-1)) / 2^n) + z = floor((floor(t / 2^(n-1)) + 1 + 2z) / 2). */
static inline int32_t cortexm_narrow_shift(int32_t value, int32_t n_minus_one,
                                           int32_t twice_zero_point_plus_one)
{
    return (((value + (value >> 31)) >> n_minus_one) + twice_zero_point_plus_one) >> 1;
}

/* The code of an accumulator with |value| < 2^30, for a shift in [-31, -1]. */
static inline int8_t cortexm_narrow_code(const cortexm_narrow_out_t *out, int32_t value,
                                         int32_t multiplier, int32_t n_minus_one)
{
    const int32_t code = cortexm_narrow_shift(cortexm_high_mul_narrow(value, multiplier),
                                              n_minus_one, out->twice_zero_point_plus_one);
    int32_t clamped;

    if (!out->is_full) {
        return (int8_t)cortexm_clamp(code, out->low, out->high);
    }
    __asm__("ssat %0, #8, %1" : "=r"(clamped) : "r"(code));
    return (int8_t)clamped;
}

#endif
