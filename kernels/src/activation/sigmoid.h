/* SPDX-License-Identifier: Apache-2.0 */
/* The logistic function and tanh between entries of a table, as TensorFlow Lite has them of int16. */
#ifndef CORTEXM_ACTIVATION_SIGMOID_H
#define CORTEXM_ACTIVATION_SIGMOID_H

#include "common/stamp.h"
#include "cortexm/requantize.h"

/* Of x in units of 1 / 12288, in Q15: table[i] is 1 / (1 + exp(-i / 24)) - 1/2 in Q16, i = 0 ... 255, and
 * tanh(x / 2) twice as much. Beyond the last entry the result is that of the place before it. */
static inline int32_t cortexm_sigmoid(const int16_t *table, int32_t x, int32_t is_tanh)
{
    const int32_t bits = is_tanh ? 8 : 9;
    const int32_t size = cortexm_min(x < 0 ? -x : x, (255 << bits) - 1);
    const int16_t *const entry = table + (size >> bits);
    const int32_t value = entry[0] * (1 << bits) + (entry[1] - entry[0]) * (size & ((1 << bits) - 1));
    const int32_t distance = is_tanh ? (value + (1 << 7)) >> 8 : (value + (1 << 9)) >> 10;

    return (is_tanh ? 0 : 1 << 14) + (x < 0 ? -distance : distance);
}

#endif
