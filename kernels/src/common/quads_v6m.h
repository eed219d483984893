/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of eight outputs (eights.h) for Armv6-M and the Armv8-M Baseline. */
#ifndef CORTEXM_COMMON_QUADS_V6M_H
#define CORTEXM_COMMON_QUADS_V6M_H

#include <stdint.h>

#include "common/stamp.h"

/* eights.h. On the stack: `second`, the inputs' end, `add`, `base`, `sum`. The words of each block are
 * separated as in scalar.h, the second one's after the first one's, which leaves `second` 0. In
 * two pieces, for the length that a literal may have: nothing comes between them in a naked function. */
CORTEXM_NAKED static void
cortexm_quads_sums(const cortexm_quads_t *run, const uint8_t *w, const int32_t *base, int32_t *sum)
{
    CORTEXM_TAKES(run);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(base);
    CORTEXM_TAKES(sum);
#define PRODUCTS(word, x, sum0, sum1, sum2)                                                        \
    "rev  r6, " word "\n"                                                                          \
    "muls r6, " x "\n"                                                                             \
    "add  " sum1 ", r6\n"                                                                          \
    "rev16 r6, " word "\n"                                                                         \
    "muls r6, " x "\n"                                                                             \
    "add  " sum2 ", r6\n"                                                                          \
    "muls " word ", " x "\n"                                                                       \
    "add  " sum0 ", " word "\n"
#ifdef CORTEXM_QUAD_WORDS
#define FOURS "#27" /* moves the bit that the bytes of an odd number of fours have to the front */
#define SECOND_FOUR ""
#define LOAD_TWO(k, next) "ldmia r0!, {r3, r7}\n"
#define NEXT_EIGHT
#else
#define FOURS "#29"
#define SECOND_FOUR "subs r0, #4\n"
#define LOAD_TWO(k, next) TAKE("r3", k) TAKE("r7", next)
#define TAKE(x, k)                                                                                 \
    "ldrb " x ", [r0, #" k "]\n"                                                                   \
    "sxtb " x ", " x "\n"
#define NEXT_EIGHT "adds r0, #8\n"
#endif
#if WEIGHT_BITS == 4
/* Weights of two inputs are the lower and the upper halves of the bytes of a word. */
#define LITERALS ".balign 4\n" "9: .word 0x0f0f0f0f\n"
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldmia " pointer "!, {r4}\n"                                                                   \
    "ldr  r6, 9f\n"                                                                                \
    "lsrs r5, r4, #4\n"                                                                            \
    "ands r4, r6\n"                                                                                \
    "ands r5, r6\n" PRODUCTS("r4", "r3", sum0, sum1, sum2)                                         \
        PRODUCTS("r5", "r7", sum0, sum1, sum2)
#else
#define LITERALS
#define BLOCK(pointer, sum0, sum1, sum2)                                                           \
    "ldmia " pointer "!, {r4, r5}\n" PRODUCTS("r4", "r3", sum0, sum1, sum2)                        \
        PRODUCTS("r5", "r7", sum0, sum1, sum2)
#endif
#define STEP(k, next)                                                                              \
    LOAD_TWO(k, next) BLOCK("r1", "r8", "r9", "r10") BLOCK("r2", "r11", "r12", "lr")
    __asm__ volatile(".syntax unified\n"
                     "push {r4, r5, r6, r7, lr}\n"
                     CORTEXM_HIGH_TO_LOW
                     "push {r4, r5, r6, r7}\n"
                     "ldmia r0!, {r4, r5, r6, r7}\n"
                     "ldr  r0, [r0]\n"
                     "push {r0, r2, r3}\n"
                     "push {r5, r6}\n"
                     "mov  r8, r7\n"
                     "mov  r9, r7\n"
                     "mov  r10, r7\n"
                     "mov  r11, r7\n"
                     "mov  r12, r7\n"
                     "mov  lr, r7\n"
                     "movs r0, r4\n"
                     "adds r2, r1, r5\n"
                     "subs r6, r6, r0\n"
                     "lsls r6, r6, " FOURS "\n"
                     "bmi  7f\n"
                     "b    6f\n"
                     "7:\n" SECOND_FOUR
                     "b    2f\n"
                     "1:\n" STEP("0", "1") STEP("2", "3")
                     "2:\n" STEP("4", "5") STEP("6", "7") NEXT_EIGHT
                     "6:\n"
                     "ldr  r6, [sp, #4]\n"
                     "cmp  r0, r6\n"
                     "beq  3f\n"
                     "b    1b\n" LITERALS);
    __asm__ volatile("3:\n"
                     "mov  r0, r8\n"
                     "mov  r1, r9\n"
                     "mov  r2, r10\n"
                     "4:\n"
                     "lsls r3, r2, #8\n"
                     "subs r3, r0, r3\n"
                     "lsls r4, r0, #8\n"
                     "subs r4, r2, r4\n"
                     "uxth r5, r3\n"
                     "lsrs r3, r3, #16\n"
                     "adds r3, r3, r5\n"
                     "uxth r6, r4\n"
                     "lsrs r4, r4, #16\n"
                     "adds r4, r4, r6\n"
                     "lsls r7, r3, #8\n"
                     "adds r7, r7, r4\n"
                     "subs r7, r7, r1\n"
                     "uxtb r0, r7\n"
                     "uxth r7, r7\n"
                     "lsrs r7, r7, #8\n"
                     "subs r4, r4, r0\n"
                     "uxth r4, r4\n"
                     "subs r3, r3, r7\n"
                     "uxth r3, r3\n"
                     "lsls r0, r0, #16\n"
                     "adds r6, r6, r0\n" /* b */
                     "lsls r7, r7, #16\n"
                     "adds r5, r5, r7\n" /* a */
                     "subs r1, r1, r4\n"
                     "lsls r0, r3, #8\n"
                     "subs r1, r1, r0\n"
                     "lsls r0, r6, #16\n"
                     "subs r1, r1, r0\n"
                     "lsls r0, r5, #24\n"
                     "subs r1, r1, r0\n"
                     "lsrs r0, r1, #24\n"
                     "lsls r0, r0, #16\n"
                     "adds r3, r3, r0\n" /* c */
                     "lsrs r1, r1, #16\n"
                     "uxtb r1, r1\n"
                     "lsls r1, r1, #16\n"
                     "adds r4, r4, r1\n" /* d */
                     "ldr  r0, [sp, #12]\n"
                     "ldr  r2, [sp, #8]\n"
                     "ldmia r0!, {r1, r7}\n"
                     "adds r5, r5, r1\n"
                     "adds r6, r6, r7\n"
                     "ldmia r0!, {r1, r7}\n"
                     "str  r0, [sp, #12]\n"
                     "adds r3, r3, r1\n"
                     "adds r4, r4, r7\n"
                     "adds r5, r5, r2\n"
                     "adds r6, r6, r2\n"
                     "adds r7, r3, r2\n"
                     "adds r4, r4, r2\n"
                     "ldr  r0, [sp, #16]\n"
                     "stmia r0!, {r5, r6, r7}\n"
                     "stmia r0!, {r4}\n"
                     "str  r0, [sp, #16]\n"
                     "ldr  r4, [sp]\n"
                     "cmp  r4, #0\n"
                     "beq  5f\n"
                     "movs r4, #0\n"
                     "str  r4, [sp]\n"
                     "mov  r0, r11\n"
                     "mov  r1, r12\n"
                     "mov  r2, lr\n"
                     "b    4b\n"
                     "5:\n"
                     "add  sp, #20\n"
                     "pop  {r4, r5, r6, r7}\n"
                     CORTEXM_LOW_TO_HIGH
                     "pop  {r4, r5, r6, r7, pc}\n");
#undef STEP
#undef BLOCK
#undef LITERALS
#undef NEXT_EIGHT
#undef TAKE
#undef LOAD_TWO
#undef SECOND_FOUR
#undef FOURS
#undef PRODUCTS
}

#endif
