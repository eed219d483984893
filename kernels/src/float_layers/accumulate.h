/* SPDX-License-Identifier: Apache-2.0 */
/* Float sums, term by term: the order is part of a layer's definition. */
#ifndef CORTEXM_FLOAT_ACCUMULATE_H
#define CORTEXM_FLOAT_ACCUMULATE_H

#include <stdint.h>

/* sum + a[0] * b[0] + a[a_step] * b[b_step] + ..., n products, from left to right */
static inline float cortexm_accumulate(float sum, const float *a, int32_t a_step, const float *b,
                                       int32_t b_step, int32_t n)
{
    for (; n > 0; --n) {
        sum += *a * *b;
        a += a_step;
        b += b_step;
    }
    return sum;
}

#endif
