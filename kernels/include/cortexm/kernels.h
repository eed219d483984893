/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels. kernels.json lists them; params.h says what the parameters mean.
 * Internal: generated code calls them, applications include runtime/include/cortexm/model.h alone.
 *
 * All variants of a kernel have one prototype and give the same bytes. They read nothing but their
 * arguments, write nothing but `out` and `scratch`, and cannot fail: the plan has proved that shapes
 * and parameters fit, and CORTEXM_ASSERT repeats it in debug builds.
 *
 * Pointers are aligned to the element they point to. `out` overlaps no input, except where a
 * comment says that it may equal one. `bias` is never NULL. `scratch` is NULL where the kernel table
 * asks for none.
 */
#ifndef CORTEXM_KERNELS_H
#define CORTEXM_KERNELS_H

#include "cortexm/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The prototypes, so that no variant can differ from the others. Those of kernels with several types
 * take the types of their elements, `from` and `to`, or `type` of both. */

/* Convolutions. Weights: conv2d [out_c][kernel_h][kernel_w][in_c / groups],
 * depthwise_conv2d [kernel_h][kernel_w][out_c], transpose_conv2d [out_c][kernel_h][kernel_w][in_c];
 * here and below in the form that the variant's `pack` names in kernels.json, which
 * python/cortexm_tools/plan/kernels/packing.py makes of it. */
#define CORTEXM_CONV_S8(name)                                                                      \
    void name(const cortexm_conv_s8_t *params, const int8_t *in, const int8_t *weight,             \
              const int32_t *bias, int8_t *out, void *scratch)

/* Those of weights of 4 bits. */
#define CORTEXM_CONV_S8W4(name)                                                                    \
    void name(const cortexm_conv_s8w4_t *params, const int8_t *in, const int8_t *weight,           \
              const int32_t *bias, int8_t *out, void *scratch)

/* Those of int16 codes. Sums and biases have 64 bits, bias_type, in an operator whose name ends in _wide,
 * and 32 in others: these are for layers whose weights and bias prove that no sum needs more. */
#define CORTEXM_CONV_S16(name, bias_type)                                                          \
    void name(const cortexm_conv_s16_t *params, const int16_t *in, const int8_t *weight,           \
              const bias_type *bias, int16_t *out, void *scratch)

/* Sums over a ring. Weights: [turns * rows][channels]. `position_after` may equal `position`. */
#define CORTEXM_RING_S8(name)                                                                      \
    void name(const cortexm_ring_s8_t *params, const int32_t *position, const int8_t *ring,        \
              const int8_t *weight, const int32_t *bias, int32_t *position_after, int8_t *out)

/* Matrix products. linear's weights are [out_features][in_features]. */
#define CORTEXM_LINEAR_S8(name)                                                                    \
    void name(const cortexm_linear_s8_t *params, const int8_t *in, const int8_t *weight,           \
              const int32_t *bias, int8_t *out, void *scratch)

#define CORTEXM_LINEAR_S8W4(name)                                                                  \
    void name(const cortexm_linear_s8w4_t *params, const int8_t *in, const int8_t *weight,         \
              const int32_t *bias, int8_t *out, void *scratch)

#define CORTEXM_LINEAR_S16(name, bias_type)                                                        \
    void name(const cortexm_linear_s16_t *params, const int16_t *in, const int8_t *weight,         \
              const bias_type *bias, int16_t *out, void *scratch)

#define CORTEXM_BATCH_MATMUL_S16(name)                                                             \
    void name(const cortexm_batch_matmul_s16_t *params, const int16_t *lhs, const int16_t *rhs,    \
              int16_t *out, void *scratch)

#define CORTEXM_BATCH_MATMUL_S8(name)                                                              \
    void name(const cortexm_batch_matmul_s8_t *params, const int8_t *lhs, const int8_t *rhs,       \
              int8_t *out, void *scratch)

/* Recurrent layers. Weights: rows of h and then of x, [gates * hidden][hidden + inputs], or of h alone, where
 * params->x_weight has those of x; of gru those of r and z, and then those of x and of h in n by
 * themselves. `y` may equal `h_after` where y_step is 0; gru's may be NULL. */
#define CORTEXM_LSTM(name, type)                                                                   \
    void name(const cortexm_recurrent_t *params, const type *x, const type *h, const int16_t *c,   \
              const int8_t *weight, const int32_t *bias, type *h_after, int16_t *c_after, type *y, \
              void *scratch)

#define CORTEXM_LSTM_INTERPOLATED(name)                                                            \
    void name(const cortexm_lstm_interpolated_t *params, const int8_t *x, const int8_t *h,         \
              const int16_t *c, const int8_t *weight, const int32_t *bias, const int16_t *table,   \
              int8_t *h_after, int16_t *c_after, int8_t *y)

/* before, after [batches][units][rank][memory], which may be the same; x [batches][inputs], y [batches][units]. */
#define CORTEXM_SVDF(name)                                                                         \
    void name(const cortexm_svdf_t *params, const int16_t *before, const int8_t *x,                \
              const int8_t *features, const int32_t *start, const int16_t *times,                  \
              const int32_t *bias, int16_t *after, int8_t *y)

#define CORTEXM_GRU(name, type)                                                                    \
    void name(const cortexm_recurrent_t *params, const type *x, const int16_t *h,                  \
              const int8_t *weight, const int8_t *x_weight, const int8_t *h_weight,                \
              const int32_t *bias, int16_t *h_after, type *y, void *scratch)

#define CORTEXM_RNN(name, type)                                                                    \
    void name(const cortexm_recurrent_t *params, const type *x, const type *h,                     \
              const int8_t *weight, const int32_t *bias, type *h_after, type *y, void *scratch)

/* Pools. Padding counts neither in an average nor in a maximum. A maximum over no pixel at all is
 * act_min; an average always has at least one. */
#define CORTEXM_POOL_S8(name)                                                                      \
    void name(const cortexm_pool_s8_t *params, const int8_t *in, int8_t *out, void *scratch)

#define CORTEXM_POOL_S16(name)                                                                     \
    void name(const cortexm_pool_s16_t *params, const int16_t *in, int16_t *out, void *scratch)

/* Codes, element by element. `out` may equal an operand whose period is count. */
#define CORTEXM_ADD_S8(name)                                                                       \
    void name(const cortexm_add_s8_t *params, const int8_t *a, const int8_t *b, int8_t *out)

#define CORTEXM_ADD_AFFINE(name)                                                                   \
    void name(const cortexm_add_affine_t *params, const int8_t *a, const int8_t *b, int8_t *out)

#define CORTEXM_MUL_S8(name)                                                                       \
    void name(const cortexm_mul_s8_t *params, const int8_t *a, const int8_t *b, int8_t *out)

/* `out` may equal `a` or `b` where that has rows one after the other, too. */
#define CORTEXM_GATE_S8(name)                                                                      \
    void name(const cortexm_gate_s8_t *params, const int8_t *a, const int8_t *b,                   \
              const int8_t *table, int8_t *out)

#define CORTEXM_GATE_S16(name)                                                                     \
    void name(const cortexm_gate_s16_t *params, const int16_t *a, const int16_t *b,                \
              const int16_t *table, int16_t *out)

#define CORTEXM_ADD_S16(name)                                                                      \
    void name(const cortexm_add_s16_t *params, const int16_t *a, const int16_t *b, int16_t *out)

#define CORTEXM_MUL_S16(name)                                                                      \
    void name(const cortexm_mul_s16_t *params, const int16_t *a, const int16_t *b, int16_t *out)

#define CORTEXM_DIV(name, type)                                                                    \
    void name(const cortexm_div_t *params, const type *a, const type *b, type *out)

/* Activations. `out` may equal `in`. */
#define CORTEXM_ACTIVATION_S8(name)                                                                \
    void name(const cortexm_activation_s8_t *params, const int8_t *in, const int8_t *table,        \
              int8_t *out)

#define CORTEXM_SOFTMAX_S8(name)                                                                   \
    void name(const cortexm_softmax_s8_t *params, const int8_t *in, int8_t *out)

/* table[i] is the exponential in Q31 of a code that lies 255 - i below the largest, 0 below diff_min. */
#define CORTEXM_SOFTMAX_TABLE_S8(name)                                                             \
    void name(const cortexm_softmax_s8_t *params, const int8_t *in, const int32_t *table,          \
              int8_t *out)

#define CORTEXM_ACTIVATION_S16(name)                                                               \
    void name(const cortexm_activation_s16_t *params, const int16_t *in, const int16_t *table,     \
              int16_t *out)

#define CORTEXM_SOFTMAX_S16(name)                                                                  \
    void name(const cortexm_softmax_s16_t *params, const int16_t *in, int16_t *out)

#define CORTEXM_SOFTMAX_INTERPOLATED_S16(name)                                                     \
    void name(const cortexm_softmax_interpolated_s16_t *params, const int16_t *in,                 \
              const int16_t *table, int16_t *out)

#define CORTEXM_SIGMOID_S16(name)                                                                  \
    void name(const cortexm_sigmoid_s16_t *params, const int16_t *in, const int16_t *table,        \
              int16_t *out)

/* Codes from bytes, through a table; `out` may begin where `in` does, or before. */
#define CORTEXM_LOOKUP(name, to)                                                                   \
    void name(const cortexm_lookup_t *params, const uint8_t *in, const to *table, to *out)

/* Between codes. */
#define CORTEXM_REQUANTIZE(name, from, to)                                                         \
    void name(const cortexm_requantize_t *params, const from *in, to *out)

/* Between float and codes. An infinity saturates; a NaN becomes the zero point (clamped). */
#define CORTEXM_QUANTIZE(name, to)                                                                 \
    void name(const cortexm_quantize_t *params, const float *in, to *out)

#define CORTEXM_DEQUANTIZE(name, from)                                                             \
    void name(const cortexm_dequantize_t *params, const from *in, float *out)

/* Moving elements of 1, 2, 4 and 8 bytes, whatever they mean. Where a stride of copy is negative,
 * `in` and `out` point to the element of index 0, which is then not the lowest address. */
#define CORTEXM_FILL(name) void name(const cortexm_fill_t *params, void *out)

#define CORTEXM_MOVE(name) void name(const cortexm_move_t *params, const void *in, void *out)

#define CORTEXM_COPY(name) void name(const cortexm_copy_t *params, const void *in, void *out)

#define CORTEXM_INTERLEAVE(name)                                                                   \
    void name(const cortexm_interleave_t *params, const void *a, const void *b, void *out)

#define CORTEXM_COPY_LANES(name)                                                                   \
    void name(const cortexm_copy_lanes_t *params, const void *in, void *out)

/* Functions of every element. `out` may equal `in`. */
#define CORTEXM_UNARY(name, params_type, type)                                                     \
    void name(const params_type *params, const type *in, type *out)

/* Functions of two operands that broadcast; integers wrap and are not divided by 0. `out` may equal
 * an operand that has the result's elements in the result's order. */
#define CORTEXM_BINARY(name, type)                                                                 \
    void name(const cortexm_binary_t *params, const type *a, const type *b, type *out)

/* Float layers. Weights: conv2d [out_c][in_c / groups][kernel_h][kernel_w], transpose_conv2d
 * [in_c][out_c / groups][kernel_h][kernel_w]. */
#define CORTEXM_CONV_F32(name)                                                                     \
    void name(const cortexm_conv_f32_t *params, const float *in, const float *weight,              \
              const float *bias, float *out)

#define CORTEXM_POOL_F32(name)                                                                     \
    void name(const cortexm_pool_f32_t *params, const float *in, float *out)

#define CORTEXM_MATMUL_F32(name)                                                                   \
    void name(const cortexm_matmul_f32_t *params, const float *a, const float *b,                  \
              const float *bias, float *out)

#define CORTEXM_SOFTMAX_F32(name)                                                                  \
    void name(const cortexm_softmax_f32_t *params, const float *in, float *out)

#define CORTEXM_GROUP_NORM(name, type)                                                             \
    void name(const cortexm_group_norm_t *params, const type *in, const int32_t *factor,           \
              const int32_t *offset, type *out)

#define CORTEXM_GROUP_NORM_F32(name)                                                               \
    void name(const cortexm_group_norm_f32_t *params, const float *in, const float *weight,        \
              const float *bias, float *out)

#define CORTEXM_MINMAX(name, type)                                                                 \
    void name(const cortexm_minmax_t *params, const type *a, const type *b, type *out)

/* Comparisons. A NaN is equal to nothing. `out` may not equal an operand. */
#define CORTEXM_COMPARE(name, type)                                                                \
    void name(const cortexm_binary_t *params, const type *a, const type *b, uint8_t *out)

/* Selection by a condition of 0 and not 0, of elements of any type. */
#define CORTEXM_WHERE(name)                                                                        \
    void name(const cortexm_where_t *params, const uint8_t *condition, const void *a,              \
              const void *b, void *out)

/* Reductions, element after element in C order; the first NaN wins in amax and amin. */
#define CORTEXM_REDUCE(name, type)                                                                 \
    void name(const cortexm_reduce_t *params, const type *in, type *out)

/* The number of the first extreme element, or of the first NaN. */
#define CORTEXM_ARG_REDUCE(name, type)                                                             \
    void name(const cortexm_reduce_t *params, const type *in, int64_t *out)

/* Running sums. */
#define CORTEXM_CUMSUM(name, type)                                                                 \
    void name(const cortexm_cumsum_t *params, const type *in, type *out)

/* The largest or smallest elements in order, with their numbers; the lowest number first where they
 * are equal, and a NaN counts as the largest. */
#define CORTEXM_TOPK(name, type)                                                                   \
    void name(const cortexm_topk_t *params, const type *in, type *values, int64_t *index)

/* Conversions. Floats are cut towards zero, saturated to 32 bits (64 for int64; a NaN gives 0), and
 * wrap to narrower integers. Narrowing integers is a copy of their low bytes. */
#define CORTEXM_CAST(name, from, to)                                                               \
    void name(const cortexm_cast_t *params, const from *in, to *out)

/* Indices that come from the input become offsets (int32_t) that lie inside the tensor, whatever
 * they are. */
#define CORTEXM_INDEX_OFFSETS(name, type)                                                          \
    void name(const cortexm_index_offsets_t *params, const type *index, void *offsets)

/* Elements picked and stored by such offsets. Where offsets meet, the last value in C order stays. */
#define CORTEXM_GATHER(name)                                                                       \
    void name(const cortexm_gather_t *params, const void *in, const void *offsets, void *out)

#define CORTEXM_SCATTER(name)                                                                      \
    void name(const cortexm_scatter_t *params, const void *offsets, const void *values, void *out)

/* Rows of a table, by their numbers (int32_t), each times a factor of its own. */
#define CORTEXM_EMBEDDING(name, type)                                                              \
    void name(const cortexm_embedding_t *params, const int8_t *table, const uint16_t *places,      \
              const void *rows, type *out)

/* Elements stored at one index. */
#define CORTEXM_PUT(name, type)                                                                    \
    void name(const cortexm_put_t *params, const type *index, const void *values, void *out)

/* Bilinear interpolation of images; `low`, `high` and weights of every row and column are tables. */
#define CORTEXM_BILINEAR(name, params_type, type)                                                  \
    void name(const params_type *params, const type *in, type *out)

/* Logarithms of bands of spectra. */
#define CORTEXM_LOG_MEL(name, to)                                                                  \
    void name(const cortexm_log_mel_t *params, const int16_t *in, to *out, void *scratch)

/* kernels: begin; written by scripts/kernel_files.py */
/* conv */
CORTEXM_CONV_S8(cortexm_conv2d_s8_scalar);
CORTEXM_CONV_S8(cortexm_conv2d_s8_v6m);
CORTEXM_CONV_S8(cortexm_conv2d_s8_v7m);
CORTEXM_CONV_S8W4(cortexm_conv2d_s8w4_scalar);
CORTEXM_CONV_S8W4(cortexm_conv2d_s8w4_v6m);
CORTEXM_CONV_S8W4(cortexm_conv2d_s8w4_v7m);
CORTEXM_CONV_S8(cortexm_conv2d_by_channel_s8_dsp);
CORTEXM_CONV_S8(cortexm_conv2d_3x3_3x2_s8_dsp);
CORTEXM_CONV_S8(cortexm_conv2d_2x4_s8_dsp);
CORTEXM_CONV_S8(cortexm_conv2d_symmetric_s8_dsp);
CORTEXM_CONV_S8(cortexm_conv2d_s8_dsp);
CORTEXM_CONV_S8W4(cortexm_conv2d_s8w4_dsp);
CORTEXM_CONV_S8(cortexm_conv2d_4x2_s8_mve);
CORTEXM_CONV_S8(cortexm_conv2d_gathered_s8_mve);
CORTEXM_CONV_S8(cortexm_conv2d_direct_s8_mve);
CORTEXM_CONV_S8(cortexm_conv2d_1x1_c32_s8_mve);
CORTEXM_CONV_S8(cortexm_conv2d_1x1_c16_s8_mve);
CORTEXM_CONV_S8(cortexm_conv2d_ungrouped_s8_mve);
CORTEXM_CONV_S8(cortexm_conv2d_s8_mve);
CORTEXM_CONV_S8W4(cortexm_conv2d_s8w4_mve);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_scalar);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_v6m);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_v7m);
CORTEXM_CONV_S8W4(cortexm_depthwise_conv2d_s8w4_scalar);
CORTEXM_CONV_S8W4(cortexm_depthwise_conv2d_s8w4_v6m);
CORTEXM_CONV_S8W4(cortexm_depthwise_conv2d_s8w4_v7m);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_pixel_s8_dsp);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_pixel_s8_mve);
CORTEXM_RING_S8(cortexm_depthwise_ring_s8_scalar);
CORTEXM_RING_S8(cortexm_depthwise_ring_s8_v6m);
CORTEXM_RING_S8(cortexm_depthwise_ring_s8_v7m);
CORTEXM_RING_S8(cortexm_depthwise_ring_s8_dsp);
CORTEXM_RING_S8(cortexm_depthwise_ring_s8_mve);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_dsp);
CORTEXM_CONV_S8W4(cortexm_depthwise_conv2d_s8w4_dsp);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_3x4_s8_mve);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_pairs_s8_mve);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_3x3_relu_s8_mve);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_3x3_s8_mve);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_by_channel_s8_dsp);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_mve);
CORTEXM_CONV_S8W4(cortexm_depthwise_conv2d_s8w4_mve);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_scalar);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_v6m);
CORTEXM_CONV_S8W4(cortexm_transpose_conv2d_s8w4_scalar);
CORTEXM_CONV_S8W4(cortexm_transpose_conv2d_s8w4_v6m);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_dsp);
CORTEXM_CONV_S8W4(cortexm_transpose_conv2d_s8w4_dsp);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_mve);
CORTEXM_CONV_S8W4(cortexm_transpose_conv2d_s8w4_mve);
CORTEXM_CONV_S16(cortexm_conv2d_s16_scalar, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_wide_s16_scalar, int64_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16w4_scalar, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16_v6m, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16_v7m, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16w4_v6m, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16w4_v7m, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16_dsp, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16w4_dsp, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16_mve, int32_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16w4_mve, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_scalar, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_wide_s16_scalar, int64_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16w4_scalar, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_v6m, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_v7m, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16w4_v6m, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16w4_v7m, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_dsp, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16w4_dsp, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_by_channel_s16_dsp, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_mve, int32_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16w4_mve, int32_t);
CORTEXM_CONV_S16(cortexm_transpose_conv2d_s16_scalar, int32_t);
CORTEXM_CONV_S16(cortexm_transpose_conv2d_wide_s16_scalar, int64_t);
CORTEXM_CONV_S16(cortexm_transpose_conv2d_s16_dsp, int32_t);
CORTEXM_CONV_S16(cortexm_transpose_conv2d_s16_mve, int32_t);
CORTEXM_CONV_F32(cortexm_conv2d_f32_scalar);
CORTEXM_CONV_F32(cortexm_conv2d_depthwise_nchw_1x8_f32_dsp);
CORTEXM_CONV_F32(cortexm_conv2d_depthwise_f32_dsp);
CORTEXM_CONV_F32(cortexm_conv2d_depthwise_nchw_3x3_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_depthwise_nchw_row_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_depthwise_4x4_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_depthwise_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_row_f32_dsp);
CORTEXM_CONV_F32(cortexm_conv2d_f32_dsp);
CORTEXM_CONV_F32(cortexm_conv2d_c1_1x3_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_c1_1x4_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_c1_1x5_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_row_f32_mve);
CORTEXM_CONV_F32(cortexm_conv2d_f32_mve);
CORTEXM_CONV_F32(cortexm_transpose_conv2d_f32_scalar);

/* linear */
CORTEXM_LINEAR_S8(cortexm_linear_s8_scalar);
CORTEXM_LINEAR_S8(cortexm_linear_s8_v6m);
CORTEXM_LINEAR_S8(cortexm_linear_s8_v7m);
CORTEXM_LINEAR_S8W4(cortexm_linear_s8w4_scalar);
CORTEXM_LINEAR_S8W4(cortexm_linear_s8w4_v6m);
CORTEXM_LINEAR_S8W4(cortexm_linear_s8w4_v7m);
CORTEXM_LINEAR_S8(cortexm_linear_n3_s8_dsp);
CORTEXM_LINEAR_S8(cortexm_linear_symmetric_s8_dsp);
CORTEXM_LINEAR_S8(cortexm_linear_s8_dsp);
CORTEXM_LINEAR_S8W4(cortexm_linear_s8w4_dsp);
CORTEXM_LINEAR_S8(cortexm_linear_s8_mve);
CORTEXM_LINEAR_S8W4(cortexm_linear_s8w4_mve);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_scalar);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_v6m);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_dsp);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_mve);
CORTEXM_LINEAR_S16(cortexm_linear_s16_scalar, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_wide_s16_scalar, int64_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16w4_scalar, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16_v6m, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16_v7m, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16w4_v6m, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16w4_v7m, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16_dsp, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16w4_dsp, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16_mve, int32_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16w4_mve, int32_t);
CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_scalar);
CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_dsp);
CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_mve);
CORTEXM_MATMUL_F32(cortexm_matmul_f32_scalar);
CORTEXM_MATMUL_F32(cortexm_matmul_f32_dsp);
CORTEXM_MATMUL_F32(cortexm_matmul_f32_mve);

/* recurrent */
CORTEXM_LSTM(cortexm_lstm_s8_scalar, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8_v6m, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8_v7m, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8_dsp, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8_mve, int8_t);
CORTEXM_LSTM(cortexm_lstm_s16_scalar, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16_v6m, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16_v7m, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16_dsp, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16_mve, int16_t);
CORTEXM_LSTM(cortexm_lstm_s8w4_scalar, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8w4_v6m, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8w4_v7m, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8w4_dsp, int8_t);
CORTEXM_LSTM(cortexm_lstm_s8w4_mve, int8_t);
CORTEXM_LSTM(cortexm_lstm_s16w4_scalar, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16w4_v6m, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16w4_v7m, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16w4_dsp, int16_t);
CORTEXM_LSTM(cortexm_lstm_s16w4_mve, int16_t);
CORTEXM_GRU(cortexm_gru_s8_scalar, int8_t);
CORTEXM_GRU(cortexm_gru_s8_v6m, int8_t);
CORTEXM_GRU(cortexm_gru_s8_v7m, int8_t);
CORTEXM_GRU(cortexm_gru_s8_dsp, int8_t);
CORTEXM_GRU(cortexm_gru_s8_mve, int8_t);
CORTEXM_GRU(cortexm_gru_s16_scalar, int16_t);
CORTEXM_GRU(cortexm_gru_s16_v6m, int16_t);
CORTEXM_GRU(cortexm_gru_s16_v7m, int16_t);
CORTEXM_GRU(cortexm_gru_s16_dsp, int16_t);
CORTEXM_GRU(cortexm_gru_s16_mve, int16_t);
CORTEXM_GRU(cortexm_gru_s8w4_scalar, int8_t);
CORTEXM_GRU(cortexm_gru_s8w4_v6m, int8_t);
CORTEXM_GRU(cortexm_gru_s8w4_v7m, int8_t);
CORTEXM_GRU(cortexm_gru_s8w4_dsp, int8_t);
CORTEXM_GRU(cortexm_gru_s8w4_mve, int8_t);
CORTEXM_GRU(cortexm_gru_s16w4_scalar, int16_t);
CORTEXM_GRU(cortexm_gru_s16w4_v6m, int16_t);
CORTEXM_GRU(cortexm_gru_s16w4_v7m, int16_t);
CORTEXM_GRU(cortexm_gru_s16w4_dsp, int16_t);
CORTEXM_GRU(cortexm_gru_s16w4_mve, int16_t);
CORTEXM_RNN(cortexm_rnn_s8_scalar, int8_t);
CORTEXM_RNN(cortexm_rnn_s8_v6m, int8_t);
CORTEXM_RNN(cortexm_rnn_s8_v7m, int8_t);
CORTEXM_RNN(cortexm_rnn_s8_dsp, int8_t);
CORTEXM_RNN(cortexm_rnn_s8_mve, int8_t);
CORTEXM_RNN(cortexm_rnn_s16_scalar, int16_t);
CORTEXM_RNN(cortexm_rnn_s16_v6m, int16_t);
CORTEXM_RNN(cortexm_rnn_s16_v7m, int16_t);
CORTEXM_RNN(cortexm_rnn_s16_dsp, int16_t);
CORTEXM_RNN(cortexm_rnn_s16_mve, int16_t);
CORTEXM_RNN(cortexm_rnn_s8w4_scalar, int8_t);
CORTEXM_RNN(cortexm_rnn_s8w4_v6m, int8_t);
CORTEXM_RNN(cortexm_rnn_s8w4_v7m, int8_t);
CORTEXM_RNN(cortexm_rnn_s8w4_dsp, int8_t);
CORTEXM_RNN(cortexm_rnn_s8w4_mve, int8_t);
CORTEXM_RNN(cortexm_rnn_s16w4_scalar, int16_t);
CORTEXM_RNN(cortexm_rnn_s16w4_v6m, int16_t);
CORTEXM_RNN(cortexm_rnn_s16w4_v7m, int16_t);
CORTEXM_RNN(cortexm_rnn_s16w4_dsp, int16_t);
CORTEXM_RNN(cortexm_rnn_s16w4_mve, int16_t);

/* pool */
CORTEXM_POOL_S8(cortexm_avg_pool2d_pixel_s8_scalar);
CORTEXM_POOL_S8(cortexm_avg_pool2d_pixel_s8_dsp);
CORTEXM_POOL_S8(cortexm_avg_pool2d_pixel_s8_mve);
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_scalar);
CORTEXM_POOL_S8(cortexm_max_pool2d_s8_scalar);
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_dsp);
CORTEXM_POOL_S8(cortexm_avg_pool2d_rows_s8_mve);
CORTEXM_POOL_S8(cortexm_avg_pool2d_eights_s8_mve);
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_mve);
CORTEXM_POOL_S8(cortexm_avg_pool2d_c3_s8_mve);
CORTEXM_POOL_S8(cortexm_max_pool2d_rows_s8_mve);
CORTEXM_POOL_S8(cortexm_max_pool2d_s8_mve);
CORTEXM_POOL_S8(cortexm_max_pool2d_c15_s8_mve);
CORTEXM_POOL_S16(cortexm_avg_pool2d_s16_scalar);
CORTEXM_POOL_S16(cortexm_max_pool2d_s16_scalar);
CORTEXM_POOL_S16(cortexm_avg_pool2d_s16_mve);
CORTEXM_POOL_S16(cortexm_avg_pool2d_c3_s16_mve);
CORTEXM_POOL_S16(cortexm_max_pool2d_s16_mve);
CORTEXM_POOL_S16(cortexm_max_pool2d_c15_s16_mve);
CORTEXM_POOL_F32(cortexm_avg_pool2d_f32_scalar);
CORTEXM_POOL_F32(cortexm_max_pool2d_f32_scalar);
CORTEXM_POOL_F32(cortexm_avg_pool2d_f32_mve);
CORTEXM_POOL_F32(cortexm_max_pool2d_f32_mve);

/* activation */
CORTEXM_ACTIVATION_S8(cortexm_activation_s8_scalar);
CORTEXM_ACTIVATION_S8(cortexm_activation_s8_mve);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_table_s8_scalar);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_table_s8_v6m);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_table_s8_dsp);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_columns_s8_mve);
CORTEXM_SOFTMAX_TABLE_S8(cortexm_softmax_table_s8_mve);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_mve);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_dsp);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_scalar);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_v6m);
CORTEXM_ACTIVATION_S16(cortexm_activation_s16_scalar);
CORTEXM_ACTIVATION_S16(cortexm_activation_s16_mve);
CORTEXM_SOFTMAX_S16(cortexm_softmax_s16_scalar);
CORTEXM_SOFTMAX_INTERPOLATED_S16(cortexm_softmax_interpolated_s16_scalar);
CORTEXM_SIGMOID_S16(cortexm_sigmoid_s16_scalar);
CORTEXM_UNARY(cortexm_abs_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_ceil_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_floor_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_hardsigmoid_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_hardswish_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_leaky_relu_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_neg_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_reciprocal_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_relu_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_round_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_rsqrt_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sign_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sqrt_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_trunc_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_SOFTMAX_S16(cortexm_softmax_s16_dsp);
CORTEXM_SOFTMAX_S16(cortexm_softmax_columns_s16_mve);
CORTEXM_SOFTMAX_S16(cortexm_softmax_s16_mve);
CORTEXM_UNARY(cortexm_abs_f32_dsp, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_neg_f32_dsp, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_relu_f32_dsp, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_leaky_relu_f32_dsp, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_abs_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_hardsigmoid_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_hardswish_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_leaky_relu_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_neg_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_relu_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_ceil_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_floor_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_reciprocal_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_round_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_rsqrt_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sqrt_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_trunc_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sign_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_acos_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_acosh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_asin_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_asinh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_atan_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_atanh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_cos_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_cosh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_elu_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_erf_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_exp_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_expm1_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_gelu_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_gelu_tanh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log10_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log1p_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log2_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sigmoid_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_silu_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sin_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sinh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_tan_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_tanh_f32_scalar, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_cos_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sin_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_elu_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_erf_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_exp_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_expm1_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_gelu_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_gelu_tanh_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_sigmoid_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_silu_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_tanh_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log10_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log1p_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_log2_f32_mve, cortexm_unary_f32_t, float);
CORTEXM_UNARY(cortexm_clamp_f32_scalar, cortexm_clamp_f32_t, float);
CORTEXM_UNARY(cortexm_clamp_f32_dsp, cortexm_clamp_f32_t, float);
CORTEXM_UNARY(cortexm_clamp_f32_mve, cortexm_clamp_f32_t, float);
CORTEXM_UNARY(cortexm_clamp_s8_scalar, cortexm_clamp_t, int8_t);
CORTEXM_UNARY(cortexm_clamp_s16_scalar, cortexm_clamp_t, int16_t);
CORTEXM_UNARY(cortexm_clamp_s32_scalar, cortexm_clamp_t, int32_t);
CORTEXM_UNARY(cortexm_clamp_s64_scalar, cortexm_clamp_t, int64_t);
CORTEXM_UNARY(cortexm_clamp_u8_scalar, cortexm_clamp_t, uint8_t);
CORTEXM_SOFTMAX_F32(cortexm_softmax_f32_scalar);
CORTEXM_SOFTMAX_F32(cortexm_log_softmax_f32_scalar);
CORTEXM_SOFTMAX_F32(cortexm_softmax_f32_mve);
CORTEXM_SOFTMAX_F32(cortexm_log_softmax_f32_mve);

/* norm */
CORTEXM_GROUP_NORM_F32(cortexm_group_norm_f32_scalar);
CORTEXM_GROUP_NORM_F32(cortexm_group_norm_f32_mve);
CORTEXM_GROUP_NORM(cortexm_group_norm_s8_scalar, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s16_scalar, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s8_v6m, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s16_v6m, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s8_v7m, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s8_dsp, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s16_v7m, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s16_dsp, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s8_v7m, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s8_dsp, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s16_v7m, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s16_dsp, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s8_mve, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_rows_s16_mve, int16_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s8_mve, int8_t);
CORTEXM_GROUP_NORM(cortexm_group_norm_s16_mve, int16_t);

/* arithmetic */
CORTEXM_ADD_AFFINE(cortexm_add_affine_fine_s8_scalar);
CORTEXM_ADD_AFFINE(cortexm_add_affine_fine_s8_v6m);
CORTEXM_ADD_AFFINE(cortexm_add_affine_fine_s8_v7m);
CORTEXM_ADD_AFFINE(cortexm_add_affine_fine_s8_dsp);
CORTEXM_ADD_AFFINE(cortexm_add_affine_fine_s8_mve);
CORTEXM_ADD_AFFINE(cortexm_add_affine_s8_scalar);
CORTEXM_ADD_AFFINE(cortexm_add_affine_s8_v6m);
CORTEXM_ADD_AFFINE(cortexm_add_affine_s8_v7m);
CORTEXM_ADD_AFFINE(cortexm_add_affine_s8_dsp);
CORTEXM_ADD_AFFINE(cortexm_add_affine_s8_mve);
CORTEXM_ADD_S8(cortexm_add_s8_scalar);
CORTEXM_ADD_S8(cortexm_add_s8_v6m);
CORTEXM_ADD_S8(cortexm_add_s8_v7m);
CORTEXM_ADD_S8(cortexm_add_s8_dsp);
CORTEXM_ADD_S8(cortexm_add_s8_mve);
CORTEXM_MUL_S8(cortexm_mul_s8_scalar);
CORTEXM_MUL_S8(cortexm_mul_s8_v6m);
CORTEXM_MUL_S8(cortexm_mul_s8_dsp);
CORTEXM_MUL_S8(cortexm_mul_s8_mve);
CORTEXM_GATE_S8(cortexm_gate_s8_scalar);
CORTEXM_GATE_S8(cortexm_gate_s8_v6m);
CORTEXM_GATE_S8(cortexm_gate_s8_dsp);
CORTEXM_GATE_S8(cortexm_gate_s8_mve);
CORTEXM_GATE_S16(cortexm_gate_s16_scalar);
CORTEXM_GATE_S16(cortexm_gate_s16_v6m);
CORTEXM_GATE_S16(cortexm_gate_s16_dsp);
CORTEXM_GATE_S16(cortexm_gate_s16_mve);
CORTEXM_ADD_S16(cortexm_add_s16_scalar);
CORTEXM_ADD_S16(cortexm_add_s16_v6m);
CORTEXM_ADD_S16(cortexm_add_s16_dsp);
CORTEXM_MUL_S16(cortexm_mul_s16_scalar);
CORTEXM_MUL_S16(cortexm_mul_s16_v6m);
CORTEXM_MUL_S16(cortexm_mul_s16_dsp);
CORTEXM_ADD_S16(cortexm_add_s16_mve);
CORTEXM_MUL_S16(cortexm_mul_s16_mve);
CORTEXM_DIV(cortexm_div_s8_scalar, int8_t);
CORTEXM_DIV(cortexm_div_s16_scalar, int16_t);
CORTEXM_MINMAX(cortexm_minimum_s8_scalar, int8_t);
CORTEXM_MINMAX(cortexm_minimum_s16_scalar, int16_t);
CORTEXM_MINMAX(cortexm_minimum_u8_scalar, uint8_t);
CORTEXM_MINMAX(cortexm_maximum_s8_scalar, int8_t);
CORTEXM_MINMAX(cortexm_maximum_s16_scalar, int16_t);
CORTEXM_MINMAX(cortexm_maximum_u8_scalar, uint8_t);
CORTEXM_MINMAX(cortexm_minimum_s8_mve, int8_t);
CORTEXM_MINMAX(cortexm_minimum_s16_mve, int16_t);
CORTEXM_MINMAX(cortexm_maximum_s8_mve, int8_t);
CORTEXM_MINMAX(cortexm_maximum_s16_mve, int16_t);
CORTEXM_BINARY(cortexm_minimum_f32_scalar, float);
CORTEXM_BINARY(cortexm_minimum_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_minimum_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_maximum_f32_scalar, float);
CORTEXM_BINARY(cortexm_maximum_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_maximum_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_add_f32_scalar, float);
CORTEXM_BINARY(cortexm_add_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_add_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_sub_f32_scalar, float);
CORTEXM_BINARY(cortexm_sub_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_sub_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_mul_f32_scalar, float);
CORTEXM_BINARY(cortexm_mul_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_mul_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_minimum_f32_dsp, float);
CORTEXM_BINARY(cortexm_maximum_f32_dsp, float);
CORTEXM_BINARY(cortexm_add_f32_dsp, float);
CORTEXM_BINARY(cortexm_sub_f32_dsp, float);
CORTEXM_BINARY(cortexm_mul_f32_dsp, float);
CORTEXM_BINARY(cortexm_minimum_f32_mve, float);
CORTEXM_BINARY(cortexm_maximum_f32_mve, float);
CORTEXM_BINARY(cortexm_add_f32_mve, float);
CORTEXM_BINARY(cortexm_sub_f32_mve, float);
CORTEXM_BINARY(cortexm_mul_f32_mve, float);
CORTEXM_BINARY(cortexm_div_f32_mve, float);
CORTEXM_BINARY(cortexm_div_f32_scalar, float);
CORTEXM_BINARY(cortexm_fmod_f32_scalar, float);
CORTEXM_BINARY(cortexm_fmod_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_fmod_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_remainder_f32_scalar, float);
CORTEXM_BINARY(cortexm_remainder_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_remainder_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_floor_divide_f32_scalar, float);
CORTEXM_BINARY(cortexm_floor_divide_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_floor_divide_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_trunc_divide_f32_scalar, float);
CORTEXM_BINARY(cortexm_trunc_divide_s32_scalar, int32_t);
CORTEXM_BINARY(cortexm_trunc_divide_s64_scalar, int64_t);
CORTEXM_BINARY(cortexm_pow_f32_scalar, float);
CORTEXM_BINARY(cortexm_atan2_f32_scalar, float);

/* compare */
CORTEXM_COMPARE(cortexm_compare_eq_s8_scalar, int8_t);
CORTEXM_COMPARE(cortexm_compare_eq_s16_scalar, int16_t);
CORTEXM_COMPARE(cortexm_compare_eq_s32_scalar, int32_t);
CORTEXM_COMPARE(cortexm_compare_eq_s64_scalar, int64_t);
CORTEXM_COMPARE(cortexm_compare_eq_u8_scalar, uint8_t);
CORTEXM_COMPARE(cortexm_compare_eq_f32_scalar, float);
CORTEXM_COMPARE(cortexm_compare_ne_s8_scalar, int8_t);
CORTEXM_COMPARE(cortexm_compare_ne_s16_scalar, int16_t);
CORTEXM_COMPARE(cortexm_compare_ne_s32_scalar, int32_t);
CORTEXM_COMPARE(cortexm_compare_ne_s64_scalar, int64_t);
CORTEXM_COMPARE(cortexm_compare_ne_u8_scalar, uint8_t);
CORTEXM_COMPARE(cortexm_compare_ne_f32_scalar, float);
CORTEXM_COMPARE(cortexm_compare_lt_s8_scalar, int8_t);
CORTEXM_COMPARE(cortexm_compare_lt_s16_scalar, int16_t);
CORTEXM_COMPARE(cortexm_compare_lt_s32_scalar, int32_t);
CORTEXM_COMPARE(cortexm_compare_lt_s64_scalar, int64_t);
CORTEXM_COMPARE(cortexm_compare_lt_u8_scalar, uint8_t);
CORTEXM_COMPARE(cortexm_compare_lt_f32_scalar, float);
CORTEXM_COMPARE(cortexm_compare_le_s8_scalar, int8_t);
CORTEXM_COMPARE(cortexm_compare_le_s16_scalar, int16_t);
CORTEXM_COMPARE(cortexm_compare_le_s32_scalar, int32_t);
CORTEXM_COMPARE(cortexm_compare_le_s64_scalar, int64_t);
CORTEXM_COMPARE(cortexm_compare_le_u8_scalar, uint8_t);
CORTEXM_COMPARE(cortexm_compare_le_f32_scalar, float);
CORTEXM_WHERE(cortexm_where_x8_scalar);
CORTEXM_WHERE(cortexm_where_x16_scalar);
CORTEXM_WHERE(cortexm_where_x32_scalar);
CORTEXM_WHERE(cortexm_where_x64_scalar);
CORTEXM_COMPARE(cortexm_compare_eq_s8_mve, int8_t);
CORTEXM_COMPARE(cortexm_compare_eq_s16_mve, int16_t);
CORTEXM_COMPARE(cortexm_compare_eq_s32_mve, int32_t);
CORTEXM_COMPARE(cortexm_compare_eq_u8_mve, uint8_t);
CORTEXM_COMPARE(cortexm_compare_ne_s8_mve, int8_t);
CORTEXM_COMPARE(cortexm_compare_ne_s16_mve, int16_t);
CORTEXM_COMPARE(cortexm_compare_ne_s32_mve, int32_t);
CORTEXM_COMPARE(cortexm_compare_ne_u8_mve, uint8_t);
CORTEXM_COMPARE(cortexm_compare_lt_s8_mve, int8_t);
CORTEXM_COMPARE(cortexm_compare_lt_s16_mve, int16_t);
CORTEXM_COMPARE(cortexm_compare_lt_s32_mve, int32_t);
CORTEXM_COMPARE(cortexm_compare_lt_u8_mve, uint8_t);
CORTEXM_COMPARE(cortexm_compare_le_s8_mve, int8_t);
CORTEXM_COMPARE(cortexm_compare_le_s16_mve, int16_t);
CORTEXM_COMPARE(cortexm_compare_le_s32_mve, int32_t);
CORTEXM_COMPARE(cortexm_compare_le_u8_mve, uint8_t);
CORTEXM_WHERE(cortexm_where_x8_mve);
CORTEXM_WHERE(cortexm_where_x16_mve);
CORTEXM_WHERE(cortexm_where_x32_mve);

/* convert */
CORTEXM_QUANTIZE(cortexm_quantize_moderate_f32s8_scalar, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_moderate_f32s8_v6m, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s8_scalar, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s8_v6m, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s16_mve, int16_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s8_mve, int8_t);
CORTEXM_QUANTIZE(cortexm_quantize_f32s16_scalar, int16_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s8s16_scalar, int8_t, int16_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s8s16_v6m, int8_t, int16_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s16s8_scalar, int16_t, int8_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s16s8_v6m, int16_t, int8_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s16s16_scalar, int16_t, int16_t);
CORTEXM_REQUANTIZE(cortexm_requantize_s16s16_v6m, int16_t, int16_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_moderate_s8f32_scalar, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_moderate_s8f32_v6m, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s8f32_scalar, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s8f32_v6m, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s8f32_mve, int8_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s16f32_scalar, int16_t);
CORTEXM_DEQUANTIZE(cortexm_dequantize_s16f32_mve, int16_t);
CORTEXM_CAST(cortexm_center_u8s8_scalar, uint8_t, int8_t);
CORTEXM_CAST(cortexm_center_u8s8_mve, uint8_t, int8_t);
CORTEXM_LOOKUP(cortexm_lookup_u8s8_scalar, int8_t);
CORTEXM_LOOKUP(cortexm_lookup_u8s16_scalar, int16_t);
CORTEXM_LOOKUP(cortexm_lookup_u8s8_mve, int8_t);
CORTEXM_LOOKUP(cortexm_lookup_u8s16_mve, int16_t);
CORTEXM_CAST(cortexm_cast_s8s16_scalar, int8_t, int16_t);
CORTEXM_CAST(cortexm_cast_s8s32_scalar, int8_t, int32_t);
CORTEXM_CAST(cortexm_cast_s8s64_scalar, int8_t, int64_t);
CORTEXM_CAST(cortexm_cast_u8s16_scalar, uint8_t, int16_t);
CORTEXM_CAST(cortexm_cast_u8s32_scalar, uint8_t, int32_t);
CORTEXM_CAST(cortexm_cast_u8s64_scalar, uint8_t, int64_t);
CORTEXM_CAST(cortexm_cast_s16s32_scalar, int16_t, int32_t);
CORTEXM_CAST(cortexm_cast_s16s64_scalar, int16_t, int64_t);
CORTEXM_CAST(cortexm_cast_s32s64_scalar, int32_t, int64_t);
CORTEXM_CAST(cortexm_cast_s8f32_scalar, int8_t, float);
CORTEXM_CAST(cortexm_cast_u8f32_scalar, uint8_t, float);
CORTEXM_CAST(cortexm_cast_s16f32_scalar, int16_t, float);
CORTEXM_CAST(cortexm_cast_s32f32_scalar, int32_t, float);
CORTEXM_CAST(cortexm_cast_s64f32_scalar, int64_t, float);
CORTEXM_CAST(cortexm_cast_f32s8_scalar, float, int8_t);
CORTEXM_CAST(cortexm_cast_f32u8_scalar, float, uint8_t);
CORTEXM_CAST(cortexm_cast_f32s16_scalar, float, int16_t);
CORTEXM_CAST(cortexm_cast_f32s32_scalar, float, int32_t);
CORTEXM_CAST(cortexm_cast_f32s64_scalar, float, int64_t);

/* move */
CORTEXM_FILL(cortexm_fill_x8_scalar);
CORTEXM_FILL(cortexm_fill_x16_scalar);
CORTEXM_FILL(cortexm_fill_x32_scalar);
CORTEXM_FILL(cortexm_fill_x8_mve);
CORTEXM_MOVE(cortexm_move_x8_scalar);
CORTEXM_MOVE(cortexm_move_x8_v7m);
CORTEXM_MOVE(cortexm_move_x8_mve);
CORTEXM_COPY(cortexm_copy_x8_scalar);
CORTEXM_COPY(cortexm_copy_x16_scalar);
CORTEXM_COPY(cortexm_copy_x32_scalar);
CORTEXM_COPY(cortexm_copy_x64_scalar);
CORTEXM_COPY(cortexm_copy_x8_v7m);
CORTEXM_COPY(cortexm_copy_x16_v7m);
CORTEXM_INTERLEAVE(cortexm_interleave_x8_v7m);
CORTEXM_INTERLEAVE(cortexm_interleave_x16_v7m);
CORTEXM_COPY_LANES(cortexm_copy_lanes_x8_mve);
CORTEXM_COPY_LANES(cortexm_copy_lanes_x16_mve);

/* index */
CORTEXM_INDEX_OFFSETS(cortexm_index_offsets_s32_scalar, int32_t);
CORTEXM_INDEX_OFFSETS(cortexm_index_offsets_s64_scalar, int64_t);
CORTEXM_GATHER(cortexm_gather_x8_scalar);
CORTEXM_GATHER(cortexm_gather_x16_scalar);
CORTEXM_GATHER(cortexm_gather_x32_scalar);
CORTEXM_GATHER(cortexm_gather_x64_scalar);
CORTEXM_SCATTER(cortexm_scatter_x8_scalar);
CORTEXM_SCATTER(cortexm_scatter_x16_scalar);
CORTEXM_SCATTER(cortexm_scatter_x32_scalar);
CORTEXM_SCATTER(cortexm_scatter_x64_scalar);
CORTEXM_SCATTER(cortexm_scatter_add_s8_scalar);
CORTEXM_SCATTER(cortexm_scatter_add_s16_scalar);
CORTEXM_SCATTER(cortexm_scatter_add_s32_scalar);
CORTEXM_SCATTER(cortexm_scatter_add_s64_scalar);
CORTEXM_SCATTER(cortexm_scatter_add_u8_scalar);
CORTEXM_SCATTER(cortexm_scatter_add_f32_scalar);
CORTEXM_EMBEDDING(cortexm_embedding_s8_scalar, int8_t);
CORTEXM_EMBEDDING(cortexm_embedding_s16_scalar, int16_t);
CORTEXM_PUT(cortexm_put_s32_scalar, int32_t);
CORTEXM_PUT(cortexm_put_s64_scalar, int64_t);

/* reduce */
CORTEXM_REDUCE(cortexm_amax_s8_scalar, int8_t);
CORTEXM_REDUCE(cortexm_amax_s16_scalar, int16_t);
CORTEXM_REDUCE(cortexm_amax_s32_scalar, int32_t);
CORTEXM_REDUCE(cortexm_amax_s64_scalar, int64_t);
CORTEXM_REDUCE(cortexm_amax_u8_scalar, uint8_t);
CORTEXM_REDUCE(cortexm_amax_f32_scalar, float);
CORTEXM_REDUCE(cortexm_amin_s8_scalar, int8_t);
CORTEXM_REDUCE(cortexm_amin_s16_scalar, int16_t);
CORTEXM_REDUCE(cortexm_amin_s32_scalar, int32_t);
CORTEXM_REDUCE(cortexm_amin_s64_scalar, int64_t);
CORTEXM_REDUCE(cortexm_amin_u8_scalar, uint8_t);
CORTEXM_REDUCE(cortexm_amin_f32_scalar, float);
CORTEXM_REDUCE(cortexm_amax_s8_mve, int8_t);
CORTEXM_REDUCE(cortexm_amax_s16_mve, int16_t);
CORTEXM_REDUCE(cortexm_amin_s8_mve, int8_t);
CORTEXM_REDUCE(cortexm_amin_s16_mve, int16_t);
CORTEXM_REDUCE(cortexm_amax_f32_mve, float);
CORTEXM_REDUCE(cortexm_amin_f32_mve, float);
CORTEXM_ARG_REDUCE(cortexm_argmax_s8_scalar, int8_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_s16_scalar, int16_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_s32_scalar, int32_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_s64_scalar, int64_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_u8_scalar, uint8_t);
CORTEXM_ARG_REDUCE(cortexm_argmax_f32_scalar, float);
CORTEXM_ARG_REDUCE(cortexm_argmin_s8_scalar, int8_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_s16_scalar, int16_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_s32_scalar, int32_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_s64_scalar, int64_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_u8_scalar, uint8_t);
CORTEXM_ARG_REDUCE(cortexm_argmin_f32_scalar, float);
CORTEXM_REDUCE(cortexm_sum_f32_scalar, float);
CORTEXM_REDUCE(cortexm_sum_s64_scalar, int64_t);
CORTEXM_REDUCE(cortexm_mean_f32_scalar, float);
CORTEXM_REDUCE(cortexm_mean_f32_mve, float);
CORTEXM_REDUCE(cortexm_sum_f32_mve, float);
CORTEXM_CUMSUM(cortexm_cumsum_s32_scalar, int32_t);
CORTEXM_CUMSUM(cortexm_cumsum_s64_scalar, int64_t);
CORTEXM_CUMSUM(cortexm_cumsum_f32_scalar, float);
CORTEXM_TOPK(cortexm_topk_s8_scalar, int8_t);
CORTEXM_TOPK(cortexm_topk_s16_scalar, int16_t);
CORTEXM_TOPK(cortexm_topk_s32_scalar, int32_t);
CORTEXM_TOPK(cortexm_topk_s64_scalar, int64_t);
CORTEXM_TOPK(cortexm_topk_u8_scalar, uint8_t);
CORTEXM_TOPK(cortexm_topk_f32_scalar, float);

/* recurrent */
CORTEXM_LSTM_INTERPOLATED(cortexm_lstm_interpolated_s8_scalar);
CORTEXM_SVDF(cortexm_svdf_s8_scalar);

/* resample */
CORTEXM_BILINEAR(cortexm_bilinear_s8_scalar, cortexm_bilinear_codes_t, int8_t);
CORTEXM_BILINEAR(cortexm_bilinear_s8_mve, cortexm_bilinear_codes_t, int8_t);
CORTEXM_BILINEAR(cortexm_bilinear_s16_scalar, cortexm_bilinear_codes_t, int16_t);
CORTEXM_BILINEAR(cortexm_bilinear_f32_scalar, cortexm_bilinear_f32_t, float);

/* spectrum */
CORTEXM_LOG_MEL(cortexm_log_mel_s16s8_scalar, int8_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s8_v6m, int8_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s8_dsp, int8_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s16_scalar, int16_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s16_v6m, int16_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s16_dsp, int16_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s8_mve, int8_t);
CORTEXM_LOG_MEL(cortexm_log_mel_s16s16_mve, int16_t);

/* Adapters of other libraries, linked where KERNELS chooses one */
CORTEXM_CONV_S8(cortexm_conv2d_s8_cmsis_nn);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8_cmsis_nn);
CORTEXM_CONV_S8(cortexm_transpose_conv2d_s8_cmsis_nn);
CORTEXM_LINEAR_S8(cortexm_linear_s8_cmsis_nn);
CORTEXM_BATCH_MATMUL_S8(cortexm_batch_matmul_s8_cmsis_nn);
CORTEXM_POOL_S8(cortexm_avg_pool2d_s8_cmsis_nn);
CORTEXM_POOL_S8(cortexm_max_pool2d_s8_cmsis_nn);
CORTEXM_SOFTMAX_S8(cortexm_softmax_s8_cmsis_nn);
CORTEXM_ADD_S8(cortexm_add_s8_cmsis_nn);
CORTEXM_MUL_S8(cortexm_mul_s8_cmsis_nn);
CORTEXM_MINMAX(cortexm_minimum_s8_cmsis_nn, int8_t);
CORTEXM_MINMAX(cortexm_maximum_s8_cmsis_nn, int8_t);
CORTEXM_CONV_S16(cortexm_conv2d_s16_cmsis_nn, int64_t);
CORTEXM_CONV_S16(cortexm_conv2d_wide_s16_cmsis_nn, int64_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_s16_cmsis_nn, int64_t);
CORTEXM_CONV_S16(cortexm_depthwise_conv2d_wide_s16_cmsis_nn, int64_t);
CORTEXM_LINEAR_S16(cortexm_linear_s16_cmsis_nn, int64_t);
CORTEXM_LINEAR_S16(cortexm_linear_wide_s16_cmsis_nn, int64_t);
CORTEXM_BATCH_MATMUL_S16(cortexm_batch_matmul_s16_cmsis_nn);
CORTEXM_POOL_S16(cortexm_avg_pool2d_s16_cmsis_nn);
CORTEXM_POOL_S16(cortexm_max_pool2d_s16_cmsis_nn);
CORTEXM_ADD_S16(cortexm_add_s16_cmsis_nn);
CORTEXM_MUL_S16(cortexm_mul_s16_cmsis_nn);
CORTEXM_CONV_S8(cortexm_conv2d_s8w4_cmsis_nn);
CORTEXM_CONV_S8(cortexm_depthwise_conv2d_s8w4_cmsis_nn);
CORTEXM_LINEAR_S8(cortexm_linear_s8w4_cmsis_nn);
/* kernels: end */

#ifdef __cplusplus
}
#endif

#endif
