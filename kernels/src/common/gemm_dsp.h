/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products of 16-bit inputs and packed 8-bit weights.
 *
 * The plan packs the weights of two channels a and b together: a word holds them at two inputs k and
 * k + 1 as two 16-bit values 256 * b + (a + 128). The form "twos" (plan/kernels/packing.py) has one pair of
 * channels after another, the last perhaps with zeros for b, "pairs" blocks of two pairs with their words
 * in turn; channels that are left of fours follow there, weights w0, w2, w1, w3 in a word. Inputs come in
 * fours, filled up with zeros. The weights of these may be any: of each pair only words with a weight are
 * stored, and what follows is read for the others.
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

/* sum[c]: products of one row of inputs with four channels. The row's pairs are `step` words apart, a
 * pair of channels' words `next`, and the second pair of channels begins after `second`; start is -X. */
static inline void cortexm_gemm_1x4(const cortexm_word_t *x, int32_t step, const cortexm_word_t *w,
                                    int32_t next, int32_t second, int32_t quads, int32_t start,
                                    int32_t sum[4])
{
    sum[0] = sum[2] = start;
    sum[1] = sum[3] = 0;
    do {
        const int32_t run = cortexm_min(quads, CORTEXM_RUN_QUADS);
        const cortexm_word_t *const end = w + 2 * next * run;
        int32_t a0 = 0, a1 = 0;
        int32_t s0 = 0, s1 = 0;

        do {
            const cortexm_word_t *const v = w + second;
            const uint32_t x0 = x[0];
            const uint32_t x1 = x[step];

            s0 = cortexm_smlad(x0, w[0], s0);
            a0 = cortexm_smlad(x0, cortexm_uxtb16(w[0]), a0);
            s1 = cortexm_smlad(x0, v[0], s1);
            a1 = cortexm_smlad(x0, cortexm_uxtb16(v[0]), a1);
            s0 = cortexm_smlad(x1, w[next], s0);
            a0 = cortexm_smlad(x1, cortexm_uxtb16(w[next]), a0);
            s1 = cortexm_smlad(x1, v[next], s1);
            a1 = cortexm_smlad(x1, cortexm_uxtb16(v[next]), a1);
            x += 2 * step;
            w += 2 * next;
        } while (w != end);
        sum[0] += a0;
        sum[1] += cortexm_upper_sum(s0, a0);
        sum[2] += a1;
        sum[3] += cortexm_upper_sum(s1, a1);
        quads -= run;
    } while (quads > 0);
}

/* The product of one row of inputs with a channel that is left. */
static inline int32_t cortexm_gemm_1x1(const cortexm_word_t *x, int32_t step,
                                       const cortexm_word_t *w, int32_t quads)
{
    int32_t sum = 0;

    do {
        const uint32_t codes = *w++;

        sum = cortexm_smlad(x[0], cortexm_sxtb16(codes), sum);
        sum = cortexm_smlad(x[step], cortexm_sxtb16_ror8(codes), sum);
        x += 2 * step;
    } while (--quads != 0);
    return sum;
}

#endif
