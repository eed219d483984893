/* SPDX-License-Identifier: Apache-2.0 */
/* Products of complex numbers for a core that multiplies to 32 bits only. */
#ifndef CORTEXM_COMMON_TURN_V6M_H
#define CORTEXM_COMMON_TURN_V6M_H

#include <stdint.h>

/* floor((a * b + 2^31) / 2^32), of four products as in cortexm_high_mul_narrow: `first` is what two of them
 * and the carry of the lowest have above 2^16, `second` the third with what is left of that, to which
 * 2^15 cannot be added: it reaches 2^31 - 2^15. */
static inline int32_t cortexm_high_half(int32_t a, int32_t b)
{
    const int32_t ah = a >> 16;
    const int32_t bh = b >> 16;
    const uint32_t al = (uint32_t)a & 0xffffu;
    const uint32_t bl = (uint32_t)b & 0xffffu;
    const int32_t first = ah * (int32_t)bl + (int32_t)((al * bl) >> 16);
    const int32_t second = (int32_t)al * bh + (int32_t)((uint32_t)first & 0xffffu);

    return ah * bh + (first >> 16) + (((second >> 15) + 1) >> 1);
}

/* By its halves h and l: (2^16 h + l)^2. */
static inline uint64_t cortexm_square(int32_t x)
{
    const uint32_t size = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
    const uint32_t high = size >> 16;
    const uint32_t low = size & 0xffffu;

    return ((uint64_t)(high * high) << 32) + ((uint64_t)(high * low) << 17) + low * low;
}

/* weight < 2^16 */
static inline uint64_t cortexm_weighted(uint32_t weight, uint32_t x)
{
    return ((uint64_t)(weight * (x >> 16)) << 16) + weight * (x & 0xffffu);
}

#include "common/turn_product.h"

#endif
