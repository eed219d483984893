/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step, DSP instructions: rows of 16 bits times weights packed as "pairs", whether the codes
 * have 8 bits or 16 (common/row_wide_dsp.h). */
#ifndef CORTEXM_RECURRENT_PRODUCTS_DSP_H
#define CORTEXM_RECURRENT_PRODUCTS_DSP_H

#include "common/apart.h"
#include "common/products_dsp.h"
#include "common/row_wide_dsp.h"

typedef int16_t ROW;
#define ROWS_APART 1 /* rows of inputs are filled up to fours with zeros */

/* Four sums from S, B, S, B. */
static inline void put_four(const int32_t *bias, const int32_t *pairs, int32_t *sum)
{
    sum[0] = bias[0] + cortexm_lower_sum(pairs[0], pairs[1]);
    sum[1] = bias[1] + pairs[1];
    sum[2] = bias[2] + cortexm_lower_sum(pairs[2], pairs[3]);
    sum[3] = bias[3] + pairs[3];
}

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const cortexm_word_t *w = (const cortexm_word_t *)(const void *)weight;
    const int32_t quads = (n + 3) / 4;
    const int32_t block = (n + 1) / 2 * 2; /* words of four outputs' weights */
    const int32_t start = cortexm_wide_start(row, quads, CORTEXM_MINUS_OFFSETS);
    int32_t o = 0;

    for (; o + 8 <= outputs; o += 8) {
        int32_t pairs[8] = {start, 0, start, 0, start, 0, start, 0};

        cortexm_wide_1x8(row, w, 4 * block, pairs, quads);
        put_four(bias + o, pairs, sum + o);
        put_four(bias + o + 4, pairs + 4, sum + o + 4);
        w += 2 * block;
    }
    if (o + 4 <= outputs) {
        int32_t pairs[4] = {start, 0, start, 0};

        cortexm_wide_1x4(row, 2, w, w + 1, 2, 2 * quads, pairs);
        put_four(bias + o, pairs, sum + o);
        w += block;
        o += 4;
    }
    for (; o < outputs; ++o) {
        sum[o] = bias[o] + cortexm_wide_1x1(row, w, quads);
        w += quads;
    }
}

#endif
