/* SPDX-License-Identifier: Apache-2.0 */
/* The reciprocal of a sum of exponentials, for softmax of int8 codes. */
#ifndef CORTEXM_ACTIVATION_SOFTMAX_RECIPROCAL_H
#define CORTEXM_ACTIVATION_SOFTMAX_RECIPROCAL_H

#include "common/stamp.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

/* softmax, int8. */

/*
 * exp and 1/x in fixed point. The algorithm and the formats are gemmlowp's (Jacob et al., 2018), as
 * TFLM and CMSIS-NN use them; each constant is derived next to it.
 *
 * Qn is an integer that counts units of 2^-n.
 */

/* Exponentials are Q31; their sum is Q19, which leaves 12 bits for the number of terms. */
#define CORTEXM_SUM_SHIFT 12

/* high_mul of numbers that are not negative; of any two, the second of which fits in 32 bits when doubled.
 * With one of them doubled the result is the rounded upper half of the product. */
#define PRODUCT CORTEXM_JOIN(PRODUCT_, ISA)
#define PRODUCT_v6m(a, b) (uint32_t)cortexm_high_mul((int32_t)(a), (int32_t)(b))
#define PRODUCT_scalar(a, b) rounded_half(2u * (uint32_t)(a), (uint32_t)(b))
#define PRODUCT_mve PRODUCT_scalar
#define SMALL_PRODUCT CORTEXM_JOIN(SMALL_PRODUCT_, ISA)
#define SMALL_PRODUCT_v6m cortexm_high_mul
#define SMALL_PRODUCT_scalar(a, b) (int32_t)(((int64_t)(a) * (2 * (b)) + (INT64_C(1) << 31)) >> 32)
#define SMALL_PRODUCT_mve SMALL_PRODUCT_scalar

static inline uint32_t rounded_half(uint32_t a, uint32_t b)
{
    const uint64_t product = (uint64_t)a * b;

    return (uint32_t)(product >> 32) + ((uint32_t)product >> 31);
}

/* 1 / (1 + x) in Q31 for x in [0, 1) in Q31, from 1 + x.
 *
 * Newton's iteration y += y * (1 - d * y) for 1/d with d = (1 + x) / 2 in [1/2, 1), on y in Q29,
 * from the linear estimate 48/17 - 32/17 * d, which is the best on that interval. That is 1/17 off at most, so
 * nothing overflows but the result, y/2, where x is 0. */
static inline int32_t cortexm_one_over(uint32_t one_plus_x)
{
    const int32_t d = (int32_t)(one_plus_x >> 1);
    int32_t y = 1515870810 + SMALL_PRODUCT(d, -1010580540); /* 48/17 and -32/17 in Q29 */

#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
        const int32_t error = (INT32_C(1) << 29) - (int32_t)PRODUCT(d, y);

        y += cortexm_shift_left(SMALL_PRODUCT(y, error), 2);
    }
    return y >= INT32_C(1) << 30 ? INT32_MAX : cortexm_shift_left(y, 1);
}

/* 256 / sum as fraction * 2^-shift, for exponentials in Q31 and their sum in Q19: the product of
 * fraction and exponential in Q31, divided by 2^shift, is the code above -128. */
typedef struct {
    int32_t fraction; /* Q31 */
    int32_t shift;    /* 23 to 35 */
} cortexm_reciprocal_t;

/* sum is not 0. */
static inline cortexm_reciprocal_t cortexm_reciprocal(uint32_t sum)
{
    /* sum = (1 + x) * 2^(31 - leading zeros) */
    const int32_t zeros = __builtin_clz(sum);
    const cortexm_reciprocal_t result = {cortexm_one_over(sum << zeros),
                                         CORTEXM_SUM_SHIFT + 23 - zeros};

    return result;
}

/* The share of an exponential is at most 256, which becomes 255. */
static inline int8_t share_of(uint32_t product, int32_t shift, uint32_t half)
{
    const uint32_t share = (product + half) >> shift;

    return (int8_t)((int32_t)(share - (share >> 8)) + INT8_MIN);
}

static inline uint32_t plus_exponential(uint32_t sum, int32_t e)
{
    return sum + (((uint32_t)e + (1u << (CORTEXM_SUM_SHIFT - 1))) >> CORTEXM_SUM_SHIFT);
}

/* A sum of up to 2^13 - 1 exponentials in Q19 fits into 32 bits. */
#define MAX_SIZE 8191

#endif
