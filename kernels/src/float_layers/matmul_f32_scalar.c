/* SPDX-License-Identifier: Apache-2.0 */
/* matmul of floats, portable C; linear and addmm are cases of it. */
#include "accumulate.h"
#include "cortexm/kernels.h"

CORTEXM_MATMUL_F32(cortexm_matmul_f32_scalar)
{
    const cortexm_matmul_f32_t *const p = params;

    for (int32_t i = 0; i < p->batches; ++i) {
        for (int32_t r = 0; r < p->rows; ++r) {
            const float *row = a + i * p->a_batch_stride + r * p->a_row_stride;
            const float *column = b + i * p->b_batch_stride;
            const float *start = bias + i * p->bias_batch_stride + r * p->bias_row_stride;

            for (int32_t c = 0; c < p->cols; ++c) {
                *out++ = cortexm_accumulate(*start, row, p->a_inner_stride, column,
                                            p->b_inner_stride, p->inner);
                column += p->b_col_stride;
                start += p->bias_col_stride;
            }
        }
    }
}
