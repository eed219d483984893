/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul of int16 codes, portable C: products of 30 bits, so sums of 64. See kernels/README.md for
 * the formula. */
#include "common/wide.h"
#include "cortexm/kernels.h"

CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_scalar)
{
    const cortexm_batch_matmul_s16_t *const p = params;

    (void)scratch;
    for (int32_t batch = 0; batch < p->batches; ++batch) {
        for (int32_t row = 0; row < p->rows; ++row) {
            const int16_t *column = rhs;

            for (int32_t col = 0; col < p->cols; ++col) {
                int64_t sum = 0;

                for (int32_t k = 0; k < p->inner; ++k) {
                    sum += lhs[k] * *column++;
                }
                *out++ = cortexm_rescale_wide(sum, p->multiplier, p->shift, INT16_MIN, INT16_MAX);
            }
            lhs += p->inner;
        }
        rhs += p->cols * p->inner;
    }
}
