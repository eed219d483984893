/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

/* The bias contains the input's zero point, so the library's input offset is 0.
 *
 * On MVE, CMSIS-NN's function for a multiplier per output requantizes four outputs with one of them. A
 * convolution of 1x1 windows is the same layer; weights have no zero point then (nn_linear). */
void cortexm_linear_s8_cmsis_nn(const cortexm_linear_s8_t *params, const int8_t *in,
                                const int8_t *weight, const int32_t *bias, int8_t *out,
                                void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const cmsis_nn_context context = {.buf = NULL};
    const cmsis_nn_per_channel_quant_params quant =
        cortexm_nn_quant(p->multiplier, p->out_features);
    const cmsis_nn_dims in_dims = cortexm_nn_dims(p->rows, 1, 1, p->in_features);
    const cmsis_nn_dims bias_dims = cortexm_nn_dims(1, 1, 1, p->out_features);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(p->rows, 1, 1, p->out_features);
#if defined(ARM_MATH_MVEI)
    const cmsis_nn_conv_params conv = {
        .input_offset = 0,
        .output_offset = p->out_zero_point,
        .stride = cortexm_nn_tile(1, 1),
        .padding = cortexm_nn_tile(0, 0),
        .dilation = cortexm_nn_tile(1, 1),
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
    const cmsis_nn_dims filter_dims = cortexm_nn_dims(p->out_features, 1, 1, p->in_features);
    const arm_cmsis_nn_status status =
        arm_convolve_1x1_s8_fast(&context, &conv, &quant, &in_dims, in, &filter_dims, weight,
                                 &bias_dims, bias, &out_dims, out);
#else
    const cmsis_nn_fc_params linear = {
        .input_offset = 0,
        .filter_offset = -p->weight_zero_point,
        .output_offset = p->out_zero_point,
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
    const cmsis_nn_dims filter_dims = cortexm_nn_dims(p->in_features, 1, 1, p->out_features);
    const arm_cmsis_nn_status status =
        arm_fully_connected_per_channel_s8(&context, &linear, &quant, &in_dims, in, &filter_dims,
                                           weight, &bias_dims, bias, &out_dims, out);
#endif

    (void)scratch;
    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
