/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products of 16-bit inputs and packed 8-bit weights.
 *
 * Weights are packed as "pairs" (python/cortexm_tools/plan/pack.py): output channels in blocks of
 * four, each block [k / 2][2] words; word j of a step holds channels a = 4 * block + 2 * j and
 * b = a + 1 at inputs k and k + 1 as two 16-bit values 256 * b + (a + 128).
 *
 * Let A and B be a channel's sums of products with the inputs x and X = 128 * (sum of x). The sum
 * over the 16-bit values is S = 256 * B + A + X, that over their lower bytes, zero-extended,
 * U = A + X. So B = (S - U) / 256, exact while |B| < 2^23, and A = U - X, which costs nothing if
 * both sums begin at -X: four weights take one extension. Longer sums are made of runs of 508
 * inputs, each of which keeps |B| <= 508 * 2^14 < 2^23.
 */
#ifndef CORTEXM_COMMON_GEMM_DSP_H
#define CORTEXM_COMMON_GEMM_DSP_H

#include "common/dsp.h"

/* Inputs come in fours; so many of them make a run. */
#define CORTEXM_RUN_QUADS 127

/* B from S and U. */
static inline int32_t cortexm_upper_sum(int32_t s, int32_t u)
{
    return (int32_t)((uint32_t)s - (uint32_t)u) >> 8;
}

/* -X of one row of inputs, whose pairs are `step` words apart. */
static inline int32_t cortexm_pairs_start(const cortexm_word_t *x, int32_t step, int32_t quads)
{
    int32_t sum = 0;

    for (; quads > 0; --quads) {
        sum = cortexm_smlad(x[0], UINT32_C(0xff80ff80), sum);
        sum = cortexm_smlad(x[step], UINT32_C(0xff80ff80), sum);
        x += 2 * step;
    }
    return sum;
}

/* sum[c]: products of one row of inputs with the four channels of a block. The row's pairs are
 * `step` words apart; start is -X. */
static inline void cortexm_gemm_1x4(const cortexm_word_t *x, int32_t step, const cortexm_word_t *w,
                                    int32_t quads, int32_t start, int32_t sum[4])
{
    sum[0] = sum[2] = start;
    sum[1] = sum[3] = 0;
    do {
        const int32_t run = cortexm_min(quads, CORTEXM_RUN_QUADS);
        const cortexm_word_t *const end = w + 4 * run;
        int32_t a0 = 0, a1 = 0;
        int32_t s0 = 0, s1 = 0;

        do {
            const uint32_t x0 = x[0];
            const uint32_t x1 = x[step];

            s0 = cortexm_smlad(x0, w[0], s0);
            a0 = cortexm_smlad(x0, cortexm_uxtb16(w[0]), a0);
            s1 = cortexm_smlad(x0, w[1], s1);
            a1 = cortexm_smlad(x0, cortexm_uxtb16(w[1]), a1);
            s0 = cortexm_smlad(x1, w[2], s0);
            a0 = cortexm_smlad(x1, cortexm_uxtb16(w[2]), a0);
            s1 = cortexm_smlad(x1, w[3], s1);
            a1 = cortexm_smlad(x1, cortexm_uxtb16(w[3]), a1);
            x += 2 * step;
            w += 4;
        } while (w != end);
        sum[0] += a0;
        sum[1] += cortexm_upper_sum(s0, a0);
        sum[2] += a1;
        sum[3] += cortexm_upper_sum(s1, a1);
        quads -= run;
    } while (quads > 0);
}

#endif
