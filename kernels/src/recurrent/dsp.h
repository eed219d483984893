/* SPDX-License-Identifier: Apache-2.0 */
/* A step with DSP instructions: rows of 16 bits times weights packed as "pairs", whether the codes have
 * 8 bits or 16 (common/wide_dsp.h); weights of 4 bits as "nibble_pairs" beside codes of 8 bits and as
 * "nibble_twos" beside codes of 16 (common/products_dsp.h); in cells the products of a word and a half. */
#ifndef CORTEXM_RECURRENT_DSP_H
#define CORTEXM_RECURRENT_DSP_H

#if !defined(__ARM_FEATURE_DSP)
#error "dsp kernels need the DSP extension"
#endif

#include <stdint.h>
#include <string.h>

#include "common/products_dsp.h"
#include "common/stamp.h"
#include "common/wide_dsp.h"

typedef int16_t ROW;
#define ROWS_APART 1 /* rows of inputs are filled up to fours with zeros */

#if WEIGHT_BITS == 8

/* Four sums from S, B, S, B. */
static inline void put_four(const int32_t *bias, const int32_t *pairs, int32_t *sum)
{
    sum[0] = bias[0] + cortexm_lower_sum(pairs[0], pairs[1]);
    sum[1] = bias[1] + pairs[1];
    sum[2] = bias[2] + cortexm_lower_sum(pairs[2], pairs[3]);
    sum[3] = bias[3] + pairs[3];
}

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights; `sum` may be `bias`. */
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

#elif CODE_BITS == 8

static inline void put_sums(const int32_t *bias, const int32_t *from, int32_t count, int32_t *sum)
{
    for (int32_t i = 0; i < count; ++i) {
        sum[i] = bias[i] + from[i];
    }
}

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights; `sum` may be `bias`. */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const cortexm_word_t *const x = (const cortexm_word_t *)(const void *)row;
    const cortexm_word_t *w = (const cortexm_word_t *)(const void *)weight;
    const int32_t quads = (n + 3) / 4;
    const int32_t block = cortexm_block_words(n);
    const int32_t start = cortexm_pairs_start(x, 1, quads);
    cortexm_sums_t sums;
    int32_t o = 0;

    for (; o + 8 <= outputs; o += 8) {
        cortexm_gemm_1x8(x, w, quads, 4 * block, start, &sums);
        put_sums(bias + o, sums.sum, 8, sum + o);
        w += 2 * block;
    }
    if (o + 4 <= outputs) {
        cortexm_block_1x4(x, w, quads, start, sums.sum);
        put_sums(bias + o, sums.sum, 4, sum + o);
        w += block;
        o += 4;
    }
    for (; o < outputs; ++o) {
        sum[o] = bias[o] + cortexm_row_1x1(x, w, quads, start);
        w += cortexm_row_words(quads);
    }
}

#else

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights; `sum` may be `bias`. */
static CORTEXM_APART void add_products(const ROW *row, int32_t n, const int8_t *weight,
                                       const int32_t *bias, int32_t outputs, int32_t *sum)
{
    const cortexm_word_t *w = (const cortexm_word_t *)(const void *)weight;
    const int32_t quads = (n + 3) / 4;
    const int32_t start = cortexm_wide_start(row, quads, CORTEXM_MINUS_OFFSETS);

    for (int32_t o = 0; o < outputs; w += 2 * quads) {
        int32_t four[4];

        /* A single pair is computed twice. */
        cortexm_nibbles_1x4(row, 2, w, outputs - o > 2 ? w + quads : w, quads, start, four);
        for (int32_t i = 0; i < 4 && o < outputs; ++i, ++o) {
            sum[o] = bias[o] + four[i];
        }
    }
}

#endif

#if CODE_BITS == 8

/* Widened. */
static inline void put_row(ROW *row, const int8_t *codes, int32_t n)
{
    for (; n > 0; --n) {
        *row++ = *codes++;
    }
}

#else

static inline void put_row(ROW *row, const int16_t *codes, int32_t n)
{
    memcpy(row, codes, (uint32_t)n * sizeof *row);
}

#endif

static inline int32_t cortexm_scaled(int32_t a, int32_t m)
{
    int32_t result;

    __asm__("smulwb %0, %1, %2" : "=r"(result) : "r"(a), "r"(m));
    return result;
}

/* value + ((word + (its lower half) * f) >> 16) * f */
static inline int32_t cortexm_parabola_dsp(int32_t value, uint32_t word, int32_t f)
{
    int32_t result;

    __asm__("smlabb %0, %1, %2, %1\n\t"
            "smlatb %0, %0, %2, %3"
            : "=&r"(result)
            : "r"(word), "r"(f), "r"(value));
    return result;
}

#define CORTEXM_SCALED(a, m) cortexm_scaled(a, m)
#define CORTEXM_PARABOLA(value, word, f) cortexm_parabola_dsp(value, word, f)
#define CORTEXM_SATURATED(x, n)                                                                    \
    __extension__({                                                                                \
        int32_t saturated;                                                                         \
        __asm__("ssat %0, %1, %2" : "=r"(saturated) : "I"(n), "r"(x));                             \
        saturated;                                                                                 \
    })

#include "recurrent/cells.h"

#endif
