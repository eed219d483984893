/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DSP instructions that the _dsp kernels use, and the arithmetic made of them. A pair is two
 * signed 16-bit values in one word, the first in the lower half.
 */
#ifndef CORTEXM_COMMON_DSP_H
#define CORTEXM_COMMON_DSP_H

#if !defined(__ARM_FEATURE_DSP)
#error "dsp kernels need the DSP extension"
#endif

/* As in mve.h: the assembly takes registers that GCC at -O0 keeps for itself. */
#if defined __GNUC__ && !defined __clang__ && !defined __OPTIMIZE__
#pragma GCC optimize("O1")
#endif

#include <stdint.h>
#include <string.h>

#include "cortexm/params.h"
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

/* Two codes of 16 bits from any address. */
static inline uint32_t cortexm_load2(const int16_t *codes)
{
    uint32_t pair;

    memcpy(&pair, codes, sizeof pair);
    return pair;
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

/* The lower half of one word and the upper half of another. */
static inline uint32_t cortexm_halves(uint32_t lower, uint32_t upper)
{
    uint32_t pair;

    __asm__("pkhbt %0, %1, %2" : "=r"(pair) : "r"(lower), "r"(upper));
    return pair;
}

/* Bytes 0 and 2, zero-extended. */
static inline uint32_t cortexm_uxtb16(uint32_t bytes)
{
    uint32_t pair;

    __asm__("uxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
    return pair;
}

/* The sums of the lower and of the upper halves; they wrap. */
static inline uint32_t cortexm_sadd16(uint32_t a, uint32_t b)
{
    uint32_t pair;

    __asm__("sadd16 %0, %1, %2" : "=r"(pair) : "r"(a), "r"(b));
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

/* floor((a * b + 2^31) / 2^32) */
static inline int32_t cortexm_smmulr(int32_t a, int32_t b)
{
    int32_t result;

    __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

/* The code of an accumulator v with |v| < 2^30, for a shift -n in [-31, -1], saturated to int8.
 * Takes 2v, n - 1 and 2z + 1 for the zero point z.
 *
 * high_mul(v, m) = floor((v * m + 2^30) / 2^31) = floor((2v * m + 2^31) / 2^32) needs no 64-bit
 * product. With t = h - (h < 0), rounding_shift(h, n) is floor((t + 2^(n-1)) / 2^n), and
 * floor((t + 2^(n-1)) / 2^n) + z = floor((floor(t / 2^(n-1)) + 1 + 2z) / 2). */
static inline int32_t cortexm_narrow_code(int32_t twice_value, int32_t multiplier,
                                          int32_t n_minus_one, int32_t twice_zero_point_plus_one)
{
    const int32_t high = cortexm_smmulr(twice_value, multiplier);
    const int32_t twice_code = ((high + (high >> 31)) >> n_minus_one) + twice_zero_point_plus_one;
    int32_t code;

    __asm__("ssat %0, #8, %1, asr #1" : "=r"(code) : "r"(twice_code));
    return code;
}

/* The clamp of an activation, as a second pass over codes that are saturated to int8. In most models
 * the range is all of int8 and nothing remains to be done. */
static inline void cortexm_clamp_codes(int8_t *codes, int32_t count, int32_t low, int32_t high)
{
    if (low == INT8_MIN && high == INT8_MAX) {
        return;
    }
    for (; count > 0; --count) {
        *codes = (int8_t)cortexm_clamp(*codes, low, high);
        ++codes;
    }
}

#endif
