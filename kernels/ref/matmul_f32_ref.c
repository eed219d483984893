/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

CORTEXM_MATMUL_F32(cortexm_matmul_f32_ref)
{
    const cortexm_matmul_f32_t *p = params;

    for (int i = 0; i < p->batches * p->rows * p->cols; ++i) {
        const int c = i % p->cols;
        const int r = i / p->cols % p->rows;
        const int n = i / p->cols / p->rows;

        out[i] = bias[n * p->bias_batch_stride + r * p->bias_row_stride + c * p->bias_col_stride];
        for (int k = 0; k < p->inner; ++k) {
            out[i] +=
                a[n * p->a_batch_stride + r * p->a_row_stride + k * p->a_inner_stride] *
                b[n * p->b_batch_stride + k * p->b_inner_stride + c * p->b_col_stride];
        }
    }
}
