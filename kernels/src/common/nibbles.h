/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 4 bits, codes from -8 to 7, two in a byte, the first in its lower half. */
#ifndef CORTEXM_COMMON_NIBBLES_H
#define CORTEXM_COMMON_NIBBLES_H

#include <stdint.h>

#include "common/apart.h"
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
