/* SPDX-License-Identifier: Apache-2.0 */
/* A step in portable C. */
#ifndef CORTEXM_RECURRENT_SCALAR_H
#define CORTEXM_RECURRENT_SCALAR_H

#include <stdint.h>
#include <string.h>

#include "common/stamp.h"
#include "cortexm/requantize.h"

#if CODE_BITS == 8

#include "recurrent/products.h"

#else

#include "common/nibbles.h"

/* Rows of int16 codes are the codes. */
typedef int16_t ROW;
#define ROWS_APART 0

static inline void put_row(ROW *row, const int16_t *codes, int32_t n)
{
    memcpy(row, codes, (uint32_t)n * sizeof *row);
}

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights; `sum` may be `bias`. */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    int32_t at = 0;

    for (int32_t o = 0; o < outputs; ++o) {
        int32_t value = *bias++;

        for (int32_t k = 0; k < n; ++k) {
            value += row[k] * cortexm_weight(weight, at++);
        }
        *sum++ = value;
    }
}

#endif

static inline int32_t cortexm_scaled(int32_t a, int32_t m)
{
    return (int32_t)(((int64_t)a * m) >> 16);
}

#define CORTEXM_SCALED(a, m) cortexm_scaled(a, m)
#define CORTEXM_PARABOLA(value, word, f) cortexm_parabola(value, word, f)
#define CORTEXM_SATURATED(x, n) cortexm_clamp(x, -(1 << ((n) - 1)), (1 << ((n) - 1)) - 1)

#include "recurrent/cells.h"

#endif
