/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int16 codes in portable C. */
#ifndef CORTEXM_RECURRENT_S16_SCALAR_H
#define CORTEXM_RECURRENT_S16_SCALAR_H

#include "recurrent/s16/row.h"

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights */
static inline void add_products(const ROW *row, int32_t n, const int8_t *weight, const int32_t *bias,
                                int32_t outputs, int32_t *sum)
{
    for (int32_t o = 0; o < outputs; ++o) {
        int32_t value = *bias++;

        for (int32_t k = 0; k < n; ++k) {
            value += row[k] * *weight++;
        }
        *sum++ = value;
    }
}

#endif
