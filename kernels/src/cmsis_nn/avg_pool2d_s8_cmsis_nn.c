/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

void cortexm_avg_pool2d_s8_cmsis_nn(const cortexm_pool_s8_t *params, const int8_t *in, int8_t *out,
                                    void *scratch)
{
    const cortexm_pool_s8_t *const p = params;
    const cmsis_nn_context context = {.buf = scratch};
    const cmsis_nn_pool_params pool = {
        .stride = cortexm_nn_tile(p->stride_h, p->stride_w),
        .padding = cortexm_nn_tile(-p->in_y0, -p->in_x0),
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
    const cmsis_nn_dims in_dims = cortexm_nn_dims(1, p->in_h, p->in_w, p->channels);
    const cmsis_nn_dims filter_dims = cortexm_nn_dims(1, p->kernel_h, p->kernel_w, 1);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(1, p->out_h, p->out_w, p->channels);
    const arm_cmsis_nn_status status =
        arm_avgpool_s8(&context, &pool, &in_dims, in, &filter_dims, &out_dims, out);

    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
