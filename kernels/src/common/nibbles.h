/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of 4 bits, -8 to 7, two in a byte, the first in its lower half. */
#ifndef CORTEXM_COMMON_NIBBLES_H
#define CORTEXM_COMMON_NIBBLES_H

#include <stdint.h>

#include "common/apart.h"

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

#endif
