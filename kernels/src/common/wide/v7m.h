/* SPDX-License-Identifier: Apache-2.0 */
/* The routines of v6m.h for Armv7-M and the Armv8-M Mainline. */
#ifndef CORTEXM_COMMON_WIDE_V7M_H
#define CORTEXM_COMMON_WIDE_V7M_H

#if !defined(__thumb2__)
#error "v7m kernels need a core with Armv7-M or the Armv8-M Mainline"
#endif

#include <stdint.h>

#include "common/stamp.h"
#include "common/taps.h"
#include "common/v7m.h"

static CORTEXM_APART int32_t *cortexm_fives_put(int32_t *to, const int16_t *const x[5], int32_t n,
                                                int32_t sum[5])
{
    const int16_t *x0 = x[0];
    const int16_t *x1 = x[1];
    const int16_t *x2 = x[2];
    const int16_t *x3 = x[3];
    const int16_t *x4 = x[4];
    int32_t *const end = to + 5 * n;
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;
    int32_t sum4 = 0;

    do {
        sum0 += to[0] = *x0++;
        sum1 += to[1] = *x1++;
        sum2 += to[2] = *x2++;
        sum3 += to[3] = *x3++;
        sum4 += to[4] = *x4++;
        to += 5;
    } while (to != end);
    sum[0] += sum0;
    sum[1] += sum1;
    sum[2] += sum2;
    sum[3] += sum3;
    sum[4] += sum4;
    return to;
}

/* Ten sums and what they are made of would not stay in registers otherwise. */
CORTEXM_NAKED static void
cortexm_fives(const int32_t *panel, const uint8_t *w, int32_t n, const int32_t start[5],
              const int32_t *bias, int32_t count, int32_t *sum)
{
    CORTEXM_TAKES(panel);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(start);
    CORTEXM_TAKES(bias);
    CORTEXM_TAKES(count);
    CORTEXM_TAKES(sum);
#define STEP                                                                                       \
    "ldrb r12, [r1], #1\n"                                                                         \
    "ldmia r0!, {r2, r3, r4, r5, r6}\n"                                                            \
    "mla  r7, r12, r2, r7\n"                                                                       \
    "mla  r8, r12, r3, r8\n"                                                                       \
    "mla  r9, r12, r4, r9\n"                                                                       \
    "mla  r10, r12, r5, r10\n"                                                                     \
    "mla  r11, r12, r6, r11\n"
    __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "add  r12, r2, r2, lsl #2\n"
                     "add  lr, r0, r12, lsl #2\n" /* the end of the panel */
                     "rsb  r2, r2, #0\n"
                     "and  r2, r2, #7\n"
                     "push {r0, r1, r2, r3}\n"
                     "1:\n"
                     "ldr  r12, [sp, #52]\n"
                     "ldr  r2, [r12], #4\n"
                     "str  r12, [sp, #52]\n"
                     "ldr  r12, [sp, #12]\n"
                     "ldmia r12, {r7, r8, r9, r10, r11}\n"
                     "add  r7, r7, r2\n"
                     "add  r8, r8, r2\n"
                     "add  r9, r9, r2\n"
                     "add  r10, r10, r2\n"
                     "add  r11, r11, r2\n"
                     "ldr  r0, [sp]\n"
                     "ldr  r2, [sp, #8]\n"
                     "cbz  r2, 10f\n"
                     "cmp  r2, #4\n"
                     "beq  14f\n"
                     "bhi  2f\n"
                     "cmp  r2, #2\n"
                     "blo  11f\n"
                     "beq  12f\n"
                     "b    13f\n"
                     "2:\n"
                     "cmp  r2, #6\n"
                     "blo  15f\n"
                     "beq  16f\n"
                     "b    17f\n"
                     "10:\n" STEP "11:\n" STEP "12:\n" STEP "13:\n" STEP "14:\n" STEP
                     "15:\n" STEP "16:\n" STEP "17:\n" STEP
                     "cmp  r0, lr\n"
                     "bne  10b\n"
                     "ldr  r12, [sp, #60]\n"
                     "stmia r12!, {r7, r8, r9, r10, r11}\n"
                     "str  r12, [sp, #60]\n"
                     "ldr  r12, [sp, #56]\n"
                     "subs r12, r12, #1\n"
                     "str  r12, [sp, #56]\n"
                     "bne  1b\n"
                     "add  sp, #16\n"
                     "pop  {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef STEP
}

CORTEXM_NAKED static void cortexm_eights(const int16_t *x,
                                                                    const uint8_t *w, int32_t n,
                                                                    int32_t sum[8])
{
    CORTEXM_TAKES(x);
    CORTEXM_TAKES(w);
    CORTEXM_TAKES(n);
    CORTEXM_TAKES(sum);
#define BLOCK(word, sum0, sum1, sum2, sum3)                                                        \
    "mla  " sum0 ", " word ", r2, " sum0 "\n"                                                      \
    "lsr  " word ", " word ", #8\n"                                                                \
    "mla  " sum1 ", " word ", r2, " sum1 "\n"                                                      \
    "lsr  " word ", " word ", #8\n"                                                                \
    "mla  " sum2 ", " word ", r2, " sum2 "\n"                                                      \
    "lsr  " word ", " word ", #8\n"                                                                \
    "mla  " sum3 ", " word ", r2, " sum3 "\n"
#if WEIGHT_BITS == 4
#define LOAD                                                                                       \
    "ldr  r12, [r1], #4\n"                                                                         \
    "and  r3, r12, #0x0f0f0f0f\n"                                                                  \
    "lsr  r12, r12, #4\n"                                                                          \
    "and  r12, r12, #0x0f0f0f0f\n"
#else
#define LOAD "ldrd r3, r12, [r1], #8\n"
#endif
#define STEP                                                                                       \
    "ldrsh r2, [r0], #2\n" LOAD                                                                    \
    BLOCK("r3", "r4", "r5", "r6", "r7") BLOCK("r12", "r8", "r9", "r10", "r11")
#define SEPARATE(sum0, sum1, sum2, sum3)                                                           \
    "sub  " sum0 ", " sum0 ", " sum1 ", lsl #8\n"                                                  \
    "sub  " sum1 ", " sum1 ", " sum2 ", lsl #8\n"                                                  \
    "sub  " sum2 ", " sum2 ", " sum3 ", lsl #8\n"
    __asm__ volatile("push {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
                     "add  lr, r0, r2, lsl #1\n"
                     "mov  r4, #0\n"
                     "mov  r5, #0\n"
                     "mov  r6, #0\n"
                     "mov  r7, #0\n"
                     "mov  r8, #0\n"
                     "mov  r9, #0\n"
                     "mov  r10, #0\n"
                     "mov  r11, #0\n"
                     "ands r2, r2, #3\n"
                     "beq  1f\n"
                     "cmp  r2, #2\n"
                     "blo  4f\n"
                     "beq  3f\n"
                     "b    2f\n"
                     "1:\n" STEP "2:\n" STEP "3:\n" STEP "4:\n" STEP
                     "cmp  r0, lr\n"
                     "bne  1b\n"
                     SEPARATE("r4", "r5", "r6", "r7") SEPARATE("r8", "r9", "r10", "r11")
                     "pop  {r3}\n"
                     "stmia r3, {r4, r5, r6, r7, r8, r9, r10, r11}\n"
                     "pop  {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
#undef SEPARATE
#undef STEP
#undef LOAD
#undef BLOCK
}

static inline int32_t cortexm_wide_product(int32_t sum, int32_t multiplier)
{
    return (int32_t)((int64_t)sum * (multiplier << 16) >> 32);
}

#define CORTEXM_HALVES

/* floor(value / 2), limited to int16. */
static inline int16_t cortexm_half(int32_t value)
{
    int32_t half;

    __asm__("ssat %0, #16, %1, asr #1" : "=r"(half) : "r"(value));
    return (int16_t)half;
}

/* The same, and not negative. */
static inline int16_t cortexm_positive_half(int32_t value)
{
    int32_t half;

    __asm__("usat %0, #15, %1, asr #1" : "=r"(half) : "r"(value));
    return (int16_t)half;
}

#endif
