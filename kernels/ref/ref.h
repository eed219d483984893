/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The references: one for each operator and its types, as short and obvious as possible, and the
 * truth that every variant is compared with. They share no code with the kernels. They are for tests
 * and run anywhere.
 */
#ifndef CORTEXM_REF_H
#define CORTEXM_REF_H

#include <stdint.h>
#include <string.h>

#include "cortexm/kernels.h"

/* Weights of 4 bits are not packed for a reference: it takes them, and their multipliers, as those of 8. */
#define cortexm_conv2d_s8w4_ref cortexm_conv2d_s8_ref
#define cortexm_depthwise_conv2d_s8w4_ref cortexm_depthwise_conv2d_s8_ref
#define cortexm_transpose_conv2d_s8w4_ref cortexm_transpose_conv2d_s8_ref
#define cortexm_linear_s8w4_ref cortexm_linear_s8_ref
#define cortexm_conv2d_s16w4_ref cortexm_conv2d_s16_ref
#define cortexm_depthwise_conv2d_s16w4_ref cortexm_depthwise_conv2d_s16_ref
#define cortexm_linear_s16w4_ref cortexm_linear_s16_ref
#define cortexm_lstm_s8w4_ref cortexm_lstm_s8_ref
#define cortexm_lstm_s16w4_ref cortexm_lstm_s16_ref
#define cortexm_gru_s8w4_ref cortexm_gru_s8_ref
#define cortexm_gru_s16w4_ref cortexm_gru_s16_ref
#define cortexm_rnn_s8w4_ref cortexm_rnn_s8_ref
#define cortexm_rnn_s16w4_ref cortexm_rnn_s16_ref

/* kernels: begin; written by scripts/kernel_files.py */
/* conv */
CORTEXM_CONV_S8(cortexm_conv2d_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_planes_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_columns_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_fours_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_symmetric_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_tiles_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_gathered_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_direct_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_few_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_few_unclamped_s8_ref);
CORTEXM_CONV_S8(cortexm_conv2d_plain_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_pixel_s8_ref);
CORTEXM_RING_S8(cortexm_depthwise_ring_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_few_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_pairs_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_3x3_relu_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_3x3_s8_ref);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_planes_s8_ref);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_ref);
CORTEXM_CONV_S16(cortexm_conv2d_s16_ref, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_wide_s16_ref, int64_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16w4_ref, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_ref, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_wide_s16_ref, int64_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16w4_ref, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_planes_s16_ref, int32_t);
CORTEXM_CONV_S16(cortexm_transpose_conv2d_s16_ref, int32_t);
CORTEXM_CONV_S16(cortexm_transpose_conv2d_wide_s16_ref, int64_t);
CORTEXM_CONV_F32(cortexm_conv2d_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_planes_wide_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_channels_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_planes_3x3_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_planes_row_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_channels_wide_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_row_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_one_three_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_one_four_f32_ref);
CORTEXM_CONV_F32(cortexm_conv2d_one_five_f32_ref);
CORTEXM_CONV_F32(cortexm_transpose_conv2d_f32_ref);

/* linear */
CORTEXM_LINEAR_S8(cortexm_linear_s8_ref);
CORTEXM_LINEAR_S8(cortexm_linear_few_s8_ref);
CORTEXM_LINEAR_S8(cortexm_linear_symmetric_s8_ref);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_ref);
CORTEXM_LINEAR_S16(cortexm_linear_s16_ref, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_wide_s16_ref, int64_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16w4_ref, int32_t);
CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_ref);
CORTEXM_MATMUL_F32(cortexm_matmul_f32_ref);

/* recurrent */
CORTEXM_LSTM(cortexm_lstm_s8_ref, int8_t);
CORTEXM_LSTM(cortexm_lstm_s16_ref, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16w4_ref, int16_t);
CORTEXM_GRU(cortexm_gru_s8_ref, int8_t);
CORTEXM_GRU(cortexm_gru_s16_ref, int16_t);
CORTEXM_GRU(cortexm_gru_s16w4_ref, int16_t);
CORTEXM_RNN(cortexm_rnn_s8_ref, int8_t);
CORTEXM_RNN(cortexm_rnn_s16_ref, int16_t);
CORTEXM_RNN(cortexm_rnn_s16w4_ref, int16_t);

/* pool */
CORTEXM_POOL_S8(cortexm_avg_pool2d_pixel_s8_ref);
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_ref);
CORTEXM_POOL_S8(cortexm_max_pool2d_s8_ref);
CORTEXM_POOL_S8(cortexm_avg_pool2d_rows_s8_ref);
CORTEXM_POOL_S8(cortexm_avg_pool2d_eights_s8_ref);
CORTEXM_POOL_S8(cortexm_avg_pool2d_few_s8_ref);
CORTEXM_POOL_S8(cortexm_max_pool2d_rows_s8_ref);
CORTEXM_POOL_S8(cortexm_max_pool2d_few_s8_ref);
CORTEXM_POOL_S16(cortexm_avg_pool2d_s16_ref);
CORTEXM_POOL_S16(cortexm_max_pool2d_s16_ref);
CORTEXM_POOL_S16(cortexm_avg_pool2d_few_s16_ref);
CORTEXM_POOL_S16(cortexm_max_pool2d_few_s16_ref);
CORTEXM_POOL_F32(cortexm_avg_pool2d_f32_ref);
CORTEXM_POOL_F32(cortexm_max_pool2d_f32_ref);

/* activation */
CORTEXM_ACTIVATION_S8(cortexm_activation_s8_ref);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_table_s8_ref);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_columns_s8_ref);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_ref);
CORTEXM_ACTIVATION_S16(cortexm_activation_s16_ref);
CORTEXM_SOFTMAX_S16(cortexm_softmax_s16_ref);
CORTEXM_UNARY(cortexm_abs_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_ceil_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_floor_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_hardsigmoid_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_hardswish_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_leaky_relu_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_neg_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_reciprocal_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_relu_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_round_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_rsqrt_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sign_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sqrt_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_trunc_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_SOFTMAX_S16(cortexm_softmax_columns_s16_ref);
CORTEXM_UNARY(cortexm_acos_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_acosh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_asin_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_asinh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_atan_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_atanh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_cos_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_cosh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_elu_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_erf_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_exp_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_expm1_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_gelu_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_gelu_tanh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log10_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log1p_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log2_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sigmoid_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_silu_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sin_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sinh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_tan_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_tanh_f32_ref, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_clamp_f32_ref, cortexm_clamp_f32_t, float);
CORTEXM_UNARY(cortexm_clamp_s8_ref, cortexm_clamp_t, int8_t);
CORTEXM_UNARY(cortexm_clamp_s16_ref, cortexm_clamp_t, int16_t);
CORTEXM_UNARY(cortexm_clamp_s32_ref, cortexm_clamp_t, int32_t);
CORTEXM_UNARY(cortexm_clamp_s64_ref, cortexm_clamp_t, int64_t);
CORTEXM_UNARY(cortexm_clamp_u8_ref, cortexm_clamp_t, uint8_t);
CORTEXM_SOFTMAX_F32(cortexm_softmax_f32_ref);
CORTEXM_SOFTMAX_F32(cortexm_log_softmax_f32_ref);

/* norm */
CORTEXM_GROUP_NORM_F32(cortexm_group_norm_f32_ref);
CORTEXM_GROUP_NORM(cortexm_group_norm_s8_ref, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s16_ref, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s8_ref, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s16_ref, int16_t);

/* arithmetic */
CORTEXM_ADD_AFFINE(cortexm_add_affine_fine_s8_ref);
CORTEXM_ADD_AFFINE(cortexm_add_affine_s8_ref);
CORTEXM_ADD_S8(cortexm_add_s8_ref);
CORTEXM_MUL_S8(cortexm_mul_s8_ref);
CORTEXM_GATE_S8(cortexm_gate_s8_ref);
CORTEXM_GATE_S16(cortexm_gate_s16_ref);
CORTEXM_ADD_S16(cortexm_add_s16_ref);
CORTEXM_MUL_S16(cortexm_mul_s16_ref);
CORTEXM_DIV(cortexm_div_s8_ref, int8_t);
CORTEXM_DIV(cortexm_div_s16_ref, int16_t);
CORTEXM_MINMAX(cortexm_minimum_s8_ref, int8_t);
CORTEXM_MINMAX(cortexm_minimum_s16_ref, int16_t);
CORTEXM_MINMAX(cortexm_minimum_u8_ref, uint8_t);
CORTEXM_MINMAX(cortexm_maximum_s8_ref, int8_t);
CORTEXM_MINMAX(cortexm_maximum_s16_ref, int16_t);
CORTEXM_MINMAX(cortexm_maximum_u8_ref, uint8_t);
CORTEXM_BINARY(cortexm_minimum_f32_ref, float);
CORTEXM_BINARY(cortexm_minimum_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_minimum_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_maximum_f32_ref, float);
CORTEXM_BINARY(cortexm_maximum_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_maximum_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_add_f32_ref, float);
CORTEXM_BINARY(cortexm_add_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_add_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_sub_f32_ref, float);
CORTEXM_BINARY(cortexm_sub_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_sub_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_mul_f32_ref, float);
CORTEXM_BINARY(cortexm_mul_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_mul_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_div_f32_ref, float);
CORTEXM_BINARY(cortexm_fmod_f32_ref, float);
CORTEXM_BINARY(cortexm_fmod_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_fmod_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_remainder_f32_ref, float);
CORTEXM_BINARY(cortexm_remainder_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_remainder_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_floor_divide_f32_ref, float);
CORTEXM_BINARY(cortexm_floor_divide_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_floor_divide_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_trunc_divide_f32_ref, float);
CORTEXM_BINARY(cortexm_trunc_divide_s32_ref, int32_t);
CORTEXM_BINARY(cortexm_trunc_divide_s64_ref, int64_t);
CORTEXM_BINARY(cortexm_pow_f32_ref, float);
CORTEXM_BINARY(cortexm_atan2_f32_ref, float);

/* compare */
CORTEXM_COMPARE(cortexm_compare_eq_s8_ref, int8_t);
CORTEXM_COMPARE(cortexm_compare_eq_s16_ref, int16_t);
CORTEXM_COMPARE(cortexm_compare_eq_s32_ref, int32_t);
CORTEXM_COMPARE(cortexm_compare_eq_s64_ref, int64_t);
CORTEXM_COMPARE(cortexm_compare_eq_u8_ref, uint8_t);
CORTEXM_COMPARE(cortexm_compare_eq_f32_ref, float);
CORTEXM_COMPARE(cortexm_compare_ne_s8_ref, int8_t);
CORTEXM_COMPARE(cortexm_compare_ne_s16_ref, int16_t);
CORTEXM_COMPARE(cortexm_compare_ne_s32_ref, int32_t);
CORTEXM_COMPARE(cortexm_compare_ne_s64_ref, int64_t);
CORTEXM_COMPARE(cortexm_compare_ne_u8_ref, uint8_t);
CORTEXM_COMPARE(cortexm_compare_ne_f32_ref, float);
CORTEXM_COMPARE(cortexm_compare_lt_s8_ref, int8_t);
CORTEXM_COMPARE(cortexm_compare_lt_s16_ref, int16_t);
CORTEXM_COMPARE(cortexm_compare_lt_s32_ref, int32_t);
CORTEXM_COMPARE(cortexm_compare_lt_s64_ref, int64_t);
CORTEXM_COMPARE(cortexm_compare_lt_u8_ref, uint8_t);
CORTEXM_COMPARE(cortexm_compare_lt_f32_ref, float);
CORTEXM_COMPARE(cortexm_compare_le_s8_ref, int8_t);
CORTEXM_COMPARE(cortexm_compare_le_s16_ref, int16_t);
CORTEXM_COMPARE(cortexm_compare_le_s32_ref, int32_t);
CORTEXM_COMPARE(cortexm_compare_le_s64_ref, int64_t);
CORTEXM_COMPARE(cortexm_compare_le_u8_ref, uint8_t);
CORTEXM_COMPARE(cortexm_compare_le_f32_ref, float);
CORTEXM_WHERE(cortexm_where_x8_ref);
CORTEXM_WHERE(cortexm_where_x16_ref);
CORTEXM_WHERE(cortexm_where_x32_ref);
CORTEXM_WHERE(cortexm_where_x64_ref);

/* convert */
CORTEXM_QUANTIZE(cortexm_quantize_moderate_f32s8_ref, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s8_ref, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s16_ref, int16_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s8s16_ref, int8_t, int16_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s16s8_ref, int16_t, int8_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s16s16_ref, int16_t, int16_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_moderate_s8f32_ref, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s8f32_ref, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s16f32_ref, int16_t);
CORTEXM_CAST(cortexm_center_u8s8_ref, uint8_t, int8_t);
CORTEXM_LOOKUP(cortexm_lookup_u8s8_ref, int8_t);
CORTEXM_LOOKUP(cortexm_lookup_u8s16_ref, int16_t);
CORTEXM_CAST(cortexm_cast_s8s16_ref, int8_t, int16_t);
CORTEXM_CAST(cortexm_cast_s8s32_ref, int8_t, int32_t);
CORTEXM_CAST(cortexm_cast_s8s64_ref, int8_t, int64_t);
CORTEXM_CAST(cortexm_cast_u8s16_ref, uint8_t, int16_t);
CORTEXM_CAST(cortexm_cast_u8s32_ref, uint8_t, int32_t);
CORTEXM_CAST(cortexm_cast_u8s64_ref, uint8_t, int64_t);
CORTEXM_CAST(cortexm_cast_s16s32_ref, int16_t, int32_t);
CORTEXM_CAST(cortexm_cast_s16s64_ref, int16_t, int64_t);
CORTEXM_CAST(cortexm_cast_s32s64_ref, int32_t, int64_t);
CORTEXM_CAST(cortexm_cast_s8f32_ref, int8_t, float);
CORTEXM_CAST(cortexm_cast_u8f32_ref, uint8_t, float);
CORTEXM_CAST(cortexm_cast_s16f32_ref, int16_t, float);
CORTEXM_CAST(cortexm_cast_s32f32_ref, int32_t, float);
CORTEXM_CAST(cortexm_cast_s64f32_ref, int64_t, float);
CORTEXM_CAST(cortexm_cast_f32s8_ref, float, int8_t);
CORTEXM_CAST(cortexm_cast_f32u8_ref, float, uint8_t);
CORTEXM_CAST(cortexm_cast_f32s16_ref, float, int16_t);
CORTEXM_CAST(cortexm_cast_f32s32_ref, float, int32_t);
CORTEXM_CAST(cortexm_cast_f32s64_ref, float, int64_t);

/* move */
CORTEXM_FILL(cortexm_fill_x8_ref);
CORTEXM_FILL(cortexm_fill_x16_ref);
CORTEXM_FILL(cortexm_fill_x32_ref);
CORTEXM_MOVE(cortexm_move_x8_ref);
CORTEXM_COPY(cortexm_copy_x8_ref);
CORTEXM_COPY(cortexm_copy_x16_ref);
CORTEXM_COPY(cortexm_copy_x32_ref);
CORTEXM_COPY(cortexm_copy_x64_ref);
CORTEXM_INTERLEAVE(cortexm_interleave_x8_ref);
CORTEXM_INTERLEAVE(cortexm_interleave_x16_ref);
CORTEXM_COPY_LANES(cortexm_copy_lanes_x8_ref);
CORTEXM_COPY_LANES(cortexm_copy_lanes_x16_ref);

/* index */
CORTEXM_INDEX_OFFSETS(cortexm_index_offsets_s32_ref, int32_t);
CORTEXM_INDEX_OFFSETS(cortexm_index_offsets_s64_ref, int64_t);
CORTEXM_GATHER(cortexm_gather_x8_ref);
CORTEXM_GATHER(cortexm_gather_x16_ref);
CORTEXM_GATHER(cortexm_gather_x32_ref);
CORTEXM_GATHER(cortexm_gather_x64_ref);
CORTEXM_SCATTER(cortexm_scatter_x8_ref);
CORTEXM_SCATTER(cortexm_scatter_x16_ref);
CORTEXM_SCATTER(cortexm_scatter_x32_ref);
CORTEXM_SCATTER(cortexm_scatter_x64_ref);
CORTEXM_SCATTER(cortexm_scatter_add_s8_ref);
CORTEXM_SCATTER(cortexm_scatter_add_s16_ref);
CORTEXM_SCATTER(cortexm_scatter_add_s32_ref);
CORTEXM_SCATTER(cortexm_scatter_add_s64_ref);
CORTEXM_SCATTER(cortexm_scatter_add_u8_ref);
CORTEXM_SCATTER(cortexm_scatter_add_f32_ref);
CORTEXM_EMBEDDING(cortexm_embedding_s8_ref, int8_t);
CORTEXM_EMBEDDING(cortexm_embedding_s16_ref, int16_t);
CORTEXM_PUT(cortexm_put_s32_ref, int32_t);
CORTEXM_PUT(cortexm_put_s64_ref, int64_t);

/* reduce */
CORTEXM_REDUCE(cortexm_amax_s8_ref, int8_t);
CORTEXM_REDUCE(cortexm_amax_s16_ref, int16_t);
CORTEXM_REDUCE(cortexm_amax_s32_ref, int32_t);
CORTEXM_REDUCE(cortexm_amax_s64_ref, int64_t);
CORTEXM_REDUCE(cortexm_amax_u8_ref, uint8_t);
CORTEXM_REDUCE(cortexm_amax_f32_ref, float);
CORTEXM_REDUCE(cortexm_amin_s8_ref, int8_t);
CORTEXM_REDUCE(cortexm_amin_s16_ref, int16_t);
CORTEXM_REDUCE(cortexm_amin_s32_ref, int32_t);
CORTEXM_REDUCE(cortexm_amin_s64_ref, int64_t);
CORTEXM_REDUCE(cortexm_amin_u8_ref, uint8_t);
CORTEXM_REDUCE(cortexm_amin_f32_ref, float);
CORTEXM_ARG_REDUCE(cortexm_argmax_s8_ref, int8_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_s16_ref, int16_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_s32_ref, int32_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_s64_ref, int64_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_u8_ref, uint8_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_f32_ref, float);
CORTEXM_ARG_REDUCE(cortexm_argmin_s8_ref, int8_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_s16_ref, int16_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_s32_ref, int32_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_s64_ref, int64_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_u8_ref, uint8_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_f32_ref, float);
CORTEXM_REDUCE(cortexm_sum_f32_ref, float);
CORTEXM_REDUCE(cortexm_sum_s64_ref, int64_t);
CORTEXM_REDUCE(cortexm_mean_f32_ref, float);
CORTEXM_CUMSUM(cortexm_cumsum_s32_ref, int32_t);
CORTEXM_CUMSUM(cortexm_cumsum_s64_ref, int64_t);
CORTEXM_CUMSUM(cortexm_cumsum_f32_ref, float);
CORTEXM_TOPK(cortexm_topk_s8_ref, int8_t);
CORTEXM_TOPK(cortexm_topk_s16_ref, int16_t);
CORTEXM_TOPK(cortexm_topk_s32_ref, int32_t);
CORTEXM_TOPK(cortexm_topk_s64_ref, int64_t);
CORTEXM_TOPK(cortexm_topk_u8_ref, uint8_t);
CORTEXM_TOPK(cortexm_topk_f32_ref, float);

/* resample */
CORTEXM_BILINEAR(cortexm_bilinear_s8_ref, cortexm_bilinear_codes_t, int8_t);
CORTEXM_BILINEAR(cortexm_bilinear_s16_ref, cortexm_bilinear_codes_t, int16_t);
CORTEXM_BILINEAR(cortexm_bilinear_f32_ref, cortexm_bilinear_f32_t, float);

/* spectrum */
CORTEXM_LOG_MEL(cortexm_log_mel_s16s8_ref, int8_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s16_ref, int16_t);
/* kernels: end */

/*
 * What the references share: mathematics on 64-bit integers, wrapped where int32_t would; the
 * elements of a box; and the lists of types.
 */

static inline int64_t ref_wrap32(int64_t value)
{
    return (int32_t)(uint32_t)(uint64_t)value;
}

static inline int64_t ref_power_of_two(int32_t n)
{
    return (int64_t)1 << n;
}

/* floor(a / b), b > 0 */
static inline int64_t ref_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* a / b to the nearest integer, ties away from zero; b > 0 */
static inline int64_t ref_round_div(int64_t a, int64_t b)
{
    const int64_t magnitude = a < 0 ? -a : a;
    const int64_t quotient = (2 * magnitude + b) / (2 * b);

    return a < 0 ? -quotient : quotient;
}

/* a * b / 2^31 to the nearest integer, ties up */
static inline int64_t ref_high_mul(int64_t a, int64_t b)
{
    return ref_floor_div(a * b + ref_power_of_two(30), ref_power_of_two(31));
}

static inline int64_t ref_requantize(int64_t value, int32_t multiplier, int32_t shift)
{
    const int64_t left = shift > 0 ? ref_power_of_two(shift) : 1;
    const int64_t right = shift < 0 ? ref_power_of_two(-shift) : 1;

    return ref_round_div(ref_high_mul(ref_wrap32(ref_wrap32(value) * left), multiplier), right);
}

/* The requantization of int16 layers: value * multiplier / 2^15 * 2^shift to the nearest integer, ties up. */
static inline int64_t ref_requantize_wide(int64_t value, int32_t multiplier, int32_t shift)
{
    return ref_floor_div(value * multiplier + ref_power_of_two(14 - shift),
                         ref_power_of_two(15 - shift));
}

static inline int64_t ref_clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The elements of a box in C order, by number. */
/* sum + x * y, rounded once. In double the product is exact; the sum is rounded to odd there, so that the
 * second rounding sees on which side of a tie it lies. */
static inline float ref_fma(float sum, float x, float y)
{
    const double product = (double)x * y;
    double total = product + sum;
    const double of_sum = total - product;
    const double lost = (product - (total - of_sum)) + (sum - of_sum);
    int64_t bits;

    memcpy(&bits, &total, sizeof bits);
    if (lost == lost && lost != 0 && (bits & 1) == 0) {
        bits += (lost > 0) == (total > 0) ? 1 : -1;
        memcpy(&total, &bits, sizeof total);
    }
    return (float)total;
}

static inline int box_size(int rank, const int32_t *dims)
{
    int size = 1;

    for (int d = 0; d < rank; ++d) {
        size *= dims[d];
    }
    return size;
}

/* Where element `number` lies in an operand with these strides. */
static inline int box_offset(int number, int rank, const int32_t *dims, const int32_t *stride)
{
    int offset = 0;

    for (int d = rank - 1; d >= 0; --d) {
        offset += number % dims[d] * stride[d];
        number /= dims[d];
    }
    return offset;
}

#define REF_IS_NAN(x) ((x) != (x))

/* DEFINE(..., types, C type) for every type that numbers have, and for every size of an element. */
#define REF_EACH_TYPE(DEFINE, ...)                                                                 \
    DEFINE(__VA_ARGS__, s8, int8_t)                                                                \
    DEFINE(__VA_ARGS__, s16, int16_t)                                                              \
    DEFINE(__VA_ARGS__, s32, int32_t)                                                              \
    DEFINE(__VA_ARGS__, s64, int64_t)                                                              \
    DEFINE(__VA_ARGS__, u8, uint8_t)                                                               \
    DEFINE(__VA_ARGS__, f32, float)

#define REF_EACH_SIZE(DEFINE)                                                                      \
    DEFINE(x8, uint8_t)                                                                            \
    DEFINE(x16, uint16_t)                                                                          \
    DEFINE(x32, uint32_t)                                                                          \
    DEFINE(x64, uint64_t)

#endif
