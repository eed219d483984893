/* SPDX-License-Identifier: Apache-2.0 */
/* Products of complex numbers, in portable C. */
#ifndef CORTEXM_COMMON_TURN_SCALAR_H
#define CORTEXM_COMMON_TURN_SCALAR_H

#include <stdint.h>

/* floor((a * b + 2^31) / 2^32) */
static inline int32_t cortexm_high_half(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + INT64_C(0x80000000)) >> 32);
}

#include "common/products_wide.h"
#include "common/turn_product.h"

#endif
