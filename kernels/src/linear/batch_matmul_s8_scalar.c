/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul, int8, portable C. See README.md for the formula. */
#include "common/dot.h"
#include "cortexm/kernels.h"
#include "cortexm/requantize.h"

void cortexm_batch_matmul_s8_scalar(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs,
                                    const int8_t *rhs, int8_t *out, void *scratch)
{
    const cortexm_batch_matmul_s8_t *const p = params;
    const int32_t depth = p->inner;

    (void)scratch;
    for (int32_t n = 0; n < p->batches; ++n) {
        const int8_t *right = rhs;

        /* With both zero points multiplied out, the sums over one row of either operand are computed
         * once per column and once per result, and the product itself is of plain codes. */
        for (int32_t col = 0; col < p->cols; ++col) {
            const int32_t right_sum = cortexm_sum_s8(right, depth) - depth * p->rhs_zero_point;
            const int8_t *left = lhs;

            for (int32_t row = 0; row < p->rows; ++row) {
                int32_t acc = cortexm_dot_s8(left, right, depth) - p->lhs_zero_point * right_sum;

                if (p->rhs_zero_point != 0) {
                    acc -= p->rhs_zero_point * cortexm_sum_s8(left, depth);
                }
                acc = cortexm_requantize(acc, p->multiplier, p->shift);
                out[row * p->cols + col] =
                    (int8_t)cortexm_add_zero_point(acc, p->out_zero_point, INT8_MIN, INT8_MAX);
                left += depth;
            }
            right += depth;
        }
        lhs += p->rows * depth;
        rhs += p->cols * depth;
        out += p->rows * p->cols;
    }
}
