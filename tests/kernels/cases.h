/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random cases of every kernel family: each runs a variant and the reference on the same random
 * arguments and returns whether their outputs agree in every byte, guard bytes included.
 */
#ifndef CORTEXM_TESTS_CASES_H
#define CORTEXM_TESTS_CASES_H

#include <stdint.h>

#include "cortexm/kernels.h"

/* Starts the sequence of cases over from `seed`. */
void seed_cases(uint32_t seed);

/* The number of a tile boundary, or -1: in place of random ones the next case has 1 + i % 33 input and
 * 1 + i % 31 output channels or features, in rows of 1 + i % 9 pixels. */
void sweep_cases(int32_t boundary);
#define SWEEP 297 /* all 33 x 9 of them */

/* By the operator and the form in which the plan packs its constants, plan/kernels/packing.py. */
typedef enum {
    CONV_FOURS,
    CONV_GEMM4,
    CONV_TWOS,
    DEPTHWISE_TAP_FOURS,
    DEPTHWISE_WINDOW_ROWS,
    DEPTHWISE8,
    TRANSPOSE,
    TRANSPOSE_GEMM4,
    TRANSPOSE_PAIRS
} conv_kind_t;

/* By the scratch that the variant wants, plan/kernels/requirements.py. */
typedef enum { BATCH_MATMUL, BATCH_MATMUL_COLUMN_SUMS, BATCH_MATMUL_WIDENED } batch_matmul_kind_t;

typedef CORTEXM_CONV_S8((*conv_fn));
typedef CORTEXM_LINEAR_S8((*linear_fn));
typedef CORTEXM_BATCH_MATMUL_S8((*batch_matmul_fn));
typedef CORTEXM_POOL_S8((*pool_fn));
typedef CORTEXM_ADD_S8((*add_fn));
typedef CORTEXM_MUL_S8((*mul_fn));
typedef CORTEXM_DIV((*div_s8_fn), int8_t);
typedef CORTEXM_DIV((*div_s16_fn), int16_t);
typedef CORTEXM_MINMAX((*minmax_fn), int8_t);
typedef CORTEXM_ACTIVATION_S8((*activation_fn));
typedef CORTEXM_SOFTMAX_S8((*softmax_fn));
typedef CORTEXM_QUANTIZE((*quantize_s8_fn), int8_t);
typedef CORTEXM_QUANTIZE((*quantize_s16_fn), int16_t);
typedef CORTEXM_DEQUANTIZE((*dequantize_s8_fn), int8_t);
typedef CORTEXM_DEQUANTIZE((*dequantize_s16_fn), int16_t);
typedef CORTEXM_FILL((*fill_fn));
typedef CORTEXM_MOVE((*move_fn));
typedef CORTEXM_COPY((*copy_fn));

int conv_case(conv_fn variant, conv_fn ref, conv_kind_t kind);
int linear_fours_s8_case(linear_fn variant, linear_fn ref);
int linear_pairs_s8_case(linear_fn variant, linear_fn ref);
int linear_gemm4_s8_case(linear_fn variant, linear_fn ref);
int batch_matmul_case(batch_matmul_fn variant, batch_matmul_fn ref, batch_matmul_kind_t kind);
int pool_s8_case(pool_fn variant, pool_fn ref);
int pool_4_s8_case(pool_fn variant, pool_fn ref);   /* for at least so many channels */
int pool_16_s8_case(pool_fn variant, pool_fn ref);
int add_s8_case(add_fn variant, add_fn ref);
int add_shifts_right_s8_case(add_fn variant, add_fn ref);
int mul_s8_case(mul_fn variant, mul_fn ref);
int minmax_s8_case(minmax_fn variant, minmax_fn ref);
int div_s8_case(div_s8_fn variant, div_s8_fn ref);
int div_s16_case(div_s16_fn variant, div_s16_fn ref);
int activation_s8_case(activation_fn variant, activation_fn ref);
int softmax_s8_case(softmax_fn variant, softmax_fn ref);
int quantize_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref);
int quantize_normal_f32s8_case(quantize_s8_fn variant, quantize_s8_fn ref);
int dequantize_normal_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref);
int quantize_f32s16_case(quantize_s16_fn variant, quantize_s16_fn ref);
int dequantize_s8f32_case(dequantize_s8_fn variant, dequantize_s8_fn ref);
int dequantize_s16f32_case(dequantize_s16_fn variant, dequantize_s16_fn ref);
int fill_case(fill_fn variant, fill_fn ref, int32_t element_size);
int move_x8_case(move_fn variant, move_fn ref);
int copy_case(copy_fn variant, copy_fn ref, int32_t element_size);

#endif
