/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul of int16 codes, for the instruction sets that multiply a row of lhs with two of rhs at a
 * time. Products have 30 bits, so sums 64. */
#ifndef CORTEXM_COMMON_MATMUL_WIDE_H
#define CORTEXM_COMMON_MATMUL_WIDE_H

#include "common/wide.h"
#include "cortexm/params.h"

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
