/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of int16 codes share: the requantization of their sums (docs/numerics.md), and products
 * of matrices; where matrices of codes lie. */
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

/* The first element of a matrix: number n of a group. */
static inline int32_t cortexm_matrix(const int32_t *strides, int32_t group, int32_t n)
{
    return group * strides[0] + n * strides[1];
}

/* batch_matmul of int16 codes, for the instruction sets that multiply a row of lhs with two of rhs at a
 * time. Products have 30 bits, so sums 64. */
/* sum[]: the products of x with `n` codes at a and at b. */
typedef void cortexm_two_products_t(const int16_t *x, const int16_t *a, const int16_t *b, int32_t n,
                                    int64_t sum[2]);

/* to[]: the codes at `from` and every `step` after it. */
typedef void cortexm_gather_codes_t(const int16_t *from, int32_t step, int32_t n, int16_t *to);

static inline void cortexm_matmul_wide(const cortexm_batch_matmul_s16_t *p, const int16_t *lhs,
                                       const int16_t *rhs, int16_t *out, int16_t *scratch,
                                       cortexm_two_products_t *two_products,
                                       cortexm_gather_codes_t *gather_codes)
{
    const int32_t n = p->inner;
    const int32_t batches = p->groups * p->batches;
    int32_t group = 0;
    int32_t batch = 0;

    for (int32_t done = 0; done < batches; ++done) {
        const int16_t *column = rhs + cortexm_matrix(p->rhs_strides, group, batch);

        for (int32_t col = 0; col < p->cols; col += 2) {
            const int32_t count = cortexm_min(p->cols - col, 2);
            const int16_t *row = lhs + cortexm_matrix(p->lhs_strides, group, batch);
            int16_t *codes = out + cortexm_matrix(p->out_strides, group, batch) + col;
            const int16_t *first = column;
            const int16_t *second = count == 2 ? column + p->rhs_strides[2] : column;

            /* A single column is computed twice. */
            if (p->rhs_strides[3] != 1) {
                gather_codes(first, p->rhs_strides[3], n, scratch);
                gather_codes(second, p->rhs_strides[3], n, scratch + n);
                first = scratch;
                second = scratch + n;
            }
            for (int32_t left = p->rows; left > 0; --left) {
                int64_t sum[2];

                two_products(row, first, second, n, sum);
                for (int32_t i = 0; i < count; ++i) {
                    codes[i] = cortexm_rescale_wide(sum[i], p->multiplier, p->shift, INT16_MIN,
                                                    INT16_MAX);
                }
                row += p->lhs_strides[2];
                codes += p->out_strides[2];
            }
            column += 2 * p->rhs_strides[2];
        }
        if (++batch == p->batches) {
            batch = 0;
            ++group;
        }
    }
}

#endif
