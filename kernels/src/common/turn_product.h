/* SPDX-License-Identifier: Apache-2.0 */
/* The product of complex numbers by cortexm_high_half, which is to be defined before. */
#ifndef CORTEXM_COMMON_TURN_PRODUCT_H
#define CORTEXM_COMMON_TURN_PRODUCT_H

#include <stdint.h>

/* (*re + i * *im) * (c - i * s) for a root c + i * s in Q31: each product is rounded to an even number.
 * *re is not -2^31. */
static inline void cortexm_turn(int32_t *re, int32_t *im, int32_t c, int32_t s)
{
    const int32_t a = *re;
    const int32_t b = *im;

    *re = 2 * (cortexm_high_half(a, c) + cortexm_high_half(b, s));
    *im = 2 * (cortexm_high_half(b, c) + cortexm_high_half(-a, s));
}

#endif
