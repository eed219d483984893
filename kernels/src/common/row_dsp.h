/* SPDX-License-Identifier: Apache-2.0 */
/* A row of int8 codes, widened to 16 bits, times packed weights ("pairs" or "nibble_pairs", products_dsp.h)
 * of eight outputs at a time. */
#ifndef CORTEXM_COMMON_ROW_DSP_H
#define CORTEXM_COMMON_ROW_DSP_H

#include "common/products_dsp.h"

/* n codes in 16 bits, filled up to fours with zeros. */
static void cortexm_widen(const int8_t *in, int32_t n, cortexm_word_t *to)
{
    int16_t *last;

    for (; n >= 4; n -= 4) {
        const uint32_t codes = cortexm_load4(in);
        const uint32_t even = cortexm_sxtb16(codes);
        const uint32_t odd = cortexm_sxtb16_ror8(codes);

        to[0] = cortexm_lower_halves(even, odd);
        to[1] = cortexm_upper_halves(even, odd);
        in += 4;
        to += 2;
    }
    if (n > 0) {
        to[0] = 0;
        to[1] = 0;
        last = (int16_t *)(void *)to;
        for (; n > 0; --n) {
            *last++ = *in++;
        }
    }
}

/* What cortexm_row_1x8 begins with and returns; it knows the places of the members. */
typedef struct {
    int32_t start;
    int32_t block;      /* bytes from one block of four outputs to the next */
    int32_t sum[8];
} cortexm_row_t;

#if WEIGHT_BITS == 8
#define BLOCK_WORDS 2 /* of four outputs' weights for two inputs */

/* Two inputs times the four outputs of a block, whose sums are U, S, U, S (products_dsp.h). */
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
#define MULTIPLY_STEP                                                                              \
    "ldr    r3, [r0], #4\n" MULTIPLY_BLOCK("r1", "r4", "r5", "r6", "r7")                           \
        MULTIPLY_BLOCK("r2", "r8", "r9", "r10", "r11")

/* Eight outputs for up to 127 quads of inputs, in all registers there are. */
__attribute__((naked, noinline)) static void cortexm_row_1x8(const cortexm_word_t *x,
                                                      const cortexm_word_t *w, int32_t quads,
                                                      cortexm_row_t *sums)
{
    (void)x;
    (void)w;
    (void)quads;
    (void)sums;
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
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
        "1:\n" MULTIPLY_STEP MULTIPLY_STEP
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

/* cortexm_row_1x8 for any number of inputs. */
static void cortexm_row(const cortexm_word_t *x, const cortexm_word_t *w, int32_t quads, int32_t block,
                 int32_t start, cortexm_row_t *sums)
{
    cortexm_row_t more = {0, block, {0}};

    sums->start = start;
    sums->block = block;
    cortexm_row_1x8(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), sums);
    for (quads -= CORTEXM_RUN_QUADS; quads > 0; quads -= CORTEXM_RUN_QUADS) {
        x += CORTEXM_RUN_QUADS * 2;
        w += CORTEXM_RUN_QUADS * 2 * BLOCK_WORDS;
        cortexm_row_1x8(x, w, cortexm_min(quads, CORTEXM_RUN_QUADS), &more);
        for (int32_t i = 0; i < 8; ++i) {
            sums->sum[i] += more.sum[i];
        }
    }
}

#endif
