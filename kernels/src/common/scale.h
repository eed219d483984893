/* SPDX-License-Identifier: Apache-2.0 */
/* The float product of a small integer and a scale. */
#ifndef CORTEXM_COMMON_SCALE_H
#define CORTEXM_COMMON_SCALE_H

#include <stdint.h>

#include "common/apart.h"
#include "common/round.h"

#if defined(__SOFTFP__)

/* The bits a value of 32 bits has, less 24, if it has at least 24. */
static inline uint32_t cortexm_bits_beyond_24(uint32_t value)
{
#if __ARM_ARCH_ISA_THUMB == 2
    return 8u - (uint32_t)__builtin_clz(value);
#else
    uint32_t beyond = 0;

    value >>= 24;
    if (value >= 16u) {
        value >>= 4;
        beyond = 4;
    }
    if (value >= 4u) {
        value >>= 2;
        beyond += 2;
    }
    return beyond + (value >= 2u ? 2u : value);
#endif
}

/* float(value) * scale for |value| <= 255, without a library function if the scale is positive and
 * neither tiny nor huge.
 *
 * The product of |value| and the scale's mantissa, which has 24 bits, has at most 32. It is rounded
 * to 24 bits, ties to even, by adding half of the last bit, less one unless that bit is set. A carry
 * beyond the mantissa raises the exponent, as it should. */
static CORTEXM_APART float cortexm_scaled(int32_t value, float scale)
{
    const uint32_t scale_bits = cortexm_float_bits(scale);
    uint32_t bits = 0; /* 0.0 */
    float result;

    if (scale_bits < UINT32_C(1) << 23 || scale_bits >= UINT32_C(240) << 23) {
        return (float)value * scale;
    }
    if (value != 0) {
        const uint32_t mantissa = (scale_bits & UINT32_C(0x7fffff)) | UINT32_C(0x800000);
        const uint32_t product = (uint32_t)(value < 0 ? -value : value) * mantissa;
        const uint32_t drop = cortexm_bits_beyond_24(product);
        const uint32_t last = (product >> drop) & 1u;
        const uint32_t half = (UINT32_C(1) << drop) >> 1;

        /* Without a bit to drop there is nothing to add. */
        bits = half == 0u ? product : (product + half - 1u + last) >> drop;
        bits += (scale_bits & UINT32_C(0x7f800000)) - UINT32_C(0x800000) + (drop << 23);
        bits |= (uint32_t)value & UINT32_C(0x80000000);
    }
    memcpy(&result, &bits, sizeof result);
    return result;
}

#else

static inline float cortexm_scaled(int32_t value, float scale)
{
    return (float)value * scale;
}

#endif

#endif
