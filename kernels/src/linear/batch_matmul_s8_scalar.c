/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul, int8, portable C: each row of lhs times four of rhs. See kernels/README.md for the
 * formula. */
#include "common/names.h"
#include "common/rows.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

#define COLUMNS 4

/* One row of lhs times so many of rhs, and its sum. */
typedef struct {
    int32_t product[COLUMNS];
    int32_t left;
} sums_t;

static sums_t multiply(const int8_t *left, const int8_t *const right[COLUMNS], int32_t depth)
{
    const int8_t *const end = left + depth;
    const int8_t *b0 = right[0];
    const int8_t *b1 = right[1];
    const int8_t *b2 = right[2];
    const int8_t *b3 = right[3];
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, sum = 0;

    while (left != end) {
        const int32_t value = *left++;

        sum0 += value * *b0++;
        sum1 += value * *b1++;
        sum2 += value * *b2++;
        sum3 += value * *b3++;
        sum += value;
    }
    return (sums_t){{sum0, sum1, sum2, sum3}, sum};
}

void cortexm_batch_matmul_s8_scalar(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs,
                                    const int8_t *rhs, int8_t *out, void *scratch)
{
    const cortexm_batch_matmul_s8_t *const p = params;
    const int32_t depth = p->inner;

    (void)scratch;
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t col = 0; col < p->cols; col += COLUMNS) {
            const int32_t count = cortexm_min(p->cols - col, COLUMNS);
            const int8_t *left = lhs;
            int8_t *codes = out + col;
            const int8_t *right[COLUMNS];
            int32_t start[COLUMNS];

            /* With both zero points multiplied out, the product itself is of plain codes. Columns that
             * do not exist repeat the last one. */
            for (int32_t c = 0; c < COLUMNS; ++c) {
                right[c] = rhs;
                start[c] = p->lhs_zero_point *
                           (depth * p->rhs_zero_point - cortexm_sum_s8(rhs, depth));
                if (c + 1 < count) {
                    rhs += depth;
                }
            }
            rhs += depth;
            for (int32_t row = p->rows; row > 0; --row) {
                const sums_t s = multiply(left, right, depth);
                const int32_t offset = -p->rhs_zero_point * s.left;

                for (int32_t c = 0; c < count; ++c) {
                    const int32_t value = cortexm_requantize(s.product[c] + start[c] + offset,
                                                             p->multiplier, p->shift);

                    codes[c] = (int8_t)cortexm_add_zero_point(value, p->out_zero_point, INT8_MIN,
                                                              INT8_MAX);
                }
                left += depth;
                codes += p->cols;
            }
        }
        lhs += p->rows * depth;
        out += p->rows * p->cols;
    }
}
