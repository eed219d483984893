/* SPDX-License-Identifier: Apache-2.0 */
/* matmul of floats, portable C; linear and addmm are cases of it. */
#include "common/accumulate.h"
#include "cortexm/kernels.h"

CORTEXM_MATMUL_F32(cortexm_matmul_f32_scalar)
{
    const cortexm_matmul_f32_t *const p = params;
    const cortexm_terms_t terms = {
        {p->a_inner_stride, 0, 0}, {p->b_inner_stride, 0, 0}, p->b_col_stride, 1, 1, p->inner};

    for (int32_t i = 0; i < p->batches; ++i) {
        for (int32_t r = 0; r < p->rows; ++r) {
            const float *row = a + i * p->a_batch_stride + r * p->a_row_stride;
            const float *column = b + i * p->b_batch_stride;
            const float *start = bias + i * p->bias_batch_stride + r * p->bias_row_stride;
            int32_t c = 0;

            for (; c + 4 <= p->cols; c += 4) {
                for (int32_t k = 0; k < 4; ++k) {
                    out[k] = *start;
                    start += p->bias_col_stride;
                }
                cortexm_accumulate4(out, &terms, row, column);
                out += 4;
                column += 4 * p->b_col_stride;
            }
            for (; c < p->cols; ++c) {
                *out++ = cortexm_accumulate(*start, row, p->a_inner_stride, column,
                                            p->b_inner_stride, p->inner);
                column += p->b_col_stride;
                start += p->bias_col_stride;
            }
        }
    }
}
