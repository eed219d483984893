/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int16 codes without SIMD, weights packed as "eights" (common/eights.h). */
#ifndef CORTEXM_RECURRENT_S16_V7M_H
#define CORTEXM_RECURRENT_S16_V7M_H

#include "common/eights.h"
#include "recurrent/s16/row.h"

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const int32_t start = -CORTEXM_EIGHTS_RAISED * cortexm_eights_sum(row, n);
    const uint8_t *w = (const uint8_t *)weight;
    int32_t o = 0;

    for (; o + 8 <= outputs; w += 8 * n) {
        cortexm_eights(row, w, n, sum + o);
        for (int32_t i = 0; i < 8; ++i) {
            sum[o] += start + bias[o];
            ++o;
        }
    }
    for (; o < outputs; ++o) {
        sum[o] = start + bias[o] + cortexm_eights_rest(row, w, n);
        w += n;
    }
}

#endif
