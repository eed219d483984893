/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random cases of every kernel, by family: each runs a variant and the reference on the same random
 * arguments and returns whether their outputs agree, guard bytes included. table.h calls them by
 * the `case` of kernels.json and the types.
 */
#ifndef CORTEXM_TESTS_CASES_H
#define CORTEXM_TESTS_CASES_H

#include <stdint.h>

#include "contracts.h"
#include "cortexm/kernels.h"

/* Starts the sequence of cases over from `seed`. */
void seed_cases(uint32_t seed);

/* The number of a tile boundary, or -1: in place of random ones the next case has 1 + i % 33 input
 * and 1 + i % 31 output channels or features, in rows of 1 + i % 9 pixels. */
void sweep_cases(int32_t boundary);
#define SWEEP 297 /* all 33 x 9 of them */

/* Whether the case since then has such extents. */
int has_swept(void);

typedef enum { S8, S16, S32, S64, U8, F32 } element_t;

/* The kernel of the next cases. */
void begin_kernel(const contract_t *of);

/* What it requires of constants. */
const limits_t *limits(void);

/* A shift that is such, from any. */
int8_t fitting(int8_t shift);

/* Makes biases such, beside which weights need no more than 2^29 in sums. */
void fit_biases(int32_t *bias, int32_t count);

/* Makes weights such, and, if products of two are to fit in 16 bits, maybe all as large as they get. */
void fit_weights(int8_t *weight, int32_t count, int8_t *in, int32_t inputs);

/* Whether parameters are what it requires of their fields. */
int is_inside(const void *params);

/* Remembers if they are not, and looks which conditions are at their bounds. */
void check_inside(const void *params);

/* Its scratch for a call with such parameters; NULL if it needs none. */
void *scratch_for(const void *params);

/* Whether all cases were inside, and each condition at its bound in one; those that were not are printed. */
int has_looked_around(void);

/* A kernel of any prototype, for cases that serve several types. */
typedef void (*kernel_fn)(void);

#define TYPED(run, variant, ref, ...) run((kernel_fn)(variant), (kernel_fn)(ref), __VA_ARGS__)

/* conv */

/* By the operator and the form in which the plan packs its constants, plan/kernels/packing*.py. */
typedef enum {
    CONV_FOURS,
    CONV_SIGNED_FOURS,
    CONV_RAISED,
    CONV_GATHERED,
    CONV_DIRECT,
    CONV_GEMM4,
    CONV_UNGROUPED,
    CONV_1X1_C32,
    CONV_1X1_C16,
    CONV_TILES,
    CONV_TWOS,
    CONV_SIGNED_TWOS,
    CONV_SIGNED_SPLIT_FOURS,
    CONV_COLUMNS,
    CONV_PLANES,
    DEPTHWISE,
    DEPTHWISE_TAP_FOURS,
    DEPTHWISE_WINDOW_ROWS,
    DEPTHWISE_PLANES,
    DEPTHWISE_FEW,
    DEPTHWISE_PAIRS,
    DEPTHWISE8,
    DEPTHWISE16,
    DEPTHWISE16_RELU,
    DEPTHWISE_PIXEL4,
    DEPTHWISE_PIXEL8,
    TRANSPOSE,
    TRANSPOSE_GEMM4,
    TRANSPOSE_GEMM4_WIDE,
    TRANSPOSE_PAIRS
} conv_kind_t;

typedef CORTEXM_CONV_S8((*conv_fn));
typedef CORTEXM_CONV_S8W4((*conv_w4_fn));
typedef CORTEXM_CONV_F32((*conv_f32_fn));

int conv_case(conv_fn variant, conv_fn ref, conv_kind_t kind);
int conv_w4_case(conv_w4_fn variant, conv_fn ref, conv_kind_t kind);

/* What a case of floats is of. */
typedef enum {
    PLAIN,
    TRANSPOSED,
    ONE_THREE, /* one input, and windows of so many columns */
    ONE_FOUR,
    ONE_FIVE,
    PLANES_3X3, /* each a group, 3x3 windows a pixel apart */
    PLANES_ROW, /* windows one column apart, of rows of 16 pixels or more */
    PLANES_WIDE, /* of rows of eight pixels or more */
    BESIDE,
    EIGHTS,
    CHANNELS,
    CHANNEL_FOURS,
    CHANNELS_WIDE, /* side by side, windows of three columns or more */
    ROWS,
    ROWS_BESIDE
} conv_f32_kind_t;

int any_conv_f32_case(conv_f32_fn variant, conv_f32_fn ref, conv_f32_kind_t kind);

#define conv2d_f32_case(variant, ref) any_conv_f32_case(variant, ref, PLAIN)
#define transpose_conv2d_f32_case(variant, ref) any_conv_f32_case(variant, ref, TRANSPOSED)
#define conv2d_beside_f32_case(variant, ref) any_conv_f32_case(variant, ref, BESIDE)
#define conv2d_eights_f32_case(variant, ref) any_conv_f32_case(variant, ref, EIGHTS)
#define conv2d_depthwise_f32_case(variant, ref) any_conv_f32_case(variant, ref, CHANNELS)
#define conv2d_channel_fours_f32_case(variant, ref) any_conv_f32_case(variant, ref, CHANNEL_FOURS)
#define conv2d_depthwise_4x4_f32_case(variant, ref) any_conv_f32_case(variant, ref, CHANNELS_WIDE)
#define conv2d_row_f32_case(variant, ref) any_conv_f32_case(variant, ref, ROWS)
#define conv2d_row_beside_f32_case(variant, ref) any_conv_f32_case(variant, ref, ROWS_BESIDE)
#define conv2d_c1_1x3_f32_case(variant, ref) any_conv_f32_case(variant, ref, ONE_THREE)
#define conv2d_c1_1x4_f32_case(variant, ref) any_conv_f32_case(variant, ref, ONE_FOUR)
#define conv2d_c1_1x5_f32_case(variant, ref) any_conv_f32_case(variant, ref, ONE_FIVE)
#define conv2d_depthwise_nchw_3x3_f32_case(variant, ref) any_conv_f32_case(variant, ref, PLANES_3X3)
#define conv2d_depthwise_nchw_row_f32_case(variant, ref) any_conv_f32_case(variant, ref, PLANES_ROW)
#define conv2d_depthwise_nchw_1x8_f32_case(variant, ref) any_conv_f32_case(variant, ref, PLANES_WIDE)

#define conv_fours_s8_case(variant, ref) conv_case(variant, ref, CONV_FOURS)
#define conv_fours_s8w4_case(variant, ref) conv_w4_case(variant, ref, CONV_FOURS)
#define conv_signed_fours_s8_case(variant, ref) conv_case(variant, ref, CONV_SIGNED_FOURS)
#define conv_signed_fours_s8w4_case(variant, ref) conv_w4_case(variant, ref, CONV_SIGNED_FOURS)
#define conv_twos_s8_case(variant, ref) conv_case(variant, ref, CONV_TWOS)
#define conv_signed_twos_s8_case(variant, ref) conv_case(variant, ref, CONV_SIGNED_TWOS)
#define conv_columns_s8_case(variant, ref) conv_case(variant, ref, CONV_COLUMNS)
#define conv_signed_split_fours_s8_case(variant, ref) conv_case(variant, ref, CONV_SIGNED_SPLIT_FOURS)
#define conv_twos_s8w4_case(variant, ref) conv_w4_case(variant, ref, CONV_TWOS)
#define conv_gemm4_s8_case(variant, ref) conv_case(variant, ref, CONV_GEMM4)
#define conv_gemm4_s8w4_case(variant, ref) conv_w4_case(variant, ref, CONV_GEMM4)
#define depthwise_tap_fours_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE_TAP_FOURS)
#define depthwise_tap_fours_s8w4_case(variant, ref) conv_w4_case(variant, ref, DEPTHWISE_TAP_FOURS)
#define depthwise_window_rows_s8_case(variant, ref)                                                \
    conv_case(variant, ref, DEPTHWISE_WINDOW_ROWS)
#define depthwise_window_rows_s8w4_case(variant, ref)                                              \
    conv_w4_case(variant, ref, DEPTHWISE_WINDOW_ROWS)
#define depthwise_few_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE_FEW)
#define depthwise_pairs_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE_PAIRS)
#define depthwise_planes_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE_PLANES)
#define conv_ungrouped_s8_case(variant, ref) conv_case(variant, ref, CONV_UNGROUPED)
#define conv_1x1_c32_s8_case(variant, ref) conv_case(variant, ref, CONV_1X1_C32)
#define conv_1x1_c16_s8_case(variant, ref) conv_case(variant, ref, CONV_1X1_C16)
#define conv_gathered_s8_case(variant, ref) conv_case(variant, ref, CONV_GATHERED)
#define conv_direct_s8_case(variant, ref) conv_case(variant, ref, CONV_DIRECT)
#define conv_tiles_s8_case(variant, ref) conv_case(variant, ref, CONV_TILES)
#define conv_planes_s8_case(variant, ref) conv_case(variant, ref, CONV_PLANES)
#define depthwise_pixel4_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE_PIXEL4)
#define depthwise_pixel8_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE_PIXEL8)
#define depthwise8_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE8)
#define depthwise8_s8w4_case(variant, ref) conv_w4_case(variant, ref, DEPTHWISE8)
#define depthwise16_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE16)
#define depthwise16_relu_s8_case(variant, ref) conv_case(variant, ref, DEPTHWISE16_RELU)

/* How the weights of a ring are packed, and whether all shifts are to the right. */
typedef enum { RING_FOURS, RING_RIGHT, RING_PAIRS } ring_form_t;
typedef CORTEXM_RING_S8((*ring_fn));
int ring_case(ring_fn variant, ring_fn ref, ring_form_t form);
#define ring_tap_fours_s8_case(variant, ref) ring_case(variant, ref, RING_FOURS)
#define ring_right_s8_case(variant, ref) ring_case(variant, ref, RING_RIGHT)
#define ring_tap_pairs_s8_case(variant, ref) ring_case(variant, ref, RING_PAIRS)

#define transpose_s8_case(variant, ref) conv_case(variant, ref, TRANSPOSE)
#define transpose_s8w4_case(variant, ref) conv_w4_case(variant, ref, TRANSPOSE)
#define transpose_pairs_s8_case(variant, ref) conv_case(variant, ref, TRANSPOSE_PAIRS)
#define transpose_pairs_s8w4_case(variant, ref) conv_w4_case(variant, ref, TRANSPOSE_PAIRS)
#define transpose_gemm4_s8_case(variant, ref) conv_case(variant, ref, TRANSPOSE_GEMM4)
#define transpose_gemm4_s8w4_case(variant, ref) conv_w4_case(variant, ref, TRANSPOSE_GEMM4)

typedef CORTEXM_CONV_S16((*conv_s16_fn), int32_t);
typedef CORTEXM_CONV_S16((*conv_wide_s16_fn), int64_t);
typedef CORTEXM_LINEAR_S16((*linear_s16_fn), int32_t);
typedef CORTEXM_LINEAR_S16((*linear_wide_s16_fn), int64_t);

/* Whether a layer of int16 codes has sums and biases of 64 bits. */
#define IS_WIDE(variant) _Generic((variant), conv_wide_s16_fn: 1, linear_wide_s16_fn: 1, default: 0)

/* wide: sums of 64 bits; weights of so many bits. */
int any_conv_s16_case(kernel_fn variant, kernel_fn ref, conv_kind_t kind, int wide, int32_t bits);

#define conv_s16_case(variant, ref)                                                                \
    TYPED(any_conv_s16_case, variant, ref, CONV_FOURS, IS_WIDE(variant), 8)
#define conv_s16w4_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_FOURS, 4)
#define CONV_S16_CASE(variant, ref, kind, bits)                                                    \
    TYPED(any_conv_s16_case, variant, ref, kind, 0, bits)
#define conv_raised_s16_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_RAISED, 8)
#define conv_raised_s16w4_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_RAISED, 4)
#define conv_twos_s16_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_TWOS, 8)
#define conv_twos_s16w4_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_TWOS, 4)
#define conv_gemm4_s16_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_GEMM4, 8)
#define conv_gemm4_s16w4_case(variant, ref) CONV_S16_CASE(variant, ref, CONV_GEMM4, 4)
#define depthwise_window_rows_s16_case(variant, ref)                                               \
    CONV_S16_CASE(variant, ref, DEPTHWISE_WINDOW_ROWS, 8)
#define depthwise_window_rows_s16w4_case(variant, ref)                                             \
    CONV_S16_CASE(variant, ref, DEPTHWISE_WINDOW_ROWS, 4)
#define depthwise_planes_s16_case(variant, ref) CONV_S16_CASE(variant, ref, DEPTHWISE_PLANES, 8)
#define depthwise8_s16_case(variant, ref) CONV_S16_CASE(variant, ref, DEPTHWISE8, 8)
#define depthwise8_s16w4_case(variant, ref) CONV_S16_CASE(variant, ref, DEPTHWISE8, 4)
#define depthwise_s16_case(variant, ref)                                                           \
    TYPED(any_conv_s16_case, variant, ref, DEPTHWISE, IS_WIDE(variant), 8)
#define depthwise_s16w4_case(variant, ref) CONV_S16_CASE(variant, ref, DEPTHWISE, 4)
#define depthwise_tap_fours_s16_case(variant, ref)                                                 \
    CONV_S16_CASE(variant, ref, DEPTHWISE_TAP_FOURS, 8)
#define depthwise_tap_fours_s16w4_case(variant, ref)                                               \
    CONV_S16_CASE(variant, ref, DEPTHWISE_TAP_FOURS, 4)
#define transpose_pairs_s16_case(variant, ref) CONV_S16_CASE(variant, ref, TRANSPOSE_PAIRS, 8)
#define transpose_gemm4_s16_case(variant, ref)                                                     \
    CONV_S16_CASE(variant, ref, TRANSPOSE_GEMM4_WIDE, 8)
#define transpose_s16_case(variant, ref)                                                           \
    TYPED(any_conv_s16_case, variant, ref, TRANSPOSE, IS_WIDE(variant), 8)

/* linear */

typedef enum {
    LINEAR,
    LINEAR_FEW,
    LINEAR_FOURS,
    LINEAR_EIGHTS,
    LINEAR_PAIRS,
    LINEAR_SIGNED_SPLIT_FOURS,
    LINEAR_GEMM4,
    LINEAR_GEMM8
} linear_kind_t;

/* By what the variant makes of sums and columns. */
typedef enum { BATCH_MATMUL, BATCH_MATMUL_WIDENED } batch_matmul_kind_t;

typedef CORTEXM_LINEAR_S8((*linear_fn));
typedef CORTEXM_LINEAR_S8W4((*linear_w4_fn));
typedef CORTEXM_BATCH_MATMUL_S8((*batch_matmul_fn));
typedef CORTEXM_MATMUL_F32((*matmul_f32_fn));

int linear_case(linear_fn variant, linear_fn ref, linear_kind_t kind);
int linear_w4_case(linear_w4_fn variant, linear_fn ref, linear_kind_t kind);
int batch_matmul_case(batch_matmul_fn variant, batch_matmul_fn ref, batch_matmul_kind_t kind);
int matmul_f32_case(matmul_f32_fn variant, matmul_f32_fn ref);
int matmul_vectors_f32_case(matmul_f32_fn variant, matmul_f32_fn ref);

#define linear_n3_s8_case(variant, ref) linear_case(variant, ref, LINEAR_FEW)
#define linear_fours_s8_case(variant, ref) linear_case(variant, ref, LINEAR_FOURS)
#define linear_fours_s8w4_case(variant, ref) linear_w4_case(variant, ref, LINEAR_FOURS)
#define linear_pairs_s8_case(variant, ref) linear_case(variant, ref, LINEAR_PAIRS)
#define linear_signed_split_fours_s8_case(variant, ref) linear_case(variant, ref, LINEAR_SIGNED_SPLIT_FOURS)
#define linear_pairs_s8w4_case(variant, ref) linear_w4_case(variant, ref, LINEAR_PAIRS)
#define linear_gemm8_s8_case(variant, ref) linear_case(variant, ref, LINEAR_GEMM8)
#define linear_gemm8_s8w4_case(variant, ref) linear_w4_case(variant, ref, LINEAR_GEMM8)
#define batch_matmul_plain_s8_case(variant, ref) batch_matmul_case(variant, ref, BATCH_MATMUL)
#define batch_matmul_sums_s8_case(variant, ref)                                                    \
    batch_matmul_case(variant, ref, BATCH_MATMUL)
#define batch_matmul_widened_s8_case(variant, ref)                                                 \
    batch_matmul_case(variant, ref, BATCH_MATMUL_WIDENED)

typedef CORTEXM_BATCH_MATMUL_S16((*batch_matmul_s16_fn));

int any_linear_s16_case(kernel_fn variant, kernel_fn ref, linear_kind_t kind, int wide,
                        int32_t bits);
int batch_matmul_s16_case(batch_matmul_s16_fn variant, batch_matmul_s16_fn ref);

#define linear_s16_case(variant, ref)                                                              \
    TYPED(any_linear_s16_case, variant, ref, LINEAR, IS_WIDE(variant), 8)
#define LINEAR_S16_CASE(variant, ref, kind, bits)                                                  \
    TYPED(any_linear_s16_case, variant, ref, kind, 0, bits)
#define linear_s16w4_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR, 4)
#define linear_eights_s16_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR_EIGHTS, 8)
#define linear_eights_s16w4_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR_EIGHTS, 4)
#define linear_pairs_s16_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR_PAIRS, 8)
#define linear_pairs_s16w4_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR_PAIRS, 4)
#define linear_gemm4_s16_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR_GEMM4, 8)
#define linear_gemm4_s16w4_case(variant, ref) LINEAR_S16_CASE(variant, ref, LINEAR_GEMM4, 4)

/* recurrent */

typedef enum { LSTM, GRU, RNN } recurrent_t;

int recurrent_case(kernel_fn variant, kernel_fn ref, linear_kind_t kind, int32_t bytes, int32_t bits,
                   recurrent_t op);

typedef CORTEXM_LSTM_INTERPOLATED((*lstm_interpolated_fn));
typedef CORTEXM_SVDF((*svdf_fn));

int lstm_interpolated_s8_case(lstm_interpolated_fn variant, lstm_interpolated_fn ref);
int svdf_s8_case(svdf_fn variant, svdf_fn ref);

#define RECURRENT_CASE(variant, ref, kind, bytes, bits, op)                                        \
    TYPED(recurrent_case, variant, ref, kind, bytes, bits, op)
#define lstm_fours_s8_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_FOURS, 1, 8, LSTM)
#define lstm_fours_s8w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_FOURS, 1, 4, LSTM)
#define lstm_plain_s16_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR, 2, 8, LSTM)
#define lstm_plain_s16w4_case(variant, ref)                                                        \
    RECURRENT_CASE(variant, ref, LINEAR, 2, 4, LSTM)
#define lstm_eights_s16_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_EIGHTS, 2, 8, LSTM)
#define lstm_eights_s16w4_case(variant, ref)                                                       \
    RECURRENT_CASE(variant, ref, LINEAR_EIGHTS, 2, 4, LSTM)
#define lstm_pairs_s8_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 1, 8, LSTM)
#define lstm_pairs_s8w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 1, 4, LSTM)
#define lstm_pairs_s16_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 2, 8, LSTM)
#define lstm_pairs_s16w4_case(variant, ref)                                                        \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 2, 4, LSTM)
#define lstm_gemm4_s8_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 1, 8, LSTM)
#define lstm_gemm4_s8w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 1, 4, LSTM)
#define lstm_gemm4_s16_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 2, 8, LSTM)
#define lstm_gemm4_s16w4_case(variant, ref)                                                        \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 2, 4, LSTM)
#define gru_fours_s8_case(variant, ref)                                                            \
    RECURRENT_CASE(variant, ref, LINEAR_FOURS, 1, 8, GRU)
#define gru_fours_s8w4_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_FOURS, 1, 4, GRU)
#define gru_plain_s16_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR, 2, 8, GRU)
#define gru_plain_s16w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR, 2, 4, GRU)
#define gru_eights_s16_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_EIGHTS, 2, 8, GRU)
#define gru_eights_s16w4_case(variant, ref)                                                        \
    RECURRENT_CASE(variant, ref, LINEAR_EIGHTS, 2, 4, GRU)
#define gru_pairs_s8_case(variant, ref)                                                            \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 1, 8, GRU)
#define gru_pairs_s8w4_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 1, 4, GRU)
#define gru_pairs_s16_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 2, 8, GRU)
#define gru_pairs_s16w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 2, 4, GRU)
#define gru_gemm4_s8_case(variant, ref)                                                            \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 1, 8, GRU)
#define gru_gemm4_s8w4_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 1, 4, GRU)
#define gru_gemm4_s16_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 2, 8, GRU)
#define gru_gemm4_s16w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 2, 4, GRU)
#define rnn_fours_s8_case(variant, ref)                                                            \
    RECURRENT_CASE(variant, ref, LINEAR_FOURS, 1, 8, RNN)
#define rnn_fours_s8w4_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_FOURS, 1, 4, RNN)
#define rnn_plain_s16_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR, 2, 8, RNN)
#define rnn_plain_s16w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR, 2, 4, RNN)
#define rnn_eights_s16_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_EIGHTS, 2, 8, RNN)
#define rnn_eights_s16w4_case(variant, ref)                                                        \
    RECURRENT_CASE(variant, ref, LINEAR_EIGHTS, 2, 4, RNN)
#define rnn_pairs_s8_case(variant, ref)                                                            \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 1, 8, RNN)
#define rnn_pairs_s8w4_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 1, 4, RNN)
#define rnn_pairs_s16_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 2, 8, RNN)
#define rnn_pairs_s16w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_PAIRS, 2, 4, RNN)
#define rnn_gemm4_s8_case(variant, ref)                                                            \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 1, 8, RNN)
#define rnn_gemm4_s8w4_case(variant, ref)                                                          \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 1, 4, RNN)
#define rnn_gemm4_s16_case(variant, ref)                                                           \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 2, 8, RNN)
#define rnn_gemm4_s16w4_case(variant, ref)                                                         \
    RECURRENT_CASE(variant, ref, LINEAR_GEMM4, 2, 4, RNN)

/* pool */

typedef CORTEXM_POOL_S8((*pool_fn));
typedef CORTEXM_POOL_S16((*pool_s16_fn));
typedef CORTEXM_POOL_F32((*pool_f32_fn));

/* With so many channels. */
int any_pool_s8_case(pool_fn variant, pool_fn ref, int32_t least, int32_t most);
int any_pool_s16_case(pool_s16_fn variant, pool_s16_fn ref, int32_t least, int32_t most);
int any_pool_rows_s8_case(pool_fn variant, pool_fn ref, int32_t limit);
int any_pool_pixel_s8_case(pool_fn variant, pool_fn ref, int32_t least);
#define pool_pixel_4_s8_case(variant, ref) any_pool_pixel_s8_case(variant, ref, 4)
#define pool_pixel_8_s8_case(variant, ref) any_pool_pixel_s8_case(variant, ref, 8)
#define pool_rows_below_8_s8_case(variant, ref) any_pool_rows_s8_case(variant, ref, 8)
#define pool_rows_below_16_s8_case(variant, ref) any_pool_rows_s8_case(variant, ref, 16)
#define pool_s8_case(variant, ref) any_pool_s8_case(variant, ref, 1, 33)
#define pool_4_s8_case(variant, ref) any_pool_s8_case(variant, ref, 4, 33)
#define pool_16_s8_case(variant, ref) any_pool_s8_case(variant, ref, 16, 33)
#define pool_8_s8_case(variant, ref) any_pool_s8_case(variant, ref, 8, 33)
#define pool_below_4_s8_case(variant, ref) any_pool_s8_case(variant, ref, 1, 3)
#define pool_below_16_s8_case(variant, ref) any_pool_s8_case(variant, ref, 1, 15)
#define pool_s16_case(variant, ref) any_pool_s16_case(variant, ref, 1, 33)
#define pool_4_s16_case(variant, ref) any_pool_s16_case(variant, ref, 4, 33)
#define pool_8_s16_case(variant, ref) any_pool_s16_case(variant, ref, 8, 33)
#define pool_below_4_s16_case(variant, ref) any_pool_s16_case(variant, ref, 1, 3)
#define pool_below_8_s16_case(variant, ref) any_pool_s16_case(variant, ref, 1, 7)
int pool_f32_case(pool_f32_fn variant, pool_f32_fn ref);

/* activation */

typedef CORTEXM_ACTIVATION_S8((*activation_fn));
typedef CORTEXM_SOFTMAX_S8((*softmax_fn));
typedef CORTEXM_SOFTMAX_TABLE_S8((*softmax_table_fn));
typedef CORTEXM_ACTIVATION_S16((*activation_s16_fn));
typedef CORTEXM_SOFTMAX_S16((*softmax_s16_fn));
typedef CORTEXM_SOFTMAX_F32((*softmax_f32_fn));
typedef CORTEXM_UNARY((*unary_fn), cortexm_unary_f32_t, float);
typedef CORTEXM_UNARY((*clamp_f32_fn), cortexm_clamp_f32_t, float);
typedef CORTEXM_UNARY((*clamp_s8_fn), cortexm_clamp_t, int8_t);
typedef CORTEXM_UNARY((*clamp_u8_fn), cortexm_clamp_t, uint8_t);
typedef CORTEXM_UNARY((*clamp_s16_fn), cortexm_clamp_t, int16_t);
typedef CORTEXM_UNARY((*clamp_s32_fn), cortexm_clamp_t, int32_t);
typedef CORTEXM_UNARY((*clamp_s64_fn), cortexm_clamp_t, int64_t);

int activation_s8_case(activation_fn variant, activation_fn ref);
int softmax_s8_case(softmax_fn variant, softmax_fn ref);
int softmax_few_s8_case(softmax_fn variant, softmax_fn ref);
int softmax_table_s8_case(softmax_table_fn variant, softmax_table_fn ref);
int16_t *table_s16(int32_t bits, int is_smooth);
int any_activation_s16_case(activation_s16_fn variant, activation_s16_fn ref, int is_smooth);
#define activation_s16_case(variant, ref) any_activation_s16_case(variant, ref, 0)
#define smooth_activation_s16_case(variant, ref) any_activation_s16_case(variant, ref, 1)
typedef CORTEXM_SOFTMAX_INTERPOLATED_S16((*softmax_interpolated_s16_fn));
typedef CORTEXM_SIGMOID_S16((*sigmoid_s16_fn));

int softmax_interpolated_s16_case(softmax_interpolated_s16_fn variant,
                                  softmax_interpolated_s16_fn ref);
int sigmoid_s16_case(sigmoid_s16_fn variant, sigmoid_s16_fn ref);
int any_softmax_s16_case(softmax_s16_fn variant, softmax_s16_fn ref, int32_t most, int32_t bits);
#define softmax_s16_case(variant, ref) any_softmax_s16_case(variant, ref, 700, 32)
#define softmax_few_s16_case(variant, ref) any_softmax_s16_case(variant, ref, 64, 32)
#define softmax_columns_s16_case(variant, ref) any_softmax_s16_case(variant, ref, 40, 30)
int softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref);
int softmax_close_f32_case(softmax_f32_fn variant, softmax_f32_fn ref);
int unary_f32_case(unary_fn variant, unary_fn ref);
int unary_close_f32_case(unary_fn variant, unary_fn ref);
int unary_subnormal_f32_case(unary_fn variant, unary_fn ref);
int clamp_f32_case(clamp_f32_fn variant, clamp_f32_fn ref);
int clamp_s8_case(clamp_s8_fn variant, clamp_s8_fn ref);
int clamp_u8_case(clamp_u8_fn variant, clamp_u8_fn ref);
int clamp_s16_case(clamp_s16_fn variant, clamp_s16_fn ref);
int clamp_s32_case(clamp_s32_fn variant, clamp_s32_fn ref);
int clamp_s64_case(clamp_s64_fn variant, clamp_s64_fn ref);

/* norm */

typedef CORTEXM_GROUP_NORM_F32((*group_norm_f32_fn));
typedef CORTEXM_GROUP_NORM((*group_norm_s8_fn), int8_t);
typedef CORTEXM_GROUP_NORM((*group_norm_s16_fn), int16_t);

int group_norm_f32_case(group_norm_f32_fn variant, group_norm_f32_fn ref);
int group_norm_s8_case(group_norm_s8_fn variant, group_norm_s8_fn ref);
int group_norm_s16_case(group_norm_s16_fn variant, group_norm_s16_fn ref);
int group_norm_rows_s8_case(group_norm_s8_fn variant, group_norm_s8_fn ref);
int group_norm_rows_s16_case(group_norm_s16_fn variant, group_norm_s16_fn ref);

/* arithmetic */

typedef CORTEXM_ADD_S8((*add_fn));
typedef CORTEXM_ADD_AFFINE((*add_affine_fn));
typedef CORTEXM_MUL_S8((*mul_fn));
typedef CORTEXM_GATE_S8((*gate_fn));
typedef CORTEXM_GATE_S16((*gate_s16_fn));
typedef CORTEXM_ADD_S16((*add_s16_fn));
typedef CORTEXM_MUL_S16((*mul_s16_fn));
typedef CORTEXM_DIV((*div_s8_fn), int8_t);
typedef CORTEXM_DIV((*div_s16_fn), int16_t);
typedef CORTEXM_MINMAX((*minmax_fn), int8_t);
typedef CORTEXM_BINARY((*binary_f32_fn), float);
typedef CORTEXM_BINARY((*binary_s32_fn), int32_t);
typedef CORTEXM_BINARY((*binary_s64_fn), int64_t);

int add_s8_case(add_fn variant, add_fn ref);
int add_shifts_right_s8_case(add_fn variant, add_fn ref);
int any_add_affine_case(add_affine_fn variant, add_affine_fn ref, int fine);
#define add_affine_s8_case(variant, ref) any_add_affine_case(variant, ref, 0)
#define add_affine_fine_s8_case(variant, ref) any_add_affine_case(variant, ref, 1)
int any_mul_case(mul_fn variant, mul_fn ref, int shifts_right);
int gate_s8_case(gate_fn variant, gate_fn ref);
int any_gate_s16_case(gate_s16_fn variant, gate_s16_fn ref, int is_smooth);
#define gate_s16_case(variant, ref) any_gate_s16_case(variant, ref, 0)
#define smooth_gate_s16_case(variant, ref) any_gate_s16_case(variant, ref, 1)
#define mul_s8_case(variant, ref) any_mul_case(variant, ref, 0)
#define mul_shifts_right_s8_case(variant, ref) any_mul_case(variant, ref, 1)
int any_add_s16_case(add_s16_fn variant, add_s16_fn ref, int shifts_right);
#define add_s16_case(variant, ref) any_add_s16_case(variant, ref, 0)
#define add_shifts_right_s16_case(variant, ref) any_add_s16_case(variant, ref, 1)
int any_mul_s16_case(mul_s16_fn variant, mul_s16_fn ref, int shifts_right);
#define mul_s16_case(variant, ref) any_mul_s16_case(variant, ref, 0)
#define mul_shifts_right_s16_case(variant, ref) any_mul_s16_case(variant, ref, 1)
int minmax_s8_case(minmax_fn variant, minmax_fn ref);
int minmax_of_case(kernel_fn variant, kernel_fn ref, element_t type);
int div_s8_case(div_s8_fn variant, div_s8_fn ref);
int div_s16_case(div_s16_fn variant, div_s16_fn ref);
int binary_f32_case(binary_f32_fn variant, binary_f32_fn ref);
int divide_f32_case(binary_f32_fn variant, binary_f32_fn ref);
int binary_close_f32_case(binary_f32_fn variant, binary_f32_fn ref);
int binary_s32_case(binary_s32_fn variant, binary_s32_fn ref);
int binary_s64_case(binary_s64_fn variant, binary_s64_fn ref);
int divide_s32_case(binary_s32_fn variant, binary_s32_fn ref);
int divide_s64_case(binary_s64_fn variant, binary_s64_fn ref);

#define minmax_s16_case(variant, ref) TYPED(minmax_of_case, variant, ref, S16)
#define minmax_u8_case(variant, ref) TYPED(minmax_of_case, variant, ref, U8)

/* compare */

int compare_case(kernel_fn variant, kernel_fn ref, element_t type);
int where_case(kernel_fn variant, kernel_fn ref, element_t type);

#define compare_s8_case(variant, ref) TYPED(compare_case, variant, ref, S8)
#define compare_s16_case(variant, ref) TYPED(compare_case, variant, ref, S16)
#define compare_s32_case(variant, ref) TYPED(compare_case, variant, ref, S32)
#define compare_s64_case(variant, ref) TYPED(compare_case, variant, ref, S64)
#define compare_u8_case(variant, ref) TYPED(compare_case, variant, ref, U8)
#define compare_f32_case(variant, ref) TYPED(compare_case, variant, ref, F32)
#define where_x8_case(variant, ref) TYPED(where_case, variant, ref, S8)
#define where_x16_case(variant, ref) TYPED(where_case, variant, ref, S16)
#define where_x32_case(variant, ref) TYPED(where_case, variant, ref, S32)
#define where_x64_case(variant, ref) TYPED(where_case, variant, ref, S64)

/* convert */

typedef CORTEXM_QUANTIZE((*quantize_s8_fn), int8_t);
typedef CORTEXM_QUANTIZE((*quantize_s16_fn), int16_t);
typedef CORTEXM_DEQUANTIZE((*dequantize_s8_fn), int8_t);
typedef CORTEXM_DEQUANTIZE((*dequantize_s16_fn), int16_t);

int quantize_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref);
int quantize_normal_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref);
int any_quantize_f32s16_case(quantize_s16_fn variant, quantize_s16_fn ref, int normal);
int dequantize_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref);
int dequantize_normal_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref);
int any_dequantize_s16f32_case(dequantize_s16_fn variant, dequantize_s16_fn ref, int normal);
#define quantize_f32s16_case(variant, ref) any_quantize_f32s16_case(variant, ref, 0)
#define quantize_normal_f32s16_case(variant, ref) any_quantize_f32s16_case(variant, ref, 1)
#define dequantize_s16f32_case(variant, ref) any_dequantize_s16f32_case(variant, ref, 0)
#define dequantize_normal_s16f32_case(variant, ref) any_dequantize_s16f32_case(variant, ref, 1)
int requantize_case(kernel_fn variant, kernel_fn ref, element_t from, element_t to);
int cast_case(kernel_fn variant, kernel_fn ref, element_t from, element_t to);
int center_case(kernel_fn variant, kernel_fn ref);
#define center_u8s8_case(variant, ref) center_case((kernel_fn)(variant), (kernel_fn)(ref))
int lookup_case(kernel_fn variant, kernel_fn ref, element_t to, int in_turns);
#define lookup_u8s8_case(variant, ref) TYPED(lookup_case, variant, ref, S8, 0)
#define lookup_u8s16_case(variant, ref) TYPED(lookup_case, variant, ref, S16, 0)
#define lookup_in_turns_u8s8_case(variant, ref) TYPED(lookup_case, variant, ref, S8, 1)
#define lookup_in_turns_u8s16_case(variant, ref) TYPED(lookup_case, variant, ref, S16, 1)

#define requantize_s8s16_case(variant, ref) TYPED(requantize_case, variant, ref, S8, S16)
#define requantize_s16s8_case(variant, ref) TYPED(requantize_case, variant, ref, S16, S8)
#define requantize_s16s16_case(variant, ref) TYPED(requantize_case, variant, ref, S16, S16)
#define cast_s8s16_case(variant, ref) TYPED(cast_case, variant, ref, S8, S16)
#define cast_s8s32_case(variant, ref) TYPED(cast_case, variant, ref, S8, S32)
#define cast_s8s64_case(variant, ref) TYPED(cast_case, variant, ref, S8, S64)
#define cast_u8s16_case(variant, ref) TYPED(cast_case, variant, ref, U8, S16)
#define cast_u8s32_case(variant, ref) TYPED(cast_case, variant, ref, U8, S32)
#define cast_u8s64_case(variant, ref) TYPED(cast_case, variant, ref, U8, S64)
#define cast_s16s32_case(variant, ref) TYPED(cast_case, variant, ref, S16, S32)
#define cast_s16s64_case(variant, ref) TYPED(cast_case, variant, ref, S16, S64)
#define cast_s32s64_case(variant, ref) TYPED(cast_case, variant, ref, S32, S64)
#define cast_s8f32_case(variant, ref) TYPED(cast_case, variant, ref, S8, F32)
#define cast_u8f32_case(variant, ref) TYPED(cast_case, variant, ref, U8, F32)
#define cast_s16f32_case(variant, ref) TYPED(cast_case, variant, ref, S16, F32)
#define cast_s32f32_case(variant, ref) TYPED(cast_case, variant, ref, S32, F32)
#define cast_s64f32_case(variant, ref) TYPED(cast_case, variant, ref, S64, F32)
#define cast_f32s8_case(variant, ref) TYPED(cast_case, variant, ref, F32, S8)
#define cast_f32u8_case(variant, ref) TYPED(cast_case, variant, ref, F32, U8)
#define cast_f32s16_case(variant, ref) TYPED(cast_case, variant, ref, F32, S16)
#define cast_f32s32_case(variant, ref) TYPED(cast_case, variant, ref, F32, S32)
#define cast_f32s64_case(variant, ref) TYPED(cast_case, variant, ref, F32, S64)

/* move */

typedef CORTEXM_FILL((*fill_fn));
typedef CORTEXM_MOVE((*move_fn));
typedef CORTEXM_COPY((*copy_fn));
typedef CORTEXM_INTERLEAVE((*interleave_fn));
typedef CORTEXM_COPY_LANES((*copy_lanes_fn));

int fill_case(fill_fn variant, fill_fn ref, int32_t element_size);
int move_x8_case(move_fn variant, move_fn ref);
int copy_case(copy_fn variant, copy_fn ref, int32_t element_size);
int interleave_case(interleave_fn variant, interleave_fn ref, int32_t element_size);
int copy_lanes_case(copy_lanes_fn variant, copy_lanes_fn ref, int32_t element_size);

#define fill_x8_case(variant, ref) fill_case(variant, ref, 1)
#define fill_x16_case(variant, ref) fill_case(variant, ref, 2)
#define fill_x32_case(variant, ref) fill_case(variant, ref, 4)
#define copy_x8_case(variant, ref) copy_case(variant, ref, 1)
#define copy_x16_case(variant, ref) copy_case(variant, ref, 2)
#define copy_x32_case(variant, ref) copy_case(variant, ref, 4)
#define copy_x64_case(variant, ref) copy_case(variant, ref, 8)
#define interleave_x8_case(variant, ref) interleave_case(variant, ref, 1)
#define interleave_x16_case(variant, ref) interleave_case(variant, ref, 2)
#define copy_lanes_x8_case(variant, ref) copy_lanes_case(variant, ref, 1)
#define copy_lanes_x16_case(variant, ref) copy_lanes_case(variant, ref, 2)

/* index */

int index_offsets_case(kernel_fn variant, kernel_fn ref, element_t type);
int gather_case(kernel_fn variant, kernel_fn ref, element_t type);
int scatter_case(kernel_fn variant, kernel_fn ref, element_t type);

#define index_offsets_s32_case(variant, ref) TYPED(index_offsets_case, variant, ref, S32)
#define index_offsets_s64_case(variant, ref) TYPED(index_offsets_case, variant, ref, S64)
#define gather_x8_case(variant, ref) TYPED(gather_case, variant, ref, S8)
#define gather_x16_case(variant, ref) TYPED(gather_case, variant, ref, S16)
#define gather_x32_case(variant, ref) TYPED(gather_case, variant, ref, S32)
#define gather_x64_case(variant, ref) TYPED(gather_case, variant, ref, S64)
int embedding_case(kernel_fn variant, kernel_fn ref, int32_t largest);
#define embedding_s8_case(variant, ref)                                                            \
    embedding_case((kernel_fn)(variant), (kernel_fn)(ref), INT8_MAX)
#define embedding_s16_case(variant, ref)                                                           \
    embedding_case((kernel_fn)(variant), (kernel_fn)(ref), INT16_MAX)
int put_case(kernel_fn variant, kernel_fn ref, element_t type);
#define put_s32_case(variant, ref) TYPED(put_case, variant, ref, S32)
#define put_s64_case(variant, ref) TYPED(put_case, variant, ref, S64)
#define scatter_x8_case(variant, ref) TYPED(scatter_case, variant, ref, S8)
#define scatter_x16_case(variant, ref) TYPED(scatter_case, variant, ref, S16)
#define scatter_x32_case(variant, ref) TYPED(scatter_case, variant, ref, S32)
#define scatter_x64_case(variant, ref) TYPED(scatter_case, variant, ref, S64)
#define scatter_s8_case(variant, ref) TYPED(scatter_case, variant, ref, S8)
#define scatter_s16_case(variant, ref) TYPED(scatter_case, variant, ref, S16)
#define scatter_s32_case(variant, ref) TYPED(scatter_case, variant, ref, S32)
#define scatter_s64_case(variant, ref) TYPED(scatter_case, variant, ref, S64)
#define scatter_u8_case(variant, ref) TYPED(scatter_case, variant, ref, U8)
#define scatter_f32_case(variant, ref) TYPED(scatter_case, variant, ref, F32)

/* reduce */

int sum_case(kernel_fn variant, kernel_fn ref, element_t type);
int extreme_case(kernel_fn variant, kernel_fn ref, element_t type);
int arg_reduce_case(kernel_fn variant, kernel_fn ref, element_t type);
int cumsum_case(kernel_fn variant, kernel_fn ref, element_t type);
int topk_case(kernel_fn variant, kernel_fn ref, element_t type);

#define extreme_s8_case(variant, ref) TYPED(extreme_case, variant, ref, S8)
#define extreme_s16_case(variant, ref) TYPED(extreme_case, variant, ref, S16)
#define extreme_s32_case(variant, ref) TYPED(extreme_case, variant, ref, S32)
#define extreme_s64_case(variant, ref) TYPED(extreme_case, variant, ref, S64)
#define extreme_u8_case(variant, ref) TYPED(extreme_case, variant, ref, U8)
#define extreme_f32_case(variant, ref) TYPED(extreme_case, variant, ref, F32)
#define arg_reduce_s8_case(variant, ref) TYPED(arg_reduce_case, variant, ref, S8)
#define arg_reduce_s16_case(variant, ref) TYPED(arg_reduce_case, variant, ref, S16)
#define arg_reduce_s32_case(variant, ref) TYPED(arg_reduce_case, variant, ref, S32)
#define arg_reduce_s64_case(variant, ref) TYPED(arg_reduce_case, variant, ref, S64)
#define arg_reduce_u8_case(variant, ref) TYPED(arg_reduce_case, variant, ref, U8)
#define arg_reduce_f32_case(variant, ref) TYPED(arg_reduce_case, variant, ref, F32)
#define sum_f32_case(variant, ref) TYPED(sum_case, variant, ref, F32)
#define sum_s64_case(variant, ref) TYPED(sum_case, variant, ref, S64)
#define cumsum_s32_case(variant, ref) TYPED(cumsum_case, variant, ref, S32)
#define cumsum_s64_case(variant, ref) TYPED(cumsum_case, variant, ref, S64)
#define cumsum_f32_case(variant, ref) TYPED(cumsum_case, variant, ref, F32)
#define topk_s8_case(variant, ref) TYPED(topk_case, variant, ref, S8)
#define topk_s16_case(variant, ref) TYPED(topk_case, variant, ref, S16)
#define topk_s32_case(variant, ref) TYPED(topk_case, variant, ref, S32)
#define topk_s64_case(variant, ref) TYPED(topk_case, variant, ref, S64)
#define topk_u8_case(variant, ref) TYPED(topk_case, variant, ref, U8)
#define topk_f32_case(variant, ref) TYPED(topk_case, variant, ref, F32)

/* resample */

int bilinear_case(kernel_fn variant, kernel_fn ref, element_t type);

#define bilinear_s8_case(variant, ref) TYPED(bilinear_case, variant, ref, S8)
#define bilinear_s16_case(variant, ref) TYPED(bilinear_case, variant, ref, S16)
#define bilinear_f32_case(variant, ref) TYPED(bilinear_case, variant, ref, F32)

/* spectrum */

typedef CORTEXM_LOG_MEL((*log_mel_s8_fn), int8_t);
typedef CORTEXM_LOG_MEL((*log_mel_s16_fn), int16_t);

int any_log_mel_case(kernel_fn variant, kernel_fn ref, element_t to);

#define log_mel_s16s8_case(variant, ref) TYPED(any_log_mel_case, variant, ref, S8)
#define log_mel_s16s16_case(variant, ref) TYPED(any_log_mel_case, variant, ref, S16)

#endif
