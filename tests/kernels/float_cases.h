/* SPDX-License-Identifier: Apache-2.0 */
/* Random cases of the float families, as in cases.h. */
#ifndef CORTEXM_TESTS_FLOAT_CASES_H
#define CORTEXM_TESTS_FLOAT_CASES_H

#include <stdint.h>

#include "cortexm/kernels.h"

void seed_float_cases(uint32_t seed);

typedef CORTEXM_UNARY((*unary_fn), cortexm_unary_f32_t, float);
typedef CORTEXM_UNARY((*clamp_f32_fn), cortexm_clamp_f32_t, float);
typedef CORTEXM_UNARY((*clamp_s8_fn), cortexm_clamp_t, int8_t);
typedef CORTEXM_UNARY((*clamp_u8_fn), cortexm_clamp_t, uint8_t);
typedef CORTEXM_UNARY((*clamp_s16_fn), cortexm_clamp_t, int16_t);
typedef CORTEXM_UNARY((*clamp_s32_fn), cortexm_clamp_t, int32_t);
typedef CORTEXM_UNARY((*clamp_s64_fn), cortexm_clamp_t, int64_t);
typedef CORTEXM_BINARY((*binary_f32_fn), float);
typedef CORTEXM_BINARY((*binary_s32_fn), int32_t);
typedef CORTEXM_BINARY((*binary_s64_fn), int64_t);
typedef CORTEXM_CONV_F32((*conv_f32_fn));
typedef CORTEXM_MATMUL_F32((*matmul_f32_fn));
typedef CORTEXM_SOFTMAX_F32((*softmax_f32_fn));
typedef CORTEXM_POOL_F32((*pool_f32_fn));
typedef CORTEXM_GROUP_NORM_F32((*group_norm_f32_fn));

int unary_f32_case(unary_fn variant, unary_fn ref);
int unary_close_f32_case(unary_fn variant, unary_fn ref);
int clamp_f32_case(clamp_f32_fn variant, clamp_f32_fn ref);
int clamp_s8_case(clamp_s8_fn variant, clamp_s8_fn ref);
int clamp_u8_case(clamp_u8_fn variant, clamp_u8_fn ref);
int clamp_s16_case(clamp_s16_fn variant, clamp_s16_fn ref);
int clamp_s32_case(clamp_s32_fn variant, clamp_s32_fn ref);
int clamp_s64_case(clamp_s64_fn variant, clamp_s64_fn ref);
int binary_f32_case(binary_f32_fn variant, binary_f32_fn ref);
int divide_f32_case(binary_f32_fn variant, binary_f32_fn ref);
int binary_close_f32_case(binary_f32_fn variant, binary_f32_fn ref);
int binary_s32_case(binary_s32_fn variant, binary_s32_fn ref);
int binary_s64_case(binary_s64_fn variant, binary_s64_fn ref);
int divide_s32_case(binary_s32_fn variant, binary_s32_fn ref);
int divide_s64_case(binary_s64_fn variant, binary_s64_fn ref);
int conv2d_f32_case(conv_f32_fn variant, conv_f32_fn ref);
int transpose_conv2d_f32_case(conv_f32_fn variant, conv_f32_fn ref);
int matmul_f32_case(matmul_f32_fn variant, matmul_f32_fn ref);
int softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref);
int pool_f32_case(pool_f32_fn variant, pool_f32_fn ref);
int group_norm_f32_case(group_norm_f32_fn variant, group_norm_f32_fn ref);

#endif
