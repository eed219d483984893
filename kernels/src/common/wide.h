/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of int16 codes share: the requantization of their sums (docs/numerics.md), and products
 * of matrices. */
#ifndef CORTEXM_COMMON_WIDE_H
#define CORTEXM_COMMON_WIDE_H

#include <stdint.h>

#include "common/stamp.h"
#include "cortexm/params.h"
#include "cortexm/requantize.h"

/*
 * For templates. The sums of a layer are proved to stay within 32 bits, or they are not: then its
 * operator's name ends in _wide. SUM is the type of the sums and of the bias, RESCALE is
 * clamp(floor((sum * multiplier + 2^(14 - shift)) / 2^(15 - shift)), low, high).
 */
#define CORTEXM_SUM_conv2d int32_t
#define CORTEXM_SUM_conv2d_wide int64_t
#define CORTEXM_SUM_depthwise_conv2d int32_t
#define CORTEXM_SUM_depthwise_conv2d_wide int64_t
#define CORTEXM_SUM_transpose_conv2d int32_t
#define CORTEXM_SUM_transpose_conv2d_wide int64_t
#define CORTEXM_SUM_linear int32_t
#define CORTEXM_SUM_linear_wide int64_t
#define SUM CORTEXM_JOIN(CORTEXM_SUM_, OP)

#define RESCALE(sum, multiplier, shift, low, high)                                                 \
    (sizeof(SUM) == sizeof(int32_t)                                                                \
         ? cortexm_rescale_narrow((int32_t)(sum), multiplier, shift, low, high)                    \
         : cortexm_rescale_wide(sum, multiplier, shift, low, high))

/* For |sum| < 2^47. */
static inline int16_t cortexm_rescale_wide(int64_t sum, int32_t multiplier, int32_t shift,
                                           int32_t low, int32_t high)
{
    const int64_t value = (sum * multiplier + (INT64_C(1) << (14 - shift))) >> (15 - shift);

    return (int16_t)(value < low ? low : value > high ? high : value);
}

/* With shift <= -2 in 32 bits: of a product's lower 16 bits only their carry counts, as the floor of a
 * floor is the floor, and sum * multiplier = 2^16 * upper * multiplier + lower * multiplier for the
 * halves of sum, the lower one not negative. */
static inline int16_t cortexm_rescale_narrow(int32_t sum, int32_t multiplier, int32_t shift,
                                             int32_t low, int32_t high)
{
    int32_t value;

    if (shift > -2) {
        return cortexm_rescale_wide(sum, multiplier, shift, low, high);
    }
    value = (sum >> 16) * multiplier + (int32_t)(((uint32_t)sum & 0xffffu) * (uint32_t)multiplier >> 16);
    return (int16_t)cortexm_clamp(((value >> (-2 - shift)) + 1) >> 1, low, high);
}

/* batch_matmul of int16 codes, for the instruction sets that multiply a row of lhs with two of rhs at a
 * time. Products have 30 bits, so sums 64. */
/* sum[]: the products of x with `n` codes at a and at b. */
typedef void cortexm_two_products_t(const int16_t *x, const int16_t *a, const int16_t *b, int32_t n,
                                    int64_t sum[2]);

static inline void cortexm_matmul_wide(const cortexm_batch_matmul_s16_t *p, const int16_t *lhs,
                                       const int16_t *rhs, int16_t *out,
                                       cortexm_two_products_t *two_products)
{
    const int32_t n = p->inner;

    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t row = 0; row < p->rows; ++row) {
            const int16_t *column = rhs;

            for (int32_t left = p->cols; left > 0; left -= 2) {
                const int32_t count = cortexm_min(left, 2); /* a single column is computed twice */
                int64_t sum[2];

                two_products(lhs, column, count == 2 ? column + n : column, n, sum);
                for (int32_t i = 0; i < count; ++i) {
                    *out++ = cortexm_rescale_wide(sum[i], p->multiplier, p->shift, INT16_MIN,
                                                  INT16_MAX);
                }
                column += 2 * n;
            }
            lhs += n;
        }
        rhs += p->cols * n;
    }
}

#endif
