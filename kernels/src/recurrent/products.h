/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step without SIMD, of int8 codes with weights packed as "fours" or "nibble_fours", of int16
 * codes with weights packed as "eights" or "nibble_eights" (common/eights.h). */
#ifndef CORTEXM_RECURRENT_PRODUCTS_H
#define CORTEXM_RECURRENT_PRODUCTS_H

#include <string.h>

#include "common/stamp.h"

/* Of an output's weights for n inputs. */
static inline int32_t output_bytes(int32_t n)
{
    return WEIGHT_BITS == 4 ? (n + 1) / 2 : n;
}

#if CODE_BITS == 8

#include "common/accumulate.h"
#include "common/eights.h"

typedef int8_t ROW;
#define ROWS_APART 0 /* no row of inputs needs to be filled up */

static inline void put_row(ROW *row, const int8_t *codes, int32_t n)
{
    memcpy(row, codes, (uint32_t)n);
}

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights; `sum` may be `bias`. */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const int32_t whole = outputs & ~3;
    const int32_t row_bytes = output_bytes(n);
    int32_t start = 0;

    for (int32_t k = 0; k < n; k += CORTEXM_QUAD_CHUNK) {
        start -= CORTEXM_QUAD_OFFSET;
    }
    for (int32_t o = 0; o < outputs; ++o) {
        sum[o] = bias[o] + (o < whole ? start : 0);
    }
    for (int32_t k = 0; k < n; k += CORTEXM_QUAD_CHUNK) {
        const int32_t count = cortexm_min(n - k, CORTEXM_QUAD_CHUNK);
        const int32_t x_sum = cortexm_sum_s8(row + k, count);
        const uint32_t begin = cortexm_quads_start(x_sum);
        cortexm_quads_t run = {.second = 4 * row_bytes};
        const uint8_t *w = (const uint8_t *)weight + 4 * output_bytes(k);
        int32_t o = 0;

        for (; o + 8 <= outputs; o += 8) {
            cortexm_quads(&run, row + k, w, count, begin, sum + o, sum + o);
            w += 8 * row_bytes;
        }
        if (o < whole) {
            run.second = 0;
            cortexm_quads(&run, row + k, w, count, begin, sum + o, sum + o);
            o += 4;
            w += 4 * row_bytes;
        }
        w -= 3 * output_bytes(k);
        for (; o < outputs; ++o) {
            sum[o] += cortexm_quads_rest(row + k, w, count) - CORTEXM_QUAD_RAISED * x_sum;
            w += row_bytes;
        }
    }
}

#else

#include "common/eights.h"

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
    const int32_t start = -CORTEXM_EIGHTS_RAISED * cortexm_eights_sum(row, n);
    const uint8_t *w = (const uint8_t *)weight;
    int32_t o = 0;

    for (; o + 8 <= outputs; w += n * WEIGHT_BITS) {
        int32_t eight[8];

        cortexm_eights(row, w, n, eight);
        for (int32_t i = 0; i < 8; ++i) {
            sum[o] = start + bias[o] + eight[i];
            ++o;
        }
    }
    for (; o < outputs; ++o) {
        sum[o] = start + bias[o] + cortexm_eights_rest(row, w, n);
        w += output_bytes(n);
    }
}

#endif

#endif
