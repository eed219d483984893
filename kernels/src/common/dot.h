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

/* sum of a[i] * b[i] */
static inline int32_t cortexm_dot_s8(const int8_t *a, const int8_t *b, int32_t n)
{
    const int8_t *const end = a + n;
    int32_t sum = 0;

    while (a != end) {
        sum += *a++ * *b++;
    }
    return sum;
}

/* sum[k] += dot product of a and the k-th of four rows of b, which are b_stride apart: one load of a
 * serves four products. */
static inline void cortexm_dot4_s8(const int8_t *a, const int8_t *b, int32_t b_stride, int32_t n,
                                   int32_t sum[4])
{
    const int8_t *const end = a + n;
    const int8_t *b1 = b + b_stride;
    const int8_t *b2 = b1 + b_stride;
    const int8_t *b3 = b2 + b_stride;
    int32_t sum0 = sum[0];
    int32_t sum1 = sum[1];
    int32_t sum2 = sum[2];
    int32_t sum3 = sum[3];

    while (a != end) {
        const int32_t value = *a++;

        sum0 += value * *b++;
        sum1 += value * *b1++;
        sum2 += value * *b2++;
        sum3 += value * *b3++;
    }
    sum[0] = sum0;
    sum[1] = sum1;
    sum[2] = sum2;
    sum[3] = sum3;
}

#endif
