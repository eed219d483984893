/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

/* The bias contains the input's zero point, so the library's input offset is 0; weights have none.
 *
 * CMSIS-NN's function for linear layers has one multiplier for all outputs. A convolution of 1x1 windows is
 * the same layer. */
void cortexm_linear_s8w4_cmsis_nn(const cortexm_linear_s8_t *params, const int8_t *in,
                                  const int8_t *weight, const int32_t *bias, int8_t *out,
                                  void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const cmsis_nn_context context = {.buf = NULL};
    const cmsis_nn_per_channel_quant_params quant =
        cortexm_nn_quant(p->multiplier, p->out_features);
    const cmsis_nn_conv_params conv = {
        .output_offset = p->out_zero_point,
        .stride = cortexm_nn_tile(1, 1),
        .padding = cortexm_nn_tile(0, 0),
        .dilation = cortexm_nn_tile(1, 1),
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
    const cmsis_nn_dims in_dims = cortexm_nn_dims(p->rows, 1, 1, p->in_features);
    const cmsis_nn_dims filter_dims = cortexm_nn_dims(p->out_features, 1, 1, p->in_features);
    const cmsis_nn_dims bias_dims = cortexm_nn_dims(1, 1, 1, p->out_features);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(p->rows, 1, 1, p->out_features);
    const arm_cmsis_nn_status status =
        arm_convolve_1x1_s4_fast(&context, &conv, &quant, &in_dims, in, &filter_dims, weight,
                                 &bias_dims, bias, &out_dims, out);

    (void)scratch;
    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
