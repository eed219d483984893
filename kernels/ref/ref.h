/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The references: one for each kernel, as short and obvious as possible, and the truth that every
 * variant is compared with. They are for tests and run anywhere.
 */
#ifndef CORTEXM_REF_H
#define CORTEXM_REF_H

#include "cortexm/kernels.h"

CORTEXM_CONV_S8(cortexm_conv2d_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_ref);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_ref);
CORTEXM_LINEAR_S8(cortexm_linear_s8_ref);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_ref);
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_ref);
CORTEXM_POOL_S8(cortexm_max_pool2d_s8_ref);
CORTEXM_ADD_S8(cortexm_add_s8_ref);
CORTEXM_MUL_S8(cortexm_mul_s8_ref);
CORTEXM_DIV(cortexm_div_s8_ref, int8_t);
CORTEXM_DIV(cortexm_div_s16_ref, int16_t);
CORTEXM_MINMAX_S8(cortexm_minimum_s8_ref);
CORTEXM_MINMAX_S8(cortexm_maximum_s8_ref);
CORTEXM_ACTIVATION_S8(cortexm_activation_s8_ref);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_ref);
CORTEXM_QUANTIZE(cortexm_quantize_f32s8_ref, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s16_ref, int16_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s8f32_ref, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s16f32_ref, int16_t);
CORTEXM_FILL(cortexm_fill_x8_ref);
CORTEXM_FILL(cortexm_fill_x16_ref);
CORTEXM_FILL(cortexm_fill_x32_ref);
CORTEXM_COPY(cortexm_copy_x8_ref);
CORTEXM_COPY(cortexm_copy_x16_ref);
CORTEXM_COPY(cortexm_copy_x32_ref);
CORTEXM_COPY(cortexm_copy_x64_ref);

#endif
