/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with their bits in reverse. */
#ifndef CORTEXM_COMMON_REVERSED_H
#define CORTEXM_COMMON_REVERSED_H

#include <stdint.h>

/* A number below 2 * top, a power of two, counted up with its bits in reverse; after the last one, 0. */
static inline uint32_t cortexm_next_reversed(uint32_t number, uint32_t top)
{
    while (number & top) {
        number ^= top;
        top >>= 1;
    }
    return number | top;
}

#endif
