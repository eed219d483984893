/* SPDX-License-Identifier: Apache-2.0 */
#include "arithmetic.h"
#include "ref.h"

void cortexm_batch_matmul_s8_ref(const cortexm_batch_matmul_s8_t *p, const int8_t *lhs,
                                 const int8_t *rhs, int8_t *out, void *scratch)
{
    (void)scratch;
    for (int n = 0; n < p->batches; ++n)
    for (int r = 0; r < p->rows; ++r)
    for (int c = 0; c < p->cols; ++c) {
        int64_t acc = 0;

        for (int k = 0; k < p->inner; ++k) {
            acc += (lhs[(n * p->rows + r) * p->inner + k] - p->lhs_zero_point) *
                   (rhs[(n * p->cols + c) * p->inner + k] - p->rhs_zero_point);
        }
        out[(n * p->rows + r) * p->cols + c] = (int8_t)ref_clamp(
            ref_requantize(acc, p->multiplier, p->shift) + p->out_zero_point, INT8_MIN, INT8_MAX);
    }
}
