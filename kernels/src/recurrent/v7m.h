/* SPDX-License-Identifier: Apache-2.0 */
/* A step with long products and saturation. */
#ifndef CORTEXM_RECURRENT_V7M_H
#define CORTEXM_RECURRENT_V7M_H

#if !defined(__thumb2__)
#error "v7m kernels need Armv7-M"
#endif

#include <stdint.h>

#include "recurrent/products.h"

/* The upper half of a long product. */
static inline int32_t cortexm_scaled(int32_t a, int32_t m)
{
    return (int32_t)(((int64_t)a * (m << 16)) >> 32);
}

#define CORTEXM_SCALED(a, m) cortexm_scaled(a, m)
#define CORTEXM_PARABOLA(value, word, f) cortexm_parabola(value, word, f)
#define CORTEXM_SATURATED(x, n)                                                                    \
    __extension__({                                                                                \
        int32_t saturated;                                                                         \
        __asm__("ssat %0, %1, %2" : "=r"(saturated) : "I"(n), "r"(x));                             \
        saturated;                                                                                 \
    })

#include "recurrent/cells.h"

#endif
