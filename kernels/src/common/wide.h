/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of int16 codes share: the requantization of their sums (docs/numerics.md). */
#ifndef CORTEXM_COMMON_WIDE_H
#define CORTEXM_COMMON_WIDE_H

#include <stdint.h>

#include "common/names.h"
#include "cortexm/requantize.h"

/*
 * For templates. The sums of a layer are proved to stay within 32 bits, or they are not: then its
 * operator's name ends in _wide. SUM is the type of the sums and of the bias, RESCALE is
 * clamp(floor((sum * multiplier + 2^(14 - shift)) / 2^(15 - shift)), low, high).
 */
#define CORTEXM_SUM_conv2d int32_t
#define CORTEXM_SUM_conv2d_wide int64_t
#define CORTEXM_SUM_depthwise_conv2d int32_t
#define CORTEXM_SUM_depthwise_conv2d_wide int64_t
#define CORTEXM_SUM_transpose_conv2d int32_t
#define CORTEXM_SUM_transpose_conv2d_wide int64_t
#define CORTEXM_SUM_linear int32_t
#define CORTEXM_SUM_linear_wide int64_t
#define SUM CORTEXM_JOIN(CORTEXM_SUM_, OP)

#define RESCALE(sum, multiplier, shift, low, high)                                                 \
    (sizeof(SUM) == sizeof(int32_t)                                                                \
         ? cortexm_rescale_narrow((int32_t)(sum), multiplier, shift, low, high)                    \
         : cortexm_rescale_wide(sum, multiplier, shift, low, high))

/* For |sum| < 2^47. */
static inline int16_t cortexm_rescale_wide(int64_t sum, int32_t multiplier, int32_t shift,
                                           int32_t low, int32_t high)
{
    const int64_t value = (sum * multiplier + (INT64_C(1) << (14 - shift))) >> (15 - shift);

    return (int16_t)(value < low ? low : value > high ? high : value);
}

/* With shift <= -2 in 32 bits: of a product's lower 16 bits only their carry counts, as the floor of a
 * floor is the floor, and sum * multiplier = 2^16 * upper * multiplier + lower * multiplier for the
 * halves of sum, the lower one not negative. */
static inline int16_t cortexm_rescale_narrow(int32_t sum, int32_t multiplier, int32_t shift,
                                             int32_t low, int32_t high)
{
    int32_t value;

    if (shift > -2) {
        return cortexm_rescale_wide(sum, multiplier, shift, low, high);
    }
    value = (sum >> 16) * multiplier + (int32_t)(((uint32_t)sum & 0xffffu) * (uint32_t)multiplier >> 16);
    return (int16_t)cortexm_clamp(((value >> (-2 - shift)) + 1) >> 1, low, high);
}

#endif
