/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the float families, and how a random case of each is run. */
#ifndef CORTEXM_TESTS_FLOAT_KERNELS_H
#define CORTEXM_TESTS_FLOAT_KERNELS_H

#include "float_cases.h"

#define FLOAT_KERNELS(K)                                                                           \
    K(abs_f32, scalar, unary_case)                                                                 \
    K(ceil_f32, scalar, unary_case)                                                                \
    K(floor_f32, scalar, unary_case)                                                               \
    K(hardsigmoid_f32, scalar, unary_case)                                                         \
    K(hardswish_f32, scalar, unary_case)                                                           \
    K(leaky_relu_f32, scalar, unary_case)                                                          \
    K(neg_f32, scalar, unary_case)                                                                 \
    K(reciprocal_f32, scalar, unary_case)                                                          \
    K(relu_f32, scalar, unary_case)                                                                \
    K(round_f32, scalar, unary_case)                                                               \
    K(rsqrt_f32, scalar, unary_case)                                                               \
    K(sign_f32, scalar, unary_case)                                                                \
    K(sqrt_f32, scalar, unary_case)                                                                \
    K(trunc_f32, scalar, unary_case)                                                               \
    K(acos_f32, scalar, unary_case)                                                                \
    K(acosh_f32, scalar, unary_case)                                                               \
    K(asin_f32, scalar, unary_case)                                                                \
    K(asinh_f32, scalar, unary_case)                                                               \
    K(atan_f32, scalar, unary_case)                                                                \
    K(atanh_f32, scalar, unary_case)                                                               \
    K(cos_f32, scalar, unary_case)                                                                 \
    K(cosh_f32, scalar, unary_case)                                                                \
    K(elu_f32, scalar, unary_case)                                                                 \
    K(erf_f32, scalar, unary_case)                                                                 \
    K(exp_f32, scalar, unary_case)                                                                 \
    K(expm1_f32, scalar, unary_case)                                                               \
    K(gelu_f32, scalar, unary_case)                                                                \
    K(gelu_tanh_f32, scalar, unary_case)                                                           \
    K(log_f32, scalar, unary_case)                                                                 \
    K(log10_f32, scalar, unary_case)                                                               \
    K(log1p_f32, scalar, unary_case)                                                               \
    K(log2_f32, scalar, unary_case)                                                                \
    K(sigmoid_f32, scalar, unary_case)                                                             \
    K(silu_f32, scalar, unary_case)                                                                \
    K(sin_f32, scalar, unary_case)                                                                 \
    K(sinh_f32, scalar, unary_case)                                                                \
    K(tan_f32, scalar, unary_case)                                                                 \
    K(tanh_f32, scalar, unary_case)                                                                \
    K(clamp_f32, scalar, clamp_f32_case)                                                           \
    K(clamp_s8, scalar, clamp_s8_case)                                                             \
    K(clamp_s16, scalar, clamp_s16_case)                                                           \
    K(clamp_s32, scalar, clamp_s32_case)                                                           \
    K(clamp_s64, scalar, clamp_s64_case)                                                           \
    K(clamp_u8, scalar, clamp_u8_case)                                                             \
    K(minimum_f32, scalar, binary_f32_case)                                                        \
    K(minimum_s32, scalar, binary_s32_case)                                                        \
    K(minimum_s64, scalar, binary_s64_case)                                                        \
    K(maximum_f32, scalar, binary_f32_case)                                                        \
    K(maximum_s32, scalar, binary_s32_case)                                                        \
    K(maximum_s64, scalar, binary_s64_case)                                                        \
    K(add_f32, scalar, binary_f32_case)                                                            \
    K(sub_f32, scalar, binary_f32_case)                                                            \
    K(mul_f32, scalar, binary_f32_case)                                                            \
    K(div_f32, scalar, binary_f32_case)                                                            \
    K(fmod_f32, scalar, binary_f32_case)                                                           \
    K(remainder_f32, scalar, binary_f32_case)                                                      \
    K(floor_divide_f32, scalar, binary_f32_case)                                                   \
    K(trunc_divide_f32, scalar, binary_f32_case)                                                   \
    K(pow_f32, scalar, binary_f32_case)                                                            \
    K(atan2_f32, scalar, binary_f32_case)                                                          \
    K(add_s32, scalar, binary_s32_case)                                                            \
    K(add_s64, scalar, binary_s64_case)                                                            \
    K(sub_s32, scalar, binary_s32_case)                                                            \
    K(sub_s64, scalar, binary_s64_case)                                                            \
    K(mul_s32, scalar, binary_s32_case)                                                            \
    K(mul_s64, scalar, binary_s64_case)                                                            \
    K(fmod_s32, scalar, divide_s32_case)                                                           \
    K(fmod_s64, scalar, divide_s64_case)                                                           \
    K(remainder_s32, scalar, divide_s32_case)                                                      \
    K(remainder_s64, scalar, divide_s64_case)                                                      \
    K(floor_divide_s32, scalar, divide_s32_case)                                                   \
    K(floor_divide_s64, scalar, divide_s64_case)                                                   \
    K(trunc_divide_s32, scalar, divide_s32_case)                                                   \
    K(trunc_divide_s64, scalar, divide_s64_case)                                                   \
    K(conv2d_f32, scalar, conv2d_f32_case)                                                         \
    K(transpose_conv2d_f32, scalar, transpose_conv2d_f32_case)                                     \
    K(matmul_f32, scalar, matmul_f32_case)                                                         \
    K(softmax_f32, scalar, softmax_f32_case)                                                       \
    K(log_softmax_f32, scalar, softmax_f32_case)                                                   \
    K(avg_pool2d_f32, scalar, pool_f32_case)                                                       \
    K(max_pool2d_f32, scalar, pool_f32_case)                                                       \
    K(group_norm_f32, scalar, group_norm_f32_case)

#endif
