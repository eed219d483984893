/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step of int8 codes, DSP instructions, weights packed as "pairs" (common/row_dsp.h). */
#ifndef CORTEXM_RECURRENT_S8_DSP_H
#define CORTEXM_RECURRENT_S8_DSP_H

#include "common/apart.h"
#include "common/row_dsp.h"

typedef int16_t ROW;
#define ROWS_APART 1 /* rows of inputs are filled up to fours with zeros */

static inline void put_row(ROW *row, const int8_t *codes, int32_t n)
{
    if (((uintptr_t)row & 3u) == 0u) {
        cortexm_widen(codes, n, (cortexm_word_t *)(void *)row);
        return;
    }
    for (; n > 0; --n) {
        *row++ = *codes++;
    }
}

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const cortexm_word_t *const x = (const cortexm_word_t *)(const void *)row;
    const cortexm_word_t *w = (const cortexm_word_t *)(const void *)weight;
    const int32_t quads = (n + 3) / 4;
    const int32_t block_words = cortexm_block_words(n);
    const int32_t start = cortexm_pairs_start(x, 1, quads);
    int32_t o = 0;

    for (; o + 8 <= outputs; o += 8) {
        cortexm_row_t sums;

        cortexm_row(x, w, quads, 4 * block_words, start, &sums);
        for (int32_t i = 0; i < 8; ++i) {
            sum[o + i] = bias[o + i] + sums.sum[i];
        }
        w += 2 * block_words;
    }
    if (o + 4 <= outputs) {
        int32_t four[4];

        cortexm_block_1x4(x, w, quads, start, four);
        for (int32_t i = 0; i < 4; ++i) {
            sum[o + i] = bias[o + i] + four[i];
        }
        w += block_words;
        o += 4;
    }
    for (; o < outputs; ++o) {
        sum[o] = bias[o] + cortexm_row_1x1(x, w, quads, start);
        w += cortexm_row_words(quads);
    }
}

#endif
