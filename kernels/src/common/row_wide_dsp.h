/* SPDX-License-Identifier: Apache-2.0 */
/* A row of int16 codes times packed weights ("pairs", wide_dsp.h) of eight outputs. */
#ifndef CORTEXM_COMMON_ROW_WIDE_DSP_H
#define CORTEXM_COMMON_ROW_WIDE_DSP_H

#include "common/wide_dsp.h"

/* Two inputs times the four outputs of a block, whose sums are S, B, S, B. */
#define MULTIPLY_WIDE(w, s0, b0, s1, b1)                                                          \
    "ldrd   r12, lr, [" w "], #8\n"                                                                \
    "smlad  " s0 ", r3, r12, " s0 "\n"                                                             \
    "smlad  " s1 ", r3, lr, " s1 "\n"                                                              \
    "sxtb16 r12, r12, ror #8\n"                                                                    \
    "sxtb16 lr, lr, ror #8\n"                                                                      \
    "smlad  " b0 ", r3, r12, " b0 "\n"                                                             \
    "smlad  " b1 ", r3, lr, " b1 "\n"
#define MULTIPLY_WIDE_STEP                                                                              \
    "ldr    r3, [r0], #4\n" MULTIPLY_WIDE("r1", "r4", "r5", "r6", "r7")                           \
        MULTIPLY_WIDE("r2", "r8", "r9", "r10", "r11")

/* Eight outputs, in all registers there are. `sum` has what S, B, S, B … begin with, and gets them;
 * `block` are the bytes from one block of four outputs to the next. */
__attribute__((naked, noinline, unused)) static void
cortexm_wide_1x8(const int16_t *x, const cortexm_word_t *w, int32_t block, int32_t sum[8], int32_t quads)
{
    (void)x;
    (void)w;
    (void)block;
    (void)sum;
    (void)quads;
    __asm__ volatile(
        "push   {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
        "ldr    r12, [sp, #40]\n"
        "add    r12, r1, r12, lsl #4\n"
        "push   {r12}\n" /* the end of the first block's weights */
        "add    r2, r1\n"
        "ldm    r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "1:\n" MULTIPLY_WIDE_STEP MULTIPLY_WIDE_STEP
        "ldr    r3, [sp]\n"
        "cmp    r1, r3\n"
        "bne    1b\n"
        "add    sp, #4\n"
        "pop    {r3}\n"
        "stm    r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
        "pop    {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

#endif
