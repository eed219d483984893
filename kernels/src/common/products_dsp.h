/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products of 16-bit inputs and packed weights of 8 or 4 bits (WEIGHT_BITS, stamp.h). Inputs
 * come in fours, filled up with zeros. The weights of these may be any: only words with a weight are
 * stored, and what follows is read for the others.
 *
 * 8 bits. The plan packs the weights of two channels a and b together: a word holds them at two
 * inputs k and k + 1 as two 16-bit values 256 * b + (a + 128). The form "twos"
 * (plan/kernels/packing_dsp.py) has one pair of channels after another, the last perhaps with zeros for b,
 * "pairs" blocks of two pairs with their words in turn; channels that are left of fours follow there,
 * weights w0, w2, w1, w3 in a word.
 *
 * Let A and B be a channel's sums of products with the inputs x and X = 128 * (sum of x). The sum
 * over the 16-bit values is S = 256 * B + A + X, that over their lower bytes, zero-extended,
 * U = A + X. So B = (S - U) / 256, exact while |B| < 2^23, and A = U - X, which costs nothing if
 * both sums begin at -X: four weights take one extension. Longer sums are made of runs of 508
 * inputs, each of which keeps |B| <= 508 * 2^14 < 2^23.
 *
 * 4 bits, of weights from -8 to 7. "nibble_twos" has a byte 16 * b + (a + 8) for two channels and an
 * input; a word has those of the inputs k, k + 2, k + 1 and k + 3. A byte sign-extended and its lower
 * half are again S = 16 * B + A + X and U = A + X, with X = 8 * (sum of x). Here |B| < 2^27 is enough.
 *
 * "nibble_pairs" has four channels a, b, c and d at two inputs in a word, each half of which is
 * 4096 * d + 256 * (c + 8) + 16 * (b + 8) + (a + 8). Its own sum, those of its lower bytes, of its
 * lower nibbles (a and c), and of a alone differ by 16 * (B + X), 256 * (C + X) and 4096 * D, exact
 * while |D| < 2^19, which 508 inputs keep. Channels that are left of fours follow, codes w + 8 of
 * eight inputs in a word, those at even inputs in its lower half.
 */
#ifndef CORTEXM_COMMON_PRODUCTS_DSP_H
#define CORTEXM_COMMON_PRODUCTS_DSP_H

#include "common/dsp.h"
#include "common/stamp.h"
#include "common/taps.h"

/* Inputs come in fours; so many of them make a run. */
#define CORTEXM_RUN_QUADS 127

#if WEIGHT_BITS == 8
#define CORTEXM_OFFSET 128 /* what is added to a */
#define CORTEXM_MINUS_OFFSETS UINT32_C(0xff80ff80)
#define CORTEXM_SECOND 8 /* bits by which b is shifted in S */
#else
#define CORTEXM_OFFSET 8
#define CORTEXM_MINUS_OFFSETS UINT32_C(0xfff8fff8)
#define CORTEXM_SECOND 4
#endif

/* B from S and U. */
static inline int32_t cortexm_upper_sum(int32_t s, int32_t u)
{
    return (int32_t)((uint32_t)s - (uint32_t)u) >> CORTEXM_SECOND;
}

/* -X of one row of inputs, whose pairs are `step` words apart. */
static inline int32_t cortexm_pairs_start(const cortexm_word_t *x, int32_t step, int32_t quads)
{
    int32_t sum = 0;

    for (; quads > 0; --quads) {
        sum = cortexm_smlad(x[0], CORTEXM_MINUS_OFFSETS, sum);
        sum = cortexm_smlad(x[step], CORTEXM_MINUS_OFFSETS, sum);
        x += 2 * step;
    }
    return sum;
}

#if WEIGHT_BITS == 8

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

/* Words of four channels' weights, and of one that is left, in "pairs" or "nibble_pairs". */
static inline int32_t cortexm_block_words(int32_t depth)
{
    return (depth + 1) / 2 * 2;
}

static inline int32_t cortexm_row_words(int32_t quads)
{
    return quads;
}

/* cortexm_gemm_1x4 of a block of "pairs", for a row of inputs in one piece. */
static inline void cortexm_block_1x4(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads,
                                     int32_t start, int32_t sum[4])
{
    cortexm_gemm_1x4(x, 1, w, 2, 1, quads, start, sum);
}

/* The product of one row of inputs with a channel that is left; start is not used. */
static inline int32_t cortexm_row_1x1(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads,
                                      int32_t start)
{
    (void)start;
    return cortexm_gemm_1x1(x, 1, w, quads);
}

#else

/* The lowest nibbles of both halves of a word. */
static inline uint32_t cortexm_lowest(uint32_t word)
{
    return word & UINT32_C(0x000f000f);
}

/* sum[c]: products of one row of inputs with two channels of "nibble_twos". The row's pairs are `step`
 * words apart; start is -X. */
static inline void cortexm_gemm_1x2(const cortexm_word_t *x, int32_t step, const cortexm_word_t *w,
                                    int32_t quads, int32_t start, int32_t sum[2])
{
    int32_t s = start;
    int32_t u = start;

    for (; quads > 0; --quads) {
        const uint32_t word = *w++;
        const uint32_t first = cortexm_sxtb16(word);
        const uint32_t second = cortexm_sxtb16_ror8(word);

        s = cortexm_smlad(x[0], first, s);
        u = cortexm_smlad(x[0], cortexm_lowest(first), u);
        s = cortexm_smlad(x[step], second, s);
        u = cortexm_smlad(x[step], cortexm_lowest(second), u);
        x += 2 * step;
    }
    sum[0] = u;
    sum[1] = cortexm_upper_sum(s, u);
}

static inline int32_t cortexm_block_words(int32_t depth)
{
    return (depth + 1) / 2;
}

static inline int32_t cortexm_row_words(int32_t quads)
{
    return (quads + 1) / 2;
}

/* sum[c]: products of one row of inputs, in one piece, with a block of four channels of
 * "nibble_pairs". */
static inline void cortexm_block_1x4(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads,
                                     int32_t start, int32_t sum[4])
{
    sum[0] = sum[1] = sum[2] = start;
    sum[3] = 0;
    do {
        const int32_t run = cortexm_min(quads, CORTEXM_RUN_QUADS);
        const cortexm_word_t *const end = w + 2 * run;
        int32_t a = 0, low = 0, ac = 0, all = 0;

        do {
            const uint32_t inputs = *x++;
            const uint32_t word = *w++;
            const uint32_t lower = word & UINT32_C(0x0f0f0f0f);

            all = cortexm_smlad(inputs, word, all);
            low = cortexm_smlad(inputs, cortexm_uxtb16(word), low);
            ac = cortexm_smlad(inputs, lower, ac);
            a = cortexm_smlad(inputs, cortexm_uxtb16(lower), a);
        } while (w != end);
        all -= low;
        low -= a;
        ac -= a;
        all -= ac;
        sum[0] += a;
        sum[1] += low >> 4;
        sum[2] += ac >> 8;
        sum[3] += all >> 12;
        quads -= run;
    } while (quads > 0);
}

/* The product of one row of inputs with a channel that is left. */
static inline int32_t cortexm_row_1x1(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads,
                                      int32_t start)
{
    int32_t sum = start;

    for (; quads > 1; quads -= 2) {
        const uint32_t codes = *w++;

        sum = cortexm_smlad(x[0], cortexm_lowest(codes), sum);
        sum = cortexm_smlad(x[1], cortexm_lowest(codes >> 4), sum);
        sum = cortexm_smlad(x[2], cortexm_lowest(codes >> 8), sum);
        sum = cortexm_smlad(x[3], cortexm_lowest(codes >> 12), sum);
        x += 4;
    }
    if (quads != 0) {
        sum = cortexm_smlad(x[0], cortexm_lowest(*w), sum);
        sum = cortexm_smlad(x[1], cortexm_lowest(*w >> 4), sum);
    }
    return sum;
}

#endif

/* One row of inputs, in one piece, times eight channels of "pairs" or "nibble_pairs". */

/* What cortexm_run_1x8 begins with and returns; it knows the places of the members. */
typedef struct {
    int32_t start;
    int32_t block; /* bytes from one block of four outputs to the next */
    int32_t sum[8];
} cortexm_sums_t;

#if WEIGHT_BITS == 8
#define BLOCK_WORDS 2 /* of four outputs' weights for two inputs */

/* Two inputs times the four outputs of a block, whose sums are U, S, U, S. */
#define MULTIPLY_BLOCK(w, u0, s0, u1, s1)                                                          \
    "ldrd   r12, lr, [" w "], #8\n"                                                                \
    "smlad  " s0 ", r3, r12, " s0 "\n"                                                             \
    "smlad  " s1 ", r3, lr, " s1 "\n"                                                              \
    "uxtb16 r12, r12\n"                                                                            \
    "uxtb16 lr, lr\n"                                                                              \
    "smlad  " u0 ", r3, r12, " u0 "\n"                                                             \
    "smlad  " u1 ", r3, lr, " u1 "\n"
#define SEPARATE_BLOCK(u0, s0, u1, s1)                                                             \
    "sub    " s0 ", " s0 ", " u0 "\n"                                                              \
    "sub    " s1 ", " s1 ", " u1 "\n"                                                              \
    "asr    " s0 ", " s0 ", #8\n"                                                                  \
    "asr    " s1 ", " s1 ", #8\n"
#else
#define BLOCK_WORDS 1

/* The same; the sums are those over a, the lower bytes, a and c, and all. */
#define MULTIPLY_BLOCK(w, a, low, ac, all)                                                         \
    "ldr    r12, [" w "], #4\n"                                                                    \
    "smlad  " all ", r3, r12, " all "\n"                                                           \
    "uxtb16 lr, r12\n"                                                                             \
    "and    r12, r12, #0x0f0f0f0f\n"                                                               \
    "smlad  " low ", r3, lr, " low "\n"                                                            \
    "smlad  " ac ", r3, r12, " ac "\n"                                                             \
    "uxtb16 r12, r12\n"                                                                            \
    "smlad  " a ", r3, r12, " a "\n"
/* As in cortexm_block_1x4; r3 points to the start, with which all began. */
#define SEPARATE_BLOCK(a, low, ac, all)                                                            \
    "ldr    r12, [r3]\n"                                                                           \
    "sub    " all ", " all ", " low "\n"                                                           \
    "sub    " low ", " low ", " a "\n"                                                             \
    "sub    " ac ", " ac ", " a "\n"                                                               \
    "sub    " all ", " all ", " ac "\n"                                                            \
    "add    " low ", r12, " low ", asr #4\n"                                                       \
    "add    " ac ", r12, " ac ", asr #8\n"                                                         \
    "asr    " all ", " all ", #12\n"
#endif
#define MULTIPLY_EIGHT                                                                             \
    "ldr    r3, [r0], #4\n" MULTIPLY_BLOCK("r1", "r4", "r5", "r6", "r7")                           \
        MULTIPLY_BLOCK("r2", "r8", "r9", "r10", "r11")
#if defined CORTEXM_PAIRS_OF_QUADS /* two quads in a loop, in whose middle an odd number begins */
#define TEST_QUADS "tst    r2, #1\n"
#define MULTIPLY_QUADS                                                                             \
    "bne    2f\n"                                                                                  \
    "1:\n" MULTIPLY_EIGHT MULTIPLY_EIGHT                                                           \
    "2:\n" MULTIPLY_EIGHT MULTIPLY_EIGHT
#else
#define TEST_QUADS
#define MULTIPLY_QUADS "1:\n" MULTIPLY_EIGHT MULTIPLY_EIGHT
#endif

/* Eight outputs for up to 127 quads of inputs, in all registers there are. */
CORTEXM_NAKED static void
cortexm_run_1x8(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads, cortexm_sums_t *sums)
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(quads);
    CORTEXM_TAKES(sums);
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        TEST_QUADS
        "add    r2, r1, r2, lsl #2 + " CORTEXM_QUOTE(BLOCK_WORDS) "\n"
        "push   {r2}\n" /* the end of the first block's weights */
        "ldrd   r4, r2, [r3]\n"
        "add    r2, r1\n"
        "mov    r5, r4\n"
        "mov    r6, r4\n"
        "mov    r7, r4\n"
        "mov    r8, r4\n"
        "mov    r9, r4\n"
        "mov    r10, r4\n"
        "mov    r11, r4\n"
        MULTIPLY_QUADS
        "ldr    r3, [sp]\n"
        "cmp    r1, r3\n"
        "bne    1b\n"
        "add    sp, #4\n"
        "pop    {r3}\n" SEPARATE_BLOCK("r4", "r5", "r6", "r7")
        SEPARATE_BLOCK("r8", "r9", "r10", "r11")
        "add    r3, #8\n"
        "stmia  r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* cortexm_run_1x8 for any number of inputs. */
static inline void cortexm_gemm_1x8(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads,
                                    int32_t block, int32_t start, cortexm_sums_t *sums)
{
    sums->start = start;
    sums->block = block;
    cortexm_run_1x8(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), sums);
    for (quads -= CORTEXM_RUN_QUADS; quads > 0; quads -= CORTEXM_RUN_QUADS) {
        cortexm_sums_t more;

        more.start = 0;
        more.block = block;
        x += CORTEXM_RUN_QUADS * 2;
        w += CORTEXM_RUN_QUADS * 2 * BLOCK_WORDS;
        cortexm_run_1x8(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), &more);
        for (int32_t i = 0; i < 8; ++i) {
            sums->sum[i] += more.sum[i];
        }
    }
}

#endif
