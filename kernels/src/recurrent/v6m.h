/* SPDX-License-Identifier: Apache-2.0 */
/* A step on cores without long products: the lower half of a factor counts by its carry. */
#ifndef CORTEXM_RECURRENT_V6M_H
#define CORTEXM_RECURRENT_V6M_H

#if !defined(__thumb__)
#error "v6m kernels need a Cortex-M core"
#endif

#include <stdint.h>

#include "cortexm/requantize.h"
#include "recurrent/products.h"

static inline int32_t cortexm_scaled(int32_t a, int32_t m)
{
    return (a >> 16) * m + (int32_t)(((uint32_t)a & 0xffffu) * (uint32_t)m >> 16);
}

#define CORTEXM_SCALED(a, m) cortexm_scaled(a, m)
#define CORTEXM_PARABOLA(value, word, f) cortexm_parabola(value, word, f)
#define CORTEXM_SATURATED(x, n) cortexm_clamp(x, -(1 << ((n) - 1)), (1 << ((n) - 1)) - 1)

#include "recurrent/cells.h"

#endif
