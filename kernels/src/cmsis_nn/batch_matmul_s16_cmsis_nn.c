/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

void cortexm_batch_matmul_s16_cmsis_nn(const cortexm_batch_matmul_s16_t *params, const int16_t *lhs,
                                       const int16_t *rhs, int16_t *out, void *scratch)
{
    const cortexm_batch_matmul_s16_t *const p = params;
    const cmsis_nn_context context = {.buf = NULL};
    const cmsis_nn_bmm_params product = {
        .fc_params = {.activation = cortexm_nn_clamp(INT16_MIN, INT16_MAX)},
    };
    const cmsis_nn_per_tensor_quant_params quant = {
        .multiplier = p->multiplier * 65536,
        .shift = p->shift,
    };
    const cmsis_nn_dims lhs_dims = cortexm_nn_dims(1, p->batches, p->rows, p->inner);
    const cmsis_nn_dims rhs_dims = cortexm_nn_dims(1, p->batches, p->cols, p->inner);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(1, p->batches, p->rows, p->cols);
    const arm_cmsis_nn_status status = arm_batch_matmul_s16(
        &context, &product, &quant, &lhs_dims, lhs, &rhs_dims, rhs, &out_dims, out);

    (void)scratch;
    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
