/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over runs of int8 codes. */
#ifndef CORTEXM_COMMON_DOT_H
#define CORTEXM_COMMON_DOT_H

#include <stdint.h>

/* sum of a[0..n) */
static inline int32_t cortexm_sum_s8(const int8_t *a, int32_t n)
{
    const int8_t *const end = a + n;
    int32_t sum = 0;

    while (a != end) {
        sum += *a++;
    }
    return sum;
}

#endif
