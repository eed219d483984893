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

/* Of each, by the build of the tests (scripts/kernel_files.py). */
#include "prototypes.h"

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

/* The logistic function or tanh of x in units of 1 / 12288, in Q15, between entries of the table of sigmoid. */
static inline int64_t ref_between(const int16_t *table, int64_t x, int is_tanh)
{
    const int64_t apart = is_tanh ? 256 : 512;
    const int64_t size = ref_clamp(x < 0 ? -x : x, 0, 255 * apart - 1), k = size / apart;
    const int64_t value = table[k] * apart + (table[k + 1] - table[k]) * (size % apart);
    const int64_t distance = ref_round_div(value, is_tanh ? 256 : 1024);

    return (is_tanh ? 0 : 16384) + (x < 0 ? -distance : distance);
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
