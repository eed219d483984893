/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 64 bits, for a core that has them. */
#ifndef CORTEXM_COMMON_PRODUCTS_WIDE_H
#define CORTEXM_COMMON_PRODUCTS_WIDE_H

#include <stdint.h>

static inline uint64_t cortexm_square(int32_t x)
{
    return (uint64_t)((int64_t)x * x);
}

/* weight < 2^16 */
static inline uint64_t cortexm_weighted(uint32_t weight, uint32_t x)
{
    return (uint64_t)weight * x;
}

#endif
