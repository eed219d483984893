/* SPDX-License-Identifier: Apache-2.0 */
#include "cmsis_nn.h"
#include "cortexm/assert.h"

/* CMSIS-NN takes what does not depend on the input (bias, and the zero points' share) as a kernel sum
 * on MVE, where it ignores the bias, and as a bias and an input offset on other cores. Our folded bias
 * is that sum; with an input offset of 0 it serves as either. */
void cortexm_linear_s8_cmsis_nn(const cortexm_linear_s8_t *params, const int8_t *in,
                                const int8_t *weight, const int32_t *bias, int8_t *out,
                                void *scratch)
{
    const cortexm_linear_s8_t *const p = params;
    const cmsis_nn_context context = {.buf = cortexm_nn_words(bias)};
    const cmsis_nn_fc_params linear = {
        .input_offset = 0,
        .filter_offset = -p->weight_zero_point,
        .output_offset = p->out_zero_point,
        .activation = cortexm_nn_clamp(p->act_min, p->act_max),
    };
    const cmsis_nn_per_tensor_quant_params quant = {
        .multiplier = p->multiplier,
        .shift = p->shift,
    };
    const cmsis_nn_dims in_dims = cortexm_nn_dims(p->rows, 1, 1, p->in_features);
    const cmsis_nn_dims filter_dims = cortexm_nn_dims(p->in_features, 1, 1, p->out_features);
    const cmsis_nn_dims bias_dims = cortexm_nn_dims(1, 1, 1, p->out_features);
    const cmsis_nn_dims out_dims = cortexm_nn_dims(p->rows, 1, 1, p->out_features);
    const arm_cmsis_nn_status status =
        arm_fully_connected_s8(&context, &linear, &quant, &in_dims, in, &filter_dims, weight,
                               &bias_dims, bias, &out_dims, out);

    (void)scratch;
    (void)status;
    CORTEXM_ASSERT(status == ARM_CMSIS_NN_SUCCESS);
}
