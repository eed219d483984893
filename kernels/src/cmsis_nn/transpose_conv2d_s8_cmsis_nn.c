/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

void cortexm_transpose_conv2d_s8_cmsis_nn(const cortexm_conv_s8_t *params, const int8_t *in,
                                          const int8_t *weight, const int32_t *bias, int8_t *out,
                                          void *scratch)
{
    const cortexm_conv_s8_t *const p = params;
    const cmsis_nn_context context = {.buf = scratch};
    const cmsis_nn_context reversed = {.buf = (int8_t *)scratch + cortexm_nn_transpose_rows(p)};
    const cmsis_nn_transpose_conv_params conv = cortexm_nn_transpose_params(p);
    const cmsis_nn_per_channel_quant_params quant = cortexm_nn_conv_quant(p);
    const cmsis_nn_dims in_dims = cortexm_nn_conv_in(p);
    const cmsis_nn_dims filter_dims = cortexm_nn_conv_filter(p);
    const cmsis_nn_dims bias_dims = cortexm_nn_conv_bias(p);
    const cmsis_nn_dims out_dims = cortexm_nn_conv_out(p);
    const arm_cmsis_nn_status status =
        arm_transpose_conv_wrapper_s8(&context, &reversed, &conv, &quant, &in_dims, in,
                                      &filter_dims, weight, &bias_dims, bias, &out_dims, out);

    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
