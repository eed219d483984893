/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

void cortexm_batch_matmul_s8_cmsis_nn(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs,
                                      const int8_t *rhs, int8_t *out, void *scratch)
{
    const cortexm_batch_matmul_s8_t *const p = params;
    const cmsis_nn_context context = {.buf = scratch};
    const cmsis_nn_bmm_params product = {
        .fc_params =
            {
                .input_offset = -p->lhs_zero_point,
                .filter_offset = -p->rhs_zero_point,
                .output_offset = p->out_zero_point,
                .activation = cortexm_nn_clamp(INT8_MIN, INT8_MAX),
            },
    };
    const cmsis_nn_per_tensor_quant_params quant = {
        .multiplier = p->multiplier,
        .shift = p->shift,
    };
    const cmsis_nn_dims lhs_dims = cortexm_nn_dims(1, p->batches, p->rows, p->inner);
    const cmsis_nn_dims rhs_dims = cortexm_nn_dims(1, p->batches, p->cols, p->inner);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(1, p->batches, p->rows, p->cols);
    const arm_cmsis_nn_status status = arm_batch_matmul_s8(
        &context, &product, &quant, &lhs_dims, lhs, &rhs_dims, rhs, &out_dims, out);

    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
