/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

void cortexm_maximum_s8_cmsis_nn(const cortexm_minmax_t *params, const int8_t *a, const int8_t *b,
                                 int8_t *out)
{
    const cortexm_minmax_t *const p = params;
    const cmsis_nn_context context = {.buf = NULL};
    const cmsis_nn_dims a_dims = cortexm_nn_dims(1, 1, 1, p->a_period);
    const cmsis_nn_dims b_dims = cortexm_nn_dims(1, 1, 1, p->b_period);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(1, 1, 1, p->count);
    const arm_cmsis_nn_status status =
        arm_maximum_s8(&context, a, &a_dims, b, &b_dims, out, &out_dims);

    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
