/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 4 bits, codes from -8 to 7, two in a byte, the first in its lower half. */
#ifndef CORTEXM_COMMON_NIBBLES_H
#define CORTEXM_COMMON_NIBBLES_H

#include <stdint.h>

#include "common/stamp.h"

/* `count` codes in a byte each. Where that is odd the last byte has one. */
static CORTEXM_APART void cortexm_unpack_nibbles(const int8_t *from, int8_t *to, int32_t count)
{
    for (; count > 1; count -= 2) {
        const int32_t both = *from++;

        to[0] = (int8_t)(((both & 15) ^ 8) - 8);
        to[1] = (int8_t)(both >> 4);
        to += 2;
    }
    if (count > 0) {
        *to = (int8_t)(((*from & 15) ^ 8) - 8);
    }
}

/* Weight i of a row, whatever it is packed in: one of 8 bits, or the nibble of "nibbles". */
static inline int32_t cortexm_weight(const int8_t *w, int32_t i)
{
#if WEIGHT_BITS == 4
    const uint32_t both = (uint8_t)w[i / 2];

    return (int32_t)(((both >> (i % 2 * 4)) & 15u) ^ 8u) - 8;
#else
    return w[i];
#endif
}

/* `count` codes w + 8 of "nibble_lines" in a byte each, filled up to eights. */
static CORTEXM_APART void cortexm_spread_nibbles(const cortexm_x32_t *from, cortexm_x32_t *to,
                                                 int32_t count)
{
    for (; count > 0; count -= 8) {
        const uint32_t both = *from++;

        to[0] = both & UINT32_C(0x0f0f0f0f);
        to[1] = both >> 4 & UINT32_C(0x0f0f0f0f);
        to += 2;
    }
}

/* The weight of input k and output o of a block of "fours" or "nibble_fours", as it is stored there:
 * raised to be positive. */
static inline uint32_t cortexm_four(const uint8_t *w, int32_t k, int32_t o)
{
#if WEIGHT_BITS == 4
    return ((uint32_t)w[k / 2 * 4 + o] >> (k % 2 * 4)) & 15u;
#else
    return w[4 * k + o];
#endif
}

#endif
