/* SPDX-License-Identifier: Apache-2.0 */
/* Products of complex numbers, by the DSP extension's upper halves of products. */
#ifndef CORTEXM_COMMON_TURN_DSP_H
#define CORTEXM_COMMON_TURN_DSP_H

#include <stdint.h>

#include "common/products_wide.h"

/* (*re + i * *im) * (c - i * s) for a root c + i * s in Q31: each product is rounded to an even number.
 * SMMLAR and SMMLSR round the sum of the product, or its negative, and 2^32 times the accumulator, which
 * is the same as to round the product alone. */
static inline void cortexm_turn(int32_t *re, int32_t *im, int32_t c, int32_t s)
{
    int32_t a, b;

    __asm__("smmulr %0, %2, %4\n\t"
            "smmulr %1, %3, %4\n\t"
            "smmlar %0, %3, %5, %0\n\t"
            "smmlsr %1, %2, %5, %1"
            : "=&r"(a), "=&r"(b)
            : "r"(*re), "r"(*im), "r"(c), "r"(s));
    *re = 2 * a;
    *im = 2 * b;
}

#endif
